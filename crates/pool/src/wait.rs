//! A caller's place in the queue.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use pando_kernel::{Error, Result};

use crate::shared::Shared;
use crate::slot::Slot;

/// So many callers that came before are overtaken by one that holds connections: enough to free full pools, and no more than a moment for whoever is overtaken.
const OVERTAKEN: u64 = 1000;

/// So often the front of the queue lets one behind it pass, whom a connection is near.
pub(crate) const LET_PASS: u32 = 16;

/// How a caller stands in the queue.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Turn<'a> {
    /// It holds nothing yet.
    First,
    /// It holds connections, for which others may wait: before [`OVERTAKEN`] that hold nothing. While it waits, its place is noted here.
    Further(&'a AtomicU64),
    /// It ends what others wait for: before all of them, and [`SPARE`] connections may be open for such callers beside the pool's maximum, since all those may belong to
    /// others who wait for it.
    Last,
}

/// See [`Turn::Last`].
const SPARE: usize = 1;
/// Above all places of [`Turn::Last`].
const BEHIND: u64 = 1 << 62;

impl Turn<'_> {
    /// The place of the caller with this number, which grows with every caller: the queue is sorted by it, and no two are the same.
    pub(crate) fn place(self, number: u64) -> u64 {
        match self {
            Self::First => BEHIND + (number + OVERTAKEN) * 2,
            Self::Further(_) => BEHIND + number * 2 + 1,
            Self::Last => number,
        }
    }

    /// Connections that may be open for it beside the pool's maximum.
    pub(crate) fn spare(self) -> usize {
        match self {
            Self::First | Self::Further(_) => 0,
            Self::Last => SPARE,
        }
    }

    /// Tells who waits where it stands.
    pub(crate) fn note(self, place: u64) {
        if let Self::Further(own) = self {
            own.store(place, Ordering::Relaxed);
        }
    }
}

/// A place in the queue. The queue's lock is always taken before a ticket's.
#[derive(Debug)]
pub(crate) struct Ticket {
    /// See [`Turn::place`].
    pub(crate) place: u64,
    /// Slots wanted.
    pub(crate) count: usize,
    /// See [`Turn::spare`].
    pub(crate) spare: usize,
    /// The loop that asks.
    pub(crate) event_loop: usize,
    /// It came as [`Turn::First`].
    pub(crate) is_first: bool,
    /// How many it has let pass. Changed under the queue's lock only.
    passed: AtomicU32,
    phase: Mutex<Phase>,
}

#[derive(Debug)]
enum Phase {
    Waiting(Option<Waker>),
    Granted(Vec<Slot>),
    Closed,
    TurnedAway,
    Over,
}

impl Ticket {
    pub(crate) fn new(turn: Turn<'_>, number: u64, count: usize, event_loop: usize) -> Self {
        let (place, spare) = (turn.place(number), turn.spare());
        let (passed, phase) = (AtomicU32::new(0), Mutex::new(Phase::Waiting(None)));
        let is_first = matches!(turn, Turn::First);
        Self { place, count, spare, event_loop, is_first, passed, phase }
    }

    pub(crate) fn may_let_pass(&self) -> bool {
        self.passed.load(Ordering::Relaxed) < LET_PASS
    }

    pub(crate) fn lets_pass(&self) {
        self.passed.fetch_add(1, Ordering::Relaxed);
    }

    /// Hands the slots over; returns whom to wake once no lock is held.
    pub(crate) fn grant(&self, slots: Vec<Slot>) -> Option<Waker> {
        self.turn(Phase::Granted(slots))
    }

    /// Tells the caller that the pool is closed; returns whom to wake once no lock is held.
    pub(crate) fn close(&self) -> Option<Waker> {
        self.turn(Phase::Closed)
    }

    /// Tells the caller that the storage unit's circuit is open; returns whom to wake once no lock is held.
    pub(crate) fn turn_away(&self) -> Option<Waker> {
        self.turn(Phase::TurnedAway)
    }

    fn turn(&self, next: Phase) -> Option<Waker> {
        match std::mem::replace(&mut *self.lock(), next) {
            Phase::Waiting(waker) => waker,
            Phase::Granted(_) | Phase::Closed | Phase::TurnedAway | Phase::Over => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Completes when the ticket is granted. Dropped before, it leaves the queue; dropped after, the slots go to the next.
#[derive(Debug)]
pub(crate) struct Wait {
    pub(crate) shared: Arc<Shared>,
    pub(crate) ticket: Arc<Ticket>,
}

impl Future for Wait {
    type Output = Result<Vec<Slot>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut phase = self.ticket.lock();
        match std::mem::replace(&mut *phase, Phase::Over) {
            Phase::Waiting(waker) => {
                let waker = match waker {
                    Some(waker) if waker.will_wake(cx.waker()) => waker,
                    _ => cx.waker().clone(),
                };
                *phase = Phase::Waiting(Some(waker));
                Poll::Pending
            }
            Phase::Granted(slots) => Poll::Ready(Ok(slots)),
            Phase::Closed => Poll::Ready(Err(self.shared.over())),
            Phase::TurnedAway => Poll::Ready(Err(self.shared.circuit.refuses())),
            Phase::Over => Poll::Ready(Err(Error::internal("a wait was polled after its end"))),
        }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.shared.leave_queue(self.ticket.place);
        // From here on nobody can grant it any more.
        let last = std::mem::replace(&mut *self.ticket.lock(), Phase::Over);
        drop(last);
    }
}
