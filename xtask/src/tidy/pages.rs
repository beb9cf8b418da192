//! What the pages for users say must be there: the generated list, the links, the cases behind the comparison.

use super::violation::Violation;
use crate::refusals;
use crate::tree::Tree;

const COMPARISON: &str = "docs/comparison.md";

pub(super) fn refusals(tree: &Tree) -> Vec<Violation> {
    let Some(page) = tree.text(refusals::PAGE) else { return Vec::new() };
    let is_fresh = page == refusals::page(tree);
    let stale = || Violation::new(refusals::PAGE, "is stale: run `cargo run -p xtask -- refusals`");
    if is_fresh { Vec::new() } else { vec![stale()] }
}

pub(super) fn links(tree: &Tree) -> Vec<Violation> {
    let is_page =
        |path: &str| path.ends_with(".md") && (path.starts_with("docs/") || !path.contains('/'));
    let mut violations = Vec::new();
    for (page, text) in tree.iter().filter(|(path, _)| is_page(path)) {
        for (at, line) in text.lines().enumerate() {
            for link in found(line) {
                if let Some(message) = broken(tree, page, &link) {
                    violations.push(Violation::new(format!("{page}:{}", at + 1), message));
                }
            }
        }
    }
    violations
}

pub(super) fn comparison(tree: &Tree) -> Vec<Violation> {
    let Some(page) = tree.text(COMPARISON) else { return Vec::new() };
    let is_row = |line: &str| line.starts_with("| ") && !line.starts_with("| feature |");
    let rows = page.lines().enumerate().filter(|(_, line)| is_row(line));
    let cells = rows.filter_map(|(at, line)| Some((at, line.split(" | ").nth(1)?)));
    let bare = cells.filter(|(_, cell)| !found(cell).iter().any(|link| link.title.is_some()));
    bare.map(|(at, _)| {
        Violation::new(format!("{COMPARISON}:{}", at + 1), "Pando's cell links to no case")
    })
    .collect()
}

struct Link<'a> {
    target: &'a str,
    title: Option<&'a str>,
}

/// The links of a line: `[text](target)` and `[text](target "title")`.
fn found(line: &str) -> Vec<Link<'_>> {
    let mut links = Vec::new();
    let mut rest = line;
    while let Some((_, behind)) = rest.split_once("](") {
        let end = behind.find([')', ' ']).unwrap_or(behind.len());
        let (target, after) = behind.split_at(end);
        let titled = after.strip_prefix(" \"").and_then(|after| after.split_once("\")"));
        links.push(Link { target, title: titled.map(|(title, _)| title) });
        rest = titled.map_or(after, |(_, after)| after);
    }
    links
}

fn broken(tree: &Tree, page: &str, link: &Link<'_>) -> Option<String> {
    if link.target.contains("://") || link.target.starts_with('#') {
        return None;
    }
    let target = link.target.split('#').next().unwrap_or_default();
    let path = joined(page, target);
    let Some(text) = tree.text(&path) else {
        let is_folder = tree.below(&path).next().is_some();
        return (!is_folder).then(|| format!("`{path}` does not exist"));
    };
    let title = link.title?;
    let holds = if path.ends_with(".slt") {
        text.lines().any(|line| line == title)
    } else if path.ends_with(".case") {
        text.lines().any(|line| line.strip_prefix("== ") == Some(title))
    } else {
        text.contains(title)
    };
    (!holds).then(|| format!("`{path}` has no case `{title}`"))
}

/// Where a link of a page leads, from the root.
fn joined(page: &str, target: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;

    #[test]
    fn the_list_of_refusals_is_fresh() {
        let source = ("features/a/src/b.rs", "fn f() { Error::unsupported(1, \"x\", \"\") }");
        let page = crate::refusals::page(&crate::tree::Tree::of(&[source]));
        let files = |page: &'static str| [source, (crate::refusals::PAGE, page)];
        assert_eq!(found(super::refusals, &files(page.leak())), [""; 0]);
        assert_eq!(
            found(super::refusals, &files("old")),
            ["docs/refusals.md: is stale: run `cargo run -p xtask -- refusals`"]
        );
    }

    #[test]
    fn links_lead_somewhere() {
        let page =
            "[a](../t/a.slt \"select (1)\") [b](../t/a.slt \"select 2\") [c](../t/b.case \"one\")
            [d](../t/b.case \"on\") [e](https://x.y) [f](../t) [g](z.md)";
        let deep = "[a](../../t/b.case) [b](q.md) [c](../p.md) [d](../t)";
        let files = [
            ("docs/d/q.md", deep),
            ("docs/p.md", page),
            ("r.md", "[a](docs/d/) [b](d)"),
            ("t/a.slt", "select (1)\n"),
            ("t/b.case", "== one\n"),
        ];
        assert_eq!(
            found(super::links, &files),
            [
                "docs/d/q.md:1: `docs/t` does not exist",
                "docs/p.md:1: `t/a.slt` has no case `select 2`",
                "docs/p.md:2: `t/b.case` has no case `on`",
                "docs/p.md:2: `docs/z.md` does not exist",
                "r.md:1: `d` does not exist",
            ]
        );
    }

    #[test]
    fn pandos_cells_name_their_case() {
        let page = "| feature | Pando |\n|---|---|\n| a | [yes](x \"y\") |\n| b | [yes](x) |\n";
        assert_eq!(
            found(super::comparison, &[("docs/comparison.md", page)]),
            ["docs/comparison.md:4: Pando's cell links to no case"]
        );
    }
}
