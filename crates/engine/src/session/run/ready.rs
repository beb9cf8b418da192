//! Planning up to what can be run: the rows of an assembly are read for it.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_sql::ast::Statement;

use crate::plan;
use crate::plan::{InSteps, Plan, Planned, Purpose};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::Given;
use crate::session::run::{assembly, find_out, planning};
use crate::session::transaction::snapshot;

/// What is left to be done of a statement, once the rows of an assembly are there.
#[derive(Debug)]
pub(in crate::session) enum Ready {
    /// One plan.
    Run(Box<Plan>),
    /// Several statements.
    Steps(Box<InSteps>),
}

/// As [`ready`], for whom only a plan will do.
pub(in crate::session) async fn single_plan(
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
    let assembly = match planning::planned(session, live, stmt, given, purpose).await? {
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

/// The plan, made anew for who takes writes where it reads copies and has to see one state of several units.
pub(in crate::session) async fn on_leaders(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    plan: Plan,
) -> Result<Plan> {
    if !snapshot::strays(session, live, &plan).await {
        return Ok(plan);
    }
    let given = Given { sees_one_state: true, ..given.clone() };
    Box::pin(single_plan(session, live, stmt, &given, Purpose::Run)).await
}
