//! Connections for a plan: the transaction's own, or from the pools, brought to the session's state.

use std::sync::Arc;

use pando_kernel::TransactionType;
use pando_kernel::backend::Execution;
use pando_kernel::error::{Error, Result};
use pando_kernel::session::TransactionState;

use crate::execute::Channel;
use crate::plan::{Lifted, Plan, Unit};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::{lend, release};
use crate::session::given::{Aim, Given, Order, are_in_order};
use crate::session::run::jobs::{Dressed, Started};
use crate::session::run::{apart, jobs, leave, many_pools};
use crate::session::transaction::Opened;

/// Takes the connections a plan for several units needs and starts its statements on them.
///
/// # Errors
/// What the pool, the connections or the plan say; everything taken has been given back then.
pub(in crate::session) async fn start_units(
    session: &mut Session,
    live: &LiveDatabase,
    plan: &Plan,
    given: &Given,
) -> Result<Started> {
    let mut started = Started { channels: Vec::new(), jobs: Vec::new() };
    match start_groups(session, live, plan, given, &mut started).await {
        Ok(()) => Ok(started),
        Err(error) => {
            release::release_channels(session, started.channels).await;
            Err(error)
        }
    }
}

/// Takes the one connection of a plan for one unit and starts its statement there.
///
/// # Errors
/// As [`start_units`].
pub(in crate::session) async fn start_unit(
    session: &mut Session,
    live: &LiveDatabase,
    plan: &Arc<Plan>,
    unit: &Unit,
    given: &mut Given,
) -> Result<Channel> {
    if !plan.before.is_empty() && !plan.writes {
        let started = Box::pin(apart::start_apart(session, live, plan, given)).await?;
        let channel = started.channels.into_iter().next();
        return channel.ok_or_else(|| Error::internal("a plan that was not started"));
    }
    let name = &unit.target.unit;
    let (mut connection, mut swallow) = match session.work.transaction().state() {
        TransactionState::Idle => lend::taken_from_pool(session, live, name, Aim::of(plan)).await?,
        TransactionState::Open | TransactionState::Failed => {
            lend::enlisted(session, live, name, Aim::of(plan)).await?
        }
    };
    session.temporary.keep_connection(&mut connection, session.settings.variables());
    let locked = match session.work.transaction().is_locking() {
        true => {
            let plan = given.written(plan);
            let units: Vec<&Unit> = plan.units.iter().collect();
            session.work.lock_what_is_read(live, &mut connection, &units)
        }
        false => Ok(0),
    };
    let laid = locked
        .and_then(|locked| Ok(locked + leave::lay(session, live, &mut connection, plan)?))
        .and_then(|laid| Ok((laid, whole_execution(unit, plan, given)?)));
    match laid {
        Ok((laid, execution)) => {
            swallow += laid;
            Ok(Channel::feeding_one(connection, swallow, execution, session.place.handle().halt()))
        }
        Err(error) => {
            release::release(session, connection).await;
            Err(error)
        }
    }
}

async fn start_groups(
    session: &mut Session,
    live: &LiveDatabase,
    plan: &Plan,
    given: &Given,
    started: &mut Started,
) -> Result<()> {
    if session.work.is_idle() {
        many_pools::start_from_pools(session, live, Order { plan, given }, started).await?;
    } else {
        start_enlisted(session, live, Order { plan, given }, started).await?;
    }
    if started.channels.len() > 1 {
        session.place.spreads();
    }
    Ok(())
}

/// The same on the transaction's connections.
async fn start_enlisted(
    session: &mut Session,
    live: &LiveDatabase,
    order: Order<'_>,
    started: &mut Started,
) -> Result<()> {
    let plan = order.plan;
    let may_leave = plan.writes && !live.database.dialect.error_fails_transaction();
    let savepoint = may_leave
        && session.work.opened() == Opened::Client
        && session.work.transaction().kind() != TransactionType::Base;
    let aim = if savepoint { Aim::WritesAsOne } else { Aim::of(plan) };
    for (unit, jobs) in jobs::grouped(live, plan) {
        started.channels.iter_mut().for_each(|own| own.connection.is_put_off());
        let (mut connection, mut swallow) = lend::enlisted(session, live, &unit, aim).await?;
        let own: Vec<&Unit> = jobs.iter().filter_map(|job| plan.units.get(*job)).collect();
        let locked = session.work.lock_what_is_read(live, &mut connection, &own);
        match locked
            .and_then(|locked| Ok(locked + leave::lay(session, live, &mut connection, plan)?))
        {
            Ok(laid) => swallow += laid,
            Err(error) => {
                release::release(session, connection).await;
                return Err(error);
            }
        }
        let several = jobs.len() > 1;
        let dressed = Dressed { connection, swallow };
        let given = jobs::give_jobs(session, dressed, jobs, order, started);
        if let Some(channel) = started.channels.last_mut() {
            channel.savepoint = savepoint;
            match may_leave {
                true if several => channel.one_by_one(),
                false if several && plan.writes => channel.opens(),
                true | false => {}
            }
        }
        given?;
    }
    Ok(())
}

/// What is sent for the only unit of a plan: as [`execution`], but what the statement came with goes along.
fn whole_execution(unit: &Unit, plan: &Plan, given: &mut Given) -> Result<Execution> {
    if let Some(Lifted { sql, parameters }) = given.lifted.pop() {
        let text = given.text_for(unit);
        return Ok(Execution::Lifted { text, sql, parameters, era: given.era });
    }
    let are_its_own = given.prepared
        && plan.merge.derived == 0
        && unit.replaced.is_empty()
        && unit.turns.is_empty()
        && unit.parameters.len() == given.parameters.len()
        && are_in_order(&unit.parameters);
    if !are_its_own {
        return jobs::execution(unit, None, plan, given);
    }
    Ok(Execution::Prepared {
        sql: given.text_for(unit),
        types: given.types_of(unit),
        parameters: std::mem::take(&mut given.parameters),
        formats: std::mem::take(&mut given.formats),
        era: given.era,
    })
}
