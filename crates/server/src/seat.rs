//! How many sessions there may be, kept exactly however many clients log in at the same instant.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the sessions of all doors.
#[derive(Debug, Default)]
pub(crate) struct Seats {
    taken: Arc<AtomicUsize>,
}

/// One session's place; free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    taken: Arc<AtomicUsize>,
}

impl Seats {
    /// A place among `most`, which may change from one login to the next; `None` when all are taken.
    pub(crate) fn take(&self, most: usize) -> Option<Seat> {
        let more = |taken: usize| (taken < most).then(|| taken.saturating_add(1));
        self.taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        Some(Seat { taken: Arc::clone(&self.taken) })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.taken.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_given_back_and_a_smaller_limit_counts_for_newcomers() {
        let seats = Seats::default();
        let (first, second) = (seats.take(2), seats.take(2));
        assert!(first.is_some() && second.is_some() && seats.take(2).is_none());
        drop(first);
        assert!(seats.take(1).is_none());
        assert!(seats.take(2).is_some());
    }

    #[test]
    fn of_many_at_once_no_more_get_in_than_there_are_places() {
        const MOST: usize = 5;
        let seats = Seats::default();
        let inside: Vec<Option<Seat>> = std::thread::scope(|scope| {
            let newcomers: Vec<_> = (0..64).map(|_| scope.spawn(|| seats.take(MOST))).collect();
            newcomers.into_iter().map(|newcomer| newcomer.join().unwrap()).collect()
        });
        assert_eq!(inside.iter().flatten().count(), MOST);
    }
}
