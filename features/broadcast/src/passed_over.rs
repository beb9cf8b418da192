//! `SKIP LOCKED`: a row of a broadcast table may be locked in one copy alone, by a query that joins it with rows of
//! other tables. Which rows all copies give shows only where it is about one row at a time.

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::Route;
use pando_sql::ast::{Kind, Query, QueryBody, Statement, Table, TableFactor};

use crate::pinned::{Pinned, pinned};
use crate::rule::Rule;

/// Whether a query passes over rows that others have locked.
pub(crate) fn is_meant(query: &Query, text: &str) -> bool {
    query.lock.as_ref().is_some_and(|lock| {
        lock.span.of(text).split_whitespace().any(|word| word.eq_ignore_ascii_case("skip"))
    })
}

/// Checks such a query of broadcast tables alone. May need the table's columns: `route` then says so.
///
/// # Errors
/// `Refused` where it may be about several rows.
pub(crate) fn row_by_row(ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
    match pinned(ctx, stmt) {
        Pinned::Yes => Ok(()),
        Pinned::No => Err(Error::unsupported(
            30001,
            "SKIP LOCKED may pass over other rows on each copy of a broadcast table",
            "add a LIMIT, by which rows are locked one after the other, or leave SKIP LOCKED out",
        )),
        Pinned::Needs(need) => {
            *route = Route::Needs(need);
            Ok(())
        }
    }
}

/// Checks such a query of other tables, which locks what it joins in the one copy that stands beside them.
///
/// # Errors
/// `Refused` where it would pass over rows of a broadcast table.
pub(crate) fn beside_others(rule: &Rule, stmt: &Statement) -> Result<()> {
    let Kind::Select(query) = &stmt.kind else { return Ok(()) };
    let QueryBody::Select(select) = &query.body else { return Ok(()) };
    let (true, Some(lock)) = (is_meant(query, &stmt.text), &query.lock) else { return Ok(()) };
    let mut tables = Vec::new();
    select.from.iter().for_each(|factor| joined(factor, &mut tables));
    let is_locked = |table: &Table| {
        let label = table.alias.as_ref().or(table.name.parts.last());
        let is_it = |name: &str| label.is_some_and(|label| label.key() == name);
        lock.of.is_empty() || lock.of.iter().any(|name| is_it(&name.key()))
    };
    match tables.iter().find(|table| rule.is_broadcast(&table.name.key()) && is_locked(table)) {
        None => Ok(()),
        Some(table) => Err(Error::unsupported(
            30001,
            format!(
                "SKIP LOCKED would lock rows of the broadcast table `{}` in one of its copies alone",
                table.name.key()
            ),
            "say which tables are locked (FOR UPDATE OF …), or lock the other table's rows in a query of their own",
        )),
    }
}

fn joined<'a>(factor: &'a TableFactor, out: &mut Vec<&'a Table>) {
    match factor {
        TableFactor::Table(table) => out.push(table),
        TableFactor::Join(join) => {
            joined(&join.left, out);
            joined(&join.right, out);
        }
        TableFactor::Derived { .. } | TableFactor::Function { .. } => {}
    }
}
