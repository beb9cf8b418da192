//! Rows that are filtered and sorted in memory, whatever order they come in.

use pando_engine::merge::{Limits, Merge};
use pando_kernel::dialect::Compare;
use pando_kernel::error::ErrorKind;
use pando_kernel::merge::{Condition, MergePlan, Operand, Position, Relation};
use pando_kernel::value::{Kind, Value};

use crate::support::*;

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn compared(is: Relation, with: Value) -> Condition {
    let column = Position::Index(0);
    Condition::Compared { column, compare: Compare::Number, is, with: Operand::Constant(with) }
}

/// Which of -1, 0, 1 and NULL pass.
fn passing(filter: Condition) -> Vec<Value> {
    let columns = columns(&[Kind::Int]);
    let rows: Vec<Record> =
        vec![vec![Value::Int(-1)], vec![Value::Int(0)], vec![Value::Int(1)], vec![Value::Null]];
    let plan = MergePlan { filter: Some(filter), ..MergePlan::iterate() };
    let merge = start(&plan, inputs(&columns, &[rows])).unwrap();
    drain(merge).unwrap().into_iter().flatten().collect()
}

#[test]
fn conditions_know_three_values() {
    use Relation::*;
    let not = |condition| Condition::Not(Box::new(condition));
    let zero = |is| compared(is, Value::Int(0));
    let null = |is| compared(is, Value::Null);
    let [minus, nought, one] = [-1, 0, 1].map(Value::Int);
    for (filter, expected) in [
        (zero(Less), vec![minus.clone()]),
        (not(zero(Less)), vec![nought.clone(), one.clone()]),
        (zero(GreaterOrEqual), vec![nought.clone(), one.clone()]),
        (null(Equal), vec![]),
        (not(null(Equal)), vec![]),
        (null(Same), vec![Value::Null]),
        (not(zero(Same)), vec![minus.clone(), one.clone(), Value::Null]),
        (Condition::Any(vec![null(Equal), zero(Equal)]), vec![nought.clone()]),
        (not(Condition::All(vec![null(Equal), zero(Equal)])), vec![minus.clone(), one.clone()]),
        (Condition::Said(Position::Index(0)), vec![minus, one]),
    ] {
        assert_eq!(passing(filter.clone()), expected, "{filter:?}");
    }
}

#[test]
fn texts_are_like_patterns_letter_by_letter() {
    let columns = columns(&[Kind::Text]);
    let rows: Vec<Record> = ["ab", "aB", "äb", "b", ""].map(|one| vec![text(one)]).into();
    for (pattern, expected) in [
        (Some("_b"), vec!["ab", "äb"]),
        (Some("%"), vec!["ab", "aB", "äb", "b", ""]),
        (None, vec![]),
    ] {
        let filter =
            Condition::Like { column: Position::Index(0), pattern: pattern.map(Into::into) };
        let plan = MergePlan { filter: Some(filter), ..MergePlan::iterate() };
        let given =
            drain(start(&plan, inputs(&columns, std::slice::from_ref(&rows))).unwrap()).unwrap();
        let expected: Vec<Record> = expected.into_iter().map(|one| vec![text(one)]).collect();
        assert_eq!(given, expected, "{pattern:?}");
    }
}

#[test]
fn rows_are_sorted_in_memory_and_cut_after_that() {
    let columns = columns(&[Kind::Int, Kind::Int]);
    // More than one run, each of which may keep three rows alone.
    let row = |n: i64| vec![Value::Int(n % 1_000), Value::Int(n)];
    let all: Vec<Record> = (0..20_000).rev().map(row).collect();
    let plan =
        MergePlan { sort: vec![desc(0), at(1)], offset: 1, limit: Some(2), ..MergePlan::iterate() };
    // Less than all rows take, and more than one run.
    let limits = Limits { memory_bytes: 3 << 20 };
    let input = || inputs(&columns, std::slice::from_ref(&all));
    let merge = Merge::new(&plan, input(), &Plain, limits).unwrap();
    assert_eq!(drain(merge).unwrap(), [row(1_999), row(2_999)]);
    let whole = MergePlan { sort: vec![at(1)], ..MergePlan::iterate() };
    let given = drain(Merge::new(&whole, input(), &Plain, limits).unwrap());
    assert!(matches!(given.unwrap_err().kind(), ErrorKind::Memory(_)), "all rows are too many");
    let limits = Limits { memory_bytes: 64 << 20 };
    let merge = Merge::new(&whole, inputs(&columns, &[all]), &Plain, limits).unwrap();
    assert_eq!(drain(merge).unwrap(), (0..20_000).map(row).collect::<Vec<_>>());
}

#[test]
fn equal_rows_are_dropped_behind_the_sort() {
    let columns = columns(&[Kind::Int]);
    let plan = MergePlan {
        sort: vec![at(0)],
        distinct: Some(vec![at(0)]),
        limit: Some(2),
        ..MergePlan::iterate()
    };
    let merge = start(&plan, inputs(&columns, &[ints(&[3, 1, 1]), ints(&[2, 1])])).unwrap();
    assert_eq!(drain(merge).unwrap(), ints(&[1, 2]));
}
