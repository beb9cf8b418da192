//! What pages name in backticks is there: files, folders, modules, and the things in them.

use super::prose::is_decision;
use super::violation::Violation;
use crate::tree::{Crate, Tree};

const PAGES: [&str; 2] = ["ARCHITECTURE.md", "STYLE.md"];
/// A word with one of these endings is a file's name.
const FILES: [&str; 4] = [".rs", ".md", ".toml", ".lock"];
/// How a thing begins whose name a path of modules ends with.
const DEFINED: [&str; 8] = ["fn", "struct", "enum", "trait", "mod", "const", "static", "type"];

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let crates = tree.crates();
    let mut violations = Vec::new();
    for (page, text) in tree.iter().filter(|(path, _)| PAGES.contains(path) || is_decision(path)) {
        for (at, name) in names(text) {
            if !is_there(tree, &crates, name) {
                let message = format!("names `{name}`, which does not exist");
                violations.push(Violation::new(format!("{page}:{at}"), message));
            }
        }
    }
    violations
}

/// What stands between backticks, outside blocks of code, with its line.
fn names(text: &str) -> Vec<(usize, &str)> {
    let mut names = Vec::new();
    let mut in_block = false;
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            names.extend(line.split('`').skip(1).step_by(2).map(|name| (at + 1, name)));
        }
    }
    names
}

/// False for what looks like one of our paths and leads nowhere. Another project's has its name and a colon in front: `sqlx:src/a.rs`.
fn is_there(tree: &Tree, crates: &[Crate], name: &str) -> bool {
    let is_plain = |part: &str| {
        part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '*' | '/'))
    };
    let parts: Vec<&str> = name.split("::").collect();
    if !parts.iter().all(|part| is_plain(part)) {
        return true;
    }
    match parts.as_slice() {
        [_] => is_file_there(tree, name),
        [first, rest @ ..] if first.starts_with(char::is_uppercase) => {
            is_part_there(tree, crates, first, rest)
        }
        [first, rest @ ..] => is_thing_there(tree, crates, first, rest),
        [] => true,
    }
}

fn is_file_there(tree: &Tree, name: &str) -> bool {
    let is_elsewhere = name.starts_with(['/', '.']) || name.starts_with("target/");
    if is_elsewhere || !name.contains('/') && !FILES.iter().any(|end| name.ends_with(end)) {
        return true;
    }
    if !name.contains('/') {
        let is_named = |path: &str| path.rsplit('/').next() == Some(name);
        return tree.iter().any(|(path, _)| is_named(path));
    }
    let wanted: Vec<&str> = name.trim_end_matches('/').split('/').collect();
    tree.iter().any(|(path, _)| {
        let mut parts = path.split('/');
        wanted.iter().all(|wanted| {
            parts.next().is_some_and(|part| matches!(*wanted, "*" | "NAME") || *wanted == part)
        })
    })
}

/// `engine::plan::Plan`: as far as there are modules these are followed, and what is left must be defined in the last one.
fn is_thing_there(tree: &Tree, crates: &[Crate], first: &str, rest: &[&str]) -> bool {
    let package = format!("pando-{}", first.replace('_', "-"));
    let own = crates.iter().find(|own| own.manifest.package.as_deref() == Some(package.as_str()));
    let Some(own) = own else { return true };
    let mut module = format!("{}/src", own.folder);
    let mut left = rest.iter();
    for part in left.by_ref() {
        if !tree.has_module(&module, part) {
            return is_defined(tree, &module, part)
                && left.all(|part| is_defined(tree, &module, part));
        }
        module = format!("{module}/{part}");
    }
    true
}

/// `Session::answer`: what is defined in a crate that defines the type. Types that none of ours defines are let be.
fn is_part_there(tree: &Tree, crates: &[Crate], kind: &str, rest: &[&str]) -> bool {
    let sources: Vec<String> = crates.iter().map(|own| format!("{}/src", own.folder)).collect();
    let mut owners = sources.iter().filter(|own| is_defined(tree, own, kind)).peekable();
    owners.peek().is_none() || owners.any(|own| rest.iter().all(|part| is_defined(tree, own, part)))
}

fn is_defined(tree: &Tree, module: &str, name: &str) -> bool {
    let file = format!("{module}.rs");
    let texts = tree.below(module).chain([file.as_str()]).filter_map(|path| tree.text(path));
    let mut texts = texts.flat_map(str::lines);
    texts.any(|line| {
        if !line.contains(name) || line.trim_start().starts_with("//") {
            return false;
        }
        let words: Vec<&str> = line
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|w| !w.is_empty())
            .collect();
        let is_item = words.windows(2).any(|pair| DEFINED.contains(&pair[0]) && pair[1] == name);
        // A variant stands alone at the beginning of its line.
        is_item || words.first() == Some(&name) && name.starts_with(char::is_uppercase)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;

    /// What is wrong with a page that names this.
    fn check(name: &str) -> Vec<String> {
        let page = format!("See `{name}`.\n");
        let files = [
            ("STYLE.md", page.as_str()),
            ("crates/engine/Cargo.toml", "[package]\nname = \"pando-engine\"\n"),
            ("crates/engine/src/lib.rs", "mod plan;\n"),
            (
                "crates/engine/src/plan/mod.rs",
                "/// Told\npub struct Plan;\nenum Way {\n    Short,\n}\n",
            ),
            ("crates/engine/src/plan/about.rs", "pub(crate) fn changes() {}\n"),
            ("db/mysql/src/error.rs", ""),
        ];
        found(super::check, &files)
    }

    #[test]
    fn what_is_there_may_be_named() {
        for name in [
            "crates/engine/src/lib.rs",
            "crates/engine/",
            "db/*/src/error.rs",
            "crates/NAME",
            "error.rs",
            "engine::plan",
            "engine::plan::about",
            "engine::plan::Plan",
            "engine::plan::Way::Short",
            "engine::plan::changes",
            "Plan::changes",
            "Way::Short",
        ] {
            assert_eq!(check(name), [""; 0], "{name}");
        }
    }

    #[test]
    fn what_is_no_path_of_ours_is_let_be() {
        for name in [
            "pando_sql::x",
            "route::Error",
            "/version",
            "~/.cache/pando",
            "sqlx:src/none.rs",
            "a / b",
            "target/pgo/pando",
            "Plan",
            "Client::none",
            "pgcat:Plan::none",
        ] {
            assert_eq!(check(name), [""; 0], "{name}");
        }
    }

    #[test]
    fn what_is_gone_is_found() {
        for name in [
            "crates/none",
            "db/*/src/none.rs",
            "none.rs",
            "engine::none",
            "engine::plan::None",
            "engine::plan::Plan::none",
            "engine::plan::Way::Shor",
            "engine::plan::Told",
            "Plan::none",
        ] {
            let message = format!("STYLE.md:1: names `{name}`, which does not exist");
            assert_eq!(check(name), [message]);
        }
    }

    #[test]
    fn blocks_of_code_are_not_read() {
        let page = "```\n`crates/none`\n```\n`crates/gone`\n";
        assert_eq!(
            found(super::check, &[("docs/decisions/a.md", page), ("docs/other.md", page)]),
            ["docs/decisions/a.md:4: names `crates/gone`, which does not exist"]
        );
    }
}
