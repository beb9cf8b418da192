//! Random rows split over streams: the merged result is what the same computation over all rows gives.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bigdecimal::{BigDecimal, RoundingMode};
use pando_engine::merge::Input;
use pando_kernel::column::Columns;
use pando_kernel::merge::{AggregateFunction, DistinctOf, Group, MergePlan, Position, SortKey};
use pando_kernel::row::NeutralCodec;
use pando_kernel::value::{Kind, Value};
use proptest::prelude::*;

use crate::groups::{aggregate, by_result};
use crate::support::*;

/// A row of a table: two possible group items and a value.
#[derive(Debug, Clone)]
struct Line {
    group: Option<i64>,
    name: Option<String>,
    amount: Option<BigDecimal>,
}

fn line() -> impl Strategy<Value = Line> {
    let amount =
        (-2000i64..2000, 0i64..4).prop_map(|(digits, scale)| BigDecimal::new(digits.into(), scale));
    (
        proptest::option::weighted(0.85, -3i64..4),
        proptest::option::weighted(0.85, "[aAb]{0,2}"),
        proptest::option::weighted(0.8, amount),
    )
        .prop_map(|(group, name, amount)| Line { group, name, amount })
}

/// How rows come: by stream, in chunks, with waits, and some streams in another form.
#[derive(Debug, Clone)]
struct Split {
    streams: Vec<Vec<Line>>,
    chunk: usize,
    waits: u64,
    mirrored: u8,
}

fn split() -> impl Strategy<Value = Split> {
    (
        proptest::collection::vec(proptest::collection::vec(line(), 0..25), 1..8),
        1usize..6,
        any::<u64>(),
        any::<u8>(),
    )
        .prop_map(|(streams, chunk, waits, mirrored)| Split {
            streams,
            chunk,
            waits,
            mirrored,
        })
}

impl Split {
    fn inputs(
        &self,
        streams: &[Vec<Record>],
        kinds: &[Kind],
        average: Option<usize>,
    ) -> Vec<Input<Script>> {
        let columns = |at: usize| -> Columns {
            let mut columns = if self.mirrored >> at & 1 == 1 {
                columns_in(Arc::new(Mirrored), kinds)
            } else {
                columns_in(Arc::new(NeutralCodec), kinds)
            };
            if let Some(at) = average {
                Arc::make_mut(&mut columns.list)[at].native.decimals = 4;
            }
            columns
        };
        let streams = streams.iter().enumerate();
        streams
            .map(|(at, records)| {
                input(&columns(at), records, self.chunk, self.waits.rotate_left(at as u32))
            })
            .collect()
    }
}

fn value<T>(value: Option<T>, make: impl Fn(T) -> Value) -> Value {
    value.map_or(Value::Null, make)
}

const KINDS: [Kind; 3] = [Kind::Int, Kind::Text, Kind::Decimal];

fn record(line: &Line) -> Record {
    vec![
        value(line.group, Value::Int),
        value(line.name.clone(), Value::Text),
        value(line.amount.clone(), Value::Decimal),
    ]
}

