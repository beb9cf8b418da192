//! The files that every room and every database has.

use super::violation::Violation;
use crate::tree::Tree;
use crate::{rooms, source};

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

/// Where the list of rooms is.
const LIST: &str = "crates/rooms/src/rooms.rs";
/// What may depend on a room.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "crates/rooms/Cargo.toml"];

/// A room is one folder and one line: whoever needs to know of it asks the list.
pub(super) fn room_lines(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for room in rooms::all(tree, &source::all(tree)) {
        let listed = room.sources.iter().filter(|path| *path == LIST).count();
        if listed != 1 {
            let message = format!("`{}` has {listed} lines in {LIST}, must have one", room.package);
            violations.push(Violation::new(room.folder, message));
        }
        let known = |path: &&String| *path != LIST && !MANIFESTS.contains(&path.as_str());
        let others = room.manifests.iter().chain(&room.sources).filter(known);
        let message =
            format!("names the room `{}`, which only its line in {LIST} may", room.package);
        violations.extend(others.map(|path| Violation::new(path.clone(), message.clone())));
    }
    violations
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
    fn a_room_is_named_by_one_line_alone() {
        let manifest = "[package]\nname = \"pando-a\"\n";
        let check = |files: &[(&str, &str)]| {
            let room =
                [("features/a/Cargo.toml", manifest), ("features/a/src/lib.rs", "pando_a::R")];
            found(super::room_lines, &[&room, files].concat())
        };
        let list = ("crates/rooms/src/rooms.rs", "const ROOMS: &[Offer] = &[pando_a::ROOM];");
        assert_eq!(check(&[list, ("crates/b/tests/c.rs", "use pando_a::ROOM;")]), [""; 0]);
        assert_eq!(
            check(&[]),
            ["features/a: `pando-a` has 0 lines in crates/rooms/src/rooms.rs, must have one"]
        );
        let other =
            "names the room `pando-a`, which only its line in crates/rooms/src/rooms.rs may";
        assert_eq!(
            check(&[
                list,
                ("crates/b/src/lib.rs", "use pando_a::ROOM;"),
                ("crates/b/Cargo.toml", "[package]\nname = \"b\"\n[dependencies]\npando-a = 1\n"),
            ]),
            [format!("crates/b/Cargo.toml: {other}"), format!("crates/b/src/lib.rs: {other}")]
        );
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
