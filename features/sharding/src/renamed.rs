//! A table's sharding columns may not be dropped, or become others by a new name: its rows stay where the old ones put them.

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_sql::ast::Statement;

use crate::table::Table;

/// Words behind RENAME that are followed by something else than a column.
const OTHERS: [&str; 5] = ["constraint", "index", "key", "to", "as"];

/// Refuses `RENAME [COLUMN] a TO b` and `CHANGE [COLUMN] a b …` where either is a sharding column, and `DROP [COLUMN] [IF EXISTS] a` of one.
///
/// # Errors
/// `Refused` 20031.
pub(crate) fn keeps_keys(ctx: &Context<'_>, stmt: &Statement, tables: &[&Table]) -> Result<()> {
    let Ok(tokens) = pando_sql::tokenize(&stmt.text, ctx.dialect.syntax()) else { return Ok(()) };
    let words: Vec<&str> =
        tokens.list.iter().map(|token| token.span.of(&stmt.text)).map(unquoted).collect();
    let is =
        |at: usize, word: &str| words.get(at).is_some_and(|own| own.eq_ignore_ascii_case(word));
    let is_key = |name: &str| tables.iter().any(|table| table.is_key(name));
    for at in 0..words.len() {
        if is(at, "drop") {
            let column = at + 1 + usize::from(is(at + 1, "column"));
            let column = if is(column, "if") { column + 2 } else { column };
            if let Some(column) = words.get(column).filter(|column| is_key(column)) {
                return Err(dropped(column));
            }
            continue;
        }
        let first = if is(at + 1, "column") { at + 2 } else { at + 1 };
        let second = match (is(at, "rename"), is(at, "change")) {
            (true, _) if OTHERS.iter().any(|other| is(first, other)) => continue,
            (true, _) if is(first + 1, "to") => first + 2,
            (_, true) => first + 1,
            _ => continue,
        };
        let (Some(old), Some(new)) = (words.get(first), words.get(second)) else { continue };
        if !old.eq_ignore_ascii_case(new) && (is_key(old) || is_key(new)) {
            return Err(Error::unsupported(
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

fn dropped(column: &str) -> Error {
    Error::unsupported(
        20031,
        format!("the sharding column `{column}` may not be dropped"),
        "make a new table with its rule, and move the rows",
    )
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '`'])
}
