//! Iterating, sorting, DISTINCT, limits and derived columns.

use std::sync::Arc;

use bytes::Bytes;
use pando_engine::merge::{Input, Limits, Merge};
use pando_kernel::column::Format;
use pando_kernel::dialect::Compare;
use pando_kernel::error::{Error, ErrorKind};
use pando_kernel::merge::{KeyCompare, MergePlan, Position, SortKey};
use pando_kernel::row::Rows;
use pando_kernel::value::{Kind, Value};

use crate::support::*;

fn order(keys: Vec<SortKey>) -> MergePlan {
    MergePlan { order: keys, ..MergePlan::iterate() }
}

#[test]
fn an_iterated_chunk_is_passed_on_without_a_copy() {
    let columns = columns(&[Kind::Int]);
    let chunk = rows(&columns, &ints(&[1, 2, 3]));
    let stream = || Input {
        columns: columns.clone(),
        rows: Script { acts: [Act::Wait, Act::Give(chunk.clone())].into(), over: false },
    };
    let mut merge = start(&MergePlan::iterate(), vec![stream(), stream()]).unwrap();
    for _ in 0..2 {
        let given = next(&mut merge).unwrap().unwrap();
        assert_eq!(given.bytes.as_ptr(), chunk.bytes.as_ptr());
        assert_eq!(given.count, 3);
    }
    assert!(next(&mut merge).unwrap().is_none());
}

#[test]
fn one_sorted_stream_is_passed_on_without_a_look() {
    let columns = columns(&[Kind::Int]);
    let chunk = rows(&columns, &ints(&[1, 2, 3]));
    let script = Script { acts: [Act::Give(chunk.clone())].into(), over: false };
    let stream = Input { columns, rows: script };
    let mut merge = start(&order(vec![at(0)]), vec![stream]).unwrap();
    assert_eq!(next(&mut merge).unwrap().unwrap().bytes.as_ptr(), chunk.bytes.as_ptr());
}

#[test]
fn a_limit_cuts_frames_and_ends_the_merge_at_once() {
    let columns = columns(&[Kind::Int]);
    let plan = MergePlan { offset: 4, limit: Some(3), ..MergePlan::iterate() };
    let streams = inputs(&columns, &[ints(&[1, 2, 3]), ints(&[4, 5, 6, 7, 8, 9])]);
    let mut merge = start(&plan, streams).unwrap();
    let mut seen = Vec::new();
    while !merge.is_finished() {
        let rows = next(&mut merge).unwrap().unwrap();
        seen.extend(decode(merge.columns(), &rows));
    }
    assert_eq!(seen, ints(&[5, 6, 7]));
    assert!(next(&mut merge).unwrap().is_none());
}

#[test]
fn a_limit_of_zero_never_asks_its_sources() {
    let columns = columns(&[Kind::Int]);
    for order in [vec![], vec![at(0)]] {
        let script = Script { over: true, ..Script::default() };
        let plan = MergePlan { limit: Some(0), order, ..MergePlan::iterate() };
        let merge = start(&plan, vec![Input { columns: columns.clone(), rows: script }]).unwrap();
        assert!(merge.is_finished());
        assert!(drain(merge).unwrap().is_empty());
    }
}

#[test]
fn sorted_rows_come_with_nulls_in_their_place_and_equal_ones_in_stream_order() {
    let columns = columns(&[Kind::Int, Kind::Text]);
    let row = |key: Option<i64>, name: &str| vec![key.map_or(Value::Null, int), text(name)];
    let streams = [
        vec![row(Some(9), "a"), row(Some(5), "b"), row(None, "c")],
        vec![],
        vec![row(Some(9), "d"), row(Some(5), "e"), row(Some(5), "f"), row(None, "g")],
    ];
    let records = merged(&order(vec![desc(0)]), inputs(&columns, &streams)).unwrap();
    let names: Vec<&Value> = records.iter().map(|record| &record[1]).collect();
    assert_eq!(names, ["a", "d", "b", "e", "f", "c", "g"].map(text).iter().collect::<Vec<_>>());
}

#[test]
fn text_sorts_by_its_derived_weights_which_the_client_does_not_see() {
    let columns = columns(&[Kind::Text, Kind::Bytes]);
    let row = |name: &str| {
        let weight = Bytes::from(name.to_lowercase().into_bytes());
        vec![text(name), Value::Bytes(weight)]
    };
    let weights = Some(Position::Derived(0));
    let key = SortKey { compare: KeyCompare::ByResult { weights }, ..at(0) };
    let plan = MergePlan { derived: 1, ..order(vec![key]) };
    let streams = [vec![row("A"), row("c")], vec![row("b"), row("D")]];
    let merge = start(&plan, inputs(&columns, &streams)).unwrap();
    assert_eq!(merge.columns().list.len(), 1);
    let expected: Vec<Record> = ["A", "b", "c", "D"].map(|name| vec![text(name)]).into();
    assert_eq!(drain(merge).unwrap(), expected);
}

