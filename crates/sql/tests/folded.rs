//! Rows of literals in long texts are kept as text: what they say is what their trees would say.
#![allow(clippy::expect_used, clippy::panic, reason = "helpers of tests may panic like tests")]

mod common;

use common::{COLONS, COMMAS};
use pando_sql::ast::{Insert, InsertSource, Kind, Node, Statement};
use pando_sql::{Syntax, parse, parse_whole, split, visit};

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

/// Literals that fill more tokens than are read without folding.
fn literals(literal: impl Fn(usize) -> String) -> String {
    (0..4 * MANY).map(literal).collect::<Vec<_>>().join(", ")
}

/// The lists behind IN, with their values; those that are kept as text first.
fn lists(statement: &Statement, syntax: &Syntax) -> Vec<(bool, Vec<String>)> {
    let mut lists = Vec::new();
    visit::exprs(&statement.kind, &mut |expr| {
        if let Node::InList { list, .. } = &expr.node {
            let values = list.values(&statement.text, syntax);
            let values: Vec<String> = values.map(|value| format!("{value:?}")).collect();
            assert_eq!(list.len(), values.len());
            lists.push((list.trees().is_empty() && !list.is_empty(), values));
        }
    });
    lists
}

/// Parses both ways, compares all values, and answers how many lists were kept as text.
fn check_lists(text: &str, syntax: &Syntax) -> usize {
    let whole = parse_whole(text, syntax).expect(text);
    let folded = parse(text, syntax).expect(text);
    assert_eq!((folded.digest, folded.parameters), (whole.digest, whole.parameters));
    assert_eq!(split(text, syntax).expect("splits").len(), 1);
    let (folded, whole) = (lists(&folded, syntax), lists(&whole, syntax));
    assert_eq!(folded.len(), whole.len());
    for ((_, values), (is_text, trees)) in folded.iter().zip(&whole) {
        assert!(!is_text);
        assert_eq!(values, trees);
    }
    folded.iter().filter(|(is_text, _)| *is_text).count()
}

#[test]
fn values_of_lists_that_are_kept_as_text_are_those_of_their_trees() {
    let mixed = |i: usize| match i % 7 {
        0 => format!("-{i}"),
        1 => "+ 1.5e3".to_owned(),
        2 => format!("'it''s ({i}), IN (x'"),
        3 => "NULL".to_owned(),
        4 => "X'4a' /* , */".to_owned(),
        5 => "true".to_owned(),
        _ => i.to_string(),
    };
    for syntax in [&COMMAS, &COLONS] {
        let (plain, mixed) = (literals(|i| i.to_string()), literals(mixed));
        for (text, kept) in [
            (format!("SELECT * FROM t WHERE a IN ({plain})"), 1),
            (format!("SELECT * FROM t WHERE a NOT in({mixed}) ORDER BY 1"), 1),
            (format!("SELECT * FROM t WHERE a IN (1) AND b IN ({plain}) OR c IN ({mixed})"), 2),
            (format!("DELETE FROM t WHERE a IN ({plain}) AND b IN (1, 2) AND c IN (f(1))"), 1),
            (format!("INSERT INTO t VALUES (a IN ({mixed})), (2)"), 1),
            (format!("SELECT a IN ({plain}), b IN (SELECT 1 WHERE c IN ({plain}))"), 2),
        ] {
            assert_eq!(check_lists(&text, syntax), kept, "{}", &text[..60]);
        }
    }
}

#[test]
fn lists_of_anything_else_are_read_as_ever() {
    let plain = literals(|i| i.to_string());
    let pairs = literals(|i| format!("({i}, {i})"));
    for syntax in [&COMMAS, &COLONS] {
        for list in [
            format!("{plain}, a"),
            format!("{plain} + 1"),
            format!("a, {plain}"),
            format!("{plain}, (1)"),
            format!("{plain}, f({plain})"),
            format!("{plain}, (SELECT 1 WHERE 1 IN ({plain}))"),
            format!("{plain}, - 'a'"),
            pairs.clone(),
        ] {
            check_lists(&format!("SELECT * FROM t WHERE a IN ({list})"), syntax);
        }
        for text in [
            format!("SELECT f({plain}), (1 IN ({plain}, b))"),
            format!("CREATE TABLE t (a int CHECK (a IN ({plain})))"),
            format!("INSERT INTO t VALUES (1, 2), ({plain}, a IN ({plain}))"),
        ] {
            let Ok(whole) = parse_whole(&text, syntax) else { continue };
            let read = parse(&text, syntax).expect("reads as well");
            assert_eq!(lists(&read, syntax).len(), lists(&whole, syntax).len());
        }
        for broken in [",", "1,,2", "1 2", "1,", ") (", "'a"] {
            let text = format!("SELECT * FROM t WHERE a IN ({plain}, {broken})");
            let (read, whole) = (parse(&text, syntax), parse_whole(&text, syntax));
            assert_eq!(read.err(), whole.err(), "{broken}");
        }
    }
}

#[test]
fn comments_that_some_servers_run_keep_lists_as_trees() {
    let plain = literals(|i| i.to_string());
    for list in [
        format!("/*!50000 {plain}, */ {plain}"),
        format!("{plain}, /*!50000 1, */ {plain}"),
        format!("{plain}, 1 /*!50000 , 2, {plain} */"),
    ] {
        check_lists(&format!("SELECT * FROM t WHERE a IN ({list})"), &COMMAS);
    }
}
