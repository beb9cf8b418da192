//! Errors as a storage unit's server would send them.

use pando_kernel::{Error, ErrorKind, ServerError};

/// A server's error with this SQLSTATE and message, no vendor number.
pub fn server_error(sqlstate: &str, message: impl Into<String>) -> ServerError {
    ServerError {
        number: 0,
        sqlstate: sqlstate.to_owned(),
        message: message.into(),
        severity: "ERROR".to_owned(),
        fields: Vec::new(),
    }
}

pub(crate) fn sent(error: ServerError) -> Error {
    Error::new(ErrorKind::Server(Box::new(error)))
}

pub(crate) fn lost(unit: &str) -> Error {
    Error::new(ErrorKind::Unavailable {
        unit: unit.to_owned(),
        message: "the connection is lost".to_owned(),
    })
}
