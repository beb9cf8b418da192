//! Statements that go to their units as they are, but for names: checked, routed, rewritten, their answers merged.

use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_kernel::merge::MergePlan;
use pando_kernel::route::{Need, Route, Spread, Target, Units};
use pando_sql::Edits;
use pando_sql::ast::{Kind, QueryBody, Statement};

use super::merge_plan::gather::Gathered;
use super::merge_plan::{aggregate, gather, reparse, unions};
use super::rewrite::Text;
use super::route::{routed, unchanged};
use super::special::{catalogue, do_block, routines, sequences, several_tables};
use super::{Plan, Planned, Purpose, cells, check, rewrite};

/// Plans a statement that goes to its units as it is.
pub(super) fn direct(ctx: &Context<'_>, stmt: &Statement, purpose: Purpose) -> Result<Planned> {
    if let Some(planned) = several_tables::list(ctx, stmt, purpose)? {
        return Ok(planned);
    }
    let mut is_catalogue = false;
    let mut units = match routed(ctx, stmt)? {
        Route::Needs(need) => return Ok(Planned::Needs(need)),
        Route::Units(units) => {
            catalogue::unmixed(ctx, stmt)?;
            units
        }
        Route::Unclaimed => match asked(ctx, stmt)? {
            Asked::Called(units) => units,
            Asked::Catalogue(units) => {
                is_catalogue = true;
                units
            }
            Asked::Needs(need) => return Ok(Planned::Needs(need)),
            Asked::Other => match do_block::block(ctx, stmt)? {
                do_block::Block::Needs(need) => return Ok(Planned::Needs(need)),
                do_block::Block::Alike => check::everywhere(ctx),
                do_block::Block::At(unit) => Units::new(vec![Target::whole(unit)], Spread::Gather),
                do_block::Block::Other => match standing(ctx, stmt)? {
                    Route::Units(units) => units,
                    Route::Needs(need) => return Ok(Planned::Needs(need)),
                    Route::Unclaimed => check::unclaimed(ctx, stmt)?,
                },
            },
        },
    };
    units = unchanged(stmt, units)?;
    if purpose == Purpose::Describe {
        units.targets.truncate(1);
        for target in &mut units.targets {
            target.rows = None;
        }
    }
    let mut edits = Edits::default();
    let mut merge = MergePlan::iterate();
    let one = match is_catalogue {
        true => false,
        false => match unions::find(ctx, stmt, &units) {
            unions::Found::Needs(need) => return Ok(Planned::Needs(need)),
            unions::Found::Some(_) => unions::is_one(ctx, &units.targets),
            unions::Found::No => false,
        },
    };
    if units.targets.len() > 1 && units.spread == Spread::Gather && !one {
        let gathered = match is_catalogue {
            true => catalogue::merge(ctx, stmt, &mut units)?,
            false => gathered(ctx, stmt, &units)?,
        };
        match gathered {
            Gathered::Plan(plan, changes) => {
                merge = *plan;
                edits = changes;
            }
            Gathered::Needs(need) => return Ok(Planned::Needs(need)),
        }
    }
    merge.cells = cells::shown(ctx, stmt)?;
    let mut plan = finished(ctx, stmt, units, (merge, edits))?;
    if is_catalogue && let Some(need) = catalogue::present(ctx, &mut plan)? {
        return Ok(Planned::Needs(need));
    }
    sequences::elsewhere_dropped(ctx, stmt, &mut plan);
    Ok(Planned::Run(Box::new(plan)))
}

/// What a query asks that names no table of a room.
enum Asked {
    /// Routines of these units.
    Called(Units),
    /// The catalogue, or nothing at all.
    Catalogue(Units),
    Needs(Need),
    Other,
}

fn asked(ctx: &Context<'_>, stmt: &Statement) -> Result<Asked> {
    if let Route::Units(units) = routines::called(ctx, stmt)? {
        return Ok(Asked::Called(units));
    }
    Ok(match catalogue::route(ctx, stmt)? {
        catalogue::Routed::Units(units) => Asked::Catalogue(units),
        catalogue::Routed::Needs(need) => Asked::Needs(need),
        catalogue::Routed::Other => Asked::Other,
    })
}

/// Where a statement goes that is about what stands on some units only, and names no table.
fn standing(ctx: &Context<'_>, stmt: &Statement) -> Result<Route> {
    match sequences::standing(ctx, stmt)? {
        Route::Unclaimed => routines::defined(ctx, stmt),
        route @ (Route::Units(_) | Route::Needs(_)) => Ok(route),
    }
}

fn finished(
    ctx: &Context<'_>,
    stmt: &Statement,
    units: Units,
    (merge, edits): (MergePlan, Edits),
) -> Result<Plan> {
    if merge.derived == 0 && merge.group.is_none() {
        return rewrite::finish(ctx, Text::whole(stmt), units, (merge, edits));
    }
    let settled = reparse::reparsed(ctx, stmt, &edits)?.ok_or_else(|| {
        pando_kernel::Error::unmerged(
            30001,
            "sorting or grouping the rows of several shards by an expression with a parameter cannot be answered yet",
            "write the value into the expression, or narrow it to one shard",
        )
    })?;
    let text = Text { stmt: &settled.stmt, added: &settled.added };
    let mut plan = rewrite::finish(ctx, text, units, (merge, Edits::default()))?;
    for parameter in plan.units.iter_mut().flat_map(|unit| &mut unit.parameters) {
        *parameter = settled.original(*parameter);
    }
    Ok(plan)
}

fn gathered(ctx: &Context<'_>, stmt: &Statement, units: &Units) -> Result<Gathered> {
    check::spreadable(stmt, units.alone)?;
    if matches!(stmt.kind, Kind::Select(_) | Kind::Copy(_))
        && !has_own_groups(stmt, units)
        && let Some(need) = aggregate::unknown(ctx, &stmt.kind)?
    {
        return Ok(Gathered::Needs(need));
    }
    if let Kind::Select(query) = &stmt.kind {
        return match &query.body {
            QueryBody::Select(select) => gather::gather(ctx, stmt, query, select, units),
            QueryBody::Set { .. } | QueryBody::Values(_) => gather::together(ctx, query),
        };
    }
    Ok(Gathered::Plan(Box::new(MergePlan::iterate()), Edits::default()))
}

/// Whether the targets compute all groups alone, whatever the aggregate.
fn has_own_groups(stmt: &Statement, units: &Units) -> bool {
    let Kind::Select(query) = &stmt.kind else { return false };
    let grouped = matches!(&query.body, QueryBody::Select(select) if !select.group_by.is_empty());
    grouped && units.alone.groups
}
