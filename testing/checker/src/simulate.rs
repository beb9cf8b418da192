//! Histories made by databases that are right by construction, and what the checker says when they are made wrong.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::anomaly::Anomaly;
use crate::check::check;
use crate::history::{History, Key, Op, Outcome, Transaction, Value};
use crate::level::{Level, Order};

/// Numbers from a seed (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// One after the other.
    Serial,
    /// Snapshots, and the first to commit wins.
    FirstCommitter,
    /// Snapshots for plain reads; changes wait for a row's lock and take the newest.
    RowLocks,
    /// Each statement reads what is committed; changes as above.
    NewestCommitted,
}

struct Open {
    number: usize,
    snapshot: BTreeMap<Key, Vec<Value>>,
    own: BTreeMap<Key, Vec<Value>>,
    left: u64,
}

struct Database {
    rule: Rule,
    chance: Chance,
    clock: u64,
    value: u64,
    lists: BTreeMap<Key, Vec<Value>>,
    /// Lists that nobody uses any more.
    retired: BTreeMap<Key, Vec<Value>>,
    locks: HashMap<Key, usize>,
    history: Vec<Transaction>,
}

impl Database {
    /// A history of `count` transactions by five processes.
    fn history(rule: Rule, seed: u64, count: usize) -> History {
        let chance = Chance(seed * 7919 + 1);
        let mut database = Self {
            rule,
            chance,
            clock: 0,
            value: 0,
            lists: BTreeMap::new(),
            retired: BTreeMap::new(),
            locks: HashMap::new(),
            history: Vec::new(),
        };
        let mut open: Vec<Option<Open>> = (0..5).map(|_| None).collect();
        while database.history.len() < count || open.iter().any(Option::is_some) {
            let process = if rule == Rule::Serial {
                open.iter().position(Option::is_some).unwrap_or(0)
            } else {
                database.chance.below(5) as usize
            };
            open[process] = match open[process].take() {
                Some(open) => database.step(open),
                None if database.history.len() < count => Some(database.begin(process as u64)),
                None => None,
            };
        }
        let number = database.begin(9).number;
        let lists = database.retired.iter().chain(&database.lists);
        let lists = lists.map(|(key, values)| (*key, values.clone()));
        database.history[number].ops = lists.map(|(key, values)| Op::Read(key, values)).collect();
        database.end(number, Outcome::Committed);
        History { transactions: database.history }
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn begin(&mut self, process: u64) -> Open {
        let begin = self.tick();
        let used = self.lists.split_off(&Key((self.value / 60 * 3).saturating_sub(30)));
        self.retired.append(&mut std::mem::replace(&mut self.lists, used));
        let outcome = Outcome::Unknown;
        self.history.push(Transaction { process, begin, end: u64::MAX, outcome, ops: Vec::new() });
        Open {
            number: self.history.len() - 1,
            snapshot: self.lists.clone(),
            own: BTreeMap::new(),
            left: 1 + self.chance.below(4),
        }
    }

    fn end(&mut self, number: usize, outcome: Outcome) {
        let end = self.tick();
        self.locks.retain(|_, holder| *holder != number);
        let transaction = &mut self.history[number];
        (transaction.end, transaction.outcome) = (end, outcome);
    }

    fn step(&mut self, mut open: Open) -> Option<Open> {
        if open.left == 0 {
            self.commit(&open);
            return None;
        }
        open.left -= 1;
        // Keys fall out of use.
        let key = Key(self.value / 60 * 3 + self.chance.below(4));
        let op = if self.chance.below(2) == 0 {
            self.value += 1;
            let (value, number) = (Value(self.value), open.number);
            if self.rule != Rule::FirstCommitter
                && *self.locks.entry(key).or_insert(number) != number
            {
                // A deadlock is avoided by giving up at once.
                self.end(number, Outcome::Aborted);
                return None;
            }
            open.own.entry(key).or_default().push(value);
            Op::Append(key, value)
        } else {
            let newest = self.rule == Rule::NewestCommitted
                || (self.rule == Rule::RowLocks && open.own.contains_key(&key));
            let base = if newest { &self.lists } else { &open.snapshot };
            let mut values = base.get(&key).cloned().unwrap_or_default();
            values.extend(open.own.get(&key).into_iter().flatten());
            Op::Read(key, values)
        };
        self.history[open.number].ops.push(op);
        Some(open)
    }

    fn commit(&mut self, open: &Open) {
        let length = |lists: &BTreeMap<Key, Vec<Value>>, key| lists.get(key).map_or(0, Vec::len);
        let beaten = |key| length(&self.lists, key) != length(&open.snapshot, key);
        if self.rule == Rule::FirstCommitter && open.own.keys().any(beaten) {
            return self.end(open.number, Outcome::Aborted);
        }
        for (key, values) in &open.own {
            self.lists.entry(*key).or_default().extend(values);
        }
        // Some clients never hear of it.
        let lost = self.chance.below(20) == 0;
        self.end(open.number, if lost { Outcome::Unknown } else { Outcome::Committed });
        if lost {
            self.history[open.number].end = u64::MAX;
        }
    }
}

fn found(history: &History) -> BTreeSet<Anomaly> {
    check(history, Order::Time).counts.into_keys().collect()
}

#[test]
fn right_histories_pass_at_their_level() {
    let pairs = [
        (Rule::Serial, Level::Serializable),
        (Rule::FirstCommitter, Level::Snapshot),
        (Rule::RowLocks, Level::PlainSnapshot),
        (Rule::NewestCommitted, Level::ReadCommitted),
    ];
    for (rule, level) in pairs {
        for seed in 1..16 {
            let report = check(&Database::history(rule, seed, 300), Order::Time);
            assert!(!report.breaks(level), "{rule:?} {seed}: {:#?}", report.findings);
            assert!(report.committed > 100 && report.dependencies > 100, "{report:?}");
        }
    }
}

#[test]
fn each_rule_breaks_the_next_level() {
    let broken = |rule, level, expected| {
        let histories = (1..12).map(|seed| Database::history(rule, seed, 300));
        let reports: Vec<_> = histories.map(|history| check(&history, Order::Data)).collect();
        assert!(reports.iter().any(|report| report.breaks(level)), "{rule:?} at {level:?}");
        assert!(
            reports.iter().any(|report| report.counts.contains_key(&expected)),
            "{rule:?}: {expected}"
        );
    };
    broken(Rule::FirstCommitter, Level::Serializable, Anomaly::WriteSkew);
    broken(Rule::RowLocks, Level::Snapshot, Anomaly::LostUpdate);
    broken(Rule::RowLocks, Level::Snapshot, Anomaly::StaleWrite);
    broken(Rule::NewestCommitted, Level::PlainSnapshot, Anomaly::NonRepeatableRead);
    broken(Rule::NewestCommitted, Level::PlainSnapshot, Anomaly::TornRead);
    broken(Rule::NewestCommitted, Level::PlainSnapshot, Anomaly::ReadSkew);
}

/// One change to a history that shows in it; false where this one has no place for it.
type Mutation = fn(&mut History, &mut Chance) -> bool;

/// A committed read of some length that no longer read repeats as it is, so that it isn't what the order is taken from.
fn some_read(history: &History, chance: &mut Chance, least: usize) -> Option<(usize, usize)> {
    let mut found = Vec::new();
    for (at, transaction) in history.transactions.iter().enumerate() {
        let last = at + 1 == history.transactions.len();
        if last || transaction.outcome != Outcome::Committed {
            continue;
        }
        for (place, op) in transaction.ops.iter().enumerate() {
            if matches!(op, Op::Read(_, values) if values.len() >= least) {
                found.push((at, place));
            }
        }
    }
    (!found.is_empty()).then(|| found[chance.below(found.len() as u64) as usize])
}

fn values(history: &mut History, (at, place): (usize, usize)) -> &mut Vec<Value> {
    match &mut history.transactions[at].ops[place] {
        Op::Read(_, values) => values,
        Op::Append(..) => panic!("a read is expected"),
    }
}

fn repeat_an_element(history: &mut History, chance: &mut Chance) -> bool {
    let Some(read) = some_read(history, chance, 2) else { return false };
    let values = values(history, read);
    values.insert(0, values[0]);
    true
}

fn invent_an_element(history: &mut History, chance: &mut Chance) -> bool {
    let Some(read) = some_read(history, chance, 2) else { return false };
    values(history, read)[1] = Value(1 << 40);
    true
}

fn exchange_two_elements(history: &mut History, chance: &mut Chance) -> bool {
    let Some(read) = some_read(history, chance, 3) else { return false };
    values(history, read).swap(0, 1);
    true
}

fn undo_a_writer(history: &mut History, chance: &mut Chance) -> bool {
    let Some(read) = some_read(history, chance, 1) else { return false };
    let value = values(history, read)[0];
    let wrote = |t: &&mut Transaction| {
        t.ops.iter().any(|op| matches!(op, Op::Append(_, other) if *other == value))
    };
    let writer = history.transactions.iter_mut().find(wrote).expect("a writer");
    writer.outcome = Outcome::Aborted;
    true
}

fn forget_an_append(history: &mut History, chance: &mut Chance) -> bool {
    let last = history.transactions.len() - 1;
    let Op::Read(key, kept) = &history.transactions[last].ops[chance.below(3) as usize] else {
        return false;
    };
    let (key, gone) = (*key, kept[kept.len() - 1]);
    for op in history.transactions.iter_mut().flat_map(|t| &mut t.ops) {
        if let Op::Read(of, values) = op
            && *of == key
        {
            values.retain(|value| *value != gone);
        }
    }
    let wrote = |t: &Transaction| t.ops.contains(&Op::Append(key, gone));
    history.transactions.iter().any(|t| t.outcome == Outcome::Committed && wrote(t))
}

/// Somebody reads one list as it was before a transaction of which it sees a part.
fn tear_a_read(history: &mut History, _: &mut Chance) -> bool {
    for at in 0..history.transactions.len() {
        let pair: Vec<(Key, Value)> = history.transactions[at]
            .ops
            .iter()
            .filter_map(|op| match op {
                Op::Append(key, value) => Some((*key, *value)),
                Op::Read(..) => None,
            })
            .collect();
        let [(one, first), .., (other, second)] = pair[..] else { continue };
        if one == other || history.transactions[at].outcome != Outcome::Committed {
            continue;
        }
        let last = history.transactions.len() - 1;
        let mut ops = history.transactions[last].ops.clone();
        ops.retain(|op| matches!(op, Op::Read(key, _) if *key == one || *key == other));
        for op in &mut ops {
            if let Op::Read(key, values) = op {
                let cut = |value| values.iter().position(|seen| *seen == value);
                let kept = if *key == one { cut(first).map(|at| at + 1) } else { cut(second) };
                values.truncate(kept.expect("a committed value is in the last read"));
            }
        }
        let torn = Transaction { process: 77, ops, ..history.transactions[last].clone() };
        history.transactions.push(torn);
        return true;
    }
    false
}

fn stop_before_the_writers_last(history: &mut History, _: &mut Chance) -> bool {
    let last = history.transactions.len() - 1;
    for transaction in &history.transactions {
        let appends: Vec<_> =
            transaction.ops.iter().filter(|op| matches!(op, Op::Append(..))).collect();
        let [Op::Append(one, first), Op::Append(other, _)] = appends[..] else { continue };
        if one != other || transaction.outcome != Outcome::Committed {
            continue;
        }
        let mut read = history.transactions[last].clone();
        read.ops.retain(|op| matches!(op, Op::Read(key, _) if key == one));
        if let Some(Op::Read(_, values)) = read.ops.first_mut() {
            let place = values.iter().position(|value| value == first).expect("there");
            values.truncate(place + 1);
        }
        history.transactions.push(read);
        return true;
    }
    false
}

#[test]
fn one_change_is_found_out() {
    let mutations: [(Mutation, Anomaly); 7] = [
        (repeat_an_element, Anomaly::Duplicate),
        (invent_an_element, Anomaly::ThinAir),
        (exchange_two_elements, Anomaly::IncompatibleOrders),
        (undo_a_writer, Anomaly::AbortedRead),
        (forget_an_append, Anomaly::LostAppend),
        (tear_a_read, Anomaly::TornRead),
        (stop_before_the_writers_last, Anomaly::IntermediateRead),
    ];
    for rule in [Rule::Serial, Rule::FirstCommitter] {
        for (mutate, expected) in mutations {
            let mut tried = 0;
            for seed in 1..16 {
                let mut history = Database::history(rule, seed, 300);
                if mutate(&mut history, &mut Chance(seed)) {
                    tried += 1;
                    let found = found(&history);
                    assert!(found.contains(&expected), "{rule:?} {seed}: {expected}: {found:?}");
                }
            }
            assert!(tried > 4, "{expected}: {tried}");
        }
    }
}

#[test]
fn a_long_history_is_judged() {
    let history = Database::history(Rule::FirstCommitter, 3, 20_000);
    let report = check(&history, Order::Time);
    assert!(!report.breaks(Level::Snapshot), "{:#?}", report.findings);
    assert!(report.breaks(Level::Serializable));
}
