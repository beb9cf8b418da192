//! PostgreSQL's session variables and functions about the session.
//! <https://www.postgresql.org/docs/current/runtime-config-client.html>

pub(super) mod date_style;

use pando_kernel::Clock;
use pando_kernel::dialect::{
    Facts, Language, MODE, NamesBy, Prepares, VariableEffect, Variables, variable_refused,
};
use pando_kernel::own_session::{Aside, OwnSession};
use pando_kernel::roles::Roles;
use pando_kernel::two_phase::Isolation;
use pando_kernel::{Alone, Error, ErrorKind, Result, ServerError, Value};

use super::Postgres;
use crate::defaults;
use crate::encoding::{Encoding, Named};
use date_style::DateStyle;

/// What the protocol calls the client's encoding.
pub(crate) const ENCODING: &str = "client_encoding";

/// Why not all encodings are spoken, and what helps.
const UNSPOKEN: &str = "encodings with characters of several bytes are not spoken: have the program or PGCLIENTENCODING set it to UTF8";

/// What the server goes by when it reads a statement, and not when it runs one.
const PREPARED_ONCE: &str = "statements are prepared once for all sessions";

/// Who one is without a role.
/// <https://www.postgresql.org/docs/current/sql-set-session-authorization.html>
const AUTHORIZATION: &str = "session authorization";

impl OwnSession for Postgres {
    /// The cost of such a question, of which the planner knows little, looks as if compiling it were worth seconds.
    /// <https://www.postgresql.org/docs/current/jit-decision.html>
    fn aside(&self) -> Option<Aside> {
        Some(Aside { variable: "jit", sets: "SET jit = off", takes_back: "SET jit = DEFAULT" })
    }

    fn roles(&self) -> Option<&dyn pando_kernel::roles::Roles> {
        Some(self)
    }

    fn notifications(&self) -> Option<&dyn pando_kernel::Notifications> {
        Some(self)
    }
}

impl Variables for Postgres {
    fn set(&self, name: &str, value: &str) -> Result<VariableEffect> {
        let plain = unquote(value);
        let report =
            |name: &str, value: String| Ok(VariableEffect::Report { name: name.to_owned(), value });
        match name {
            "client_encoding" => {
                let name = ENCODING.to_owned();
                Ok(VariableEffect::Own { name, value: encoding(&plain)?.name().to_owned() })
            }
            "standard_conforming_strings" => match is_on(&plain) {
                Some(true) => Ok(VariableEffect::Ignore),
                Some(false) | None => {
                    Err(variable_refused(name, "statements are read with the value `on`"))
                }
            },
            "datestyle" => match DateStyle::default().with(&plain) {
                Some(style) => report("DateStyle", style.to_string()),
                // A server says what is wrong with it.
                None => Ok(VariableEffect::Replay),
            },
            "timezone" | "time zone" => {
                let zone = if plain.eq_ignore_ascii_case("local") {
                    defaults::TIME_ZONE.to_owned()
                } else {
                    fixed_zone(value).unwrap_or(plain)
                };
                report("TimeZone", zone)
            }
            "intervalstyle" => report("IntervalStyle", plain.to_lowercase()),
            "application_name" => report("application_name", plain),
            "default_transaction_read_only" => {
                let on = is_on(&plain) == Some(true);
                report("default_transaction_read_only", if on { "on" } else { "off" }.into())
            }
            "role" if role_of(value).is_none() => {
                Ok(VariableEffect::Back { names: &["role"], by: ("role", "NONE") })
            }
            // Whoever becomes another user has no role any more.
            "session authorization" | "session_authorization" => Ok(VariableEffect::As {
                name: AUTHORIZATION,
                value: value.to_owned(),
                over: &["role"],
            }),
            "transform_null_equals" if is_on(&plain) != Some(false) => {
                Err(variable_refused(name, PREPARED_ONCE))
            }
            "array_nulls" if is_on(&plain) != Some(true) => {
                Err(variable_refused(name, PREPARED_ONCE))
            }
            "transaction_isolation" | "transaction_read_only" | "transaction_deferrable" => {
                Err(variable_refused(name, "use SET TRANSACTION inside the transaction"))
            }
            _ => Ok(VariableEffect::Replay),
        }
    }

    fn prepares(&self) -> Prepares {
        Prepares { keeps_types: true, ..Prepares::default() }
    }

    fn completed(&self, name: &str, value: &str, set: &[(String, String)]) -> Option<String> {
        date_style::completed(name, &unquote(value), set).map(|style| format!("'{style}'"))
    }

    /// <https://www.postgresql.org/docs/current/functions-info.html>
    fn names_by(&self) -> NamesBy {
        NamesBy {
            // SET SCHEMA sets the search path, in which `$user` is the role.
            settings: &["search_path", "schema", "role", AUTHORIZATION],
            path_query: Some("SELECT pg_catalog.unnest(pg_catalog.current_schemas(false))::text"),
        }
    }

