//! Transactions of type BASE: every change is committed on its storage unit at once, with images of its rows, by which it is taken back if it must be.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use pando_base::{
    Bounds, Call, Concern, Field, Global, Plan as Reversible, Table, TableName, Unit, Waiting,
};
use pando_deadlock::number_of;
use pando_kernel::Columns;
use pando_kernel::TransactionType;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Completion, Event};
use pando_kernel::merge::MergePlan;
use pando_kernel::request::Parameter;
use pando_kernel::route::{Spread, UnitName};
use pando_kernel::row::Rows;
use pando_kernel::session::TransactionState;
use pando_pool::Connection;
use pando_sql::ast::{Kind, Statement};
use pando_transaction::{Ready, finish};

use crate::execute::{Channel, Source, sum};
use crate::handle::Handle;
use crate::house::Inner;
use crate::merge::{Input, Limits, Merge};
use crate::plan::{self, Plan};
use crate::snapshot::LiveDatabase;
use crate::variables::UNKNOWN;

use super::acquire::{Aim, grouped, types};
use super::origin::Origin;
use super::reply::{Merged, Reply, Verb};
use super::run::{has_all, syntax_error};
use super::{Bound, Session};

/// Longest wait for a row that another transaction of type BASE holds, in milliseconds: between these two, another one for each session. Of two that wait for
/// each other one gives up first, should nobody see the circle.
const LOCK_WAIT: (u64, u64) = (8_000, 12_000);

/// What the open transaction has done.
#[derive(Debug, Default)]
pub(super) struct Base {
    /// `None` before its first change.
    global: Option<Global>,
    /// Each with the number of the last statement before it.
    savepoints: Vec<(String, u64)>,
}

impl Base {
    /// Whether something was changed, or begun to be.
    pub(super) fn has_changed(&self) -> bool {
        self.global.is_some()
    }

    fn statement(&self) -> u64 {
        self.global.as_ref().map_or(0, Global::statement)
    }

    /// Sets a savepoint.
    pub(super) fn savepoint(&mut self, name: &str) {
        let statement = self.statement();
        self.savepoints.push((name.to_owned(), statement));
    }

    /// Another savepoint takes the place of this one.
    pub(super) fn gives_up(&mut self, name: &str) {
        self.savepoints.retain(|(known, _)| known != name);
    }

    /// Forgets a savepoint and all after it.
    pub(super) fn release(&mut self, name: &str) {
        if let Some(at) = self.savepoints.iter().rposition(|(known, _)| known == name) {
            self.savepoints.truncate(at);
        }
    }
}

/// One statement for one storage unit.
struct Job {
    /// Its place in the plan.
    at: usize,
    statement: Statement,
    call: Call,
    order: (u64, Duration),
}

/// Statements for one connection, and what they need besides.
struct Work<'a> {
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

impl Session {
    /// Whether a statement is one that a transaction of type BASE must be able to take back.
    ///
    /// # Errors
    /// `Refused` when it could not be.
    pub(super) fn is_for_base(&self, stmt: &Statement) -> Result<bool> {
        let inside = self.transaction.state() != TransactionState::Idle;
        if !inside || self.transaction.kind() != TransactionType::Base {
            return Ok(false);
        }
        Ok(pando_base::concern(stmt)? != Concern::Nothing)
    }

    /// Whether a statement outside a transaction gets one of type BASE for itself: rows that others hold are to be heeded.
    pub(super) fn changes_in_base(&self, stmt: &Statement) -> bool {
        self.transaction_type() == TransactionType::Base
            && matches!(stmt.kind, Kind::Insert(_) | Kind::Update(_) | Kind::Delete(_))
    }

