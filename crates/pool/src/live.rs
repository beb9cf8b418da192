//! An open connection and what the pool remembers of it.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use pando_kernel::backend::Condition;
use pando_kernel::runtime::Near;
use pando_kernel::session::TransactionState;
use pando_kernel::{Backend, CancelToken, CopyInput, Error, Event, Execution, Result};

use crate::connection::Dress;
use crate::leash::{Leash, Leashed};
use crate::shared::Shared;

/// What the pool remembers of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) born: Instant,
    /// Its own share of `max_lifetime`; zero means no limit.
    pub(crate) lifetime: Duration,
    /// When it was last given back or opened.
    pub(crate) rested: Instant,
    /// The pool's suspicion when it rested: another number now means that a connection was found dead since.
    pub(crate) suspicion: u64,
    pub(crate) session_state: u64,
    /// What takes back what its server was told for one statement.
    pub(crate) told: Option<&'static str>,
    /// It has been told to clean itself, and has not answered yet.
    pub(crate) is_cleaning: bool,
}

/// Held by connections each of which was opened while an earlier holder was: as long as one is held, the server was met without a gap.
pub(crate) type Witness = Arc<()>;

/// An open connection. It stays where it is, whoever has it: only the box moves.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) backend: Leashed,
    pub(crate) memory: Memory,
    pub(crate) near: Near,
    _witness: Witness,
}

impl Live {
    pub(crate) fn new(
        backend: Box<dyn Backend>,
        near: Near,
        memory: Memory,
        witness: Witness,
        shared: &Shared,
    ) -> Box<Self> {
        let (fence, circuit) = (Arc::clone(&shared.fence), Arc::clone(&shared.circuit));
        let backend = Leashed::new(backend, Leash::default(), fence, circuit);
        Box::new(Self { backend, memory, near, _witness: witness })
    }

    pub(crate) fn outlived(&self, now: Instant) -> bool {
        let Memory { born, lifetime, .. } = self.memory;
        !lifetime.is_zero() && now.saturating_duration_since(born) >= lifetime
    }

    /// Whether the server is known to have closed it. Does not ask the server.
    pub(crate) fn is_closed(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        if self.memory.is_cleaning {
            return self.poll_cleaned(&mut cx) == Poll::Ready(false);
        }
        matches!(self.backend.poll_flush(&mut cx), Poll::Ready(Err(_)))
    }

    /// Reads away what is left of earlier replies.
    ///
    /// # Cancel safety
    /// Nothing is lost when it is dropped.
    pub(crate) async fn read_away(&mut self) {
        while self.backend.condition().usable && self.backend.condition().outstanding > 0 {
            let _ = poll_fn(|cx| self.backend.poll_event(cx)).await;
        }
    }

    /// Tells the server to forget what its last borrower may have done. Nobody waits for the answer but whoever takes it next, and by then it has usually come. False when
    /// it cannot be told.
    pub(crate) fn begin_to_clean(&mut self, how: Execution, dress: Option<Dress>) -> bool {
        let (state, text) = dress.map_or((0, None), |(state, text)| (state, Some(text)));
        let mut all = std::iter::once(how).chain(text.map(Execution::Text));
        if all.any(|one| self.backend.start(one).is_err()) {
            return false;
        }
        self.memory.session_state = state;
        self.memory.told = None;
        self.memory.is_cleaning = true;
        let mut cx = Context::from_waker(Waker::noop());
        !matches!(self.backend.poll_flush(&mut cx), Poll::Ready(Err(_)))
    }

    /// Whether it is clean, once it has said so. One that could not be cleaned must serve nobody any more.
    pub(crate) fn poll_cleaned(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        while self.memory.is_cleaning {
            if ready!(self.backend.poll_event(cx)).is_err() {
                return Poll::Ready(false);
            }
            self.memory.is_cleaning = self.backend.condition().outstanding > 0;
        }
        Poll::Ready(clean(self.backend.condition()))
    }

    /// Runs an execution that returns nothing of interest, after whatever is left of earlier replies. `true` when the connection is clean
    /// afterwards.
    ///
    /// # Cancel safety
    /// When dropped, the connection has a reply outstanding.
    pub(crate) async fn settle(&mut self, execution: Execution) -> bool {
        if self.backend.start(execution).is_err() {
            return false;
        }
        while self.backend.condition().usable && self.backend.condition().outstanding > 0 {
            let last = self.backend.condition().outstanding == 1;
            let event = poll_fn(|cx| self.backend.poll_event(cx)).await;
            if event.is_err() && last {
                return false;
            }
        }
        clean(self.backend.condition())
    }
}

/// Whether the next borrower finds nothing of the last one's.
pub(crate) fn clean(condition: Condition) -> bool {
    condition.usable
        && condition.outstanding == 0
        && condition.transaction == TransactionState::Idle
}

/// Stands in for a connection that has been moved out of its borrower.
#[derive(Debug)]
pub(crate) struct Gone;

fn gone() -> Error {
    Error::internal("the connection has gone back to its pool")
}

impl Backend for Gone {
    fn start(&mut self, _execution: Execution) -> Result<()> {
        Err(gone())
    }

    fn poll_event(&mut self, _cx: &mut Context<'_>) -> Poll<Result<Event>> {
        Poll::Ready(Err(gone()))
    }

    fn copy(&mut self, _input: CopyInput) -> Result<()> {
        Err(gone())
    }

    fn poll_flush(&mut self, _cx: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Err(gone()))
    }

    fn condition(&self) -> Condition {
        Condition { usable: false, outstanding: 0, transaction: TransactionState::Idle }
    }

    fn token(&self) -> CancelToken {
        CancelToken::default()
    }
}
