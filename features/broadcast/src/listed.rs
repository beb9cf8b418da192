//! Copies whose columns stand in another order (a definition that was given to one storage unit by hand) take an INSERT without a list all the same, and keep its
//! values under other names. So it lists the columns it means.

use pando_kernel::feature::Context;
use pando_kernel::insert::by_place;
use pando_sql::ast::{Insert, InsertRow, InsertSource, Kind, Statement};
use pando_sql::{Edits, Fold};

use crate::rule::Rule;

/// Writes the columns that the copies are known to have into an INSERT that goes to all of them and lists none.
pub(crate) fn list_columns(rule: &Rule, ctx: &Context<'_>, stmt: &Statement, edits: &mut Edits) {
    let Kind::Insert(insert) = &stmt.kind else { return };
    let key = insert.table.name.key();
    if insert.columns.is_some() || rule.places.len() < 2 || !rule.is_broadcast(&key) {
        return;
    }
    let known = ctx.catalog.columns(&key).unwrap_or_default();
    let Some(width) = width(ctx, insert) else { return };
    let names: Vec<String> =
        by_place(ctx.dialect, &known, width).map(|name| ctx.dialect.quote(name)).collect();
    if !names.is_empty() {
        edits.replace(insert.columns_span, format!(" ({})", names.join(", ")));
    }
}

/// How many values a row has; `None` where the statement does not tell, or means the defaults.
fn width(ctx: &Context<'_>, insert: &Insert) -> Option<usize> {
    let is_short = |row: &InsertRow| row.width() == 0;
    match &insert.source {
        InsertSource::Values { rows, .. } if !rows.iter().any(is_short) => {
            rows.iter().map(InsertRow::width).max()
        }
        // A query's rows are as wide as the table, where the last columns cannot be left away.
        InsertSource::Query(_) if ctx.dialect.syntax().fold == Fold::Keep => Some(usize::MAX),
        InsertSource::Values { .. }
        | InsertSource::Query(_)
        | InsertSource::Set(_)
        | InsertSource::Default => None,
    }
}
