//! Keys of rows that transactions of this process have locked one by one, as queues are read. A query that passes over
//! locked rows need not ask for these: it would be told that they are locked.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Keys known at once, of all tables of a database; rows beyond are asked for.
const MOST: usize = 10_000;

/// For how long it is taken for granted that a row is locked yet, as its unit may have lost the transaction; and for
/// how long it is known that it was.
const LASTS: Duration = Duration::from_secs(2);

/// A row's key, as its values are written.
pub(crate) type Key = Vec<String>;

/// Those of one logical database.
#[derive(Debug, Default)]
pub(crate) struct LockedKeys {
    known: Mutex<Book>,
    holders: AtomicU64,
}

#[derive(Debug, Default)]
struct Book {
    /// By table and key.
    tables: HashMap<String, HashMap<Key, Locked>>,
    count: usize,
    /// How many rows of each table are locked.
    locked: HashMap<String, u64>,
    /// Those whose transactions are over, the earliest first.
    over: VecDeque<(Instant, String, Key)>,
}

/// By whom a row was locked.
#[derive(Debug, Clone, Copy)]
struct Locked {
    holder: u64,
    since: Instant,
    /// When its transaction was over.
    over: Option<Instant>,
}

/// What is known of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// Somebody else has it.
    Locked,
    /// Somebody else had it, and may have changed it.
    WasLocked,
    /// Nothing.
    Nothing,
}

/// A row that is asked about, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) table: &'a str,
    pub(crate) key: &'a Key,
    pub(crate) now: Instant,
}

/// What one transaction has locked. It is over when this is dropped, before the locks fall: too early only means that
/// others ask.
#[derive(Debug)]
pub(crate) struct HeldKeys {
    all: Arc<LockedKeys>,
    holder: u64,
    own: Vec<(String, Key)>,
}

impl LockedKeys {
    fn known(&self) -> MutexGuard<'_, Book> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many rows of a table are known to be locked.
    pub(crate) fn count(&self, table: &str) -> u64 {
        self.known().locked.get(table).copied().unwrap_or_default()
    }

    /// Whether somebody else has locked the row, or had it locked at any time since candidates were read.
    pub(crate) fn of_others(&self, row: Row<'_>, own: &HeldKeys, read: Instant) -> Known {
        let known = self.known();
        let locked = known.tables.get(row.table).and_then(|keys| keys.get(row.key));
        match locked.filter(|locked| locked.holder != own.holder) {
            Some(Locked { over: Some(over), .. }) if *over >= read => Known::WasLocked,
            Some(Locked { over: None, since, .. }) if row.now.duration_since(*since) < LASTS => {
                Known::Locked
            }
            Some(_) | None => Known::Nothing,
        }
    }

    /// Somebody who has locked nothing yet.
    pub(crate) fn holder(self: &Arc<Self>) -> HeldKeys {
        let holder = self.holders.fetch_add(1, Ordering::Relaxed);
        HeldKeys { all: Arc::clone(self), holder, own: Vec::new() }
    }
}

impl HeldKeys {
    /// A row is locked.
    pub(crate) fn hold(&mut self, row: Row<'_>) {
        let mut known = self.all.known();
        known.forget(row.now);
        if known.count >= MOST {
            return;
        }
        let locked = Locked { holder: self.holder, since: row.now, over: None };
        let keys = known.tables.entry(row.table.to_owned()).or_default();
        let before = keys.insert(row.key.clone(), locked);
        known.count += usize::from(before.is_none());
        if before.is_none_or(|before| before.over.is_some()) {
            *known.locked.entry(row.table.to_owned()).or_default() += 1;
        }
        if before.is_none_or(|before| before.holder != self.holder) {
            self.own.push((row.table.to_owned(), row.key.clone()));
        }
    }

    /// Whether these are rows of that database.
    pub(crate) fn are_of(&self, all: &Arc<LockedKeys>) -> bool {
        Arc::ptr_eq(&self.all, all)
    }
}

impl Book {
    /// Forgets those that nobody's candidates are older than.
    fn forget(&mut self, now: Instant) {
        while self.over.front().is_some_and(|(over, ..)| now.duration_since(*over) >= LASTS) {
            let Some((over, table, key)) = self.over.pop_front() else { return };
            let Some(keys) = self.tables.get_mut(&table) else { continue };
            if keys.get(&key).is_some_and(|locked| locked.over == Some(over)) {
                keys.remove(&key);
                self.count = self.count.saturating_sub(1);
            }
            if keys.is_empty() {
                self.tables.remove(&table);
            }
        }
    }
}

impl Drop for HeldKeys {
    fn drop(&mut self) {
        if self.own.is_empty() {
            return;
        }
        let now = Instant::now();
        let mut known = self.all.known();
        for (table, key) in std::mem::take(&mut self.own) {
            let locked = known.tables.get_mut(&table).and_then(|keys| keys.get_mut(&key));
            let Some(locked) = locked.filter(|locked| locked.holder == self.holder) else {
                continue;
            };
            locked.over = Some(now);
            if let Some(count) = known.locked.get_mut(&table) {
                *count = count.saturating_sub(1);
            }
            known.over.push_back((now, table, key));
        }
        known.forget(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_others_until_their_transaction_ends() {
        let (all, now) = (Arc::new(LockedKeys::default()), Instant::now());
        let (mut one, mut other) = (all.holder(), all.holder());
        let keys: Vec<Key> = (0..3).map(|number: u64| vec![number.to_string()]).collect();
        let row = |number: usize| Row { table: "t", key: &keys[number], now };
        one.hold(row(1));
        one.hold(row(1));
        assert_eq!(all.of_others(row(1), &other, now), Known::Locked);
        assert_eq!(all.of_others(row(1), &one, now), Known::Nothing);
        assert_eq!(all.of_others(row(2), &other, now), Known::Nothing);
        assert_eq!(all.of_others(Row { table: "u", ..row(1) }, &other, now), Known::Nothing);
        assert_eq!(all.of_others(Row { now: now + LASTS, ..row(1) }, &other, now), Known::Nothing);
        drop(one);
        assert_eq!(all.of_others(row(1), &other, now), Known::WasLocked);
        let after = Instant::now() + LASTS;
        assert_eq!(all.of_others(row(1), &other, after), Known::Nothing);
        assert_eq!((all.count("t"), all.known().count), (0, 1));
        other.hold(row(1));
        all.known().forget(after);
        assert_eq!(all.count("t"), 1);
        drop(other);
        all.known().forget(Instant::now() + LASTS);
        assert_eq!((all.count("t"), all.known().count), (0, 0));
    }

    #[test]
    fn they_are_bounded() {
        let (all, now) = (Arc::new(LockedKeys::default()), Instant::now());
        let mut one = all.holder();
        for number in 0..=MOST {
            one.hold(Row { table: "t", key: &vec![number.to_string()], now });
        }
        assert_eq!(all.count("t"), MOST as u64);
        drop(one);
        all.known().forget(Instant::now() + LASTS);
        assert_eq!((all.count("t"), all.known().count), (0, 0));
    }
}
