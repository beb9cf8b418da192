//! The page itself.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Refusal;

const HEAD: &str = include_str!("head.md");

/// The page for these refusals.
pub(super) fn of(refusals: Vec<Refusal>) -> String {
    let mut rows: BTreeMap<(String, String, String), (Vec<String>, bool)> = BTreeMap::new();
    for refusal in refusals {
        let key = (refusal.code, refusal.reason, refusal.instead);
        let (places, is_given_on) = rows.entry(key).or_default();
        places.push(refusal.place);
        *is_given_on |= refusal.is_given_on;
    }
    let mut page = HEAD.to_owned();
    page.push_str("| code | reason | what to do instead | decided in |\n|---|---|---|---|\n");
    for ((code, reason, instead), (places, is_given_on)) in &rows {
        let mark = if *is_given_on { " †" } else { "" };
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
        let source =
            "fn f() { Err(Error::limited_change(20036, format!(\"`{}` a|b\", x.y), \"do c\",)) }";
        let expected =
            "| 20036 | `…` a\\|b | do c | [sharding route](../features/sharding/src/route.rs) |";
        assert_eq!(rows(source), [expected]);
    }

    #[test]
    fn a_helper_stands_there_once_for_each_call() {
        let source =
            "fn no(what: &str) -> Error { Error::unmerged(30001, format!(\"{what} cannot\"), \"\") }
            fn f() { no(\"A\"); no(&format!(\"B {x}\")) }";
        let place = "[sharding route](../features/sharding/src/route.rs)";
        let expected = ["A", "B …"].map(|what| format!("| 30001 † | {what} cannot |  | {place} |"));
        assert_eq!(rows(source), expected);
    }

    #[test]
    fn a_call_that_is_told_the_reason_stands_there_too() {
        let source = "fn f() { Err(Error::refused(why, 20036, \"a\", \"b\")) }";
        let expected = "| 20036 | a | b | [sharding route](../features/sharding/src/route.rs) |";
        assert_eq!(rows(source), [expected]);
    }

    #[test]
    fn what_only_hands_a_reason_on_is_left_out() {
        assert_eq!(rows("fn f(why: &str) { Error::spans_shards(20030, why, \"\") }"), [""; 0]);
    }
}
