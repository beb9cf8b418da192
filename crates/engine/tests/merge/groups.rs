//! Groups and aggregates.

use pando_engine::merge::{Limits, Merge};
use pando_kernel::column::Columns;
use pando_kernel::error::ErrorKind;
use pando_kernel::merge::{
    Aggregate, AggregateFunction, DistinctOf, Group, KeyCompare, MergePlan, Position,
};
use pando_kernel::value::{Kind, Value};

use crate::support::*;

pub(crate) fn aggregate(output: usize, function: AggregateFunction) -> Aggregate {
    Aggregate { output: Position::Index(output), function }
}

pub(crate) fn by_result() -> KeyCompare {
    KeyCompare::ByResult { weights: None }
}

/// One group over all rows, which has this one aggregate in column 0.
fn whole(function: AggregateFunction, derived: usize) -> MergePlan {
    let group = Group {
        keys: vec![],
        sorted: true,
        aggregates: vec![aggregate(0, function)],
        then_order: vec![],
    };
    MergePlan { derived, group: Some(group), single_row: true, ..MergePlan::iterate() }
}

fn check(function: AggregateFunction, kind: Kind, partial: &[Value], expected: Value) {
    let columns = columns(&[kind]);
    let streams: Vec<Vec<Record>> = partial.iter().map(|value| vec![vec![value.clone()]]).collect();
    let shown = format!("{function:?} of {partial:?}");
    let records = merged(&whole(function, 0), inputs(&columns, &streams)).unwrap();
    assert_eq!(records, [vec![expected]], "{shown}");
}

#[test]
fn partial_results_combine() {
    use AggregateFunction::{Count, Max, Min, Sum};
    let (least, most) = (|| Min(by_result()), || Max(by_result()));
    check(Count, Kind::Int, &[int(2), int(0), int(5)], int(7));
    check(Sum, Kind::Int, &[int(2), Value::Null, int(-5)], int(-3));
    check(Sum, Kind::Int, &[Value::Null, Value::Null], Value::Null);
    check(Sum, Kind::UInt, &[Value::UInt(u64::MAX - 1), Value::UInt(1)], Value::UInt(u64::MAX));
    check(Sum, Kind::Decimal, &[decimal("1.10"), decimal("2.9")], decimal("4.00"));
    check(Sum, Kind::Decimal, &[int(i64::MAX), int(i64::MAX)], decimal("18446744073709551614"));
    check(Sum, Kind::Float, &[Value::Float(0.5), Value::Float(0.25)], Value::Float(0.75));
    check(Sum, Kind::Other, &[int(1), int(2)], int(3));
    check(Sum, Kind::Other, &[int(1), Value::Float(0.5)], Value::Float(1.5));
    check(least(), Kind::Text, &[text("b"), Value::Null, text("a")], text("a"));
    check(most(), Kind::Text, &[text("b"), Value::Null, text("a")], text("b"));
    check(least(), Kind::Decimal, &[decimal("10"), decimal("9.5")], decimal("9.5"));
    check(most(), Kind::Date, &[text("0044-03-15 BC"), text("0001-01-01")], text("0001-01-01"));
    check(most(), Kind::Int, &[Value::Null, Value::Null], Value::Null);
}

#[test]
fn a_result_that_does_not_fit_or_is_no_number_is_an_error() {
    let sum = |kind, values: &[Value]| {
        let streams: Vec<Vec<Record>> =
            values.iter().map(|value| vec![vec![value.clone()]]).collect();
        merged(&whole(AggregateFunction::Sum, 0), inputs(&columns(&[kind]), &streams)).unwrap_err()
    };
    let too_large = sum(Kind::Int, &[int(i64::MAX), int(1)]);
    assert!(matches!(too_large.kind(), ErrorKind::Value(_)), "{too_large}");
    let no_number = sum(Kind::Other, &[text("1 day"), text("2 days")]);
    assert!(matches!(no_number.kind(), ErrorKind::Value(_)), "{no_number}");
}

fn average(column: Columns, sums: &[(Value, i64)]) -> Record {
    let mut columns = columns(&[Kind::Other, Kind::Decimal, Kind::Int]);
    std::sync::Arc::make_mut(&mut columns.list)[0] = column.list[0].clone();
    let (sum, count) = (Position::Derived(0), Position::Derived(1));
    let row = |(sum, count): &(Value, i64)| vec![vec![Value::Null, sum.clone(), int(*count)]];
    let streams: Vec<Vec<Record>> = sums.iter().map(row).collect();
    let plan = whole(AggregateFunction::Average { sum, count }, 2);
    merged(&plan, inputs(&columns, &streams)).unwrap().remove(0)
}

#[test]
fn averages_have_the_digits_of_their_column() {
    let sums = [(int(5), 2), (Value::Null, 0), (int(5), 1)];
    assert_eq!(average(columns(&[Kind::Decimal]), &sums), [decimal("3.3333333333333333")]);
    let mut fixed = columns(&[Kind::Decimal]);
    std::sync::Arc::make_mut(&mut fixed.list)[0].native.decimals = 4;
    assert_eq!(average(fixed, &sums), [decimal("3.3333")]);
    assert_eq!(average(columns(&[Kind::Float]), &sums), [Value::Float(10.0 / 3.0)]);
    assert_eq!(average(columns(&[Kind::Decimal]), &[(Value::Null, 0)]), [Value::Null]);
}

