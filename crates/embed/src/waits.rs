//! What the sessions wait for that this thread polls: sockets and times. Such a thread sleeps in poll(2) for them itself; on any other thread a
//! reactor waits.

use std::cell::RefCell;
use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::bell::Bell;
use crate::socket::Descriptor;

thread_local! {
    /// One for each session that the thread is inside of: an algorithm of a person's own may use another connection.
    static OWN: RefCell<Vec<Waits>> = const { RefCell::new(Vec::new()) };
}

/// What is waited for until the next call of poll(2).
#[derive(Default)]
struct Waits {
    sockets: Vec<(Arc<Descriptor>, PollFlags, Waker)>,
    timers: Vec<(Instant, Waker)>,
}

impl Waits {
    fn wake(self) {
        self.sockets.into_iter().for_each(|(_, _, waker)| waker.wake());
        self.timers.into_iter().for_each(|(_, waker)| waker.wake());
    }
}

/// While it lives the thread waits by itself. Its end wakes all that is still waited for: who goes on looks for itself.
pub(crate) struct Waiting(());

impl Waiting {
    pub(crate) fn begin() -> Self {
        OWN.with_borrow_mut(|own| own.push(Waits::default()));
        Self(())
    }

    /// Sleeps until something that is waited for may have come, the bell has rung or it is `until`; wakes who waited.
    pub(crate) fn sleep(&self, bell: &Bell, until: Option<Instant>) {
        let waits = OWN.with_borrow_mut(|own| own.last_mut().map(std::mem::take));
        let waits = waits.unwrap_or_default();
        let mut all = Vec::with_capacity(waits.sockets.len() + 1);
        all.push(PollFd::new(bell, PollFlags::IN));
        let sockets = waits.sockets.iter();
        all.extend(sockets.map(|(socket, flags, _)| PollFd::new(&**socket, *flags)));
        let next = waits.timers.iter().map(|(end, _)| *end).chain(until).min();
        let limit = next.map(|end| end.saturating_duration_since(Instant::now()));
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        // An interrupted wait is a wake-up like any other.
        let _ = poll(&mut all, limit.as_ref());
        drop(all);
        bell.hear();
        // All are woken: what is not ready is waited for again, and nothing is forgotten.
        waits.wake();
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        OWN.with_borrow_mut(Vec::pop).unwrap_or_default().wake();
    }
}

/// Waits for a socket on this thread; false where it does not wait by itself.
pub(crate) fn socket(of: &Arc<Descriptor>, flags: PollFlags, waker: &Waker) -> bool {
    OWN.with_borrow_mut(|own| {
        let Some(waits) = own.last_mut() else { return false };
        waits.sockets.push((Arc::clone(of), flags, waker.clone()));
        true
    })
}

/// Waits for a time on this thread; false where it does not wait by itself.
pub(crate) fn timer(end: Instant, waker: &Waker) -> bool {
    OWN.with_borrow_mut(|own| {
        let Some(waits) = own.last_mut() else { return false };
        waits.timers.push((end, waker.clone()));
        true
    })
}
