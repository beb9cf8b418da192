//! Tables that are made of a query's rows: what a server would make of the query is asked for, before any row is there.

use std::fmt::Debug;

use crate::error::Result;
use crate::relation::Inline;
use crate::table::TableColumn;
use crate::value::Value;

/// Name of the temporary table that a server makes of the query over tables without rows.
pub const PROBE: &str = "pando_relation_probe";

/// What is to be made of a query, in the words of the statement.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Columns and keys of the statement's own, or names for the query's columns, in parentheses; empty where it has
    /// none.
    pub elements: &'a str,
    /// What stands between these and the query.
    pub options: &'a str,
    /// The query.
    pub query: &'a str,
}

/// What a server makes of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probed {
    /// What stands behind the table's name in its CREATE TABLE without the query.
    pub body: String,
    /// Its columns in order, quoted.
    pub columns: Vec<String>,
    /// Their types as a cast names them, where the family has materialized views.
    pub types: Vec<String>,
}

/// How a family's servers tell what table they would make of a query.
pub trait QueryTables: Send + Sync + Debug {
    /// Whether SELECT … INTO makes a table.
    fn selects_into(&self) -> bool;

    /// What of a query's text becomes what, so that it gives no rows: its LIMIT where it has one, else what is written
    /// behind it. `None` where [`PROBE`] is made without rows anyway.
    fn without_rows(&self) -> Option<&'static str>;

    /// Makes [`PROBE`] of a query that gives no rows.
    fn probe(&self, wanted: &Wanted<'_>) -> String;

    /// The query whose rows [`QueryTables::probed`] reads.
    fn probed_query(&self) -> String;

    /// What was made.
    ///
    /// # Errors
    /// `Internal` when the rows have another shape.
    fn probed(&self, wanted: &Wanted<'_>, rows: &[Vec<Value>]) -> Result<Probed>;

    /// How they tell of tables that are there.
    fn definitions(&self) -> &dyn Definitions;
}

/// How a family's servers tell how tables are defined, those too that their catalogues do not show.
pub trait Definitions: Send + Sync + Debug {
    /// A statement whose one row tells how a table is defined, in its second column; `None` where a column of a query
    /// is told by its type alone.
    fn definition_of(&self, table: &str) -> Option<String>;

    /// A table without rows that is defined so: the columns of a query over it are those of one over the table itself.
    /// Each place of a statement has its own number. `None` where it is no table.
    fn twin(&self, number: usize, definition: &str) -> Option<Inline>;

    /// What stands behind the name of a new table that is defined so, but for what it refers to; `None` where it is no
    /// table.
    fn alike(&self, definition: &str) -> Option<String>;

    /// A query for the columns of a temporary table of the connection that is asked, one row for each, in table order.
    fn temporary_columns_query(&self, table: &str) -> String;

    /// Reads a row of [`Definitions::temporary_columns_query`].
    ///
    /// # Errors
    /// `Internal` when the row has another shape.
    fn read_temporary_column(&self, row: &[Value]) -> Result<TableColumn>;
}
