//! Plans of transactions of type BASE: each unit's statements run there with images of their rows, all units at once.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use pando_base::{
    Bounds, Call, Concern, Global, Plan as Reversible, Table, TableName, Unit, Waiting,
};
use pando_deadlock::number_of;
use pando_kernel::Columns;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Completion, Event};
use pando_kernel::feature::Catalog;
use pando_kernel::merge::MergePlan;
use pando_kernel::route::{Spread, UnitName};
use pando_kernel::row::Rows;
use pando_pool::Connection;
use pando_sql::ast::Statement;
use pando_transaction::{Ready, finish};

use crate::execute::{Channel, Renumbering, Source, sum};
use crate::handle::Handle;
use crate::house::Inner;
use crate::merge::{Input, Limits, Merge};
use crate::plan;
use crate::plan::{Plan, unread as syntax_error};
use crate::snapshot::LiveDatabase;
use crate::variables::UNKNOWN;

use crate::session::Session;
use crate::session::connections::tell_first::tell_first;
use crate::session::connections::{lend, release};
use crate::session::given::{Aim, Given, Order};
use crate::session::reply::logic_names::{Origin, Teller};
use crate::session::reply::pieces::{Merged, Reply, Verb};
use crate::session::reply::pull::finish;
use crate::session::reply::told_rows::Merging;
use crate::session::reply::turned_rows::Turning;
use crate::session::run::jobs::grouped;
use crate::session::run::start::has_all;
use crate::session::run::{leave, oids};
use crate::session::transaction::base::{refuse_in_base, undo_in_base};

/// Longest wait for a row that another transaction of type BASE holds, in milliseconds: between these two, another one
/// for each session. Of two that wait for each other one gives up first, should nobody see the circle.
const LOCK_WAIT: (u64, u64) = (8_000, 12_000);

/// One statement for one storage unit.
struct Job {
    /// Its place in the plan.
    at: usize,
    statement: Statement,
    call: Call,
    order: (u64, Duration),
}

/// Statements for one connection, and what they need besides.
struct UnitWork<'a> {
    connection: Connection,
    swallow: usize,
    jobs: Vec<Job>,
    live: &'a LiveDatabase,
    global: &'a Global,
    bounds: Bounds<'a>,
    /// The numbers of those whose images are in the undo log.
    logged: Vec<u64>,
}

/// A connection that has done its work, or a part of it.
struct Worked {
    connection: Connection,
    logged: Vec<u64>,
    told: Result<Told>,
}

/// What a unit's statements answered, by their places in the plan.
type Told = Vec<(usize, pando_base::Reply)>;

/// Runs a plan whose changes can be taken back. What it has done is taken back when a part of it fails.
pub(in crate::session) async fn start_in_base(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    plan: &Arc<Plan>,
    given: &Given,
    verb: Verb,
) -> Result<()> {
    pando_base::admits(live.database.dialect.as_ref(), session.settings.variables().list())?;
    if !plan.before.is_empty() {
        refuse_in_base(session, "a change of rows by those of other shards")?;
    }
    if plan.writes && session.work.transaction().modes().iter().any(|mode| mode == "READ ONLY") {
        let message = "the transaction is read only";
        return Err(ErrorKind::TransactionState(message.into()).into());
    }
    let before = session.work.base().statement();
    match Box::pin(run_in_base(session, live, plan, given)).await {
        Ok(told) => Box::pin(tell_of_base(session, live, plan, verb, told)).await,
        Err(error) => {
            let undone = undo_in_base(session, before + 1).await;
            if let Err(error) = undone {
                tracing::warn!(%error, "a failed statement is not taken back yet");
                session.work.transaction_mut().lose();
            }
            Err(error)
        }
    }
}

