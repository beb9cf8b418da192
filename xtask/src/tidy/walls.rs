//! The import walls: `{sql, inline → config} → kernel → {features/*, db/*, pool} → transaction → base → engine →
//! {server, …} → cli`.

use super::violation::Violation;
use crate::manifest::Manifest;
use crate::tree::Tree;

/// What a crate may depend on, by folder; a name ending in `/` stands for every crate below it. The first line that fits a
/// folder counts. Development dependencies are free: a test may cross any wall.
const WALLS: &[(&str, &[&str])] = &[
    ("crates/sql", &[]),
    ("crates/suggest", &[]),
    ("crates/inline", &["crates/suggest"]),
    ("crates/config", &["crates/suggest", "crates/inline"]),
    ("crates/kernel", &["crates/sql", "crates/config"]),
    // Reads statements for the rooms that turn columns.
    ("crates/columns", &["crates/sql", "crates/kernel"]),
    (
        "features/",
        &["crates/sql", "crates/config", "crates/kernel", "crates/columns", "crates/inline"],
    ),
    ("db/", &["crates/sql", "crates/kernel"]),
    ("crates/pool", &["crates/sql", "crates/config", "crates/kernel"]),
    ("crates/transaction", &["crates/sql", "crates/config", "crates/kernel", "crates/pool"]),
    ("crates/base", &["crates/sql", "crates/kernel", "crates/pool", "crates/transaction"]),
    (
        "crates/engine",
        &[
            "crates/sql",
            "crates/config",
            "crates/kernel",
            "crates/pool",
            "crates/transaction",
            "crates/base",
            "crates/deadlock",
        ],
    ),
    ("crates/repository", &["crates/kernel"]),
    ("crates/repository-etcd", REPOSITORY),
    ("crates/repository-zookeeper", REPOSITORY),
    // The two lists of concrete rooms and databases.
    ("crates/rooms", &["crates/sql", "crates/config", "crates/kernel", "features/", "db/"]),
    // The process it governs is handed to it as a trait.
    (
        "crates/governor",
        &[
            "crates/sql",
            "crates/config",
            "crates/kernel",
            "crates/distsql",
            "crates/model",
            "crates/health",
            "crates/repository",
        ],
    ),
    // Decides by what any server tells; which vendor's it is, the dialect knows.
    ("crates/health", &["crates/kernel"]),
    ("crates/deadlock", &["crates/kernel"]),
    ("crates/distsql", BELOW_SERVER),
    // Pure: rooms are handed to it as a function.
    ("crates/model", &["crates/sql", "crates/config", "crates/kernel", "crates/distsql"]),
    // What runs modules is known to the binary alone.
    ("crates/wasm", &["crates/kernel"]),
    ("crates/server", SERVER),
    // The engine in an application's process: a server without listeners.
    ("crates/embed", &["crates/config", "crates/kernel", "crates/server", "crates/wasm"]),
    ("crates/embed-c", &["crates/embed"]),
    ("crates/embed-jni", &["crates/embed"]),
    ("crates/cli", &["crates/", "features/", "db/"]),
    ("bench/stages", &["crates/", "features/", "db/"]),
    ("testing", &["crates/", "features/", "db/"]),
    ("testing/fuzz", &["crates/", "features/", "db/"]),
    // Its clients must not share a line with what they test; the lexers are what its texts are read by.
    ("testing/differential", &["crates/sql", "db/mysql", "db/postgres"]),
    // Judges what clients saw, and knows nothing else.
    ("testing/checker", &[]),
    ("xtask", &[]),
];

const REPOSITORY: &[&str] = &["crates/kernel", "crates/repository"];

const BELOW_SERVER: &[&str] = &[
    "crates/sql",
    "crates/config",
    "crates/kernel",
    "crates/pool",
    "crates/transaction",
    "crates/base",
    "crates/engine",
    "crates/rooms",
];