#[test]
fn no_rows_at_all_still_make_one_row_when_there_is_no_group_by() {
    let columns = columns(&[Kind::Int, Kind::Int, Kind::Decimal, Kind::Text, Kind::Int, Kind::Int]);
    let aggregates = vec![
        aggregate(0, AggregateFunction::Count),
        aggregate(1, AggregateFunction::Distinct { values: at(5), of: DistinctOf::Count }),
        aggregate(2, AggregateFunction::Sum),
        aggregate(3, AggregateFunction::Min(by_result())),
    ];
    for sorted in [true, false] {
        let group =
            Group { keys: vec![], sorted, aggregates: aggregates.clone(), then_order: vec![] };
        let plan = MergePlan { derived: 1, group: Some(group), ..MergePlan::iterate() };
        let records = merged(&plan, inputs(&columns, &[vec![], vec![]])).unwrap();
        assert_eq!(records, [vec![int(0), int(0), Value::Null, Value::Null, Value::Null]]);
    }
    let group = Group { keys: vec![at(4)], sorted: true, aggregates, then_order: vec![] };
    let plan = MergePlan { derived: 1, group: Some(group), ..MergePlan::iterate() };
    assert!(merged(&plan, inputs(&columns, &[vec![], vec![]])).unwrap().is_empty());
}

/// Rows (name, count) as in the paper's figure 7.
fn scores() -> (Columns, [Vec<Record>; 3]) {
    let row = |name: &str, score| vec![text(name), int(score)];
    let streams = [
        vec![row("Jerry", 88), row("Tom", 10)],
        vec![row("Jerry", 90), row("Lily", 30)],
        vec![row("Jerry", 7), row("Lily", 20), row("Tony", 5)],
    ];
    (columns(&[Kind::Text, Kind::Int]), streams)
}

fn scored(sorted: bool, then_order: Vec<pando_kernel::merge::SortKey>) -> MergePlan {
    let aggregates = vec![aggregate(1, AggregateFunction::Sum)];
    let group = Group { keys: vec![at(0)], sorted, aggregates, then_order };
    MergePlan { group: Some(group), ..MergePlan::iterate() }
}

#[test]
fn sorted_groups_close_one_by_one_and_need_no_memory_for_all() {
    let (columns, streams) = scores();
    let plan = MergePlan { order: vec![at(0)], ..scored(true, vec![]) };
    // More than one group, less than all of them.
    let limits = Limits { memory_bytes: 600 };
    let merge = Merge::new(&plan, inputs(&columns, &streams), &Plain, limits).unwrap();
    let expected = [("Jerry", 185), ("Lily", 50), ("Tom", 10), ("Tony", 5)]
        .map(|(n, s)| vec![text(n), int(s)]);
    assert_eq!(drain(merge).unwrap(), expected);
    let merge = Merge::new(&scored(false, vec![]), inputs(&columns, &streams), &Plain, limits);
    let error = drain(merge.unwrap()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Memory(_)), "{error}");
}

#[test]
fn groups_in_memory_come_in_the_order_asked_for_or_of_their_first_rows() {
    let (columns, streams) = scores();
    let names = |plan: &MergePlan| -> Vec<Value> {
        let records = merged(plan, inputs(&columns, &streams)).unwrap();
        records.into_iter().map(|mut record| record.remove(0)).collect()
    };
    let expected = |names: [&str; 4]| names.map(text).to_vec();
    assert_eq!(names(&scored(false, vec![])), expected(["Jerry", "Tom", "Lily", "Tony"]));
    for sorted in [true, false] {
        assert_eq!(
            names(&scored(sorted, vec![desc(1)])),
            expected(["Jerry", "Lily", "Tom", "Tony"])
        );
    }
    let by_order = MergePlan { order: vec![desc(0)], ..scored(false, vec![]) };
    assert_eq!(names(&by_order), expected(["Tony", "Tom", "Lily", "Jerry"]));
    let limited = MergePlan { offset: 1, limit: Some(2), ..scored(false, vec![at(1)]) };
    assert_eq!(names(&limited), [text("Tom"), text("Lily")]);
}

#[test]
fn a_group_that_its_order_tears_apart_is_put_together_again() {
    // Sorted by (score, name), grouped by name: equal names are not neighbours.
    let columns = columns(&[Kind::Text, Kind::Int, Kind::Int]);
    let row = |name: &str, score| vec![text(name), int(score), int(1)];
    let streams = [vec![row("a", 1), row("b", 2)], vec![row("b", 1), row("a", 3)]];
    let aggregates = vec![aggregate(2, AggregateFunction::Count)];
    let group = Group { keys: vec![at(0)], sorted: true, aggregates, then_order: vec![] };
    let plan = MergePlan { order: vec![at(1), at(0)], group: Some(group), ..MergePlan::iterate() };
    let records = merged(&plan, inputs(&columns, &streams)).unwrap();
    assert_eq!(records, [vec![text("a"), int(1), int(2)], vec![text("b"), int(2), int(2)]]);
}

