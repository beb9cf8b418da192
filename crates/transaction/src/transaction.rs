//! The transaction of one session: each touched storage unit has its own part, and is enlisted when first touched.
//!
//! LOCAL (paper §IV.B): all parts are committed in one phase. There is no atomicity between units when a commit fails: that is reported, never hidden.
//! XA: see [`crate::xa`].

mod locks;
mod savepoints;

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use pando_kernel::dialect::TransactionVerb;
use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_kernel::event::Completion;
use pando_kernel::route::UnitName;
use pando_kernel::session::TransactionState;
use pando_kernel::{Execution, TransactionType};
use pando_pool::Connection;

use crate::errors::{aborted, server_error};
use crate::held::{DRAIN_BYTES, Held, Share, committed, tell};
use crate::reply::drain;
use crate::xa::{Coordinator, Global, Ready, count, unsure};
pub use locks::TableLock;
use locks::{Kept, Names};
pub use savepoints::{catch_up, no_savepoint};

/// How a transaction is to end, and who counts it.
#[derive(Debug, Clone)]
pub struct Course {
    /// How. What a transaction of type BASE does on its units is not seen here: it never enlists any.
    pub kind: TransactionType,
    /// The instance's.
    pub coordinator: Arc<Coordinator>,
}

/// The transaction of one session.
#[derive(Debug, Default)]
pub struct Transaction {
    state: TransactionState,
    modes: Vec<String>,
    pub(crate) held: Vec<Held>,
    savepoints: Vec<String>,
    wrote: bool,
    sight: Sight,
    /// Statements lock what they read, and its units run under these modes instead.
    locks_under: Option<Vec<String>>,
    /// The locks that reads rely on.
    locks: Vec<Kept>,
    /// What names mean.
    names: Names,
    /// So many of these are held for certain: their statements have answered.
    standing: usize,
    lost: bool,
    /// Its client has heard an error that failed it, and so takes no end of it for a commit.
    told: bool,
    pub(crate) tainted: bool,
    /// How it ends; LOCAL where there is none.
    pub(crate) global: Option<Global>,
    /// It is of type BASE.
    is_base: bool,
    /// Where ends are counted.
    pub(crate) coordinator: Option<Arc<Coordinator>>,
}

/// What a transaction that sees one state of its units has seen of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sight {
    /// Nothing is settled: its first statement does.
    #[default]
    Open,
    /// It has changed rows, and looks when it reads some.
    Later,
    /// It has looked, at all units.
    Has,
}

/// What the end of a transaction came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Every unit committed.
    Committed,
    /// Every unit rolled back.
    RolledBack,
}

/// A transaction that is over, and its connections, which still belong to whoever might cancel them.
#[derive(Debug)]
#[must_use = "its outcome may be an error"]
pub struct Ended {
    outcome: Result<Outcome>,
    connections: Vec<Connection>,
    tainted: bool,
}

impl Ended {
    /// Takes out a connection that is not its pool's again yet.
    pub fn take(&mut self, wanted: impl Fn(&Connection) -> bool) -> Option<Connection> {
        let at = self.connections.iter().position(wanted)?;
        Some(self.connections.swap_remove(at))
    }

    /// Whether a cancel of one of the connections may still be under way.
    pub fn is_tainted(&self) -> bool {
        self.tainted
    }

    /// Gives the connections to their pools: from here on nobody may cancel them on behalf of this transaction.
    ///
    /// # Errors
    /// What kept the transaction from being committed: [`Transaction::commit`].
    pub fn release(self) -> Result<Outcome> {
        if self.tainted {
            self.connections.into_iter().for_each(Connection::discard);
        }
        self.outcome
    }
}

impl Transaction {
    /// Where the transaction stands.
    pub fn state(&self) -> TransactionState {
        self.state
    }

    /// Opens a transaction; no unit is touched yet.
    pub fn begin(&mut self, modes: Vec<String>, course: Course) {
        self.state = TransactionState::Open;
        self.modes = modes;
        self.global = (course.kind == TransactionType::Xa).then(Global::default);
        self.is_base = course.kind == TransactionType::Base;
        self.coordinator = Some(course.coordinator);
    }

