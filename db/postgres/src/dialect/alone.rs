//! What a door of PostgreSQL's tells where there is no server to ask.
//! <https://www.postgresql.org/docs/current/functions-info.html>

use pando_kernel::Value;
use pando_kernel::alone::{Alone, Relation, set_to};
use pando_kernel::dialect::{Facts, MODE, VariableEffect, Variables};
use pando_sql::ast::{ObjectName, Show};

use super::type_name::TYPES;
use super::variables::unquote;
use super::{POSTGRES, Postgres, text_literal};
use crate::defaults::{DATE_STYLE, SERVER_VERSION, TIME_ZONE};

/// What settings are before they are set, by name.
const SETTINGS: &[(&str, &str)] = &[
    ("application_name", ""),
    ("bytea_output", "hex"),
    ("check_function_bodies", "on"),
    ("client_encoding", "UTF8"),
    ("client_min_messages", "notice"),
    ("DateStyle", DATE_STYLE),
    ("default_table_access_method", "heap"),
    ("default_tablespace", ""),
    ("default_transaction_deferrable", "off"),
    ("default_transaction_isolation", "read committed"),
    ("default_transaction_read_only", "off"),
    ("extra_float_digits", "1"),
    ("idle_in_transaction_session_timeout", "0"),
    ("in_hot_standby", "off"),
    ("integer_datetimes", "on"),
    ("IntervalStyle", "postgres"),
    ("is_superuser", "off"),
    ("jit", "off"),
    ("lock_timeout", "0"),
    ("max_identifier_length", "63"),
    ("max_index_keys", "32"),
    ("row_security", "on"),
    ("search_path", "\"$user\", public"),
    ("server_encoding", "UTF8"),
    ("server_version", SERVER_VERSION),
    ("server_version_num", "150000"),
    ("standard_conforming_strings", "on"),
    ("statement_timeout", "0"),
    ("synchronous_commit", "on"),
    ("TimeZone", TIME_ZONE),
    ("transaction_deferrable", "off"),
    ("transaction_isolation", "read committed"),
    ("transaction_read_only", "off"),
];

/// What `version()` tells.
const VERSION: &str = concat!("PostgreSQL 15.0 (Pando ", env!("CARGO_PKG_VERSION"), ")");
const SCHEMAS: [(i64, &str); 3] =
    [(CATALOG, "pg_catalog"), (2200, "public"), (13_000, "information_schema")];
/// The schema of the types.
const CATALOG: i64 = 11;

/// The number of the encoding UTF8.
const UTF8: i64 = 6;

const DATABASES: [&str; 18] = [
    "oid",
    "datname",
    "datdba",
    "encoding",
    "datlocprovider",
    "datistemplate",
    "datallowconn",
    "datconnlimit",
    "datfrozenxid",
    "datminmxid",
    "dattablespace",
    "datcollate",
    "datctype",
    "daticulocale",
    "daticurules",
    "datlocale",
    "datcollversion",
    "datacl",
];

impl Alone for Postgres {
    fn function(&self, name: &str, arguments: &[Value], facts: &Facts) -> Option<Value> {
        let text = |text: &str| Some(Value::Text(text.to_owned()));
        match (name, arguments) {
            ("version", []) => text(VERSION),
            ("current_schema", []) => text("public"),
            ("current_setting", [Value::Text(name)]) => shown(name, facts).map(Value::Text),
            ("current_setting", [Value::Text(name), Value::Bool(missing)]) => {
                let value = shown(name, facts).map(Value::Text);
                value.or_else(|| missing.then_some(Value::Null))
            }
            // The session itself sets what the statement asks for.
            ("set_config", [_, value, _]) => Some(value.clone()),
            ("to_regtype", [Value::Text(name)]) => {
                let known = TYPES.iter().find(|(_, known, _)| known == name);
                Some(known.map_or(Value::Null, |(oid, ..)| Value::Int((*oid).into())))
            }
            ("to_regtype", [Value::Null]) => Some(Value::Null),
            ("pg_is_in_recovery", []) => Some(Value::Bool(false)),
            ("pg_advisory_unlock_all", []) => text(""),
            ("pg_get_userbyid", [_]) => text(&facts.user),
            ("pg_encoding_to_char", [Value::Int(UTF8)]) => text("UTF8"),
            ("array_to_string", [Value::Null, ..]) => Some(Value::Null),
            _ => None,
        }
    }

    fn variable(&self, _name: &str, _facts: &Facts) -> Option<Value> {
        None
    }

    fn relation(&self, name: &ObjectName, facts: &Facts) -> Option<Relation> {
        let own = match &name.parts[..] {
            [only] => only,
            [schema, own] if schema.value == "pg_catalog" => own,
            _ => return None,
        };
        match own.value.as_str() {
            "pg_database" => Some(databases(facts)),
            "pg_type" => Some(types()),
            "pg_namespace" => Some(Relation {
                columns: ["oid", "nspname"].map(str::to_owned).into(),
                rows: SCHEMAS
                    .iter()
                    .map(|(oid, name)| vec![Value::Int(*oid), Value::Text((*name).to_owned())])
                    .collect(),
            }),
            "pg_settings" => Some(Relation::of_text(
                &["name", "setting", "short_desc"],
                SETTINGS.iter().filter_map(|(name, _)| {
                    Some(vec![(*name).to_owned(), shown(name, facts)?, String::new()])
                }),
            )),
            _ => None,
        }
    }

