//! UPDATE and DELETE … ORDER BY … LIMIT over several shards: the keys of the first rows are read, then these rows are changed.

use std::sync::Arc;

use pando_kernel::dialect::TableColumn;
use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_sql::Span;
use pando_sql::ast::{
    ColumnAssignment, Expr, Kind, Limit, OrderItem, Statement, Table, TableFactor,
};

use super::Apart;
use crate::plan::{leftovers, numbering};

/// Such a statement, taken apart.
#[derive(Debug, Clone)]
pub struct FirstRows {
    /// The query for the keys, locking their rows.
    pub(crate) read: Arc<str>,
    /// Which of the statement's parameters that takes.
    pub(crate) read_parameters: Vec<u32>,
    /// The text of the change up to the list of keys, which ends it together with a closing parenthesis.
    pub(crate) head: String,
    /// Which of the statement's parameters the change takes.
    pub(crate) change_parameters: Vec<u32>,
    /// The key's columns.
    pub(crate) key: Vec<TableColumn>,
}

/// What matters of both statements.
struct Parts<'a> {
    table: &'a Table,
    assignments: &'a [ColumnAssignment],
    filter: Option<&'a Expr>,
    order_by: &'a [OrderItem],
    limit: Option<&'a Limit>,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only two statements change rows in place")]
fn parts(stmt: &Statement) -> Option<Parts<'_>> {
    let parts = match &stmt.kind {
        Kind::Update(update) => {
            let [TableFactor::Table(table)] = &update.tables[..] else { return None };
            let plain =
                update.with.is_empty() && update.from.is_empty() && update.returning.is_none();
            plain.then_some(Parts {
                table,
                assignments: &update.assignments,
                filter: update.filter.as_ref(),
                order_by: &update.order_by,
                limit: update.limit.as_ref(),
            })?
        }
        Kind::Delete(delete) => {
            let [table] = &delete.targets[..] else { return None };
            let plain =
                delete.with.is_empty() && delete.from.is_empty() && delete.returning.is_none();
            plain.then_some(Parts {
                table,
                assignments: &[],
                filter: delete.filter.as_ref(),
                order_by: &delete.order_by,
                limit: delete.limit.as_ref(),
            })?
        }
        _ => return None,
    };
    parts.table.extras.is_empty().then_some(parts)
}

/// Takes the statement apart; `None` when its rows have no key to be named by, or it is of another form.
///
/// # Errors
/// `Refused` for what no statement may do.
pub(in crate::plan) fn take_apart(ctx: &Context<'_>, stmt: &Statement) -> Result<Apart<FirstRows>> {
    let (Some(parts), Some(_)) = (parts(stmt), ctx.dialect.transfer()) else { return Ok(Ok(None)) };
    leftovers::check(ctx, stmt)?;
    let Some(name) = parts.table.name.parts.last() else { return Ok(Ok(None)) };
    let logic = name.key();
    let Some(known) = ctx.catalog.columns(&logic) else { return Ok(Err(Need::Columns(logic))) };
    let key: Vec<TableColumn> = known.iter().filter(|column| column.primary_key).cloned().collect();
    let sets_key = parts.assignments.iter().any(|one| {
        one.column.parts.last().is_some_and(|part| {
            key.iter().any(|column| column.name.eq_ignore_ascii_case(&part.value))
        })
    });
    if key.is_empty() || sets_key {
        return Ok(Ok(None));
    }
    let text = |span: Span| span.of(&stmt.text);
    let before = parts.assignments.last().map_or(parts.table.span.end, |last| last.span.end);
    let tail_at = parts.filter.map_or(before, |filter| filter.span.end);
    let tail = stmt.text.get(tail_at as usize..).unwrap_or_default();
    let tail_is_known = parts.limit.is_some() || !parts.order_by.is_empty();
    if !tail_is_known {
        return Ok(Ok(None));
    }
    let quoted: Vec<String> = key.iter().map(|column| ctx.dialect.quote(&column.name)).collect();
    let quoted = quoted.join(", ");
    let hint = stmt.hint_span.map_or("", text);
    let (condition, head) = match parts.filter {
        Some(filter) => (
            format!(" WHERE {}", text(filter.span)),
            format!(
                "{}({}) AND",
                stmt.text.get(..filter.span.start as usize).unwrap_or_default(),
                text(filter.span)
            ),
        ),
        None => {
            let head = stmt.text.get(..before as usize).unwrap_or_default();
            (String::new(), format!("{head} WHERE"))
        }
    };
    let parameters = numbering::parameters(stmt);
    let own = |part: &dyn Fn(u32) -> bool| {
        let own = parameters.iter().filter(|(span, _)| part(span.start));
        own.map(|(_, index)| *index).collect::<Vec<u32>>()
    };
    Ok(Ok(Some(FirstRows {
        // The tail may end with a comment.
        read: format!(
            "{hint}SELECT {quoted} FROM {}{condition}{tail}\nFOR UPDATE",
            text(parts.table.span)
        )
        .into(),
        read_parameters: own(&|at| at >= before),
        head: format!("{head} ({quoted}) IN ("),
        change_parameters: own(&|at| at < tail_at),
        key,
    })))
}
