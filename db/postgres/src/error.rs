//! Errors on the wire, and every kind of ours as an SQLSTATE.
//! <https://www.postgresql.org/docs/current/errcodes-appendix.html>

use std::borrow::Cow;

use bytes::BytesMut;
use pando_kernel::error::Unroutable;
use pando_kernel::{Error, ErrorKind, ServerError};

use crate::codec::backend::{Notice, encode_error, encode_notice};
use crate::codec::{Fault, Malformed};
use crate::position;

/// How bad an error is for the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The statement failed.
    Error,
    /// The session ends.
    Fatal,
}

impl Severity {
    fn text(self) -> &'static str {
        match self {
            Severity::Error => "ERROR",
            Severity::Fatal => "FATAL",
        }
    }
}

/// The SQLSTATE of an error's kind; a storage unit's own code is kept.
pub fn sqlstate(kind: &ErrorKind) -> &str {
    match kind {
        ErrorKind::Server(error) if is_sqlstate(&error.sqlstate) => &error.sqlstate,
        ErrorKind::Server(_) | ErrorKind::Internal(_) => "XX000",
        ErrorKind::Syntax { .. } => "42601",
        ErrorKind::Refused { .. } => "0A000",
        ErrorKind::UnknownDatabase(_) | ErrorKind::NoDatabase => "3D000",
        ErrorKind::UnknownTable(_) | ErrorKind::NothingToDrop { .. } => "42P01",
        ErrorKind::UnknownColumn(_) => "42703",
        ErrorKind::TableExists(_) => "42P07",
        ErrorKind::UnknownStatement(_) => "26000",
        ErrorKind::StatementExists(_) => "42P05",
        ErrorKind::ShardingValue { is: Unroutable::Null, .. } => "23502",
        ErrorKind::ShardingValue { is: Unroutable::OtherType, .. } => "22P02",
        ErrorKind::ShardingValue { is: Unroutable::NoPlace, .. } | ErrorKind::Variable(_) => {
            "22023"
        }
        ErrorKind::Value(_) => "22P02",
        ErrorKind::OutOfRange(_) => "22003",
        ErrorKind::Moment { has_form: true, .. } => "22008",
        ErrorKind::Moment { .. } => "22007",
        ErrorKind::TooLong(_) => "22001",
        ErrorKind::NegativeCount("OFFSET") => "2201X",
        ErrorKind::NegativeCount(_) => "2201W",
        ErrorKind::AccessDenied(_) => "42501",
        ErrorKind::TooManyConnections | ErrorKind::Timeout(_) | ErrorKind::Full { .. } => "53300",
        ErrorKind::Limited(_) => "53400",
        ErrorKind::Algorithm(_) => "38000",
        ErrorKind::Protocol(_) => "08P01",
        ErrorKind::TooLarge(_) => "54000",
        ErrorKind::TooComplex(_) => "54001",
        ErrorKind::Unavailable { .. } => "08006",
        ErrorKind::Cancelled | ErrorKind::Overran(_) => "57014",
        ErrorKind::Memory(_) => "53200",
        ErrorKind::Shutdown => "57P01",
        ErrorKind::TransactionFailed => "25P02",
        ErrorKind::TransactionState(_) => "25000",
        ErrorKind::Configuration(_) => "F0000",
        ErrorKind::Closed => "08003",
    }
}

/// Appends an ErrorResponse. `place` is the text a client sent and the byte where the statement begins
/// that an error's position belongs to.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
pub fn encode(buf: &mut BytesMut, severity: Severity, error: &Error, place: Option<(&str, u32)>) {
    match error.kind() {
        ErrorKind::Server(server) => {
            encode_server(buf, severity, server, &position::fields(error, server, place));
        }
        kind => {
            let message = message(kind);
            let mut more = Vec::new();
            if let ErrorKind::Refused { instead, .. } = kind
                && !instead.is_empty()
            {
                more.push((b'H', instead.clone()));
            }
            if let (ErrorKind::Syntax { at, .. }, Some((text, start))) = (kind, place) {
                more.push((b'P', character(text, start.saturating_add(*at)).to_string()));
            }
            if let (ErrorKind::UnknownTable(name), Some((text, start))) = (kind, place)
                && let Some(position) = position::of_table(name, text, start)
            {
                more.push((b'P', position.to_string()));
            }
            // A broken message has a code of its own.
            let cause = std::error::Error::source(error);
            let malformed = cause.and_then(|cause| cause.downcast_ref::<Malformed>());
            let state = match malformed {
                Some(malformed) => malformed.sqlstate(),
                None => sqlstate(kind),
            };
            plain(buf, severity, state, &message, &more);
        }
    }
}

