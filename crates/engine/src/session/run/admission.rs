//! What is let through: while the cluster is locked or the instance is out of work, and by the rooms.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{Entry, Footprint, Permits, RowLimit, Waiting};
use pando_kernel::route::UnitName;
use pando_sql::ast::Statement;

use crate::overruns;
use crate::plan;
use crate::plan::Plan;
use crate::snapshot::{Admits, LiveDatabase};

use crate::session::Session;
use crate::session::given::{Aim, Given, Run};
use crate::session::place::Place;
use crate::session::reply::warnings;
use crate::session::run::context;

impl Place {
    /// Refuses what the cluster is locked for, with ShardingSphere's code.
    pub(in crate::session) fn refuse_unadmitted(&self, aim: Aim) -> Result<()> {
        let (code, reason, instead) = match self.properties().admits {
            Admits::Everything => return Ok(()),
            Admits::Reads if aim == Aim::Reads => return Ok(()),
            Admits::Reads => {
                (17020, "the cluster is locked for writing", "UNLOCK CLUSTER ends that")
            }
            Admits::Nothing => {
                (17020, "the whole cluster is out of work", "UNLOCK CLUSTER ends that")
            }
            Admits::OutOfWork => (
                13010,
                "this instance is out of work: its circuit was broken by hand",
                "ENABLE COMPUTE NODE ends that",
            ),
        };
        Err(Error::forbidden(code, reason, instead))
    }
}

/// Asks once whether a planned statement may run, and waits for its turn. Result: how many rows it may tell.
///
/// # Errors
/// `Refused`, by the cluster's lock or by a room; `Limited`; `Unavailable` where the circuit of a storage unit is open.
pub(in crate::session) async fn admit(
    session: &mut Session,
    run: Run<'_>,
    given: &mut Given,
) -> Result<Option<RowLimit>> {
    session.place.refuse_unadmitted(Aim::of(run.plan))?;
    if !std::mem::take(&mut given.awaits_admission) {
        return Ok(None);
    }
    refuse_shut(session, run)?;
    let rows = pass(session, run.live, run.stmt, || Targets::of(run.plan)).await?;
    // What a change has done is done, however many rows it tells; what is read for another statement is told nobody.
    let is_told = !run.plan.writes && !given.is_step && !given.is_about_stored;
    Ok(rows.filter(|_| is_told))
}

/// As [`admit`], of a change that runs in steps or comes as bulk data.
///
/// # Errors
/// As [`admit`].
pub(in crate::session) async fn admit_change(
    session: &mut Session,
    live: &LiveDatabase,
    stmt: &Statement,
) -> Result<()> {
    session.place.refuse_unadmitted(Aim::Writes)?;
    pass(session, live, stmt, Targets::default).await.map(drop)
}

/// As [`admit`], of a statement that runs table by table: rooms are asked once for all of them, and not for a unit.
///
/// # Errors
/// `Refused`, by a room; `Limited`.
pub(in crate::session) async fn admit_by_table(
    session: &mut Session,
    live: &LiveDatabase,
    stmt: &Statement,
) -> Result<()> {
    pass(session, live, stmt, Targets::default).await.map(drop)
}

/// Refuses what needs a storage unit whose circuit is open, before anything is sent to others. An open transaction goes on
/// where it stands already.
fn refuse_shut(session: &Session, run: Run<'_>) -> Result<()> {
    let now = || session.place.runtime().now();
    let Some(shut) = run.live.shut(now) else { return Ok(()) };
    let held = session.work.transaction().units();
    let mut targets = run.plan.units.iter().map(|unit| &unit.target.unit);
    match targets.find(|unit| shut.contains(unit) && !held.contains(unit)) {
        Some(unit) => Err(run.live.pool(unit)?.refusal()),
        None => Ok(()),
    }
}

/// Where a statement goes: to which units, each once, sorted, and to how many targets on them.
#[derive(Default)]
struct Targets {
    units: Vec<UnitName>,
    shards: usize,
}

impl Targets {
    fn of(plan: &Plan) -> Self {
        let mut units: Vec<UnitName> =
            plan.units.iter().map(|unit| Arc::clone(&unit.target.unit)).collect();
        units.sort_unstable();
        units.dedup();
        Self { units, shards: plan.units.len() }
    }

