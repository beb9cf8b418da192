//! Session variables, and functions about the session.

use std::borrow::Cow;

use pando_kernel::Clock;
use pando_kernel::dialect::{Facts, Prepares, VariableEffect, Variables, variable_refused};
use pando_kernel::own_session::OwnSession;
use pando_kernel::{Alone, Error, Result, Value};
use pando_sql::Modes;

use super::{MySql, SERVER_VERSION};
use crate::modes;
use crate::modes::{UNREAD, without_reading};

/// What a connection's literals compare by.
const COLLATION: &str = "collation_connection";

/// The collation that a client names at login. No statement can.
pub(crate) const AT_LOGIN: &str = "collation of the login";

/// The other character set that clients may speak: the door translates it.
const LATIN1: &str = "latin1";
/// What the character set of a login is that of.
const LATIN1_CLIENT: [&str; 2] = ["character_set_client", "character_set_results"];

/// Character sets whose text is UTF-8, or a part of it, on the wire.
const UTF8: [&str; 5] = ["utf8mb4", "utf8mb3", "utf8", "ascii", "default"];

/// What cuts the answers of queries that have no LIMIT, and its value when it does not.
/// <https://dev.mysql.com/doc/refman/8.0/en/server-system-variables.html#sysvar_sql_select_limit>
pub(super) const LIMIT: &str = "sql_select_limit";
/// What stands before the text of a user variable that keeps its collation, as clients and storage units speak UTF-8.
const KEPT: &str = "_utf8mb4";
/// The same for one of another character set.
const CONVERTED: &str = "CONVERT(_utf8mb4";
/// What stands behind such a text.
const USING: &str = " USING ";
/// The seconds after which the door sends an idle client away.
pub(crate) const IDLE: &str = "wait_timeout";

/// A year.
const MOST_SECONDS: u64 = 31_536_000;

pub(super) const ALL: u64 = u64::MAX;

impl OwnSession for MySql {
    fn modes(&self, told: &[(String, String)]) -> Modes {
        modes::told_modes(told)
    }

    fn collation_of(&self, expression: &str) -> Option<String> {
        Some(format!("COLLATION({expression})"))
    }

    /// A number with a point is a decimal one, with whatever digits it has.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others' literals say what they are")]
    fn kept_value(&self, value: &Value, literal: String, collation: &str) -> String {
        let is_name = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        match value {
            Value::Decimal(_) if !literal.contains('.') => literal + ".",
            Value::Text(_) if is_name(collation) => match collation.split_once('_') {
                Some(("utf8mb4", _)) => format!("{KEPT}{literal} COLLATE {collation}"),
                Some((set, _)) => {
                    format!("{CONVERTED}{literal}{USING}{set}) COLLATE {collation}")
                }
                // As octets that are text.
                None => literal,
            },
            _ => literal,
        }
    }

    fn literal_in<'a>(&self, kept: &'a str) -> &'a str {
        let converted = kept.strip_prefix(CONVERTED).and_then(|rest| rest.rsplit_once(USING));
        if let Some((literal, _)) = converted {
            return literal;
        }
        match kept.strip_prefix(KEPT) {
            Some(rest) => rest.rsplit_once(" COLLATE ").map_or(rest, |(literal, _)| literal),
            None => kept.strip_suffix('.').unwrap_or(kept),
        }
    }
}

