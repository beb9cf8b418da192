//! A change by rows that were read as they are stored: the rooms that have columns stored otherwise than clients see them
//! write it while its tables still stand in it, and it is planned below them.

use std::sync::Arc;

use pando_kernel::changes::{Changes, TurnedLiteral, TurnedParameter, write_literals};
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{Context, Database};
use pando_kernel::route::{Route, Target, UnitName, Units};
use pando_sql::Edits;
use pando_sql::ast::Statement;

use crate::catalog::AsStored;
use crate::plan::merge_plan::reparse::reparsed;
use crate::plan::plain::direct;
use crate::plan::{Plan, Planned, Purpose};

/// Plans the change `stmt` with rows in the place of its other tables, which `edits` puts there.
///
/// # Errors
/// What the rooms refuse; where one of these would send it elsewhere.
pub(super) fn change(
    ctx: &Context<'_>,
    stmt: &Statement,
    at: &UnitName,
    edits: Edits,
    purpose: Purpose,
) -> Result<Planned> {
    let below = ctx.database.below();
    let database: &Database = below.as_ref().unwrap_or(ctx.database);
    let edits = written(ctx, stmt, &Target::whole(Arc::clone(at)), edits)?;
    let changed = reparsed(ctx, stmt, &edits)?.ok_or_else(|| {
        Error::internal("a change that was written for its rooms has other parameters")
    })?;
    let catalog = AsStored(ctx.catalog);
    let ctx_below = Context { database, catalog: &catalog, ..*ctx };
    let mut planned = direct(&ctx_below, &changed.stmt, purpose)?;
    if let Planned::Run(plan) = &mut planned {
        for parameter in plan.units.iter_mut().flat_map(|unit| &mut unit.parameters) {
            *parameter = changed.original(*parameter);
        }
        stays(ctx, stmt, plan)?;
    }
    Ok(planned)
}

/// What the rooms make of the statement, with the values that they turn written into it.
fn written(ctx: &Context<'_>, stmt: &Statement, target: &Target, edits: Edits) -> Result<Edits> {
    let mut changes = Changes::default();
    for room in ctx.database.features.iter().filter(|room| room.columns().is_some()) {
        changes.begin(room.name());
        room.rewrite(ctx, stmt, target, &mut changes)?;
    }
    let mut edits = changes.edits(&edits, &Edits::default())?;
    // While it is only described no value is known, and none is sent.
    let bound = |one: &TurnedParameter| {
        let TurnedParameter { span, turn, put, .. } = one.clone();
        let value = ctx.parameter(one.index)?.clone();
        Some(TurnedLiteral { span, value, turn, put })
    };
    let bound: Vec<TurnedLiteral> = changes.parameters().iter().filter_map(bound).collect();
    write_literals(changes.literals(), ctx.dialect, &mut edits)?;
    write_literals(&bound, ctx.dialect, &mut edits)?;
    Ok(edits)
}

/// Asks the rooms whether they would have it go where it goes.
fn stays(ctx: &Context<'_>, stmt: &Statement, plan: &Plan) -> Result<()> {
    let targets: Vec<Target> = plan.units.iter().map(|unit| unit.target.clone()).collect();
    let mut route = Route::Units(Units::new(targets.clone(), plan.spread));
    for room in ctx.database.features.iter().filter(|room| room.columns().is_some()) {
        room.route(ctx, stmt, &mut route)?;
        if !matches!(&route, Route::Units(units) if units.targets == targets) {
            return Err(Error::unsupported(
                30001,
                format!(
                    "`{}` sends a change elsewhere that needs rows of several shards",
                    room.name()
                ),
                "narrow it to one shard by an equality on the sharding key",
            ));
        }
    }
    Ok(())
}
