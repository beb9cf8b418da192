//! How many statements may begin in a time: a token bucket, kept as one number.
//!
//! The number is when the bucket will be full again. A token that is not there yet can be promised: whoever takes it
//! waits for it. (The generic cell rate algorithm, ITU-T I.371, which needs no timer and no lock.)

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Statements in a time, and how many at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate {
    /// Time for one statement.
    pub(crate) each: Duration,
    /// Statements that may begin at once when none have for long; at least 1.
    pub(crate) burst: u32,
}

/// The tokens that are left.
#[derive(Debug, Default)]
pub(crate) struct Bucket {
    /// Nanoseconds since the meter's beginning.
    full_at: AtomicU64,
}

impl Bucket {
    /// Takes a token. `now` is the time since the meter's beginning.
    ///
    /// Result: how long to wait for it.
    ///
    /// # Errors
    /// How long that would be, where it is longer than `most`; nothing is taken then.
    pub(crate) fn take(
        &self,
        rate: Rate,
        now: Duration,
        most: Duration,
    ) -> Result<Duration, Duration> {
        let (each, now) = (nanos(rate.each), nanos(now));
        let slack = each.saturating_mul(u64::from(rate.burst));
        let mut known = self.full_at.load(Ordering::Relaxed);
        // What was taken under another rate leaves the bucket no emptier than it can be under this one.
        let emptiest = now.saturating_add(slack).saturating_add(nanos(most));
        if known > emptiest {
            self.full_at.fetch_min(emptiest, Ordering::Relaxed);
            known = known.min(emptiest);
        }
        loop {
            let full_at = known.max(now).saturating_add(each);
            let wait = Duration::from_nanos(full_at.saturating_sub(now.saturating_add(slack)));
            if wait > most {
                return Err(wait);
            }
            let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
            match self.full_at.compare_exchange_weak(known, full_at, set, fetch) {
                Ok(_) => return Ok(wait),
                Err(other) => known = other,
            }
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EACH: Duration = Duration::from_millis(100);

    fn at(tenths: u32) -> Duration {
        EACH * tenths
    }

    #[test]
    fn a_burst_begins_at_once_and_what_follows_at_the_rate() {
        let (bucket, rate) = (Bucket::default(), Rate { each: EACH, burst: 3 });
        let waits: Vec<_> = (0..5).map(|_| bucket.take(rate, at(50), at(9))).collect();
        assert_eq!(waits, [Ok(at(0)), Ok(at(0)), Ok(at(0)), Ok(at(1)), Ok(at(2))]);
        // Three tenths later two were due and one is left.
        assert_eq!(bucket.take(rate, at(53), at(0)), Ok(at(0)));
        assert_eq!(bucket.take(rate, at(53), at(0)), Err(at(1)));
    }

    #[test]
    fn what_is_refused_takes_nothing() {
        let (bucket, rate) = (Bucket::default(), Rate { each: EACH, burst: 1 });
        assert_eq!(bucket.take(rate, at(0), at(0)), Ok(at(0)));
        for _ in 0..100 {
            assert_eq!(bucket.take(rate, at(0), at(0)), Err(at(1)));
        }
        assert_eq!(bucket.take(rate, at(1), at(0)), Ok(at(0)));
    }

    #[test]
    fn nothing_is_saved_up_beyond_the_burst() {
        let (bucket, rate) = (Bucket::default(), Rate { each: EACH, burst: 2 });
        let at_once = (0..9).filter(|_| bucket.take(rate, at(1_000_000), at(0)).is_ok()).count();
        assert_eq!(at_once, 2);
    }

    #[test]
    fn a_higher_rate_is_not_held_up_by_what_was_taken_under_a_lower_one() {
        let bucket = Bucket::default();
        let low = Rate { each: at(1_000), burst: 100 };
        assert!((0..100).all(|_| bucket.take(low, at(0), at(0)).is_ok()));
        let high = Rate { each: at(1), burst: 1 };
        assert_eq!(bucket.take(high, at(0), at(0)), Err(at(1)));
        assert_eq!(bucket.take(high, at(1), at(0)), Ok(at(0)));
    }

    #[test]
    fn several_threads_take_no_more_than_there_is() {
        let (bucket, rate) = (Bucket::default(), Rate { each: EACH, burst: 100 });
        let taken = std::thread::scope(|scope| {
            let take = || (0..100).filter(|_| bucket.take(rate, at(0), at(0)).is_ok()).count();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
        });
        assert_eq!(taken, 100);
    }
}