impl Variables for MySql {
    fn set(&self, name: &str, value: &str) -> Result<VariableEffect> {
        match name {
            "autocommit" => autocommit(value),
            "names" => names(value),
            AT_LOGIN => Ok(connected(string_of(value).unwrap_or(value))),
            "character set" | "charset" => {
                spoken(name, value)?;
                // The database's collation, which connections have from their login as a rule, and of which literals of units in several databases must not depend.
                // <https://dev.mysql.com/doc/refman/8.0/en/set-character-set.html>
                Ok(AS_AT_LOGIN)
            }
            "character_set_client" | "character_set_results" => character_set(name, value),
            "character_set_connection" => {
                spoken(name, value)?;
                Ok(default_collation(value))
            }
            COLLATION => Ok(collation_effect(value)),
            modes::VARIABLE => sql_mode(value),
            "time_zone" => Ok(match string_of(value) {
                Some(zone) => {
                    VariableEffect::Report { name: name.to_owned(), value: zone.to_owned() }
                }
                None => VariableEffect::Replay,
            }),
            // Idle connections to storage units are the pool's business, tracking is the door's.
            IDLE | "interactive_timeout" => idle_time(name, value),
            "net_buffer_length" => Ok(VariableEffect::Ignore),
            name if name.starts_with("session_track_") => Ok(VariableEffect::Ignore),
            "last_insert_id" | "identity" => VariableEffect::last_insert_id(value),
            "role" if is_of_login(value) => Ok(VariableEffect::Ignore),
            "role" => Err(variable_refused(
                name,
                "storage units know their own user, and not who is logged in here; make it a default role of that user \
                 on them (SET DEFAULT ROLE)",
            )),
            "insert_id" | "gtid_next" | "rand_seed1" | "rand_seed2" | "pseudo_thread_id"
            | "password" | "resource group" => Err(variable_refused(
                name,
                "it would hold for one statement or connection of one storage unit only",
            )),
            name if name.starts_with('@') && !is_kept(value) && value.contains(['(', '@']) => {
                Err(variable_refused(name, "only a literal keeps its value on every storage unit"))
            }
            _ => Ok(VariableEffect::Replay),
        }
    }

    /// Collations of literals, among others.
    fn prepares(&self) -> Prepares {
        Prepares { with_settings: true, ..Prepares::default() }
    }

    fn told(&self, name: &str, value: &str) -> Vec<(String, String)> {
        let names: &[&str] = match name {
            "names" => {
                &["character_set_client", "character_set_connection", "character_set_results"]
            }
            "character set" | "charset" => &["character_set_client", "character_set_results"],
            "character_set_client" | "character_set_results" => &[name],
            modes::VARIABLE => return vec![(name.to_owned(), modes::told(value))],
            IDLE | "interactive_timeout" => {
                let seconds = seconds_of(value).map_or(String::new(), |own| own.to_string());
                return vec![(name.to_owned(), seconds)];
            }
            AT_LOGIN if string_of(value).is_some_and(is_of_latin1) => {
                return LATIN1_CLIENT
                    .iter()
                    .map(|name| ((*name).to_owned(), LATIN1.to_owned()))
                    .collect();
            }
            _ => return Vec::new(),
        };
        let lower = value.trim().to_ascii_lowercase();
        let charset = lower.split_once(" collate ").map_or(&*lower, |(charset, _)| charset);
        let charset = match string_of(charset) {
            Some("default") => "utf8mb4",
            Some("null") | None => "",
            Some(other) => other,
        };
        names.iter().map(|name| ((*name).to_owned(), charset.to_owned())).collect()
    }

    fn set_statement(&self, variables: &[(String, String)]) -> String {
        // Literals are read before any of it counts: those behind a collation were given under it.
        let mut collation: Option<&str> = None;
        let mut parts = Vec::with_capacity(variables.len());
        for (name, value) in variables {
            parts.push(match name.as_str() {
                "names" => {
                    collation = value.split_once(" COLLATE ").map(|(_, collation)| collation);
                    format!("NAMES {value}")
                }
                "character set" | "charset" => format!("CHARACTER SET {value}"),
                user if user.starts_with('@') => match collation {
                    Some(collation) if value.starts_with(['\'', '"']) => {
                        let is_latin1 = string_of(collation).is_some_and(is_of_latin1);
                        let (before, behind) =
                            if is_latin1 { ("CONVERT(", " USING latin1)") } else { ("", "") };
                        format!("{user} = {before}{value}{behind} COLLATE {collation}")
                    }
                    _ => format!("{user} = {value}"),
                },
                modes::VARIABLE if value.trim().eq_ignore_ascii_case("DEFAULT") => {
                    format!("SESSION sql_mode = {}", without_reading("@@GLOBAL.sql_mode"))
                }
                modes::VARIABLE => format!("SESSION sql_mode = {}", modes::for_units(value)),
                _ => {
                    if name == COLLATION {
                        collation = Some(value);
                    }
                    format!("SESSION {name} = {value}")
                }
            });
        }
        format!("SET {}", parts.join(", "))
    }

