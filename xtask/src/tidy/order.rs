//! Which way imports go inside the engine's session: each layer uses those below it, by names and
//! by methods of the session.

use super::Violation;
use crate::figures::calls;
use crate::source;
use crate::tree::Tree;

const FOLDER: &str = "crates/engine/src/session/";
/// Names every part, and so stands in no layer.
const ROOT: &str = "mod.rs";

/// From top to bottom; a name ending in `/` stands for every file below it. Files of one layer may use each other.
const LAYERS: &[&[&str]] = &[
    &["door.rs"],
    &["request/"],
    &["line.rs"],
    &["statement/", "steps/", "bulk/"],
    &["run/", "transaction/temporary/look.rs"],
    // What reads the storage units' replies, and so whatever needs that: a commit with cursors.
    &["reply/pull/", "cursors/settle.rs", "transaction/commit.rs"],
    &[
        "transaction/begin.rs",
        "transaction/deadlock.rs",
        "transaction/deferred.rs",
        "transaction/end.rs",
    ],
    &["cursors/"],
    &["connections/"],
    // What a session is about: its parts, and what is asked of them.
    &["reply/", "transaction/", "settings/"],
    &["place/"],
    &["given.rs", "memory.rs", "errors.rs"],
];

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let graph = calls::graph(&source::all(tree));
    let mut violations = Vec::new();
    for (path, all) in &graph {
        let Some(own) = path.strip_prefix(FOLDER).filter(|own| *own != ROOT) else { continue };
        let Some(layer) = layer(own) else {
            violations.push(Violation::new(path, "has no place in the layers of the session"));
            continue;
        };
        let others = all.iter().filter_map(|other| other.strip_prefix(FOLDER));
        let above = others.filter(|other| self::layer(other).is_some_and(|other| other < layer));
        for other in above {
            let message = format!("uses `{other}`, which stands above it");
            violations.push(Violation::new(path, message));
        }
    }
    violations
}

/// Counted from the top.
fn layer(own: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.iter().any(|name| fits(name, own)))
}

fn fits(name: &str, own: &str) -> bool {
    if name.ends_with('/') { own.starts_with(name) } else { own == name }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: (&str, &str) =
        ("crates/engine/src/session/place/mod.rs", "pub struct Place;\npub fn here() {}\n");
    const LINE: (&str, &str) = (
        "crates/engine/src/session/line.rs",
        "use crate::session::place::Place;\npub fn run() {}\n",
    );

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let found = check(&Tree::of(files)).into_iter();
        found.map(|v| format!("{}: {}", v.place, v.message)).collect()
    }

    #[test]
    fn what_stands_below_may_be_used() {
        assert!(found(&[PLACE, LINE]).is_empty());
    }

    #[test]
    fn what_stands_above_may_not_be_used_by_a_name_or_a_path() {
        let import = "use crate::session::line;\nfn a() { line::run() }\n";
        let path = "fn a() { crate::session::line::run() }\n";
        for text in [import, path] {
            let steps = ("crates/engine/src/session/steps/frame.rs", text);
            assert_eq!(
                found(&[PLACE, LINE, steps]),
                ["crates/engine/src/session/steps/frame.rs: uses `line.rs`, which stands above it"]
            );
        }
    }

    #[test]
    fn what_stands_above_may_not_be_used_by_a_method_of_the_session() {
        let line = (
            "crates/engine/src/session/line.rs",
            "impl Session { fn runs(&self) {} }\nfn run() {}\n",
        );
        let steps = (
            "crates/engine/src/session/steps/frame.rs",
            "fn a(session: &Session) { session.runs() }",
        );
        assert_eq!(
            found(&[line, steps]),
            ["crates/engine/src/session/steps/frame.rs: uses `line.rs`, which stands above it"]
        );
    }

    #[test]
    fn every_layer_is_found_in_the_repository() {
        let tree = Tree::read(&crate::root()).expect("the repository can be read");
        let own: Vec<&str> =
            tree.iter().filter_map(|(path, _)| path.strip_prefix(FOLDER)).collect();
        for name in LAYERS.iter().copied().flatten() {
            assert!(own.iter().any(|own| fits(name, own)), "{name}");
        }
    }

    #[test]
    fn every_file_has_its_place() {
        let other = ("crates/engine/src/session/other.rs", "fn a() {}\n");
        assert_eq!(
            found(&[other]),
            ["crates/engine/src/session/other.rs: has no place in the layers of the session"]
        );
    }
}
