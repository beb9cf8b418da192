//! CREATE TABLE with a column that is too narrow for the keys that are made for it.

use pando_kernel::error::{Error, Result};
use pando_sql::ast::{Define, DefineAction, ObjectKind};

use crate::asked::Asked;

/// Types of whole numbers of 32 bits and less, without what stands behind them.
const NARROW: [&str; 13] = [
    "int",
    "integer",
    "int1",
    "int2",
    "int3",
    "int4",
    "middleint",
    "tinyint",
    "smallint",
    "mediumint",
    "serial2",
    "serial4",
    "smallserial",
];

/// Refuses a table whose first INSERT without a key would be out of range.
///
/// # Errors
/// `Refused`, with what to use.
pub(crate) fn check(asked: &Asked<'_>, define: &Define) -> Result<()> {
    if define.action != DefineAction::Create || define.object != ObjectKind::Table {
        return Ok(());
    }
    let Some(name) = define.names.first() else { return Ok(()) };
    let Some(table) = asked.rule.table(&name.key()) else { return Ok(()) };
    let Some((key, generator)) = table.key_generator() else { return Ok(()) };
    if !generator.makes_long_numbers() {
        return Ok(());
    }
    let own = define.columns.iter().find(|column| column.name.value.eq_ignore_ascii_case(key));
    let Some(own) = own else { return Ok(()) };
    let written = own.type_span.of(&asked.stmt.text).trim();
    let end = written.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(written.len());
    let word = written.get(..end).unwrap_or_default().to_ascii_lowercase();
    // MySQL's SERIAL is a BIGINT.
    let is_serial = word == "serial" && asked.ctx.dialect.syntax().fold == pando_sql::Fold::Lower;
    if !is_serial && !NARROW.contains(&word.as_str()) {
        return Ok(());
    }
    Err(Error::unsupported(
        20057,
        format!(
            "the keys that are made for `{key}` of `{}` have up to 63 bits, and {} has 32 at most",
            table.logic(),
            word.to_ascii_uppercase()
        ),
        "write BIGINT",
    ))
}