    /// Refuses, outside a transaction too, changes that would overwrite rows that transactions of type BASE hold.
    pub(super) fn refuse_unheeding(&self, stmt: &Statement) -> Result<()> {
        if self.transaction_type() != TransactionType::Base {
            return Ok(());
        }
        let hides_changes = matches!(&stmt.kind, Kind::Select(_) | Kind::Explain { .. })
            && plan::writes(&stmt.kind);
        if hides_changes || matches!(&stmt.kind, Kind::Utility { verb, .. } if verb == "MERGE") {
            pando_base::concern(stmt)?;
        }
        Ok(())
    }

    /// Refuses what cannot be taken back, in a transaction of type BASE or where one would begin.
    pub(super) fn refuse_in_base(&self, what: &str) -> Result<()> {
        let idle = self.transaction.state() == TransactionState::Idle;
        let kind = if idle { self.transaction_type() } else { self.transaction.kind() };
        if kind != TransactionType::Base {
            return Ok(());
        }
        Err(Error::refused(
            30001,
            format!("{what} cannot be taken back in a BASE transaction"),
            "use a LOCAL or XA transaction",
        ))
    }

    /// Runs a plan whose changes can be taken back. What it has done is taken back when a part of it fails.
    pub(super) async fn start_in_base(
        &mut self,
        live: &Arc<LiveDatabase>,
        plan: &Arc<Plan>,
        bound: &Bound,
        verb: Verb,
    ) -> Result<()> {
        pando_base::admits(live.database.dialect.as_ref(), self.variables.list())?;
        if !plan.before.is_empty() {
            self.refuse_in_base("a change of rows by those of other shards")?;
        }
        if plan.writes && self.transaction.modes().iter().any(|mode| mode == "READ ONLY") {
            let message = "the transaction is read only";
            return Err(ErrorKind::TransactionState(message.into()).into());
        }
        let before = self.base.statement();
        match Box::pin(self.run_in_base(live, plan, bound)).await {
            Ok(told) => Box::pin(self.tell_of_base(live, plan, verb, told)).await,
            Err(error) => {
                let undone = self.undo_in_base(before + 1).await;
                if let Err(error) = undone {
                    tracing::warn!(%error, "a failed statement is not taken back yet");
                    self.transaction.lose();
                }
                Err(error)
            }
        }
    }

    async fn run_in_base(
        &mut self,
        live: &Arc<LiveDatabase>,
        plan: &Plan,
        bound: &Bound,
    ) -> Result<Told> {
        let groups = grouped(live, plan);
        if self.base.global.is_none()
            && let Some((first, _)) = groups.first()
        {
            self.base.global = Some(self.begin_global(live, first).await?);
        }
        let mut prepared: Vec<(Connection, usize, Vec<Job>)> = Vec::new();
        let mut failed = Ok(());
        for (unit, places) in &groups {
            match self.jobs_of(live, plan, (bound, unit, places)).await {
                Ok(work) => prepared.push(work),
                Err(error) => {
                    failed = Err(error);
                    break;
                }
            }
        }
        let told: Vec<Worked> = match (failed, &self.base.global) {
            (Ok(()), Some(global)) => {
                let handle = Arc::clone(&self.handle);
                let is_cancelled = || handle.is_cancelled();
                let waiting = RowWaits { inner: &self.engine.inner, handle: &handle };
                let bounds = Bounds {
                    runtime: &*self.engine.inner.runtime,
                    lock_wait: lock_wait(self.handle.key.id),
                    is_cancelled: &is_cancelled,
                    waiting: &waiting,
                    image_bytes: self.settings().memory_bytes,
                };
                let work = prepared.into_iter().map(|(connection, swallow, jobs)| {
                    let logged = Vec::new();
                    let work = Work { connection, swallow, jobs, live, global, bounds, logged };
                    Box::pin(work.run()) as Pin<Box<dyn Future<Output = Worked> + Send + '_>>
                });
                settled(work.collect()).await
            }
            (failed, _) => {
                let channels = prepared.into_iter();
                let channels =
                    channels.map(|(connection, swallow, _)| Channel::new(connection, swallow, 0));
                self.release_channels(channels.collect()).await;
                failed?;
                Vec::new()
            }
        };
        let mut all = Ok(Told::new());
        let mut channels = Vec::new();
        for Worked { connection, logged, told: one } in told {
            if let Some(global) = self.base.global.as_mut() {
                logged.iter().for_each(|statement| global.logged(connection.unit(), *statement));
            }
            match connection.condition().usable {
                true => channels.push(Channel::new(connection, 0, 0)),
                false => {
                    // Its commit may still be under way there: the transaction can only be taken back as a whole.
                    self.transaction.lose();
                    connection.discard();
                }
            }
            match (&mut all, one) {
                (Ok(list), Ok(one)) => list.extend(one),
                (Ok(_), Err(error)) => all = Err(error),
                (Err(_), _) => {}
            }
        }
        self.release_channels(channels).await;
        let mut told = all?;
        told.sort_by_key(|(at, _)| *at);
        Ok(told)
    }