    /// From here on statements lock what they read, on units that run under these modes.
    pub fn locks_reads(&mut self, under: Vec<String>) {
        self.locks_under = Some(under);
    }

    /// Whether statements lock what they read.
    pub fn is_locking(&self) -> bool {
        self.locks_under.is_some()
    }

    /// Whether it was begun to read only.
    pub(crate) fn is_read_only(&self) -> bool {
        self.modes.iter().any(|mode| mode == "READ ONLY")
    }

    /// Whether no unit is enlisted yet.
    pub fn is_fresh(&self) -> bool {
        self.held.is_empty()
    }

    /// What it has seen of its units.
    pub fn sight(&self) -> Sight {
        self.sight
    }

    /// Notes what it has seen.
    pub fn sees(&mut self, sight: Sight) {
        self.sight = sight;
    }

    /// Of which type it is.
    pub fn kind(&self) -> TransactionType {
        match &self.global {
            Some(_) => TransactionType::Xa,
            None if self.is_base => TransactionType::Base,
            None => TransactionType::Local,
        }
    }

    /// The modes it was opened with.
    pub fn modes(&self) -> &[String] {
        &self.modes
    }

    /// Other modes, as long as no unit is touched.
    pub fn set_modes(&mut self, modes: Vec<String>) {
        self.modes = modes;
    }

    /// Marks the transaction as failed by an error that its client hears: only its end, or a return to a savepoint,
    /// is accepted.
    pub fn fail(&mut self) {
        self.told |= self.state != TransactionState::Idle;
        self.stop();
    }

    /// Marks that a unit's connection was lost: the transaction can only be rolled back. Its client need not have
    /// heard of it.
    pub fn lose(&mut self) {
        self.lost = true;
        self.stop();
    }

    fn stop(&mut self) {
        if self.state == TransactionState::Open {
            self.state = TransactionState::Failed;
        }
    }

    /// Whether its client has heard that it has failed.
    pub fn is_told(&self) -> bool {
        self.told
    }

    /// Marks that a cancel request may still be on its way to these connections: they serve nobody else afterwards.
    pub fn taint(&mut self) {
        self.tainted = true;
    }

    /// Marks that the transaction has written; of no effect outside one.
    pub fn wrote_if_open(&mut self) {
        self.wrote |= self.state == TransactionState::Open;
    }

    /// Whether it can only be rolled back.
    pub fn is_doomed(&self) -> bool {
        self.lost || self.state == TransactionState::Failed
    }

    /// Whether it has written.
    pub fn has_written(&self) -> bool {
        self.wrote
    }

    /// The enlisted units in the order they were.
    pub fn units(&self) -> Vec<UnitName> {
        self.held.iter().map(|held| Arc::clone(&held.unit)).collect()
    }

    /// Lends the connection enlisted for a unit; `None` when the unit is not enlisted.
    ///
    /// # Errors
    /// `TransactionState` when another reply still uses it.
    pub fn lend(&mut self, unit: &str) -> Result<Option<Connection>> {
        match self.held.iter_mut().find(|held| &*held.unit == unit) {
            None => Ok(None),
            Some(held) => held.connection.take().map(Some).ok_or_else(|| {
                ErrorKind::TransactionState(format!(
                    "another open cursor still reads from storage unit `{unit}`"
                ))
                .into()
            }),
        }
    }

    /// Enlists a fresh connection: queues what opens the transaction on it. Returns how many replies belong to that.
    /// What [`Transaction::left_to_tell`] has
    /// left is to be told behind them. The connection stays with the caller until [`Transaction::give_back`]. `ready`
    /// is the unit's, in an XA transaction.
    ///
    /// # Errors
    /// What the connection says to being given executions.
    pub fn enlist(&mut self, connection: &mut Connection, ready: Option<&Ready>) -> Result<usize> {
        self.enlist_looking(connection, ready, None)
    }

