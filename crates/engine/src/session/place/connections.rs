//! Connections out of pools, for which a session that has others already waits where that can be seen.

use pando_kernel::error::Result;
use pando_pool::{Connection, Pool};

use crate::session::place::Place;

impl Place {
    /// The session has more than one connection: from here on its waits may be part of a deadlock.
    pub(in crate::session) fn spreads(&self) {
        let inner = &self.engine.inner;
        inner.deadlocks.rouse(&inner.runtime, inner);
    }

    /// A connection of a pool. Who has others already, or rows, waits where that can be seen: others may wait for
    /// those.
    ///
    /// # Errors
    /// `Cancelled`, or what the pool says.
    pub(in crate::session) async fn take(&mut self, pool: &Pool) -> Result<Connection> {
        if let Some(idle) = self.take_idle(pool)? {
            return Ok(idle);
        }
        match self.handle.has_some() {
            // Boxed, as who waits has time for it: every client's task is as large as the largest of what it may wait
            // for.
            false => Box::pin(self.handle.taken(pool.take())).await,
            true => Box::pin(self.handle.taken_further(pool)).await,
        }
    }

    /// A connection of a pool that nobody waits for; `None` when there is none.
    ///
    /// # Errors
    /// What the pool says.
    pub(in crate::session) fn take_idle(&mut self, pool: &Pool) -> Result<Option<Connection>> {
        if self.handle.has_some() {
            self.spreads();
        }
        pool.take_idle()
    }

    /// Several connections of a pool, as [`Place::take`].
    ///
    /// # Errors
    /// As [`Place::take`].
    pub(in crate::session) async fn take_many(
        &mut self,
        pool: &Pool,
        count: usize,
    ) -> Result<Vec<Connection>> {
        if !self.handle.has_some() {
            return self.handle.taken(pool.take_many(count)).await;
        }
        self.spreads();
        Box::pin(self.handle.many_further(pool, count)).await
    }
}
