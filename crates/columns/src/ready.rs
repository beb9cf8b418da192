//! Uses as a room asks for them: to route, and once routing has seen to it that all is known.

use pando_kernel::Context;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::route::Need;
use pando_sql::ast::Statement;

use crate::{Interest, Stop, Uses};

/// The uses of a room's columns, or what must be known before they can be told.
///
/// # Errors
/// What `refused` makes of the reason why a use may be hidden; `UnknownColumn`.
pub fn uses_or_need(
    ctx: &Context<'_>,
    stmt: &Statement,
    interest: &Interest,
    refused: fn(String) -> Error,
) -> Result<std::result::Result<Uses, Need>> {
    match crate::uses(ctx, stmt, interest) {
        Ok(uses) => Ok(Ok(uses)),
        Err(Stop::Need(need)) => Ok(Err(need)),
        Err(Stop::Unclear { why }) => Err(refused(why)),
        Err(Stop::Unknown { column }) => Err(ErrorKind::UnknownColumn(column).into()),
    }
}

/// The same, where routing has seen to it that all is known.
///
/// # Errors
/// As [`uses_or_need`]; `Internal` if something is not known after all.
pub fn known_uses(
    ctx: &Context<'_>,
    stmt: &Statement,
    interest: &Interest,
    refused: fn(String) -> Error,
) -> Result<Uses> {
    let unknown = |need| Error::internal(format!("{need:?} is not known"));
    uses_or_need(ctx, stmt, interest, refused)?.map_err(unknown)
}
