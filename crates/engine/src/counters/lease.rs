//! Numbers of one counter that this process may give out by itself, and for how long.
//!
//! What is known here holds for [`LEASE`] from the moment before the ledger was asked, and the ledger says to others
//! for at least as long that somebody goes by it. So whoever has to be sure that nobody does (the values of clients in
//! somebody's lease, a table that begins anew) waits no longer than that.

use std::ops::Range;
use std::time::{Duration, Instant};

use pando_kernel::counters::{LEASE, Seen, Terms};

/// Numbers of a lease at most, but for one statement that takes more.
const MOST: u64 = 1024;
/// Numbers that are passed over at once where clients bring their own and nothing may be leased.
const AHEAD: u64 = 1024;
/// Values from here on are no count: identifiers that have the time in them, and jump.
const HUGE: u64 = 1 << 40;
/// What is passed over at once of those.
const HUGE_AHEAD: u64 = 1 << 32;

/// What a row of an INSERT wants of the counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Row {
    /// A number.
    Wanted,
    /// That it counts on behind this value.
    Given(u64),
}

/// Which numbers a session takes: those that are `offset` more than a multiple of `increment`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Steps {
    /// At least 1.
    pub(crate) increment: u64,
    /// At least 1, and at most `increment`.
    pub(crate) offset: u64,
}

impl Default for Steps {
    fn default() -> Self {
        Self { increment: 1, offset: 1 }
    }
}

impl Steps {
    /// The first of them that is not less.
    fn from(self, least: u64) -> Option<u64> {
        let least = least.max(self.offset);
        let over = (least - self.offset) % self.increment;
        match over {
            0 => Some(least),
            over => least.checked_add(self.increment - over),
        }
    }
}

/// What the ledger is to be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asks {
    /// Somebody else may give out a number that a client brings: leases end first.
    Ends(Duration),
    /// To give these numbers, where its `next` is the first of `seen`.
    Gives {
        /// What `next` must still be.
        seen: u64,
        /// What may be given out then.
        lease: Range<u64>,
        /// How.
        terms: Terms,
    },
    /// More than a counter can count.
    Nothing,
}

/// What is leased of one counter.
#[derive(Debug, Default)]
pub(crate) struct Lease {
    /// What may be given out. Kept when its time is over: it may be renewed.
    numbers: Range<u64>,
    /// Numbers that nobody else gives out, those that were given out already among them. `numbers` are inside of it.
    safe: Range<u64>,
    /// Until when all this holds; `None` holds nothing.
    until: Option<Instant>,
    /// How many are leased at once.
    size: u64,
    /// Shards have been asked how far they have counted.
    pub(crate) is_settled: bool,
}

impl Lease {
    /// Numbers for the rows that want one, in their order; `None` where that is not to be decided here.
    pub(crate) fn serve(&mut self, rows: &[Row], steps: Steps, now: Instant) -> Option<Vec<u64>> {
        if self.until.is_none_or(|until| now >= until) {
            return None;
        }
        let (mut next, mut numbers) = (self.numbers.start, Vec::new());
        for row in rows {
            match *row {
                Row::Wanted => {
                    let number = steps.from(next).filter(|one| *one < self.numbers.end)?;
                    numbers.push(number);
                    next = number.saturating_add(steps.increment);
                }
                Row::Given(value) if value >= next && value < self.numbers.end => next = value + 1,
                Row::Given(value) if self.safe.contains(&value) => {}
                Row::Given(_) => return None,
            }
        }
        self.numbers.start = next.min(self.numbers.end);
        Some(numbers)
    }

    /// The first number that is leased and not given out, where the ledger's row is as it was left.
    pub(crate) fn left(&self, seen: &Seen, holder: &str) -> Option<u64> {
        let is_kept = seen.holder == holder && seen.next == self.numbers.end;
        (is_kept && !self.numbers.is_empty()).then_some(self.numbers.start)
    }

