//! Planning: one pure function from a snapshot, a session and a statement to a plan. A plan is plain data: it is what tests compare,
//! what PREVIEW prints, and what execution runs.

mod aggregate;
mod catalogue;
mod check;
mod choice;
mod gather;
mod labels;
mod logical;
mod outcome;
mod resolve;
mod rewrite;
mod settle;
mod state;

use std::sync::Arc;

pub(crate) use catalogue::shown_at;
pub(crate) use choice::{any_unit, any_unit_of, writes};
pub use outcome::{Plan, Planned, Purpose, Unit};
use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_kernel::merge::MergePlan;
use pando_kernel::route::{Need, Route, Spread, Target, Units};
use pando_sql::Edits;
use pando_sql::ast::{Kind, QueryBody, Statement};
pub(crate) use state::keeps_key;

/// Plans a statement.
///
/// # Errors
/// `Refused`, `ShardingValue`, `UnknownTable`: nothing has been sent anywhere then.
pub fn plan(ctx: &Context<'_>, stmt: &Statement, purpose: Purpose) -> Result<Planned> {
    if purpose != Purpose::Describe {
        state::check(stmt)?;
    }
    if let Some(units) = named_unit(ctx, stmt)? {
        let nothing = (MergePlan::iterate(), Edits::default());
        return rewrite::finish(ctx, stmt, units, nothing)
            .map(|plan| Planned::Plan(Box::new(plan)));
    }
    let restated = logical::logical(ctx, stmt)?;
    let stmt = restated.as_ref().unwrap_or(stmt);
    for feature in &ctx.database.features {
        feature.check(ctx, stmt)?;
    }
    let mut route = Route::Unclaimed;
    for feature in &ctx.database.features {
        feature.route(ctx, stmt, &mut route)?;
        if let Route::Needs(need) = route {
            return Ok(Planned::Needs(need));
        }
    }
    let mut is_catalogue = false;
    let mut units = match route {
        Route::Units(units) => units,
        Route::Unclaimed | Route::Needs(_) => match catalogue::route(ctx, stmt)? {
            catalogue::Routed::Units(units) => {
                is_catalogue = true;
                units
            }
            catalogue::Routed::Needs(need) => return Ok(Planned::Needs(need)),
            catalogue::Routed::Other => check::unclaimed(ctx, stmt)?,
        },
    };
    if purpose == Purpose::Describe {
        units.targets.truncate(1);
        for target in &mut units.targets {
            target.rows = None;
        }
    }
    let mut edits = Edits::default();
    let mut merge = MergePlan::iterate();
    if units.targets.len() > 1 && units.spread == Spread::Gather {
        let gathered = match is_catalogue {
            true => catalogue::merge(ctx, stmt, &mut units)?,
            false => gathered(ctx, stmt, &units)?,
        };
        match gathered {
            Gathered::Plan(plan, changes) => {
                merge = plan;
                edits = changes;
            }
            Gathered::Needs(need) => return Ok(Planned::Needs(need)),
        }
        for feature in &ctx.database.features {
            feature.merge(ctx, stmt, &mut merge)?;
        }
    }
    let mut plan = finished(ctx, stmt, units, (merge, edits))?;
    if is_catalogue && let Some(need) = catalogue::present(ctx, &mut plan)? {
        return Ok(Planned::Needs(need));
    }
    Ok(Planned::Plan(Box::new(plan)))
}

fn finished(
    ctx: &Context<'_>,
    stmt: &Statement,
    units: Units,
    (merge, edits): (MergePlan, Edits),
) -> Result<Plan> {
    if merge.derived == 0 && merge.group.is_none() {
        return rewrite::finish(ctx, stmt, units, (merge, edits));
    }
    let settled = settle::settle(ctx, stmt, &edits)?.ok_or_else(|| {
        pando_kernel::Error::refused(
            30001,
            "sorting or grouping the rows of several shards by an expression with a parameter cannot be answered yet",
            "write the value into the expression, or narrow it to one shard",
        )
    })?;
    let mut plan = rewrite::finish(ctx, &settled.stmt, units, (merge, Edits::default()))?;
    for parameter in plan.units.iter_mut().flat_map(|unit| &mut unit.parameters) {
        *parameter = settled.original(*parameter);
    }
    Ok(plan)
}

/// The unit a hint names: the statement goes there as it is, past all rooms.
fn named_unit(ctx: &Context<'_>, stmt: &Statement) -> Result<Option<Units>> {
    let named = |key: &str| matches!(key, "DATA_SOURCE_NAME" | "DATASOURCENAME");
    let Some((_, name)) = stmt.hints.iter().find(|(key, _)| named(key)) else { return Ok(None) };
    let unit = ctx.database.units.iter().find(|unit| unit.eq_ignore_ascii_case(name));
    let unit = unit.ok_or_else(|| {
        pando_kernel::Error::refused(
            12200,
            format!("the hint names storage unit `{name}`, which does not exist"),
            "",
        )
    })?;
    Ok(Some(Units::new(vec![Target::whole(Arc::clone(unit))], Spread::Gather)))
}

/// What merging needs.
enum Gathered {
    Plan(MergePlan, Edits),
    Needs(Need),
}

fn gathered(ctx: &Context<'_>, stmt: &Statement, units: &Units) -> Result<Gathered> {
    check::spreadable(stmt)?;
    if let Kind::Select(query) = &stmt.kind
        && let QueryBody::Select(select) = &query.body
    {
        return gather::gather(ctx, stmt, query, select, units);
    }
    Ok(Gathered::Plan(MergePlan::iterate(), Edits::default()))
}
