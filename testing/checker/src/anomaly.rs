//! The names of what can go wrong.

use std::fmt;

use crate::level::Level;

/// A kind of anomaly. The names in brackets are Adya's and Elle's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Anomaly {
    /// A value was read that nobody appended.
    ThinAir,
    /// A value stands twice in a list.
    Duplicate,
    /// Two reads of a list disagree about its order.
    IncompatibleOrders,
    /// A committed value is not in a list read after its commit was told, or after another of its transaction's values was seen.
    LostAppend,
    /// A transaction does not see what it appended itself.
    OwnWriteUnseen,
    /// A value of an undone transaction was read (G1a).
    AbortedRead,
    /// Something was read that its writer appended to again in the same transaction (G1b).
    IntermediateRead,
    /// Transactions overwrite each other in a circle (G0).
    DirtyWrite,
    /// A circle of writes and reads of what was written (G1c).
    CircularFlow,
    /// Two reads of one list in one transaction differ.
    NonRepeatableRead,
    /// A part of a transaction's writes was read and another part was not (G-single, a fractured read).
    TornRead,
    /// A state was read that never was (G-single).
    ReadSkew,
    /// Two transactions saw two others' writes in opposite orders (G-nonadjacent, reads only).
    LongFork,
    /// Two transactions read one version of a list and appended to it both (G-single).
    LostUpdate,
    /// Something was changed that the transaction had seen an older state of (G-single through a write).
    StaleWrite,
    /// The same over several stale reads (G-nonadjacent).
    NonAdjacent,
    /// Transactions read what each other change (G2-item).
    WriteSkew,
    /// Somebody did not see what was told to be committed before it began, or saw what only began after its end.
    StaleRead,
    /// The snapshots contradict the order of time, or of a process, over several transactions.
    OutOfTime,
}

impl Anomaly {
    /// The weakest level that forbids it.
    pub(crate) fn first_forbidden(self) -> Level {
        match self {
            Self::ThinAir
            | Self::Duplicate
            | Self::IncompatibleOrders
            | Self::LostAppend
            | Self::OwnWriteUnseen
            | Self::AbortedRead
            | Self::IntermediateRead
            | Self::DirtyWrite
            | Self::CircularFlow
            | Self::StaleRead => Level::ReadCommitted,
            Self::NonRepeatableRead
            | Self::TornRead
            | Self::ReadSkew
            | Self::LongFork
            | Self::OutOfTime => Level::PlainSnapshot,
            Self::LostUpdate | Self::StaleWrite | Self::NonAdjacent => Level::Snapshot,
            Self::WriteSkew => Level::Serializable,
        }
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::ThinAir => "thin-air",
            Self::Duplicate => "duplicate",
            Self::IncompatibleOrders => "incompatible-orders",
            Self::LostAppend => "lost-append",
            Self::OwnWriteUnseen => "own-write-unseen",
            Self::AbortedRead => "G1a-aborted-read",
            Self::IntermediateRead => "G1b-intermediate-read",
            Self::DirtyWrite => "G0-dirty-write",
            Self::CircularFlow => "G1c-circular-flow",
            Self::NonRepeatableRead => "non-repeatable-read",
            Self::TornRead => "torn-read",
            Self::ReadSkew => "G-single-read-skew",
            Self::LongFork => "long-fork",
            Self::LostUpdate => "lost-update",
            Self::StaleWrite => "G-single-stale-write",
            Self::NonAdjacent => "G-nonadjacent",
            Self::WriteSkew => "G2-item-write-skew",
            Self::StaleRead => "stale-read",
            Self::OutOfTime => "out-of-time",
        }
    }
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One anomaly and who shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub anomaly: Anomaly,
    /// The witness in words; transactions are named by their place in the history, from T1 on.
    pub witness: String,
}
