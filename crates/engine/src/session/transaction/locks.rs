//! Locks of applications that the session has: where each of them was taken, by which connection, and until when.

use std::sync::Arc;

use pando_kernel::dialect::{Dialect, MODE};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::route::UnitName;
use pando_pool::Connection;

use crate::variables::Variables;

use crate::session::transaction::Work;

/// Locks that one session may have at a time, each counted as often as it was taken.
const MAX: usize = 10_000;

/// The connections that have the session's locks; none of them is without any, but while its statement is under way.
#[derive(Debug, Default)]
pub(in crate::session) struct HeldLocks {
    lines: Vec<Line>,
}

/// A connection that has locks.
#[derive(Debug)]
struct Line {
    home: Home,
    /// `None` while it works.
    connection: Option<Connection>,
    /// What has ever been set on it, which no reset takes back; `None` before it is dressed first.
    worn: Option<Vec<String>>,
    /// In the order in which they were taken.
    locks: Vec<Lock>,
}

/// Where a lock is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::session) struct Home {
    /// The logical database.
    pub(in crate::session) database: Arc<str>,
    pub(in crate::session) unit: UnitName,
}

/// A lock that was taken once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::session) struct Lock {
    /// As its key is compared.
    pub(in crate::session) key: String,
    /// What frees it once, as a query.
    pub(in crate::session) undo: String,
    pub(in crate::session) until: Until,
}

/// How long a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Until {
    /// The session frees it.
    Freed,
    /// The transaction ends, or returns to one of its first savepoints, of which there were so many.
    Transaction(usize),
}

impl Work {
    /// The locks of applications that the session has.
    pub(in crate::session) fn locks(&self) -> &HeldLocks {
        &self.locks
    }

    pub(in crate::session) fn locks_mut(&mut self) -> &mut HeldLocks {
        &mut self.locks
    }
}

impl HeldLocks {
    pub(in crate::session) fn are_there(&self) -> bool {
        !self.lines.is_empty()
    }

    /// The connection of a home that has some.
    pub(in crate::session) fn lend(&mut self, home: &Home) -> Option<Connection> {
        self.lines.iter_mut().find(|line| line.home == *home)?.connection.take()
    }

    /// A connection is to have some.
    pub(in crate::session) fn begins(&mut self, home: &Home) {
        self.lines.push(Line {
            home: home.clone(),
            connection: None,
            worn: None,
            locks: Vec::new(),
        });
    }

    /// A connection comes home. Gives it back where it has no locks any more.
    pub(in crate::session) fn comes_home(
        &mut self,
        home: &Home,
        connection: Connection,
    ) -> Option<Connection> {
        let Some(at) = self.lines.iter().position(|line| line.home == *home) else {
            return Some(connection);
        };
        if self.lines.get(at).is_some_and(|line| line.locks.is_empty()) {
            self.lines.remove(at);
            return Some(connection);
        }
        if let Some(line) = self.lines.get_mut(at) {
            line.connection = Some(connection);
        }
        None
    }

    /// A connection is gone, and its locks with it. Returns whether it had any.
    pub(in crate::session) fn loses(&mut self, home: &Home) -> bool {
        let Some(at) = self.lines.iter().position(|line| line.home == *home) else { return false };
        !self.lines.remove(at).locks.is_empty()
    }

    /// A lock was taken by a connection that works.
    pub(in crate::session) fn note(&mut self, home: &Home, lock: Lock) {
        if let Some(line) = self.lines.iter_mut().find(|line| line.home == *home) {
            line.locks.push(lock);
        }
    }

    /// Whether one more may be taken.
    ///
    /// # Errors
    /// `Full`.
    pub(in crate::session) fn refuse_too_many(&self, unit: &UnitName) -> Result<()> {
        match self.lines.iter().map(|line| line.locks.len()).sum::<usize>() < MAX {
            true => Ok(()),
            false => Err(ErrorKind::Full {
                unit: unit.to_string(),
                message: format!("the session has {MAX} locks"),
            }
            .into()),
        }
    }

