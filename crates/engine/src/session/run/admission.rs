//! What is let through: while the cluster is locked or the instance is out of work, and by the rooms.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Footprint;
use pando_kernel::route::UnitName;
use pando_sql::ast::Statement;

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
        let (reason, instead) = match self.properties().admits {
            Admits::Everything => return Ok(()),
            Admits::Reads if aim == Aim::Reads => return Ok(()),
            Admits::Reads => ("the cluster is locked for writing", "UNLOCK CLUSTER ends that"),
            Admits::Nothing => (
                "this instance or the whole cluster is out of work",
                "ENABLE COMPUTE NODE or UNLOCK CLUSTER ends that",
            ),
        };
        Err(Error::forbidden(17020, reason, instead))
    }
}

/// Asks once whether a planned statement may run.
///
/// # Errors
/// `Refused`, by the cluster's lock or by a room.
pub(in crate::session) fn admit(
    session: &mut Session,
    run: Run<'_>,
    given: &mut Given,
) -> Result<()> {
    session.place.refuse_unadmitted(Aim::of(run.plan))?;
    if !std::mem::take(&mut given.awaits_admission) {
        return Ok(());
    }
    ask(session, run.live, run.stmt, Some(run.plan))
}

/// As [`admit`], of a change that runs in steps or comes as bulk data.
///
/// # Errors
/// As [`admit`].
pub(in crate::session) fn admit_change(
    session: &mut Session,
    live: &LiveDatabase,
    stmt: &Statement,
) -> Result<()> {
    session.place.refuse_unadmitted(Aim::Writes)?;
    ask(session, live, stmt, None)
}

/// As [`admit`], of a statement that runs table by table: rooms are asked once for all of them, and not for a unit.
///
/// # Errors
/// `Refused`, by a room.
pub(in crate::session) fn admit_by_table(
    session: &mut Session,
    live: &LiveDatabase,
    stmt: &Statement,
) -> Result<()> {
    ask(session, live, stmt, None)
}

fn ask(
    session: &mut Session,
    live: &LiveDatabase,
    stmt: &Statement,
    plan: Option<&Plan>,
) -> Result<()> {
    if live.database.features.iter().all(|feature| feature.admission().is_none()) {
        // Nothing is made for them where nobody asks.
        return Ok(());
    }
    let units = plan.map(units).unwrap_or_default();
    let shards = plan.map_or(0, |plan| plan.units.len());
    let writes = crate::plan::writes(&stmt.kind);
    let footprint = Footprint { stmt, writes, units: &units, shards };
    let admissions = || live.database.features.iter().filter_map(|feature| feature.admission());
    let warnings = context::in_context(session, live, None, |ctx| -> Result<Vec<String>> {
        for admission in admissions() {
            admission.admit(ctx, &footprint)?;
        }
        Ok(admissions().flat_map(|own| own.warnings(ctx, &footprint)).collect())
    })?;
    for warning in warnings {
        let text = pando_sql::redacted(&stmt.text);
        tracing::warn!(statement = %text, "{warning}");
        warnings::warn(session, &warning);
    }
    Ok(())
}

/// The storage units of a plan, each once.
fn units(plan: &Plan) -> Vec<UnitName> {
    let mut units: Vec<UnitName> =
        plan.units.iter().map(|unit| Arc::clone(&unit.target.unit)).collect();
    units.sort_unstable();
    units.dedup();
    units
}
