//! Where a statement goes: the walk over the rooms, and the unit that a hint names.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::{Route, Spread, Target, Units};
use pando_sql::ast::Statement;

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
    let unit = ctx.database.units.iter().find(|unit| unit.eq_ignore_ascii_case(name));
    let unit = unit.ok_or_else(|| {
        Error::unsupported(
            12200,
            format!("the hint names storage unit `{name}`, which does not exist"),
            "",
        )
    })?;
    Ok(Some(Units::new(vec![Target::whole(Arc::clone(unit))], Spread::Gather)))
}
