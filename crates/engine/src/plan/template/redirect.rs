//! Who finds a template's target: the room that picks it, and those that redirect it.

use std::sync::Arc;

use pando_kernel::feature::Context;
use pando_kernel::route::{Route, Spread, Target, Units};
use pando_kernel::shortcut::{Choose, Pick, Shortcut, Values};
use pando_sql::ast::Statement;

/// A room that redirects the target.
#[derive(Debug)]
pub(super) enum Redirect {
    /// By what the session is at: its `route` says where, by its place in the database.
    Routes(usize),
    /// By the statement's values.
    Chooses(Arc<dyn Choose>),
}

/// The room that picks the target, and those that redirect it.
pub(super) fn asked(ctx: &Context<'_>, stmt: &Statement) -> Option<(Arc<dyn Pick>, Vec<Redirect>)> {
    let (mut pick, mut redirects) = (None, Vec::new());
    for (at, feature) in ctx.database.features.iter().enumerate() {
        match feature.shortcut(ctx, stmt) {
            Shortcut::None => return None,
            Shortcut::Idle => {}
            Shortcut::Pick(found) => {
                if pick.replace(found).is_some() {
                    return None;
                }
            }
            Shortcut::All(_) => return None,
            Shortcut::Redirect => redirects.push(Redirect::Routes(at)),
            Shortcut::Choose(choose) => redirects.push(Redirect::Chooses(choose)),
        }
    }
    Some((pick?, redirects))
}

/// Where a statement with these values goes, once every room has redirected it.
pub(super) fn redirected(
    redirects: &[Redirect],
    ctx: &Context<'_>,
    stmt: &Statement,
    values: &dyn Values,
    target: Target,
) -> Option<Target> {
    redirects.iter().try_fold(target, |target, redirect| match redirect {
        Redirect::Chooses(choose) => choose.choose(ctx, values, target),
        Redirect::Routes(at) => {
            let mut route = Route::Units(Units::new(vec![target], Spread::Gather));
            ctx.database.features.get(*at)?.route(ctx, stmt, &mut route).ok()?;
            match route {
                Route::Units(units) if units.targets.len() == 1 => units.targets.into_iter().next(),
                Route::Units(_) | Route::Unclaimed | Route::Needs(_) => None,
            }
        }
    })
}
