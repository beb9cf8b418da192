//! Which environment a client's statement is for, found out before it is planned.

use std::sync::Arc;

use pando_kernel::error::Result;
use pando_kernel::route::{Environment, UnitName};
use pando_sql::ast::Statement;

use crate::plan::Plan;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::Given;
use crate::session::run::find_out;

/// Finds out which environment a client's statement is for, so that all it runs as goes there.
///
/// # Errors
/// `Refused` where it is for both; what units say.
pub(in crate::session) async fn settle(
    session: &mut Session,
    stmt: &Statement,
    given: &Given,
) -> Result<()> {
    session.work.leaves_environment();
    let live = session.place.current().filter(|live| !live.shadows.is_empty()).cloned();
    if let Some(live) = live {
        let found = Box::pin(asked(session, &live, stmt, given)).await?;
        session.work.returns_to(found);
    }
    Ok(())
}

/// Notes which environment a plan is for that was made by a template.
pub(in crate::session) fn note(session: &mut Session, live: &LiveDatabase, plan: &Plan) {
    if live.shadows.is_empty() {
        return;
    }
    let is_shadow = |unit: &UnitName| live.shadows.iter().any(|place| place.members.contains(unit));
    let is_for_shadows = plan.units.iter().any(|unit| is_shadow(&unit.target.unit));
    session.work.returns_to(Some(match is_for_shadows {
        true => Environment::Shadow,
        false => Environment::Production,
    }));
}

async fn asked(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
) -> Result<Option<Environment>> {
    find_out::find_out_until(session, live, Some(given), |ctx| ctx.database.environment(ctx, stmt))
        .await
}
