//! What a statement's names must be for rows to stand in its tables' place. Such rows have the columns that the catalogue knows and no others. A server that
//! finds a bare name nowhere in a sub-query looks for it further out, and may find a column there that was not meant: `ctid IN (SELECT ctid FROM …)` is then
//! true of every row.

use std::collections::HashSet;

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_sql::ast::{Cte, Expr, Kind, Node, Query, QueryBody, SelectItem, Statement, TableFactor};
use pando_sql::{Span, visit};

use super::columns::Columns;
use super::walk;
use crate::plan::merge_plan::resolve::output_name;

/// Refuses names that rows do not have: hidden columns anywhere, and in the sub-queries of a change whatever is no known column, and no name that the statement
/// itself gives.
///
/// # Errors
/// `Refused` with the name.
pub(super) fn check(ctx: &Context<'_>, stmt: &Statement, columns: &Columns) -> Result<()> {
    let changes = !matches!(stmt.kind, Kind::Select(_));
    let inside = if changes { queries(stmt) } else { Vec::new() };
    let given = if changes { given(stmt) } else { HashSet::new() };
    let hidden = ctx.dialect.hidden_columns();
    let mut lost: Option<&str> = None;
    visit::exprs(&stmt.kind, &mut |expr| {
        let Node::Column(name) = &expr.node else { return };
        let Some((column, owner)) = name.parts.split_last() else { return };
        let same = |hidden: &&str| hidden.eq_ignore_ascii_case(&column.value);
        let is_hidden = hidden.iter().any(same) && !columns.all_have(&column.value);
        let is_inside = inside.iter().any(|span| within(*span, expr));
        let is_unknown = owner.is_empty()
            && is_inside
            && !columns.any_has(&column.value)
            && !is_targets(ctx, stmt, &column.value)
            && !given.contains(&column.value.to_lowercase());
        if is_hidden || is_unknown {
            lost.get_or_insert(&column.value);
        }
    });
    lost.map_or(Ok(()), |name| Err(lost_on_the_way(name)))
}

/// Whether the table that an INSERT fills is known to have the column.
fn is_targets(ctx: &Context<'_>, stmt: &Statement, column: &str) -> bool {
    let Kind::Insert(insert) = &stmt.kind else { return false };
    let known = ctx.catalog.columns(&insert.table.name.key());
    known.is_some_and(|known| known.iter().any(|known| known.name.eq_ignore_ascii_case(column)))
}

fn lost_on_the_way(name: &str) -> Error {
    Error::uncarried(
        30001,
        format!(
            "rows that are read from several shards do not have `{name}`: it is no column that the catalogue knows"
        ),
        "name the rows by a column of their table, or narrow the sub-query to one shard",
    )
}

fn within(span: Span, expr: &Expr) -> bool {
    span.start <= expr.span.start && expr.span.end <= span.end
}

/// Where the queries inside a change stand.
fn queries(stmt: &Statement) -> Vec<Span> {
    walk::roots(stmt).iter().map(|root| root.query.span).collect()
}

/// The names that the statement's queries give to columns, in lower case.
pub(in crate::plan) fn given(stmt: &Statement) -> HashSet<String> {
    let mut names = HashSet::new();
    let mut left: Vec<&Query> = walk::roots(stmt).iter().map(|root| root.query).collect();
    while let Some(query) = left.pop() {
        for cte in &query.with {
            of_cte(cte, &mut names);
            if let Kind::Select(inner) = &*cte.body {
                left.push(inner);
            }
        }
        match &query.body {
            QueryBody::Select(select) => {
                select.items.iter().for_each(|item| of_item(stmt, item, &mut names));
                for factor in &select.from {
                    of_factor(stmt, factor, &mut names, &mut left);
                }
            }
            QueryBody::Set { left: one, right: other, .. } => left.extend([&**one, &**other]),
            QueryBody::Values(_) => {}
        }
    }
    let (with, factors) = walk::outermost(&stmt.kind);
    with.iter().for_each(|cte| of_cte(cte, &mut names));
    for factor in factors {
        of_factor(stmt, factor, &mut names, &mut Vec::new());
    }
    names
}

fn of_cte(cte: &Cte, names: &mut HashSet<String>) {
    names.extend(cte.columns.iter().map(|column| column.value.to_lowercase()));
}

/// An item's alias, or the name that a server gives it. A column's own name is given by its table, or by nobody.
fn of_item(stmt: &Statement, item: &SelectItem, names: &mut HashSet<String>) {
    let SelectItem::Expr { expr, alias, .. } = item else { return };
    match (alias, &expr.node) {
        (Some(alias), _) => names.extend([alias.value.to_lowercase()]),
        (None, Node::Column(_)) => {}
        (None, _) => {
            names.extend([expr.span.of(&stmt.text).to_lowercase()]);
            names.extend(output_name(expr).map(|name| name.to_lowercase()));
        }
    }
}

/// The names behind a derived table or a function, which are columns there.
fn of_factor<'a>(
    stmt: &Statement,
    factor: &'a TableFactor,
    names: &mut HashSet<String>,
    left: &mut Vec<&'a Query>,
) {
    match factor {
        TableFactor::Table(_) => {}
        TableFactor::Join(join) => {
            of_factor(stmt, &join.left, names, left);
            of_factor(stmt, &join.right, names, left);
        }
        TableFactor::Derived { query, span, .. } => {
            of_alias(stmt, Span::new(query.span.end, span.end), names);
            left.push(query);
        }
        TableFactor::Function { expr, span, .. } => {
            names.extend(output_name(expr).map(|name| name.to_lowercase()));
            of_alias(stmt, Span::new(expr.span.end, span.end), names);
        }
    }
}

/// The words of `AS d(a, b)`.
fn of_alias(stmt: &Statement, span: Span, names: &mut HashSet<String>) {
    let text = span.of(&stmt.text).to_lowercase();
    let part = |letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '$'));
    names.extend(text.split(part).filter(|word| !word.is_empty()).map(str::to_owned));
}
