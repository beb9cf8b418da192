//! Why a statement is refused, and what to do.

use pando_kernel::error::{Because, Error, ErrorKind};
use pando_sql::ast::{Kind, Statement};

/// What cannot be answered over cipher text, and may be over values.
pub(crate) fn otherwise(why: impl Into<String>) -> Error {
    Error::stored_otherwise(30001, why, "leave the encrypted column out of it")
}

/// What is told of a change whose rows would have to be chosen by values.
pub(crate) fn of_change(stmt: &Statement, error: Error) -> Error {
    let changes = matches!(stmt.kind, Kind::Update(_) | Kind::Delete(_) | Kind::Insert(_));
    if let ErrorKind::Refused { because: Because::StoredOtherwise, code, reason, .. } = error.kind()
        && changes
    {
        let instead = "read the keys of its rows with a SELECT first, and name these";
        return Error::unsupported(*code, reason.clone(), instead);
    }
    error
}

/// What cannot be answered over cipher text.
pub(crate) fn refused(why: impl Into<String>) -> Error {
    Error::unsupported(30001, why, "leave the encrypted column out of it")
}
