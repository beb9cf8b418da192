//! What a door of MySQL's tells where there is no server to ask.
//! <https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html>

use pando_kernel::Value;
use pando_kernel::alone::{Alone, Relation, set_to};
use pando_kernel::dialect::{Facts, Language};
use pando_kernel::own_session::OwnSession;
use pando_sql::ast::{ObjectName, Show};

use super::variables::string_of;
use super::{MySql, SERVER_VERSION};

/// What variables are before they are set, as lists show them, by name.
const VARIABLES: &[(&str, &str)] = &[
    ("auto_increment_increment", "1"),
    ("auto_increment_offset", "1"),
    ("autocommit", "ON"),
    ("character_set_client", "utf8mb4"),
    ("character_set_connection", "utf8mb4"),
    ("character_set_database", "utf8mb4"),
    ("character_set_results", "utf8mb4"),
    ("character_set_server", "utf8mb4"),
    ("character_set_system", "utf8mb3"),
    ("collation_connection", "utf8mb4_0900_ai_ci"),
    ("collation_database", "utf8mb4_0900_ai_ci"),
    ("collation_server", "utf8mb4_0900_ai_ci"),
    ("default_storage_engine", "InnoDB"),
    ("foreign_key_checks", "ON"),
    ("have_ssl", "YES"),
    ("init_connect", ""),
    ("innodb_lock_wait_timeout", "50"),
    ("interactive_timeout", "28800"),
    ("license", "Apache-2.0"),
    ("lower_case_table_names", "0"),
    ("max_allowed_packet", "67108864"),
    ("max_execution_time", "0"),
    ("net_buffer_length", "16384"),
    ("net_read_timeout", "30"),
    ("net_write_timeout", "60"),
    ("performance_schema", "OFF"),
    ("protocol_version", "10"),
    ("query_cache_size", "0"),
    ("query_cache_type", "OFF"),
    ("read_only", "OFF"),
    ("session_track_schema", "ON"),
    ("socket", ""),
    ("sql_auto_is_null", "OFF"),
    (
        "sql_mode",
        "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
    ),
    ("sql_notes", "ON"),
    ("sql_safe_updates", "OFF"),
    ("sql_select_limit", "18446744073709551615"),
    ("system_time_zone", "UTC"),
    ("time_zone", "SYSTEM"),
    ("transaction_isolation", "REPEATABLE-READ"),
    ("transaction_read_only", "OFF"),
    ("tx_isolation", "REPEATABLE-READ"),
    ("tx_read_only", "OFF"),
    ("unique_checks", "ON"),
    ("version", SERVER_VERSION),
    ("version_comment", "Pando"),
    ("version_compile_machine", std::env::consts::ARCH),
    ("version_compile_os", std::env::consts::OS),
    ("wait_timeout", "28800"),
];

/// Older names of variables that are set under the newer one.
const OLDER: [(&str, &str); 2] =
    [("tx_isolation", "transaction_isolation"), ("tx_read_only", "transaction_read_only")];

/// The columns of relations, none of which has rows where nothing is stored.
const TABLES: [&str; 21] = [
    "TABLE_CATALOG",
    "TABLE_SCHEMA",
    "TABLE_NAME",
    "TABLE_TYPE",
    "ENGINE",
    "VERSION",
    "ROW_FORMAT",
    "TABLE_ROWS",
    "AVG_ROW_LENGTH",
    "DATA_LENGTH",
    "MAX_DATA_LENGTH",
    "INDEX_LENGTH",
    "DATA_FREE",
    "AUTO_INCREMENT",
    "CREATE_TIME",
    "UPDATE_TIME",
    "CHECK_TIME",
    "TABLE_COLLATION",
    "CHECKSUM",
    "CREATE_OPTIONS",
    "TABLE_COMMENT",
];
const SCHEMATA: [&str; 6] = [
    "CATALOG_NAME",
    "SCHEMA_NAME",
    "DEFAULT_CHARACTER_SET_NAME",
    "DEFAULT_COLLATION_NAME",
    "SQL_PATH",
    "DEFAULT_ENCRYPTION",
];
const OF_VARIABLES: [&str; 2] = ["VARIABLE_NAME", "VARIABLE_VALUE"];
/// Where the only database stands that is there without any server.
const INFORMATION: &str = "information_schema";

impl Alone for MySql {
    fn function(&self, _name: &str, _arguments: &[Value], _facts: &Facts) -> Option<Value> {
        None
    }

    fn variable(&self, name: &str, facts: &Facts) -> Option<Value> {
        let Some(system) = name.strip_prefix("@@") else {
            let text = set_to(facts, name);
            return Some(text.map_or(Value::Null, |text| {
                one_of_a_user(self.literal_in(text)).unwrap_or(Value::Null)
            }));
        };
        let scopes = ["session.", "local.", "global."];
        let name = scopes.iter().find_map(|scope| system.strip_prefix(scope)).unwrap_or(system);
        let shown = shown(name, facts)?;
        Some(match shown.as_str() {
            "ON" => Value::Int(1),
            "OFF" => Value::Int(0),
            text => number(text).unwrap_or(Value::Text(shown)),
        })
    }

