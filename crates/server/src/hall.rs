//! Clients that have not logged in yet: so many may be at it at a time. Who comes then is let in all the same, and who came first leaves: a client that
//! means it needs milliseconds, and silent ones must not keep the others out. What counts is when a connection was accepted, as a loop may get to one
//! accepted long ago only when a later one is already at its login on another loop.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::sync::oneshot;

/// Those who are logging in, in the order they came.
#[derive(Debug, Default)]
pub(crate) struct Hall {
    inside: Mutex<Inside>,
}

#[derive(Debug, Default)]
struct Inside {
    /// The end of a sender tells its client to leave.
    waiting: BTreeMap<Place, oneshot::Sender<()>>,
    next: u64,
}

/// When a client came, and a number for those who came at once.
type Place = (Instant, u64);

/// A client's stay: ready when it has to leave. Its end makes room.
#[derive(Debug)]
pub(crate) struct Stay {
    hall: Arc<Hall>,
    place: Place,
    leaves: oneshot::Receiver<()>,
}

impl Hall {
    /// Another client, there `since` then, begins its login, of `most` who may be at it.
    pub(crate) fn enter(self: &Arc<Self>, since: Instant, most: usize) -> Stay {
        let (stays, leaves) = oneshot::channel();
        let mut inside = self.inside();
        let place = (since, inside.next);
        inside.next += 1;
        inside.waiting.insert(place, stays);
        while inside.waiting.len() > most.max(1) {
            inside.waiting.pop_first();
        }
        drop(inside);
        Stay { hall: Arc::clone(self), place, leaves }
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Future for Stay {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.leaves).poll(cx).map(|_| ())
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        self.hall.inside().waiting.remove(&self.place);
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    fn has_to_leave(stay: &mut Stay) -> bool {
        Pin::new(stay).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn the_oldest_make_room_and_who_has_logged_in_is_not_among_them() {
        let (hall, now) = (Arc::new(Hall::default()), Instant::now());
        let mut first = hall.enter(now, 2);
        let second = hall.enter(now, 2);
        assert!(!has_to_leave(&mut first));
        drop(second);
        let mut third = hall.enter(now, 2);
        assert!(!has_to_leave(&mut first) && !has_to_leave(&mut third));
        let mut fourth = hall.enter(now, 2);
        assert!(has_to_leave(&mut first));
        assert!(!has_to_leave(&mut third) && !has_to_leave(&mut fourth));
        let _fifth = hall.enter(now, 1);
        assert!(has_to_leave(&mut third) && has_to_leave(&mut fourth));
        assert_eq!(hall.inside().waiting.len(), 1);
    }

    #[test]
    fn who_came_first_leaves_however_late_its_login_begins() {
        let (hall, before) = (Arc::new(Hall::default()), Instant::now());
        let after = before + std::time::Duration::from_millis(1);
        let mut quick = hall.enter(after, 1);
        let mut slow = hall.enter(before, 1);
        assert!(has_to_leave(&mut slow) && !has_to_leave(&mut quick));
        drop(slow);
        assert_eq!(hall.inside().waiting.len(), 1);
    }
}
