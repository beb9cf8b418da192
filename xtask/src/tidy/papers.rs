//! What must be written down: the first line of a crate, its README, its place in ARCHITECTURE.md, why each dependency.

use std::collections::BTreeSet;

use super::violation::Violation;
use crate::tree::{Crate, Tree};

pub(super) fn module_doc(tree: &Tree) -> Vec<Violation> {
    let roots = tree
        .iter()
        .filter(|(path, _)| path.ends_with("src/lib.rs") || path.ends_with("src/main.rs"));
    roots
        .filter(|(_, text)| !text.trim_start().starts_with("//!"))
        .map(|(path, _)| Violation::new(path, "starts without a `//!` line"))
        .collect()
}

pub(super) fn readme(tree: &Tree) -> Vec<Violation> {
    let is_missing = |folder: &str| {
        tree.text(&format!("{folder}/README.md")).is_none_or(|text| text.trim().is_empty())
    };
    let crates = tree.crates();
    let missing = crates.iter().filter(|own| is_missing(&own.folder));
    missing.map(|own| Violation::new(own.folder.clone(), "has no README.md")).collect()
}

/// A crate may be named by its package or by its folder.
pub(super) fn architecture(tree: &Tree) -> Vec<Violation> {
    const PAGE: &str = "ARCHITECTURE.md";
    let crates = tree.crates();
    if crates.is_empty() {
        return Vec::new();
    }
    let Some(page) = tree.text(PAGE) else {
        return vec![Violation::new(PAGE, "is missing")];
    };
    let package = |own: &Crate| own.manifest.package.clone().unwrap_or_default();
    let nameless =
        crates.iter().filter(|own| !has_word(page, &package(own)) && !has_word(page, &own.folder));
    nameless
        .map(|own| {
            Violation::new(PAGE, format!("does not name `{}` ({})", package(own), own.folder))
        })
        .collect()
}

/// Each dependency that is not ours stands in the page of reasons.
pub(super) fn dependencies(tree: &Tree) -> Vec<Violation> {
    const PAGE: &str = "docs/dependencies.md";
    let crates = tree.crates();
    let page = tree.text(PAGE).unwrap_or_default();
    let ours: BTreeSet<&str> =
        crates.iter().filter_map(|own| own.manifest.package.as_deref()).collect();
    let names = named(tree, &crates);
    let others = names.iter().filter(|name| !ours.contains(name.as_str()));
    others
        .filter(|name| !has_word(page, name))
        .map(|name| Violation::new(PAGE, format!("gives no reason for the dependency `{name}`")))
        .collect()
}

fn named(tree: &Tree, crates: &[Crate]) -> BTreeSet<String> {
    let workspace = tree.workspace();
    let mut names: BTreeSet<String> = workspace.workspace_dependencies.keys().cloned().collect();
    for own in crates {
        names.extend(own.manifest.dependencies.keys().cloned());
        names.extend(own.manifest.dev_dependencies.keys().cloned());
    }
    names
}

/// `tokio` is not named by `tokio-rustls`.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;

    #[test]
    fn a_crate_starts_with_its_purpose() {
        let files = [("a/src/lib.rs", "//! A.\n"), ("b/src/main.rs", "use x;\n//! B.\n")];
        assert_eq!(
            found(super::module_doc, &files),
            ["b/src/main.rs: starts without a `//!` line"]
        );
    }

    #[test]
    fn a_crate_without_readme_or_with_an_empty_one_is_found() {
        let of = "[package]\nname = \"x\"\n";
        let files = [
            ("a/Cargo.toml", of),
            ("a/README.md", "A.\n"),
            ("b/Cargo.toml", of),
            ("c/Cargo.toml", of),
            ("c/README.md", "\n"),
        ];
        assert_eq!(found(super::readme, &files), ["b: has no README.md", "c: has no README.md"]);
    }

    #[test]
    fn the_architecture_page_names_crates() {
        let files = [
            ("crates/a/Cargo.toml", "[package]\nname = \"pando-a\"\n"),
            ("crates/b/Cargo.toml", "[package]\nname = \"pando-b\"\n"),
            ("crates/c/Cargo.toml", "[package]\nname = \"pando-c\"\n"),
            ("ARCHITECTURE.md", "`crates/a`, pando-c, crates/b-c\n"),
        ];
        assert_eq!(
            found(super::architecture, &files),
            ["ARCHITECTURE.md: does not name `pando-b` (crates/b)"]
        );
        assert_eq!(found(super::architecture, &files[..1]), ["ARCHITECTURE.md: is missing"]);
    }

    #[test]
    fn each_dependency_has_its_reason() {
        let root = "[workspace.dependencies]\ntokio = \"1\"\ntokio-rustls = \"1\"\n";
        let a = "[package]\nname = \"pando-a\"\n[dependencies]\nbytes = \"1\"\n";
        let b = "[package]\nname = \"pando-b\"\n[dependencies]\npando-a = \"1\"\n";
        let files = [
            ("Cargo.toml", root),
            ("crates/a/Cargo.toml", a),
            ("crates/b/Cargo.toml", b),
            ("docs/dependencies.md", "| `tokio-rustls` | TLS |\n"),
        ];
        assert_eq!(
            found(super::dependencies, &files),
            [
                "docs/dependencies.md: gives no reason for the dependency `bytes`",
                "docs/dependencies.md: gives no reason for the dependency `tokio`"
            ]
        );
    }
}