    /// As [`Transaction::enlist`], with a query that makes the unit look at its data. It stands before the savepoints: InnoDB, which joins a transaction with its
    /// first query, forgets at the return to an earlier savepoint what it has looked at, and looks anew.
    /// <https://dev.mysql.com/doc/refman/8.0/en/savepoint.html>
    ///
    /// # Errors
    /// As [`Transaction::enlist`].
    pub fn enlist_looking(
        &mut self,
        connection: &mut Connection,
        ready: Option<&Ready>,
        look: Option<&str>,
    ) -> Result<usize> {
        let connector = connection.connector();
        let connector = connector.ok_or_else(|| Error::internal("a connection of no pool"))?;
        let dialect = connector.dialect();
        let mut held = Held::new(Arc::clone(connection.unit()), Arc::clone(&dialect));
        let identity = ready.and_then(|ready| ready.identity.as_deref());
        let modes = self.locks_under.as_ref().unwrap_or(&self.modes);
        let opening = match (&mut self.global, &self.coordinator, identity) {
            (Some(global), Some(coordinator), Some(identity)) => {
                let share = if global.is_unnamed() { Share::Decides } else { Share::Follows };
                let (number, token) = (self.held.len(), connection.token().id);
                let (id, part) = global.joins(coordinator, identity, number, token);
                held.join(part, share)?;
                held.opening(id, modes)
            }
            _ => held.opening_alone(modes),
        };
        let savepoints = self.first_savepoints(dialect.as_ref());
        for text in &opening {
            connection.start(Execution::Aside(text.as_str().into()))?;
        }
        if let Some(look) = look {
            connection.start(Execution::Aside(look.into()))?;
        }
        for text in &savepoints {
            connection.start(Execution::Aside(text.as_str().into()))?;
        }
        self.held.push(held);
        Ok(opening.len() + usize::from(look.is_some()) + savepoints.len())
    }

    /// Notes that a statement that changes something is about to run on a unit.
    pub fn writes_on(&mut self, unit: &str) {
        if let Some(held) = self.held.iter_mut().find(|held| &*held.unit == unit) {
            held.wrote = true;
        }
    }

    /// Takes back a lent or newly enlisted connection.
    pub fn give_back(&mut self, connection: Connection) {
        if !connection.condition().usable {
            self.lose();
        }
        let unit = Arc::clone(connection.unit());
        if let Some(held) = self.held.iter_mut().find(|held| held.unit == unit) {
            held.connection = Some(connection);
        }
    }

    /// Whether a unit is enlisted and its connection is lent.
    pub fn expects(&self, unit: &str) -> bool {
        self.held.iter().any(|held| &*held.unit == unit && held.connection.is_none())
    }

    /// Whether the connection of an enlisted unit is known to be lost: it can only be rolled back.
    pub fn has_lost_connection(&self) -> bool {
        let is_lost =
            |held: &Held| !held.connection.as_ref().is_some_and(|one| one.condition().usable);
        self.lost || self.held.iter().any(is_lost)
    }

    /// Whether every enlisted connection is at home.
    pub fn is_whole(&self) -> bool {
        self.held.iter().all(|held| held.connection.is_some())
    }

    /// Whether a storage unit has ended its part by itself although the transaction goes on: a deadlock's victim is rolled back as a whole.
    pub fn is_torn(&self) -> bool {
        let over = |held: &Held| {
            let condition = held.connection.as_ref().map(|connection| connection.condition());
            condition.is_some_and(|now| now.usable && now.transaction == TransactionState::Idle)
        };
        self.state == TransactionState::Open && self.held.iter().any(over)
    }

    /// Whether a unit has changes of the transaction that are not ended.
    pub fn has_open_changes(&self) -> bool {
        let is_open = |held: &Held| {
            let condition = held.connection.as_ref().map(|connection| connection.condition());
            condition.is_none_or(|now| now.transaction != TransactionState::Idle)
        };
        self.held.iter().any(|held| held.wrote && is_open(held))
    }