#[test]
fn times_sort_as_times() {
    let columns = columns(&[Kind::Time]);
    let stream = |times: &[&str]| times.iter().map(|time| vec![text(time)]).collect::<Vec<_>>();
    let streams = [stream(&["-01:00:00", "09:00:00"]), stream(&["-00:30:00", "100:00:00"])];
    let records = merged(&order(vec![at(0)]), inputs(&columns, &streams)).unwrap();
    assert_eq!(records, stream(&["-01:00:00", "-00:30:00", "09:00:00", "100:00:00"]));
}

#[test]
fn a_source_that_is_not_sorted_is_an_error() {
    let columns = columns(&[Kind::Int]);
    let streams = inputs(&columns, &[ints(&[1, 3, 2]), ints(&[1])]);
    let error = merged(&order(vec![at(0)]), streams).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Refused { code: 30001, .. }), "{error}");
}

#[test]
fn a_loose_order_is_followed_where_it_cannot_be_known_and_relied_upon_where_it_can() {
    let loose = || SortKey { compare: KeyCompare::Loose { weights: None }, ..at(0) };
    let stream = |words: &[&str]| words.iter().map(|word| vec![text(word)]).collect::<Vec<_>>();
    let unknown = columns(&[Kind::Other]);
    // The first stream is sorted without regard to case: only the server knows that.
    let streams = [stream(&["a", "B", "c"]), stream(&["b", "c"])];
    let plan = MergePlan { distinct: Some(vec![loose()]), ..order(vec![loose()]) };
    let mut records = merged(&plan, inputs(&unknown, &streams)).unwrap();
    assert_eq!(records.len(), 4);
    records.sort_by_key(|record| format!("{record:?}"));
    assert_eq!(records, stream(&["B", "a", "b", "c"]));
    let known = columns(&[Kind::Int]);
    let streams = inputs(&known, &[ints(&[1, 3, 2]), ints(&[1])]);
    assert!(merged(&order(vec![loose()]), streams).is_err());
}

#[test]
fn the_error_of_a_source_ends_the_merge() {
    let columns = columns(&[Kind::Int]);
    for plan in [MergePlan::iterate(), order(vec![at(0)])] {
        let good = input(&columns, &ints(&[1]), 1, 0);
        let acts = [Act::Wait, Act::Fail(Error::new(ErrorKind::Cancelled))].into();
        let bad = Input { columns: columns.clone(), rows: Script { acts, over: false } };
        let mut merge = start(&plan, vec![good, bad]).unwrap();
        let error = loop {
            match next(&mut merge) {
                Ok(rows) => assert!(rows.is_some(), "the error got lost"),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), &ErrorKind::Cancelled);
        assert!(merge.is_finished());
        assert!(next(&mut merge).unwrap().is_none());
    }
}

#[test]
fn rows_of_another_form_are_written_in_the_form_of_the_first_stream() {
    let kinds = [Kind::Int, Kind::Text];
    let (neutral, mirrored) = (columns(&kinds), columns_in(Arc::new(Mirrored), &kinds));
    let row = |key, name: &str| vec![int(key), text(name)];
    let (first, second) = ([row(1, "a"), row(3, "c")], [row(2, "b")]);
    for plan in [MergePlan::iterate(), order(vec![at(0)])] {
        let streams = |a, b| vec![input(a, &first, 1, 0), input(b, &second, 1, 0)];
        let merge = start(&plan, streams(&mirrored, &neutral)).unwrap();
        assert_eq!(merge.columns().codec.form(), "mirrored");
        let records = drain(merge).unwrap();
        assert_eq!(records, merged(&plan, streams(&neutral, &neutral)).unwrap());
        assert_eq!(records, merged(&plan, streams(&neutral, &mirrored)).unwrap());
    }
}

#[test]
fn a_column_of_another_type_is_written_anew_only_where_its_bytes_differ() {
    let described = |format, type_id| {
        let mut columns = columns(&[Kind::Int]);
        let list = std::sync::Arc::make_mut(&mut columns.list);
        list[0].format = format;
        list[0].native.type_id = type_id;
        columns
    };
    for (format, same) in [(Format::Text, true), (Format::Binary, false)] {
        let second = described(format, 2);
        let chunk = rows(&second, &ints(&[2]));
        let script = Script { acts: [Act::Give(chunk.clone())].into(), over: false };
        let inputs =
            vec![input(&described(format, 1), &[], 1, 0), Input { columns: second, rows: script }];
        let mut merge = start(&MergePlan::iterate(), inputs).unwrap();
        let given = next(&mut merge).unwrap().unwrap();
        assert_eq!(given.bytes.as_ptr() == chunk.bytes.as_ptr(), same, "{format:?}");
    }
}

