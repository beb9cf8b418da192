//! Sequences: numbers that one storage unit gives out for all of them.

use std::fmt::Debug;

use crate::counters::Counters;
use crate::error::Result;

/// How numbers are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draw {
    /// A query whose rows have one each.
    pub query: String,
    /// How others are had than those which a connection has kept for itself; `None` where connections keep none.
    pub afresh: Option<Afresh>,
}

/// Where a number stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// Among other values.
    Inside,
    /// In a column of a query, whose type is that of the call.
    Shown,
}

/// What is asked of a sequence whose numbers may be kept by connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Afresh {
    /// Gives a row if they are, and ascend.
    pub keeps: String,
    /// Has the connection forget those it keeps.
    pub forget: &'static str,
}

/// How a family's servers give out the numbers of sequences.
pub trait Sequences: Send + Sync + Debug {
    /// How so many numbers are asked for of a sequence, which is named as the client's statement names it.
    fn next(&self, sequence: &str, count: usize) -> Draw;

    /// A number in a statement's text, where it stands for a call.
    fn number(&self, number: i64, stands: Stands) -> String;

    /// A query whose rows are statements that make a sequence anew as it stands, one text each; `None` where sequences belong to no table.
    fn definition(&self, _sequence: &str) -> Option<String> {
        None
    }

    /// How columns are counted where servers count them by sequences; `None` where they do not.
    fn of_columns(&self) -> Option<&dyn ColumnSequences> {
        None
    }

    /// How columns are counted where servers count by tables, so that each shard would do it by itself; `None` where
    /// they do not.
    fn counters(&self) -> Option<&dyn Counters> {
        None
    }

    /// What stands in the place of a sequence's current number where the session was told none; `None` asks for that of whichever sequence.
    ///
    /// # Errors
    /// `Server` where the family's servers refuse that.
    fn untold(&self, sequence: Option<&str>) -> Result<String>;
}

/// How a family's servers count columns by sequences.
pub trait ColumnSequences: Send + Sync + Debug {
    /// What names the sequence that counts a column of an actual table, in the place of a sequence's name: NULL where
    /// none does. The table has the first of these names that there is.
    fn counter(&self, tables: &[String], column: &str) -> String;

    /// An expression for the number that the connection was told last, by this sequence or by whichever; an error of
    /// the server where it was told none.
    fn current(&self, sequence: Option<&str>) -> String;
}
