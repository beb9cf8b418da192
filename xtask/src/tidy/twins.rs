//! The same role has the same file in `db/mysql` and `db/postgres`: who knows one of them finds the way in the other.

use std::collections::BTreeSet;

use super::Violation;
use crate::tree::Tree;

/// Files, or folders with all below, that one of the two has alone, and why.
struct Own {
    family: &'static str,
    modules: &'static [&'static str],
    why: &'static str,
}

const FAMILIES: [&str; 2] = ["mysql", "postgres"];

const OWN: &[Own] = &[
    Own {
        family: "postgres",
        modules: &["dialect/notifications"],
        why: "its sessions tell each other over channels, which others do not have",
    },
    Own {
        family: "mysql",
        modules: &["auth/client", "auth/native", "auth/rsa", "auth/server", "auth/sha2"],
        why: "its plugins share one exchange, of which each side is a machine",
    },
    Own {
        family: "postgres",
        modules: &["dialect/variables/date_style"],
        why: "its sessions say how dates are written, others write them in one way",
    },
    Own {
        family: "postgres",
        modules: &["dialect/triggers"],
        why: "its triggers run functions, whose sources tell what they do on a part of a table",
    },
    Own {
        family: "postgres",
        modules: &["auth/md5", "auth/scram", "auth/verifiers"],
        why: "each of its methods is an exchange of its own",
    },
    Own {
        family: "mysql",
        modules: &["backend/old_names"],
        why: "MariaDB and old servers know variables by other names",
    },
    Own {
        family: "postgres",
        modules: &["backend/prove"],
        why: "libpq's settings say what a server may ask for",
    },
    Own {
        family: "mysql",
        modules: &["catalog/create", "catalog/labels", "catalog/maintained", "catalog/show"],
        why: "statements of its own ask the catalogue, and their columns are called by them",
    },
    Own {
        family: "postgres",
        modules: &[
            "catalog/calls",
            "catalog/names",
            "catalog/number",
            "catalog/own",
            "catalog/type_numbers",
        ],
        why: "its catalogue goes by numbers, which functions and casts turn into names",
    },
    Own {
        family: "mysql",
        modules: &[
            "codec/auth",
            "codec/binary_row",
            "codec/capabilities",
            "codec/change_user",
            "codec/column",
            "codec/command",
            "codec/eof",
            "codec/err",
            "codec/execute",
            "codec/handshake",
            "codec/handshake_response",
            "codec/local_infile",
            "codec/ok",
            "codec/prepare",
            "codec/query",
            "codec/session_track",
            "codec/status",
            "codec/text_row",
        ],
        why: "its messages",
    },
    Own {
        family: "postgres",
        modules: &[
            "codec/backend",
            "codec/copy",
            "codec/format",
            "codec/frontend",
            "codec/startup",
        ],
        why: "its messages",
    },
    Own {
        family: "mysql",
        modules: &[
            "dialect/health/answers",
            "dialect/health/gtid",
            "dialect/health/members",
            "dialect/health/replication",
        ],
        why: "it replicates in several ways, each with a vocabulary of its own",
    },
    Own {
        family: "mysql",
        modules: &["dialect/folding"],
        why: "its collations call other spellings equal as a rule, and weigh the same on every server",
    },
    Own {
        family: "mysql",
        modules: &["dialect/counters"],
        why: "its tables count by themselves; PostgreSQL's have sequences",
    },
    Own {
        family: "postgres",
        modules: &["dialect/oids", "dialect/takes", "dialect/type_name"],
        why: "its types have names in the statements, numbers in replies, and decide what is taken as it is",
    },
    Own {
        family: "mysql",
        modules: &["frontend/charset", "frontend/text", "types/flags"],
        why: "its clients speak other character sets than UTF-8",
    },
    Own {
        family: "postgres",
        modules: &[
            "encoding",
            "encoding/names",
            "encoding/single_byte",
            "encoding/tables",
            "encoding/unconvertible",
            "frontend/recode",
        ],
        why: "its clients may speak some thirty encodings, in every message and the values of each type",
    },
    Own { family: "mysql", modules: &["frontend/field_list"], why: "a command of its own" },
    Own {
        family: "mysql",
        modules: &["frontend/statements"],
        why: "its statements go by numbers and keep long data; PostgreSQL's go by names, in the session",
    },
    Own {
        family: "postgres",
        modules: &["frontend/extended", "frontend/output", "frontend/portals"],
        why: "a client sends a statement in steps, in any number before it reads",
    },
    Own {
        family: "postgres",
        modules: &["defaults", "frontend/greeting"],
        why: "a login ends with settings that are told",
    },
    Own {
        family: "mysql",
        modules: &["guard/databases"],
        why: "a logical database is a database there",
    },
    Own {
        family: "postgres",
        modules: &["guard/calls", "guard/schemas"],
        why: "functions reach where statements do not, and databases have schemas",
    },
    Own { family: "mysql", modules: &["modes"], why: "SQL modes change how texts are read" },
    Own { family: "postgres", modules: &["position"], why: "its errors tell where in the text" },
    Own {
        family: "postgres",
        modules: &["types/catalogue", "types/numeric", "types/oid"],
        why: "its types go by numbers, and decimals have a binary form",
    },
];

