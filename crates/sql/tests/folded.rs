//! Rows of literals in long texts are kept as text: what they say is what their trees would say.
#![allow(clippy::expect_used, clippy::panic, reason = "helpers of tests may panic like tests")]

mod common;

use common::{COLONS, COMMAS};
use pando_sql::ast::{Insert, InsertSource, Kind, Statement};
use pando_sql::{Syntax, parse, parse_whole, split};

/// Rows that fill more tokens than are read without folding.
const MANY: usize = 3000;

fn insert(statement: &Statement) -> &Insert {
    let Kind::Insert(insert) = &statement.kind else { panic!("no INSERT") };
    insert
}

/// Parses both ways, compares every value, and answers how many rows were kept as text.
fn check(text: &str, syntax: &Syntax) -> usize {
    let (folded, whole) =
        (parse(text, syntax).expect(text), parse_whole(text, syntax).expect(text));
    assert_eq!((folded.digest, folded.parameters), (whole.digest, whole.parameters));
    assert_eq!(split(text, syntax).expect("splits").len(), 1);
    let (InsertSource::Values { rows, span }, InsertSource::Values { rows: trees, span: all }) =
        (&insert(&folded).source, &insert(&whole).source)
    else {
        assert_eq!(format!("{:?}", folded.kind), format!("{:?}", whole.kind));
        return 0;
    };
    assert_eq!((span, rows.len()), (all, trees.len()));
    for (row, tree) in rows.iter().zip(trees) {
        let values = tree.trees().expect("whole");
        assert_eq!((row.span, row.width()), (tree.span, values.len()));
        for (at, value) in values.iter().enumerate() {
            let read = row.value(at, &folded.text, syntax).expect("a value");
            assert_eq!(format!("{read:?}"), format!("{value:?}"));
        }
        assert!(row.value(values.len(), &folded.text, syntax).is_none());
    }
    let tail = |insert: &Insert| format!("{:?} {:?}", insert.on_duplicate, insert.on_conflict);
    assert_eq!(tail(insert(&folded)), tail(insert(&whole)));
    rows.iter().filter(|row| row.trees().is_none()).count()
}

fn rows(row: impl Fn(usize) -> String) -> String {
    (0..MANY).map(row).collect::<Vec<_>>().join(", ")
}

#[test]
fn values_of_rows_that_are_kept_as_text_are_those_of_their_trees() {
    for syntax in [&COMMAS, &COLONS] {
        let plain =
            rows(|i| format!("({i}, -{i}, +1.5, 1e3, 'it''s ({i}), (x', NULL, true, X'4a', 'ä')"));
        let kept = check(&format!("INSERT INTO t VALUES {plain}"), syntax);
        assert!((2000..MANY).contains(&kept), "{kept}");
        check(
            &format!(
                "INSERT INTO t (a) VALUES {} ON CONFLICT DO NOTHING",
                rows(|i| format!("({i})"))
            ),
            &COLONS,
        );
        check(
            &format!(
                "INSERT INTO t (a) VALUES {} ON DUPLICATE KEY UPDATE a = VALUES(a)",
                rows(|i| format!("( {i} )"))
            ),
            &COMMAS,
        );
        check(
            &format!("INSERT INTO t (a) VALUES {} RETURNING a", rows(|i| format!("({i},false)"))),
            syntax,
        );
    }
    assert!(
        check(
            &format!("INSERT INTO t VALUES {}", rows(|i| format!("({i}, E'a\\'b', B'01', N'x')"))),
            &COLONS
        ) > 2000
    );
    assert!(
        check(
            &format!("INSERT INTO t VALUES {}", rows(|i| format!("({i}, 'a\\'b', \"c\", 0x1f)"))),
            &COMMAS
        ) > 2000
    );
}

#[test]
fn other_rows_among_them_keep_their_trees_and_their_places() {
    for syntax in [&COMMAS, &COLONS] {
        let mixed = rows(|i| match i % 5 {
            0 => format!("({i}, now())"),
            1 => format!("({i}, DEFAULT)"),
            2 => format!("({i})"),
            3 => format!("({i}, {i} + 1)"),
            _ => format!("({i}, 'x')"),
        });
        let kept = check(&format!("INSERT INTO t VALUES {mixed}"), syntax);
        assert!((400..MANY / 2).contains(&kept), "{kept}");
    }
}

#[test]
fn what_only_looks_like_rows_of_an_insert_is_read_as_ever() {
    let pairs = rows(|i| format!("({i}, {i})"));
    for syntax in [&COMMAS, &COLONS] {
        for text in [
            format!("SELECT * FROM t WHERE (a, b) IN ({pairs})"),
            format!("SELECT f({pairs}), (1), (2)"),
            format!("INSERT INTO t SELECT * FROM u WHERE (a, b) IN ({pairs})"),
            format!(
                "INSERT INTO t VALUES (1, 2), (3, 4) ON CONFLICT (a) DO UPDATE SET a = f({pairs})"
            ),
            format!("UPDATE t SET a = 1 WHERE (a, b) IN ({pairs})"),
        ] {
            let Ok(whole) = parse_whole(&text, syntax) else { continue };
            let read = parse(&text, syntax).expect("reads as well");
            assert_eq!(format!("{:?}", read.kind), format!("{:?}", whole.kind));
        }
    }
    let text = format!("SELECT * FROM (VALUES {pairs}) AS v (a, b)");
    let (read, whole) =
        (parse(&text, &COLONS).expect("reads"), parse_whole(&text, &COLONS).expect("reads"));
    assert_eq!(format!("{:?}", read.kind), format!("{:?}", whole.kind));
}

#[test]
fn more_tokens_than_are_read_are_refused_as_too_complex() {
    let text = format!("SELECT 1{}", "+1".repeat(1 << 20));
    for syntax in [&COMMAS, &COLONS] {
        assert!(parse(&text, syntax).expect_err("too many").is_too_complex);
        assert!(split(&text, syntax).expect_err("too many").is_too_complex);
        // Each statement has its own count.
        let several = format!("{};", "SELECT a, b;".repeat(500_000));
        assert_eq!(split(&several, syntax).expect("splits").len(), 500_000);
    }
}
