//! Plays `uses.case`: statements of both families, and each use in them.

#![allow(clippy::unwrap_used, reason = "test support functions")]

mod support;

/// A case: the families (`my`, `pg`) and the statement on one line, each use on one of its own behind it.
fn outcome(case: &str) -> String {
    let (head, expected) = case.split_once('\n').unwrap_or((case, ""));
    let (families, sql) = head.split_once(": ").unwrap();
    let mut wrong = String::new();
    for family in families.split(' ') {
        let told = support::told(family, sql);
        if told != expected.trim_end() {
            wrong = format!("{families}: {sql}\n{told}");
        }
    }
    wrong
}

#[test]
fn every_use_is_found_with_its_place() {
    let cases: Vec<&str> = include_str!("uses.case")
        .split("\n\n")
        .map(str::trim)
        .filter(|case| !case.is_empty() && !case.starts_with('#'))
        .collect();
    let wrong: Vec<String> =
        cases.iter().map(|case| outcome(case)).filter(|wrong| !wrong.is_empty()).collect();
    assert!(cases.len() >= 120, "{} cases", cases.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