    fn relation(&self, name: &ObjectName, facts: &Facts) -> Option<Relation> {
        let [schema, table] = &name.parts[..] else { return None };
        let table = table.value.to_ascii_uppercase();
        if schema.value.eq_ignore_ascii_case("performance_schema") {
            return (table == "SESSION_VARIABLES").then(|| variables(facts));
        }
        if !schema.value.eq_ignore_ascii_case(INFORMATION) {
            return None;
        }
        match table.as_str() {
            "TABLES" => Some(Relation::of_text(&TABLES, [])),
            "SESSION_VARIABLES" => Some(variables(facts)),
            "SCHEMATA" => {
                let own =
                    std::iter::once(INFORMATION).chain(facts.databases.iter().map(String::as_str));
                let rows = own.map(|name| {
                    let text = |text: &str| Value::Text(text.to_owned());
                    let (charset, collation) = (text("utf8mb4"), text("utf8mb4_0900_ai_ci"));
                    vec![text("def"), text(name), charset, collation, Value::Null, text("NO")]
                });
                let columns = SCHEMATA.map(str::to_owned).into();
                Some(Relation { columns, rows: rows.collect() })
            }
            _ => None,
        }
    }

    fn restate(&self, text: &str, show: &Show, _facts: &Facts) -> Option<String> {
        let what = show.what.as_str();
        if !matches!(
            what,
            "VARIABLES" | "SESSION VARIABLES" | "LOCAL VARIABLES" | "GLOBAL VARIABLES"
        ) {
            return None;
        }
        let filter = match (&show.like, &show.filter) {
            (Some(like), _) => {
                format!(" WHERE t.Variable_name LIKE {}", self.literal(&Value::Text(like.clone())))
            }
            (None, Some(filter)) => format!(" WHERE {}", filter.span.of(text)),
            (None, None) => String::new(),
        };
        Some(format!(
            "SELECT t.Variable_name, t.Value FROM (SELECT VARIABLE_NAME AS Variable_name, VARIABLE_VALUE AS Value \
             FROM performance_schema.session_variables) AS t{filter} ORDER BY 1"
        ))
    }
}

fn variables(facts: &Facts) -> Relation {
    let rows = VARIABLES
        .iter()
        .filter_map(|(name, _)| Some(vec![(*name).to_owned(), shown(name, facts)?]));
    Relation::of_text(&OF_VARIABLES, rows)
}

/// A variable's value as lists show it.
fn shown(name: &str, facts: &Facts) -> Option<String> {
    let (_, default) = VARIABLES.iter().find(|(known, _)| *known == name)?;
    if name == "autocommit" {
        return Some(if facts.autocommit { "ON" } else { "OFF" }.to_owned());
    }
    let newer = OLDER.iter().find(|(old, _)| *old == name).map(|(_, new)| *new);
    let text = set_to(facts, name).or_else(|| set_to(facts, newer?));
    let Some(text) = text.filter(|text| !text.eq_ignore_ascii_case("default")) else {
        return Some((*default).to_owned());
    };
    let text = string_of(text).unwrap_or(text);
    let is_switch = matches!(*default, "ON" | "OFF");
    Some(match text.to_ascii_uppercase().as_str() {
        "1" | "ON" | "TRUE" if is_switch => "ON".to_owned(),
        "0" | "OFF" | "FALSE" if is_switch => "OFF".to_owned(),
        _ => text.to_owned(),
    })
}

/// What a user variable was set to: a literal.
fn one_of_a_user(text: &str) -> Option<Value> {
    let is_quoted = text.starts_with(['\'', '"']);
    match number(text) {
        Some(number) => Some(number),
        None if is_quoted => string_of(text).map(|text| Value::Text(text.to_owned())),
        None => Value::decimal(text),
    }
}

fn number(text: &str) -> Option<Value> {
    text.parse().map(Value::Int).or_else(|_| text.parse().map(Value::UInt)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(settings: &[(&str, &str)]) -> Facts {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Facts {
            autocommit: true,
            databases: vec!["shop".to_owned()].into(),
            settings: settings.iter().map(pair).collect(),
            ..Facts::default()
        }
    }

    #[test]
    fn variables_are_what_the_session_set_or_what_a_server_begins_with() {
        let facts = facts(&[
            ("foreign_key_checks", "0"),
            ("transaction_isolation", "'READ-COMMITTED'"),
            ("sql_mode", "DEFAULT"),
            ("@a", "'x'"),
            ("@b", "-7"),
        ]);
        let text = |text: &str| Some(Value::Text(text.into()));
        for (name, expected) in [
            ("@@foreign_key_checks", Some(Value::Int(0))),
            ("@@session.autocommit", Some(Value::Int(1))),
            ("@@max_allowed_packet", Some(Value::Int(64 << 20))),
            ("@@sql_select_limit", Some(Value::UInt(u64::MAX))),
            ("@@tx_isolation", text("READ-COMMITTED")),
            ("@@version", text(SERVER_VERSION)),
            ("@@global.time_zone", text("SYSTEM")),
            ("@@nobody_knows", None),
            ("@a", text("x")),
            ("@b", Some(Value::Int(-7))),
            ("@c", Some(Value::Null)),
        ] {
            assert_eq!(MySql.variable(name, &facts), expected, "{name}");
        }
        assert_eq!(shown("foreign_key_checks", &facts).as_deref(), Some("OFF"));
        assert!(shown("sql_mode", &facts).is_some_and(|mode| mode.contains("STRICT")));
    }

    #[test]
    fn variables_stand_in_order() {
        assert!(VARIABLES.is_sorted_by(|(a, _), (b, _)| a < b));
    }
}
