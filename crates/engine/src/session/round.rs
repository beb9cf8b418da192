//! Rounds: the connections that work for a statement, while they may be cancelled, and how they are let go.

use std::sync::Arc;
use std::time::Duration;

use pando_kernel::Dialect;
use pando_kernel::error::Result;
use pando_kernel::runtime::within;
use pando_kernel::session::TransactionState;
use pando_pool::Connection;
use pando_transaction::{Ended, Outcome, drain};

use crate::execute::{Channel, run_out, unshare};
use crate::handle::Manner;

use super::Session;
use super::assemble::put_back;
use super::reply::Reply;

/// Rows of an abandoned reply that are read away rather than closing the connection, in bytes.
pub(super) const DRAIN_BYTES: usize = 1 << 20;
/// What a failed or abandoned statement still runs elsewhere may come to its end within so long; then it is cancelled.
const GRACE: Duration = Duration::from_millis(100);

/// Whether parts of a failed statement that still run are of any use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// Definitions: what can be done is done on every unit.
    Wanted,
    /// All will be undone, or was only read.
    Useless,
}

impl Session {
    /// Brings the channels of a failed statement to the end of their replies.
    pub(super) async fn stop(&mut self, channels: &mut [Channel], rest: Rest) {
        if rest == Rest::Useless {
            channels.iter_mut().for_each(Channel::forgo);
            let runtime = Arc::clone(&self.engine.inner.runtime);
            if within(&*runtime, GRACE, run_out(channels)).await.is_some() {
                return;
            }
            self.handle.cancel(&runtime);
        }
        let _ = run_out(channels).await;
    }

    /// Lets go of a statement's connections without giving them back, so that nothing is cancelled that they do from here on.
    pub(super) async fn let_go(&mut self) {
        if self.handle.lets_go() {
            self.handle.settled(&self.engine.inner.runtime).await;
            self.transaction.taint();
            self.handle.overlook();
        }
    }

    /// Gives connections back to the transaction or to their pools.
    pub(super) async fn release_channels(&mut self, channels: Vec<Channel>) {
        let inside = self.transaction.state() != TransactionState::Idle;
        let mut channels = channels;
        channels.iter_mut().for_each(Channel::forgo);
        let homes = self.bring_home(&mut channels, inside).await;
        let cancelled = self.handle.lets_go();
        if cancelled {
            self.handle.settled(&self.engine.inner.runtime).await;
        }
        for (channel, home) in channels.into_iter().zip(homes) {
            let connection = channel.connection;
            if channel.apart && home && !cancelled {
                put_back(connection);
            } else if channel.apart {
                connection.discard();
            } else if inside {
                if cancelled {
                    self.transaction.taint();
                }
                if !home {
                    self.transaction.lose();
                }
                self.transaction.give_back(connection);
            } else if home && cancelled {
                connection.discard();
            }
            // One that is not at home is brought to order by its pool.
        }
    }

    /// Reads what is left on the connections, for as long as that is worth it. Returns which of them are free then.
    async fn bring_home(&mut self, channels: &mut [Channel], inside: bool) -> Vec<bool> {
        let is_home = |channel: &Channel| channel.connection.condition().outstanding == 0;
        if !channels.iter().all(is_home) {
            let runtime = Arc::clone(&self.engine.inner.runtime);
            let in_time = within(&*runtime, GRACE, drain_all(channels)).await.is_some();
            // The transaction goes on with these connections, so it must wait; a pool need not.
            if !in_time && inside {
                self.handle.cancel(&runtime);
                drain_all(channels).await;
            }
        }
        channels.iter().map(is_home).collect()
    }

    /// Gives one connection back, with all that was queued on it.
    pub(super) async fn release(&mut self, connection: Connection) {
        self.release_channels(vec![Channel::new(connection, 0, 0)]).await;
    }

    /// The connections of a paused reply work for the session again.
    ///
    /// # Errors
    /// `Cancelled`.
    pub(super) fn resume(&self, reply: &Reply) -> Result<()> {
        match reply {
            Reply::Idle | Reply::CopyIn(_) => Ok(()),
            Reply::Pass(pass) => self.handle.runs_on(&pass.channel.connection, Manner::Ask),
            Reply::CopyOut(copy) => copy
                .channels
                .iter()
                .try_for_each(|channel| self.handle.runs_on(&channel.connection, Manner::Ask)),
            Reply::Merged(merged) => merged.channels.iter().try_for_each(|shared| {
                let channel = shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                self.handle.runs_on(&channel.connection, Manner::Ask)
            }),
        }
    }

    /// All the transaction's connections are about to work. To be followed by [`Session::let_go`].
    ///
    /// # Errors
    /// `Cancelled` when that has been cancelled already.
    pub(super) fn attend_transaction(&mut self) -> Result<()> {
        let handle = &self.handle;
        self.transaction.connections().try_for_each(|one| handle.runs_on(one, Manner::Ask))
    }

    /// Commits or rolls back on every unit. Who cancels that waits for silent units no longer than for a cancel request; a unit that answers is let
    /// finish, since others may have committed.
    pub(super) async fn wind_up(&mut self, commit: bool, dialect: &dyn Dialect) -> Result<Outcome> {
        self.handle.lets_go();
        self.handle.overlook();
        for connection in self.transaction.connections() {
            self.handle.runs_on(connection, Manner::Leave)?;
        }
        let ended: Ended = if commit {
            self.transaction.commit(dialect).await
        } else {
            self.transaction.rollback(dialect).await
        };
        self.handle.lets_go();
        ended.release()
    }

    /// Rolls back what the session itself has opened or what cannot go on.
    pub(super) async fn roll_back(&mut self, dialect: &dyn Dialect) {
        if let Err(error) = self.wind_up(false, dialect).await {
            tracing::debug!(%error, "a transaction could not be rolled back in order");
        }
    }

    /// Drops a reply that will not be read to its end.
    pub(super) async fn release_reply(&mut self, reply: Reply) {
        match reply {
            Reply::Idle => {}
            Reply::Pass(pass) => self.release_channels(vec![pass.channel]).await,
            Reply::CopyOut(copy) => self.release_channels(copy.channels).await,
            Reply::Merged(merged) => {
                let merged = *merged;
                drop(merged.merge);
                self.release_channels(unshare(merged.channels)).await;
            }
            Reply::CopyIn(copy) => self.release_channels(copy.into_channels()).await,
        }
    }
}

async fn drain_all(channels: &mut [Channel]) {
    for channel in channels {
        if channel.connection.condition().outstanding > 0 {
            // More than the limit: what is left decides.
            let _ = drain(&mut channel.connection, DRAIN_BYTES).await;
        }
    }
}
