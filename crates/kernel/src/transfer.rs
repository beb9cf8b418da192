//! Rows that are read by one statement and written by another: as literals of an INSERT.

use std::fmt::Debug;

use crate::column::Column;
use crate::error::{Error, Result};
use crate::refill::RefillWords;
use crate::row::RowCodec;
use crate::table::TableColumn;
use crate::value::Value;

/// A field of a row that was read.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    /// The result's column.
    pub column: &'a Column,
    /// What reads the row.
    pub codec: &'a dyn RowCodec,
    /// The field's wire bytes; never those of NULL.
    pub bytes: &'a [u8],
}

/// How a family writes rows that were read before.
pub trait Transfer: Obstacles {
    /// The literal of a field that is assigned to `to` (when that is known): assigning it has the effect that assigning the field itself would have.
    ///
    /// # Errors
    /// `Refused` for types whose values cannot travel so.
    fn literal(&self, field: &Field<'_>, to: Option<&TableColumn>) -> Result<String>;

    /// What stands behind a parameter in a query whose rows are inserted, so that it has the column's type as it has in the INSERT; empty where the
    /// language needs nothing.
    fn typed_as(&self, to: &TableColumn) -> String;

    /// What stands behind a literal so that it has the type of an answer's column; empty where the language needs nothing or the type has no name everywhere.
    fn typed(&self, _column: &Column) -> String {
        String::new()
    }

    /// A condition that a column's value is the same again once it has been read and written; `None` where it always is.
    fn survives(&self, _column: &TableColumn) -> Option<String> {
        None
    }

    /// What stands between the columns and VALUES so that every value is taken as it is; empty where the language needs nothing.
    fn keep_given(&self) -> &'static str;

    /// A query of the one value that names the character set in which a server reads files whose statement names none;
    /// `None` where it takes them as it takes statements.
    fn letters_query(&self) -> Option<&'static str> {
        None
    }
}

/// What hinders rows from being taken out of an actual table and put in again elsewhere.
pub trait Obstacles: Send + Sync + Debug {
    /// How rows are written anew while clients go on; `None` where they cannot be.
    fn refill(&self) -> Option<&dyn RefillWords> {
        None
    }

    /// A query whose rows are (what, name, detail) of everything about an actual table that says how its rows may be taken out and put in
    /// again: [`Obstacles::read_obstacle`] reads them. `schema` says where the table stands, where the family has
    /// schemas and its name alone does not.
    fn obstacles_query(&self, schema: Option<&str>, table: &str) -> String;

    /// Reads a row of [`Obstacles::obstacles_query`].
    ///
    /// # Errors
    /// `Internal` when the row has another shape.
    fn read_obstacle(&self, row: &[Value]) -> Result<Obstacle> {
        let [Value::Text(what), Value::Text(name), Value::Text(detail)] = row else {
            return Err(Error::internal("a row about a table's obstacles has another shape"));
        };
        let name = name.clone();
        Ok(match what.as_str() {
            "computed" => Obstacle::Computed(name),
            "always" => Obstacle::Always(name),
            "stamped" => Obstacle::Stamped(name),
            "reference" => Obstacle::Referenced { by: name, action: detail.clone() },
            "trigger" => Obstacle::Trigger(name),
            "view" => Obstacle::View(name),
            _ => return Err(Error::internal("an obstacle nobody knows")),
        })
    }
}

/// What a table has that matters when a row is deleted and inserted again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// A column that the server computes from others: it is not written.
    Computed(String),
    /// A column whose values only the server gives; an UPDATE may not assign it.
    Always(String),
    /// A column that every UPDATE sets to the current time.
    Stamped(String),
    /// Another table's foreign key changes rows with a deleted one.
    Referenced {
        /// The other table, or the constraint.
        by: String,
        /// `CASCADE`, `SET NULL`, `SET DEFAULT`.
        action: String,
    },
    /// A trigger (or rule), which would run for other statements than the client's.
    Trigger(String),
    /// It is a view, which may not show all that a row has.
    View(String),
}
