//! Which of a storage unit's statements are run a second time elsewhere, and what is told of that.

use std::time::{Duration, SystemTime};

use crate::route::UnitName;

/// A storage unit's statements are copied to another one, and the answers compared. Whoever copies never has a client
/// wait: what is too much is dropped, and counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The rule's name.
    pub rule: String,
    /// Whose statements are copied.
    pub source: UnitName,
    /// Where they run again. It serves nobody else.
    pub mirror: UnitName,
    /// Keys of the logic tables whose statements are copied: those that name no other. Empty: all statements are.
    pub tables: Vec<String>,
    /// Of a million transactions, or sessions, so many are copied. At least 1.
    pub per_million: u32,
    /// What is copied whole or not at all.
    pub sampled: Sampled,
    /// Which statements.
    pub copies: Copies,
    /// What of their answers must be equal.
    pub compares: Compared,
    /// Statements at once on the mirror. At least 1.
    pub connections: usize,
    /// Statements that may wait for their turn.
    pub queue: usize,
    /// Bytes of those.
    pub queue_bytes: usize,
    /// Time for a transaction's copy, from when it is begun.
    pub time: Duration,
}

/// What is copied whole or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampled {
    /// Each transaction, and each statement outside of one, by itself.
    Transaction,
    /// All of a session.
    Session,
}

/// Which statements are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copies {
    /// Queries that change nothing.
    Reads,
    /// Changes of rows as well.
    Everything,
}

/// What of two answers must be equal, besides errors and counts of changed rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    /// How many rows there are.
    Counts,
    /// The rows, in whatever order.
    Rows,
    /// The rows, in their order where the statement has one.
    OrderedRows,
}

/// What has come of a rule's copies on this instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The rule's name.
    pub rule: String,
    /// Whose statements are copied.
    pub source: UnitName,
    /// Where they run again.
    pub mirror: UnitName,
    /// Statements, in numbers.
    pub counts: Counts,
    /// The newest differences, the newest last.
    pub differences: Vec<Difference>,
}

/// Statements, in numbers. What is copied is then waiting, equal, different or failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Those handed over to the mirror.
    pub copied: u64,
    /// Those among them that it has not answered yet.
    pub waiting: u64,
    /// Those whose answers were equal.
    pub equal: u64,
    /// Those whose answers were not.
    pub different: u64,
    /// Those that the mirror has not answered: it was away, or too slow.
    pub failed: u64,
    /// Those that would have been copied, had there been room.
    pub dropped: u64,
    /// Those that would have been copied, were they not of a kind that cannot be.
    pub passed_over: u64,
}

/// Two answers that are not equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// When it was seen.
    pub at: SystemTime,
    /// The statement as the source was sent it, without its literals.
    pub statement: String,
    /// What is not equal: `error`, `columns`, `count`, `rows`, `order`, `affected`.
    pub what: &'static str,
    /// What the source has answered; never a value.
    pub source: String,
    /// What the mirror has.
    pub mirror: String,
}
