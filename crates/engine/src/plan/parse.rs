//! Texts that planning makes, read anew.

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::Context;
use pando_sql::ast::Statement;

/// A text in the language of the units, as a statement.
///
/// # Errors
/// `Syntax`, `TooComplex`.
pub(super) fn parsed(ctx: &Context<'_>, text: &str) -> Result<Statement> {
    pando_sql::parse(text, ctx.dialect.syntax()).map_err(unread)
}

/// A parser's error as the workspace's.
pub(crate) fn unread(error: pando_sql::SyntaxError) -> Error {
    match error.is_too_complex {
        true => ErrorKind::TooComplex(format!("statement too complex: {}", error.message)).into(),
        false => ErrorKind::Syntax { message: error.message, at: error.at }.into(),
    }
}
