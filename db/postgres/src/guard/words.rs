//! The names that PostgreSQL's guard knows. Lists are sorted.

/// The schema of the ledgers.
pub(crate) const LEDGER: &str = "pando";

/// Relations with passwords, secrets of servers, or rows of tables as they are.
/// <https://www.postgresql.org/docs/current/catalogs-overview.html>, <https://www.postgresql.org/docs/current/views-overview.html>
pub(super) const SECRET: &[&str] = &[
    "pg_authid",
    "pg_file_settings",
    "pg_hba_file_rules",
    "pg_ident_file_mappings",
    "pg_largeobject",
    "pg_shadow",
    "pg_statistic",
    "pg_statistic_ext_data",
    "pg_user_mapping",
    "pg_user_mappings",
];

/// Relations that show what others do, or values of their tables, where others' tables stand in the same database.
pub(super) const OF_OTHERS: &[&str] = &[
    "pg_prepared_xacts",
    "pg_stat_activity",
    "pg_stat_statements",
    "pg_stats",
    "pg_stats_ext",
    "pg_stats_ext_exprs",
];

/// Functions for administrators alone; a `*` stands for any ending. <https://www.postgresql.org/docs/current/functions-admin.html>
pub(super) const PRIVILEGED: &[&str] = &[
    "dblink*",
    "lo_export",
    "lo_import",
    "pg_backup_start",
    "pg_backup_stop",
    "pg_config",
    "pg_copy_logical_replication_slot",
    "pg_copy_physical_replication_slot",
    "pg_create_logical_replication_slot",
    "pg_create_physical_replication_slot",
    "pg_create_restore_point",
    "pg_current_logfile",
    "pg_drop_replication_slot",
    "pg_file_*",
    "pg_hba_file_rules",
    "pg_ident_file_mappings",
    "pg_import_system_collations",
    "pg_log_backend_memory_contexts",
    "pg_logdir_ls",
    "pg_logical_*",
    "pg_ls_*",
    "pg_promote",
    "pg_read_*",
    "pg_reload_conf",
    "pg_replication_*",
    "pg_rotate_logfile",
    "pg_show_all_file_settings",
    "pg_start_backup",
    "pg_stat_file",
    "pg_stop_backup",
    "pg_switch_wal",
    "pg_wal_*",
    "postgres_fdw_*",
];

/// Functions that read a whole database, or the pages of any table.
pub(super) const WHOLE: &[&str] =
    &["database_to_xml", "database_to_xml_and_xmlschema", "database_to_xmlschema", "get_raw_page"];

/// Functions that run a text as SQL, or read the table that a text names; a `*` stands for any ending.
pub(super) const RUNNERS: &[&str] = &[
    "connectby",
    "crosstab*",
    "dblink*",
    "plpgsql_check_function*",
    "query_to_xml*",
    "schedule",
    "schedule_in_database",
    "schema_to_xml*",
    "table_to_xml*",
    "ts_rewrite",
    "ts_stat",
    "xpath_table",
];

/// Extensions that a database's owner may make, as PostgreSQL itself trusts them. <https://www.postgresql.org/docs/current/contrib.html>
pub(super) const TRUSTED: &[&str] = &[
    "btree_gin",
    "btree_gist",
    "citext",
    "cube",
    "dict_int",
    "fuzzystrmatch",
    "hstore",
    "intarray",
    "isn",
    "lo",
    "ltree",
    "pg_trgm",
    "pgcrypto",
    "plpgsql",
    "postgis",
    "seg",
    "tablefunc",
    "tcn",
    "tsm_system_rows",
    "tsm_system_time",
    "unaccent",
    "uuid-ossp",
    "vector",
];

/// What is made, changed or dropped by administrators of servers alone.
pub(super) const SERVERS: &[&str] =
    &["access", "event", "foreign", "language", "server", "subscription", "system", "tablespace"];

/// Languages whose code can be read here.
pub(super) const READABLE: [&str; 2] = ["plpgsql", "sql"];

/// What runs functions that its definition names, without a call of them in any text that is judged later.
pub(super) const BOUND: &[&str] = &["aggregate", "cast", "operator", "transform"];

/// What may get another name.
pub(super) const ROUTINES: &[&str] = &["function", "procedure", "routine"];

/// Words between a verb and what it is about.
pub(super) const BETWEEN: &[&str] = &[
    "global",
    "local",
    "materialized",
    "or",
    "procedural",
    "recursive",
    "replace",
    "temp",
    "temporary",
    "trusted",
    "unique",
    "unlogged",
];

/// Whether a name is in a list whose entries may end in `*`.
pub(super) fn listed(list: &[&str], name: &str) -> bool {
    list.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => *known == name,
    })
}

/// How words begin that a statement about rows must hold for anything here to concern it, when its user may reach every database.
pub(super) const TELLING: &[&str] = &[
    "connectby",
    "crosstab",
    "database_to_xml",
    "dblink",
    "get_raw_page",
    "information_schema",
    "lo_",
    "pando",
    "pg_",
    "plpgsql_check_function",
    "postgres_fdw_",
    "query_to_xml",
    "schedule",
    "schema_to_xml",
    "set_config",
    "table_to_xml",
    "ts_rewrite",
    "ts_stat",
    "u&",
    "uescape",
    "xpath_table",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_concerns_statements_about_rows_is_told_by_their_words() {
        let lists = [SECRET, PRIVILEGED, WHOLE, RUNNERS, &[LEDGER], &["set_config"]];
        for name in lists.into_iter().flatten() {
            assert!(TELLING.iter().any(|start| name.starts_with(start)), "{name}");
        }
    }
}
