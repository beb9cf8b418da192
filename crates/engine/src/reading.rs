//! Memory of long statements while they are read, planned and sent: all sessions share one bound, and who would go beyond it waits a while for others to be done.
//! Statements that are kept, as they were prepared, have bounds of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::runtime::{LONG, Runtime, within};
use pando_sql::ast::Statement;
use pando_sql::visit;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Memory for all long statements together, in KiB.
const ROOM: u32 = 1 << 20;
/// What a text takes, in its own lengths: itself as it came, as it was taken and as it is sent, and places of its rows.
const COPIES: usize = 5;
/// What a node of a tree takes with its names, and with what the guard and the planner make of it for a while, in bytes: 60 to 480 were measured.
const NODE: usize = 256;
/// Memory for all long statements that are kept, in KiB.
const KEPT_ROOM: u32 = 1 << 20;
/// Memory for the statements of one session that are kept, in bytes.
const KEPT_OF_ONE: usize = 256 << 20;
/// Somebody who holds what is waited for may wait for this session's locks.
const PATIENCE: Duration = Duration::from_secs(20);

/// The room of all sessions.
#[derive(Debug)]
pub(crate) struct Reading {
    room: Arc<Semaphore>,
    kept: Arc<Semaphore>,
}

/// What one statement takes of it, until it is dropped.
#[derive(Debug)]
pub(crate) struct Counted {
    taken: OwnedSemaphorePermit,
}

/// What the statements take that one session keeps, in bytes.
#[derive(Debug, Default)]
pub(crate) struct Kept(Arc<AtomicUsize>);

/// What one of them takes, until it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    of: Arc<AtomicUsize>,
    bytes: usize,
    _of_all: Option<OwnedSemaphorePermit>,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.of.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Default for Reading {
    fn default() -> Self {
        let room = |size: u32| Arc::new(Semaphore::new(size as usize));
        Self { room: room(ROOM), kept: room(KEPT_ROOM) }
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
        counted: &mut Counted,
        stmt: &Statement,
    ) -> Result<()> {
        let more = self.take(runtime, tree(stmt)).await?;
        counted.taken.merge(more);
        Ok(())
    }

    /// Counts a statement that a session keeps.
    ///
    /// # Errors
    /// `Memory` where the session, or all of them, keep too much.
    pub(crate) fn keep(&self, kept: &Kept, text: &str, stmt: &Statement) -> Result<Share> {
        let bytes = (text.len() + stmt.text.len()).saturating_add(tree(stmt));
        let size = u32::try_from(bytes >> 10).unwrap_or(u32::MAX);
        let of_all = match text.len() > LONG {
            true => Some(Arc::clone(&self.kept).try_acquire_many_owned(size).map_err(|_| {
                too_much("long prepared statements of all sessions", KEPT_ROOM >> 10)
            })?),
            false => None,
        };
        let share = Share { of: Arc::clone(&kept.0), bytes, _of_all: of_all };
        // The share gives it back when it is refused.
        let before = kept.0.fetch_add(bytes, Ordering::Relaxed);
        match before.saturating_add(bytes) > KEPT_OF_ONE {
            true => Err(too_much("prepared statements of a session", KEPT_OF_ONE as u32 >> 20)),
            false => Ok(share),
        }
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

/// What a statement's tree takes, in bytes. What is kept as text has none.
fn tree(stmt: &Statement) -> usize {
    let mut nodes = 0usize;
    visit::exprs(&stmt.kind, &mut |_| nodes += 1);
    nodes.saturating_mul(NODE)
}

fn too_much(what: &str, room: u32) -> Error {
    ErrorKind::Memory(format!("the {what} have {room} MiB together")).into()
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
        let list = vec!["b"; 100_000].join(",");
        let stmt = pando_sql::parse(&format!("SELECT * FROM t WHERE a IN ({list})"), &STANDARD);
        time.block_on(reading.add(&*runtime, &mut counted, &stmt.unwrap())).unwrap();
        let left = reading.room.available_permits();
        let tree = (100_000 * NODE) >> 10;
        assert!((ROOM as usize) - (320 << 10) - left >= tree, "{left}");
        drop(counted);
        assert_eq!(reading.room.available_permits(), ROOM as usize);
    }
    #[test]
    fn statements_that_are_kept_have_rooms_of_their_own() {
        let (reading, one, other) = (Reading::default(), Kept::default(), Kept::default());
        let long = "x".repeat(60 << 20);
        let stmt = pando_sql::parse(&format!("SELECT '{long}'"), &STANDARD).unwrap();
        let keep = |kept: &Kept| reading.keep(kept, &stmt.text, &stmt);
        let refused = |kept: &Kept| matches!(keep(kept), Err(error) if matches!(error.kind(), ErrorKind::Memory(_)));
        let held: Vec<_> = (0..2).map(|_| keep(&one).unwrap()).collect();
        assert!(refused(&one));
        // What is refused counts no longer.
        assert_eq!(one.0.load(Ordering::Relaxed), 2 * held[0].bytes);
        let others: Vec<Kept> = (0..3).map(|_| Kept::default()).collect();
        let theirs: Vec<_> = others.iter().flat_map(|kept| [keep(kept), keep(kept)]).collect();
        assert!(theirs.iter().all(Result::is_ok) && refused(&other));
        let short = pando_sql::parse("SELECT 1", &STANDARD).unwrap();
        let short = reading.keep(&other, &short.text, &short).unwrap();
        drop((held, theirs, short));
        assert_eq!(reading.kept.available_permits(), KEPT_ROOM as usize);
        assert!([one, other].iter().all(|kept| kept.0.load(Ordering::Relaxed) == 0));
    }
}