    fn set_statement(&self, variables: &[(String, String)]) -> String {
        let set = |(name, value): &(String, String)| match name.as_str() {
            "time zone" | "timezone" | "TimeZone" => format!("SET TIME ZONE {value}"),
            "role" => format!("SET ROLE {value}"),
            AUTHORIZATION => format!("SET SESSION AUTHORIZATION {value}"),
            mode if mode.starts_with(MODE) => {
                format!("SET SESSION CHARACTERISTICS AS TRANSACTION {value}")
            }
            name => {
                let parts: Vec<String> = name.split('.').map(|part| self.quote(part)).collect();
                format!("SET {} TO {value}", parts.join("."))
            }
        };
        variables.iter().map(set).collect::<Vec<_>>().join("; ")
    }

    fn shown_at_first(&self, name: &str) -> Option<&'static str> {
        defaults::TOLD.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    fn clock(&self) -> Option<&dyn Clock> {
        Some(self)
    }

    fn alone(&self) -> Option<&dyn Alone> {
        Some(self)
    }

    fn session_function(&self, name: &str, facts: &Facts) -> Option<Value> {
        match name {
            "current_database" | "current_catalog" => facts.database.clone().map(Value::Text),
            "current_user" | "user" | "current_role" => Some(Value::Text(current_user(facts))),
            "session_user" => Some(Value::Text(session_user(facts))),
            "pg_client_encoding" => Some(Value::Text(spoken(facts).to_owned())),
            "pg_backend_pid" => Some(Value::Int(facts.id.into())),
            _ => None,
        }
    }

    /// Roles and encodings are of the type of names.
    fn session_literal(&self, name: &str, value: &Value) -> Option<String> {
        let is_name = matches!(
            name,
            "current_user" | "session_user" | "user" | "current_role" | "pg_client_encoding"
        );
        is_name.then(|| format!("{}::pg_catalog.name", self.literal(value)))
    }

    fn session_setting(&self, by: &str, name: &str, facts: &Facts) -> Option<Value> {
        // Storage units are told what Pando calls itself.
        let is_unset = match by {
            "show unset" => true,
            "current_setting" => {
                !facts.settings.iter().any(|(known, _)| known == "application_name")
            }
            _ => false,
        };
        if is_unset && name.eq_ignore_ascii_case("application_name") {
            return Some(Value::Text(String::new()));
        }
        let asks = matches!(by, "show" | "show unset" | "current_setting");
        if asks && name.eq_ignore_ascii_case(ENCODING) {
            return Some(Value::Text(spoken(facts).to_owned()));
        }
        let is_level = name.eq_ignore_ascii_case("transaction_isolation");
        let level = facts.isolation.filter(|_| asks && is_level)?;
        Some(Value::Text(
            match level {
                Isolation::RepeatableRead => "repeatable read",
                Isolation::Serializable => "serializable",
            }
            .to_owned(),
        ))
    }
}

impl Roles for Postgres {
    fn oneself(&self, name: &str, value: &str, user: &str) -> Option<&'static str> {
        let names = |value: &str| role_of(value).is_some_and(|role| role == user);
        match name {
            "role" => names(value).then_some("NONE"),
            "session authorization" | "session_authorization" => names(value).then_some("DEFAULT"),
            _ => None,
        }
    }

    fn named_by(&self) -> &'static [&'static str] {
        &["role", AUTHORIZATION]
    }
}

/// Who one is by the role that was set last, or as whoever one became behind that.
fn current_user(facts: &Facts) -> String {
    let set = facts.settings.iter().rev().find(|(name, _)| name == "role" || name == AUTHORIZATION);
    match set {
        Some((name, value)) if name == "role" => {
            role_of(value).unwrap_or_else(|| session_user(facts))
        }
        Some(_) | None => session_user(facts),
    }
}

/// Who one is without a role: as one has logged in, or has become since.
fn session_user(facts: &Facts) -> String {
    let set = facts.settings.iter().rev().find(|(name, _)| name == AUTHORIZATION);
    set.and_then(|(_, value)| role_of(value)).unwrap_or_else(|| facts.user.clone())
}

/// The role that a value names: a word, a name in quotes, or a string. NONE and DEFAULT name none.
/// <https://www.postgresql.org/docs/current/sql-set-role.html>
fn role_of(value: &str) -> Option<String> {
    let value = value.trim();
    let quoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let role = match quoted {
        Some(name) => return Some(name.replace("\"\"", "\"")),
        None if value.contains('\'') => unquote(value),
        None => value.to_lowercase(),
    };
    let is_none = role == "none" || matches!(value, "" | "default" | "DEFAULT");
    (!is_none).then_some(role)
}

