//! The page itself.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Refusal;

const HEAD: &str = include_str!("head.md");
/// Codes whose SELECT is answered over rows read before: what merging and routing refuse.
const GIVEN_ON: [&str; 5] = ["20030", "20034", "20035", "20101", "30001"];
/// Where such refusals are made; elsewhere the same code means that nothing else may be tried.
const PLANNING: [&str; 12] = [
    "features/",
    "crates/engine/src/plan/check.rs",
    "crates/engine/src/plan/direct.rs",
    "crates/engine/src/plan/gather.rs",
    "crates/engine/src/plan/aggregate.rs",
    "crates/engine/src/plan/resolve.rs",
    "crates/engine/src/merge/aggregate.rs",
    "crates/engine/src/merge/key.rs",
    "crates/engine/src/merge/stream.rs",
    "db/mysql/src/dialect/ordering.rs",
    "db/postgres/src/dialect/ordering.rs",
    "db/sqlite/src/dialect.rs",
];

/// The page for these refusals.
pub(super) fn of(refusals: Vec<Refusal>) -> String {
    let mut rows: BTreeMap<(String, String, String), Vec<String>> = BTreeMap::new();
    for refusal in refusals {
        let key = (refusal.code, refusal.reason, refusal.instead);
        rows.entry(key).or_default().push(refusal.place);
    }
    let mut page = HEAD.to_owned();
    page.push_str("| code | reason | what to do instead | decided in |\n|---|---|---|---|\n");
    for ((code, reason, instead), places) in &rows {
        let is_given_on = GIVEN_ON.contains(&code.as_str())
            && places.iter().any(|place| PLANNING.iter().any(|start| place.starts_with(start)));
        let mark = if is_given_on { " †" } else { "" };
        let links: Vec<String> =
            places.iter().map(|place| format!("[{}](../{place})", short(place))).collect();
        let cells = (cell(reason), cell(instead), links.join(", "));
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| {code}{mark} | {} | {} | {} |", cells.0, cells.1, cells.2);
    }
    page
}

/// `features/sharding/src/route.rs` is the sharding room's `route`.
fn short(place: &str) -> String {
    let place = place.trim_end_matches(".rs").trim_end_matches("/mod");
    let (folder, file) = place.split_once("/src/").unwrap_or(("", place));
    let name = folder.rsplit('/').next().unwrap_or_default();
    format!("{name} {file}")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::super::page;
    use crate::tree::Tree;

    /// The rows of the page for one file of the sharding room.
    fn rows(source: &str) -> Vec<String> {
        let page = page(&Tree::of(&[("features/sharding/src/route.rs", source)]));
        let rows = page.lines().skip_while(|line| !line.starts_with("|---"));
        rows.skip(1).map(str::to_owned).collect()
    }

    #[test]
    fn a_call_stands_there_with_its_texts() {
        let source = "fn f() { Err(Error::refused(20036, format!(\"`{}` a|b\", x.y), \"do c\",)) }";
        let expected =
            "| 20036 | `…` a\\|b | do c | [sharding route](../features/sharding/src/route.rs) |";
        assert_eq!(rows(source), [expected]);
    }

    #[test]
    fn a_helper_stands_there_once_for_each_call() {
        let source =
            "fn no(what: &str) -> Error { Error::refused(30001, format!(\"{what} cannot\"), \"\") }
            fn f() { no(\"A\"); no(&format!(\"B {x}\")) }";
        let place = "[sharding route](../features/sharding/src/route.rs)";
        let expected = ["A", "B …"].map(|what| format!("| 30001 † | {what} cannot |  | {place} |"));
        assert_eq!(rows(source), expected);
    }

    #[test]
    fn what_only_hands_a_reason_on_is_left_out() {
        assert_eq!(rows("fn f(why: &str) { Error::refused(20030, why, \"\") }"), [""; 0]);
    }
}
