//! Locks on tables that reads rely on until the transaction ends, in spite of savepoints.
//!
//! A server lets go of the locks that were taken behind a savepoint when a statement fails there, and at the return to it
//! (<https://www.postgresql.org/docs/15/explicit-locking.html>, section 13.3). Where a unit has changed nothing since the savepoint was set, the lock is
//! therefore moved in front of it: the savepoint is released, which hands the lock to what is around it, and set again. Behind changes that is not
//! possible: such a lock is taken again after the return, and nobody else may have committed meanwhile; where it went with an error nobody can tell.

use std::sync::Arc;

use pando_kernel::dialect::TransactionVerb;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::route::UnitName;
use pando_kernel::session::TransactionState;
use pando_kernel::two_phase::Against;
use pando_kernel::{Execution, Value};
use pando_pool::Connection;

use super::{Transaction, server_error};
use crate::aside::rows;
use crate::held::{DRAIN_BYTES, Held};
use crate::reply::drain;

/// A lock on tables, in the language of its unit.
#[derive(Debug)]
pub struct TableLock {
    /// The tables' names.
    pub tables: String,
    /// Whom it keeps out.
    pub against: Against,
    /// What takes it, and waits for it.
    pub text: String,
    /// What takes it, or fails at once.
    pub at_once: String,
}

impl TableLock {
    /// Whether who has it needs no other one.
    fn holds(&self, other: &Self) -> bool {
        let keeps_out = match other.against {
            Against::Writers => true,
            Against::Everybody => self.against == Against::Everybody,
        };
        keeps_out && self.tables == other.tables
    }
}

/// A lock that has been taken.
#[derive(Debug)]
pub(super) struct Kept {
    unit: UnitName,
    lock: TableLock,
    /// Of the names in it.
    version: u64,
    /// So many savepoints are in front of it: it goes at the return to the last of them, or to one before.
    behind: usize,
}

/// What tables' names mean changes with settings and definitions.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Grows with each change.
    version: u64,
    /// So many savepoints are in front of the last one.
    behind: usize,
}

/// A unit that lets go of locks at the return to a savepoint, and which transactions of it had ended before.
pub(super) struct Fallen {
    unit: UnitName,
    ended: String,
}

impl Transaction {
    /// Queues locks on a lent connection, in front of a statement that reads under them, and puts the savepoints behind them that may stand there. Returns how
    /// many replies belong to that.
    ///
    /// # Errors
    /// What the connection says to being given executions.
    pub fn lock(&mut self, connection: &mut Connection, locks: Vec<TableLock>) -> Result<usize> {
        let unit = Arc::clone(connection.unit());
        let Some(held) = self.held.iter().find(|held| held.unit == unit) else { return Ok(0) };
        let behind = self.front(held.unchanged);
        let standing = self.locks.get(..self.standing).unwrap_or_default();
        let is_new = |lock: &TableLock| {
            !standing.iter().any(|kept| {
                kept.unit == unit && kept.version == self.names.version && kept.lock.holds(lock)
            })
        };
        let locks: Vec<TableLock> = locks.into_iter().filter(is_new).collect();
        if locks.is_empty() {
            return Ok(0);
        }
        let mut queued = locks.len();
        for lock in &locks {
            connection.start(Execution::Aside(lock.text.as_str().into()))?;
        }
        for text in self.set_anew(held, behind, self.savepoints.len()) {
            connection.start(Execution::Aside(text.into()))?;
            queued += 1;
        }
        let version = self.names.version;
        let kept = |lock| Kept { unit: Arc::clone(&unit), lock, version, behind };
        self.locks.extend(locks.into_iter().map(kept));
        Ok(queued)
    }

    /// Notes that a statement is about to change something on a unit, be it a setting.
    pub fn changes_on(&mut self, unit: &str) {
        let behind = self.savepoints.len();
        if let Some(held) = self.held.iter_mut().find(|held| &*held.unit == unit) {
            held.unchanged = behind;
        }
    }

    /// Notes that the same name may be another table's from here on.
    pub fn renames(&mut self) {
        self.names = Names { version: self.names.version + 1, behind: self.savepoints.len() };
    }

    /// The statement has answered: its locks are held.
    pub fn locks_stand(&mut self) {
        self.standing = self.locks.len();
    }

    /// The statement has failed: its locks may never have been taken.
    pub fn locks_fall(&mut self) {
        self.locks.truncate(self.standing);
    }

    /// The savepoints from this one on are released: what was behind them is not any more.
    pub(super) fn locks_rise(&mut self, at: usize) {
        self.locks.iter_mut().for_each(|kept| kept.behind = kept.behind.min(at));
        self.held.iter_mut().for_each(|held| held.unchanged = held.unchanged.min(at));
        self.names.behind = self.names.behind.min(at);
    }