    /// Whether a statement has ended an ordinary part of an open transaction by itself. A branch of XA refuses that.
    pub fn has_ended_part(&self) -> bool {
        let over = |held: &Held| {
            let condition = held.connection.as_ref().map(|connection| connection.condition());
            (held.part.is_none() || held.decides)
                && condition
                    .is_some_and(|now| now.usable && now.transaction == TransactionState::Idle)
        };
        self.state == TransactionState::Open && self.held.iter().any(over)
    }

    /// Ends the transaction: commits, unless it has failed. Nothing is committed when a unit is known to be lost before.
    ///
    /// It is rolled back without an error only where its client has heard of the failure ([`Transaction::fail`]).
    /// Else the outcome is an error of class 40001
    /// (1213) when everything was rolled back because a unit was lost: the client may run the transaction again.
    /// Otherwise it is the first unit's error; when
    /// some units had committed already, its message says which did and which did not.
    pub async fn commit(&mut self) -> Ended {
        if self.state == TransactionState::Failed || self.lost || !self.is_whole() {
            let told = self.told;
            let mut ended = self.rollback().await;
            if !told {
                ended.outcome = Err(aborted("a storage unit's connection was lost"));
            }
            return ended;
        }
        if let Some(why) = self.obstacle().await {
            let mut ended = self.rollback().await;
            ended.outcome = Err(aborted(&why));
            return ended;
        }
        match self.global.is_some() {
            true => self.commit_globally().await,
            false => self.commit_each().await,
        }
    }

    /// Commits in one phase.
    pub(crate) async fn commit_each(&mut self) -> Ended {
        let has_written = self.has_written();
        let results = self.everywhere(&TransactionVerb::Commit).await;
        let has_committed = |(unit, result)| (Arc::clone(&unit), committed(&unit, result));
        let results: Vec<_> = results.into_iter().map(has_committed).collect();
        let units = self.units();
        let failed = results.iter().filter(|(_, result)| result.is_err()).count();
        let all = results.len();
        let error = results.into_iter().find_map(|(unit, result)| result.err().map(|e| (unit, e)));
        let outcome = match error {
            None => Ok(Outcome::Committed),
            Some((_, error)) if all == failed && has_written => Err(unsure(error)),
            // Nothing can be half done of what has only read.
            Some((_, error)) if all == failed || !has_written => Err(error),
            Some((unit, error)) => {
                if let Some(coordinator) = &self.coordinator {
                    count(&coordinator.counts.partial);
                }
                tracing::error!(%unit, %error, "a transaction is committed on some storage units only");
                Err(partial(&units, &unit, all - failed, error))
            }
        };
        self.clear(outcome)
    }

    /// Why committing everywhere would fail, as far as that is known without asking the units.
    async fn obstacle(&mut self) -> Option<String> {
        for held in &mut self.held {
            let unit = &held.unit;
            let Some(connection) = held.connection.as_mut() else {
                return Some(format!("storage unit `{unit}` is lost"));
            };
            let drained = drain(connection, DRAIN_BYTES).await;
            let looked = poll_fn(|cx| Poll::Ready(connection.poll_flush(cx))).await;
            if drained.is_err()
                || matches!(looked, Poll::Ready(Err(_)))
                || !connection.condition().usable
            {
                return Some(format!("the connection to storage unit `{unit}` was lost"));
            }
            match connection.condition().transaction {
                TransactionState::Open => {}
                TransactionState::Failed => {
                    return Some(format!("its part on storage unit `{unit}` has failed"));
                }
                // A deadlock's victim, told to a reply that nobody read to its end.
                TransactionState::Idle => {
                    return Some(format!("storage unit `{unit}` has rolled its part back"));
                }
            }
        }
        None
    }

