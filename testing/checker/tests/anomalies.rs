//! Each anomaly by its smallest history.
#![allow(clippy::expect_used)]

use pando_checker::{Anomaly, History, Key, Level, Op, Order, Outcome, Transaction, Value, check};

/// `a1=5`: appended 5 to list 1; `r1=2,5`: read it so; `r1=`: found it empty. A word `!` means undone, `?` of unknown end. Each
/// transaction's process and times follow from its place, all of them at once unless the first word is `then`.
fn history(texts: &[&str]) -> History {
    let mut now = 0;
    let mut transactions = Vec::new();
    for (process, text) in (0..).zip(texts) {
        now += 10;
        let mut transaction = Transaction {
            process,
            begin: 0,
            end: 1_000 + now,
            outcome: Outcome::Committed,
            ops: Vec::new(),
        };
        for word in text.split_whitespace() {
            match word {
                "!" => transaction.outcome = Outcome::Aborted,
                "?" => (transaction.outcome, transaction.end) = (Outcome::Unknown, u64::MAX),
                "then" => (transaction.begin, transaction.end) = (2_000 + now, 2_005 + now),
                word => transaction.ops.push(op(word)),
            }
        }
        transactions.push(transaction);
    }
    History { transactions }
}

fn op(word: &str) -> Op {
    let (what, values) = word.split_once('=').expect("an operation");
    let (verb, key) = what.split_at(1);
    let number = |text: &str| text.parse().expect("a number");
    let key = Key(number(key));
    if verb == "a" {
        return Op::Append(key, Value(number(values)));
    }
    let values = values.split(',').filter(|value| !value.is_empty());
    Op::Read(key, values.map(|value| Value(number(value))).collect())
}

/// What is found, and at which levels the history may not be.
fn expect(texts: &[&str], anomalies: &[Anomaly], first_forbidden: Option<Level>) {
    let report = check(&history(texts), Order::Data);
    let found: Vec<Anomaly> = report.counts.keys().copied().collect();
    assert_eq!(found, anomalies, "{texts:?}: {:#?}", report.findings);
    let mut broken = false;
    for (name, level) in Level::NAMES {
        broken |= Some(level) == first_forbidden;
        assert_eq!(report.breaks(level), broken, "{texts:?} at {name}");
    }
}

#[test]
fn a_right_history_shows_nothing() {
    expect(&["a1=1 a2=2", "r1=1 a1=3 r1=1,3", "a3=9 !", "r1=1,3 r2=2 r3="], &[], None);
    expect(&["a1=1 ?", "a2=2 ?", "r1=1 r2="], &[], None);
}

#[test]
fn values_of_nobody_and_values_twice() {
    let lowest = Some(Level::ReadCommitted);
    expect(&["a1=1", "r1=1,7"], &[Anomaly::ThinAir], lowest);
    expect(&["a1=1", "r1=1,1"], &[Anomaly::Duplicate], lowest);
    expect(&["a1=1", "a1=2", "r1=1,2", "r1=2"], &[Anomaly::IncompatibleOrders], lowest);
    expect(&["a1=1", "a1=2", "then r1=1"], &[Anomaly::LostAppend], lowest);
    expect(&["a1=1 r1=", "r1=1"], &[Anomaly::OwnWriteUnseen], lowest);
}

#[test]
fn who_never_heard_of_its_commit_and_was_seen_is_there_whole() {
    let lowest = Some(Level::ReadCommitted);
    expect(&["a1=1 a2=2 ?", "r1=1", "then r2="], &[Anomaly::LostAppend], lowest);
    expect(&["a1=1 a2=2 ?", "then r1=1", "then r2=2"], &[], None);
    // Nobody can tell that it was committed, or that the rest was not on its way yet.
    expect(&["a1=1 a2=2 ?", "then r1=", "then r2="], &[], None);
    expect(&["a1=1 a2=2 ?", "r1=1", "r2="], &[], None);
}

