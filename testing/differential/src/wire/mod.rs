//! Plain clients that keep everything a server says. They share no line with the servers and clients that are tested.

mod auth;
mod mysql;
mod postgres;
mod stream;

use std::fmt;

pub(crate) use mysql::MySql;
pub(crate) use postgres::Postgres;

/// What went wrong with a connection, not with a statement.
pub(crate) type Fault = String;

/// Where to log in.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) port: u16,
    pub(crate) database: String,
}

/// A column as the server describes it, without whence it comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// Everything said about the type, in words of the protocol.
    pub(crate) kind: String,
}

/// A value in the bytes of the wire.
pub(crate) type Cell = Option<Vec<u8>>;

/// Whole answer to one statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    Rows {
        columns: Vec<Column>,
        rows: Vec<Vec<Cell>>,
        tag: String,
    },
    /// The command tag, or the number of affected rows.
    Done(String),
    Failed(Failure),
}

/// An error as the server told it. `code` is MySQL's number or else the SQLSTATE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: String,
    pub(crate) state: String,
    pub(crate) message: String,
}

/// How a statement travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As one text, with its values written out.
    Text,
    /// Prepared, with parameters.
    Prepared,
    /// Prepared, and values come back in binary where the protocol has a choice.
    Binary,
}

/// A parameter of a prepared statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Parameter {
    Null,
    Whole(i64),
    Float(f64),
    Text(String),
}

/// A statement on its way: the text has `$1` or `?` where it is prepared.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) sql: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) mode: Mode,
}

impl Call {
    pub(crate) fn text(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), parameters: Vec::new(), mode: Mode::Text }
    }
}

/// One connection. Sending and reading are apart, so that two servers can work at the same time.
pub(crate) trait Client: Send {
    /// Sends the statement, as far as it can be sent before the first answer.
    fn send(&mut self, call: &Call) -> Result<(), Fault>;

    /// Reads the answer to what was sent last.
    fn receive(&mut self, call: &Call) -> Result<Reply, Fault>;

    /// Both.
    fn ask(&mut self, call: &Call) -> Result<Reply, Fault> {
        self.send(call)?;
        self.receive(call)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.code, self.state, self.message)
    }
}

impl Parameter {
    /// The form in which text parameters travel.
    pub(crate) fn words(&self) -> Option<String> {
        match self {
            Self::Null => None,
            Self::Whole(number) => Some(number.to_string()),
            Self::Float(number) => Some(number.to_string()),
            Self::Text(text) => Some(text.clone()),
        }
    }
}