    fn mode_variable(&self, mode: &str) -> Option<(String, String)> {
        let variable = |name: &str, value: &str| Some((name.to_owned(), value.to_owned()));
        match mode {
            "READ ONLY" => variable("transaction_read_only", "1"),
            "READ WRITE" => variable("transaction_read_only", "0"),
            level => {
                let level = level.strip_prefix("ISOLATION LEVEL ")?.replace(' ', "-");
                variable("transaction_isolation", &format!("'{level}'"))
            }
        }
    }

    fn select_limit(&self, variables: &[(String, String)]) -> Result<Option<u64>> {
        let Some((_, value)) = variables.iter().find(|(name, _)| name == LIMIT) else {
            return Ok(None);
        };
        match value.trim().parse() {
            Ok(ALL) => Ok(None),
            Ok(rows) => Ok(Some(rows)),
            Err(_) if value.trim().eq_ignore_ascii_case("default") => Ok(None),
            Err(_) => Err(Error::unmerged(
                30001,
                format!(
                    "`{LIMIT}` = {value} is no number of rows that could be kept over several shards"
                ),
                "set it to a whole number or to DEFAULT",
            )),
        }
    }

    fn clock(&self) -> Option<&dyn Clock> {
        Some(self)
    }

    fn alone(&self) -> Option<&dyn Alone> {
        Some(self)
    }

    fn session_function(&self, name: &str, facts: &Facts) -> Option<Value> {
        let text = |text: &str| Some(Value::Text(text.to_owned()));
        if let Some(variable) = name.strip_prefix("@@") {
            return variable_value(variable, facts);
        }
        match name {
            "database" | "schema" => Some(facts.database.clone().map_or(Value::Null, Value::Text)),
            "user" | "session_user" | "system_user" => {
                text(&format!("{}@{}", facts.user, facts.host))
            }
            "current_user" => text(&format!("{}@%", facts.user)),
            "connection_id" => Some(Value::UInt(u64::from(facts.id))),
            "last_insert_id" => Some(Value::UInt(facts.last_insert_id)),
            "row_count" => Some(Value::Int(facts.row_count)),
            "found_rows" => Some(Value::UInt(facts.found_rows)),
            "version" => text(facts.version.as_deref().unwrap_or(SERVER_VERSION)),
            _ => None,
        }
    }

    /// A number's own type hangs on its digits, a bit operation's is BIGINT UNSIGNED on all servers.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only numbers have another type as literals"
    )]
    fn session_literal(&self, name: &str, value: &Value) -> Option<String> {
        let bare = name.strip_prefix("@@").unwrap_or(name);
        let is_wide = |name| !matches!(name, "connection_id" | "autocommit");
        match value {
            Value::UInt(number) if bare == "found_rows" => {
                Some(format!("CAST({number}|0 AS SIGNED)"))
            }
            Value::UInt(number) if is_wide(bare) => Some(format!("({number}|0)")),
            Value::Int(number) if is_wide(bare) => Some(format!("CAST({number}|0 AS SIGNED)")),
            _ => None,
        }
    }
}

fn variable_value(variable: &str, facts: &Facts) -> Option<Value> {
    let session = variable.strip_prefix("session.").or_else(|| variable.strip_prefix("local."));
    match session.unwrap_or(variable) {
        "autocommit" => Some(Value::Int(i64::from(facts.autocommit))),
        "last_insert_id" | "identity" => Some(Value::UInt(facts.last_insert_id)),
        "warning_count" => Some(Value::UInt(facts.warning_count)),
        "error_count" => Some(Value::UInt(facts.error_count)),
        "pseudo_thread_id" => Some(Value::UInt(u64::from(facts.id))),
        "version" => {
            Some(Value::Text(facts.version.as_deref().unwrap_or(SERVER_VERSION).to_owned()))
        }
        idle @ (IDLE | "interactive_timeout") => {
            facts.told(idle).and_then(|seconds| seconds.parse().ok()).map(Value::UInt)
        }
        // Units are spoken to in UTF-8 whatever the client speaks.
        client @ ("character_set_client" | "character_set_results") => facts
            .told(client)
            .filter(|charset| *charset == LATIN1)
            .map(|charset| Value::Text(charset.to_owned())),
        modes::VARIABLE => {
            let names = facts.told(modes::VARIABLE).filter(|names| !names.is_empty())?;
            Some(Value::Text(modes::shown(names, facts.version.as_deref())))
        }
        "version_comment" => Some(Value::Text("Pando".to_owned())),
        _ => None,
    }
}