    /// Whether a home's connection has some.
    pub(in crate::session) fn are_at(&self, home: &Home) -> bool {
        self.lines.iter().any(|line| line.home == *home)
    }

    /// Forgets one taking of a lock that the session is to free, by this text or by any, when it has that.
    pub(in crate::session) fn forget_freed(
        &mut self,
        home: &Home,
        key: &str,
        undo: Option<&str>,
    ) -> bool {
        let Some(line) = self.lines.iter_mut().find(|line| line.home == *home) else {
            return false;
        };
        let is_it = |lock: &Lock| {
            lock.until == Until::Freed
                && lock.key == key
                && undo.is_none_or(|undo| lock.undo == undo)
        };
        let at = line.locks.iter().rposition(is_it);
        at.map(|at| line.locks.remove(at)).is_some()
    }

    /// The homes of locks that are held for so long.
    pub(in crate::session) fn homes(&self, held: impl Fn(Until) -> bool) -> Vec<Home> {
        let lines = self.lines.iter();
        let some = lines.filter(|line| line.locks.iter().any(|lock| held(lock.until)));
        some.map(|line| line.home.clone()).collect()
    }

    /// Forgets those of a home that are held for so long; gives what frees them.
    pub(in crate::session) fn forget(
        &mut self,
        home: &Home,
        held: impl Fn(Until) -> bool,
    ) -> Vec<String> {
        let Some(line) = self.lines.iter_mut().find(|line| line.home == *home) else {
            return Vec::new();
        };
        let (gone, left) =
            std::mem::take(&mut line.locks).into_iter().partition(|lock| held(lock.until));
        line.locks = left;
        let gone: Vec<Lock> = gone;
        gone.into_iter().map(|lock| lock.undo).collect()
    }

    /// A savepoint is released of which there were so many before: what was taken behind it is held by what is in front.
    pub(in crate::session) fn release(&mut self, before: usize) {
        for lock in self.lines.iter_mut().flat_map(|line| &mut line.locks) {
            if let Until::Transaction(depth) = &mut lock.until {
                *depth = (*depth).min(before);
            }
        }
    }

    /// All connections that are at home, with all that they have.
    pub(in crate::session) fn take_all(&mut self) -> Vec<Connection> {
        self.lines.drain(..).filter_map(|line| line.connection).collect()
    }

    /// Whether a home's connection was dressed for the session before.
    pub(in crate::session) fn was_dressed(&self, home: &Home) -> bool {
        self.lines.iter().any(|line| line.home == *home && line.worn.is_some())
    }

    /// What must be set on a connection, which no reset may reach, so that it has these variables and no others;
    /// nothing where there is nothing. It is taken to be done.
    pub(in crate::session) fn dress(
        &mut self,
        home: &Home,
        dialect: &dyn Dialect,
        variables: &Variables,
    ) -> Option<String> {
        let line = self.lines.iter_mut().find(|line| line.home == *home)?;
        let is_set = |name: &String| variables.list().iter().any(|(known, _)| known == name);
        let worn = line.worn.get_or_insert_default();
        let back = worn.iter().filter(|name| !is_set(name) && !name.starts_with(MODE));
        let none = |name: &String| if name.starts_with('@') { "NULL" } else { "DEFAULT" };
        let back = back.map(|name| (name.clone(), none(name).to_owned()));
        let all: Vec<(String, String)> = back.chain(variables.list().iter().cloned()).collect();
        for (name, _) in variables.list() {
            if !worn.contains(name) {
                worn.push(name.clone());
            }
        }
        (!all.is_empty()).then(|| dialect.set_statement(&all))
    }
}

/// The session's locks are gone with a storage unit.
pub(in crate::session) fn lost(home: &Home) -> Error {
    let message =
        "the connection that had the session's locks is lost, and they with it".to_owned();
    ErrorKind::Unavailable { unit: home.unit.to_string(), message }.into()
}