    fn footprint<'a>(&'a self, session: &Session, stmt: &'a Statement) -> Footprint<'a> {
        let (writes, now) = (plan::writes(&stmt.kind), session.place.runtime().now());
        Footprint { stmt, writes, units: &self.units, shards: self.shards, now }
    }
}

/// Passes the rooms one after the other. What the statement before has held is given back first. `find` finds out where
/// it goes, once, if anybody asks.
async fn pass(
    session: &mut Session,
    live: &LiveDatabase,
    stmt: &Statement,
    find: impl FnOnce() -> Targets,
) -> Result<Option<RowLimit>> {
    if live.database.features.iter().all(|feature| feature.admission().is_none()) {
        return Ok(None);
    }
    let targets = find();
    drop(session.place.handle().holds(Permits::default()));
    let (mut permits, mut next) = (Permits::default(), 0);
    while let Some(waiting) = ask(
        session,
        live,
        Asked { stmt, targets: &targets, next: &mut next, permits: &mut permits },
    )? {
        Box::pin(wait(session, waiting, &mut permits)).await?;
    }
    warn(session, live, stmt, &targets)?;
    let rows = permits.rows().cloned();
    if !permits.is_empty() {
        if permits.deadline().is_some() {
            overruns::watch(&session.place.engine().inner);
        }
        drop(session.place.handle().holds(permits));
    }
    Ok(rows)
}

/// Tells the client, and the log, what rooms warn of.
fn warn(
    session: &mut Session,
    live: &LiveDatabase,
    stmt: &Statement,
    targets: &Targets,
) -> Result<()> {
    let footprint = targets.footprint(session, stmt);
    let admissions = || live.database.features.iter().filter_map(|feature| feature.admission());
    let told = context::in_context(session, live, None, |ctx| -> Result<Vec<String>> {
        Ok(admissions().flat_map(|own| own.warnings(ctx, &footprint)).collect())
    })?;
    for warning in told {
        let text = pando_sql::redacted(&stmt.text);
        tracing::warn!(statement = %text, "{warning}");
        warnings::warn(session, &warning);
    }
    Ok(())
}

/// What rooms are asked, from the next one on.
struct Asked<'a> {
    stmt: &'a Statement,
    targets: &'a Targets,
    next: &'a mut usize,
    permits: &'a mut Permits,
}

/// Asks rooms until one lets the statement wait; `None` when it has passed all of them.
fn ask(
    session: &Session,
    live: &LiveDatabase,
    asked: Asked<'_>,
) -> Result<Option<Box<dyn Waiting>>> {
    let Asked { stmt, targets, next, permits } = asked;
    for feature in live.database.features.iter().skip(*next) {
        *next += 1;
        let Some(admission) = feature.admission() else { continue };
        let footprint = targets.footprint(session, stmt);
        let entry = context::in_context(session, live, None, |ctx| {
            admission.admit(ctx, &footprint, permits)
        })?;
        if let Entry::Later(waiting) = entry {
            return Ok(Some(waiting));
        }
    }
    Ok(None)
}

/// Waits until a statement's turn has come, or somebody cancels that.
async fn wait(
    session: &mut Session,
    mut waiting: Box<dyn Waiting>,
    permits: &mut Permits,
) -> Result<()> {
    let (handle, runtime) =
        (Arc::clone(session.place.handle()), Arc::clone(session.place.runtime()));
    let mut asks = waiting.ask_again();
    let mut timer = runtime.sleep(asks.saturating_duration_since(runtime.now()));
    let turn = poll_fn(|cx| {
        loop {
            if let Poll::Ready(turn) = waiting.poll_turn(runtime.now(), permits, cx) {
                return Poll::Ready(turn);
            }
            let is_due = timer.as_mut().poll(cx).is_ready();
            if !is_due && waiting.ask_again() == asks {
                return Poll::Pending;
            }
            asks = waiting.ask_again();
            timer = runtime.sleep(asks.saturating_duration_since(runtime.now()));
        }
    });
    handle.taken(turn).await
}
