//! What clients are told of a transaction that failed, and what units say.

use pando_kernel::error::{Error, ErrorKind, ServerError};

/// The whole transaction is rolled back, and running it again may help: both vendors tell deadlocks and failed serializations so.
pub fn aborted(why: &str) -> Error {
    server_error(
        1213,
        "40001",
        format!("the transaction is rolled back on every storage unit: {why}"),
    )
}

/// The whole transaction is rolled back because a storage unit that was to record its decision has no ledger any
/// more. Whoever runs it again finds a new one.
pub fn ledger_gone(unit: &str, error: Error) -> Error {
    aborted(&format!("Pando's own tables were removed from storage unit `{unit}` ({error})"))
        .caused_by(error)
}

/// Whether a unit says that a table or schema is not there.
pub fn is_missing(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Server(server)
        if server.number == 1146 || matches!(server.sqlstate.as_str(), "42P01" | "3F000"))
}

pub(crate) fn server_error(number: u32, sqlstate: &str, message: String) -> Error {
    ErrorKind::Server(Box::new(ServerError {
        number,
        sqlstate: sqlstate.to_owned(),
        message,
        severity: "ERROR".into(),
        fields: Vec::new(),
    }))
    .into()
}
