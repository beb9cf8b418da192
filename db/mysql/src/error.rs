//! Errors: the kernel's kinds to MySQL's numbers and SQLSTATEs, and a server's ERR packet to the kernel.

use std::borrow::Cow;

use bytes::BytesMut;
use pando_kernel::error::Unroutable;
use pando_kernel::{Error, ErrorKind, ServerError};

use crate::codec::{ErrPacket, Malformed};

/// An error as a client of this protocol sees it.
///
/// Source: <https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html>
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientError<'a> {
    /// MySQL's number.
    pub code: u16,
    /// SQLSTATE.
    pub sqlstate: [u8; 5],
    /// The text.
    pub message: Cow<'a, str>,
}

impl<'a> ClientError<'a> {
    /// An error of this number, state and text.
    pub fn new(code: u16, sqlstate: &[u8; 5], message: impl Into<Cow<'a, str>>) -> Self {
        Self { code, sqlstate: *sqlstate, message: message.into() }
    }

    /// How `kind` is told to a client.
    pub fn of(kind: &'a ErrorKind) -> Self {
        if let ErrorKind::Server(error) = kind {
            return of_server(error);
        }
        let (code, sqlstate) = number(kind);
        Self::new(code, sqlstate, text(kind))
    }

    /// Appends the payload of the ERR packet.
    pub fn encode(&self, out: &mut BytesMut) {
        self.encode_with(self.message.as_bytes(), out);
    }

    /// The same with the message in another character set.
    pub fn encode_with(&self, message: &[u8], out: &mut BytesMut) {
        ErrPacket { code: self.code, sqlstate: self.sqlstate, message }.encode(out);
    }
}

/// `ER_UNKNOWN_ERROR`, for what MySQL has no number.
const UNKNOWN: u16 = 1105;

/// SQLSTATEs of servers without MySQL's numbers, and the number and state that programs at this door look at.
const FOREIGN: [(&str, u16, &[u8; 5]); 20] = [
    ("22003", 1264, b"22003"),
    ("22012", 1365, b"22012"),
    ("23502", 1048, b"23000"),
    ("23503", 1452, b"23000"),
    ("23505", 1062, b"23000"),
    ("23514", 3819, b"HY000"),
    ("25006", 1792, b"25006"),
    ("3B001", 1305, b"42000"),
    ("40001", 1213, b"40001"),
    ("42501", 1142, b"42000"),
    ("42601", 1064, b"42000"),
    ("42701", 1060, b"42S21"),
    ("42702", 1052, b"23000"),
    ("42703", 1054, b"42S22"),
    ("42883", 1305, b"42000"),
    ("42P01", 1146, b"42S02"),
    ("42P07", 1050, b"42S01"),
    ("53100", 1021, b"HY000"),
    ("55P03", 1205, b"HY000"),
    ("57014", 1317, b"70100"),
];

fn of_server(error: &ServerError) -> ClientError<'_> {
    let foreign = FOREIGN.iter().find(|(state, ..)| *state == error.sqlstate);
    if let Some((_, code, sqlstate)) = foreign.filter(|_| error.number == 0) {
        return ClientError::new(*code, sqlstate, error.message.as_str());
    }
    let code = u16::try_from(error.number).ok().filter(|code| *code > 0).unwrap_or(UNKNOWN);
    let sqlstate = error.sqlstate.as_bytes().try_into().unwrap_or(*b"HY000");
    ClientError { code, sqlstate, message: Cow::Borrowed(&error.message) }
}

fn number(kind: &ErrorKind) -> (u16, &'static [u8; 5]) {
    match kind {
        ErrorKind::Syntax { .. } => (1064, b"42000"),
        ErrorKind::Refused { code, .. } => (vendor_code(*code), b"0A000"),
        ErrorKind::UnknownDatabase(_) => (1049, b"42000"),
        ErrorKind::NoDatabase => (1046, b"3D000"),
        ErrorKind::UnknownTable(_) => (1146, b"42S02"),
        ErrorKind::NothingToDrop { .. } => (1051, b"42S02"),
        ErrorKind::UnknownColumn(_) => (1054, b"42S22"),
        ErrorKind::TableExists(_) => (1050, b"42S01"),
        ErrorKind::UnknownStatement(_) => (1243, b"HY000"),
        ErrorKind::Variable(_) => (1193, b"HY000"),
        ErrorKind::Value(_) | ErrorKind::ShardingValue { is: Unroutable::OtherType, .. } => {
            (1366, b"HY000")
        }
        ErrorKind::OutOfRange(_) => (1264, b"22003"),
        ErrorKind::Moment { .. } => (1292, b"22007"),
        ErrorKind::TooLong(_) => (1406, b"22001"),
        ErrorKind::ShardingValue { is: Unroutable::Null, .. } => (1048, b"23000"),
        ErrorKind::ShardingValue { code, .. } => (vendor_code(*code), b"HY000"),
        ErrorKind::NegativeCount(_) => (1210, b"HY000"),
        ErrorKind::AccessDenied(_) => (1044, b"42000"),
        ErrorKind::TooManyConnections | ErrorKind::Timeout(_) | ErrorKind::Full { .. } => {
            (1040, b"08004")
        }
        // What its drivers and frameworks try again, and what leaves the connection alone.
        ErrorKind::Limited(_) => (1205, b"HY000"),
        // External routine exception.
        ErrorKind::Algorithm(_) => (UNKNOWN, b"38000"),
        ErrorKind::Protocol(_) => (1835, b"HY000"),
        ErrorKind::TooLarge(_) => (1153, b"08S01"),
        // `ER_STACK_OVERRUN_NEED_MORE`: what its parser says of nesting.
        ErrorKind::TooComplex(_) => (1436, b"HY000"),
        ErrorKind::Unavailable { .. } => (1429, b"HY000"),
        ErrorKind::Memory(_) => (1041, b"HY000"),
        ErrorKind::Cancelled | ErrorKind::Overran(_) => (1317, b"70100"),
        ErrorKind::Shutdown => (1053, b"08S01"),
        ErrorKind::TransactionState(_) => (1179, b"25000"),
        ErrorKind::Closed => (1158, b"08S01"),
        ErrorKind::Server(_)
        | ErrorKind::StatementExists(_)
        | ErrorKind::TransactionFailed
        | ErrorKind::Configuration(_)
        | ErrorKind::Internal(_) => (UNKNOWN, b"HY000"),
    }
}

