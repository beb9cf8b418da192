//! Where a statement goes: the walk over the rooms, and the unit that a hint names.

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::{Route, Spread, Target, UnitName, Units};
use pando_sql::ast::{Kind, Statement};

use super::about::leaders;
use super::special::temporary;

/// Where the rooms send a statement that none of them refuses.
pub(super) fn routed(ctx: &Context<'_>, stmt: &Statement) -> Result<Route> {
    if let Some(own) = temporary::concerned(ctx, stmt) {
        return temporary::route(ctx, stmt, own);
    }
    let mut route = Route::Unclaimed;
    for feature in &ctx.database.features {
        feature.route(ctx, stmt, &mut route)?;
        if let Route::Needs(_) = route {
            break;
        }
    }
    Ok(route)
}

/// Whether a hint names the unit a statement goes to.
pub(crate) fn names_unit(stmt: &Statement) -> bool {
    hinted_unit(stmt).is_some()
}

fn hinted_unit(stmt: &Statement) -> Option<&str> {
    let named = |key: &str| matches!(key, "DATA_SOURCE_NAME" | "DATASOURCENAME");
    stmt.hints.iter().find(|(key, _)| named(key)).map(|(_, name)| &**name)
}

/// The unit a hint names: the statement goes there as it is, past all rooms.
pub(super) fn named_unit(ctx: &Context<'_>, stmt: &Statement) -> Result<Option<Units>> {
    let Some(name) = hinted_unit(stmt) else { return Ok(None) };
    let is_it = |unit: &&UnitName| unit.eq_ignore_ascii_case(name);
    let shadow = || leaders(ctx.database.shadows()).iter().find(is_it).cloned();
    let mirrors = || ctx.database.mirrors().into_iter().map(|own| own.mirror);
    let mirror = || mirrors().find(|unit| is_it(&unit));
    let unit = ctx.database.units.iter().find(is_it).cloned().or_else(shadow).or_else(mirror);
    let unit = unit.ok_or_else(|| {
        Error::unsupported(
            12200,
            format!("the hint names storage unit `{name}`, which does not exist"),
            "",
        )
    })?;
    Ok(Some(Units::new(vec![Target::whole(unit)], Spread::Gather)))
}

/// Where a statement goes whose text a hint keeps as it is: to each unit once, with the tables that it names itself.
///
/// # Errors
/// `Refused` where the unchanged text would not say what each unit is to do: its rows are split, a key is made for it, or
/// answers of several units would have to be merged.
pub(super) fn unchanged(stmt: &Statement, mut units: Units) -> Result<Units> {
    let keeps = |(key, value): &(String, String)| {
        key == "SKIP_SQL_REWRITE" && value.trim().eq_ignore_ascii_case("true")
    };
    if !stmt.hints.iter().any(keeps) {
        return Ok(units);
    }
    let is_split = units.targets.len() > 1 && units.targets.iter().any(|one| one.rows.is_some());
    units.targets = std::mem::take(&mut units.targets).into_iter().fold(Vec::new(), once_each);
    let is_merged = units.targets.len() > 1 && matches!(stmt.kind, Kind::Select(_));
    if is_split || is_merged || units.keys.is_some() {
        return Err(Error::forbidden(
            30001,
            "SKIP_SQL_REWRITE leaves the text as it is, which does not say what each storage unit is to do",
            "name the storage unit with DATA_SOURCE_NAME, or leave the hint out",
        ));
    }
    Ok(units)
}

fn once_each(mut targets: Vec<Target>, next: Target) -> Vec<Target> {
    if targets.iter().all(|known| known.unit != next.unit) {
        targets.push(Target::whole(next.unit));
    }
    targets
}