async fn run_in_base(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    plan: &Plan,
    given: &Given,
) -> Result<Told> {
    let groups = grouped(live, plan);
    if session.work.base().global().is_none()
        && let Some((first, _)) = groups.first()
    {
        let global = begin_global(session, live, first).await?;
        session.work.base_mut().begins(global);
    }
    let mut prepared: Vec<(Connection, usize, Vec<Job>)> = Vec::new();
    let mut failed = Ok(());
    for (unit, places) in &groups {
        match jobs_of(session, live, Order { plan, given }, unit, places).await {
            Ok(work) => prepared.push(work),
            Err(error) => {
                failed = Err(error);
                break;
            }
        }
    }
    let told: Vec<Worked> = match (failed, session.work.base().global()) {
        (Ok(()), Some(global)) => {
            let handle = Arc::clone(session.place.handle());
            let is_cancelled = || handle.is_cancelled();
            let waiting = RowWaits { inner: &session.place.engine().inner, handle: &handle };
            let bounds = Bounds {
                runtime: &**session.place.runtime(),
                lock_wait: lock_wait(session.place.handle().key.id),
                is_cancelled: &is_cancelled,
                waiting: &waiting,
                image_bytes: session.place.properties().memory_bytes,
            };
            let work = prepared.into_iter().map(|(connection, swallow, jobs)| {
                let logged = Vec::new();
                let work = UnitWork { connection, swallow, jobs, live, global, bounds, logged };
                Box::pin(work.run()) as Pin<Box<dyn Future<Output = Worked> + Send + '_>>
            });
            settled(work.collect()).await
        }
        (failed, _) => {
            let channels = prepared.into_iter();
            let channels =
                channels.map(|(connection, swallow, _)| Channel::new(connection, swallow, 0));
            release::release_channels(session, channels.collect()).await;
            failed?;
            Vec::new()
        }
    };
    let mut all = Ok(Told::new());
    let mut channels = Vec::new();
    for Worked { connection, logged, told: one } in told {
        if let Some(global) = session.work.base_mut().global_mut() {
            logged.iter().for_each(|statement| global.logged(connection.unit(), *statement));
        }
        match connection.condition().usable {
            true => channels.push(Channel::new(connection, 0, 0)),
            false => {
                // Its commit may still be under way there: the transaction can only be taken back as a whole.
                session.work.transaction_mut().lose();
                connection.discard();
            }
        }
        match (&mut all, one) {
            (Ok(list), Ok(one)) => list.extend(one),
            (Ok(_), Err(error)) => all = Err(error),
            (Err(_), _) => {}
        }
    }
    release::release_channels(session, channels).await;
    let mut told = all?;
    told.sort_by_key(|(at, _)| *at);
    Ok(told)
}

async fn begin_global(
    session: &mut Session,
    live: &LiveDatabase,
    decider: &UnitName,
) -> Result<Global> {
    let known = &live.together.known;
    let identity = match known.identity(decider) {
        Some(identity) => identity,
        None => {
            let runtime = session.place.runtime();
            let asking = Ready::decider(live.pool(decider)?.connector(), runtime);
            let identity = session.place.handle().taken(asking).await?;
            known.keep_identity(decider, Arc::clone(&identity));
            identity
        }
    };
    let global = Global::begin(&session.place.engine().field(live), Arc::clone(decider), &identity);
    session.place.handle().begins_base(number_of(global.id().as_str()));
    Ok(global)
}

/// A connection of a unit, and what it is to run.
async fn jobs_of(
    session: &mut Session,
    live: &LiveDatabase,
    order: Order<'_>,
    unit: &UnitName,
    places: &[usize],
) -> Result<(Connection, usize, Vec<Job>)> {
    let Order { plan, given } = order;
    let numbers = oids::of_unit(session, live, unit);
    let renumbering = Renumbering::of(&live.database.dialect, numbers.as_ref());
    let mut jobs = Vec::new();
    for at in places {
        let own = plan.units.get(*at);
        let own = own.ok_or_else(|| Error::internal("a job without its unit"))?;
        // Every row has an image, by its values.
        let statement = pando_sql::parse_whole(&own.sql, live.database.dialect.syntax());
        let statement = statement.map_err(syntax_error)?;
        let now = session.place.runtime().now();
        let global = session.work.base_mut().global_mut();
        let global = global.ok_or_else(|| Error::internal("a change of no transaction"))?;
        let order = global.next(unit, now)?;
        let mut call = call(own, given)?;
        if let Some(renumbering) = &renumbering {
            renumbering.given(&mut call.types, &mut call.parameters);
        }
        jobs.push(Job { at: *at, statement, call, order });
    }
    // Whoever runs the jobs waits until it wears the session's variables: nothing is to be waited for here, for all
    // units one after the other.
    let (mut connection, swallow) = lend::taken_from_pool(session, live, unit, Aim::Reads).await?;
    leave::taint(session, live, &mut connection, plan);
    let time = tell_first(session, live, &mut connection, plan)?;
    Ok((connection, swallow + time, jobs))
}

