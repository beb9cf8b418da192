//! LOCAL transactions (paper §IV.B): each touched storage unit has its own transaction; units are enlisted when first touched, and
//! all are committed in one phase. There is no atomicity between units when a commit fails: that is reported, never hidden.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use pando_kernel::Execution;
use pando_kernel::dialect::{Dialect, TransactionVerb};
use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_kernel::event::Completion;
use pando_kernel::route::UnitName;
use pando_kernel::session::TransactionState;
use pando_pool::Connection;

use crate::reply::{drain, finish_all};

/// Rows of an abandoned reply that are read away before the connection is given up, in bytes.
const DRAIN_BYTES: usize = 64 << 20;

/// A connection enlisted in the transaction.
#[derive(Debug)]
pub struct Held {
    /// Its storage unit.
    pub unit: UnitName,
    /// `None` while a statement uses it.
    connection: Option<Connection>,
}

/// The transaction of one session.
#[derive(Debug, Default)]
pub struct Local {
    state: TransactionState,
    modes: Vec<String>,
    held: Vec<Held>,
    savepoints: Vec<String>,
    wrote: bool,
    lost: bool,
    tainted: bool,
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
    /// Gives the connections to their pools: from here on nobody may cancel them on behalf of this transaction.
    ///
    /// # Errors
    /// What kept the transaction from being committed: [`Local::commit`].
    pub fn release(self) -> Result<Outcome> {
        if self.tainted {
            self.connections.into_iter().for_each(Connection::discard);
        }
        self.outcome
    }
}

impl Local {
    /// Where the transaction stands.
    pub fn state(&self) -> TransactionState {
        self.state
    }

    /// Opens a transaction; no unit is touched yet.
    pub fn begin(&mut self, modes: Vec<String>) {
        self.state = TransactionState::Open;
        self.modes = modes;
    }

    /// The modes it was opened with.
    pub fn modes(&self) -> &[String] {
        &self.modes
    }

    /// Other modes, as long as no unit is touched.
    pub fn set_modes(&mut self, modes: Vec<String>) {
        self.modes = modes;
    }

    /// Marks the transaction as failed: only its end, or a return to a savepoint, is accepted.
    pub fn fail(&mut self) {
        if self.state == TransactionState::Open {
            self.state = TransactionState::Failed;
        }
    }

    /// Marks that a unit's connection was lost: the transaction can only be rolled back.
    pub fn lose(&mut self) {
        self.lost = true;
        self.fail();
    }

    /// Marks that a cancel request may still be on its way to these connections: they serve nobody else afterwards.
    pub fn taint(&mut self) {
        self.tainted = true;
    }

