//! Memory of long statements while they are read, planned and sent: all sessions share one bound, and who would go beyond it waits a while for others to be done.

use std::sync::Arc;
use std::time::Duration;

use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::runtime::{LONG, Runtime, within};
use pando_sql::ast::Statement;
use pando_sql::visit;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Memory for all long statements together, in KiB.
const ROOM: u32 = 1 << 20;
/// What a text takes, in its own lengths: itself as it came, as it was taken and as it is sent, and places of its rows.
const COPIES: usize = 5;
/// What a node of a tree takes with its names, in bytes.
const NODE: usize = 96;
/// Somebody who holds what is waited for may wait for this session's locks.
const PATIENCE: Duration = Duration::from_secs(20);

/// The room of all sessions.
#[derive(Debug)]
pub(crate) struct Reading {
    room: Arc<Semaphore>,
}

/// What one statement takes of it, until it is dropped.
#[derive(Debug)]
pub(crate) struct Counted {
    taken: OwnedSemaphorePermit,
}

impl Default for Reading {
    fn default() -> Self {
        Self { room: Arc::new(Semaphore::new(ROOM as usize)) }
    }
}

impl Reading {
    /// Counts a text that is about to be read; nothing for a short one.
    ///
    /// # Errors
    /// `Memory` where there is no room for too long.
    pub(crate) async fn begin(&self, runtime: &dyn Runtime, text: &str) -> Result<Option<Counted>> {
        if text.len() <= LONG {
            return Ok(None);
        }
        let taken = self.take(runtime, text.len().saturating_mul(COPIES)).await?;
        Ok(Some(Counted { taken }))
    }

    /// Counts the tree of a statement as well.
    ///
    /// # Errors
    /// As [`Reading::begin`].
    pub(crate) async fn add(
        &self,
        runtime: &dyn Runtime,
        (counted, stmt): (&mut Counted, &Statement),
    ) -> Result<()> {
        let mut nodes = 0usize;
        visit::exprs(&stmt.kind, &mut |_| nodes += 1);
        let more = self.take(runtime, nodes.saturating_mul(NODE)).await?;
        counted.taken.merge(more);
        Ok(())
    }

    async fn take(&self, runtime: &dyn Runtime, bytes: usize) -> Result<OwnedSemaphorePermit> {
        let size = u32::try_from(bytes >> 10).unwrap_or(u32::MAX);
        if size <= ROOM
            && let Some(Ok(taken)) =
                within(runtime, PATIENCE, Arc::clone(&self.room).acquire_many_owned(size)).await
        {
            return Ok(taken);
        }
        let message = format!(
            "the statement needs {} MiB to be read, and the long statements of all sessions have {} MiB together",
            size >> 10,
            ROOM >> 10
        );
        Err(ErrorKind::Memory(message).into())
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use pando_fake::{FakeRuntime, STANDARD, poll_once};

    use super::*;

    #[test]
    fn long_statements_share_one_room_and_wait_for_it_so_long() {
        let (time, reading) = (FakeRuntime::new(), Reading::default());
        let runtime = time.handle();
        let text = "x".repeat(64 << 20);
        let begin = || reading.begin(&*runtime, &text);
        let short = time.block_on(reading.begin(&*runtime, "SELECT 1")).unwrap();
        assert!(short.is_none());
        let held: Vec<_> = (0..3).map(|_| time.block_on(begin()).unwrap().unwrap()).collect();
        let mut waits = Box::pin(begin());
        assert!(poll_once(&mut waits).is_pending());
        time.advance(PATIENCE);
        let Poll::Ready(Err(refused)) = poll_once(&mut waits) else { panic!("let in") };
        assert!(matches!(refused.kind(), ErrorKind::Memory(_)), "{refused}");
        drop(held);
        let mut counted = time.block_on(begin()).unwrap().unwrap();
        let list = vec!["1"; 100_000].join(",");
        let stmt = pando_sql::parse(&format!("SELECT * FROM t WHERE a IN ({list})"), &STANDARD);
        time.block_on(reading.add(&*runtime, (&mut counted, &stmt.unwrap()))).unwrap();
        let left = reading.room.available_permits();
        let tree = (100_000 * NODE) >> 10;
        assert!((ROOM as usize) - (320 << 10) - left >= tree, "{left}");
        drop(counted);
        assert_eq!(reading.room.available_permits(), ROOM as usize);
    }
}
