//! How many methods a trait has: who implements it, and who reads what it is for, holds all of them in mind.

use super::Violation;
use crate::source::{self, Source};
use crate::tree::Tree;

const MOST: usize = 6;

/// A trait that has more, and why.
struct Large {
    path: &'static str,
    name: &'static str,
    /// It may have fewer one day, and never more.
    methods: usize,
    why: &'static str,
}

const LARGE: &[Large] = &[
    Large {
        path: "crates/governor/src/house.rs",
        name: "House",
        methods: 12,
        why: "what the governor asks of the process around it, which has one implementation and its double in tests",
    },
    Large {
        path: "crates/kernel/src/backend.rs",
        name: "Backend",
        methods: 8,
        why: "one connection, whose state is one machine",
    },
    Large {
        path: "crates/kernel/src/catalog.rs",
        name: "Catalog",
        methods: 12,
        why: "each is one thing that can be known of a database, without a default that could be right",
    },
    Large {
        path: "crates/kernel/src/counters.rs",
        name: "Counters",
        methods: 7,
        why: "the words of one ledger: a question and its answer for each thing that is known of it",
    },
    Large {
        path: "crates/kernel/src/dialect.rs",
        name: "Language",
        methods: 19,
        why: "a vendor's language, of which half are doors to roles that a family may lack",
    },
    Large {
        path: "crates/kernel/src/dialect.rs",
        name: "Metadata",
        methods: 28,
        why: "a vendor's catalogue: each is a query, or a fact with a default",
    },
    Large {
        path: "crates/kernel/src/dialect.rs",
        name: "Ordering",
        methods: 7,
        why: "how a vendor compares and adds, which merging needs as one",
    },
    Large {
        path: "crates/kernel/src/dialect.rs",
        name: "Variables",
        methods: 14,
        why: "a vendor's settings: each is a fact with a default",
    },
    Large {
        path: "crates/kernel/src/own_session.rs",
        name: "OwnSession",
        methods: 7,
        why: "what a vendor's sessions have of their own: each is a fact with a default",
    },
    Large {
        path: "crates/kernel/src/presentation.rs",
        name: "Presentation",
        methods: 18,
        why: "what clients are shown of a vendor's own catalogue, statement by statement",
    },
    Large {
        path: "crates/kernel/src/runtime.rs",
        name: "Runtime",
        methods: 10,
        why: "the whole of what an operating system and an event loop give",
    },
    Large {
        path: "crates/kernel/src/session.rs",
        name: "Session",
        methods: 13,
        why: "a door's requests to a session, half of which are what it asks between them",
    },
    Large {
        path: "crates/kernel/src/session.rs",
        name: "Doorway",
        methods: 9,
        why: "all that a door asks before there is a session",
    },
    Large {
        path: "crates/kernel/src/two_phase.rs",
        name: "TwoPhase",
        methods: 21,
        why: "a vendor's two phases: its words, and its questions about what is left",
    },
    Large {
        path: "crates/kernel/src/two_phase.rs",
        name: "Ledger",
        methods: 12,
        why: "the texts for one table",
    },
    Large {
        path: "crates/kernel/src/undo.rs",
        name: "Undo",
        methods: 8,
        why: "the texts for two tables",
    },
];

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    check_with(&source::all(tree), LARGE)
}

fn check_with(sources: &[Source], large: &[Large]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for source in sources {
        let known = || large.iter().filter(|known| known.path == source.path);
        let traits = source.traits();
        for (name, methods) in &traits {
            let most =
                known().find(|known| known.name == *name).map_or(MOST, |known| known.methods);
            if *methods > most {
                let message =
                    format!("`{name}` has {methods} methods, at most {most}: split it by role");
                violations.push(Violation::new(&source.path, message));
            }
        }
        for Large { name, methods, why, .. } in known() {
            let now = traits.iter().find(|(own, _)| own == name).map_or(0, |(_, now)| *now);
            if now < *methods {
                let message = format!(
                    "`{name}` has {now} methods only: say so in the list of large traits ({why})"
                );
                violations.push(Violation::new(&source.path, message));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(methods: usize, large: &[Large]) -> Vec<String> {
        let text = format!("trait T {{ {} }}", "fn f();".repeat(methods));
        let found = check_with(&source::all(&Tree::of(&[("crates/a/src/b.rs", &text)])), large);
        found.into_iter().map(|v| format!("{}: {}", v.place, v.message)).collect()
    }

    #[test]
    fn seven_methods_are_too_many() {
        assert!(found(6, &[]).is_empty());
        assert_eq!(
            found(7, &[]),
            ["crates/a/src/b.rs: `T` has 7 methods, at most 6: split it by role"]
        );
    }

    #[test]
    fn a_large_one_may_only_shrink() {
        let large =
            || [Large { path: "crates/a/src/b.rs", name: "T", methods: 8, why: "it is one" }];
        assert_eq!(
            found(9, &large()),
            ["crates/a/src/b.rs: `T` has 9 methods, at most 8: split it by role"]
        );
        assert!(found(8, &large()).is_empty());
        assert_eq!(
            found(7, &large()),
            [
                "crates/a/src/b.rs: `T` has 7 methods only: say so in the list of large traits (it is one)"
            ]
        );
    }
}