    /// Marks that the transaction has written; of no effect outside one.
    pub fn wrote_if_open(&mut self) {
        self.wrote |= self.state == TransactionState::Open;
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

    /// Enlists a fresh connection: queues what opens the transaction on it. Returns how many replies belong to that. The
    /// connection stays with the caller until [`Local::give_back`].
    ///
    /// # Errors
    /// What the connection says to being given executions.
    pub fn enlist(&mut self, connection: &mut Connection, dialect: &dyn Dialect) -> Result<usize> {
        let mut queued = 0;
        let mut queue = |text: Option<String>| -> Result<()> {
            if let Some(text) = text {
                connection.start(Execution::Text(text.into()))?;
                queued += 1;
            }
            Ok(())
        };
        queue(dialect.transaction(&TransactionVerb::BeforeBegin(&self.modes)))?;
        queue(dialect.transaction(&TransactionVerb::Begin(&self.modes)))?;
        for name in &self.savepoints {
            queue(dialect.transaction(&TransactionVerb::Savepoint(name)))?;
        }
        self.held.push(Held { unit: Arc::clone(connection.unit()), connection: None });
        Ok(queued)
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

    /// Ends the transaction: commits, unless it has failed. Nothing is committed when a unit is known to be lost before.
    ///
    /// The outcome is an error of class 40001 (1213) when everything was rolled back because a unit was lost: the client may run the transaction again.
    /// Otherwise it is the first unit's error; when some units had committed already, its message says which did and which did not.
    pub async fn commit(&mut self, dialect: &dyn Dialect) -> Ended {
        if self.state == TransactionState::Failed || self.lost || !self.is_whole() {
            let gone = self.lost && !dialect.error_fails_transaction();
            let mut ended = self.rollback(dialect).await;
            if gone {
                ended.outcome = Err(aborted("a storage unit's connection was lost"));
            }
            return ended;
        }
        if let Some(why) = self.obstacle().await {
            let mut ended = self.rollback(dialect).await;
            ended.outcome = Err(aborted(&why));
            return ended;
        }
        let results = self.everywhere(dialect, &TransactionVerb::Commit).await;
        let units = self.units();
        let failed = results.iter().filter(|(_, result)| result.is_err()).count();
        let all = results.len();
        let error = results.into_iter().find_map(|(unit, result)| result.err().map(|e| (unit, e)));
        let outcome = match error {
            None => Ok(Outcome::Committed),
            Some((_, error)) if all == failed => Err(error),
            Some((unit, error)) => Err(partial(&units, &unit, all - failed, error)),
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
            if connection.condition().transaction == TransactionState::Failed {
                return Some(format!("its part on storage unit `{unit}` has failed"));
            }
        }
        None
    }

    /// Ends the transaction without its changes. Connections that cannot be rolled back are closed, which rolls them back as well.
    pub async fn rollback(&mut self, dialect: &dyn Dialect) -> Ended {
        self.everywhere(dialect, &TransactionVerb::Rollback).await;
        self.clear(Ok(Outcome::RolledBack))
    }

    /// Sets a savepoint on every enlisted unit (and, later, on every unit enlisted after it).
    ///
    /// # Errors
    /// The first unit's error.
    pub async fn savepoint(&mut self, name: &str, dialect: &dyn Dialect) -> Result<()> {
        self.all_or_first_error(dialect, &TransactionVerb::Savepoint(name)).await?;
        self.savepoints.push(name.to_owned());
        Ok(())
    }

    /// Releases a savepoint and all set after it.
    ///
    /// # Errors
    /// The vendor's own (3B001, 1305) when there is no such savepoint; else the first unit's error.
    pub async fn release(&mut self, name: &str, dialect: &dyn Dialect) -> Result<()> {
        let at = self.find_savepoint(name, dialect)?;
        self.all_or_first_error(dialect, &TransactionVerb::Release(name)).await?;
        self.savepoints.truncate(at);
        Ok(())
    }

    /// Undoes what was done since a savepoint. A failed transaction is open again.
    ///
    /// # Errors
    /// The vendor's own (3B001, 1305) when there is no such savepoint; else the first unit's error.
    pub async fn rollback_to(&mut self, name: &str, dialect: &dyn Dialect) -> Result<()> {
        let at = self.find_savepoint(name, dialect)?;
        if self.lost {
            return Err(ErrorKind::TransactionFailed.into());
        }
        self.all_or_first_error(dialect, &TransactionVerb::RollbackTo(name)).await?;
        self.savepoints.truncate(at + 1);
        self.state = TransactionState::Open;
        Ok(())
    }

    /// Runs a text on every enlisted unit (SET inside a transaction).
    ///
    /// # Errors
    /// The first unit's error.
    pub async fn run_everywhere(&mut self, text: &str) -> Result<()> {
        first_error(self.run(text).await)
    }

    /// The enlisted connections that are at home.
    pub fn connections(&mut self) -> impl Iterator<Item = &mut Connection> {
        self.held.iter_mut().filter_map(|held| held.connection.as_mut())
    }

    fn find_savepoint(&self, name: &str, dialect: &dyn Dialect) -> Result<usize> {
        let at = self.savepoints.iter().rposition(|known| known == name);
        at.ok_or_else(|| no_savepoint(name, dialect))
    }

    async fn all_or_first_error(
        &mut self,
        dialect: &dyn Dialect,
        verb: &TransactionVerb<'_>,
    ) -> Result<()> {
        first_error(self.everywhere(dialect, verb).await)
    }

    async fn everywhere(
        &mut self,
        dialect: &dyn Dialect,
        verb: &TransactionVerb<'_>,
    ) -> Vec<(UnitName, Result<Completion>)> {
        match dialect.transaction(verb) {
            Some(text) => self.run(&text).await,
            None => Vec::new(),
        }
    }

    async fn run(&mut self, text: &str) -> Vec<(UnitName, Result<Completion>)> {
        let text: Arc<str> = text.into();
        let mut results = Vec::new();
        let mut started: Vec<&mut Connection> = Vec::new();
        for held in &mut self.held {
            let Some(connection) = held.connection.as_mut() else {
                results.push((Arc::clone(&held.unit), Err(lost(&held.unit))));
                continue;
            };
            let ready = drain(connection, DRAIN_BYTES).await;
            match ready.and_then(|()| connection.start(Execution::Text(Arc::clone(&text)))) {
                Ok(()) => started.push(connection),
                Err(error) => results.push((Arc::clone(&held.unit), Err(error))),
            }
        }
        let ended = finish_all(&mut started).await;
        for (connection, result) in started.iter().zip(ended) {
            results.push((Arc::clone(connection.unit()), result));
        }
        results
    }

    fn clear(&mut self, outcome: Result<Outcome>) -> Ended {
        let before = std::mem::take(self);
        let connections = before.held.into_iter().filter_map(|held| held.connection).collect();
        Ended { outcome, connections, tainted: before.tainted }
    }
}

/// The error for a savepoint that is not set, in the words of the family.
pub fn no_savepoint(name: &str, dialect: &dyn Dialect) -> Error {
    let (number, sqlstate, message) = if dialect.error_fails_transaction() {
        (0, "3B001", format!("savepoint \"{name}\" does not exist"))
    } else {
        (1305, "42000", format!("SAVEPOINT {name} does not exist"))
    };
    server_error(number, sqlstate, message)
}

/// The whole transaction is rolled back, and running it again may help: both vendors tell deadlocks and failed serializations so.
fn aborted(why: &str) -> Error {
    server_error(
        1213,
        "40001",
        format!("the transaction is rolled back on every storage unit: {why}"),
    )
}

fn server_error(number: u32, sqlstate: &str, message: String) -> Error {
    ErrorKind::Server(Box::new(ServerError {
        number,
        sqlstate: sqlstate.to_owned(),
        message,
        severity: "ERROR".into(),
        fields: Vec::new(),
    }))
    .into()
}

fn lost(unit: &str) -> Error {
    ErrorKind::Unavailable { unit: unit.to_owned(), message: "its connection is gone".into() }
        .into()
}

fn first_error(results: Vec<(UnitName, Result<Completion>)>) -> Result<()> {
    results.into_iter().try_for_each(|(_, result)| result.map(|_| ()))
}

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
    server.message = message;
    Error::new(ErrorKind::Server(Box::new(server))).because(error)
}
