//! Statements of the last while, counted in ten slots by when they began. Counting is a few atomic operations; two
//! threads that change slots at the same moment may lose a statement.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const SLOTS: usize = 10;

/// Times are milliseconds since some beginning.
#[derive(Debug)]
pub(crate) struct Window {
    /// How long a slot is.
    slot: AtomicU64,
    slots: [Slot; SLOTS],
    /// Statements that are not answered yet, however long ago they began.
    unanswered: AtomicU64,
}

#[derive(Debug, Default)]
struct Slot {
    /// Which stretch of time it counts now, from 1.
    tick: AtomicU64,
    began: AtomicU64,
    ended: AtomicU64,
    failed: AtomicU64,
    slow: AtomicU64,
}

/// What was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub(crate) statements: u64,
    pub(crate) failed: u64,
    /// Those that are not answered yet, and should be, too.
    pub(crate) slow: u64,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            slot: AtomicU64::new(1_000),
            slots: Default::default(),
            unanswered: AtomicU64::new(0),
        }
    }
}

impl Window {
    /// From now on it counts statements of so long.
    pub(crate) fn measures(&self, window: Duration) {
        let slot = u64::try_from(window.as_millis()).unwrap_or(u64::MAX) / SLOTS as u64;
        self.slot.store(slot.max(1), Ordering::Relaxed);
        self.clear();
    }

    /// How long a slot is.
    pub(crate) fn slot(&self) -> u64 {
        self.slot.load(Ordering::Relaxed)
    }

    pub(crate) fn clear(&self) {
        for slot in &self.slots {
            slot.tick.store(0, Ordering::Relaxed);
        }
        self.unanswered.store(0, Ordering::Relaxed);
    }

    pub(crate) fn begins(&self, now: u64) {
        add(&self.now(now).began);
        add(&self.unanswered);
    }

    pub(crate) fn answered(&self, begun: u64) {
        take(&self.unanswered);
        if let Some(slot) = self.of(begun) {
            add(&slot.ended);
        }
    }

    /// It counts as one that has not begun.
    pub(crate) fn forgets(&self, begun: u64) {
        take(&self.unanswered);
        if let Some(slot) = self.of(begun) {
            take(&slot.began);
        }
    }

    pub(crate) fn failed(&self, begun: u64, now: u64) {
        add(&self.bad(begun, now).failed);
    }

    pub(crate) fn slow(&self, begun: u64, now: u64) {
        add(&self.bad(begun, now).slow);
    }

    /// The slot of one that went wrong: of its beginning, or, where that is long past, of now.
    fn bad(&self, begun: u64, now: u64) -> &Slot {
        let is_recent = self.tick(begun) + SLOTS as u64 > self.tick(now);
        let slot = self.of(begun).filter(|_| is_recent).unwrap_or_else(|| {
            let slot = self.now(now);
            add(&slot.began);
            slot
        });
        take(&self.unanswered);
        add(&slot.ended);
        slot
    }

    /// What was counted up to now. What is not answered yet counts however long ago it began; from `limit` on it is slow.
    pub(crate) fn counts(&self, now: u64, limit: u64) -> Counts {
        let (length, current) = (self.slot(), self.tick(now));
        let mut counts = Counts::default();
        let (mut in_time, mut overdue) = (0, 0);
        for slot in &self.slots {
            let tick = slot.tick.load(Ordering::Relaxed);
            if tick == 0 || tick + SLOTS as u64 <= current {
                continue;
            }
            let began = slot.began.load(Ordering::Relaxed);
            counts.statements += began;
            counts.failed += slot.failed.load(Ordering::Relaxed);
            counts.slow += slot.slow.load(Ordering::Relaxed);
            let unanswered = began.saturating_sub(slot.ended.load(Ordering::Relaxed));
            // The tick's end is where the next one begins.
            let is_overdue = tick * length + limit <= now;
            *if is_overdue { &mut overdue } else { &mut in_time } += unanswered;
        }
        let unanswered = self.unanswered.load(Ordering::Relaxed);
        let old = unanswered.saturating_sub(in_time + overdue);
        counts.statements += old;
        counts.slow += overdue + old;
        counts
    }

    fn tick(&self, now: u64) -> u64 {
        now / self.slot() + 1
    }

    fn at(&self, tick: u64) -> &Slot {
        let at = usize::try_from(tick % SLOTS as u64).unwrap_or(0);
        self.slots.get(at).unwrap_or(&self.slots[0])
    }

    /// The slot of this moment, if it still counts it.
    fn of(&self, begun: u64) -> Option<&Slot> {
        let tick = self.tick(begun);
        let slot = self.at(tick);
        (slot.tick.load(Ordering::Relaxed) == tick).then_some(slot)
    }

    /// The slot of now, emptied of what it counted before.
    fn now(&self, now: u64) -> &Slot {
        let tick = self.tick(now);
        let slot = self.at(tick);
        let known = slot.tick.load(Ordering::Relaxed);
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        if known != tick && slot.tick.compare_exchange(known, tick, set, fetch).is_ok() {
            for counter in [&slot.began, &slot.ended, &slot.failed, &slot.slow] {
                counter.store(0, Ordering::Relaxed);
            }
        }
        slot
    }
}

/// One less, where there is one: a slot may have been cleared in between.
fn take(counter: &AtomicU64) {
    let one_less = |known: u64| known.checked_sub(1);
    let _ = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
}

fn add(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(statements: u64, failed: u64, slow: u64) -> Counts {
        Counts { statements, failed, slow }
    }

    #[test]
    fn what_began_before_the_window_counts_no_more() {
        let window = Window::default();
        window.begins(0);
        window.failed(0, 10);
        window.begins(9_000);
        window.answered(9_000);
        assert_eq!(window.counts(9_999, 5_000), counts(2, 1, 0));
        assert_eq!(window.counts(10_000, 5_000), counts(1, 0, 0));
        assert_eq!(window.counts(60_000, 5_000), counts(0, 0, 0));
    }

    #[test]
    fn what_is_not_answered_in_time_is_slow_before_it_is_answered() {
        let window = Window::default();
        window.begins(500);
        window.begins(600);
        window.answered(600);
        assert_eq!(window.counts(2_900, 2_000), counts(2, 0, 0));
        assert_eq!(window.counts(3_000, 2_000), counts(2, 0, 1));
        // However long that lasts.
        assert_eq!(window.counts(60_000, 2_000), counts(1, 0, 1));
        window.slow(500, 60_000);
        assert_eq!(window.counts(60_000, 2_000), counts(1, 0, 1));
        assert_eq!(window.counts(90_000, 2_000), counts(0, 0, 0));
    }

    #[test]
    fn what_went_wrong_long_after_its_beginning_counts_when_it_does() {
        let window = Window::default();
        window.begins(0);
        window.failed(0, 30_000);
        assert_eq!(window.counts(30_000, 5_000), counts(1, 1, 0));
    }

    #[test]
    fn what_tells_nothing_is_forgotten() {
        let window = Window::default();
        window.begins(0);
        window.forgets(0);
        window.clear();
        window.forgets(0);
        assert_eq!(window.counts(0, 1), counts(0, 0, 0));
    }
}