    async fn begin_global(&mut self, live: &LiveDatabase, decider: &UnitName) -> Result<Global> {
        let known = &live.together.known;
        let identity = match known.identity(decider) {
            Some(identity) => identity,
            None => {
                let runtime = &self.engine.inner.runtime;
                let asking = Ready::decider(live.pool(decider)?.connector(), runtime);
                let identity = self.handle.taken(asking).await?;
                known.keep_identity(decider, Arc::clone(&identity));
                identity
            }
        };
        let global = Global::begin(&self.engine.field(live), Arc::clone(decider), &identity);
        self.handle.begins_base(number_of(global.id().as_str()));
        Ok(global)
    }

    /// A connection of a unit, and what it is to run.
    async fn jobs_of(
        &mut self,
        live: &LiveDatabase,
        plan: &Plan,
        (bound, unit, places): (&Bound, &UnitName, &[usize]),
    ) -> Result<(Connection, usize, Vec<Job>)> {
        let mut jobs = Vec::new();
        for at in places {
            let own = plan.units.get(*at);
            let own = own.ok_or_else(|| Error::internal("a job without its unit"))?;
            // Every row has an image, by its values.
            let statement = pando_sql::parse_whole(&own.sql, live.database.dialect.syntax());
            let statement = statement.map_err(syntax_error)?;
            let now = self.engine.inner.runtime.now();
            let global = self.base.global.as_mut();
            let global = global.ok_or_else(|| Error::internal("a change of no transaction"))?;
            let order = global.next(unit, now)?;
            jobs.push(Job { at: *at, statement, call: call(own, bound)?, order });
        }
        // Whoever runs the jobs waits until it wears the session's variables: nothing is to be waited for here, for all units one after the other.
        let (mut connection, swallow) = self.taken_from_pool(live, unit, Aim::Reads).await?;
        self.taint(live, &mut connection, plan);
        Ok((connection, swallow, jobs))
    }

