//! In which order each list was written, as its longest read tells.

use std::collections::HashMap;

use crate::history::{History, Key, Op, Outcome, Transaction, Value};

/// A transaction by its place in the history.
pub(crate) type Index = u32;

/// The order in which one list was written.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// As the longest read shows it.
    pub(crate) values: Vec<Value>,
    /// Who appended each of them; `None` for values of nobody.
    pub(crate) writers: Vec<Option<Index>>,
    /// Whose read that was.
    pub(crate) reader: Index,
    /// When the last committed transaction that read it began.
    pub(crate) last_read: u64,
}

/// What follows from all reads together.
#[derive(Debug)]
pub(crate) struct Orders<'a> {
    /// The history itself.
    pub(crate) history: &'a History,
    /// Every list that a committed transaction read.
    pub(crate) lines: HashMap<Key, Line>,
    /// Whether each transaction took effect: told so, or seen by one that is.
    pub(crate) committed: Vec<bool>,
    /// When others knew of a transaction of unknown end that it took effect: the end of the first that read of it.
    seen: HashMap<Index, u64>,
    writers: HashMap<(Key, Value), Index>,
}

impl<'a> Orders<'a> {
    /// Finds them; takes time and memory in proportion to the history.
    pub(crate) fn of(history: &'a History) -> Self {
        let mut orders = Self {
            history,
            lines: HashMap::new(),
            committed: Vec::with_capacity(history.transactions.len()),
            seen: HashMap::new(),
            writers: HashMap::new(),
        };
        for (index, transaction) in (0..).zip(&history.transactions) {
            let committed = transaction.outcome == Outcome::Committed;
            orders.committed.push(committed);
            for op in &transaction.ops {
                match op {
                    Op::Append(key, value) => {
                        orders.writers.insert((*key, *value), index);
                    }
                    Op::Read(key, values) if committed => {
                        let line = orders.lines.entry(*key).or_default();
                        line.last_read = line.last_read.max(transaction.begin);
                        if values.len() > line.values.len() {
                            (line.values, line.reader) = (values.clone(), index);
                        }
                    }
                    Op::Read(..) => {}
                }
            }
        }
        orders.fill();
        orders.see();
        orders
    }

    fn fill(&mut self) {
        for (key, line) in &mut self.lines {
            let writer = |value: &Value| self.writers.get(&(*key, *value)).copied();
            line.writers = line.values.iter().map(writer).collect();
            for writer in line.writers.iter().flatten() {
                let place = *writer as usize;
                let unknown = self.history.transactions[place].outcome == Outcome::Unknown;
                self.committed[place] |= unknown;
            }
        }
    }

    fn see(&mut self) {
        let history = self.history;
        let unknown =
            |index: Index| history.transactions[index as usize].outcome == Outcome::Unknown;
        let mut places: HashMap<Key, Vec<(usize, Index)>> = HashMap::new();
        for (key, line) in &self.lines {
            let writers = line.writers.iter().enumerate();
            let found = writers.filter_map(|(place, writer)| Some((place, (*writer)?)));
            let found: Vec<_> = found.filter(|(_, writer)| unknown(*writer)).collect();
            if !found.is_empty() {
                places.insert(*key, found);
            }
        }
        let committed = |one: &&Transaction| one.outcome == Outcome::Committed;
        for transaction in history.transactions.iter().filter(committed) {
            for op in &transaction.ops {
                let Op::Read(key, values) = op else { continue };
                let shows = |(place, _): &&(usize, Index)| *place < values.len();
                for (_, writer) in places.get(key).into_iter().flatten().filter(shows) {
                    let seen = self.seen.entry(*writer).or_insert(u64::MAX);
                    *seen = transaction.end.min(*seen);
                }
            }
        }
    }

    /// From when on it is known that a transaction took effect; `None` where it did not.
    pub(crate) fn known(&self, index: Index) -> Option<u64> {
        let transaction = &self.history.transactions[index as usize];
        match transaction.outcome {
            Outcome::Committed => Some(transaction.end),
            Outcome::Unknown => self.seen.get(&index).copied(),
            Outcome::Aborted => None,
        }
    }

    /// Who appended the value.
    pub(crate) fn writer(&self, key: Key, value: Value) -> Option<Index> {
        self.writers.get(&(key, value)).copied()
    }

    /// The order of a list; empty where nobody read it.
    pub(crate) fn line(&self, key: Key) -> &Line {
        const NONE: &Line =
            &Line { values: Vec::new(), writers: Vec::new(), reader: 0, last_read: 0 };
        self.lines.get(&key).unwrap_or(NONE)
    }

    /// The operations of a transaction.
    pub(crate) fn ops(&self, index: Index) -> &'a [Op] {
        &self.history.transactions[index as usize].ops
    }

    /// The transactions that took effect.
    pub(crate) fn effective(&self) -> impl Iterator<Item = Index> + '_ {
        (0..).zip(&self.committed).filter(|(_, committed)| **committed).map(|(index, _)| index)
    }

    /// What a transaction read of lists it had not appended to yet: such a read is not mixed with its own changes. Only
    /// reads that fit the order of their list; the length says which version it was.
    pub(crate) fn plain_reads(&self, index: Index) -> Vec<(Key, usize)> {
        let mut found: Vec<(Key, usize)> = Vec::new();
        let mut own: Vec<Key> = Vec::new();
        for op in self.ops(index) {
            match op {
                Op::Append(key, _) => own.push(*key),
                Op::Read(key, values) => {
                    if !own.contains(key) && self.line(*key).values.starts_with(values) {
                        found.push((*key, values.len()));
                    }
                }
            }
        }
        found
    }
}
