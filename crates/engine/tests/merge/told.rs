//! Rows that are filtered and sorted in memory, whatever order they come in.

use pando_engine::merge::{Limits, Merge};
use pando_kernel::dialect::Compare;
use pando_kernel::error::ErrorKind;
use pando_kernel::merge::{
    Aggregate, AggregateFunction, Computed, Condition, Group, MergePlan, Position, Relation, Scalar,
};
use pando_kernel::value::{Kind, Value};

use crate::support::*;

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn compared(is: Relation, with: Value) -> Condition {
    let (left, right) = (Computed::Column(Position::Index(0)), Computed::Constant(with));
    Condition::Compared { left, compare: Compare::Number, is, right }
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
        let filter = Condition::Like {
            text: Computed::Column(Position::Index(0)),
            pattern: pattern.map(Into::into),
        };
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
    let limits = Limits { memory_bytes: 2 << 20 };
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

#[test]
fn values_are_computed_and_sorted_by() {
    let columns = columns(&[Kind::Text, Kind::Text, Kind::Int]);
    let own = || Computed::Column(Position::Index(0));
    let row = |text: Value| vec![text, Value::Null, Value::Null];
    let upper = Computed::Of(Scalar::Upper, vec![own()]);
    let length = Computed::Of(Scalar::Characters, vec![own()]);
    let plan = MergePlan {
        computed: vec![(Position::Index(1), upper), (Position::Index(2), length)],
        sort: vec![at(2), at(1)],
        ..MergePlan::iterate()
    };
    let rows = [text("bb"), text("ab"), Value::Null, text("c")].map(row).to_vec();
    let given = drain(start(&plan, inputs(&columns, &[rows])).unwrap()).unwrap();
    let expected = [
        row(Value::Null),
        vec![text("c"), text("C"), int(1)],
        vec![text("ab"), text("AB"), int(2)],
        vec![text("bb"), text("BB"), int(2)],
    ];
    assert_eq!(given, expected);
    // Which letters are the other case of those beyond ASCII a server says.
    let merge = start(&plan, inputs(&columns, &[vec![row(text("\u{e4}"))]])).unwrap();
    assert!(matches!(drain(merge).unwrap_err().kind(), ErrorKind::Refused { .. }));
}

#[test]
fn scalars_are_what_servers_make_of_them() {
    use Scalar::*;
    let columns = columns(&[Kind::Int]);
    let decimal = |text: &str| Value::decimal(text).unwrap();
    let compute = |scalar, values: &[Value]| {
        let values = values.iter().cloned().map(Computed::Constant).collect();
        let plan = MergePlan {
            computed: vec![(Position::Index(0), Computed::Of(scalar, values))],
            ..MergePlan::iterate()
        };
        let merge = start(&plan, inputs(&columns, &[ints(&[0])])).unwrap();
        drain(merge).map(|rows| rows.into_iter().flatten().next().unwrap())
    };
    let null = || Value::Null;
    for (scalar, values, expected) in [
        (Lower, vec![text("aB")], text("ab")),
        (Upper, vec![null()], null()),
        (Characters, vec![text("\u{e4}b")], int(2)),
        (Joined, vec![text("a"), null(), text("b")], text("ab")),
        (Joined, vec![null()], text("")),
        (JoinedAll, vec![text("a"), null()], null()),
        (Part { from: 1, most: 2 }, vec![text("abcd")], text("bc")),
        (Part { from: 9, most: 2 }, vec![text("abcd")], text("")),
        (Replaced, vec![text("banana"), text("an"), text("o")], text("booa")),
        (Replaced, vec![text("a"), text(""), text("o")], text("a")),
        (Coalesce, vec![null(), int(1), int(2)], int(1)),
        (Coalesce, vec![null()], null()),
        (NullIf(Compare::Number), vec![int(1), int(1)], null()),
        (NullIf(Compare::Number), vec![int(1), null()], int(1)),
        (Plus(4), vec![int(1), int(2)], int(3)),
        (Times(4), vec![decimal("1.50"), int(2)], decimal("3.00")),
        (Modulo(4), vec![int(-7), int(3)], int(-1)),
        (Negative(8), vec![decimal("1.5")], decimal("-1.5")),
        (Absolute(2), vec![int(-3)], int(3)),
    ] {
        assert_eq!(compute(scalar, &values).unwrap(), expected, "{scalar:?} {values:?}");
    }
    for (scalar, values) in [
        (Plus(2), vec![int(32_767), int(1)]),
        (Plus(4), vec![int(i64::from(i32::MAX)), int(1)]),
        (Times(8), vec![int(i64::MAX), int(2)]),
        (Negative(2), vec![int(-32_768)]),
        (Absolute(8), vec![int(i64::MIN)]),
    ] {
        let error = compute(scalar, &values).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::OutOfRange(_)), "{scalar:?} {error}");
    }
}

#[test]
fn groups_are_made_of_what_was_computed() {
    let columns = columns(&[Kind::Text, Kind::Int, Kind::Int]);
    let row = |name: &str, n: Value| vec![text(name), Value::Null, n];
    let rows = [row("a", int(1)), row("B", int(2)), row("A", Value::Null), row("b", int(4))];
    let of = |at| Computed::Column(Position::Index(at));
    let plan = MergePlan {
        computed: vec![
            (Position::Index(0), Computed::Of(Scalar::Upper, vec![of(0)])),
            (Position::Index(1), of(2)),
        ],
        group: Some(Group {
            keys: vec![at(0)],
            sorted: false,
            aggregates: vec![Aggregate {
                output: Position::Index(1),
                function: AggregateFunction::Sum,
            }],
            then_order: vec![desc(0)],
        }),
        derived: 1,
        ..MergePlan::iterate()
    };
    let merge = start(&plan, inputs(&columns, &[rows.to_vec()])).unwrap();
    let given = drain(merge).unwrap();
    let sums: Vec<String> = given.iter().map(|row| format!("{row:?}")).collect();
    assert!(sums[0].starts_with("[Text(\"B\"), ") && sums[0].contains('6'), "{sums:?}");
    assert!(sums[1].starts_with("[Text(\"A\"), ") && sums[1].contains('1'), "{sums:?}");
    assert_eq!(sums.len(), 2);
}
