//! The names that the guard of MySQL and MariaDB knows. Lists are in lower case.

/// The tables of the ledgers.
pub(crate) const LEDGER: [&str; 5] =
    ["pando_counter", "pando_decision", "pando_row_lock", "pando_undo", "pando_unit"];

/// What in the database `mysql` may be read by everybody: what servers ship with. The beginnings of names.
pub(super) const SHIPPED: [&str; 2] = ["help_", "time_zone"];

/// What in `performance_schema` shows nothing of others. The ends of names.
pub(super) const OWN_STATE: [&str; 2] = ["_variables", "_status"];

/// What in `information_schema` shows what others do. The beginnings of names.
pub(super) const OF_OTHERS: [&str; 2] = ["innodb_", "processlist"];

/// The database whose tables describe those of the session.
pub(super) const CATALOGUE: &str = "information_schema";

/// Verbs that are about the server, each its first words.
pub(super) const SERVERS: &[&[&str]] = &[
    &["alter", "instance"],
    &["alter", "logfile"],
    &["alter", "server"],
    &["alter", "tablespace"],
    &["backup"],
    &["binlog"],
    &["change"],
    &["clone"],
    &["create", "logfile"],
    &["create", "server"],
    &["create", "tablespace"],
    &["create", "undo"],
    &["drop", "logfile"],
    &["drop", "server"],
    &["drop", "tablespace"],
    &["drop", "undo"],
    &["import"],
    &["install"],
    &["lock", "instance"],
    &["purge"],
    &["reset", "binary"],
    &["reset", "master"],
    &["reset", "persist"],
    &["reset", "replica"],
    &["reset", "slave"],
    &["restart"],
    &["show", "binlog"],
    &["show", "create", "user"],
    &["show", "relaylog"],
    &["shutdown"],
    &["start", "all"],
    &["start", "group_replication"],
    &["start", "replica"],
    &["start", "slave"],
    &["stop"],
    &["uninstall"],
];

/// Verbs that are about who may log in to the servers, and what he may, or that show what others do.
pub(super) const USERS: &[&[&str]] = &[
    &["alter", "role"],
    &["alter", "user"],
    &["create", "role"],
    &["create", "user"],
    &["drop", "role"],
    &["drop", "user"],
    &["explain", "for"],
    &["grant"],
    &["rename", "user"],
    &["revoke"],
    &["set", "password"],
    &["show", "engine"],
];

/// Verbs about everything on a server, which Pando answers or judges itself where they come alone.
pub(super) const WHOLE: &[&[&str]] = &[
    &["kill"],
    &["show", "databases"],
    &["show", "full", "processlist"],
    &["show", "function"],
    &["show", "package"],
    &["show", "procedure"],
    &["show", "processlist"],
    &["show", "schemas"],
];

/// Engines whose tables stand elsewhere, on another server or in a file.
pub(super) const FAR: [&str; 5] = ["connect", "federated", "federatedx", "s3", "spider"];

/// Procedures of servers that run a text as SQL, or make what they are told by texts.
pub(super) const RUNNERS: [&str; 3] = ["create_synonym_db", "execute_prepared_stmt", "diagnostics"];

/// Names that routines have for rows that are theirs.
pub(super) const ROWS: [&str; 2] = ["new", "old"];

/// How words begin that a statement about rows must hold for anything here to concern it, when its user may reach every database.
pub(super) const TELLING: &[&str] = &[
    "create_synonym_db",
    "diagnostics",
    "dumpfile",
    "execute_prepared_stmt",
    "load_file",
    "mysql",
    "outfile",
    "pando_",
];
