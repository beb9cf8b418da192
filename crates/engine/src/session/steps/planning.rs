//! Planning a statement, and reading the rows of an assembly.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_sql::ast::Statement;

use crate::plan;
use crate::plan::{InSteps, Plan, Planned, Purpose};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::Given;
use crate::session::place::doubted_rows;
use crate::session::run::find_out;
use crate::session::run::find_out::MAX_NEEDS;
use crate::session::steps::assembly;

/// What is left to be done of a statement, once the rows of an assembly are there.
#[derive(Debug)]
pub(in crate::session) enum Ready {
    /// One plan.
    Run(Box<Plan>),
    /// Several statements.
    Steps(Box<InSteps>),
}

/// As [`ready`], for whom only a plan will do.
pub(in crate::session) async fn plan(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    purpose: Purpose,
) -> Result<Plan> {
    match ready(session, live, stmt, given, purpose).await? {
        Ready::Run(plan) => Ok(*plan),
        Ready::Steps(found) => Err(found.refusal),
    }
}

/// Plans a statement, finding out what planning asks for, and reads the rows of an assembly.
pub(in crate::session) async fn ready(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    purpose: Purpose,
) -> Result<Ready> {
    let assembly = match planned(session, live, stmt, given, purpose).await? {
        Planned::Run(plan) => return Ok(Ready::Run(plan)),
        Planned::Steps(found) => return Ok(Ready::Steps(found)),
        Planned::Assembly(assembly) => assembly,
        Planned::Needs(_) => return Err(Error::internal("planning asks for what is known")),
    };
    match assembly::assemble(session, live, &assembly, given).await {
        Ok(plan) => Ok(Ready::Run(Box::new(plan))),
        Err(refusal) if assembly.is_of_groups() && plan::is_for_assembly(&refusal) => {
            let plan = Box::pin(planned_apart(session, live, stmt, given, refusal)).await?;
            Ok(Ready::Run(Box::new(plan)))
        }
        Err(refusal) => Box::pin(in_steps(session, live, stmt, given, refusal)).await,
    }
}

/// The steps of a statement whose assembly is refused; the refusal when there are none.
async fn in_steps(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    refusal: Error,
) -> Result<Ready> {
    if refusal.refusal().is_none() {
        return Err(refusal);
    }
    let refused = || Error::new(refusal.kind().clone());
    let found = find_out::find_out_until(session, live, Some(given), |ctx| {
        plan::in_steps(ctx, stmt, refused()).map(Planned::known)
    });
    match found.await? {
        Planned::Steps(found) => Ok(Ready::Steps(found)),
        Planned::Run(_) | Planned::Assembly(_) | Planned::Needs(_) => Err(refusal),
    }
}

/// Plans a statement, finding out what planning asks for. Never gives `Needs`.
pub(in crate::session) async fn planned(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    purpose: Purpose,
) -> Result<Planned> {
    session.work.keep_own_up(live);
    if live.doubts.are() {
        Box::pin(doubted_rows::vouch(session, live, stmt)).await?;
    }
    sought(session, live, stmt, given, purpose).await
}

/// As [`planned`], with what is known of the tables as it is.
pub(in crate::session) async fn sought(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    purpose: Purpose,
) -> Result<Planned> {
    let parameters = (purpose == Purpose::Run).then_some(given);
    let ask = |ctx: &Context<'_>| plan::plan(ctx, stmt, purpose).map(Planned::known);
    sought_by(session, live, parameters, ask).await
}

/// As [`sought`], by whoever asks planning.
pub(in crate::session) async fn sought_by(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    parameters: Option<&Given>,
    mut ask: impl FnMut(&Context<'_>) -> Result<std::result::Result<Planned, Need>>,
) -> Result<Planned> {
    // Each time the effects on one unit more are learnt, and a statement may go to all of them.
    for _ in 0..MAX_NEEDS + live.database.units.len() {
        let planned = find_out::find_out_until(session, live, parameters, &mut ask).await?;
        if !find_out::learns_of_effects(session, live, &planned).await? {
            return Ok(planned);
        }
    }
    Err(Error::internal("planning asks for ever more"))
}

/// Plans an assembly in place of a plan whose answers could not be merged; `refusal` when there is none.
pub(in crate::session) async fn planned_apart(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    refusal: Error,
) -> Result<Plan> {
    let refused = || Error::new(refusal.kind().clone());
    let planned = find_out::find_out_until(session, live, Some(given), |ctx| {
        plan::apart(ctx, stmt, refused()).map(Planned::known)
    });
    match planned.await? {
        Planned::Run(plan) => Ok(*plan),
        Planned::Assembly(assembly) => assembly::assemble(session, live, &assembly, given).await,
        Planned::Steps(_) | Planned::Needs(_) => Err(refusal),
    }
}