/// Appends a NoticeResponse.
pub fn encode_warning(buf: &mut BytesMut, notice: &ServerError) {
    let severity = if notice.severity.is_empty() { "WARNING" } else { &notice.severity };
    let state = if is_sqlstate(&notice.sqlstate) { &notice.sqlstate } else { "01000" };
    let mut fields = head(severity, state, &notice.message);
    fields.extend(notice.fields.iter().map(|(code, value)| (*code, value.as_str())));
    encode_notice(buf, &fields);
}

/// The error or notice a server sent.
pub fn read(notice: &Notice<'_>) -> ServerError {
    let mut error = ServerError::default();
    for (code, value) in notice.fields() {
        // A server with another encoding may send octets that are no text.
        let value = String::from_utf8_lossy(value).into_owned();
        match code {
            // `V` is the severity that is never translated; it comes after `S`.
            b'S' | b'V' => error.severity = value,
            b'C' => error.sqlstate = value,
            b'M' => error.message = value,
            _ => error.fields.push((code, value)),
        }
    }
    error
}

/// What a broken message means: text that is no text is the statement's fault, all else the peer's.
impl From<Malformed> for Error {
    fn from(malformed: Malformed) -> Error {
        let kind = match malformed.fault {
            Fault::NotUtf8 => ErrorKind::Value(malformed.to_string()),
            Fault::TooLong => ErrorKind::TooLarge(malformed.to_string()),
            Fault::Truncated
            | Fault::Trailing
            | Fault::Unterminated
            | Fault::BadCount
            | Fault::BadCode
            | Fault::BadLength
            | Fault::UnknownTag(_) => ErrorKind::Protocol(malformed.to_string()),
        };
        Error::new(kind).caused_by(malformed)
    }
}

