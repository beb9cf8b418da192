//! Counters of tables that stand in several shards, where a family's servers count by tables: a row of a ledger counts
//! for all shards and all processes.

use std::fmt::Debug;
use std::time::Duration;

use crate::dialect::Dialect;
use crate::error::Result;
use crate::sequences::Sequences;
use crate::value::Value;

/// What a counter's row says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The least number that nobody was given yet.
    pub next: u64,
    /// Who alone goes by the row at this moment, or did so last; `*` for several.
    pub holder: String,
    /// For how long yet somebody may give numbers out that were leased.
    pub leased: Duration,
    /// For how long yet somebody may go by what the row said.
    pub known: Duration,
    /// For how long yet no numbers are leased.
    pub closed: Duration,
}

/// A change of a counter's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'a> {
    /// There is a row, and it counts on from this number at least.
    Reaches(u64),
    /// Numbers are given out, where the row still says `seen`.
    Gives {
        /// What `next` was.
        seen: u64,
        /// What `next` is to be.
        to: u64,
        /// Who takes them.
        holder: &'a str,
        /// How they are taken.
        terms: Terms,
    },
    /// For a time no numbers are leased.
    Closes,
    /// The row goes.
    Goes,
}

/// How numbers are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terms {
    /// They were used at once.
    Used,
    /// They are leased, where nothing is closed.
    Leased,
    /// As leased, by who has leased the last ones and still goes by that.
    Renewed,
}

impl Terms {
    /// Whether what is not used at once may be given out later.
    pub fn is_leased(self) -> bool {
        matches!(self, Self::Leased | Self::Renewed)
    }
}

/// How a family's servers keep counters. All texts run on a fresh connection, outside of transactions.
pub trait Counters: Send + Sync + Debug {
    /// Makes the ledger, unless it is there.
    fn setup(&self) -> &'static str;

    /// Asks for a counter's row: one, or none.
    fn look(&self, counter: &str) -> String;

    /// Reads that row.
    ///
    /// # Errors
    /// `Internal` for one of another form.
    fn read(&self, row: &[Value]) -> Result<Seen>;

    /// Changes the row. It affects none where it does not say any more what the change goes by.
    fn change(&self, counter: &str, change: Change<'_>) -> String;

    /// Asks for where an actual table's own counter stands.
    fn own(&self, table: &str) -> String;

    /// The text of an actual table's definition with another number as its next one.
    fn told(&self, definition: &str, next: u64) -> String;

    /// Reads that.
    ///
    /// # Errors
    /// `Internal` for a row of another form.
    fn read_own(&self, row: &[Value]) -> Result<u64>;
}

/// How a family's counters are kept; `None` where its servers do not count by tables.
pub fn of(dialect: &dyn Dialect) -> Option<&dyn Counters> {
    dialect.sequences().and_then(Sequences::counters)
}

/// For how long leased numbers may be given out, and what a row said may be gone by.
pub const LEASE: Duration = Duration::from_secs(2);
/// For how long nothing is leased, once values that clients gave have met with somebody's lease.
pub const CLOSED: Duration = Duration::from_secs(60);
