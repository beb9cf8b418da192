//! Connections for a plan: the transaction's own, or from the pools, brought to the session's state.

use std::sync::Arc;

use pando_kernel::TransactionType;
use pando_kernel::backend::Execution;
use pando_kernel::dialect::{MODE, TransactionVerb};
use pando_kernel::error::{Error, Result};
use pando_kernel::route::UnitName;
use pando_kernel::session::TransactionState;
use pando_pool::Connection;
use pando_transaction::{Ready, finish};

use crate::execute::Channel;
use crate::handle::Manner;
use crate::plan::{Lifted, Plan, Unit};
use crate::snapshot::LiveDatabase;
use crate::variables::{UNKNOWN, Variables};

use crate::session::Session;
use crate::session::given::{Aim, Given, Order, are_in_order};
use crate::session::run::{apart, leave, many_pools, release};
use crate::session::transaction::temporary::TemporaryTables;
use crate::session::transaction::verbs::Opened;
use crate::session::transaction::{serializable, snapshot, temporary, units};

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

/// Name of the savepoint that undoes one statement on every unit.
pub(in crate::session) const STATEMENT_SAVEPOINT: &str = "pando_statement";

impl TemporaryTables {
    fn dress_in(
        &self,
        live: &LiveDatabase,
        connection: &mut Connection,
        variables: &Variables,
    ) -> Result<usize> {
        let wanted = variables.id();
        let worn = connection.session_state();
        if worn == wanted {
            return Ok(0);
        }
        connection.set_session_state(UNKNOWN);
        if self.has_temporaries(connection) {
            let text = self.dress_of_temporaries(live.database.dialect.as_ref(), variables);
            let queued = usize::from(text.is_some());
            if let Some(text) = text {
                connection.start(Execution::Text(text.into()))?;
            }
            connection.set_session_state(wanted);
            return Ok(queued);
        }
        let mut queued = 0;
        if worn != 0 || live.database.dialect.prepares_with_settings() {
            connection.start(Execution::Reset)?;
            queued += 1;
        }
        if wanted != 0 {
            let text = live.database.dialect.set_statement(variables.list());
            connection.start(Execution::Text(text.into()))?;
            queued += 1;
        }
        connection.set_session_state(wanted);
        Ok(queued)
    }
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
        TransactionState::Idle => taken_from_pool(session, live, name, Aim::of(plan)).await?,
        TransactionState::Open | TransactionState::Failed => {
            enlisted(session, live, name, Aim::of(plan)).await?
        }
    };
    temporary::keep_for_temporaries(session, &mut connection);
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

