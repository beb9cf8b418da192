//! What must not stand in code or come from elsewhere.

use super::violation::Violation;
use crate::tree::Tree;

/// Written in two halves, so that this file passes its own rule.
const NOTES: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];
const CODE: [&str; 8] = [".rs", ".toml", ".sh", ".py", ".java", ".yaml", ".case", "Makefile"];

/// A note is fine with an issue's number (`#12`) on its line.
pub(super) fn notes(tree: &Tree) -> Vec<Violation> {
    let is_code = |path: &str, text: &str| {
        text.starts_with("#!") || CODE.iter().any(|end| path.ends_with(end))
    };
    let mut violations = Vec::new();
    for (path, text) in tree.iter().filter(|(path, text)| is_code(path, text)) {
        for (at, line) in text.lines().enumerate() {
            if let Some(note) =
                NOTES.iter().find(|note| line.contains(**note) && !names_issue(line))
            {
                let message = format!("`{note}` without the number of an issue");
                violations.push(Violation::new(format!("{path}:{}", at + 1), message));
            }
        }
    }
    violations
}

/// Kinds of errors with a number for clients.
const NUMBERED: [&str; 2] = ["ErrorKind::Refused {", "ErrorKind::ShardingValue {"];

/// A pattern over such a kind that looks at its number. Tests may.
pub(super) fn codes(tree: &Tree) -> Vec<Violation> {
    let is_source = |path: &str| path.ends_with(".rs") && path.contains("/src/");
    let mut violations = Vec::new();
    for (path, text) in tree.iter().filter(|(path, _)| is_source(path)) {
        let code = text.split_once("\n#[cfg(test)]\nmod ").map_or(text, |(before, _)| before);
        for kind in NUMBERED {
            for (at, _) in code.match_indices(kind) {
                let inside = code[at + kind.len()..].split('}').next().unwrap_or_default();
                let number = inside.split("code:").nth(1).unwrap_or_default().trim_start();
                // Without dots it is made, not looked at.
                if number.starts_with(|c: char| c.is_ascii_digit()) && inside.contains("..") {
                    let line = code[..at].matches('\n').count() + 1;
                    let message =
                        "the number of an error is only what clients read; go by why it is refused";
                    violations.push(Violation::new(format!("{path}:{line}"), message));
                }
            }
        }
    }
    violations
}

fn names_issue(line: &str) -> bool {
    line.split('#').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

pub(super) fn git(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (at, line) in tree.text("Cargo.lock").unwrap_or_default().lines().enumerate() {
        if line.trim_start().starts_with("source = \"git+") {
            let message = format!("a dependency comes from git: {}", line.trim());
            violations.push(Violation::new(format!("Cargo.lock:{}", at + 1), message));
        }
    }
    let root = tree.workspace();
    let own = tree.crates();
    let tables = own.iter().flat_map(|own| {
        let place = format!("{}/Cargo.toml", own.folder);
        [(place.clone(), &own.manifest.dependencies), (place, &own.manifest.dev_dependencies)]
    });
    let root = [("Cargo.toml".to_owned(), &root.workspace_dependencies)];
    for (place, table) in root.into_iter().chain(tables) {
        for (name, _) in table.iter().filter(|(_, dependency)| dependency.is_git) {
            violations.push(Violation::new(place.clone(), format!("`{name}` comes from git")));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;

    #[test]
    fn a_note_needs_an_issue() {
        let [later, broken] = super::NOTES;
        let code = format!("a\n// {later}(#12): x\n// {later}: y\nlet s = \"{broken}\";\n");
        let files = [("a.rs", code.as_str()), ("page.md", code.as_str())];
        assert_eq!(
            found(super::notes, &files),
            [
                format!("a.rs:3: `{later}` without the number of an issue"),
                format!("a.rs:4: `{broken}` without the number of an issue")
            ]
        );
    }

    #[test]
    fn a_number_of_a_refusal_is_made_and_not_looked_at() {
        let looks = "fn f() {\n matches!(e, ErrorKind::Refused {\n code: 1 | 2, .. })\n}";
        let makes = "fn f() { ErrorKind::ShardingValue { code: 1, message } }";
        let tests = format!("fn f() {{}}\n#[cfg(test)]\nmod tests {{ {looks} }}");
        let files = [("a/src/a.rs", looks), ("a/src/b.rs", makes), ("a/src/c.rs", tests.as_str())];
        let message = "the number of an error is only what clients read; go by why it is refused";
        assert_eq!(found(super::codes, &files), [format!("a/src/a.rs:2: {message}")]);
        assert_eq!(found(super::codes, &[("a/tests/a.rs", looks)]), [""; 0]);
    }

    #[test]
    fn a_script_without_ending_is_code() {
        let script = format!("#!/bin/sh\n# {}\n", super::NOTES[0]);
        assert_eq!(found(super::notes, &[("testing/up", &script)]).len(), 1);
    }

    #[test]
    fn a_git_source_is_found_in_the_lock_and_in_a_manifest() {
        let lock = "name = \"x\"\nsource = \"registry+y\"\nname = \"z\"\nsource = \"git+w\"\n";
        let own = "[package]\nname = \"a\"\n[dev-dependencies]\nz = { git = \"w\" }\n";
        assert_eq!(
            found(super::git, &[("Cargo.lock", lock), ("a/Cargo.toml", own)]),
            [
                "Cargo.lock:4: a dependency comes from git: source = \"git+w\"",
                "a/Cargo.toml: `z` comes from git"
            ]
        );
    }
}