/// The value a text stands for: a string without its quotes, a word as it is.
pub(super) fn unquote(text: &str) -> String {
    let text = text.trim();
    let escaped = text.strip_prefix(['E', 'e']).filter(|rest| rest.starts_with('\''));
    let inner = |text: &str| {
        text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).map(str::to_owned)
    };
    match escaped {
        Some(rest) => match inner(rest) {
            Some(text) => text.replace("''", "'").replace("\\\\", "\\"),
            None => text.to_owned(),
        },
        None => match inner(text) {
            Some(text) => text.replace("''", "'"),
            None => text.trim_matches('"').to_owned(),
        },
    }
}

/// The encoding of this name.
fn encoding(name: &str) -> Result<Encoding> {
    match Encoding::named(name) {
        Named::Spoken(encoding) => Ok(encoding),
        Named::Unspoken => Err(variable_refused(ENCODING, UNSPOKEN)),
        Named::Unknown => Err(Error::new(ErrorKind::Server(Box::new(ServerError {
            sqlstate: "22023".into(),
            message: format!("invalid value for parameter \"{ENCODING}\": \"{name}\""),
            severity: "ERROR".into(),
            ..ServerError::default()
        })))),
    }
}

/// What the session's client speaks.
fn spoken(facts: &Facts) -> &str {
    let set = facts.shown.iter().find(|(name, _)| name == ENCODING);
    set.map_or(Encoding::Utf8.name(), |(_, value)| value)
}

fn is_on(value: &str) -> Option<bool> {
    // Servers take the beginnings of these words, too, where they tell one from the others.
    let word = value.to_ascii_lowercase();
    let begins = |whole: &str| !word.is_empty() && whole.starts_with(&word);
    match word.as_str() {
        "on" | "1" => Some(true),
        "of" | "off" | "0" => Some(false),
        _ if begins("true") || begins("yes") => Some(true),
        _ if begins("false") || begins("no") => Some(false),
        _ => None,
    }
}

