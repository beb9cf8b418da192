//! Bringing what is stored of a table's rows in step with what is read of them: after its columns are to be stored
//! otherwise, while clients go on.

use std::fmt::Debug;

use crate::dialect::Dialect;
use crate::error::{Error, Result};
use crate::table::TableColumn;
use crate::value::Value;

/// How the stored columns of one logic table are made of those that are read. Pure.
pub trait Refill: Send + Sync + Debug {
    /// Definitions of the stored columns that an actual table lacks, as ALTER TABLE … ADD COLUMN has them.
    ///
    /// # Errors
    /// `Refused` where what is read is not as the rule says.
    fn lacking(&self, stored: &[TableColumn], dialect: &dyn Dialect) -> Result<Vec<String>>;

    /// The stored columns that [`Refill::row`] takes and gives, in their order.
    fn columns(&self) -> &[RefillColumn];

    /// What a row is to have in all of the columns; `None` where it is in step. No error tells a value.
    ///
    /// # Errors
    /// `Value` where what is read cannot be read.
    fn row(&self, row: &[Value]) -> Result<Option<Vec<Value>>>;

    /// What tells later whether rows would be stored in the same way: texts without any value of a row, of the columns,
    /// their algorithms and keys. Empty where nothing can tell.
    fn made_by(&self) -> Vec<String>;

    /// Whether rows that were in step when [`Refill::made_by`] gave this are in step now.
    fn is_made_by(&self, known: &[String]) -> bool;

    /// The stored columns that nothing is read of: they go when it is to stay so.
    fn unread(&self) -> Vec<Unread>;
}

/// A stored column that nothing is read of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Its name.
    pub name: String,
    /// The name of the one that is read in its place.
    pub told: String,
}

/// A stored column that a refill reads, and perhaps writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefillColumn {
    /// Its name.
    pub name: String,
    /// Whether it is written.
    pub is_written: bool,
}

/// A family's words for it. Tables' names are given as statements write them, columns' names as they are.
pub trait RefillWords: RefillDefinitions {
    /// What a connection is told first: who else holds a row or the table is waited for but a moment.
    fn settings(&self) -> &'static [&'static str];

    /// Statements that end when no transaction is left that has changed the table before, without keeping it.
    fn fence(&self, table: &str) -> Vec<String>;

    /// Whether a change of the row would change this column, too, unless it is told to stay.
    fn is_moved(&self, column: &TableColumn) -> bool;

    /// Whether an error says that somebody else holds what was asked for.
    fn is_busy(&self, error: &Error) -> bool;
}

/// What a family has to say of a table's definition for it.
pub trait RefillDefinitions: Send + Sync + Debug {
    /// Asks, one in each row, for what would change a column in the plain unseen, in words: triggers, defaults,
    /// foreign keys, views. `name`
    /// is the table's own, in `schema` where the family has any.
    fn unseen_changes(&self, schema: Option<&str>, name: &str, columns: &[String]) -> String;

    /// Asks, one in each row, for what stands on one of the columns and would go with it, in words: indexes,
    /// constraints.
    fn dependents(&self, schema: Option<&str>, name: &str, columns: &[String]) -> String;

    /// Has a column take NULL, or take it no more.
    fn nullable(&self, table: &str, column: &TableColumn, takes: Nulls) -> String;
}

/// Whether a column takes NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// It does.
    Taken,
    /// It does not.
    Refused,
}
