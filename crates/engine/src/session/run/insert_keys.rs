//! Keys that an INSERT itself gives. Some servers report them like those they generate, but LAST_INSERT_ID() is about
//! generated ones only.

use std::sync::Arc;

use pando_kernel::error::Result;
use pando_kernel::feature::Catalog;
use pando_kernel::route::Need;
use pando_sql::ast::{Expr, Insert, InsertSource, Kind, Literal, Node, Statement};
use pando_sql::{Syntax, visit};

use crate::plan::keeps_key;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::Given;
use crate::session::run::find_out;

/// Whether the statement gives every row a key where the server would generate one.
pub(in crate::session) async fn gives_keys(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
) -> Result<bool> {
    let Kind::Insert(insert) = &stmt.kind else { return Ok(false) };
    let is_known = !session.temporary.concerns_temporaries();
    if !live.database.dialect.reports_given_keys() || !is_plain(insert) || asks(stmt) || !is_known {
        return Ok(false);
    }
    let Some(table) = insert.table.name.parts.last() else { return Ok(false) };
    let table = table.key();
    if session.work.catalog(live).columns(&table).is_none() {
        Box::pin(find_out::find_out(session, live, Need::Columns(table.clone()))).await?;
    }
    let Some(columns) = session.work.catalog(live).columns(&table) else { return Ok(false) };
    let Some(at) = columns.iter().position(|column| column.auto_increment) else {
        return Ok(false);
    };
    let syntax = live.database.dialect.syntax();
    Ok(is_given(insert, &stmt.text, syntax, Key { name: &columns[at].name, at }, given))
}

fn is_plain(insert: &Insert) -> bool {
    matches!(insert.source, InsertSource::Values { .. } | InsertSource::Set(_))
}

/// `LAST_INSERT_ID(expression)` makes its argument the last key.
pub(in crate::session) fn asks(stmt: &Statement) -> bool {
    let mut found = false;
    visit::exprs(&stmt.kind, &mut |expr| found |= keeps_key(expr));
    found
}

/// The column whose values a server generates.
struct Key<'a> {
    name: &'a str,
    /// Its place among the table's columns.
    at: usize,
}

fn is_given(insert: &Insert, text: &str, syntax: &Syntax, key: Key<'_>, given: &Given) -> bool {
    let is_it = |other: &str| other.eq_ignore_ascii_case(key.name);
    match &insert.source {
        InsertSource::Values { rows, .. } => {
            let at = match &insert.columns {
                Some(columns) => columns.iter().position(|column| is_it(&column.value)),
                None => Some(key.at),
            };
            let Some(at) = at else { return false };
            rows.iter()
                .all(|row| row.value(at, text, syntax).is_some_and(|value| is_key(&value, given)))
        }
        InsertSource::Set(list) => list.iter().any(|one| {
            one.column.parts.last().is_some_and(|own| is_it(&own.value))
                && is_key(&one.value, given)
        }),
        InsertSource::Query(_) | InsertSource::Default => false,
    }
}

/// Whether a value stands for itself: NULL, DEFAULT and 0 ask for a generated one.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn is_key(value: &Expr, given: &Given) -> bool {
    match &value.node {
        Node::Literal(literal) => !matches!(literal, Literal::Null | Literal::Integer(0)),
        Node::Parameter(at) => {
            let value = given.parameters.get(*at as usize).map(|parameter| &parameter.value);
            value.is_some_and(|value| {
                !matches!(
                    value,
                    pando_kernel::Value::Null
                        | pando_kernel::Value::Int(0)
                        | pando_kernel::Value::UInt(0)
                )
            })
        }
        Node::Nested(inner) => is_key(inner, given),
        Node::Default => false,
        _ => true,
    }
}