    /// What the ledger is to be asked for, by what its row says.
    pub(crate) fn asks(&self, seen: &Seen, holder: &str, rows: &[Row], steps: Steps) -> Asks {
        let is_own = seen.holder == holder;
        let is_open = seen.closed.is_zero();
        let keeps = is_own && is_open && !self.numbers.is_empty() && seen.next == self.numbers.end;
        let given = rows.iter().filter_map(|row| match row {
            Row::Given(value) => Some(*value),
            Row::Wanted => None,
        });
        let is_kept = |value: u64| keeps && value >= self.numbers.start;
        let meets = given.clone().any(|value| value < seen.next && !is_kept(value));
        if meets && !is_own && !seen.leased.is_zero() {
            return Asks::Ends(seen.leased);
        }
        let wanted = rows.iter().filter(|row| **row == Row::Wanted).count() as u64;
        let beyond = given.max().filter(|value| *value >= seen.next);
        let lease = || {
            let start = match beyond {
                Some(value) => value.checked_add(1)?,
                None if keeps => self.numbers.start,
                None => seen.next,
            };
            let behind = match wanted {
                0 => start,
                _ => steps.from(start)?.checked_add(wanted.checked_mul(steps.increment)?)?,
            };
            let ahead = match (wanted, beyond) {
                (0, None) => 0,
                (0, Some(value)) if value >= HUGE => HUGE_AHEAD,
                (0, Some(_)) if !is_open => AHEAD,
                _ if is_open => self.size.max(1),
                _ => 0,
            };
            let end = start.checked_add(ahead)?.max(behind);
            Some(start..end.max(seen.next))
        };
        let Some(lease) = lease() else { return Asks::Nothing };
        let terms = match (is_open && !lease.is_empty(), keeps && beyond.is_none()) {
            (false, _) => Terms::Used,
            (true, true) => Terms::Renewed,
            (true, false) => Terms::Leased,
        };
        Asks::Gives { seen: seen.next, lease, terms }
    }

    /// The ledger has given what it was asked for, in answer to a question of that moment.
    pub(crate) fn given(&mut self, seen: &Seen, holder: &str, lease: Range<u64>, asked: Instant) {
        let is_exhausted = self.until.is_some_and(|until| asked < until);
        self.size = match is_exhausted {
            true => self.size.saturating_mul(2).clamp(1, MOST),
            false => (self.size / 2).max(1),
        };
        let is_alone = seen.leased.is_zero() || seen.holder == holder;
        let joins = is_exhausted && self.safe.end == seen.next;
        let first = match (is_alone, joins) {
            (true, _) => 0,
            (false, true) => self.safe.start,
            (false, false) => seen.next,
        };
        self.safe = first..lease.end;
        self.numbers = lease;
        self.until = asked.checked_add(LEASE);
    }

    /// Nothing of it is to be given out any more: it was used at once, and others have the same right to what follows.
    pub(crate) fn is_used(&mut self) {
        self.numbers.start = self.numbers.end;
    }