const SERVER: &[&str] = &[
    "crates/sql",
    "crates/config",
    "crates/kernel",
    "crates/pool",
    "crates/transaction",
    "crates/base",
    "crates/engine",
    "crates/rooms",
    "crates/distsql",
    "crates/model",
    "crates/governor",
    "crates/health",
    "crates/repository",
    "crates/repository-etcd",
    "crates/repository-zookeeper",
    "features/",
    "db/",
];

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let crates = tree.crates();
    let workspace = tree.workspace();
    let folder_of = |package: &str| {
        let found = crates.iter().find(|c| c.manifest.package.as_deref() == Some(package));
        found.map(|c| c.folder.as_str())
    };
    let mut violations = Vec::new();
    for own in &crates {
        let place = format!("{}/Cargo.toml", own.folder);
        let Some((_, allowed)) = WALLS.iter().find(|(name, _)| fits(name, &own.folder)) else {
            violations.push(Violation::new(place, "has no place in the list of walls in xtask"));
            continue;
        };
        for (key, dependency) in &own.manifest.dependencies {
            let package = Manifest::package_of(key, dependency, &workspace);
            let Some(folder) = folder_of(package) else { continue };
            if !allowed.iter().any(|name| fits(name, folder)) {
                let message = format!("may not depend on `{package}` ({folder})");
                violations.push(Violation::new(place.clone(), message));
            }
        }
    }
    violations
}

fn fits(name: &str, folder: &str) -> bool {
    if name.ends_with('/') { folder.starts_with(name) } else { folder == name }
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;

    const SQL: (&str, &str) = ("crates/sql/Cargo.toml", "[package]\nname = \"pando-sql\"\n");
    const SHARDING: (&str, &str) =
        ("features/sharding/Cargo.toml", "[package]\nname = \"pando-sharding\"\n");

    fn walls(files: &[(&str, &str)]) -> Vec<String> {
        found(super::check, files)
    }

    #[test]
    fn a_room_may_not_import_a_room() {
        let single =
            "[package]\nname = \"pando-single\"\n[dependencies]\npando-sharding.workspace = true\n";
        assert_eq!(
            walls(&[SHARDING, ("features/single/Cargo.toml", single)]),
            ["features/single/Cargo.toml: may not depend on `pando-sharding` (features/sharding)"]
        );
    }

    #[test]
    fn the_engine_knows_no_room_and_no_database_but_rooms_does() {
        let of = |name: &str| {
            format!(
                "[package]\nname = \"pando-{name}\"\n[dependencies]\npando-sql = {{ path = \"x\" }}\npando-sharding = {{ path = \"x\" }}\n"
            )
        };
        let (engine, rooms) = (of("engine"), of("rooms"));
        assert_eq!(
            walls(&[
                SQL,
                SHARDING,
                ("crates/engine/Cargo.toml", &engine),
                ("crates/rooms/Cargo.toml", &rooms)
            ]),
            ["crates/engine/Cargo.toml: may not depend on `pando-sharding` (features/sharding)"]
        );
    }

    #[test]
    fn an_alias_does_not_hide_an_import() {
        let root =
            "[workspace.dependencies]\nrules = { package = \"pando-sharding\", path = \"x\" }\n";
        let pool = "[package]\nname = \"pando-pool\"\n[dependencies]\nrules.workspace = true\n";
        assert_eq!(
            walls(&[SHARDING, ("Cargo.toml", root), ("crates/pool/Cargo.toml", pool)]),
            ["crates/pool/Cargo.toml: may not depend on `pando-sharding` (features/sharding)"]
        );
    }

    #[test]
    fn a_test_may_cross_a_wall() {
        let mysql = "[package]\nname = \"pando-mysql\"\n[dev-dependencies]\npando-sharding.workspace = true\n";
        assert!(walls(&[SHARDING, ("db/mysql/Cargo.toml", mysql)]).is_empty());
    }

    #[test]
    fn a_new_crate_must_be_given_a_place() {
        let new = "[package]\nname = \"pando-new\"\n";
        assert_eq!(
            walls(&[("crates/new/Cargo.toml", new)]),
            ["crates/new/Cargo.toml: has no place in the list of walls in xtask"]
        );
    }
}
