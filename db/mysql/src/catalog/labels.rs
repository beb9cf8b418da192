//! What columns of the catalogue are called in a result. MariaDB calls them as the query writes them and MySQL as it defines them; with a sub-query in
//! the table's place MariaDB calls them as that does, and MySQL, where it keeps the two apart, as the query writes them.

use pando_kernel::dialect::Language;
use pando_kernel::presentation::View;
use pando_sql::Edits;
use pando_sql::ast::{Kind, Node, Query, QueryBody, Select, SelectItem, Statement};

use super::relation::Apart;
use super::version;
use crate::dialect::MySql;

/// Gives columns that would be called otherwise an alias. `columns` are those of the tables that were replaced.
pub(super) fn keep(
    stmt: &Statement,
    view: &View<'_>,
    apart: Apart,
    columns: &[String],
    edits: &mut Edits,
) {
    let Kind::Select(query) = &stmt.kind else { return };
    let Some(select) = first(query) else { return };
    let as_written = version::is_mariadb(view.facts);
    if !as_written && apart == Apart::No {
        // MySQL looks through a sub-query that it merges.
        return;
    }
    for item in &select.items {
        let SelectItem::Expr { expr, alias: None, .. } = item else { continue };
        let Node::Column(name) = &expr.node else { continue };
        let Some(part) = name.parts.last() else { continue };
        let written = &part.value;
        let Some(own) = columns.iter().find(|own| own.eq_ignore_ascii_case(written)) else {
            continue;
        };
        if own != written {
            let label = MySql.quote(if as_written { written } else { own });
            let text = part.span.of(&stmt.text);
            edits.replace(part.span, format!("{text} AS {label}"));
        }
    }
}

/// The SELECT that names the columns.
fn first(query: &Query) -> Option<&Select> {
    match &query.body {
        QueryBody::Select(select) => Some(select),
        QueryBody::Set { left, .. } => first(left),
        QueryBody::Values(_) => None,
    }
}
