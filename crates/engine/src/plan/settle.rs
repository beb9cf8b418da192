//! A statement with the select items that merging added, read anew: names in them must be rewritten like all others.

use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_sql::Edits;
use pando_sql::ast::Statement;

use super::logical::parsed;
use super::rewrite::{number, parameters};

/// The statement with its changes in the text.
pub(super) struct Settled {
    pub(super) stmt: Statement,
    /// For each of its parameters the one of the original statement.
    parameters: Vec<u32>,
}

/// Reads the changed text; `None` when an added item repeats a parameter that is written without its number.
pub(super) fn settle(
    ctx: &Context<'_>,
    stmt: &Statement,
    edits: &Edits,
) -> Result<Option<Settled>> {
    let mut edits = edits.clone();
    let numbers = number(ctx.dialect.syntax().placeholder, &parameters(stmt), &mut edits);
    let stmt = parsed(ctx, &edits.apply(&stmt.text))?;
    let whole = stmt.parameters as usize == numbers.len();
    Ok(whole.then_some(Settled { stmt, parameters: numbers }))
}

impl Settled {
    /// The original statement's parameter.
    pub(super) fn original(&self, parameter: u32) -> u32 {
        self.parameters.get(parameter as usize).copied().unwrap_or(parameter)
    }
}
