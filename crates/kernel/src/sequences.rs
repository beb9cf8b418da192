//! Sequences: numbers that one storage unit gives out for all of them.

use std::fmt::Debug;

use crate::error::Result;

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
    /// A query of so many rows, each with the next number of a sequence, which is named as the client's statement names it.
    fn next(&self, sequence: &str, count: usize) -> String;

    /// A number in a statement's text, where it stands for a call.
    fn number(&self, number: i64) -> String;

    /// The same in a column of a query: of the type that the call has.
    fn shown(&self, number: i64) -> String {
        self.number(number)
    }

    /// A query whose rows are statements that make a sequence anew as it stands, one text each; `None` where sequences belong to no table.
    fn definition(&self, _sequence: &str) -> Option<String> {
        None
    }

    /// What names the sequence that counts a column of an actual table, in the place of a sequence's name: NULL where none does. The table has the first of
    /// these names that there is. `None` where columns are not counted by sequences.
    fn counter(&self, _tables: &[String], _column: &str) -> Option<String> {
        None
    }

    /// How numbers are asked for that are not those which a connection has kept for itself; `None` where connections keep none.
    fn afresh(&self, _sequence: &str) -> Option<Afresh> {
        None
    }

    /// What stands in the place of a sequence's current number where the session was told none; `None` asks for that of whichever sequence.
    ///
    /// # Errors
    /// `Server` where the family's servers refuse that.
    fn untold(&self, sequence: Option<&str>) -> Result<String>;
}