fn encode_server(
    buf: &mut BytesMut,
    severity: Severity,
    server: &ServerError,
    more: &[(u8, Cow<'_, str>)],
) {
    let state = if is_sqlstate(&server.sqlstate) { &server.sqlstate } else { "XX000" };
    let mut fields = head(severity.text(), state, &server.message);
    fields.extend(more.iter().map(|(code, value)| (*code, &**value)));
    encode_error(buf, &fields);
}

fn plain(
    buf: &mut BytesMut,
    severity: Severity,
    sqlstate: &str,
    message: &str,
    more: &[(u8, String)],
) {
    let mut fields = head(severity.text(), sqlstate, message);
    fields.extend(more.iter().map(|(code, value)| (*code, value.as_str())));
    encode_error(buf, &fields);
}

fn head<'a>(severity: &'a str, sqlstate: &'a str, message: &'a str) -> Vec<(u8, &'a str)> {
    vec![(b'S', severity), (b'V', severity), (b'C', sqlstate), (b'M', message)]
}

/// The message in PostgreSQL's own words where it has them, since tools look for them.
fn message(kind: &ErrorKind) -> String {
    match kind {
        ErrorKind::UnknownTable(name) => format!("relation \"{name}\" does not exist"),
        ErrorKind::NothingToDrop { what, names } => {
            let first = names.first().map_or("", String::as_str);
            format!("{what} \"{first}\" does not exist")
        }
        ErrorKind::UnknownColumn(name) => format!("column \"{name}\" does not exist"),
        ErrorKind::TableExists(name) => format!("relation \"{name}\" already exists"),
        ErrorKind::UnknownDatabase(name) => format!("database \"{name}\" does not exist"),
        ErrorKind::UnknownStatement(name) => {
            format!("prepared statement \"{name}\" does not exist")
        }
        ErrorKind::StatementExists(name) => {
            format!("prepared statement \"{name}\" already exists")
        }
        ErrorKind::Refused { reason, .. } => reason.clone(),
        ErrorKind::TooManyConnections => "sorry, too many clients already".into(),
        ErrorKind::Shutdown => "terminating connection due to administrator command".into(),
        ErrorKind::Syntax { .. }
        | ErrorKind::NoDatabase
        | ErrorKind::Variable(_)
        | ErrorKind::Value(_)
        | ErrorKind::OutOfRange(_)
        | ErrorKind::Moment { .. }
        | ErrorKind::TooLong(_)
        | ErrorKind::NegativeCount(_)
        | ErrorKind::ShardingValue { .. }
        | ErrorKind::AccessDenied(_)
        | ErrorKind::Protocol(_)
        | ErrorKind::TooLarge(_)
        | ErrorKind::TooComplex(_)
        | ErrorKind::Server(_)
        | ErrorKind::Unavailable { .. }
        | ErrorKind::Timeout(_)
        | ErrorKind::Algorithm(_)
        | ErrorKind::Limited(_)
        | ErrorKind::Overran(_)
        | ErrorKind::Full { .. }
        | ErrorKind::Memory(_)
        | ErrorKind::Cancelled
        | ErrorKind::TransactionFailed
        | ErrorKind::TransactionState(_)
        | ErrorKind::Configuration(_)
        | ErrorKind::Closed
        | ErrorKind::Internal(_) => kind.to_string(),
    }
}

/// A byte position as the protocol counts: characters, from 1.
fn character(text: &str, at: u32) -> usize {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    text.char_indices().take_while(|(index, _)| *index < at).count() + 1
}

fn is_sqlstate(text: &str) -> bool {
    text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(error: &Error, text: Option<&str>) -> ServerError {
        let mut buf = BytesMut::new();
        encode(&mut buf, Severity::Error, error, text.map(|text| (text, 2)));
        read(&Notice::decode("ErrorResponse", &buf[5..]).unwrap())
    }

    #[test]
    fn a_servers_error_passes_through_unchanged() {
        let server = ServerError {
            number: 0,
            sqlstate: "23505".into(),
            message: "duplicate key".into(),
            severity: "ERROR".into(),
            fields: vec![(b'D', "Key (id)=(1)".into()), (b'n', "t_pkey".into())],
        };
        let error = Error::new(ErrorKind::Server(Box::new(server.clone())));
        assert_eq!(fields(&error, None), server);
    }

    #[test]
    fn an_error_of_another_family_keeps_its_sqlstate_when_it_is_one() {
        let with = |sqlstate: &str| {
            let server = ServerError { sqlstate: sqlstate.into(), ..ServerError::default() };
            fields(&Error::new(ErrorKind::Server(Box::new(server))), None).sqlstate
        };
        assert_eq!(with("23000"), "23000");
        assert_eq!(with(""), "XX000");
        assert_eq!(with("ab"), "XX000");
    }

    #[test]
    fn text_that_is_no_text_has_its_own_code() {
        let malformed = Malformed::new("Query", Fault::NotUtf8);
        assert_eq!(fields(&malformed.into(), None).sqlstate, "22021");
    }

    #[test]
    fn a_position_counts_characters_from_one() {
        let kind = ErrorKind::Syntax { message: "near `x`".into(), at: 7 };
        let seen = fields(&Error::new(kind), Some("SELECT é x"));
        assert_eq!(seen.fields, [(b'P', "9".into())]);
        assert_eq!(seen.sqlstate, "42601");
    }

    #[test]
    fn a_refusal_says_what_to_do_instead_in_the_hint() {
        let seen = fields(&Error::unmerged(30001, "cannot be merged", "add ORDER BY"), None);
        assert_eq!((seen.sqlstate.as_str(), seen.message.as_str()), ("0A000", "cannot be merged"));
        assert_eq!(seen.fields, [(b'H', "add ORDER BY".into())]);
    }

    #[test]
    fn kinds_have_the_codes_that_tools_look_for() {
        for (kind, state) in [
            (ErrorKind::UnknownDatabase("x".into()), "3D000"),
            (ErrorKind::UnknownTable("x".into()), "42P01"),
            (ErrorKind::Protocol("x".into()), "08P01"),
            (ErrorKind::Shutdown, "57P01"),
            (ErrorKind::TransactionFailed, "25P02"),
            (ErrorKind::Cancelled, "57014"),
            (ErrorKind::Algorithm("x".into()), "38000"),
            (ErrorKind::Limited("x".into()), "53400"),
            (ErrorKind::Overran("x".into()), "57014"),
        ] {
            assert_eq!(fields(&Error::new(kind), None).sqlstate, state);
        }
    }
}
