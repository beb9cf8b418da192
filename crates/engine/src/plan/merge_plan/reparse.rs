//! A statement with the select items that merging added, read anew: names in them must be rewritten like all others.

use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_sql::ast::Statement;
use pando_sql::{Edits, Piece, Placeholder, Span};

use crate::plan::numbering::{number, parameters};
use crate::plan::parse::parsed;

/// The statement with its changes in the text.
pub(in crate::plan) struct Reparsed {
    pub(in crate::plan) stmt: Statement,
    /// For each of its parameters the one of the original statement; those behind the end are the same.
    parameters: Vec<u32>,
    /// What of its text is new; left out where no room asks for it.
    pub(in crate::plan) added: Vec<Span>,
}

/// Reads the changed text; `None` when an added item repeats a parameter that is written without its number.
pub(in crate::plan) fn reparsed(
    ctx: &Context<'_>,
    stmt: &Statement,
    edits: &Edits,
) -> Result<Option<Reparsed>> {
    let changed = parsed(ctx, &edits.apply(&stmt.text))?;
    let added = if ctx.database.turns_columns() { added(edits, &stmt.text) } else { Vec::new() };
    match ctx.dialect.syntax().placeholder {
        // Numbers keep their meaning in the added items too; what is left is renumbered with the actual statement.
        Placeholder::Dollar => Ok(Some(Reparsed { stmt: changed, parameters: Vec::new(), added })),
        Placeholder::Question => {
            let left = number(Placeholder::Question, &parameters(stmt), &mut edits.clone());
            let whole = changed.parameters as usize == left.len();
            Ok(whole.then_some(Reparsed { stmt: changed, parameters: left, added }))
        }
    }
}

/// Where in the changed text the new pieces stand.
fn added(edits: &Edits, text: &str) -> Vec<Span> {
    let (mut added, mut end) = (Vec::new(), 0);
    for piece in edits.pieces(text) {
        let start = end;
        match piece {
            Piece::Kept(span) => end += span.end - span.start,
            Piece::New(text) => {
                end += u32::try_from(text.len()).unwrap_or(u32::MAX - end);
                added.push(Span::new(start, end));
            }
        }
    }
    added
}

impl Reparsed {
    /// The original statement's parameter.
    pub(in crate::plan) fn original(&self, parameter: u32) -> u32 {
        self.parameters.get(parameter as usize).copied().unwrap_or(parameter)
    }
}
