//! A statement with the select items that merging added, read anew: names in them must be rewritten like all others.

use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_sql::ast::Statement;
use pando_sql::{Edits, Placeholder};

use super::parse::parsed;
use super::rewrite::{number, parameters};

/// The statement with its changes in the text.
pub(super) struct Settled {
    pub(super) stmt: Statement,
    /// For each of its parameters the one of the original statement; those behind the end are the same.
    parameters: Vec<u32>,
}

/// Reads the changed text; `None` when an added item repeats a parameter that is written without its number.
pub(super) fn settle(
    ctx: &Context<'_>,
    stmt: &Statement,
    edits: &Edits,
) -> Result<Option<Settled>> {
    let changed = parsed(ctx, &edits.apply(&stmt.text))?;
    match ctx.dialect.syntax().placeholder {
        // Numbers keep their meaning in the added items too; what is left is renumbered with the actual statement.
        Placeholder::Dollar => Ok(Some(Settled { stmt: changed, parameters: Vec::new() })),
        Placeholder::Question => {
            let left = number(Placeholder::Question, &parameters(stmt), &mut edits.clone());
            let whole = changed.parameters as usize == left.len();
            Ok(whole.then_some(Settled { stmt: changed, parameters: left }))
        }
    }
}

impl Settled {
    /// The original statement's parameter.
    pub(super) fn original(&self, parameter: u32) -> u32 {
        self.parameters.get(parameter as usize).copied().unwrap_or(parameter)
    }
}
