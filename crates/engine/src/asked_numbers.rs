//! Whether the clients of a database ask for the numbers that servers have given to their rows (`lastval`, `currval`):
//! where they do, these are read off the connection before it serves others.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// After so many numbers that nobody has asked for, no more are read until somebody asks.
const TRIAL: u32 = 1000;

/// What is known of it.
#[derive(Debug, Default)]
pub(crate) struct AskedNumbers {
    are_asked: AtomicBool,
    unasked: AtomicU32,
}

impl AskedNumbers {
    /// A client asks for the number that it was given last.
    pub(crate) fn are_asked(&self) {
        self.are_asked.store(true, Ordering::Relaxed);
    }

    /// Whether the numbers of the statement that now runs are worth a question.
    pub(crate) fn are_read(&self) -> bool {
        if self.are_asked.load(Ordering::Relaxed) {
            return true;
        }
        let is_trial = self.unasked.load(Ordering::Relaxed) < TRIAL;
        if is_trial {
            self.unasked.fetch_add(1, Ordering::Relaxed);
        }
        is_trial
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_pays_for_what_nobody_asks_for() {
        let numbers = AskedNumbers::default();
        assert!((0..TRIAL).all(|_| numbers.are_read()));
        assert!(!numbers.are_read());
        numbers.are_asked();
        assert!(numbers.are_read());
    }
}