    /// The units that let go of locks at the return to a savepoint.
    ///
    /// # Errors
    /// One of class 40001 where they have let go of them before; what asking them says.
    pub(super) async fn fall_behind(&mut self, at: usize) -> Result<Vec<Fallen>> {
        let locks = &self.locks;
        let mut fallen = Vec::new();
        let mut result = Ok(());
        for held in &mut self.held {
            if !locks.iter().any(|kept| kept.unit == held.unit && kept.behind > at) {
                continue;
            }
            let found = match self.names.behind > at {
                true => Err(gone("cannot be named after the return")),
                false => ended(held).await,
            };
            match found {
                Ok(ended) => fallen.push(Fallen { unit: Arc::clone(&held.unit), ended }),
                Err(error) => result = result.and(Err(error)),
            }
        }
        if result.is_err() {
            self.lose();
        }
        result.map(|()| fallen)
    }

    /// What takes a unit's locks again that go at the return to a savepoint, and puts them in front of those that may stand behind them.
    pub(super) fn taken_again(&self, held: &Held, at: usize) -> Vec<String> {
        let fallen = |kept: &&Kept| kept.unit == held.unit && kept.behind > at;
        let mut texts: Vec<String> =
            self.locks.iter().filter(fallen).map(|kept| kept.lock.at_once.clone()).collect();
        if !texts.is_empty() {
            texts.extend(self.set_anew(held, self.front(held.unchanged.min(at)), at + 1));
        }
        texts
    }

    /// The return to a savepoint has been told to the units, and came to `returned`.
    ///
    /// # Errors
    /// One of class 40001 when somebody may have changed what was read while no lock kept him from it; `returned`'s.
    pub(super) async fn stand_again(
        &mut self,
        at: usize,
        fallen: Vec<Fallen>,
        returned: Result<()>,
    ) -> Result<()> {
        let mut result = returned.map_err(overtaken);
        let has_fallen = !fallen.is_empty();
        for one in fallen {
            let held = self.held.iter_mut().find(|held| held.unit == one.unit);
            let Some(held) = held.filter(|_| result.is_ok()) else { continue };
            result = nobody_committed(held, &one.ended).await;
        }
        if result.is_err() {
            if has_fallen {
                self.lose();
            }
            return result;
        }
        for held in &mut self.held {
            held.unchanged = held.unchanged.min(at);
        }
        if self.names.behind > at {
            self.renames();
            self.names.behind = at;
        }
        for number in 0..self.locks.len() {
            let kept = &self.locks[number];
            if kept.behind <= at {
                continue;
            }
            let held = self.held.iter().find(|held| held.unit == kept.unit);
            let behind = self.front(held.map_or(at, |held| held.unchanged)).min(at + 1);
            self.locks[number].behind = behind;
        }
        Ok(())
    }

    /// How many savepoints stay in front of a lock that may stand in front of all from `unchanged` on. Where two have one name nobody could tell, after an error,
    /// which of them is there.
    fn front(&self, unchanged: usize) -> usize {
        let names = &self.savepoints;
        let twice = names.iter().enumerate().any(|(at, name)| names[..at].contains(name));
        if twice { names.len() } else { unchanged }
    }

    /// What sets the savepoints `from..to` anew.
    fn set_anew(&self, held: &Held, from: usize, to: usize) -> Vec<String> {
        let names = self.savepoints.get(from..to).unwrap_or_default();
        let released = names.iter().rev().map(|name| TransactionVerb::Release(name));
        let verbs = released.chain(names.iter().map(|name| TransactionVerb::Savepoint(name)));
        verbs.filter_map(|verb| held.dialect.transaction(&verb)).collect()
    }
}

/// Which transactions of a unit have ended, while it still holds its locks.
async fn ended(held: &mut Held) -> Result<String> {
    let query = held.dialect.two_phase().and_then(|family| family.ended_query());
    let (Some(query), Some(connection)) = (query, held.connection.as_mut()) else {
        return Err(Error::internal("a lock of a unit that takes none"));
    };
    drain(connection, DRAIN_BYTES).await?;
    if connection.condition().transaction == TransactionState::Failed {
        return Err(gone("fell with the error"));
    }
    match &rows(&mut **connection, query).await?.concat()[..] {
        [Value::Text(ended)] => Ok(ended.clone()),
        _ => Err(Error::internal("ended transactions of another form")),
    }
}

/// Whether nobody has committed since; an error of class 40001 otherwise.
async fn nobody_committed(held: &mut Held, ended: &str) -> Result<()> {
    let query = held.dialect.two_phase().and_then(|family| family.committed_query(ended));
    let (Some(query), Some(connection)) = (query, held.connection.as_mut()) else {
        return Err(Error::internal("a lock of a unit that takes none"));
    };
    match &rows(&mut **connection, &query).await?.concat()[..] {
        [Value::Bool(false)] => Ok(()),
        _ => Err(gone("fell at the return")),
    }
}

/// Who cannot have a lock again at once that reads relied on has been overtaken.
fn overtaken(error: Error) -> Error {
    if !matches!(error.kind(), ErrorKind::Server(server) if server.sqlstate == "55P03") {
        return error;
    }
    let told = "could not serialize access: what was read behind the savepoint is being changed by somebody else";
    server_error(1213, "40001", told.to_owned())
}

fn gone(how: &str) -> Error {
    let told = format!(
        "could not serialize access: a lock that was taken behind changes and the savepoint {how}, and somebody may have changed what was read under it"
    );
    server_error(1213, "40001", told)
}