/// Whether a value is a string, or one that keeps its collation.
fn is_kept(value: &str) -> bool {
    let rest = value.strip_prefix(CONVERTED).or_else(|| value.strip_prefix(KEPT));
    rest.unwrap_or(value).starts_with(['\'', '"'])
}

/// The content of a quoted literal without escapes, or of a bare word.
pub(crate) fn string_of(value: &str) -> Option<&str> {
    let value = value.trim();
    let quoted = |mark: char| {
        value
            .strip_prefix(mark)
            .and_then(|rest| rest.strip_suffix(mark))
            .filter(|text| !text.contains(mark) && !text.contains('\\'))
    };
    quoted('\'').or_else(|| quoted('"')).or_else(|| quoted('`')).or_else(|| {
        value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_').then_some(value)
    })
}

/// The roles that a connection has from its login, and none. Roles are those of the user that storage units know, who
/// works for all clients; a client has none to give up. <https://dev.mysql.com/doc/refman/8.0/en/set-role.html>
fn is_of_login(roles: &str) -> bool {
    ["default", "none"].iter().any(|word| roles.trim().eq_ignore_ascii_case(word))
}

/// How long a client may be idle, which its door sees to. What needs computing comes again as a literal.
/// <https://dev.mysql.com/doc/refman/8.0/en/server-system-variables.html#sysvar_wait_timeout>
fn idle_time(name: &str, value: &str) -> Result<VariableEffect> {
    let is_known = seconds_of(value).is_some() || value.trim().eq_ignore_ascii_case("default");
    match is_known {
        true => Ok(VariableEffect::Ignore),
        false if value.contains(['@', '(']) => Ok(VariableEffect::Replay),
        false => Err(variable_refused(name, "its value must be a whole number of seconds")),
    }
}

/// Seconds as servers take them: at least one, at most a year.
fn seconds_of(value: &str) -> Option<u64> {
    let value = value.trim();
    let digits = value.strip_prefix('-').unwrap_or(value);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let longest = MOST_SECONDS;
    Some(match value.starts_with('-') {
        true => 1,
        false => digits.parse().unwrap_or(longest).clamp(1, longest),
    })
}

fn autocommit(value: &str) -> Result<VariableEffect> {
    let word = string_of(value).unwrap_or(value).to_ascii_lowercase();
    match word.as_str() {
        "1" | "on" | "true" | "default" => Ok(VariableEffect::Autocommit(true)),
        "0" | "off" | "false" => Ok(VariableEffect::Autocommit(false)),
        _ => Err(variable_refused("autocommit", "its value must be 0 or 1")),
    }
}

/// `SET NAMES charset [COLLATE collation]`. What it says of the client's character set is refused or known; what stays is the collation.
fn names(value: &str) -> Result<VariableEffect> {
    let lower = value.to_ascii_lowercase();
    let Some((charset, collation)) = lower.split_once(" collate ") else {
        spoken("names", value)?;
        return Ok(default_collation(value));
    };
    spoken("names", charset)?;
    let set = string_of(charset).map_or("", |set| if set == "utf8mb3" { "utf8" } else { set });
    // MariaDB's newest names leave the character set out.
    let belongs = |name: &str| name.starts_with(set) || name.starts_with("uca1400_");
    match string_of(collation) {
        Some(name) if name != "default" && !belongs(name) => {
            Err(variable_refused("names", "the collation is none of the character set"))
        }
        Some("default" | "utf8mb4_0900_ai_ci") => Ok(default_collation(charset)),
        Some(name) => Ok(connected(&of_four_bytes(name))),
        None => Ok(named(&of_four_bytes(collation.trim()))),
    }
}

