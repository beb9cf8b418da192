//! Texts that planning has made, parsed again.

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::Context;
use pando_sql::ast::Statement;

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