/// The order of two values as the keys ask for it, computed without the merge.
fn compare(keys: &[SortKey], a: &Record, b: &Record) -> Ordering {
    for key in keys {
        let Position::Index(at) = key.position else { panic!("only plain positions here") };
        let order = match (&a[at], &b[at]) {
            (Value::Null, Value::Null) => Ordering::Equal,
            (Value::Null, _) if key.nulls_first => Ordering::Less,
            (Value::Null, _) => Ordering::Greater,
            (_, Value::Null) if key.nulls_first => Ordering::Greater,
            (_, Value::Null) => Ordering::Less,
            (a, b) => {
                let order = match (a, b) {
                    (Value::Int(a), Value::Int(b)) => a.cmp(b),
                    (Value::Text(a), Value::Text(b)) => a.cmp(b),
                    (Value::Decimal(a), Value::Decimal(b)) => a.cmp(b),
                    _ => panic!("mixed kinds"),
                };
                if key.descending { order.reverse() } else { order }
            }
        };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

fn keys() -> impl Strategy<Value = Vec<SortKey>> {
    let key = (0usize..3, any::<bool>(), any::<bool>());
    proptest::collection::vec(key, 1..4).prop_map(|keys| {
        keys.into_iter()
            .map(|(column, descending, nulls_first)| SortKey {
                descending,
                nulls_first,
                ..at(column)
            })
            .collect()
    })
}

fn window(records: Vec<Record>, offset: u64, limit: Option<u64>) -> Vec<Record> {
    let rest = records.into_iter().skip(offset as usize);
    rest.take(limit.map_or(usize::MAX, |limit| limit as usize)).collect()
}

fn dedup(records: Vec<Record>, columns: &[usize]) -> Vec<Record> {
    let mut seen = BTreeSet::new();
    let shown = |value: &Value| match value {
        Value::Decimal(number) => number.normalized().to_string(),
        other => format!("{other:?}"),
    };
    records
        .into_iter()
        .filter(|record| {
            seen.insert(columns.iter().map(|at| shown(&record[*at])).collect::<Vec<_>>())
        })
        .collect()
}

fn sorted(split: &Split, keys: &[SortKey]) -> Vec<Vec<Record>> {
    let sort = |lines: &Vec<Line>| {
        let mut records: Vec<Record> = lines.iter().map(record).collect();
        records.sort_by(|a, b| compare(keys, a, b));
        records
    };
    split.streams.iter().map(sort).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sorting_streams_is_sorting_all_rows(
        split in split(), keys in keys(), offset in 0u64..12, limit in proptest::option::of(0u64..30),
    ) {
        let streams = sorted(&split, &keys);
        let plan = MergePlan { order: keys.clone(), offset, limit, ..MergePlan::iterate() };
        let mut expected = streams.concat();
        expected.sort_by(|a, b| compare(&keys, a, b));
        let seen = merged(&plan, split.inputs(&streams, &KINDS, None)).unwrap();
        prop_assert_eq!(seen, window(expected, offset, limit));
    }

    #[test]
    fn distinct_rows_are_those_of_all_rows(
        split in split(), keys in keys(), ordered in any::<bool>(), columns in proptest::sample::subsequence(vec![0usize, 1, 2], 1..=3),
        offset in 0u64..4, limit in proptest::option::of(0u64..20),
    ) {
        let order = if ordered { keys } else { vec![] };
        let streams = sorted(&split, &order);
        let distinct = Some(columns.iter().map(|column| at(*column)).collect());
        let plan = MergePlan { order: order.clone(), distinct, offset, limit, ..MergePlan::iterate() };
        let mut expected = streams.concat();
        expected.sort_by(|a, b| compare(&order, a, b));
        let expected = window(dedup(expected, &columns), offset, limit);
        prop_assert_eq!(merged(&plan, split.inputs(&streams, &KINDS, None)).unwrap(), expected);
    }

    #[test]
    fn chunks_iterate_and_derived_columns_go(
        split in split(), derived in 0usize..3, offset in 0u64..40, limit in proptest::option::of(0u64..60),
    ) {
        let streams: Vec<Vec<Record>> =
            split.streams.iter().map(|lines| lines.iter().map(record).collect()).collect();
        let plan = MergePlan { derived, offset, limit, ..MergePlan::iterate() };
        let mut expected = window(streams.concat(), offset, limit);
        expected.iter_mut().for_each(|record| record.truncate(3 - derived));
        prop_assert_eq!(merged(&plan, split.inputs(&streams, &KINDS, None)).unwrap(), expected);
    }

    #[test]
    fn grouping_partial_results_is_grouping_all_rows(
        split in split(), form in 0u8..3, offset in 0u64..3, limit in proptest::option::of(0u64..9),
    ) {
        let all: Vec<Line> = split.streams.concat();
        let aggregates = vec![
            aggregate(2, AggregateFunction::Count),
            aggregate(3, AggregateFunction::Sum),
            aggregate(4, AggregateFunction::Min(by_result())),
            aggregate(5, AggregateFunction::Max(by_result())),
            aggregate(6, AggregateFunction::Average { sum: Position::Derived(0), count: Position::Derived(1) }),
        ];
        let streams: Vec<Vec<Record>> = split.streams.iter().map(|lines| grouped(lines)).collect();
        let mut expected = grouped(&all);
        let keys = vec![at(0), at(1)];
        // Every group has its own (count, group, name), so the order asked for is a total one.
        let by_count = vec![desc(2), at(0), at(1)];
        let then_order = if form == 0 { vec![] } else { by_count.clone() };
        let group = Group { keys: keys.clone(), sorted: form < 2, aggregates, then_order };
        let order = if form < 2 { keys } else { vec![] };
        let plan = MergePlan { derived: 2, order, group: Some(group), offset, limit, ..MergePlan::iterate() };
        if form > 0 {
            expected.sort_by(|a, b| compare(&by_count, a, b));
        }
        expected.iter_mut().for_each(|record| record.truncate(7));
        let kinds = [
            Kind::Int, Kind::Text, Kind::Int, Kind::Decimal, Kind::Decimal, Kind::Decimal,
            Kind::Decimal, Kind::Decimal, Kind::Int,
        ];
        let seen = merged(&plan, split.inputs(&streams, &kinds, Some(6))).unwrap();
        prop_assert_eq!(seen, window(expected, offset, limit));
    }

    #[test]
    fn distinct_values_of_streams_are_those_of_all_rows(split in split(), form in 0u8..3) {
        // Each storage unit answers SELECT DISTINCT group, amount.
        let pairs = |lines: &[Line]| -> Vec<Record> {
            let pairs: BTreeSet<_> = lines.iter().map(|line| (line.group, line.amount.clone())).collect();
            pairs
                .into_iter()
                .map(|(group, amount)| {
                    let amount = value(amount, Value::Decimal);
                    vec![value(group, Value::Int), int(0), Value::Null, amount]
                })
                .collect()
        };
        let streams: Vec<Vec<Record>> = split.streams.iter().map(|lines| pairs(lines)).collect();
        let of = |of| AggregateFunction::Distinct { values: asc(Position::Derived(0)), of };
        let aggregates = vec![aggregate(1, of(DistinctOf::Count)), aggregate(2, of(DistinctOf::Sum))];
        let group = Group { keys: vec![at(0)], sorted: form < 2, aggregates, then_order: vec![] };
        // Sorted by the values too, sorted by the group only, or not at all.
        let order = match form {
            0 => vec![at(0), asc(Position::Derived(0))],
            _ => vec![at(0)],
        };
        let plan = MergePlan { derived: 1, order, group: Some(group), ..MergePlan::iterate() };
        let mut expected: BTreeMap<Option<i64>, BTreeSet<BigDecimal>> = BTreeMap::new();
        for line in split.streams.concat() {
            expected.entry(line.group).or_default().extend(line.amount);
        }
        let expected: Vec<(Value, Value, Option<BigDecimal>)> = expected
            .into_iter()
            .map(|(group, values)| {
                let sum = (!values.is_empty()).then(|| values.iter().sum());
                (value(group, Value::Int), int(values.len() as i64), sum)
            })
            .collect();
        let kinds = [Kind::Int, Kind::Int, Kind::Decimal, Kind::Decimal];
        let seen: Vec<(Value, Value, Option<BigDecimal>)> =
            merged(&plan, split.inputs(&streams, &kinds, None))
                .unwrap()
                .into_iter()
                .map(|record| match &record[..] {
                    [group, count, Value::Decimal(sum)] => (group.clone(), count.clone(), Some(sum.clone())),
                    [group, count, Value::Int(0) | Value::Null] => (group.clone(), count.clone(), None),
                    other => panic!("unexpected record {other:?}"),
                })
                .collect();
        prop_assert_eq!(seen, expected);
    }
}

/// What `SELECT group, name, COUNT(amount), SUM(amount), MIN(amount), MAX(amount), AVG(amount), SUM(amount), COUNT(amount)
/// GROUP BY group, name ORDER BY group, name` answers.
fn grouped(lines: &[Line]) -> Vec<Record> {
    let mut groups: BTreeMap<(Option<i64>, Option<String>), Vec<BigDecimal>> = BTreeMap::new();
    for line in lines {
        let key = (line.group, line.name.clone());
        groups.entry(key).or_default().extend(line.amount.clone());
    }
    groups
        .into_iter()
        .map(|((group, name), amounts)| {
            let count = int(amounts.len() as i64);
            let sum = amounts.iter().cloned().reduce(|a, b| a + b);
            let average = sum.as_ref().map(|sum| {
                // Twenty digits do not change where the rounding to four goes: there are fewer than 10^4 rows.
                let exact = (sum / BigDecimal::from(amounts.len() as i64))
                    .with_scale_round(20, RoundingMode::Down);
                exact.with_scale_round(4, RoundingMode::HalfUp)
            });
            let sum = value(sum, Value::Decimal);
            vec![
                value(group, Value::Int),
                value(name, Value::Text),
                count.clone(),
                sum.clone(),
                value(amounts.iter().min().cloned(), Value::Decimal),
                value(amounts.iter().max().cloned(), Value::Decimal),
                value(average, Value::Decimal),
                sum,
                count,
            ]
        })
        .collect()
}