/// A connection from the pool, with the session's variables. Result: how many replies belong to them.
pub(in crate::session) async fn taken_from_pool(
    session: &mut Session,
    live: &LiveDatabase,
    unit: &UnitName,
    aim: Aim,
) -> Result<(Connection, usize)> {
    let pool = live.pool(unit)?;
    let own = temporary::temporary_connection(session, unit);
    let mut connection = match own.map_or_else(|| pool.take_idle(), |own| Ok(Some(own)))? {
        Some(connection) => connection,
        None => session.place.take(pool).await?,
    };
    let dressed = match session.place.handle().runs_on(&connection, Manner::Ask) {
        Ok(()) => dress(session, live, &mut connection),
        Err(error) => Err(error),
    };
    let dressed = match dressed {
        Ok(replies) if replies > 0 && aim != Aim::Reads => {
            Box::pin(await_dress(session, &mut connection, replies)).await.map(|()| 0)
        }
        dressed => dressed,
    };
    match dressed {
        Ok(swallow) => Ok((connection, swallow)),
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
        let (mut connection, mut swallow) = enlisted(session, live, &unit, aim).await?;
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

/// The transaction's connection of a unit; a unit that is touched for the first time is enlisted.
pub(in crate::session) async fn enlisted(
    session: &mut Session,
    live: &LiveDatabase,
    unit: &UnitName,
    aim: Aim,
) -> Result<(Connection, usize)> {
    let pool = live.pool(unit)?;
    if session.work.transaction().kind() == TransactionType::Base {
        // What is only read has no part in it.
        return taken_from_pool(session, live, unit, Aim::Reads).await;
    }
    serializable::lock_if_serial(session, live);
    if session.work.transaction().is_fresh() && snapshot::lacks_level(session) {
        // Learnt from its first unit, the level would be that of a transaction that has not looked.
        Box::pin(snapshot::know_level(session)).await;
    }
    if snapshot::looks_now(session, aim) {
        Box::pin(snapshot::open_everywhere(session, live)).await?;
    }
    let (mut connection, swallow) = match session.work.transaction_mut().lend(unit)? {
        Some(connection) => {
            let ready = units::still_open(&connection)
                .and_then(|()| session.place.handle().runs_on(&connection, Manner::Ask));
            (connection, ready.map(|()| 0))
        }
        None => {
            let ready = units::ready(session, live, unit).await?;
            snapshot::refuse_outside_snapshot(session, unit)?;
            let mut connection = match temporary::temporary_connection(session, unit) {
                Some(own) => own,
                None => session.place.take(pool).await?,
            };
            let still = units::still_ready(session, live, &mut connection, ready.as_deref()).await;
            let still =
                still.and_then(|()| session.place.handle().runs_on(&connection, Manner::Ask));
            let swallow = match still {
                Ok(()) => enlist_dressed(session, live, &mut connection, ready.as_deref()).await,
                Err(error) => Err(error),
            };
            (connection, swallow)
        }
    };
    if aim != Aim::Reads {
        session.work.transaction_mut().writes_on(unit);
    }
    let savepoint = aim == Aim::WritesAsOne;
    let swallow = swallow.and_then(|swallow| {
        let more = if savepoint { set_savepoint(live, &mut connection)? } else { 0 };
        Ok(swallow + more)
    });
    match swallow {
        Ok(swallow) => Ok((connection, swallow)),
        Err(error) => {
            release::release(session, connection).await;
            Err(error)
        }
    }
}

/// Makes a fresh connection one of the transaction's, and waits until it has the session's variables where it has
/// them not. Returns how many replies are still to come.
async fn enlist_dressed(
    session: &mut Session,
    live: &LiveDatabase,
    connection: &mut Connection,
    ready: Option<&Ready>,
) -> Result<usize> {
    let (replies, begin) = enlist(session, live, connection, ready, None)?;
    let is_behind = session.work.transaction().has_to_catch_up(session.settings.local());
    if replies == begin && !is_behind {
        return Ok(replies);
    }
    let mut dressed = Box::pin(await_dress(session, connection, replies)).await;
    if is_behind && dressed.is_ok() {
        dressed = Box::pin(catch_up(session, connection)).await;
    }
    if dressed.is_err() {
        // It is in the transaction, and would run its further statements under other settings.
        session.work.transaction_mut().lose();
    }
    dressed.map(|()| 0)
}

/// Tells a unit that has joined what [`enlist`] has left.
pub(in crate::session) async fn catch_up(
    session: &mut Session,
    connection: &mut Connection,
) -> Result<()> {
    let Some(dialect) = session.place.dialect() else { return Ok(()) };
    let texts = session.work.transaction().left_to_tell(session.settings.local(), dialect.as_ref());
    session.place.handle().taken(pando_transaction::catch_up(connection, &texts)).await
}

/// Waits until a connection wears what was queued for it. What changes something must not be sent before: the
/// storage unit would run it although it has refused a variable, and the client be told of the refusal.
pub(in crate::session) async fn await_dress(
    session: &mut Session,
    connection: &mut Connection,
    replies: usize,
) -> Result<()> {
    let dressing = async {
        let mut dressed = Ok(());
        for _ in 0..replies {
            dressed = dressed.and(finish(connection).await.map(drop));
        }
        dressed
    };
    let dressed = session.place.handle().taken(dressing).await;
    if dressed.is_err() {
        connection.set_session_state(UNKNOWN);
    }
    dressed
}

/// Queues on a fresh connection what makes it one of the transaction's, and a query that makes it look at its data.
/// Returns how many replies belong to that, and how many of them to its beginning.
pub(in crate::session) fn enlist(
    session: &mut Session,
    live: &LiveDatabase,
    connection: &mut Connection,
    ready: Option<&Ready>,
    look: Option<&str>,
) -> Result<(usize, usize)> {
    // What was set in it for later transactions must not become this one's, on the units that join it afterwards.
    let before = session.settings.before_transaction();
    let before = before.filter(|before| levels(before).ne(levels(session.settings.variables())));
    let mut swallow = session.temporary.dress_in(
        live,
        connection,
        before.unwrap_or(session.settings.variables()),
    )?;
    let begin = session.work.transaction_mut().enlist_looking(connection, ready, look)?;
    swallow += begin;
    if before.is_some() {
        connection.set_session_state(UNKNOWN);
        if session.settings.variables().id() != 0 {
            let text = live.database.dialect.set_statement(session.settings.variables().list());
            connection.start(Execution::Text(text.into()))?;
            swallow += 1;
        }
    }
    session.place.handle().joins(connection);
    let is_behind = session.work.transaction().has_to_catch_up(session.settings.local());
    for text in session.settings.local().iter().filter(|_| !is_behind) {
        connection.start(Execution::Text(text.as_str().into()))?;
        swallow += 1;
    }
    if before.is_some() || !session.settings.local().is_empty() {
        // A return to a savepoint takes back what was set behind it.
        session.work.transaction_mut().changes_on(connection.unit());
    }
    session.settings.told_behind_marks();
    Ok((swallow, begin))
}

/// Brings a connection to the session's variables. Returns how many replies belong to that.
pub(in crate::session) fn dress(
    session: &Session,
    live: &LiveDatabase,
    connection: &mut Connection,
) -> Result<usize> {
    session.temporary.dress_in(live, connection, session.settings.variables())
}

/// What variables say of how transactions begin.
fn levels(variables: &Variables) -> impl Iterator<Item = &(String, String)> {
    let is_level = |name: &str| {
        name.ends_with("isolation") || name.ends_with("read_only") || name.starts_with(MODE)
    };
    variables.list().iter().filter(move |(name, _)| is_level(name))
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

fn set_savepoint(live: &LiveDatabase, connection: &mut Connection) -> Result<usize> {
    let verb = TransactionVerb::Savepoint(STATEMENT_SAVEPOINT);
    let Some(text) = live.database.dialect.transaction(&verb) else { return Ok(0) };
    connection.start(Execution::Text(text.into()))?;
    Ok(1)
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
