//! Binding parameters, whichever way the client's language numbers them.

use pando_kernel::{Error, ErrorKind, Parameter, Result};
use rusqlite::Statement;

use crate::error::{refuse, server};
use crate::types::bound;

/// Which of the client's parameters, from 1, each of the statement's is: SQLite numbers `?` by position, but `$2` by first appearance.
fn positions(statement: &Statement<'_>) -> Result<Vec<usize>> {
    (1..=statement.parameter_count())
        .map(|index| match statement.parameter_name(index) {
            None => Ok(index),
            Some(name) => match name.get(1..).and_then(|number| number.parse::<u16>().ok()) {
                Some(number) if number > 0 => Ok(usize::from(number)),
                _ => Err(refuse("42601", format!("parameter `{name}` has no number"))),
            },
        })
        .collect()
}

/// How many parameters the statement takes.
///
/// # Errors
/// `Server` when one of them is named otherwise than by number.
pub(crate) fn count(statement: &Statement<'_>) -> Result<usize> {
    Ok(positions(statement)?.into_iter().max().unwrap_or(0))
}

/// Binds the client's parameters; there may be more than the statement mentions.
pub(crate) fn bind(statement: &mut Statement<'_>, parameters: &[Parameter]) -> Result<()> {
    for (index, position) in positions(statement)?.into_iter().enumerate() {
        let given = parameters.get(position - 1).ok_or_else(|| {
            let given = parameters.len();
            refuse("08P01", format!("{given} parameters are given, but `${position}` is expected"))
        })?;
        let value = bound(&given.value).ok_or_else(|| {
            let message = format!("parameter {position} is out of the range of SQLite's integers");
            Error::new(ErrorKind::Value(message))
        })?;
        statement.raw_bind_parameter(index + 1, value).map_err(|error| server(&error))?;
    }
    Ok(())
}
