//! Rows that were read from one place and stand as a table in a statement of another ("intermediate results").

use std::fmt::Debug;

use crate::column::Column;
use crate::error::Result;
use crate::query_tables::QueryTables;
use crate::table::TableColumn;

/// What names of such tables begin with, where a family's have names: a table called so belongs to no room.
pub const PREFIX: &str = "pando_relation_";

/// A column of such a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// What the table's own column is.
    pub column: TableColumn,
    /// It belongs to the primary key, all of whose columns are carried.
    pub is_key: bool,
    /// The statement compares it with another column: an index on it may help.
    pub is_compared: bool,
}

/// How a family writes such tables.
pub trait Relations: Send + Sync + Debug {
    /// Refuses sessions under whose variables (name, value text) values would lose something on their way as text.
    ///
    /// # Errors
    /// `Refused` with the variable.
    fn check(&self, variables: &[(String, String)]) -> Result<()>;

    /// The select item that gives a column's values as text and loses nothing.
    ///
    /// # Errors
    /// `Refused` for types whose values cannot travel so.
    fn carry(&self, column: &TableColumn) -> Result<String>;

    /// The column that holds values like those of an answer's column that came as text; of a text, or where the type says too little, as in the table's
    /// column `like`. `None` when they cannot travel, or would not be known to be the same.
    fn answered(&self, column: &Column, like: Option<&TableColumn>) -> Option<TableColumn>;

    /// What stands in FROM for the table when nothing but the types of its columns matters.
    fn described(&self, columns: &[Carried]) -> String;

    /// Begins to write the table with this number, different for each of one statement.
    fn begin(&self, number: usize, columns: &[Carried]) -> Box<dyn RelationWriter>;

    /// How servers tell what table they would make of a query; `None` where they cannot.
    fn query_tables(&self) -> Option<&dyn QueryTables> {
        None
    }
}

/// A table being written.
pub trait RelationWriter: Send + Debug {
    /// Adds a row: one field per column, as the items of [`Relations::carry`] gave them; `None` is NULL.
    fn row(&mut self, fields: &[Option<&str>]);

    /// Bytes written so far.
    fn size(&self) -> usize;

    /// Ends it.
    fn finish(self: Box<Self>, stands: Stands) -> Inline;
}

/// Where a written table stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// In a query on a connection of its own.
    Apart,
    /// In a statement that changes other tables, on the connections of its transaction, and whose planning is not over: it shows its columns.
    InTransaction,
}

/// A written table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inline {
    /// Statements that come before on the same connection. A connection that has run any must be reset before it serves others, and
    /// takes no part in a transaction.
    pub before: Vec<String>,
    /// What stands in FROM, without an alias.
    pub table: String,
}
