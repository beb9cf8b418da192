//! Sequences that do not stand on every storage unit, as CREATE SEQUENCE makes them: one that a column of a single table owns stands where the table does,
//! and nowhere else, as the table's default takes its numbers from there.

use std::sync::Arc;

use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_kernel::route::{Need, Route, Spread, Target, UnitName, Units};
use pando_sql::ast::{DefineAction, Kind, ObjectKind, ObjectName, Statement};

use crate::plan::{Plan, Unit};

use super::sequence_calls;

/// Where a statement goes that is about sequences and names no table: a query about one to its home.
///
/// # Errors
/// `Refused` where it does not say which sequence it is about.
pub(in crate::plan) fn standing(ctx: &Context<'_>, stmt: &Statement) -> Result<Route> {
    if stmt.counts {
        match sequence_calls::home(ctx, stmt)? {
            Err(need) => return Ok(Route::Needs(need)),
            Ok(Some(home)) => {
                return Ok(Route::Units(Units::new(vec![Target::whole(home)], Spread::Gather)));
            }
            Ok(None) => {}
        }
    }
    Ok(defined(ctx, stmt))
}

/// Where a definition of sequences goes that names no table: to the units that have them. A new one is made on the first unit alone, which is its home.
fn defined(ctx: &Context<'_>, stmt: &Statement) -> Route {
    let Kind::Define(define) = &stmt.kind else { return Route::Unclaimed };
    let is_one = define.object == ObjectKind::Sequence && define.on.is_none();
    if !is_one || define.temporary || ctx.database.units.len() < 2 || has_groups(ctx) {
        return Route::Unclaimed;
    }
    let Some(known) = ctx.catalog.sequences() else { return Route::Needs(Need::Tables) };
    let units = |name: &ObjectName| known.get(&name.key()).map_or(&[][..], Vec::as_slice);
    let Some(first) = define.names.first().map(units) else { return Route::Unclaimed };
    let alike = define.names.iter().all(|name| units(name) == first);
    if define.action == DefineAction::Create && first.is_empty() {
        let home = ctx.database.units.first().cloned().map(Target::whole);
        return Route::Units(Units::new(home.into_iter().collect(), Spread::Same));
    }
    if !alike || first.is_empty() {
        return Route::Unclaimed;
    }
    let here = |unit: &&UnitName| first.contains(*unit);
    let targets = ctx.database.units.iter().filter(here).cloned().map(Target::whole).collect();
    Route::Units(Units::new(targets, Spread::Same))
}

/// Members of a group have one name more than that under which tables stand there.
fn has_groups(ctx: &Context<'_>) -> bool {
    ctx.database.features.iter().any(|feature| !feature.groups().places.is_empty())
}

/// ALTER SEQUENCE … OWNED BY, where it goes to the one unit of its table: the others drop theirs. Dumps say it behind CREATE SEQUENCE.
pub(in crate::plan) fn elsewhere_dropped(ctx: &Context<'_>, stmt: &Statement, plan: &mut Plan) {
    let Kind::Define(define) = &stmt.kind else { return };
    let owns = define.action == DefineAction::Alter
        && define.object == ObjectKind::Sequence
        && define.on.is_some();
    let (true, false, [only], Some(name)) =
        (owns, has_groups(ctx), &plan.units[..], define.names.first())
    else {
        return;
    };
    let home = Arc::clone(&only.target.unit);
    let sql: Arc<str> = format!("DROP SEQUENCE IF EXISTS {}", name.span.of(&stmt.text)).into();
    let others = ctx.database.units.iter().filter(|unit| **unit != home);
    plan.units.extend(others.map(|unit| Unit {
        target: Target::whole(Arc::clone(unit)),
        sql: Arc::clone(&sql),
        parameters: Vec::new(),
        turns: Vec::new(),
        replaced: Vec::new(),
        attributes: Vec::new(),
    }));
    plan.spread = Spread::Same;
}