pub(super) fn twins(tree: &Tree) -> Vec<Violation> {
    check(tree, OWN)
}

fn check(tree: &Tree, own: &[Own]) -> Vec<Violation> {
    let mut violations = Vec::new();
    let modules = FAMILIES.map(|family| modules(tree, family));
    if modules.iter().all(BTreeSet::is_empty) {
        return violations;
    }
    for (family, [here, there]) in
        FAMILIES.into_iter().zip([[&modules[0], &modules[1]], [&modules[1], &modules[0]]])
    {
        let listed: Vec<&Own> = own.iter().filter(|own| own.family == family).collect();
        for module in here.difference(there) {
            let is_listed = listed.iter().any(|own| own.modules.iter().any(|at| holds(at, module)));
            if !is_listed {
                let message = format!("`{module}` has no twin in db/{}", other(family));
                violations.push(Violation::new(format!("db/{family}/src"), message));
            }
        }
        for (at, why) in listed.iter().flat_map(|own| own.modules.iter().map(|at| (at, own.why))) {
            if !here.contains(*at) || there.contains(*at) {
                let message = format!("`{at}` is listed as its own ({why}), which it is not");
                violations.push(Violation::new(format!("db/{family}/src"), message));
            }
        }
    }
    violations
}

fn other(family: &str) -> &'static str {
    if family == FAMILIES[0] { FAMILIES[1] } else { FAMILIES[0] }
}

/// Whether a module is this one or below it.
fn holds(at: &str, module: &str) -> bool {
    module.strip_prefix(at).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Modules by their path in the crate, whether they are a file or a folder. Tests stand beside what they test.
fn modules(tree: &Tree, family: &str) -> BTreeSet<String> {
    let source = format!("db/{family}/src");
    let files = tree.below(&source).filter_map(|path| {
        let path = path.strip_prefix(&source)?.strip_prefix('/')?.strip_suffix(".rs")?;
        Some(path.strip_suffix("/mod").unwrap_or(path).to_owned())
    });
    files.filter(|module| module != "tests" && !module.ends_with("/tests")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: &[Own] = &[
        Own { family: "mysql", modules: &["codec/ok", "modes"], why: "x" },
        Own { family: "postgres", modules: &["codec/backend"], why: "y" },
    ];

    fn found(files: &[&str]) -> Vec<String> {
        let files: Vec<(&str, &str)> = files.iter().map(|path| (*path, "")).collect();
        let found = check(&Tree::of(&files), LISTED);
        found.into_iter().map(|one| format!("{}: {}", one.place, one.message)).collect()
    }

    #[test]
    fn a_file_has_a_twin_or_is_listed() {
        let right = [
            "db/mysql/src/codec/mod.rs",
            "db/mysql/src/codec/ok.rs",
            "db/mysql/src/modes.rs",
            "db/mysql/src/types/tests.rs",
            "db/postgres/src/codec.rs",
            "db/postgres/src/codec/backend/mod.rs",
            "db/postgres/src/codec/backend/ready.rs",
        ];
        assert!(found(&right).is_empty());
        let more = [&right[..], &["db/mysql/src/codec/backends.rs", "db/postgres/src/b.rs"]];
        assert_eq!(
            found(&more.concat()),
            [
                "db/mysql/src: `codec/backends` has no twin in db/postgres",
                "db/postgres/src: `b` has no twin in db/mysql"
            ]
        );
    }

    #[test]
    fn what_is_listed_is_there_and_alone() {
        let files =
            ["db/mysql/src/codec/ok.rs", "db/mysql/src/modes.rs", "db/postgres/src/modes.rs"];
        assert_eq!(
            found(&files),
            [
                "db/mysql/src: `modes` is listed as its own (x), which it is not",
                "db/postgres/src: `codec/backend` is listed as its own (y), which it is not"
            ]
        );
    }
}
