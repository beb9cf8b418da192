//! How the pages for developers are written: narrow enough for two windows side by side, and short.

use super::violation::Violation;
use crate::tree::Tree;

const COLUMNS: usize = 120;
/// Lines of the map.
const MAP: usize = 120;
/// Lines of a decision: a page.
const DECISION: usize = 60;

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const PAGES: [&str; 6] = [
    ARCHITECTURE,
    "README.md",
    "CONTRIBUTING.md",
    "STYLE.md",
    "bench/README.md",
    "docs/dependencies.md",
];

/// True for a page about one decision.
pub(super) fn is_decision(path: &str) -> bool {
    path.starts_with("docs/decisions/") && path.ends_with(".md")
}

pub(super) fn columns(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (page, text) in tree.iter().filter(|(path, _)| PAGES.contains(path) || is_decision(path)) {
        for (at, line) in prose(text) {
            let width = width(line);
            if width > COLUMNS {
                let message = format!("has {width} columns, may have {COLUMNS}");
                violations.push(Violation::new(format!("{page}:{at}"), message));
            }
        }
    }
    violations
}

/// Lines that a person breaks, with their numbers: not those of tables, nor those of ```` ```text ````, which a program
/// has printed.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut prose = Vec::new();
    let mut block: Option<&str> = None;
    for (at, line) in text.lines().enumerate() {
        let own = line.trim_start();
        match (own.strip_prefix("```"), block) {
            (Some(_), Some(_)) => block = None,
            (Some(language), None) => block = Some(language),
            (None, Some("text")) => {}
            (None, _) if own.starts_with('|') => {}
            (None, _) => prose.push((at + 1, line)),
        }
    }
    prose
}

/// Characters of a line without where its links lead.
fn width(line: &str) -> usize {
    let mut rest = line;
    let mut width = 0;
    while let Some((text, behind)) = rest.split_once("](") {
        let Some((_, after)) = behind.split_once(')') else { break };
        width += text.chars().count() + 1;
        rest = after;
    }
    width + rest.chars().count()
}

pub(super) fn lengths(tree: &Tree) -> Vec<Violation> {
    let bounded = tree.iter().filter_map(|(path, text)| match path {
        ARCHITECTURE => Some((path, text, MAP)),
        path if is_decision(path) => Some((path, text, DECISION)),
        _ => None,
    });
    let counted = bounded.map(|(path, text, most)| (path, text.lines().count(), most));
    counted
        .filter(|(_, lines, most)| lines > most)
        .map(|(path, lines, most)| {
            Violation::new(path, format!("has {lines} lines, may have {most}"))
        })
        .collect()
}

pub(super) fn decisions(tree: &Tree) -> Vec<Violation> {
    let map = tree.text(ARCHITECTURE).unwrap_or_default();
    let pages = tree.iter().map(|(path, _)| path).filter(|path| is_decision(path));
    pages
        .filter(|path| !map.contains(&format!("]({path})")))
        .map(|path| Violation::new(ARCHITECTURE, format!("does not link to `{path}`")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;

    #[test]
    fn prose_is_narrow_but_for_tables_links_and_output() {
        let (fits, wide) = ("é".repeat(120), "x".repeat(121));
        let link = format!("[{}]({wide}) and [more]({wide})", "x".repeat(100));
        let page = format!("{fits}\n{wide}\n| {wide} |\n  | {wide} |\n{link}\n{link} {fits}\n");
        let blocks = format!("```text\n{wide}\n```\n```sh\n{wide}\n```\n{wide}\n");
        let files = [
            ("README.md", page.as_str()),
            ("docs/decisions/a.md", blocks.as_str()),
            ("docs/distsql.md", wide.as_str()),
        ];
        assert_eq!(
            found(super::columns, &files),
            [
                "README.md:2: has 121 columns, may have 120",
                "README.md:6: has 234 columns, may have 120",
                "docs/decisions/a.md:5: has 121 columns, may have 120",
                "docs/decisions/a.md:7: has 121 columns, may have 120"
            ]
        );
    }

    #[test]
    fn the_map_and_decisions_are_short() {
        let lines = |count: usize| "a\n".repeat(count);
        let (map, short, long) = (lines(121), lines(60), lines(61));
        let files = [
            ("ARCHITECTURE.md", map.as_str()),
            ("docs/decisions/a.md", short.as_str()),
            ("docs/decisions/b.md", long.as_str()),
        ];
        assert_eq!(
            found(super::lengths, &files),
            [
                "ARCHITECTURE.md: has 121 lines, may have 120",
                "docs/decisions/b.md: has 61 lines, may have 60"
            ]
        );
    }

    #[test]
    fn every_decision_is_on_the_map() {
        let files = [
            ("ARCHITECTURE.md", "[a](docs/decisions/a.md) `docs/decisions/b.md`"),
            ("docs/decisions/a.md", ""),
            ("docs/decisions/b.md", ""),
        ];
        assert_eq!(
            found(super::decisions, &files),
            ["ARCHITECTURE.md: does not link to `docs/decisions/b.md`"]
        );
    }
}
