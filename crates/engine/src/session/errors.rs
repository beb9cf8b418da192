//! Errors in the servers' own words.

use pando_kernel::error::{Error, ErrorKind, ServerError};
use pando_transaction::aborted;

pub(in crate::session) fn no_transaction(verb: &str) -> Error {
    server_error(0, "25P01", &format!("{verb} can only be used in transaction blocks"))
}

pub(in crate::session) fn server_error(number: u32, sqlstate: &str, message: &str) -> Error {
    ErrorKind::Server(Box::new(ServerError {
        number,
        sqlstate: sqlstate.to_owned(),
        message: message.to_owned(),
        severity: "ERROR".into(),
        fields: Vec::new(),
    }))
    .into()
}

/// What was to be committed is rolled back: a unit that took part in it is gone.
pub(in crate::session) fn unit_lost() -> Error {
    aborted("a storage unit's connection was lost")
}

/// The error for a table no storage unit has.
pub(in crate::session) fn unknown_table(table: &str) -> Error {
    pando_kernel::ErrorKind::UnknownTable(table.to_owned()).into()
}
