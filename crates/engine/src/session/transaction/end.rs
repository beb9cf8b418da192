//! How transactions end: committed, rolled back, undone by a statement.

use pando_kernel::error::{Error, Result};
use pando_kernel::session::TransactionState;
use pando_transaction::{Ended, Outcome};

use crate::handle::Manner;

use crate::session::Session;
use crate::session::errors::{server_error, unit_lost};
use crate::session::transaction::verbs::Opened;

impl Session {
    /// Commits the transaction, where no client may be told that it is rolled back but by an error: what a statement
    /// commits by itself before it runs.
    ///
    /// # Errors
    /// Whatever kept it from being committed.
    pub(in crate::session) async fn commit_implicitly(&mut self) -> Result<()> {
        match self.end_transaction(true).await? {
            true => Ok(()),
            false => Err(unit_lost()),
        }
    }

    /// Ends the transaction and what hangs on it. False where it was rolled back: because that was asked for, or
    /// because its client has heard before that it has
    /// failed.
    ///
    /// # Errors
    /// Whatever else kept it from being committed.
    pub(in crate::session) async fn end_transaction(&mut self, commit: bool) -> Result<bool> {
        let was_open = self.work.transaction.state() != TransactionState::Idle;
        let is_clients = self.work.opened != Opened::Statement;
        let parted = self.part_from_cursors(commit).await;
        if commit && was_open && self.work.transaction.state() == TransactionState::Idle {
            // What a cursor still had to find has ended the whole transaction.
            parted?;
            return Err(Error::internal("a transaction has ended while its cursors were read"));
        }
        // PostgreSQL's commit fails with what a cursor still had to find, and rolls back.
        let failed = parted
            .err()
            .filter(|_| commit && self.work.transaction.state() == TransactionState::Failed);
        let failed = match failed {
            None if commit && self.may_defer() => Box::pin(self.check_deferred()).await.err(),
            failed => failed,
        };
        self.settings.local.clear();
        self.settings.savepoints.clear();
        let before = self.settings.at_begin.take();
        let defined = self.work.definitions.own.take().is_some();
        self.work.opened = Opened::Client;
        let wrote = self.work.transaction.has_written();
        let result = self.wind_up(commit).await;
        if let Ok(live) = self.place.live() {
            if defined {
                Box::pin(self.forget_tables(&live)).await;
            } else if wrote {
                live.catalog.forget_missing();
            }
        }
        let committed = matches!(result, Ok(pando_transaction::Outcome::Committed));
        if is_clients && !self.cursors.declared.is_empty() {
            Box::pin(self.hold_declared(committed)).await;
        }
        if !committed
            && self.place.dialect().is_some_and(|dialect| dialect.error_fails_transaction())
            && let Some(before) = before
        {
            self.settings.variables = before;
            self.work.modes.session = std::mem::take(&mut self.work.modes.at_begin);
        }
        match failed {
            None => result.map(|_| committed),
            Some(error) => Err(error),
        }
    }

    /// A procedure may have ended the client's transaction, on its own unit: where no other has been changed, the
    /// transaction is over; else what it has not ended is undone.
    pub(in crate::session) async fn look_whether_ended(&mut self) -> Result<()> {
        if self.work.opened != Opened::Client || !self.work.transaction.has_ended_part() {
            return Ok(());
        }
        let is_whole = !self.work.transaction.has_open_changes();
        self.end_transaction(false).await?;
        match is_whole {
            true => Ok(()),
            false => Err(server_error(
                1180,
                "HY000",
                "the statement has ended its storage unit's part of the transaction: what it committed stays, everything else is rolled back",
            )),
        }
    }

    /// Commits or rolls back on every unit. Who cancels that waits for silent units no longer than for a cancel request; a unit that answers is let
    /// finish, since others may have committed.
    pub(in crate::session) async fn wind_up(&mut self, commit: bool) -> Result<Outcome> {
        self.place.handle.lets_go();
        self.place.handle.overlook();
        for connection in self.work.transaction.connections() {
            self.place.handle.runs_on(connection, Manner::Leave)?;
        }
        let parts = self.end_base(commit).await;
        let commit = commit && parts.is_ok();
        let ended: Ended = if commit {
            self.work.transaction.commit().await
        } else {
            self.work.transaction.rollback().await
        };
        self.place.handle.lets_go();
        self.place.handle.parts();
        let outcome = parts.and(self.parted(ended));
        if let Err(error) = &outcome {
            self.learn_of_loss(error);
        }
        outcome
    }

    /// Rolls back what the session itself has opened or what cannot go on.
    pub(in crate::session) async fn roll_back(&mut self) {
        if let Err(error) = self.wind_up(false).await {
            tracing::debug!(%error, "a transaction could not be rolled back in order");
        }
    }

    /// Gives the connections of a transaction that is over to their pools, but for that of temporary tables.
    pub(in crate::session) fn parted(&mut self, ended: Ended) -> Result<Outcome> {
        let mut ended = ended;
        self.temporary.doubt_temporaries();
        if let Some(own) = ended.take(|connection| self.temporary.has_temporaries(connection)) {
            self.temporaries_come_home(own, ended.is_tainted());
        }
        ended.release()
    }

    /// All the transaction's connections are about to work. To be followed by [`Session::let_go`].
    ///
    /// # Errors
    /// `Cancelled` when that has been cancelled already.
    pub(in crate::session) fn attend_transaction(&mut self) -> Result<()> {
        let handle = &self.place.handle;
        self.work.transaction.connections().try_for_each(|one| handle.runs_on(one, Manner::Ask))
    }

    /// Lets go of a statement's connections without giving them back, so that nothing is cancelled that they do from here on.
    pub(in crate::session) async fn let_go(&mut self) {
        if self.place.handle.lets_go() {
            self.place.handle.settled(&self.place.engine.inner.runtime).await;
            self.work.transaction.taint();
            self.place.handle.overlook();
        }
    }
}