/// The name that the server gives to the zone of a number of hours (`-3.5`) or an `INTERVAL '+05:30' HOUR TO MINUTE`: `<-03:30>+03:30`, `<+05:30>-05:30`.
/// <https://www.postgresql.org/docs/current/sql-set.html>
fn fixed_zone(value: &str) -> Option<String> {
    let value = value.trim();
    let minutes = match value.split_once('\'') {
        None => (value.parse::<f64>().ok().filter(|hours| hours.abs() <= 24.0)? * 60.0) as i32,
        Some((word, rest)) if word.trim().eq_ignore_ascii_case("interval") => {
            let (text, _) = rest.split_once('\'')?;
            let (sign, text) = match text.strip_prefix('-') {
                Some(text) => (-1, text),
                None => (1, text.strip_prefix('+').unwrap_or(text)),
            };
            let (hours, minutes) = text.split_once(':')?;
            let (hours, minutes): (u8, u8) = (hours.parse().ok()?, minutes.parse().ok()?);
            sign * (i32::from(hours) * 60 + i32::from(minutes))
        }
        Some(_) => return None,
    };
    let (hours, rest) = (minutes.abs() / 60, minutes.abs() % 60);
    let size = match rest {
        0 => format!("{hours:02}"),
        rest => format!("{hours:02}:{rest:02}"),
    };
    let (east, west) = if minutes < 0 { ('-', '+') } else { ('+', '-') };
    Some(format!("<{east}{size}>{west}{size}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(name: &str, value: &str) -> (String, String) {
        let effect = Postgres.set(name, value).unwrap();
        let VariableEffect::Report { name, value } = effect else { panic!("{effect:?}") };
        (name, value)
    }

    #[test]
    fn a_role_is_read_as_the_server_reads_it() {
        let cases = [
            ("ann", Some("ann")),
            ("Ann", Some("ann")),
            ("\"Ann\"", Some("Ann")),
            ("'Ann'", Some("Ann")),
            ("none", None),
            ("NONE", None),
            ("'none'", None),
            ("\"none\"", Some("none")),
            ("DEFAULT", None),
            ("", None),
            ("''", Some("")),
        ];
        for (value, expected) in cases {
            assert_eq!(role_of(value).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn oneself_is_whoever_has_logged_in() {
        let cases = [
            ("role", "'root'", Some("NONE")),
            ("role", "ROOT", Some("NONE")),
            ("role", "\"ROOT\"", None),
            ("role", "other", None),
            ("session authorization", "root", Some("DEFAULT")),
            ("search_path", "root", None),
        ];
        for (name, value, expected) in cases {
            assert_eq!(Postgres.oneself(name, value, "root"), expected, "{name} {value}");
        }
    }

    #[test]
    fn variables_the_client_knows_are_reported_as_the_protocol_spells_them() {
        assert_eq!(
            report("timezone", "'Europe/Berlin'"),
            ("TimeZone".into(), "Europe/Berlin".into())
        );
        assert_eq!(report("time zone", "LOCAL"), ("TimeZone".into(), "Etc/UTC".into()));
        for (zone, told) in [
            ("2", "<+02>-02"),
            ("-3.5", "<-03:30>+03:30"),
            ("INTERVAL '+00:00' HOUR TO MINUTE", "<+00>-00"),
            ("interval '-05:30' hour to minute", "<-05:30>+05:30"),
            ("'UTC'", "UTC"),
        ] {
            assert_eq!(report("time zone", zone), ("TimeZone".into(), told.into()));
        }
        let interval = [("TimeZone".to_owned(), "INTERVAL '+00:00' HOUR TO MINUTE".to_owned())];
        assert_eq!(
            Postgres.set_statement(&interval),
            "SET TIME ZONE INTERVAL '+00:00' HOUR TO MINUTE"
        );
        assert_eq!(report("datestyle", "ISO, DMY"), ("DateStyle".into(), "ISO, DMY".into()));
        assert_eq!(report("datestyle", "'ISO'"), ("DateStyle".into(), "ISO, MDY".into()));
        assert_eq!(report("datestyle", "German"), ("DateStyle".into(), "German, DMY".into()));
        assert_eq!(report("application_name", "'it''s'").1, "it's");
        assert_eq!(report("application_name", " E'a\\\\b'").1, "a\\b");
    }

    #[test]
    fn what_would_change_how_bytes_are_read_is_refused() {
        assert!(Postgres.set("client_encoding", "'nothing'").is_err());
        let effect = |name: &str| Postgres.set("client_encoding", name).map_err(|e| e.to_string());
        for (name, told) in [("'utf-8'", "UTF8"), ("latin1", "LATIN1"), ("'ISO-8859-15'", "LATIN9")]
        {
            let own = VariableEffect::Own { name: "client_encoding".into(), value: told.into() };
            assert_eq!(effect(name), Ok(own));
        }
        assert!(effect("'EUC_JP'").unwrap_err().contains("several bytes"));
        assert!(Postgres.set("standard_conforming_strings", "off").is_err());
        assert!(Postgres.set("transaction_isolation", "'serializable'").is_err());
    }

    #[test]
    fn other_variables_are_replayed_under_a_quoted_name() {
        assert_eq!(Postgres.set("search_path", "a, b").unwrap(), VariableEffect::Replay);
        let list = [
            ("search_path".to_owned(), "a, b".to_owned()),
            ("my.x".to_owned(), "'1'".to_owned()),
            ("timezone".to_owned(), "'UTC'".to_owned()),
        ];
        assert_eq!(
            Postgres.set_statement(&list),
            "SET \"search_path\" TO a, b; SET \"my\".\"x\" TO '1'; SET TIME ZONE 'UTC'"
        );
    }

    #[test]
    fn the_session_answers_for_itself() {
        let facts = Facts { user: "ann".into(), id: 7, ..Facts::default() };
        let of = |name| Postgres.session_function(name, &facts);
        assert_eq!(of("current_user"), Some(Value::Text("ann".into())));
        assert_eq!(of("pg_backend_pid"), Some(Value::Int(7)));
        assert_eq!(of("now"), None);
    }

    #[test]
    fn the_level_is_told_where_units_run_at_another() {
        let told = |isolation, by, name| {
            Postgres.session_setting(by, name, &Facts { isolation, ..Facts::default() })
        };
        let serial = Some(Isolation::Serializable);
        let text = Some(Value::Text("serializable".into()));
        assert_eq!(told(serial, "show", "transaction_isolation"), text);
        assert_eq!(told(serial, "current_setting", "Transaction_Isolation"), text);
        assert_eq!(told(serial, "current_setting", "default_transaction_isolation"), None);
        assert_eq!(told(serial, "length", "transaction_isolation"), None);
        assert_eq!(told(None, "show", "transaction_isolation"), None);
    }

    #[test]
    fn nobody_is_told_what_pando_calls_itself() {
        let told = |by, settings: &[(String, String)]| {
            let facts = Facts { settings: settings.into(), ..Facts::default() };
            Postgres.session_setting(by, "Application_Name", &facts)
        };
        let own = [("application_name".to_owned(), "'mine'".to_owned())];
        let unset = Some(Value::Text(String::new()));
        assert_eq!(told("current_setting", &[]), unset);
        assert_eq!(told("show unset", &[]), unset);
        assert_eq!(told("current_setting", &own), None, "storage units have been told it");
        assert_eq!(told("show", &own), None);
    }
}
