//! Long merges let other tasks have their turns.

use std::task::{Context, Poll, Waker};

use pando_engine::merge::{Limits, Merge};
use pando_kernel::merge::{AggregateFunction, Group, MergePlan};
use pando_kernel::value::Kind;

use crate::groups::aggregate;
use crate::support::*;

/// A merge that counts one column by the other, in a hash table, sorted by the count and then downwards by the group.
fn counted() -> MergePlan {
    let group = Group {
        keys: vec![asc(pando_kernel::merge::Position::Index(0))],
        sorted: false,
        aggregates: vec![aggregate(1, AggregateFunction::Count)],
        then_order: vec![at(1), desc(0)],
    };
    MergePlan { group: Some(group), ..MergePlan::iterate() }
}

/// Turns that others get until the merge gives its first chunk, and all records.
fn turns(plan: &MergePlan, kinds: &[Kind], records: &[Record]) -> (usize, Vec<Record>) {
    let columns = columns(kinds);
    let inputs = vec![input(&columns, records, records.len(), 0)];
    let mut merge = Merge::new(plan, inputs, &Plain, Limits { memory_bytes: 1 << 30 }).unwrap();
    let mut turns = 0;
    loop {
        match merge.poll_rows(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => turns += 1,
            Poll::Ready(first) => {
                let mut all = decode(merge.columns(), &first.unwrap().unwrap());
                all.extend(drain(merge).unwrap());
                return (turns, all);
            }
        }
    }
}

#[test]
fn many_groups_are_closed_and_sorted_in_turns() {
    let count = 60_000;
    let scattered = |n: i64| n * 7919 % count;
    let records: Vec<Record> =
        (0..count).map(|n| vec![int(scattered(n)), int(scattered(n) / 1000)]).collect();
    let (turns, all) = turns(&counted(), &[Kind::Int, Kind::Int], &records);
    let mut expected = records;
    expected.sort_by_key(|record| match record[..] {
        [pando_kernel::Value::Int(group), pando_kernel::Value::Int(count)] => (count, -group),
        _ => panic!("two numbers"),
    });
    assert_eq!(all, expected);
    assert!(turns >= 20, "{turns} turns for {count} rows taken in and as many groups given out");
}

#[test]
fn wide_rows_end_a_turn_sooner() {
    let wide = "x".repeat(256 << 10);
    let records: Vec<Record> = (0..64).map(|_| vec![text(&wide), int(1)]).collect();
    let (turns, all) = turns(&counted(), &[Kind::Text, Kind::Int], &records);
    assert_eq!(all.len(), 1);
    assert!(turns >= 4, "{turns} turns for 16 MiB of rows");
}
