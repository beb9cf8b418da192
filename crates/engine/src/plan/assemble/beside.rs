//! Statements that are answered where the session's temporary tables stand: the rows of all other tables are brought
//! there.

use pando_kernel::Temporaries;
use pando_kernel::feature::Context;
use pando_sql::Span;
use pando_sql::ast::{Kind, Statement};
use pando_sql::visit;

use super::walk::Leaf;
use crate::plan::special::temporary;

/// The session's temporary tables, where the statement goes to them: a query, or a change of one. What changes another
/// table goes to that, and reads them like any other.
pub(super) fn stays<'a>(
    ctx: &Context<'a>,
    stmt: &Statement,
    changed: &[Span],
) -> Option<&'a Temporaries> {
    let own = temporary::concerned(ctx, stmt)?;
    let tables = visit::tables(&stmt.kind);
    let changes_own =
        tables.iter().any(|table| changed.contains(&table.name.span) && own.is_one(table.name));
    (matches!(stmt.kind, Kind::Select(_)) || changes_own).then_some(own)
}

/// Where they are named.
pub(super) fn spans(own: &Temporaries, leaves: &[Leaf<'_>]) -> Vec<Span> {
    let names = leaves.iter().map(|leaf| &leaf.table.name);
    names.filter(|name| own.is_one(name)).map(|name| name.span).collect()
}
