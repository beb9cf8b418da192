//! Channels that have reason to be polled again. A thread of Java's takes them: threads of the engine are never attached to the JVM, which would wait
//! for them at its end.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Wake, Waker};

/// The numbers of one engine's channels, in the order they were woken.
#[derive(Debug, Default)]
pub(crate) struct Woken {
    inside: Mutex<Inside>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inside {
    /// Each once, so that there are no more than channels.
    numbers: VecDeque<i64>,
    waiting: HashSet<i64>,
    is_closed: bool,
}

/// Taken at once.
const MOST: usize = 1024;

impl Woken {
    fn wake(&self, number: i64) {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        if !inside.waiting.insert(number) {
            return;
        }
        inside.numbers.push_back(number);
        drop(inside);
        self.changed.notify_one();
    }

    /// Waits for some; none once it is closed.
    pub(crate) fn take(&self) -> Vec<i64> {
        let inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |inside: &mut Inside| inside.numbers.is_empty() && !inside.is_closed;
        let inside = self.changed.wait_while(inside, waits);
        let mut inside = inside.unwrap_or_else(PoisonError::into_inner);
        let count = inside.numbers.len().min(MOST);
        let taken: Vec<i64> = inside.numbers.drain(..count).collect();
        taken.iter().for_each(|number| {
            inside.waiting.remove(number);
        });
        taken
    }

    pub(crate) fn close(&self) {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner).is_closed = true;
        self.changed.notify_all();
    }
}

struct Call {
    woken: Arc<Woken>,
    number: i64,
}

impl Wake for Call {
    fn wake(self: Arc<Self>) {
        self.woken.wake(self.number);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.wake(self.number);
    }
}

/// Adds the channel's number.
pub(crate) fn waker(woken: &Arc<Woken>, number: i64) -> Waker {
    Waker::from(Arc::new(Call { woken: Arc::clone(woken), number }))
}
