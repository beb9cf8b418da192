//! What a client asks, and how.

/// How a client asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Text,
    Prepared,
}

/// What a client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// One row, by its key.
    Point,
    /// The first ten rows of all nodes in an order.
    Limited,
    /// The rows of a range of keys, [`RANGE`] on each unit, in an order.
    Range,
}

/// Whether a client asks by itself or has begun a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Within {
    Nothing,
    Transaction,
}

/// What the one row holds.
pub(super) const ROW: &[u8] = b"68487932199-96439406143-93774651418-41631865787-96406072701-\
    20604855487-25459966574-28203206787-41238978918-19503783441";

/// Rows of a range on each unit: what ten tables of sysbench have of its hundred.
pub(super) const RANGE: u64 = 50;

/// Rows of each unit's part of an ORDER BY LIMIT.
pub(super) const LIMIT: u64 = 10;
