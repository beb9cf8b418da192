//! Keys of rows that transactions of this process have locked one by one, as queues are read. A query that passes over
//! locked rows need not ask for these: it would be told that they are locked.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Keys known at once, of all tables of a database; rows beyond are asked for.
const MOST: usize = 10_000;

/// For how long it is taken for granted that a row is locked yet: its unit may have lost the transaction.
const LASTS: Duration = Duration::from_secs(2);

/// A row's key, as its values are written.
pub(crate) type Key = Vec<String>;

/// Those of one logical database.
#[derive(Debug, Default)]
pub(crate) struct LockedKeys {
    known: Mutex<Known>,
    holders: AtomicU64,
}

#[derive(Debug, Default)]
struct Known {
    /// By table and key.
    tables: HashMap<String, HashMap<Key, Locked>>,
    count: usize,
}

/// By whom, and until when that is taken for granted.
#[derive(Debug, Clone, Copy)]
struct Locked {
    holder: u64,
    until: Instant,
}

/// A row that is asked about, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) table: &'a str,
    pub(crate) key: &'a Key,
    pub(crate) now: Instant,
}

/// What one transaction has locked. It is forgotten when this is dropped, before the locks fall: too early only means
/// that others ask.
#[derive(Debug)]
pub(crate) struct HeldKeys {
    all: Arc<LockedKeys>,
    holder: u64,
    own: Vec<(String, Key)>,
}

impl LockedKeys {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many rows of a table are known to be locked.
    pub(crate) fn count(&self, table: &str) -> u64 {
        self.known().tables.get(table).map_or(0, |keys| keys.len() as u64)
    }

    /// Whether somebody has locked the row, who is not this one.
    pub(crate) fn are_others(&self, row: Row<'_>, own: &HeldKeys) -> bool {
        let locked = self.known().tables.get(row.table).and_then(|keys| keys.get(row.key)).copied();
        locked.is_some_and(|locked| locked.holder != own.holder && row.now < locked.until)
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
        let Some(until) = row.now.checked_add(LASTS) else { return };
        let mut known = self.all.known();
        if known.count >= MOST {
            return;
        }
        let locked = Locked { holder: self.holder, until };
        let keys = known.tables.entry(row.table.to_owned()).or_default();
        match keys.insert(row.key.clone(), locked) {
            Some(before) if before.holder == self.holder => {}
            // Its transaction is over, or was lost.
            Some(_) => self.own.push((row.table.to_owned(), row.key.clone())),
            None => {
                known.count += 1;
                self.own.push((row.table.to_owned(), row.key.clone()));
            }
        }
    }

    /// Whether these are rows of that database.
    pub(crate) fn are_of(&self, all: &Arc<LockedKeys>) -> bool {
        Arc::ptr_eq(&self.all, all)
    }
}

impl Drop for HeldKeys {
    fn drop(&mut self) {
        let mut known = self.all.known();
        for (table, key) in std::mem::take(&mut self.own) {
            let Some(keys) = known.tables.get_mut(&table) else { continue };
            if keys.get(&key).is_none_or(|locked| locked.holder != self.holder) {
                continue;
            }
            keys.remove(&key);
            if keys.is_empty() {
                known.tables.remove(&table);
            }
            known.count = known.count.saturating_sub(1);
        }
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
        assert!(all.are_others(row(1), &other) && !all.are_others(row(1), &one));
        assert!(!all.are_others(row(2), &other));
        assert!(!all.are_others(Row { table: "u", ..row(1) }, &other));
        assert!(!all.are_others(Row { now: now + LASTS, ..row(1) }, &other));
        assert_eq!(all.count("t"), 1);
        other.hold(row(1));
        drop(one);
        assert_eq!(all.count("t"), 1);
        drop(other);
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
        assert_eq!(all.count("t"), 0);
    }
}
