//! What time it is in a statement: functions of time have one value on all servers that it runs on, as on one server.
//! Where a family's servers cannot be told, they are written as what is told their connections; defaults that ask for
//! the time are written out.

mod added;
mod changed;
mod defaults;
mod timely;
mod words;

use pando_kernel::clock::{Clock, Timed};
use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_kernel::session::TransactionState;
use pando_sql::Edits;
use pando_sql::ast::{Kind, Node, Statement};

use super::special::temporary;
use changed::changed;
pub(super) use defaults::{default_values, with_defaults};
use defaults::{is_listed, put_in};
pub(super) use timely::timely;
use words::{found, words};

/// Whether what runs on so many units needs to be told what time it is.
fn is_needed(ctx: &Context<'_>, clock: &dyn Clock, units: usize) -> bool {
    let is_several = units > 1 || ctx.session.keeps_time;
    // On a single unit several statements are one transaction, which has one time where it has any.
    if !clock.is_of_transactions() || ctx.database.units.len() < 2 {
        return is_several && !clock.is_of_transactions();
    }
    is_several || ctx.session.transaction != TransactionState::Idle
}

/// Whether a statement is read for functions of time: in definitions they are kept for later.
fn is_read(kind: &Kind) -> bool {
    match kind {
        Kind::Select(_)
        | Kind::Insert(_)
        | Kind::Update(_)
        | Kind::Delete(_)
        | Kind::Copy(_)
        | Kind::Load(_) => true,
        Kind::Explain { inner, .. } => is_read(inner),
        Kind::Utility { verb, .. } => verb == "MERGE",
        Kind::Define(_)
        | Kind::Transaction(_)
        | Kind::Set(_)
        | Kind::Show(_)
        | Kind::Use(_)
        | Kind::Prepare { .. }
        | Kind::Execute { .. }
        | Kind::Deallocate(_)
        | Kind::Cursor(_)
        | Kind::Lock(_)
        | Kind::Kill { .. }
        | Kind::Preview(_)
        | Kind::SetFor(_)
        | Kind::Immediate(_)
        | Kind::Administration
        | Kind::Empty
        | Kind::Opaque => false,
    }
}

/// Writes what a statement for so many units asks of the time. Result: what its connections are to be told.
pub(super) fn written(
    ctx: &Context<'_>,
    stmt: &Statement,
    units: usize,
    edits: &mut Edits,
) -> Timed {
    let Some(clock) = ctx.dialect.clock() else { return Timed::default() };
    if !is_needed(ctx, clock, units) {
        return Timed::default();
    }
    if let Kind::Define(define) = &stmt.kind {
        return added::written(ctx, clock, stmt, define, edits);
    }
    if !is_read(&stmt.kind) {
        return Timed::default();
    }
    let by_servers = match writes_by_clock(ctx, stmt) {
        true => clock.by_servers(),
        false => Timed::default(),
    };
    let mut timed = words(ctx, clock, stmt, edits).and(by_servers);
    if let Kind::Insert(insert) = &stmt.kind
        && is_listed(insert)
        && !clock.by_servers().is_any()
        && temporary::concerned(ctx, stmt).is_none()
    {
        timed = timed.and(put_in(ctx, clock, stmt, edits));
    }
    timed
}

/// Whether a statement asks for the time of its transaction, or leaves that to its servers, as far as known: it has
/// another text inside of transactions.
pub(super) fn differs_inside(ctx: &Context<'_>, stmt: &Statement) -> bool {
    let Some(clock) = ctx.dialect.clock().filter(|clock| clock.is_of_transactions()) else {
        return false;
    };
    let is_timed = |table: &String| {
        let columns = ctx.catalog.columns(table);
        columns.is_none_or(|all| all.iter().any(|column| column.timed.is_some()))
    };
    let is_insert = matches!(stmt.kind, Kind::Insert(_));
    ctx.database.units.len() > 1
        && (is_insert && changed(ctx, stmt).iter().any(is_timed)
            || !found(ctx, clock, &stmt.text).is_empty())
}

/// What must be known before it shows whether servers write by the clock what a statement for so many units leaves to
/// them.
pub(super) fn unknown(ctx: &Context<'_>, stmt: &Statement, units: usize) -> Option<Need> {
    let clock = ctx.dialect.clock()?;
    // Of an UPDATE only what it assigns is left to servers that cannot be told.
    let is_written = if let Kind::Update(update) = &stmt.kind
        && !clock.by_servers().is_any()
    {
        update.assignments.iter().any(|one| matches!(one.value.node, Node::Default))
    } else {
        true
    };
    if !is_written || !is_needed(ctx, clock, units) || temporary::concerned(ctx, stmt).is_some() {
        return None;
    }
    changed(ctx, stmt)
        .into_iter()
        .find(|table| ctx.catalog.columns(table).is_none())
        .map(Need::Columns)
}

fn writes_by_clock(ctx: &Context<'_>, stmt: &Statement) -> bool {
    let is_timed = |table: &String| {
        let columns = ctx.catalog.columns(table);
        columns.is_some_and(|all| all.iter().any(|column| column.timed.is_some()))
    };
    changed(ctx, stmt).iter().any(is_timed)
}