    /// Gives the client what the units have answered.
    async fn tell_of_base(
        &mut self,
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
        let origin = Origin::of(live, plan);
        let mut inputs = Vec::new();
        let mut ended: Vec<Completion> = Vec::new();
        for (_, reply) in told {
            ended.push(reply.completion);
            let mut columns: Option<Columns> = None;
            let mut rows: VecDeque<Rows> = VecDeque::new();
            for event in reply.events {
                match event {
                    Event::Columns(described) => columns = Some(described),
                    Event::Rows(some) => rows.push_back(some),
                    Event::Notice(_) | Event::Parameter { .. } => self.pending.push_back(event),
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
                origin.rename(&mut columns);
                inputs.push(Input { columns, rows: Source::Memory(rows) });
            }
        }
        if inputs.is_empty() {
            return self.conclude(sum(ended.iter()), &verb).await;
        }
        let limits = Limits { memory_bytes: self.settings().memory_bytes };
        let passed = MergePlan::iterate();
        let is_short = plan.merge.turns.is_some() && !has_all(&plan.merge, &inputs);
        let how = if single || is_short { &passed } else { &plan.merge };
        let merge = Merge::new(how, inputs, live.database.dialect.as_ref(), limits)?;
        let merged =
            Merged { merge, channels: Vec::new(), rows: 0, announced: false, loaded: ended, verb };
        self.reply = Reply::Merged(Box::new(merged));
        Ok(())
    }

    fn base_field(&self) -> Result<Field> {
        // Others may wait for its rows, and have all connections of a unit.
        Ok(Field { is_awaited: true, ..self.engine.field(&*self.live()?) })
    }

    /// Takes back the open transaction's statements from a number on.
    pub(super) async fn undo_in_base(&mut self, from: u64) -> Result<()> {
        let field = self.base_field()?;
        let Some(global) = self.base.global.as_mut() else { return Ok(()) };
        global.rollback(&field, from).await?;
        global.forget(from);
        Ok(())
    }

    /// The client is gone: what its open transaction has committed on units is taken back behind it. What is under way there at this moment is found by
    /// recovery.
    pub(super) fn take_back_in_base(&mut self) {
        let Some(global) = std::mem::take(&mut self.base).global else { return };
        let Ok(field) = self.base_field() else { return };
        self.engine.inner.runtime.spawn(Box::pin(async move {
            if let Err(error) = global.rollback(&field, 0).await {
                tracing::warn!(%error, "what a client has left is not taken back yet");
            }
        }));
    }

    /// Takes back what came after a savepoint.
    pub(super) async fn return_in_base(&mut self, name: &str) -> Result<()> {
        let found = self.base.savepoints.iter().rposition(|(known, _)| known == name);
        let Some((at, statement)) = found
            .and_then(|at| self.base.savepoints.get(at).map(|(_, statement)| (at, *statement)))
        else {
            return Ok(());
        };
        self.base.savepoints.truncate(at + 1);
        let undone = self.undo_in_base(statement + 1).await;
        if undone.is_err() {
            self.transaction.lose();
        }
        undone
    }

    /// Commits what the open transaction has done on its units, or takes it back.
    ///
    /// # Errors
    /// As [`Global::commit`] and [`Global::rollback`].
    pub(super) async fn end_base(&mut self, commit: bool) -> Result<()> {
        let Some(global) = std::mem::take(&mut self.base).global else { return Ok(()) };
        let field = self.base_field()?;
        match commit && !self.transaction.is_doomed() {
            true => Box::pin(global.commit(&field)).await,
            false => Box::pin(global.rollback(&field, 0)).await,
        }
    }
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

impl Work<'_> {
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
            let branch = self.global.branch(job.order);
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
        self.live.together.known.keep_table(place, (epoch, Arc::clone(&table)));
        Ok(table)
    }
}

fn lock_wait(session: u32) -> Duration {
    let (least, most) = LOCK_WAIT;
    Duration::from_millis(least + u64::from(session).wrapping_mul(1_637) % (most - least))
}

/// How a unit runs its statement for the client.
fn call(unit: &plan::Unit, bound: &Bound) -> Result<Call> {
    if !bound.prepared {
        return Ok(Call::default());
    }
    let missing = || Error::new(ErrorKind::Value("a parameter is not bound".into()));
    let parameters: Result<Vec<Parameter>> = unit
        .parameters
        .iter()
        .map(|i| bound.parameters.get(*i as usize).cloned().ok_or_else(missing))
        .collect();
    let mut parameters = parameters?;
    for (place, value) in &unit.replaced {
        if let Some(parameter) = parameters.get_mut(*place) {
            *parameter = Parameter { native: parameter.native, ..Parameter::made(value.clone()) };
        }
    }
    let formats = bound.formats.clone();
    let types = types(unit, &bound.declared);
    Ok(Call { prepared: true, parameters, types, formats, era: bound.era })
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