/// What UTF-8 of three bytes compares by, that of four does as well.
fn of_four_bytes(collation: &str) -> Cow<'_, str> {
    let rest = collation.strip_prefix("utf8_").or_else(|| collation.strip_prefix("utf8mb3_"));
    rest.map_or(Cow::Borrowed(collation), |rest| Cow::Owned(format!("utf8mb4_{rest}")))
}

/// `SET NAMES` with a collation. MariaDB compares parameters by it as well, and not by what is set later as `collation_connection`.
fn named(collation: &str) -> VariableEffect {
    VariableEffect::As {
        name: "names",
        value: format!("utf8mb4 COLLATE {collation}"),
        over: &[COLLATION],
    }
}

/// A collation of what clients may speak. Literals of latin1 are made such by the unit itself, out of the UTF-8 in which they come there: with that they have
/// the octets, and results of functions the character set, that they have on a bare connection.
fn connected(collation: &str) -> VariableEffect {
    match is_of_latin1(collation) {
        true => {
            VariableEffect::As { name: COLLATION, value: collation.to_owned(), over: &["names"] }
        }
        false => named(collation),
    }
}

fn is_of_latin1(collation: &str) -> bool {
    collation.get(..7).is_some_and(|set| set.eq_ignore_ascii_case("latin1_"))
}

/// A character set that clients may speak.
fn spoken(name: &str, value: &str) -> Result<()> {
    match is_latin1(&value.to_ascii_lowercase()) || is_utf8(&value.to_ascii_lowercase()) {
        true => Ok(()),
        false => Err(variable_refused(name, "Pando speaks utf8mb4 and latin1 only")),
    }
}

fn is_latin1(value: &str) -> bool {
    string_of(value) == Some(LATIN1)
}

/// Without a collation it is the character set's default. Of `utf8mb4` that is what connections to storage units have from their login.
fn default_collation(charset: &str) -> VariableEffect {
    match string_of(&charset.to_ascii_lowercase()) {
        Some("utf8" | "utf8mb3") => named("utf8mb4_general_ci"),
        Some(LATIN1) => connected("latin1_swedish_ci"),
        _ => AS_AT_LOGIN,
    }
}

const AS_AT_LOGIN: VariableEffect =
    VariableEffect::Back { names: &["names", COLLATION], by: ("names", "utf8mb4") };

/// Drivers set the default collation of the MySQL 8 that the door tells to be. Connections have it where the server
/// knows it, and the others' own default where not.
fn collation_effect(collation: &str) -> VariableEffect {
    match string_of(&collation.to_ascii_lowercase()) {
        Some("utf8mb4_0900_ai_ci" | "default") => AS_AT_LOGIN,
        _ => VariableEffect::Replay,
    }
}

/// Languages of the collations 224 to 247, in their order; those of UTF-8 of three bytes have the same from 192 on.
///
/// Source: `information_schema.COLLATIONS` of MySQL 8.0 and MariaDB 10.11, which agree on all but Croatian, where MariaDB follows newer rules.
const LANGUAGES: [&str; 24] = [
    "unicode",
    "icelandic",
    "latvian",
    "romanian",
    "slovenian",
    "polish",
    "estonian",
    "spanish",
    "swedish",
    "turkish",
    "czech",
    "danish",
    "lithuanian",
    "slovak",
    "spanish2",
    "roman",
    "persian",
    "esperanto",
    "hungarian",
    "sinhala",
    "german2",
    "croatian",
    "unicode_520",
    "vietnamese",
];

/// The collation that a client names by its number at login, where it may differ from what connections to storage units have from theirs. What UTF-8 of three
/// bytes compares by, that of four does as well; other character sets are not spoken.
pub(crate) fn collation_of_login(number: u16) -> Option<String> {
    let language = match number {
        33 | 45 => "general",
        46 | 83 => return Some("utf8mb4_bin".to_owned()),
        192..=215 => LANGUAGES.get(usize::from(number - 192))?,
        224..=247 => LANGUAGES.get(usize::from(number - 224))?,
        _ => return latin1_collation(number).map(str::to_owned),
    };
    Some(format!("utf8mb4_{language}_ci"))
}

