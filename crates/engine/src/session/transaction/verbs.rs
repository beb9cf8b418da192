//! What a client says about its transaction: BEGIN, COMMIT, ROLLBACK, savepoints.

use pando_kernel::Dialect;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::session::TransactionState;
use pando_sql::ast::Transaction;
use pando_transaction::no_savepoint;

use crate::session::Session;
use crate::session::statement::local::no_transaction;
use crate::session::transaction::Work;
use crate::session::transaction::modes::{SNAPSHOT, known};

/// Who opened the current transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Opened {
    /// The client, by BEGIN or with autocommit off.
    Client,
    /// The session, for one statement that writes to several units.
    Statement,
    /// The session, for one statement that runs as several.
    Steps,
    /// The session, for several statements of one request or pipeline.
    Pipeline,
}

impl Work {
    /// The modes of a transaction that AND CHAIN begins: those of the one before, which has left no snapshot. Where none was open, as only the MySQL family has
    /// it, one begins all the same.
    fn chained_modes(&self) -> Vec<String> {
        self.transaction.modes().iter().filter(|mode| *mode != SNAPSHOT).cloned().collect()
    }

    /// Whether a transaction is open that the client has begun.
    fn is_in_block(&self) -> bool {
        self.transaction.state() != TransactionState::Idle && self.opened != Opened::Pipeline
    }

    /// Refuses a verb about a savepoint where none can be.
    fn refuse_outside(&self, verb: &str, name: &str, dialect: &dyn Dialect) -> Result<()> {
        if self.is_in_block() {
            return Ok(());
        }
        let fails = dialect.error_fails_transaction();
        Err(if fails { no_transaction(verb) } else { no_savepoint(name, dialect) })
    }
}

impl Session {
    /// BEGIN, COMMIT, savepoints and what else is said about the transaction itself.
    pub(in crate::session) async fn transaction_verb(&mut self, verb: &Transaction) -> Result<()> {
        let dialect = self.place.dialect().ok_or_else(|| Error::new(ErrorKind::NoDatabase))?;
        let dialect = dialect.as_ref();
        match verb {
            Transaction::Begin(words) => {
                self.ready_all().await?;
                self.begin_verb(known(words)?, dialect).await?;
            }
            Transaction::Commit { chain } => self.commit_verb(*chain, dialect).await?,
            Transaction::Rollback { chain } => self.rollback_verb(*chain, dialect).await?,
            Transaction::Savepoint(name) => {
                self.set_savepoint(&as_compared(&name.value, dialect), dialect).await?;
            }
            Transaction::Release(name) => {
                self.release_savepoint(&as_compared(&name.value, dialect), dialect).await?;
            }
            Transaction::RollbackTo(name) => {
                self.return_to_savepoint(&as_compared(&name.value, dialect), dialect).await?;
            }
            Transaction::Set { session, modes } => self.set_modes(*session, modes).await?,
            Transaction::TwoPhase => {
                return Err(Error::refused(
                    30001,
                    "two-phase verbs cannot be sent through Pando: they name one storage unit's own transaction",
                    "use BEGIN and COMMIT: after SET VARIABLE transaction_type = 'XA' they commit on all storage units or on none",
                ));
            }
        }
        Ok(())
    }

    async fn set_savepoint(&mut self, name: &str, dialect: &dyn Dialect) -> Result<()> {
        self.work.refuse_if_failed(false)?;
        if !self.work.is_in_block() && dialect.error_fails_transaction() {
            return Err(no_transaction("SAVEPOINT"));
        }
        if !self.work.autocommit && self.work.transaction.state() == TransactionState::Idle {
            self.ready_all().await?;
            self.begin(Vec::new());
        }
        if self.work.is_in_block() {
            self.settle_cursors().await?;
            self.attend_transaction()?;
            let result = self.work.transaction.savepoint(name, dialect).await;
            self.or_fail(result).await?;
            if !dialect.error_fails_transaction() {
                self.work.base.gives_up(name);
            }
            self.work.base.savepoint(name);
            self.mark(name);
        }
        self.complete("SAVEPOINT");
        Ok(())
    }

    async fn release_savepoint(&mut self, name: &str, dialect: &dyn Dialect) -> Result<()> {
        self.work.refuse_if_failed(false)?;
        self.work.refuse_outside("RELEASE SAVEPOINT", name, dialect)?;
        self.settle_cursors().await?;
        self.attend_transaction()?;
        let result = self.work.transaction.release(name, dialect).await;
        self.or_fail(result).await?;
        self.work.base.release(name);
        self.settings.unmark(name);
        let result = self.tell_read_only_again().await;
        self.or_fail(result).await?;
        self.complete("RELEASE");
        Ok(())
    }

