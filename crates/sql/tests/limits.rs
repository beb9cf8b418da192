//! Long and deep statements: parsed in time, dropped without a deep stack, or refused.
#![allow(clippy::expect_used, clippy::panic, reason = "helpers of tests may panic like tests")]

mod common;

use std::time::{Duration, Instant};

use common::{COLONS, COMMAS};
use pando_sql::ast::{Kind, Node, QueryBody, Statement};
use pando_sql::{Syntax, SyntaxError, parse, visit};

/// Half of what a thread has by default: what called the parser needs its share, too.
const STACK: usize = 1 << 20;

/// Parses, walks and drops on a small stack and answers how long that took.
fn timed(text: &str, syntax: &Syntax) -> (Result<Statement, SyntaxError>, Duration) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let work = thread.spawn_scoped(scope, || work(text, syntax)).expect("a thread");
        work.join().expect("no panic")
    })
}

fn work(text: &str, syntax: &Syntax) -> (Result<Statement, SyntaxError>, Duration) {
    let start = Instant::now();
    let parsed = parse(text, syntax);
    if let Ok(statement) = &parsed {
        let mut count = 0usize;
        visit::exprs(&statement.kind, &mut |_| count += 1);
        visit::tables(&statement.kind);
        drop(statement.clone());
    }
    (parsed, start.elapsed())
}

fn check_fits(text: &str) {
    for syntax in [&COMMAS, &COLONS] {
        let (parsed, time) = timed(text, syntax);
        let head: String = text.chars().take(60).collect();
        match parsed {
            Ok(statement) => assert!(!matches!(statement.kind, Kind::Opaque), "{head}"),
            Err(error) => panic!("{head}: {error}"),
        }
        // A debug build on a busy machine; a quadratic parser would need minutes.
        assert!(time < Duration::from_secs(20), "{head}: {time:?}");
    }
}

fn check_too_deep(text: &str) {
    for syntax in [&COMMAS, &COLONS] {
        let head: String = text.chars().take(60).collect();
        let (parsed, _) = timed(text, syntax);
        let error = parsed.map(|_| ()).expect_err(&head);
        assert!(error.is_too_complex, "{head}: {error}");
        let message = error.message;
        assert!(message.contains("expected at most"), "{head}: {message}");
    }
}

fn joined(count: usize, separator: &str, term: impl Fn(usize) -> String) -> String {
    (0..count).map(term).collect::<Vec<_>>().join(separator)
}

#[test]
fn long_chains_of_one_operator_are_parsed_and_dropped() {
    let many = 100_000;
    for op in [" OR ", " AND "] {
        check_fits(&format!("SELECT {}", joined(many, op, |i| format!("a = {i}"))));
    }
    let many = 16_000;
    for op in [" + ", " * ", " || "] {
        check_fits(&format!("SELECT {}", joined(many, op, |i| format!("a{i}"))));
    }
    let rest = joined(many, " OR ", |i| format!("(a = {i} AND b <> {i})"));
    check_fits(&format!("SELECT * FROM t WHERE {rest}"));
}

/// Servers refuse much shorter ones, each for want of stack.
#[test]
fn longer_chains_than_any_server_takes_are_refused() {
    for op in [" + ", " * "] {
        check_too_deep(&format!("SELECT {}", joined(20_000, op, |i| format!("a{i}"))));
    }
    for op in [" OR ", " AND "] {
        check_too_deep(&format!("SELECT {}", joined(300_000, op, |i| format!("a{i} = b"))));
    }
}

#[test]
fn long_lists_are_parsed_and_dropped() {
    let many = 100_000;
    let numbers = joined(many, ",", |i| i.to_string());
    check_fits(&format!("SELECT * FROM t WHERE a IN ({numbers})"));
    check_fits(&format!("SELECT f({numbers})"));
    check_fits(&format!("INSERT INTO t VALUES {}", joined(many, ",", |i| format!("({i}, 'x')"))));
    check_fits(&format!("SELECT {}", joined(many, ",", |i| format!("a{i} AS b"))));
    check_fits(&joined(20_000, " UNION ALL ", |i| format!("SELECT {i}")));
}