    /// Ends the transaction without its changes. Connections that cannot be rolled back are closed, which rolls them back as well.
    pub async fn rollback(&mut self) -> Ended {
        match self.global.is_some() {
            true => self.rollback_globally().await,
            false => drop(self.everywhere(&TransactionVerb::Rollback).await),
        }
        self.clear(Ok(Outcome::RolledBack))
    }

    /// Undoes everything on every unit at once, and lets go of them, as [`Transaction::rollback`] does; the client has still to end the transaction, and
    /// cannot return to a savepoint. It hears the error for which this is done.
    pub async fn forfeit(&mut self) -> Ended {
        let (modes, savepoints) = (self.modes.clone(), self.savepoints.clone());
        let coordinator = self.coordinator.clone();
        let ended = self.rollback().await;
        *self = Self {
            state: TransactionState::Failed,
            modes,
            savepoints,
            lost: true,
            told: true,
            coordinator,
            ..Self::default()
        };
        ended
    }

    /// Runs a text on every enlisted unit (SET inside a transaction).
    ///
    /// # Errors
    /// The first unit's error.
    pub async fn run_everywhere(&mut self, text: &str) -> Result<()> {
        let behind = self.savepoints.len();
        self.held.iter_mut().for_each(|held| held.unchanged = behind);
        self.renames();
        first_error(self.run(text).await)
    }

    /// The enlisted connections that are at home.
    pub fn connections(&mut self) -> impl Iterator<Item = &mut Connection> {
        self.held.iter_mut().filter_map(|held| held.connection.as_mut())
    }

    async fn all_or_first_error(&mut self, verb: &TransactionVerb<'_>) -> Result<()> {
        first_error(self.everywhere(verb).await)
    }

    async fn everywhere(
        &mut self,
        verb: &TransactionVerb<'_>,
    ) -> Vec<(UnitName, Result<Completion>)> {
        let texts = |held: &Held| held.dialect.transaction(verb).into_iter().collect();
        let texts: Vec<Vec<String>> = self.held.iter().map(texts).collect();
        self.told(texts).await
    }

    async fn run(&mut self, text: &str) -> Vec<(UnitName, Result<Completion>)> {
        let texts = self.held.iter().map(|_| vec![text.to_owned()]).collect();
        self.told(texts).await
    }

    async fn told(&mut self, texts: Vec<Vec<String>>) -> Vec<(UnitName, Result<Completion>)> {
        let ended = tell(&mut self.held, texts).await;
        let units = self.held.iter().map(|held| Arc::clone(&held.unit));
        units.zip(ended).filter_map(|(unit, ended)| Some((unit, ended?))).collect()
    }

    pub(crate) fn clear(&mut self, outcome: Result<Outcome>) -> Ended {
        let mut before = std::mem::take(self);
        let held = before.held.iter_mut();
        let connections = held.filter_map(|held| held.connection.take()).collect();
        Ended { outcome, connections, tainted: before.tainted }
    }
}

fn first_error(results: Vec<(UnitName, Result<Completion>)>) -> Result<()> {
    results.into_iter().try_for_each(|(_, result)| result.map(|_| ()))
}

/// MySQL's number for a commit that failed.
const ER_ERROR_DURING_COMMIT: u32 = 1180;

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "every error but a server's own is told the same way"
)]
fn partial(units: &[UnitName], failed: &str, committed: usize, error: Error) -> Error {
    let message = format!(
        "the transaction is committed on {committed} of {} storage units; the commit failed on `{failed}`: {error}",
        units.len()
    );
    let mut server = match error.kind() {
        ErrorKind::Server(server) => (**server).clone(),
        _ => {
            ServerError { sqlstate: "40003".into(), severity: "ERROR".into(), ..Default::default() }
        }
    };
    if server.sqlstate.starts_with("40") {
        // What may be run again after a rollback would here be done twice where it is committed.
        server.sqlstate = "40003".into();
        server.number = if server.number == 0 { 0 } else { ER_ERROR_DURING_COMMIT };
        server.fields.clear();
    }
    server.message = message;
    Error::new(ErrorKind::Server(Box::new(server))).caused_by(error)
}
