//! The arguments of functions that SQLite calls.

use rusqlite::functions::Context;
use rusqlite::types::ValueRef;
use rusqlite::{Error, Result};

/// What a function fails with.
pub(crate) fn failed(message: String) -> Error {
    Error::UserFunctionError(message.into())
}

/// The argument as text; `None` for NULL.
pub(crate) fn argument(ctx: &Context<'_>, at: usize) -> Result<Option<String>> {
    Ok(match ctx.get_raw(at) {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            let text = std::str::from_utf8(bytes).map_err(|e| Error::Utf8Error(at, e))?;
            Some(text.to_owned())
        }
    })
}

/// The argument as a whole number; `None` for NULL and what is none.
pub(crate) fn integer_argument(ctx: &Context<'_>, at: usize) -> Result<Option<i64>> {
    Ok(match ctx.get_raw(at) {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number),
        ValueRef::Real(number) => Some(number as i64),
        ValueRef::Text(_) | ValueRef::Blob(_) => {
            argument(ctx, at)?.and_then(|text| text.trim().parse().ok())
        }
    })
}