#[test]
fn streams_with_different_numbers_of_columns_are_refused() {
    let (one, two) = (columns(&[Kind::Int]), columns(&[Kind::Int, Kind::Int]));
    let streams = vec![input(&one, &[], 1, 0), input(&two, &[], 1, 0)];
    let error = start(&MergePlan::iterate(), streams).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Refused { code: 30001, .. }), "{error}");
}

#[test]
fn streams_whose_columns_have_other_names_are_refused() {
    let named = |names: [&str; 2]| {
        let mut columns = columns(&[Kind::Int, Kind::Int]);
        for (column, name) in Arc::make_mut(&mut columns.list).iter_mut().zip(names) {
            column.name = name.to_owned();
        }
        input(&columns, &[], 1, 0)
    };
    let error =
        start(&MergePlan::iterate(), vec![named(["a", "b"]), named(["b", "a"])]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Refused { code: 30001, .. }), "{error}");
    assert!(start(&MergePlan::iterate(), vec![named(["a", "B"]), named(["A", "b"])]).is_ok());
    let cut = (format!("{}t_0.a", "1 + ".repeat(64)), format!("{}t_10.", "1 + ".repeat(64)));
    assert!(start(&MergePlan::iterate(), vec![named([&cut.0, "b"]), named([&cut.1, "b"])]).is_ok());
}

#[test]
fn a_name_means_the_one_visible_column_that_has_it() {
    let named = |names: &[&str]| {
        let mut columns = columns(&vec![Kind::Int; names.len()]);
        for (column, name) in std::sync::Arc::make_mut(&mut columns.list).iter_mut().zip(names) {
            column.name = (*name).to_owned();
        }
        columns
    };
    let start = |names: &[&str]| {
        let plan = MergePlan { derived: 1, ..order(vec![asc(Position::Name("id".into()))]) };
        start(&plan, vec![input(&named(names), &[], 1, 0)])
    };
    assert!(start(&["x", "id", "d"]).is_ok());
    assert!(start(&["ID", "id", "d"]).is_ok());
    assert!(start(&["x", "Id", "d"]).is_ok());
    let error = |names: &[&str]| start(names).unwrap_err();
    assert_eq!(error(&["x", "y", "id"]).kind(), &ErrorKind::UnknownColumn("id".into()));
    assert!(matches!(error(&["id", "id", "d"]).kind(), ErrorKind::Refused { .. }));
    assert!(matches!(error(&["ID", "Id", "d"]).kind(), ErrorKind::Refused { .. }));
}

#[test]
fn a_plan_that_does_not_fit_is_told_and_not_run() {
    let columns = columns(&[Kind::Int, Kind::Other]);
    let start = |plan: &MergePlan| start(plan, vec![input(&columns, &[], 1, 0)]).unwrap_err();
    let out_of_range = order(vec![at(2)]);
    assert!(matches!(start(&out_of_range).kind(), ErrorKind::Internal(_)));
    let derived = order(vec![asc(Position::Derived(usize::MAX))]);
    assert!(matches!(start(&derived).kind(), ErrorKind::Internal(_)));
    let too_many = MergePlan { derived: 3, ..MergePlan::iterate() };
    assert!(matches!(start(&too_many).kind(), ErrorKind::Internal(_)));
    assert!(matches!(start(&order(vec![at(1)])).kind(), ErrorKind::Refused { .. }));
    let nothing = Merge::<Script>::new(&MergePlan::iterate(), vec![], &Plain, LIMITS);
    assert!(matches!(nothing.unwrap_err().kind(), ErrorKind::Internal(_)));
}

#[test]
fn broken_frames_are_an_error_and_never_a_panic() {
    let columns = columns(&[Kind::Int, Kind::Text]);
    let whole = rows(&columns, &[vec![int(1), text("abc")]]).bytes;
    let plans = [
        order(vec![at(0)]),
        MergePlan { derived: 1, ..MergePlan::iterate() },
        MergePlan { distinct: Some(vec![at(1)]), ..MergePlan::iterate() },
        MergePlan { offset: 1, ..MergePlan::iterate() },
    ];
    for plan in &plans {
        for cut in 1..whole.len() {
            let chunk = Rows { bytes: whole.slice(..cut), count: 3 };
            let broken = |over| {
                let acts = [Act::Give(chunk.clone())].into();
                Input { columns: columns.clone(), rows: Script { acts, over } }
            };
            assert!(merged(plan, vec![broken(false), broken(false)]).is_err(), "cut at {cut}");
        }
    }
}