/// Collations of latin1 by their number.
pub(crate) fn latin1_collation(number: u16) -> Option<&'static str> {
    Some(match number {
        5 => "latin1_german1_ci",
        8 => "latin1_swedish_ci",
        15 => "latin1_danish_ci",
        31 => "latin1_german2_ci",
        47 => "latin1_bin",
        48 => "latin1_general_ci",
        49 => "latin1_general_cs",
        94 => "latin1_spanish_ci",
        _ => return None,
    })
}

/// For results, NULL and `binary` mean `as stored`; they are sent as UTF-8 and labelled so. Dumps ask for it while they read definitions.
fn character_set(name: &str, value: &str) -> Result<VariableEffect> {
    let lower = value.trim().to_ascii_lowercase();
    let as_stored = name == "character_set_results" && string_of(&lower) == Some("binary");
    if lower != "null" && !as_stored {
        spoken(name, value)?;
    }
    Ok(VariableEffect::Ignore)
}

fn is_utf8(value: &str) -> bool {
    string_of(value).is_some_and(|charset| UTF8.contains(&charset))
}

/// A value is a plain string or word, whose modes can be read here, or an expression that is computed first and then comes as one. Numbers, and strings that
/// are put together or written with escapes, could hide a mode.
fn sql_mode(value: &str) -> Result<VariableEffect> {
    let is_readable = match string_of(value) {
        Some(text) => text == "0" || !text.starts_with(|first: char| first.is_ascii_digit()),
        None => is_computed(value),
    };
    if !is_readable {
        return Err(variable_refused("sql_mode", "its modes must be one plain string of names"));
    }
    let upper = value.to_ascii_uppercase();
    let mut words = upper.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    match words.find(|word| UNREAD.contains(word)) {
        Some(mode) => Err(variable_refused(
            "sql_mode",
            &format!("mode `{mode}` changes how statements are read; leave it out"),
        )),
        None => Ok(VariableEffect::Replay),
    }
}

/// Whether a value begins as a variable, parentheses or a call of a function does, and as no literal.
fn is_computed(value: &str) -> bool {
    let value = value.trim();
    let word = value.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let begins = value.starts_with(|first: char| first.is_ascii_alphabetic());
    value.starts_with(['@', '(']) || begins && word.trim_start().starts_with('(')
}

#[cfg(test)]
mod tests {
    use super::*;

    use pando_kernel::dialect::Language;