    async fn return_to_savepoint(&mut self, name: &str, dialect: &dyn Dialect) -> Result<()> {
        self.work.refuse_outside("ROLLBACK TO SAVEPOINT", name, dialect)?;
        self.close_cursors_behind(name).await;
        self.settle_cursors().await?;
        self.attend_transaction()?;
        let result = self.work.transaction.rollback_to(name, dialect).await;
        self.or_fail(result).await?;
        self.temporary.doubt_temporaries();
        let result = self.return_in_base(name).await;
        self.or_fail(result).await?;
        let result = Box::pin(self.return_to_mark(name)).await;
        self.or_fail(result).await?;
        let result = self.tell_read_only_again().await;
        self.or_fail(result).await?;
        if self.work.definitions.own.is_some() {
            // What was defined behind the savepoint is no more, and what was prepared with it.
            self.place.live()?.forget_tables();
        }
        self.complete("ROLLBACK");
        Ok(())
    }

    async fn commit_verb(&mut self, chain: bool, dialect: &dyn Dialect) -> Result<()> {
        self.look_for_block("COMMIT", chain, dialect)?;
        let open = self.work.transaction.state() != TransactionState::Idle;
        let modes = self.work.chained_modes();
        if chain && !open {
            self.ready_all().await?;
        }
        let committed = if open { self.end_transaction(true).await? } else { true };
        if chain {
            self.begin(modes);
        }
        self.complete(if committed { "COMMIT" } else { "ROLLBACK" });
        Ok(())
    }

    async fn rollback_verb(&mut self, chain: bool, dialect: &dyn Dialect) -> Result<()> {
        self.look_for_block("ROLLBACK", chain, dialect)?;
        let open = self.work.transaction.state() != TransactionState::Idle;
        let modes = self.work.chained_modes();
        if chain && !open {
            self.ready_all().await?;
        }
        if open {
            self.end_transaction(false).await?;
        }
        if chain {
            self.begin(modes);
        }
        self.complete("ROLLBACK");
        Ok(())
    }

    /// What a family that knows of transaction blocks says to the end of one that the client has not begun. What a text or a pipeline has done so far ends with it
    /// all the same.
    fn look_for_block(&mut self, verb: &str, chain: bool, dialect: &dyn Dialect) -> Result<()> {
        if self.work.is_in_block() || !dialect.error_fails_transaction() {
            return Ok(());
        }
        if chain {
            return Err(no_transaction(&format!("{verb} AND CHAIN")));
        }
        self.outbox.warn("25P01", "there is no transaction in progress");
        Ok(())
    }

    async fn begin_verb(&mut self, modes: Vec<String>, dialect: &dyn Dialect) -> Result<()> {
        let open = self.work.transaction.state() != TransactionState::Idle;
        if open && self.work.opened == Opened::Pipeline {
            self.work.refuse_if_failed(false)?;
            if self.work.has_reached_none() {
                let modes = self.work.modes_for(modes);
                self.work.transaction.set_modes(modes);
            } else {
                self.alter(modes).await?;
            }
            // What was set in the text before BEGIN goes with the transaction.
            self.work.opened = Opened::Client;
        } else if open && dialect.error_fails_transaction() {
            self.work.refuse_if_failed(false)?;
            self.outbox.warn("25001", "there is already a transaction in progress");
            self.alter(modes).await?;
        } else {
            self.refuse_snapshot_in_base(&modes)?;
            if open {
                self.commit_implicitly().await?;
            }
            self.begin_at_once(modes).await?;
        }
        self.complete("BEGIN");
        Ok(())
    }

    /// Opens a transaction for the client, which may have asked for a snapshot of this moment.
    pub(in crate::session) async fn begin_at_once(&mut self, modes: Vec<String>) -> Result<()> {
        self.begin(modes);
        match self.looks_at_once() {
            true => Box::pin(self.look_at_once()).await,
            false => Ok(()),
        }
    }

    async fn or_fail(&mut self, result: Result<()>) -> Result<()> {
        self.let_go().await;
        match result {
            Ok(()) => Ok(()),
            Err(error) => Err(self.fail_statement(error).await),
        }
    }
}

/// A savepoint's name as the family compares it.
fn as_compared(name: &str, dialect: &dyn Dialect) -> String {
    match dialect.error_fails_transaction() {
        true => name.to_owned(),
        false => name.to_lowercase(),
    }
}
