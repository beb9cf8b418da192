//! Calls of a function that tells something over a channel: `SELECT pg_notify('jobs', id::text) FROM job WHERE user_id
//! = 3`. Where no rows are read the session itself tells, when its transaction commits; else the units that have the
//! rows do, each when it commits.

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::guard::mentions;
use pando_kernel::route::{Spread, Target, Units};
use pando_kernel::{MergePlan, ServerAct};
use pando_sql::ast::{Kind, Node, Statement};
use pando_sql::visit;

use crate::homes::home_of;
use crate::plan::route::names_unit;
use crate::plan::steps::server_calls;
use crate::plan::{Plan, Planned, Steps};

/// Whether the session can make the calls of a statement before that runs.
pub(in crate::plan) fn are_made_before(ctx: &Context<'_>, stmt: &Statement) -> bool {
    is_without_tables(stmt) && !names_unit(stmt) && server_calls::take_apart(ctx, stmt).is_ok()
}

/// Where a query goes that tells something and reads no table: to those who tell all else.
pub(in crate::plan) fn home(ctx: &Context<'_>, stmt: &Statement) -> Option<Units> {
    if ctx.database.units.len() < 2 || !is_without_tables(stmt) || !tells(ctx, stmt) {
        return None;
    }
    let followers: Vec<_> =
        ctx.database.features.iter().flat_map(|room| room.groups().followers).collect();
    let leading = ctx.database.units.iter().filter(|unit| !followers.contains(unit));
    let home = home_of(leading, "")?;
    Some(Units::new(vec![Target::whole(home)], Spread::Gather))
}

/// Refuses what would tell something more or less often than one server would.
///
/// # Errors
/// `Refused`.
pub(in crate::plan) fn as_often(
    ctx: &Context<'_>,
    stmt: &Statement,
    planned: Planned,
) -> Result<Planned> {
    if !tells(ctx, stmt) {
        return Ok(planned);
    }
    match planned {
        Planned::Run(mut plan) => {
            if plan.units.len() > 1 && !tells_by_row(stmt, &plan) {
                return Err(too_often());
            }
            plan.writes = true;
            Ok(Planned::Run(plan))
        }
        Planned::Steps(found) if matches!(found.steps, Steps::ServerCalls(_)) => {
            Ok(Planned::Steps(found))
        }
        Planned::Assembly(_) | Planned::Steps(_) => Err(too_often()),
        Planned::Needs(need) => Ok(Planned::Needs(need)),
    }
}

/// Whether each row of the answer is one unit's own, and none is left out when the answers become one.
fn tells_by_row(stmt: &Statement, plan: &Plan) -> bool {
    let MergePlan { group, distinct, limit, offset, single_row, .. } = &plan.merge;
    let is_cut = matches!(&stmt.kind, Kind::Select(query) if query.limit.is_some());
    plan.spread == Spread::Gather
        && !is_cut
        && group.is_none()
        && distinct.is_none()
        && limit.is_none()
        && *offset == 0
        && !single_row
}

fn is_without_tables(stmt: &Statement) -> bool {
    matches!(stmt.kind, Kind::Select(_)) && visit::tables(&stmt.kind).is_empty()
}

/// Whether a statement calls such a function.
fn tells(ctx: &Context<'_>, stmt: &Statement) -> bool {
    let mut found = false;
    let functions = ctx.dialect.waits().map_or(&[][..], |waits| waits.server_functions());
    for function in functions.iter().filter(|function| function.act == ServerAct::Tell) {
        if !mentions(&stmt.text, &[function.name]) {
            continue;
        }
        visit::exprs(&stmt.kind, &mut |expr| {
            found |= matches!(&expr.node, Node::Function(call)
                if server_calls::function_of(ctx, call).is_some_and(|found| found.act == ServerAct::Tell));
        });
    }
    found
}

fn too_often() -> Error {
    Error::unsupported(
        30001,
        "`pg_notify` would be called on several storage units, more or less often than on one",
        "read the rows first, then tell of them with `SELECT pg_notify(…)` or NOTIFY",
    )
}
