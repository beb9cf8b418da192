//! What clients ask about the server itself. SQLite has none of these settings: they say what Pando does.

use pando_kernel::Value;
use pando_kernel::dialect::Facts;

use crate::tongue::Tongue;

/// What the MySQL door greets with.
const MYSQL_VERSION: &str = concat!("8.0.36-Pando-", env!("CARGO_PKG_VERSION"));

/// What `version()` tells at the PostgreSQL door.
pub(crate) const POSTGRES_VERSION: &str =
    concat!("PostgreSQL 15.0 (Pando ", env!("CARGO_PKG_VERSION"), ")");

/// PostgreSQL's, in the order of their names.
pub(super) const SETTINGS: &[(&str, &str)] = &[
    ("application_name", ""),
    ("client_encoding", "UTF8"),
    ("client_min_messages", "notice"),
    ("DateStyle", "ISO, MDY"),
    ("default_table_access_method", "heap"),
    ("default_tablespace", ""),
    ("default_transaction_isolation", "serializable"),
    ("default_transaction_read_only", "off"),
    ("extra_float_digits", "1"),
    ("in_hot_standby", "off"),
    ("integer_datetimes", "on"),
    ("IntervalStyle", "postgres"),
    ("is_superuser", "off"),
    ("max_identifier_length", "63"),
    ("max_index_keys", "32"),
    ("search_path", "\"$user\", public"),
    ("server_encoding", "UTF8"),
    ("server_version", "15.0 (Pando)"),
    ("server_version_num", "150000"),
    ("standard_conforming_strings", "on"),
    ("statement_timeout", "0"),
    ("TimeZone", "Etc/UTC"),
    ("transaction_deferrable", "off"),
    ("transaction_isolation", "serializable"),
    ("transaction_read_only", "off"),
];

/// MySQL's, in the order of their names.
const VARIABLES: &[(&str, &str)] = &[
    ("auto_increment_increment", "1"),
    ("auto_increment_offset", "1"),
    ("character_set_client", "utf8mb4"),
    ("character_set_connection", "utf8mb4"),
    ("character_set_database", "utf8mb4"),
    ("character_set_results", "utf8mb4"),
    ("character_set_server", "utf8mb4"),
    ("character_set_system", "utf8mb3"),
    ("collation_connection", "utf8mb4_bin"),
    ("collation_database", "utf8mb4_bin"),
    ("collation_server", "utf8mb4_bin"),
    ("default_storage_engine", "SQLite"),
    ("foreign_key_checks", "1"),
    ("have_ssl", "YES"),
    ("init_connect", ""),
    ("innodb_version", ""),
    ("interactive_timeout", "28800"),
    ("license", "Apache-2.0"),
    ("lower_case_table_names", "2"),
    ("max_allowed_packet", "67108864"),
    ("net_buffer_length", "16384"),
    ("net_read_timeout", "30"),
    ("net_write_timeout", "60"),
    ("performance_schema", "0"),
    ("protocol_version", "10"),
    ("read_only", "0"),
    ("session_track_schema", "1"),
    ("sql_auto_is_null", "0"),
    ("sql_mode", "STRICT_TRANS_TABLES"),
    ("sql_notes", "1"),
    ("sql_safe_updates", "0"),
    ("sql_select_limit", "18446744073709551615"),
    ("system_time_zone", "UTC"),
    ("time_zone", "+00:00"),
    ("transaction_isolation", "SERIALIZABLE"),
    ("transaction_read_only", "0"),
    ("tx_isolation", "SERIALIZABLE"),
    ("tx_read_only", "0"),
    ("unique_checks", "1"),
    ("version", MYSQL_VERSION),
    ("version_comment", "Pando"),
    ("version_compile_machine", std::env::consts::ARCH),
    ("version_compile_os", std::env::consts::OS),
    ("wait_timeout", "28800"),
];

/// Those that are told as `ON` and `OFF` in lists, and as numbers when selected.
const SWITCHES: [&str; 11] = [
    "autocommit",
    "foreign_key_checks",
    "performance_schema",
    "read_only",
    "session_track_schema",
    "sql_auto_is_null",
    "sql_notes",
    "sql_safe_updates",
    "transaction_read_only",
    "tx_read_only",
    "unique_checks",
];

/// As a JSON array of name and value, with what the session has set.
pub(super) fn settings(facts: &Facts) -> String {
    json(
        SETTINGS
            .iter()
            .map(|(name, value)| (*name, set_to(facts, name).unwrap_or(*value).to_owned())),
    )
}

/// As a JSON array of name and value, with what the session has set.
pub(super) fn variables(facts: &Facts) -> String {
    let told = |(name, value): &(&'static str, &'static str)| {
        let switch = SWITCHES.contains(name);
        let value = match set_to(facts, name).unwrap_or(*value) {
            "1" if switch => "ON",
            "0" if switch => "OFF",
            value => value,
        };
        (*name, value.to_owned())
    };
    let autocommit = if facts.autocommit { "ON" } else { "OFF" };
    let own = std::iter::once(("autocommit", autocommit.to_owned()));
    let mut all: Vec<(&str, String)> = VARIABLES.iter().map(told).chain(own).collect();
    all.sort();
    json(all.into_iter())
}

fn json<'a>(list: impl Iterator<Item = (&'a str, String)>) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let rows: Vec<String> =
        list.map(|(name, value)| format!("[{},{}]", quoted(name), quoted(&value))).collect();
    format!("[{}]", rows.join(","))
}

/// The value of `@@name`, the name lower-cased and without its sigils.
pub(crate) fn mysql_variable(name: &str, facts: &Facts) -> Option<Value> {
    let scope = ["session.", "local.", "global."];
    let name = scope.iter().find_map(|scope| name.strip_prefix(scope)).unwrap_or(name);
    match name {
        "autocommit" => return Some(Value::Int(i64::from(facts.autocommit))),
        "last_insert_id" | "identity" => return Some(Value::UInt(facts.last_insert_id)),
        "pseudo_thread_id" => return Some(Value::UInt(u64::from(facts.id))),
        _ => {}
    }
    let (_, value) = VARIABLES.iter().find(|(known, _)| *known == name)?;
    let value = &set_to(facts, name).unwrap_or(*value);
    Some(match value.parse::<u64>() {
        Ok(number) => Value::UInt(number),
        Err(_) => Value::Text((*value).to_owned()),
    })
}

/// Whether a session may set a variable of this (lower-cased) name for itself, and is then shown its value.
pub(crate) fn is_known(name: &str, tongue: Tongue) -> bool {
    let list = match tongue {
        Tongue::MySql => VARIABLES,
        Tongue::Postgres => SETTINGS,
        Tongue::Any => &[],
    };
    list.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
}

/// What the session has set a variable to, without quotes.
fn set_to<'a>(facts: &'a Facts, name: &str) -> Option<&'a str> {
    let (_, text) =
        facts.settings.iter().rev().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    let text = text.trim();
    let inner = |mark| text.strip_prefix(mark)?.strip_suffix(mark);
    Some(inner('\'').or_else(|| inner('"')).unwrap_or(text))
}

/// The value of one of PostgreSQL's, by its name in any case.
pub(super) fn setting(name: &str) -> Option<(&'static str, &'static str)> {
    SETTINGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).copied()
}