#[test]
fn long_chains_of_mixed_operators_are_refused_rather_than_built() {
    check_too_deep(&format!("SELECT {}", joined(100_000, " - ", |i| i.to_string())));
    check_too_deep(&format!("SELECT {}", joined(100_000, " = ", |i| i.to_string())));
    check_too_deep(&format!("SELECT a{}", " IS NULL".repeat(100_000)));
    check_too_deep(&format!("SELECT * FROM t{}", " JOIN t ON a = b".repeat(100_000)));
    check_too_deep(&joined(100_000, " EXCEPT ", |i| format!("SELECT {i}")));
}

#[test]
fn chains_inside_left_nested_parentheses_add_up() {
    let mut text = "1".to_owned();
    for _ in 0..150 {
        text = format!("({text}{})", " - 1".repeat(150));
    }
    check_too_deep(&format!("SELECT {text}"));
}

#[test]
fn deep_nesting_is_refused() {
    let many = 100_000;
    check_too_deep(&format!("SELECT {}1{}", "(".repeat(many), ")".repeat(many)));
    check_too_deep(&format!("SELECT {}", "(".repeat(many)));
    check_too_deep(&format!("SELECT {} 1", "NOT ".repeat(many)));
    check_too_deep(&format!("SELECT {} 1", "- ".repeat(many)));
    check_too_deep(&format!("SELECT {}", "f(".repeat(many)));
    check_too_deep(&format!("SELECT {}", "CASE WHEN ".repeat(many)));
    check_too_deep(&format!("SELECT {}", "(SELECT ".repeat(many)));
    check_too_deep(&format!("SELECT * FROM {}", "(SELECT * FROM ".repeat(many)));
    check_too_deep(&format!("SELECT * FROM {}", "(".repeat(many)));
    check_too_deep(&format!("SELECT {}", "a IN (SELECT 1 WHERE ".repeat(many)));
    check_too_deep(&format!("SELECT {}", "EXISTS (SELECT ".repeat(many)));
    check_too_deep(&"WITH a AS (".repeat(many));
    check_too_deep(&"(".repeat(many));
}

#[test]
fn a_hundred_and_fifty_levels_are_accepted() {
    let levels = 150;
    check_fits(&format!("SELECT {}1{}", "(".repeat(levels), ")".repeat(levels)));
    check_fits(&format!("SELECT {} 1", "NOT ".repeat(levels)));
    let levels = 30;
    check_fits(&format!("SELECT {}1{}", "(SELECT ".repeat(levels), ")".repeat(levels)));
    let from = "SELECT * FROM (".repeat(levels);
    check_fits(&format!("{from}SELECT 1{}", ") AS d".repeat(levels)));
}

#[test]
fn large_texts_are_accepted() {
    let identifier = "a".repeat(1 << 20);
    check_fits(&format!("SELECT {identifier} FROM {identifier}"));
    let string = "x".repeat(16 << 20);
    check_fits(&format!("INSERT INTO t VALUES ('{string}')"));
    check_fits(&format!("SELECT /* {string} */ 1"));
}

#[test]
fn a_balanced_chain_keeps_its_operands_in_order() {
    let text = format!("SELECT {}", joined(1000, " OR ", |i| format!("c{i}")));
    let statement = parse(&text, &COLONS).expect("parses");
    let Kind::Select(query) = &statement.kind else { panic!("no query") };
    let QueryBody::Select(_) = &query.body else { panic!("no select") };
    let mut columns = Vec::new();
    visit::exprs(&statement.kind, &mut |expr| {
        if let Node::Column(name) = &expr.node {
            columns.push(name.parts[0].value.clone());
        }
    });
    assert_eq!(columns, (0..1000).map(|i| format!("c{i}")).collect::<Vec<_>>());
}
