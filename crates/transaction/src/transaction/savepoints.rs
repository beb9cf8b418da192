//! Savepoints, on the units that take part and on those that join later.

use pando_kernel::Execution;
use pando_kernel::dialect::{Dialect, TransactionVerb};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::session::TransactionState;
use pando_pool::Connection;

use crate::reply::finish_each;

use super::{Transaction, first_error, server_error};

/// Savepoints that a transaction may have.
const MAX: usize = 65_536;
/// So many of them are sent ahead of an answer.
const BATCH: usize = 256;

impl Transaction {
    /// Sets a savepoint on every enlisted unit (and, later, on every unit enlisted after it).
    ///
    /// # Errors
    /// `TooLarge` for one too many; the first unit's error.
    pub async fn savepoint(&mut self, name: &str, dialect: &dyn Dialect) -> Result<()> {
        // MySQL's takes the place of one of the same name, PostgreSQL's hides it.
        let replaced = match dialect.error_fails_transaction() {
            true => None,
            false => self.savepoints.iter().position(|known| known == name),
        };
        if self.savepoints.len() >= MAX && replaced.is_none() {
            let message = format!("a transaction has at most {MAX} savepoints");
            return Err(ErrorKind::TooLarge(message).into());
        }
        self.all_or_first_error(&TransactionVerb::Savepoint(name)).await?;
        if let Some(at) = replaced {
            self.savepoints.remove(at);
        }
        self.savepoints.push(name.to_owned());
        Ok(())
    }

    /// What sets the savepoints that are sent at once with what opens a unit's part.
    pub(super) fn first_savepoints(&self, dialect: &dyn Dialect) -> Vec<String> {
        self.verbs(self.savepoints.iter().take(BATCH), dialect)
    }

    fn verbs<'a>(
        &self,
        names: impl Iterator<Item = &'a String>,
        dialect: &dyn Dialect,
    ) -> Vec<String> {
        names.filter_map(|name| dialect.transaction(&TransactionVerb::Savepoint(name))).collect()
    }

    /// Whether a unit that joins now has more to be told than is sent ahead of its answers.
    pub fn has_to_catch_up(&self, settings: &[String]) -> bool {
        self.savepoints.len() > BATCH || settings.len() > BATCH
    }

    /// What is left to tell a unit that has just joined and has answered to what opened its part: the other
    /// savepoints, and then these settings.
    pub fn left_to_tell(&self, settings: &[String], dialect: &dyn Dialect) -> Vec<String> {
        let mut texts = self.verbs(self.savepoints.iter().skip(BATCH), dialect);
        texts.extend_from_slice(settings);
        texts
    }

    /// Releases a savepoint and all set after it.
    ///
    /// # Errors
    /// The vendor's own (3B001, 1305) when there is no such savepoint; else the first unit's error.
    pub async fn release(&mut self, name: &str, dialect: &dyn Dialect) -> Result<()> {
        let at = self.find_savepoint(name, dialect)?;
        self.all_or_first_error(&TransactionVerb::Release(name)).await?;
        self.savepoints.truncate(at);
        self.locks_rise(at);
        Ok(())
    }

    /// Undoes what was done since a savepoint. A failed transaction is open again.
    ///
    /// # Errors
    /// The vendor's own (3B001, 1305) when there is no such savepoint; one of class 40001 when somebody may have
    /// changed what was read; else the first unit's error.
    pub async fn rollback_to(&mut self, name: &str, dialect: &dyn Dialect) -> Result<()> {
        let at = self.find_savepoint(name, dialect)?;
        if self.lost {
            return Err(ErrorKind::TransactionFailed.into());
        }
        let fallen = self.fall_behind(at).await?;
        let verb = TransactionVerb::RollbackTo(name);
        let again = self.held.iter().map(|held| self.taken_again(held, at));
        let texts = self.held.iter().zip(again).map(|(held, again)| {
            held.dialect.transaction(&verb).into_iter().chain(again).collect()
        });
        let texts = texts.collect();
        let returned = first_error(self.told(texts).await);
        self.stand_again(at, fallen, returned).await?;
        self.savepoints.truncate(at + 1);
        (self.state, self.told) = (TransactionState::Open, false);
        Ok(())
    }

    /// Whether there is a savepoint.
    pub fn has_savepoints(&self) -> bool {
        !self.savepoints.is_empty()
    }

    fn find_savepoint(&self, name: &str, dialect: &dyn Dialect) -> Result<usize> {
        let at = self.savepoints.iter().rposition(|known| known == name);
        at.ok_or_else(|| no_savepoint(name, dialect))
    }
}

/// Runs texts on a connection, a bounded number at once.
///
/// # Errors
/// The first that the unit answers with.
pub async fn catch_up(connection: &mut Connection, texts: &[String]) -> Result<()> {
    for some in texts.chunks(BATCH) {
        for text in some {
            connection.start(Execution::Aside(text.as_str().into()))?;
        }
        for ended in finish_each(&mut [(some.len(), &mut *connection)]).await.into_iter().flatten()
        {
            ended?;
        }
    }
    Ok(())
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