    /// Nothing is known of the counter.
    pub(crate) fn forget(&mut self) {
        *self = Self { size: self.size, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "own";
    const EACH: Steps = Steps { increment: 1, offset: 1 };

    /// A ledger's row, and the time, as one process after the other goes by them.
    struct World {
        now: Instant,
        next: u64,
        holder: String,
        known: Instant,
        leased: Instant,
        closed: Instant,
    }

    impl World {
        fn new(next: u64) -> Self {
            let now = Instant::now();
            Self { now, next, holder: String::new(), known: now, leased: now, closed: now }
        }

        fn seen(&self) -> Seen {
            let left = |until: Instant| until.saturating_duration_since(self.now);
            let (leased, known, closed) = (left(self.leased), left(self.known), left(self.closed));
            Seen { next: self.next, holder: self.holder.clone(), leased, known, closed }
        }

        /// Numbers for rows, with the ledger asked as often as need be; `None` where a lease has to end first.
        fn take(&mut self, lease: &mut Lease, holder: &str, rows: &[Row]) -> Option<Vec<u64>> {
            for _ in 0..10 {
                if let Some(numbers) = lease.serve(rows, EACH, self.now) {
                    return Some(numbers);
                }
                let seen = self.seen();
                let Asks::Gives { lease: numbers, terms, .. } =
                    lease.asks(&seen, holder, rows, EACH)
                else {
                    return None;
                };
                let is_over = seen.known.is_zero() || seen.holder == holder;
                self.holder = if is_over { holder } else { "*" }.to_owned();
                self.known = self.now + LEASE;
                if terms.is_leased() {
                    assert!(seen.closed.is_zero());
                    self.leased = self.now + LEASE;
                }
                self.next = numbers.end;
                lease.given(&seen, holder, numbers, self.now);
                if !terms.is_leased() {
                    let served = lease.serve(rows, EACH, self.now);
                    lease.is_used();
                    if served.is_some() {
                        return served;
                    }
                }
            }
            panic!("the ledger is asked for ever");
        }
    }

    #[test]
    fn one_process_counts_without_gaps() {
        let (mut world, mut lease) = (World::new(1), Lease::default());
        let mut all = Vec::new();
        for count in [1, 1, 3, 1, 10, 1, 1, 2000, 1] {
            all.extend(world.take(&mut lease, OWN, &vec![Row::Wanted; count]).unwrap());
            world.now += Duration::from_millis(1500);
        }
        assert_eq!(all, (1..=2019).collect::<Vec<u64>>());
    }

    #[test]
    fn values_move_the_counter_and_are_not_given_again() {
        let (mut world, mut lease) = (World::new(1), Lease::default());
        let mut take = |rows: &[Row]| world.take(&mut lease, OWN, rows).unwrap();
        assert_eq!(take(&[Row::Wanted]), [1]);
        assert!(take(&[Row::Given(100)]).is_empty());
        assert_eq!(take(&[Row::Wanted]), [101]);
        assert!(take(&[Row::Given(50)]).is_empty());
        assert!(take(&[Row::Given(103), Row::Given(102)]).is_empty());
        assert_eq!(take(&[Row::Wanted, Row::Given(300), Row::Wanted]), [301, 302]);
    }

    #[test]
    fn a_value_in_the_lease_of_another_waits_for_its_end() {
        let mut world = World::new(1);
        let (mut one, mut other) = (Lease::default(), Lease::default());
        for _ in 0..6 {
            world.take(&mut one, "one", &[Row::Wanted]).unwrap();
        }
        let last = world.next - 1;
        assert_eq!(world.take(&mut other, "other", &[Row::Given(last)]), None);
        world.closed = world.now + Duration::from_secs(60);
        world.now += LEASE;
        assert_eq!(world.take(&mut other, "other", &[Row::Given(last)]), Some(vec![]));
        // The first one has to ask again, and is not given what it had.
        assert_eq!(world.take(&mut one, "one", &[Row::Wanted]), Some(vec![last + 1]));
        // Nothing is leased for a while: each asks, and both count on.
        assert_eq!(world.take(&mut other, "other", &[Row::Wanted]), Some(vec![last + 2]));
        assert_eq!(world.take(&mut one, "one", &[Row::Wanted]), Some(vec![last + 3]));
    }

    #[test]
    fn two_processes_share_no_number() {
        let mut world = World::new(1);
        let (mut one, mut other) = (Lease::default(), Lease::default());
        let (mut seen, mut last) = (std::collections::HashSet::new(), [0, 0]);
        for round in 0..3000_u64 {
            let (lease, holder, at) = match round % 7 < 4 {
                true => (&mut one, "one", 0),
                false => (&mut other, "other", 1),
            };
            let count = (round % 5 + 1) as usize;
            for number in world.take(lease, holder, &vec![Row::Wanted; count]).unwrap() {
                assert!(seen.insert(number), "{number} twice");
                assert!(number > last[at], "{number} after {}", last[at]);
                last[at] = number;
            }
            world.now += Duration::from_millis(round % 90);
        }
    }

    #[test]
    fn a_session_counts_in_its_steps() {
        let (mut world, mut lease) = (World::new(4), Lease::default());
        let steps = Steps { increment: 5, offset: 3 };
        let seen = world.seen();
        let Asks::Gives { lease: numbers, .. } =
            lease.asks(&seen, OWN, &[Row::Wanted, Row::Wanted], steps)
        else {
            panic!("nothing is asked for");
        };
        lease.given(&seen, OWN, numbers, world.now);
        world.now += Duration::from_millis(1);
        let taken = lease.serve(&[Row::Wanted, Row::Wanted], steps, world.now);
        assert_eq!(taken, Some(vec![8, 13]));
    }

    #[test]
    fn the_last_number_is_the_last() {
        let lease = Lease::default();
        let seen = World::new(u64::MAX).seen();
        assert_eq!(lease.asks(&seen, OWN, &[Row::Wanted], EACH), Asks::Nothing);
        assert_eq!(lease.asks(&seen, OWN, &[Row::Given(u64::MAX)], EACH), Asks::Nothing);
    }
}