#[test]
fn dirty_reads() {
    let lowest = Some(Level::ReadCommitted);
    expect(&["a1=1 !", "r1=1"], &[Anomaly::AbortedRead], lowest);
    expect(
        &["a1=1 a1=2", "r1=1", "r1=1,2"],
        &[Anomaly::IntermediateRead, Anomaly::ReadSkew],
        lowest,
    );
}

#[test]
fn dirty_writes_are_a_circle_of_writes() {
    expect(
        &["a1=1 a2=2", "a1=3 a2=4", "r1=1,3", "r2=4,2"],
        &[Anomaly::DirtyWrite],
        Some(Level::ReadCommitted),
    );
}

#[test]
fn circular_flow_needs_two_who_read_each_other() {
    expect(&["a1=1 r2=2", "a2=2 r1=1"], &[Anomaly::CircularFlow], Some(Level::ReadCommitted));
}

#[test]
fn snapshots_are_whole() {
    let snapshots = Some(Level::PlainSnapshot);
    expect(&["a1=1 a2=2", "r1=1 r2=", "r2=2"], &[Anomaly::TornRead, Anomaly::ReadSkew], snapshots);
    expect(&["a1=1", "r1=1 a2=2", "r2=2 r1="], &[Anomaly::ReadSkew], snapshots);
    expect(&["a1=1", "r1= r1=1"], &[Anomaly::NonRepeatableRead, Anomaly::ReadSkew], snapshots);
    expect(&["a1=1", "a2=2", "r1=1 r2=", "r1= r2=2"], &[Anomaly::LongFork], snapshots);
}

#[test]
fn mysql_may_change_what_its_snapshot_does_not_show() {
    let writes = Some(Level::Snapshot);
    expect(&["r1= a1=1", "r1= a1=2", "r1=1,2"], &[Anomaly::LostUpdate], writes);
    expect(&["a1=1 a2=2", "r1= a2=3", "r1=1", "r2=2,3"], &[Anomaly::StaleWrite], writes);
    // A read of one's own row shows what others did to it meanwhile.
    expect(&["a1=1 a2=2", "r2= a1=3 r1=1,3", "r2=2"], &[Anomaly::StaleWrite], writes);
    expect(
        &["a1=1 a2=2", "r3= a2=3", "a3=4 a4=5", "r1= a4=6", "r1=1", "r2=2,3", "r3=4", "r4=5,6"],
        &[Anomaly::NonAdjacent],
        writes,
    );
}

#[test]
fn write_skew_is_left_to_serializable() {
    expect(
        &["r1= a2=2", "r2= a1=1", "r1=1 r2=2"],
        &[Anomaly::WriteSkew],
        Some(Level::Serializable),
    );
}

#[test]
fn what_was_told_before_must_be_seen_if_time_counts() {
    let told = history(&["a1=1", "then r1=", "r1=1"]);
    assert!(check(&told, Order::Data).counts.is_empty());
    assert!(check(&told, Order::Process).counts.is_empty());
    let report = check(&told, Order::Time);
    assert_eq!(report.counts.into_keys().collect::<Vec<_>>(), [Anomaly::StaleRead]);
    let witness = &report.findings[0].witness;
    assert!(witness.contains("T1 (process 0) had ended before T2 (process 1) began"), "{witness}");
    let mut same = told;
    same.transactions[1].process = 0;
    assert!(check(&same, Order::Process).counts.contains_key(&Anomaly::StaleRead));
}

#[test]
fn a_witness_names_the_transactions_and_what_they_saw() {
    let report = check(&history(&["a1=1 a2=2", "r1=1 r2=", "r2=2"]), Order::Data);
    let torn = "T2 (process 1) read list 1 with 1 of T1 (process 0), and list 2 without 2, which that transaction appended, too";
    assert_eq!(report.findings[0].witness, torn);
}