    #[test]
    fn variables_have_their_effects() {
        let report = VariableEffect::Report { name: "time_zone".into(), value: "+02:00".into() };
        let kept = |collation: &str| Some(named(collation));
        let latin1 = |collation: &str| Some(connected(collation));
        let cases = [
            ("autocommit", "0", Some(VariableEffect::Autocommit(false))),
            ("autocommit", "ON", Some(VariableEffect::Autocommit(true))),
            ("autocommit", "2", None),
            ("names", "utf8mb4", Some(AS_AT_LOGIN)),
            ("names", "DEFAULT", Some(AS_AT_LOGIN)),
            ("names", "'utf8'", kept("utf8mb4_general_ci")),
            ("names", "utf8mb4 COLLATE utf8mb4_bin", kept("utf8mb4_bin")),
            ("names", "utf8 COLLATE utf8_unicode_ci", kept("utf8mb4_unicode_ci")),
            ("names", "'utf8mb3' COLLATE 'utf8mb3_bin'", kept("utf8mb4_bin")),
            ("names", "utf8mb4 COLLATE uca1400_ai_ci", kept("uca1400_ai_ci")),
            ("names", "'utf8mb4' COLLATE 'utf8mb4_0900_ai_ci'", Some(AS_AT_LOGIN)),
            ("names", "utf8mb4 COLLATE latin1_bin", None),
            ("collation_connection", "utf8mb4_bin", Some(VariableEffect::Replay)),
            ("collation_connection", "'utf8mb4_0900_ai_ci'", Some(AS_AT_LOGIN)),
            ("character_set_connection", "utf8mb4", Some(AS_AT_LOGIN)),
            ("charset", "utf8mb4", Some(AS_AT_LOGIN)),
            ("names", "latin1", latin1("latin1_swedish_ci")),
            ("names", "'latin1' COLLATE 'latin1_bin'", latin1("latin1_bin")),
            ("names", "latin1 COLLATE utf8mb4_bin", None),
            ("names", "gbk", None),
            ("character_set_connection", "latin1", latin1("latin1_swedish_ci")),
            ("character_set_results", "NULL", Some(VariableEffect::Ignore)),
            ("character_set_results", "'binary'", Some(VariableEffect::Ignore)),
            ("character_set_client", "'binary'", None),
            ("sql_mode", "'STRICT_TRANS_TABLES'", Some(VariableEffect::Replay)),
            ("sql_mode", "CONCAT(@@sql_mode, ',ANSI_QUOTES')", Some(VariableEffect::Replay)),
            ("sql_mode", "CONCAT(@@sql_mode, ',ORACLE')", None),
            ("sql_mode", "ANSI", Some(VariableEffect::Replay)),
            ("sql_mode", "`ansi`", Some(VariableEffect::Replay)),
            ("sql_mode", "'IGNORE_SPACE'", Some(VariableEffect::Replay)),
            ("sql_mode", "'DB2'", None),
            ("sql_mode", "'STRICT_ALL_TABLES,high_not_precedence'", None),
            ("sql_mode", "CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')", Some(VariableEffect::Replay)),
            ("sql_mode", "@@global.sql_mode", Some(VariableEffect::Replay)),
            ("sql_mode", "DEFAULT", Some(VariableEffect::Replay)),
            ("sql_mode", "0", Some(VariableEffect::Replay)),
            ("sql_mode", "''", Some(VariableEffect::Replay)),
            ("sql_mode", "4", None),
            ("sql_mode", "'4'", None),
            ("sql_mode", "0x4", None),
            ("sql_mode", "x'414E5349'", None),
            ("sql_mode", "2 + 2", None),
            ("sql_mode", "'ANSI_' 'QUOTES'", None),
            ("sql_mode", "'ANSI_' '(QUOTES)'", None),
            ("sql_mode", "_utf8'ANSI_' '(QUOTES)'", None),
            ("sql_mode", "'A\\NSI_QUOTES'", None),
            ("time_zone", "'+02:00'", Some(report)),
            ("foreign_key_checks", "0", Some(VariableEffect::Replay)),
            ("wait_timeout", "100", Some(VariableEffect::Ignore)),
            ("role", "NONE", Some(VariableEffect::Ignore)),
            ("role", "default", Some(VariableEffect::Ignore)),
            ("role", "'admin'", None),
            ("wait_timeout", "default", Some(VariableEffect::Ignore)),
            ("interactive_timeout", "@@wait_timeout", Some(VariableEffect::Replay)),
            ("wait_timeout", "'x'", None),
            ("wait_timeout", "1.5", None),
            ("insert_id", "7", None),
            ("last_insert_id", "7", Some(VariableEffect::LastInsertId(7))),
            ("identity", "TRUE", Some(VariableEffect::LastInsertId(1))),
            ("last_insert_id", "'7'", None),
            ("last_insert_id", "-1", None),
            ("last_insert_id", "DEFAULT", None),
            ("@x", "1", Some(VariableEffect::Replay)),
            ("@x", "@x + 1", None),
        ];
        for (name, value, expected) in cases {
            assert_eq!(MySql.set(name, value).ok(), expected, "{name} = {value}");
        }
    }

    #[test]
    fn a_clients_number_names_its_collation() {
        let cases = [
            (45, Some("utf8mb4_general_ci")),
            (33, Some("utf8mb4_general_ci")),
            (46, Some("utf8mb4_bin")),
            (224, Some("utf8mb4_unicode_ci")),
            (192, Some("utf8mb4_unicode_ci")),
            (232, Some("utf8mb4_swedish_ci")),
            (247, Some("utf8mb4_vietnamese_ci")),
            (215, Some("utf8mb4_vietnamese_ci")),
            (248, None),
            (255, None),
            (8, Some("latin1_swedish_ci")),
            (0, None),
        ];
        for (number, name) in cases {
            assert_eq!(collation_of_login(number).as_deref(), name, "{number}");
        }
    }