fn vendor_code(code: u32) -> u16 {
    u16::try_from(code).unwrap_or(UNKNOWN)
}

/// The words MySQL itself uses, where programs are known to look at them; else the kind's own.
fn text(kind: &ErrorKind) -> Cow<'_, str> {
    match kind {
        ErrorKind::Syntax { message, .. } => {
            format!("You have an error in your SQL syntax; {message}").into()
        }
        ErrorKind::UnknownDatabase(name) => format!("Unknown database '{name}'").into(),
        ErrorKind::NoDatabase => "No database selected".into(),
        ErrorKind::UnknownTable(name) => format!("Table '{name}' doesn't exist").into(),
        ErrorKind::NothingToDrop { names, .. } => {
            format!("Unknown table '{}'", names.join(",")).into()
        }
        ErrorKind::UnknownColumn(name) => format!("Unknown column '{name}' in 'field list'").into(),
        ErrorKind::TableExists(name) => format!("Table '{name}' already exists").into(),
        ErrorKind::TooManyConnections => "Too many connections".into(),
        ErrorKind::Cancelled => "Query execution was interrupted".into(),
        ErrorKind::Shutdown => "Server shutdown in progress".into(),
        ErrorKind::Refused { .. }
        | ErrorKind::UnknownStatement(_)
        | ErrorKind::StatementExists(_)
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
        | ErrorKind::TransactionFailed
        | ErrorKind::TransactionState(_)
        | ErrorKind::Configuration(_)
        | ErrorKind::Closed
        | ErrorKind::Internal(_) => kind.to_string().into(),
    }
}

/// The kernel's error for an ERR packet of a storage unit.
pub fn server_error(err: &ErrPacket<'_>) -> Error {
    Error::new(ErrorKind::Server(Box::new(ServerError {
        number: u32::from(err.code),
        sqlstate: String::from_utf8_lossy(&err.sqlstate).into_owned(),
        message: String::from_utf8_lossy(err.message).into_owned(),
        severity: String::new(),
        fields: Vec::new(),
    })))
}

/// The kernel's error for bytes that are not the message they should be.
pub fn malformed(fault: Malformed) -> Error {
    Error::protocol(fault.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_get_the_numbers_programs_look_at() {
        let cases = [
            (ErrorKind::UnknownTable("t".into()), 1146, "42S02", "Table 't' doesn't exist"),
            (ErrorKind::UnknownDatabase("d".into()), 1049, "42000", "Unknown database 'd'"),
            (ErrorKind::NoDatabase, 1046, "3D000", "No database selected"),
            (ErrorKind::Cancelled, 1317, "70100", "Query execution was interrupted"),
            (ErrorKind::Shutdown, 1053, "08S01", "Server shutdown in progress"),
            (Error::unmerged(30001, "no", "do").kind().clone(), 30001, "0A000", "no; do"),
        ];
        for (kind, code, sqlstate, message) in &cases {
            let error = ClientError::of(kind);
            assert_eq!(error.code, *code);
            assert_eq!(error.sqlstate, sqlstate.as_bytes());
            assert_eq!(error.message, *message);
        }
    }

    #[test]
    fn a_servers_error_passes_unchanged() {
        let err = ErrPacket { code: 1062, sqlstate: *b"23000", message: b"Duplicate entry '1'" };
        let error = server_error(&err);
        let mut out = BytesMut::new();
        ClientError::of(error.kind()).encode(&mut out);
        assert_eq!(ErrPacket::decode(&out).unwrap(), err);
    }

    #[test]
    fn an_error_of_another_family_has_the_number_of_its_state() {
        for (state, expected) in
            [("23505", (1062, b"23000")), ("42P01", (1146, b"42S02")), ("58030", (1105, b"58030"))]
        {
            let error = ServerError { sqlstate: state.into(), ..ServerError::default() };
            let kind = ErrorKind::Server(Box::new(error));
            let told = ClientError::of(&kind);
            assert_eq!((told.code, &told.sqlstate), expected);
        }
    }
}