#[test]
fn distinct_over_sorted_rows_needs_no_memory() {
    let columns = columns(&[Kind::Int, Kind::Int]);
    let row = |a, b| vec![int(a), int(b)];
    let streams = [vec![row(1, 1), row(1, 2), row(2, 1)], vec![row(1, 1), row(1, 2), row(2, 1)]];
    let expected = [row(1, 1), row(1, 2), row(2, 1)];
    let distinct = Some(vec![at(0), at(1)]);
    let none = Limits { memory_bytes: 0 };
    let plan = MergePlan { distinct: distinct.clone(), ..order(vec![at(0), at(1)]) };
    let merge = Merge::new(&plan, inputs(&columns, &streams), &Plain, none).unwrap();
    assert_eq!(drain(merge).unwrap(), expected);
    // Sorted by a part of the keys: the rows of one part are held, and no others.
    let plan = MergePlan { distinct: distinct.clone(), ..order(vec![at(0)]) };
    let few = Limits { memory_bytes: 250 };
    let merge = Merge::new(&plan, inputs(&columns, &streams), &Plain, few).unwrap();
    assert_eq!(drain(merge).unwrap(), expected);
    let plan = MergePlan { distinct, ..MergePlan::iterate() };
    let merge = Merge::new(&plan, inputs(&columns, &streams), &Plain, few).unwrap();
    assert!(matches!(drain(merge).unwrap_err().kind(), ErrorKind::Memory(_)));
}

#[test]
fn distinct_does_not_trust_an_order_that_compares_otherwise() {
    // Sorted by bytes, but equal without regard to case: equal rows are not neighbours.
    let columns = columns(&[Kind::Text, Kind::Text]);
    let row = |name: &str| vec![text(name), text(&name.to_lowercase())];
    let known = |position| SortKey { compare: KeyCompare::Known(Compare::Bytes), ..asc(position) };
    let plan = MergePlan {
        derived: 1,
        distinct: Some(vec![known(Position::Derived(0))]),
        ..order(vec![known(Position::Index(0))])
    };
    let streams = [vec![row("A"), row("B"), row("a")], vec![row("b")]];
    let records = merged(&plan, inputs(&columns, &streams)).unwrap();
    assert_eq!(records, [vec![text("A")], vec![text("B")]]);
}

#[test]
fn rewritten_rows_come_in_chunks_of_bounded_size() {
    let columns = columns(&[Kind::Text, Kind::Int]);
    let row = |size: usize| vec![text(&"x".repeat(size)), int(0)];
    let mut records: Vec<Record> = (0..200).map(|_| row(1000)).collect();
    records.push(row(100_000));
    records.push(row(10));
    let plan = MergePlan { derived: 1, ..MergePlan::iterate() };
    let mut merge = start(&plan, vec![input(&columns, &records, 50, 0)]).unwrap();
    let mut total = 0;
    while let Some(rows) = next(&mut merge).unwrap() {
        assert!(rows.bytes.len() <= 64 * 1024 || rows.count == 1);
        total += rows.count;
    }
    assert_eq!(total, 202);
}

#[test]
fn what_is_there_is_given_while_a_source_lets_wait() {
    let columns = columns(&[Kind::Int, Kind::Int]);
    let row = |n| vec![int(n), int(0)];
    let acts = [
        Act::Give(rows(&columns, &[row(1), row(2)])),
        Act::Wait,
        Act::Give(rows(&columns, &[row(3)])),
    ];
    let stream = Input { columns, rows: Script { acts: acts.into(), over: false } };
    let plan = MergePlan { derived: 1, ..MergePlan::iterate() };
    let mut merge = start(&plan, vec![stream]).unwrap();
    let counts: Vec<u32> =
        std::iter::from_fn(|| next(&mut merge).unwrap()).map(|rows| rows.count).collect();
    assert_eq!(counts, [2, 1]);
}

#[test]
fn rows_without_columns_are_merged_too() {
    let columns = columns(&[]);
    let streams = inputs(&columns, &[vec![vec![], vec![]], vec![vec![]]]);
    assert_eq!(merged(&MergePlan::iterate(), streams).unwrap().len(), 3);
}

#[test]
fn streams_take_turns_and_a_missing_row_is_passed_over() {
    let columns = columns(&[Kind::Int]);
    let turns = |turns: &[u32]| MergePlan { turns: Some(turns.into()), ..MergePlan::iterate() };
    let streams = || inputs(&columns, &[ints(&[1, 3]), ints(&[2, 5, 6]), ints(&[4])]);
    let given = |plan: &MergePlan| drain(start(plan, streams()).unwrap()).unwrap();
    assert_eq!(given(&turns(&[0, 1, 0, 2, 1, 1])), ints(&[1, 2, 3, 4, 5, 6]));
    assert_eq!(given(&turns(&[2, 2, 0, 1])), ints(&[4, 1, 2, 3, 5, 6]));
}
