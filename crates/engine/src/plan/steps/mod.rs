//! Statements that no single plan can answer, taken apart into steps: `session/steps` runs them, in one transaction.

pub(in crate::plan) mod chosen_rows;
pub(in crate::plan) mod first_rows;
pub(in crate::plan) mod insert_select;
pub(in crate::plan) mod locked_rows;
pub(in crate::plan) mod move_rows;
pub(in crate::plan) mod refill;
pub(in crate::plan) mod server_calls;
pub(in crate::plan) mod table_like;
pub(in crate::plan) mod table_of_query;

use pando_kernel::error::{Because, Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_sql::ast::{Kind, Statement};

use super::Planned;
use super::special::temporary;
pub use chosen_rows::ChosenRows;
pub use first_rows::FirstRows;
pub use insert_select::InsertSelect;
pub use locked_rows::LockedRows;
pub use move_rows::MovedTable;
pub use refill::Refilled;
pub use server_calls::ServerCalls;
pub use table_like::TableLike;
pub use table_of_query::TableOfQuery;

/// What a statement becomes that runs as several, with the parts it was taken into.
#[derive(Debug)]
pub enum Steps {
    /// The rows of the query are read first, and written as INSERT … VALUES.
    InsertSelect(InsertSelect),
    /// The rows are read with their new values, deleted, and inserted where they belong then. What stands in the way only a unit can tell.
    MoveRows(MovedTable),
    /// Queries that choose rows are asked first, and their answers stand in the change as constants.
    ChosenRows(ChosenRows),
    /// The keys of the first rows are read, then the rows that have them are changed.
    FirstRows(FirstRows),
    /// What belongs to a whole server is done first, as locks that are taken or freed, then the rest runs.
    ServerCalls(ServerCalls),
    /// Candidates are read without locks, then locked one after the other.
    LockedRows(Box<LockedRows>),
    /// What table a query makes is asked first, then it is made and its rows are written.
    TableOfQuery(Box<TableOfQuery>),
    /// The rows of a materialized view's query are read, and its server is given them.
    Refill(Refilled),
    /// How the other table is defined is asked first, then the new one is defined so.
    TableLike(TableLike),
}

/// A statement that runs in steps.
#[derive(Debug)]
pub struct InSteps {
    /// Which.
    pub steps: Steps,
    /// Why it does not run as one statement: what is said where only one will do.
    pub refusal: Error,
}

/// A statement taken apart, or what must be known first; `None` when it cannot be.
pub(super) type Apart<T> = std::result::Result<Option<T>, Need>;

/// Plans the steps of a statement that was refused as one.
///
/// # Errors
/// The refusal where there are no steps for it, and what stands in the way of those there are.
pub(crate) fn in_steps(ctx: &Context<'_>, stmt: &Statement, refusal: Error) -> Result<Planned> {
    match steps(ctx, stmt, &refusal)? {
        Ok(Some(steps)) => Ok(Planned::Steps(Box::new(InSteps { steps, refusal }))),
        Ok(None) => Err(refusal),
        Err(need) => Ok(Planned::Needs(need)),
    }
}

/// The steps of a query that locks its first rows, where its plan goes to several places: each of these would lock its own.
///
/// # Errors
/// `Refused` where its rows have no key.
pub(super) fn in_turn(ctx: &Context<'_>, stmt: &Statement, planned: Planned) -> Result<Planned> {
    let Planned::Run(plan) = &planned else { return Ok(planned) };
    if plan.units.len() < 2 || !locked_rows::is_meant(stmt) || !may_step(ctx, stmt) {
        return Ok(planned);
    }
    match locked_rows::take_apart(ctx, stmt, Some(plan))? {
        Ok(Some(parts)) => {
            let steps = Steps::LockedRows(Box::new(parts));
            let refusal = Error::spans_shards(
                30001,
                "a query that locks its first rows over several shards runs in several steps",
                "execute it by itself",
            );
            Ok(Planned::Steps(Box::new(InSteps { steps, refusal })))
        }
        Ok(None) => Ok(planned),
        Err(need) => Ok(Planned::Needs(need)),
    }
}

fn steps(ctx: &Context<'_>, stmt: &Statement, refusal: &Error) -> Result<Apart<Steps>> {
    let Some(because) = refusal.refusal() else { return Ok(Ok(None)) };
    if because == Because::TakesLock {
        return server_calls::take_apart(ctx, stmt)
            .map(|calls| Ok(Some(Steps::ServerCalls(calls))));
    }
    if because != Because::Forbidden
        && let Some(parts) = table_like::take_apart(ctx, stmt)
    {
        return Ok(Ok(Some(Steps::TableLike(parts))));
    }
    if !may_step(ctx, stmt) {
        return Ok(Ok(None));
    }
    let is_update = matches!(stmt.kind, Kind::Update(_));
    let changes = is_update || matches!(stmt.kind, Kind::Delete(_));
    if because.is_of_several() && table_of_query::made_of_query(stmt).is_some() {
        let parts = table_of_query::take_apart(ctx, stmt)?;
        return Ok(parts.map(|own| own.map(|own| Steps::TableOfQuery(Box::new(own)))));
    }
    if because.is_of_several() && matches!(stmt.kind, Kind::Insert(_)) {
        return Ok(insert_select::take_apart(ctx, stmt)?.map(|own| own.map(Steps::InsertSelect)));
    }
    if because.is_of_several() && changes {
        return Ok(chosen_rows::take_apart(ctx, stmt)?.map(|own| own.map(Steps::ChosenRows)));
    }
    if because == Because::MovesRow && is_update {
        return move_rows::moved_table(stmt).map(|table| Ok(Some(Steps::MoveRows(table))));
    }
    if because == Because::LimitedChange && locked_rows::is_meant(stmt) {
        let apart = locked_rows::take_apart(ctx, stmt, None)?;
        return Ok(apart.map(|own| own.map(|parts| Steps::LockedRows(Box::new(parts)))));
    }
    if because == Because::LimitedChange && changes {
        return Ok(first_rows::take_apart(ctx, stmt)?.map(|own| own.map(Steps::FirstRows)));
    }
    Ok(Ok(None))
}

/// Rows of temporary tables may be read and written by steps; which of them are changed or locked only their own
/// connection says.
fn may_step(ctx: &Context<'_>, stmt: &Statement) -> bool {
    let may = matches!(stmt.kind, Kind::Insert(_)) || table_of_query::made_of_query(stmt).is_some();
    may || temporary::concerned(ctx, stmt).is_none()
}
