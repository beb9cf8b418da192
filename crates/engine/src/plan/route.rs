//! The walk over the rooms.

use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_kernel::route::Route;
use pando_sql::ast::Statement;

use super::temporary;

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
