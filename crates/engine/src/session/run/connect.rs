//! Connections for a plan: the transaction's own, or from the pools, brought to the session's state.

use std::sync::Arc;

use pando_kernel::TransactionType;
use pando_kernel::backend::Execution;
use pando_kernel::error::{Error, Result};
use pando_kernel::route::UnitName;
use pando_kernel::session::TransactionState;
use pando_pool::Connection;

use crate::execute::Channel;
use crate::plan::{Lifted, Plan, Unit};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::{lend, release};
use crate::session::given::{Aim, Given, Order, are_in_order};
use crate::session::run::{apart, leave, many_pools};
use crate::session::transaction::Opened;

/// Channels with their statements started.
#[derive(Debug)]
pub(in crate::session) struct Started {
    /// One per connection.
    pub(in crate::session) channels: Vec<Channel>,
    /// For each channel which of the plan's units it runs, in order.
    pub(in crate::session) jobs: Vec<Vec<usize>>,
}

/// A connection that is about to serve a statement.
#[derive(Debug)]
pub(in crate::session) struct Dressed {
    pub(in crate::session) connection: Connection,
    /// How many replies come first: to what it was brought to the session's state by.
    pub(in crate::session) swallow: usize,
}

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
    for (unit, jobs) in grouped(live, plan) {
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
        let given = give_jobs(session, dressed, jobs, order, started);
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

/// Puts a connection among the channels, with what it is to run. Nothing of that is sent before the channels are
/// read: until then another unit may turn out not to be available, and the statement is then to leave no trace on
/// this one.
pub(in crate::session) fn give_jobs(
    session: &Session,
    dressed: Dressed,
    jobs: Vec<usize>,
    order: Order<'_>,
    started: &mut Started,
) -> Result<()> {
    let Dressed { connection, swallow } = dressed;
    let Order { plan, given } = order;
    let of = |job: &usize| {
        let unit = plan.units.get(*job);
        let unit = unit.ok_or_else(|| Error::internal("a job without its unit"))?;
        let lifted = given.lifted.get(*job).cloned();
        execution(unit, lifted, plan, given)
    };
    let halt = session.place.handle().halt();
    let (channel, failed) = match &jobs[..] {
        [job] => match of(job) {
            Ok(only) => (Channel::feeding_one(connection, swallow, only, halt), Ok(())),
            Err(error) => (Channel::new(connection, swallow, 0), Err(error)),
        },
        jobs => match jobs.iter().map(of).collect() {
            Ok(all) => (Channel::feeding(connection, swallow, all, halt), Ok(())),
            Err(error) => (Channel::new(connection, swallow, 0), Err(error)),
        },
    };
    started.channels.push(channel);
    started.jobs.push(jobs);
    failed
}

/// The plan's units by storage unit, in the order the database lists its units: every session takes connections in the
/// same order.
pub(in crate::session) fn grouped(live: &LiveDatabase, plan: &Plan) -> Vec<(UnitName, Vec<usize>)> {
    let mut groups: Vec<(UnitName, Vec<usize>)> = Vec::new();
    for (i, unit) in plan.units.iter().enumerate() {
        match groups.iter_mut().find(|(name, _)| *name == unit.target.unit) {
            Some((_, jobs)) => jobs.push(i),
            None => groups.push((Arc::clone(&unit.target.unit), vec![i])),
        }
    }
    let place = |name: &UnitName| live.database.units.iter().position(|unit| unit == name);
    groups.sort_by_key(|(name, _)| place(name).unwrap_or(usize::MAX));
    groups
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
        return execution(unit, None, plan, given);
    }
    Ok(Execution::Prepared {
        sql: given.text_for(unit),
        types: given.types_of(unit),
        parameters: std::mem::take(&mut given.parameters),
        formats: std::mem::take(&mut given.formats),
        era: given.era,
    })
}

/// What is sent for one unit of a plan, whose values may be lifted out.
fn execution(unit: &Unit, lifted: Option<Lifted>, plan: &Plan, given: &Given) -> Result<Execution> {
    if let Some(Lifted { sql, parameters }) = lifted {
        let text = given.text_for(unit);
        return Ok(Execution::Lifted { text, sql, parameters, era: given.era });
    }
    if !given.prepared {
        return Ok(Execution::Text(given.text_for(unit)));
    }
    let parameters = given.parameters_of(unit)?;
    let types = given.types_of(unit);
    let mut formats = given.formats.clone();
    if formats.len() > 1 {
        formats.resize(formats.len() + plan.merge.derived, pando_kernel::Format::Text);
    }
    let sql = given.text_for(unit);
    Ok(Execution::Prepared { sql, types, parameters, formats, era: given.era })
}
