//! A decoded SQL value: what routing and merging look at. Rows themselves stay in wire form.

use bigdecimal::BigDecimal;
use bytes::Bytes;

/// One value. Dates and times are `Text` in the standard form (`2026-01-31 13:45:00.5`), of which the [`Kind`] tells.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// SQL NULL.
    Null,
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// A double.
    Float(f64),
    /// An exact number of any size.
    Decimal(BigDecimal),
    /// Characters.
    Text(String),
    /// Octets.
    Bytes(Bytes),
}

/// What kind of values a column holds, whatever the vendor calls its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Booleans.
    Bool,
    /// Signed integers of any width.
    Int,
    /// Unsigned integers.
    UInt,
    /// Exact decimals.
    Decimal,
    /// Single and double precision floats.
    Float,
    /// Characters, ordered by a collation.
    Text,
    /// Octets, ordered bytewise.
    Bytes,
    /// Dates.
    Date,
    /// Times of day or durations.
    Time,
    /// Date and time without zone.
    Timestamp,
    /// Date and time with zone.
    TimestampTz,
    /// Anything whose order and arithmetic we do not know (json, arrays, geometry, enum, …).
    Other,
}

impl Value {
    /// Whether it is SQL NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}