    #[test]
    fn a_user_variable_keeps_its_type_and_collation() {
        let text = Value::Text("a USING b".into());
        for (value, collation, expected) in [
            (text.clone(), "utf8mb4_bin", "_utf8mb4'a USING b' COLLATE utf8mb4_bin"),
            (
                text.clone(),
                "latin1_bin",
                "CONVERT(_utf8mb4'a USING b' USING latin1) COLLATE latin1_bin",
            ),
            (text.clone(), "binary", "'a USING b'"),
            (text, "x; DROP", "'a USING b'"),
            (Value::decimal("3").unwrap(), "binary", "3."),
            (Value::decimal("3.0").unwrap(), "binary", "3.0"),
            (Value::Int(3), "binary", "3"),
            (Value::Null, "binary", "NULL"),
        ] {
            let literal = MySql.literal(&value);
            let kept = MySql.kept_value(&value, literal.clone(), collation);
            assert_eq!(kept, expected);
            assert_eq!(MySql.literal_in(&kept), literal);
            assert_eq!(MySql.set("@x", &kept).ok(), Some(VariableEffect::Replay), "{kept}");
        }
    }

    #[test]
    fn a_limit_of_all_queries_is_read_as_the_server_reads_it() {
        let cases = [
            ("2", Some(Some(2))),
            ("0", Some(Some(0))),
            ("DEFAULT", Some(None)),
            ("18446744073709551615", Some(None)),
            ("-1", None),
        ];
        for (value, expected) in cases {
            let variables = [("sql_select_limit".to_owned(), value.to_owned())];
            assert_eq!(MySql.select_limit(&variables).ok(), expected, "{value}");
        }
        assert_eq!(MySql.select_limit(&[]).unwrap(), None);
    }

    #[test]
    fn several_variables_are_set_by_one_statement() {
        let pairs = [
            ("names".to_owned(), "utf8mb4 COLLATE utf8mb4_bin".to_owned()),
            ("sql_mode".to_owned(), "''".to_owned()),
            ("@x".to_owned(), "1".to_owned()),
        ];
        assert_eq!(
            MySql.set_statement(&pairs),
            "SET NAMES utf8mb4 COLLATE utf8mb4_bin, SESSION sql_mode = '', @x = 1"
        );
        let pairs = [
            ("@a".to_owned(), "'a'".to_owned()),
            ("names".to_owned(), "utf8mb4 COLLATE utf8mb4_bin".to_owned()),
            ("@b".to_owned(), "'b'".to_owned()),
            (COLLATION.to_owned(), "'utf8mb4_unicode_ci'".to_owned()),
            ("@c".to_owned(), "\"c\"".to_owned()),
        ];
        assert_eq!(
            MySql.set_statement(&pairs),
            "SET @a = 'a', NAMES utf8mb4 COLLATE utf8mb4_bin, @b = 'b' COLLATE utf8mb4_bin, \
             SESSION collation_connection = 'utf8mb4_unicode_ci', @c = \"c\" COLLATE 'utf8mb4_unicode_ci'"
        );
    }

    #[test]
    fn functions_about_the_session_are_answered_here() {
        let facts = Facts {
            database: Some("shop".into()),
            user: "app".into(),
            host: "10.0.0.1".into(),
            id: 7,
            last_insert_id: 9,
            row_count: -1,
            autocommit: true,
            ..Facts::default()
        };
        let text = |text: &str| Some(Value::Text(text.into()));
        let cases = [
            ("database", text("shop")),
            ("user", text("app@10.0.0.1")),
            ("connection_id", Some(Value::UInt(7))),
            ("@@identity", Some(Value::UInt(9))),
            ("row_count", Some(Value::Int(-1))),
            ("@@session.autocommit", Some(Value::Int(1))),
            ("@@global.autocommit", None),
            ("now", None),
        ];
        for (name, expected) in cases {
            assert_eq!(MySql.session_function(name, &facts), expected, "{name}");
        }
        assert_eq!(MySql.session_function("database", &Facts::default()), Some(Value::Null));
    }
}
