//! Columns may not be renamed so that a table's sharding columns become others: its rows stay where the old ones put them.

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_sql::ast::Statement;

use crate::table::Table;

/// Words behind RENAME that are followed by something else than a column.
const OTHERS: [&str; 5] = ["constraint", "index", "key", "to", "as"];

/// Refuses `RENAME [COLUMN] a TO b` and `CHANGE [COLUMN] a b …` where either is a sharding column.
///
/// # Errors
/// `Refused` 20031.
pub(crate) fn keeps_keys(ctx: &Context<'_>, stmt: &Statement, tables: &[&Table]) -> Result<()> {
    let Ok(tokens) = pando_sql::tokenize(&stmt.text, ctx.dialect.syntax()) else { return Ok(()) };
    let words: Vec<&str> =
        tokens.list.iter().map(|token| token.span.of(&stmt.text)).map(unquoted).collect();
    let is =
        |at: usize, word: &str| words.get(at).is_some_and(|own| own.eq_ignore_ascii_case(word));
    for at in 0..words.len() {
        let first = if is(at + 1, "column") { at + 2 } else { at + 1 };
        let second = match (is(at, "rename"), is(at, "change")) {
            (true, _) if OTHERS.iter().any(|other| is(first, other)) => continue,
            (true, _) if is(first + 1, "to") => first + 2,
            (_, true) => first + 1,
            _ => continue,
        };
        let (Some(old), Some(new)) = (words.get(first), words.get(second)) else { continue };
        let is_key = |name: &str| tables.iter().any(|table| table.is_key(name));
        if !old.eq_ignore_ascii_case(new) && (is_key(old) || is_key(new)) {
            return Err(Error::refused(
                20031,
                format!(
                    "a column may not be renamed from or to a sharding column (`{old}`, `{new}`)"
                ),
                "make a new table with its rule, and move the rows",
            ));
        }
    }
    Ok(())
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '`'])
}
