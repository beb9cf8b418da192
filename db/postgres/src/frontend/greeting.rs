//! The settings a client asks for at login, and those it is told.
//! <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-ASYNC>

use bytes::BytesMut;
use pando_kernel::Value;
use pando_kernel::dialect::{Language, VariableEffect, Variables};
use pando_kernel::session::Key;

use crate::codec::backend::{KeyData, ParameterStatus, ReadyForQuery, Status};
use crate::codec::startup::Startup;
use crate::defaults;
use crate::dialect::Postgres;
use crate::dialect::variables::ENCODING;
use crate::encoding::{Encoding, Named};

/// What the settings told depend on.
pub(super) struct Told<'a> {
    pub(super) user: &'a str,
    /// That of the storage units' servers, where it is known.
    pub(super) version: Option<&'a str>,
    /// Given at start-up.
    pub(super) variables: &'a [(String, String)],
}

/// Appends what follows a successful login: settings, key, and that the server is ready.
pub(super) fn encode(buf: &mut BytesMut, told: &Told<'_>, key: Key) {
    let chosen: Vec<(String, String)> = told
        .variables
        .iter()
        .filter_map(|(name, value)| {
            let literal = Postgres.literal(&Value::Text(value.clone()));
            match Postgres.set(&name.to_lowercase(), &literal) {
                Ok(
                    VariableEffect::Report { name, value } | VariableEffect::Own { name, value },
                ) => Some((name, value)),
                Ok(
                    VariableEffect::Replay
                    | VariableEffect::Autocommit(_)
                    | VariableEffect::LastInsertId(_)
                    | VariableEffect::As { .. }
                    | VariableEffect::Back { .. }
                    | VariableEffect::Ignore,
                )
                | Err(_) => None,
            }
        })
        .collect();
    for (name, default) in defaults::TOLD {
        let value = match chosen.iter().rev().find(|(known, _)| known == name) {
            Some((_, value)) => value,
            None if name == "session_authorization" => told.user,
            None if name == "server_version" => told.version.unwrap_or(default),
            None => default,
        };
        ParameterStatus { name, value: value.as_bytes() }.encode(buf);
    }
    KeyData { process: key.id, key: &key.secret.to_be_bytes() }.encode(buf);
    ReadyForQuery(Status::Idle).encode(buf);
}

/// What a client of these variables speaks. Others than these were refused as the session was opened.
pub(super) fn encoding(variables: &[(String, String)]) -> Encoding {
    let asked = variables.iter().rev().find(|(name, _)| name.eq_ignore_ascii_case(ENCODING));
    match asked.map(|(_, value)| Encoding::named(value)) {
        Some(Named::Spoken(encoding)) => encoding,
        Some(Named::Unspoken | Named::Unknown) | None => Encoding::default(),
    }
}

/// The session variables of a start-up packet, in the order given; those of `options` come first, as
/// in PostgreSQL, where the packet's own win.
///
/// # Errors
/// A message when `options` cannot be read.
pub(super) fn variables(startup: &Startup<'_>) -> Result<Vec<(String, String)>, String> {
    let mut variables = startup.get("options").map_or(Ok(Vec::new()), options)?;
    for (name, value) in &startup.parameters {
        let own = matches!(*name, "user" | "database" | "options" | "replication");
        if !own && !name.starts_with("_pq_.") {
            variables.push(((*name).to_owned(), (*value).to_owned()));
        }
    }
    Ok(variables)
}

/// Command-line options: `-c name=value` and `--name=value`; a backslash keeps a space.
fn options(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut words = words(text).into_iter();
    let mut variables = Vec::new();
    while let Some(word) = words.next() {
        let setting = if let Some(rest) = word.strip_prefix("--") {
            Some(rest.to_owned())
        } else if word == "-c" {
            words.next()
        } else {
            word.strip_prefix("-c").map(str::to_owned)
        };
        let pair = setting.as_deref().and_then(|setting| setting.split_once('='));
        let Some((name, value)) = pair.filter(|(name, _)| !name.is_empty()) else {
            return Err(format!("invalid command-line argument for server process: {word}"));
        };
        variables.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(variables)
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => word.extend(chars.next()),
            c if c.is_ascii_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::backend::Backend;
    use crate::codec::frame::frame;

    fn told(variables: &[(&str, &str)]) -> Vec<(String, String)> {
        let variables: Vec<_> =
            variables.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let mut buf = BytesMut::new();
        let all = Told { user: "ann", version: Some("16.3"), variables: &variables };
        encode(&mut buf, &all, Key { id: 1, secret: 2 });
        let mut rest = &buf[..];
        let mut found = Vec::new();
        while let Ok(Some((header, body))) = frame(rest, 10_000) {
            if let Ok(Backend::ParameterStatus(status)) = Backend::decode(header.tag, body) {
                let value = String::from_utf8(status.value.to_vec()).unwrap();
                found.push((status.name.to_owned(), value));
            }
            rest = &rest[header.total..];
        }
        found
    }

    #[test]
    fn a_client_is_told_its_own_settings() {
        let told = told(&[("TimeZone", "Europe/Berlin"), ("datestyle", "ISO, DMY")]);
        let of = |name: &str| told.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
        assert_eq!(of("TimeZone"), Some("Europe/Berlin"));
        assert_eq!(of("DateStyle"), Some("ISO, DMY"));
        assert_eq!(of("session_authorization"), Some("ann"));
        assert_eq!(of("server_encoding"), Some("UTF8"));
        assert_eq!(of("server_version"), Some("16.3"));
        assert_eq!(told.len(), defaults::TOLD.len());
    }

    #[test]
    fn options_are_read_as_a_command_line() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let text = "-c search_path=a\\ b --statement-timeout=5 -cgeqo=off";
        let expected =
            [pair("search_path", "a b"), pair("statement_timeout", "5"), pair("geqo", "off")];
        assert_eq!(options(text).unwrap(), expected);
        assert!(options("-x").is_err());
        assert!(options("-c").is_err());
        assert!(options("--=1").is_err());
    }
}
