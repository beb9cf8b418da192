//! A statement on storage units: made ready for, planned, and started.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_sql::ast::{Kind, Statement};

use crate::plan;
use crate::plan::{InSteps, Plan, Purpose, Steps};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::cursors::settle;
use crate::session::given::{Aim, Given, Run};
use crate::session::place::{changed_rules, own_database};
use crate::session::reply::warnings;
use crate::session::run::ready::Ready;
use crate::session::run::template::moment;
use crate::session::run::{entry, ready, servers, template, without_units};
use crate::session::transaction::temporary::look;
use crate::session::transaction::{commit, definition};

/// What becomes of a statement.
#[derive(Debug)]
pub(in crate::session) enum Ran {
    /// It is answered, or its reply is under way.
    Started,
    /// It is a change that no plan does: steps are to be run in its place.
    InSteps(Box<InSteps>),
    /// It is a COPY by this plan, whose lines hold values that are told otherwise than they are stored. Not started:
    /// whoever starts it says how they are told.
    Retold(Arc<Plan>),
}

/// As [`run`], of a query or whatever else is no change of rows: such a statement never takes steps.
///
/// # Errors
/// What planning refuses, and what the units say.
pub(in crate::session) async fn run_as_one(
    session: &mut Session,
    stmt: &Statement,
    given: Given,
) -> Result<()> {
    let mut given = given;
    match run(session, stmt, &mut given).await? {
        Ran::Started => Ok(()),
        Ran::InSteps(found) => match found.steps {
            Steps::LockedRows(parts) => run_merged(session, stmt, &given, parts.into_one()?).await,
            Steps::InsertSelect(_)
            | Steps::MoveRows(_)
            | Steps::ChosenRows(_)
            | Steps::FirstRows(_)
            | Steps::TableOfQuery(_)
            | Steps::Refill(_)
            | Steps::TableLike(_)
            | Steps::ServerCalls(_) => Err(found.refusal),
        },
        Ran::Retold(_) => Err(Error::internal("a COPY of a table runs for another statement")),
    }
}

/// Runs a query by one plan that is for several steps where these can be taken.
///
/// # Errors
/// What the units say.
pub(in crate::session) async fn run_merged(
    session: &mut Session,
    stmt: &Statement,
    given: &Given,
    merged: Plan,
) -> Result<()> {
    let live = &session.place.live()?;
    let mut given = given.clone();
    let plan = Arc::new(ready::on_leaders(session, live, stmt, &given, merged).await?);
    changed_rules::refuse_moved(session, live, stmt, Aim::of(&plan))?;
    entry::run_plan(session, Run { live, stmt, plan: &plan }, &mut given).await
}

/// Runs a statement on storage units, where one plan does it.
///
/// # Errors
/// What planning refuses, and what the units say.
pub(in crate::session) async fn run(
    session: &mut Session,
    stmt: &Statement,
    given: &mut Given,
) -> Result<Ran> {
    session.work.refuse_if_failed()?;
    own_database::refuse_without_database(session, stmt)?;
    let live = &session.place.live()?;
    if !live.has_units() {
        return without_units::answer_alone(session, stmt, given).map(|()| Ran::Started);
    }
    given.era = moment(live).era();
    Box::pin(look::look_at_temporaries(session, live, stmt)).await?;
    definition::begin_if_defined(session, live, stmt)?;
    commit::commit_before(session, live, stmt).await?;
    settle::settle_cursors(session).await?;
    let plan = match ready::ready(session, live, stmt, given, Purpose::Run).await {
        Ok(Ready::Run(plan)) => {
            let mut plan = ready::on_leaders(session, live, stmt, given, *plan).await?;
            Box::pin(servers::tell_once(session, live, stmt, &mut plan)).await?;
            Arc::new(plan)
        }
        Ok(Ready::Steps(found)) => {
            changed_rules::refuse_moved(session, live, stmt, Aim::Writes)?;
            return Ok(Ran::InSteps(found));
        }
        Err(refusal) if warnings::drops_nothing(session, stmt, &refusal) => {
            Box::pin(definition::end_definition(session)).await;
            return Ok(Ran::Started);
        }
        Err(refusal) => {
            changed_rules::refuse_moved(session, live, stmt, Aim::Writes)?;
            return Err(refusal);
        }
    };
    changed_rules::refuse_moved(session, live, stmt, Aim::of(&plan))?;
    template::remember(session, live, stmt, given, &plan).await;
    if matches!(stmt.kind, Kind::Copy(_)) && !plan.merge.cells.is_empty() {
        return Ok(Ran::Retold(plan));
    }
    let run = Run { live, stmt, plan: &plan };
    match entry::run_plan(session, run, given).await {
        Ok(()) => session.work.note_unseen_writes(live, stmt, &plan),
        // Only the answers' types showed that they cannot be merged.
        Err(refusal) if plan::is_for_assembly(&refusal) => {
            run_apart(session, live, stmt, given, refusal).await?;
        }
        Err(error) => return Err(error),
    }
    Ok(Ran::Started)
}

/// Runs a query whose answers could not be merged over rows that are read before.
pub(in crate::session) async fn run_apart(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &mut Given,
    refusal: Error,
) -> Result<()> {
    if !matches!(stmt.kind, Kind::Select(_)) {
        return Err(refusal);
    }
    let plan: Plan = ready::planned_apart(session, live, stmt, given, refusal).await?;
    entry::run_plan(session, Run { live, stmt, plan: &Arc::new(plan) }, given).await
}