#[test]
fn distinct_values_are_counted_once_and_need_no_memory_when_they_come_sorted() {
    let mut columns = columns(&[Kind::Text, Kind::Int, Kind::Text]);
    std::sync::Arc::make_mut(&mut columns.list)[1].native.type_id = 20;
    let row = |value: Option<&str>| vec![text("g"), int(1), value.map_or(Value::Null, text)];
    let stream = |values: &[&str]| {
        let mut rows = vec![row(None)];
        rows.extend(values.iter().map(|value| row(Some(value))));
        rows
    };
    let streams = [stream(&["a", "b", "c"]), stream(&["b", "c", "d"]), stream(&["a", "d"])];
    let function = AggregateFunction::Distinct { values: at(2), of: DistinctOf::Count };
    let group = |keys| Group {
        keys,
        sorted: true,
        aggregates: vec![aggregate(1, function.clone())],
        then_order: vec![],
    };
    let run = |keys, order, memory_bytes| {
        let plan =
            MergePlan { derived: 1, order, group: Some(group(keys)), ..MergePlan::iterate() };
        let limits = Limits { memory_bytes };
        drain(Merge::new(&plan, inputs(&columns, &streams), &Plain, limits).unwrap())
    };
    let expected = [vec![text("g"), int(4)]];
    assert_eq!(run(vec![at(0)], vec![at(0)], 4096).unwrap(), expected);
    assert_eq!(run(vec![], vec![at(2)], 700).unwrap(), expected);
    assert_eq!(run(vec![at(0)], vec![at(0), at(2)], 700).unwrap(), expected);
    assert!(run(vec![at(0)], vec![at(0)], 500).is_err());
}

#[test]
fn a_count_of_distinct_text_gives_a_column_of_numbers() {
    let columns = columns(&[Kind::Text]);
    let function = AggregateFunction::Distinct { values: at(0), of: DistinctOf::Count };
    let streams = [vec![vec![text("a")]], vec![vec![text("a")], vec![text("b")]]];
    let merge = start(&whole(function, 0), inputs(&columns, &streams)).unwrap();
    assert_eq!(merge.columns().list[0].kind, Kind::Int);
    assert_eq!(drain(merge).unwrap(), [vec![int(2)]]);
}

#[test]
fn sums_and_averages_of_distinct_values_take_equal_numbers_once() {
    let columns = columns(&[Kind::Decimal]);
    let values = |values: &[&str]| values.iter().map(|v| vec![decimal(v)]).collect::<Vec<_>>();
    let streams = [values(&["1.0", "2.5"]), values(&["1.00", "4"]), vec![vec![Value::Null]]];
    for (of, expected) in [
        (DistinctOf::Sum, decimal("7.5")),
        (DistinctOf::Average, decimal("2.5000000000000000")),
        (DistinctOf::Count, decimal("3")),
    ] {
        let plan = whole(AggregateFunction::Distinct { values: at(0), of }, 0);
        assert_eq!(merged(&plan, inputs(&columns, &streams)).unwrap(), [vec![expected]], "{of:?}");
    }
}

#[test]
fn groups_can_be_made_distinct_sorted_and_limited_together() {
    // SELECT DISTINCT SUM(score) FROM … GROUP BY name ORDER BY SUM(score) DESC LIMIT 1, 2
    let columns = columns(&[Kind::Int, Kind::Text]);
    let row = |name: &str, score| vec![int(score), text(name)];
    let streams = [
        vec![row("a", 1), row("b", 5), row("c", 2), row("d", 9)],
        vec![row("a", 4), row("c", 3), row("e", 1)],
    ];
    let group = Group {
        keys: vec![asc(Position::Derived(0))],
        sorted: true,
        aggregates: vec![aggregate(0, AggregateFunction::Sum)],
        then_order: vec![desc(0)],
    };
    let plan = MergePlan {
        derived: 1,
        group: Some(group),
        distinct: Some(vec![at(0)]),
        offset: 1,
        limit: Some(2),
        ..MergePlan::iterate()
    };
    assert_eq!(merged(&plan, inputs(&columns, &streams)).unwrap(), ints(&[5, 1]));
}

#[test]
fn a_long_group_lets_other_tasks_have_a_turn_and_goes_on() {
    let columns = columns(&[Kind::Int]);
    let records = ints(&[1; 40_000]);
    let stream = vec![input(&columns, &records, records.len(), 0)];
    let plan = whole(AggregateFunction::Sum, 0);
    let mut merge = start(&plan, stream).unwrap();
    let mut turns = 0;
    let waker = std::task::Waker::noop();
    while merge.poll_rows(&mut std::task::Context::from_waker(waker)).is_pending() {
        turns += 1;
    }
    assert!(turns > 1, "the merge kept its thread for {} rows", records.len());
    let stream = vec![input(&columns, &records, records.len(), 0)];
    assert_eq!(merged(&plan, stream).unwrap(), ints(&[40_000]));
}
