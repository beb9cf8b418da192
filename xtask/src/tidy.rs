//! What must stay true of the whole repository. One rule is one small function over the tree; the list is here.

mod layout;
mod order;
mod pages;
mod papers;
mod parameters;
mod paths;
mod prose;
mod sizes;
mod sources;
mod traits;
mod twins;
mod violation;
mod walls;

use crate::tree::Tree;
use violation::Violation;

/// One thing that must stay true.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) says: &'static str,
    check: fn(&Tree) -> Vec<Violation>,
}

/// Every rule, in the order of the report.
pub(crate) const RULES: &[Rule] = &[
    Rule { name: "walls", says: "imports between our crates go one way", check: walls::check },
    Rule {
        name: "file-length",
        says: "600 lines without tests, 150 for lib.rs and mod.rs",
        check: sizes::check,
    },
    Rule {
        name: "module-doc",
        says: "lib.rs and main.rs start with `//!`",
        check: papers::module_doc,
    },
    Rule { name: "readme", says: "every crate has a README.md", check: papers::readme },
    Rule {
        name: "architecture",
        says: "ARCHITECTURE.md names every crate",
        check: papers::architecture,
    },
    Rule {
        name: "dependencies",
        says: "docs/dependencies.md says why there is each dependency",
        check: papers::dependencies,
    },
    Rule {
        name: "columns",
        says: "pages for developers have at most 120 columns, but for tables, links and output",
        check: prose::columns,
    },
    Rule {
        name: "page-length",
        says: "ARCHITECTURE.md has at most 120 lines, a page of docs/decisions 60",
        check: prose::lengths,
    },
    Rule {
        name: "decisions",
        says: "ARCHITECTURE.md links to every page of docs/decisions",
        check: prose::decisions,
    },
    Rule {
        name: "paths",
        says: "what STYLE.md, ARCHITECTURE.md and docs/decisions name is there",
        check: paths::check,
    },
    Rule { name: "room-cases", says: "every room has a tests/*.case", check: layout::room_cases },
    Rule {
        name: "room-lines",
        says: "a room is named by its one line in the list of rooms, and nowhere else",
        check: layout::room_lines,
    },
    Rule {
        name: "db-symmetry",
        says: "every database has the same files",
        check: layout::db_symmetry,
    },
    Rule {
        name: "session-order",
        says: "imports inside the engine's session go one way, but for a list of exceptions",
        check: order::check,
    },
    Rule {
        name: "twins",
        says: "the same role has the same file in db/mysql and db/postgres",
        check: twins::twins,
    },
    Rule {
        name: "notes",
        says: "a note to do something later names its issue",
        check: sources::notes,
    },
    Rule {
        name: "parameters",
        says: "no function takes a tuple or a bool, but for a list of exceptions",
        check: parameters::check,
    },
    Rule {
        name: "traits",
        says: "a trait has at most 6 methods, but for a list with the reason for each",
        check: traits::check,
    },
    Rule {
        name: "codes",
        says: "nothing goes by the number of a refusal: `Because` says why",
        check: sources::codes,
    },
    Rule {
        name: "refusals",
        says: "docs/refusals.md is what `cargo xtask refusals` writes",
        check: pages::refusals,
    },
    Rule {
        name: "links",
        says: "links of the root's pages and docs/ lead to files, and to the case their title names",
        check: pages::links,
    },
    Rule {
        name: "comparison",
        says: "each Pando cell of docs/comparison.md links to a case",
        check: pages::comparison,
    },
    Rule { name: "git-sources", says: "no dependency comes from git", check: sources::git },
];

/// Everything that is wrong, rule by rule.
pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let named = |rule: &'static Rule| {
        (rule.check)(tree).into_iter().map(|found| Violation { rule: rule.name, ..found })
    };
    RULES.iter().flat_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What rules answer for a made-up tree, as `place: message` lines.
    pub(super) fn found(rule: fn(&Tree) -> Vec<Violation>, files: &[(&str, &str)]) -> Vec<String> {
        let found = rule(&Tree::of(files));
        found.into_iter().map(|v| format!("{}: {}", v.place, v.message)).collect()
    }

    #[test]
    fn the_repository_is_tidy() {
        let tree = Tree::read(&crate::root()).expect("the repository can be read");
        assert!(tree.len() > 50, "the repository was not found: {} files", tree.len());
        let found: Vec<String> = check(&tree).iter().map(Violation::to_string).collect();
        assert!(found.is_empty(), "{} violations:\n{}", found.len(), found.join("\n"));
    }

    #[test]
    fn a_violation_names_its_rule() {
        let found = check(&Tree::of(&[("crates/a/src/lib.rs", "fn a() {}\n")]));
        let lines: Vec<String> = found.iter().map(Violation::to_string).collect();
        assert_eq!(lines, ["crates/a/src/lib.rs: [module-doc] starts without a `//!` line"]);
    }
}
