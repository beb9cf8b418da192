//! The columns of an INSERT, and what is wrong with them in the family's words.

use pando_sql::Fold;

use crate::dialect::{Dialect, TableColumn};
use crate::error::{Error, ErrorKind, ServerError};

/// The error of an INSERT whose list names a column that the table does not have, in the family's words.
pub fn unknown_column(dialect: &dyn Dialect, table: &str, name: &str) -> Error {
    let (sqlstate, message) = match dialect.error_fails_transaction() {
        true => ("42703", format!("column \"{name}\" of relation \"{table}\" does not exist")),
        false => ("42S22", format!("Unknown column '{name}' in 'field list'")),
    };
    ErrorKind::Server(Box::new(ServerError {
        number: 1054,
        sqlstate: sqlstate.into(),
        message,
        severity: "ERROR".into(),
        fields: Vec::new(),
    }))
    .into()
}

/// The error of an INSERT whose row of this number, from 1, has not as many values as the table has columns, in the family's words. Where an error fails the
/// transaction, missing ones are NULL or the column's default, so that it can only be too long.
pub fn uneven_row(dialect: &dyn Dialect, row: usize) -> Error {
    let (number, sqlstate, message) = match dialect.error_fails_transaction() {
        true => (0, "42601", "INSERT has more expressions than target columns".to_owned()),
        false => (1136, "21S01", format!("Column count doesn't match value count at row {row}")),
    };
    ErrorKind::Server(Box::new(ServerError {
        number,
        sqlstate: sqlstate.into(),
        message,
        severity: "ERROR".into(),
        fields: Vec::new(),
    }))
    .into()
}

/// The columns, of all that a table is known to have, that an INSERT's rows of `width` values are for when it lists
/// none: PostgreSQL lets the last ones of a row away, MySQL all of them.
pub fn by_place<'a>(
    dialect: &dyn Dialect,
    known: &'a [TableColumn],
    width: usize,
) -> impl Iterator<Item = &'a str> {
    let may_be_short = dialect.syntax().fold == Fold::Lower || width == 0;
    let count = if may_be_short { width } else { known.len() };
    known.iter().filter(|column| !column.invisible).take(count).map(|column| &*column.name)
}