/// Gives the client what the units have answered.
async fn tell_of_base(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    plan: &Arc<Plan>,
    verb: Verb,
    told: Told,
) -> Result<()> {
    let mut told = told;
    if plan.spread == Spread::Same {
        told.truncate(1);
    }
    let single = plan.units.len() == 1;
    let catalog = Arc::clone(session.work.catalog(live));
    let mut inputs = Vec::new();
    let mut ended: Vec<Completion> = Vec::new();
    for (at, reply) in told {
        ended.push(reply.completion);
        let mut columns: Option<Columns> = None;
        let mut rows: VecDeque<Rows> = VecDeque::new();
        let numbers = plan.units.get(at).and_then(|unit| catalog.numbers(&unit.target.unit));
        let mut renumbering = Renumbering::of(&live.database.dialect, numbers.as_ref());
        for event in reply.events {
            let event = match &mut renumbering {
                None => event,
                Some(renumbering) => renumbering.event(event)?,
            };
            match event {
                Event::Columns(described) => columns = Some(described),
                Event::Rows(some) => rows.push_back(some),
                Event::Notice(_) | Event::Parameter { .. } => session.outbox.tell(event),
                Event::Complete(_)
                | Event::Empty
                | Event::Suspended
                | Event::Described(_)
                | Event::CopyIn(_)
                | Event::CopyOut(_)
                | Event::CopyData(_)
                | Event::SendFile(_)
                | Event::Done => {}
            }
        }
        if let Some(mut columns) = columns {
            Origin::of(live, plan, Teller { at, numbers }).rename(&mut columns);
            inputs.push(Input { columns, rows: Source::Memory(rows) });
        }
    }
    if inputs.is_empty() {
        return finish::conclude(session, sum(ended.iter()), &verb).await;
    }
    let limits = Limits { memory_bytes: session.place.properties().memory_bytes };
    let passed = MergePlan::iterate();
    let is_short = plan.merge.turns.is_some() && !has_all(&plan.merge, &inputs);
    let how = if single || is_short { &passed } else { &plan.merge };
    let merge = Merge::new(how, inputs, live.database.dialect.as_ref(), limits)?;
    let merged = Merged {
        merge: Merging::Stored(merge),
        turning: Turning::of_cells(&live.database, plan),
        channels: Vec::new(),
        rows: 0,
        announced: false,
        loaded: ended,
        verb,
    };
    session.outbox.answers_with(Reply::Merged(Box::new(merged)));
    Ok(())
}

/// Its waits for rows, as whoever looks for deadlocks sees them.
struct RowWaits<'a> {
    inner: &'a Arc<Inner>,
    handle: &'a Handle,
}

impl Waiting for RowWaits<'_> {
    fn begins(&self, holder: &str) {
        self.handle.wants(number_of(holder));
        self.inner.deadlocks.rouse(&self.inner.runtime, self.inner);
    }

    fn ends(&self, holder: &str) {
        self.handle.wants_no_more(number_of(holder));
    }
}

impl UnitWork<'_> {
    /// Runs its statements one after the other, and gives the connection back.
    async fn run(mut self) -> Worked {
        let told = self.run_all().await;
        Worked { connection: self.connection, logged: self.logged, told }
    }

    async fn run_all(&mut self) -> Result<Told> {
        let mut dressed = Ok(());
        for _ in 0..self.swallow {
            dressed = dressed.and(finish(&mut self.connection).await.map(|_| ()));
        }
        if dressed.is_err() {
            self.connection.set_session_state(UNKNOWN);
        }
        dressed?;
        let mut told = Told::new();
        for job in std::mem::take(&mut self.jobs) {
            let name = match pando_base::concern(&job.statement)? {
                Concern::Changes(name) | Concern::Locks(name) => name,
                Concern::Nothing => return Err(Error::internal("a change of no table")),
            };
            let table = self.table(name).await?;
            let dialect = self.live.database.dialect.as_ref();
            let reversible = Reversible::of(&job.statement, &table, &job.call.parameters, dialect)?;
            let mut unit = Unit::of(&mut self.connection, dialect)?;
            let (statement, remaining) = job.order;
            let branch = self.global.branch(statement, remaining);
            let reply = unit.run(&reversible, &job.call, &branch, &self.bounds).await?;
            if reply.logged {
                self.logged.push(job.order.0);
            }
            told.push((job.at, reply));
        }
        Ok(told)
    }

    async fn table(&mut self, name: TableName) -> Result<Arc<Table>> {
        let epoch = self.live.catalog.epoch();
        let place = (Arc::clone(self.connection.unit()), name, self.connection.session_state());
        if let Some(table) = self.live.together.known.table(&place, epoch) {
            return Ok(table);
        }
        let dialect = self.live.database.dialect.as_ref();
        let table = Unit::of(&mut self.connection, dialect)?.table(&place.1).await?;
        let table = Arc::new(table);
        self.live.together.known.keep_table(place, epoch, Arc::clone(&table));
        Ok(table)
    }
}

fn lock_wait(session: u32) -> Duration {
    let (least, most) = LOCK_WAIT;
    Duration::from_millis(least + u64::from(session).wrapping_mul(1_637) % (most - least))
}

/// How a unit runs its statement for the client.
fn call(unit: &plan::Unit, given: &Given) -> Result<Call> {
    if !given.prepared {
        return Ok(Call::default());
    }
    let parameters = given.parameters_of(unit)?;
    let formats = given.formats.clone();
    let types = given.types_of(unit);
    Ok(Call { prepared: true, parameters, types, formats, era: given.era })
}

/// What all of them come to, in order. None is dropped before its end: what it does may be committed by then.
async fn settled<T>(work: Vec<Pin<Box<dyn Future<Output = T> + Send + '_>>>) -> Vec<T> {
    let mut work: Vec<_> = work.into_iter().map(|one| (one, None)).collect();
    poll_fn(|cx| {
        for (one, told) in &mut work {
            if told.is_none()
                && let Poll::Ready(done) = one.as_mut().poll(cx)
            {
                *told = Some(done);
            }
        }
        if work.iter().all(|(_, told)| told.is_some()) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    work.into_iter().filter_map(|(_, told)| told).collect()
}
