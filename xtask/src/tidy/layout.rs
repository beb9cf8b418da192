//! The files that every room and every database has.

use super::Violation;
use crate::tree::Tree;

const DATABASE: [&str; 5] = ["lib", "dialect", "types", "error", "backend"];
/// Databases whose protocol Pando also speaks to clients.
const SPOKEN: [&str; 2] = ["db/mysql", "db/postgres"];
const FRONTEND: [&str; 3] = ["codec", "frontend", "auth"];

pub(super) fn room_cases(tree: &Tree) -> Vec<Violation> {
    let has_case =
        |folder: &str| tree.below(&format!("{folder}/tests")).any(|path| path.ends_with(".case"));
    let rooms = tree.crates().into_iter().filter(|own| own.folder.starts_with("features/"));
    rooms
        .filter(|room| !has_case(&room.folder))
        .map(|room| Violation::new(room.folder, "has no tests/*.case"))
        .collect()
}

pub(super) fn db_symmetry(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for own in tree.crates().into_iter().filter(|own| own.folder.starts_with("db/")) {
        let spoken: &[&str] = if SPOKEN.contains(&own.folder.as_str()) { &FRONTEND } else { &[] };
        let source = format!("{}/src", own.folder);
        for name in DATABASE.iter().chain(spoken).filter(|name| !tree.has_module(&source, name)) {
            violations.push(Violation::new(source.clone(), format!("has no `{name}`")));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;

    const CRATE: &str = "[package]\nname = \"x\"\n";

    #[test]
    fn a_room_has_a_case() {
        let files = [
            ("features/a/Cargo.toml", CRATE),
            ("features/a/tests/route.case", ""),
            ("features/b/Cargo.toml", CRATE),
            ("features/b/tests/route.rs", ""),
        ];
        assert_eq!(found(super::room_cases, &files), ["features/b: has no tests/*.case"]);
    }

    #[test]
    fn databases_have_the_same_files_or_folders() {
        let files = [
            ("db/fake/Cargo.toml", CRATE),
            ("db/fake/src/lib.rs", ""),
            ("db/fake/src/dialect.rs", ""),
            ("db/fake/src/types.rs", ""),
            ("db/fake/src/backend/rows.rs", ""),
            ("db/mysql/Cargo.toml", CRATE),
            ("db/mysql/src/lib.rs", ""),
            ("db/mysql/src/dialect.rs", ""),
            ("db/mysql/src/types.rs", ""),
            ("db/mysql/src/error.rs", ""),
            ("db/mysql/src/backend.rs", ""),
            ("db/mysql/src/codec/row.rs", ""),
            ("db/mysql/src/auth.rs", ""),
        ];
        assert_eq!(
            found(super::db_symmetry, &files),
            ["db/fake/src: has no `error`", "db/mysql/src: has no `frontend`"]
        );
    }
}
