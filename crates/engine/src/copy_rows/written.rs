//! Records written anew.

use bytes::Bytes;
use pando_kernel::error::{Error, Result};
use pando_kernel::{Columns, Value};

use super::change::{Changed, FieldChanges};
use super::{Records, binary};

impl Records {
    /// A record with a further field in front; `column` is that field's, needed for the binary form.
    ///
    /// # Errors
    /// `Value` for one that cannot be written.
    pub(crate) fn led(
        &self,
        record: &[u8],
        value: &Value,
        column: Option<&Columns>,
    ) -> Result<Bytes> {
        match self {
            Self::Lines(lines) => lines.led(record, value),
            Self::Tuples(_) => binary::led(record, value, column),
        }
    }

    /// A line with another value in one of its fields.
    ///
    /// # Errors
    /// `Value` for one that cannot be written.
    pub(crate) fn with(&self, record: &[u8], at: usize, value: &Value) -> Result<Bytes> {
        match self {
            Self::Lines(lines) => lines.with(record, at, value),
            Self::Tuples(_) => Err(Error::internal("a binary record is counted by its server")),
        }
    }

    /// A record with some of its fields written anew.
    ///
    /// # Errors
    /// `Value` for a field that cannot be turned or written, `TooLarge` for a record over 64 MiB, and the server's own
    /// error for quotes that do not end.
    pub(crate) fn changed(&self, record: &[u8], changes: &FieldChanges) -> Result<Changed> {
        match self {
            Self::Lines(lines) => lines.changed(record, changes),
            Self::Tuples(_) => binary::changed(record, changes),
        }
    }

    /// Refuses a form in which not all values can be written.
    ///
    /// # Errors
    /// `Refused`.
    pub(crate) fn check_writable(&self) -> Result<()> {
        match self {
            Self::Lines(lines) => lines.check_writable(),
            Self::Tuples(_) => Ok(()),
        }
    }
}
