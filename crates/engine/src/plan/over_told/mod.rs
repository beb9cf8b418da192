//! Queries that what is stored of a column does not answer, as its room has it stored otherwise than clients see it: a
//! storage unit gives the rows, and they are filtered, sorted and cut as they are told. Nothing that was told goes to a
//! unit again.

mod computed;
mod condition;
mod constant;
mod grouped;
mod parts;
mod told_column;
mod unsaid;

use pando_kernel::CellMap;
use pando_kernel::error::{Because, Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::merge::Position;
use pando_kernel::route::{Need, Route};
use pando_sql::ast::{Distinct, Kind, Query, QueryBody, Select, Statement};

use super::merge_plan::reparse::reparsed;
use super::{Planned, Purpose, cells, check, timely};
use parts::{Parts, Taken};

/// Plans a query that was refused as what is stored does not answer it.
///
/// # Errors
/// The refusal where it cannot be answered over rows as they are told either; a better one where that is known.
pub(super) fn over_told(
    ctx: &Context<'_>,
    stmt: &Statement,
    purpose: Purpose,
    refusal: Error,
) -> Result<Planned> {
    let Some((query, select)) = plain(stmt) else { return Err(refusal) };
    if let Some(need) = let_through(ctx, stmt)? {
        return Ok(Planned::Needs(need));
    }
    let parts = match Parts::of(ctx, stmt, query, select)? {
        Taken::Apart(parts) => parts,
        Taken::Not => return Err(refusal),
        Taken::Needs(need) => return Ok(Planned::Needs(need)),
    };
    let inner = reparsed(ctx, stmt, &parts.edits)?.ok_or_else(with_parameter)?;
    let cells = cells::shown(ctx, &inner.stmt)?;
    is_told(&parts, &cells)?;
    let Parts { told, read_here, .. } = *parts;
    match timely(ctx, &inner.stmt, purpose)? {
        Planned::Run(mut plan) => {
            for parameter in plan.units.iter_mut().flat_map(|unit| &mut unit.parameters) {
                *parameter = inner.original(*parameter);
            }
            plan.merge.told = Some(Box::new(told));
            plan.read_here = read_here;
            Ok(Planned::Run(plan))
        }
        Planned::Needs(need) => Ok(Planned::Needs(need)),
        Planned::Assembly(_) | Planned::Steps(_) => Err(refusal),
    }
}

/// A query's one SELECT, where nothing hangs on which rows a unit has looked at.
fn plain(stmt: &Statement) -> Option<(&Query, &Select)> {
    let Kind::Select(query) = &stmt.kind else { return None };
    let QueryBody::Select(select) = &query.body else { return None };
    let is_plain = query.lock.is_none()
        && query.limit.as_ref().is_none_or(|limit| !limit.with_ties)
        && query.order_by.iter().all(|item| item.using.is_none())
        && select.into.is_none()
        && !matches!(select.distinct, Distinct::On(..))
        && !check::counts_found(query);
    is_plain.then_some((query, select))
}

/// Asks all rooms about the statement as the client has written it: what somebody forbids of it stays forbidden, though
/// what is sent to units says less.
fn let_through(ctx: &Context<'_>, stmt: &Statement) -> Result<Option<Need>> {
    let mut route = Route::Unclaimed;
    for room in &ctx.database.features {
        match room.route(ctx, stmt, &mut route) {
            Err(error) => match error.refusal() {
                Some(Because::StoredOtherwise) => {}
                Some(because) if because.is_of_several() => {}
                Some(_) | None => return Err(error),
            },
            Ok(()) => {
                if let Route::Needs(need) = route {
                    return Ok(Some(need));
                }
            }
        }
    }
    Ok(None)
}

/// Sees to it that each column that is looked into comes as its values are, and not in part.
fn is_told(parts: &Parts, cells: &[CellMap]) -> Result<()> {
    for one in &parts.looked_into {
        let at = match &one.position {
            Position::Index(at) => *at,
            Position::Derived(at) => parts.visible + at,
            Position::Name(_) => {
                return Err(Error::internal("a column is looked into by its name"));
            }
        };
        let own = |cell: &&CellMap| cell.at == Position::Index(at);
        if !cells.iter().filter(own).all(|cell| cell.turn.goes_back()) {
            return Err(Error::unsupported(
                30001,
                format!("`{}` is stored otherwise than it is seen, and told in part", one.text),
                "leave the column out of conditions and ORDER BY",
            ));
        }
        if !cells.iter().any(|cell| own(&cell)) {
            return Err(Error::internal("a column that is looked into is not told"));
        }
    }
    // A name stands for a column that is known when rows come.
    match cells.iter().any(|cell| matches!(cell.at, Position::Name(_))) {
        true => Err(Error::unsupported(
            30001,
            "a `*` beside conditions or ORDER BY of columns that are stored otherwise than they are seen",
            "name the columns",
        )),
        false => Ok(()),
    }
}

fn with_parameter() -> Error {
    Error::unsupported(
        30001,
        "a condition over columns that are stored otherwise than they are seen has a parameter beside other columns",
        "write the value into the condition",
    )
}