    fn restate(&self, _text: &str, show: &Show, _facts: &Facts) -> Option<String> {
        if show.what == "all" {
            let list =
                "SELECT name, setting, short_desc AS description FROM pg_catalog.pg_settings";
            return Some(format!("{list} ORDER BY 1"));
        }
        let (name, _) = known(&show.what)?;
        let asked = text_literal(name);
        Some(format!("SELECT pg_catalog.current_setting({asked}) AS \"{name}\""))
    }
}

fn known(name: &str) -> Option<&'static (&'static str, &'static str)> {
    let name = match name {
        "time zone" => "timezone",
        "transaction isolation level" => "transaction_isolation",
        name => name,
    };
    SETTINGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))
}

/// A setting's value as SHOW tells it.
fn shown(name: &str, facts: &Facts) -> Option<String> {
    let (name, default) = known(name)?;
    if let Some(mode) = mode(name, facts) {
        return Some(mode);
    }
    if let Some((_, value)) = facts.shown.iter().find(|(known, _)| known == name) {
        return Some(value.clone());
    }
    let key = name.to_ascii_lowercase();
    // `SET TIME ZONE` and `SET timezone` are one.
    let also = if key == "timezone" { "time zone" } else { key.as_str() };
    let is_it = |known: &str| known.eq_ignore_ascii_case(&key) || known == also;
    let newest = facts.settings.iter().rev().find(|(known, _)| is_it(known));
    let Some((own, text)) = newest.filter(|(_, text)| !text.eq_ignore_ascii_case("default")) else {
        return Some((*default).to_owned());
    };
    Some(match Postgres.set(own, text) {
        Ok(VariableEffect::Report { value, .. } | VariableEffect::Own { value, .. }) => value,
        Ok(
            VariableEffect::Replay
            | VariableEffect::As { .. }
            | VariableEffect::Back { .. }
            | VariableEffect::Ignore
            | VariableEffect::Autocommit(_)
            | VariableEffect::LastInsertId(_),
        )
        | Err(_) => listed(text),
    })
}

/// A value as the server writes it out: names of a list lose the quotes they can do without.
fn listed(text: &str) -> String {
    if text.starts_with('\'') || !text.contains(',') {
        return unquote(text);
    }
    let plain = |name: &str| {
        let inner = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
        let is_plain = |name: &&str| {
            name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
                && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        };
        inner.filter(is_plain).unwrap_or(name).to_owned()
    };
    text.split(',').map(|name| plain(name.trim())).collect::<Vec<_>>().join(", ")
}

/// The setting that a transaction mode is: of the open transaction, else of the session.
fn mode(name: &str, facts: &Facts) -> Option<String> {
    let of = |kind: &str| set_to(facts, &format!("{MODE}{kind}"));
    match name {
        "transaction_isolation" | "default_transaction_isolation" => {
            Some(of("isolation")?.strip_prefix("ISOLATION LEVEL ")?.to_lowercase())
        }
        "transaction_read_only" => {
            Some(if of("read")? == "READ ONLY" { "on" } else { "off" }.to_owned())
        }
        _ => None,
    }
}

fn types() -> Relation {
    let columns = ["oid", "typname", "typnamespace", "typarray", "typdelim", "typtype"];
    let rows = TYPES.iter().map(|(oid, name, array)| {
        let text = |text: &str| Value::Text(text.to_owned());
        let number = |number: u32| Value::Int(number.into());
        vec![number(*oid), text(name), Value::Int(CATALOG), number(*array), text(","), text("b")]
    });
    Relation { rows: rows.collect(), columns: columns.map(str::to_owned).into() }
}

fn databases(facts: &Facts) -> Relation {
    let own = facts.databases.iter().map(String::as_str);
    let postgres = Some(POSTGRES).filter(|name| !own.clone().any(|known| known == *name));
    let text = |text: &str| Value::Text(text.to_owned());
    let rows = own.chain(postgres).zip(1..).map(|(name, oid)| {
        vec![
            Value::Int(oid),
            text(name),
            Value::Int(10),
            Value::Int(UTF8),
            text("c"),
            Value::Bool(false),
            Value::Bool(true),
            Value::Int(-1),
            Value::Int(0),
            Value::Int(1),
            Value::Int(1663),
            text("C.UTF-8"),
            text("C.UTF-8"),
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
        ]
    });
    Relation { rows: rows.collect(), columns: DATABASES.map(str::to_owned).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(settings: &[(&str, &str)]) -> Facts {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Facts { settings: settings.iter().map(pair).collect(), ..Facts::default() }
    }

    #[test]
    fn settings_are_what_the_session_set_or_what_a_server_begins_with() {
        let facts = facts(&[
            ("datestyle", "'ISO, DMY'"),
            ("timezone", "'Asia/Tokyo'"),
            ("time zone", "'Europe/Berlin'"),
            ("statement_timeout", "7"),
            ("transaction mode isolation", "ISOLATION LEVEL SERIALIZABLE"),
            ("transaction mode read", "READ ONLY"),
        ]);
        for (name, expected) in [
            ("DateStyle", Some("ISO, DMY")),
            ("timezone", Some("Europe/Berlin")),
            ("time zone", Some("Europe/Berlin")),
            ("statement_timeout", Some("7")),
            ("server_version", Some(SERVER_VERSION)),
            ("transaction isolation level", Some("serializable")),
            ("transaction_read_only", Some("on")),
            ("search_path", Some("\"$user\", public")),
            ("nobody_knows", None),
        ] {
            assert_eq!(shown(name, &facts).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn there_is_always_a_database() {
        let rows = databases(&facts(&[])).rows;
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0][1], Value::Text(POSTGRES.into()));
        assert_eq!(rows[0].len(), DATABASES.len());
    }
}
