//! What a statement becomes.

use pando_kernel::Error;

use crate::error::refuse;
use crate::tongue::Tongue;

/// What SQLite shall do for a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Translation {
    /// The text holds no statement.
    Empty,
    /// The statement has no meaning here and succeeds.
    Nothing,
    /// The statements that follow are written in this language.
    Speak(Tongue),
    /// One statement, with what kind it is.
    One(String, Verb),
    /// Several without parameters or rows, all or none.
    Several(Vec<String>),
}

/// What a statement counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// INSERT and REPLACE: rows and a generated key.
    Insert,
    /// UPDATE and DELETE: rows.
    Change,
    /// WITH: what follows it decides.
    With,
    /// Definitions.
    Define,
    /// Anything else.
    Other,
}

/// What SQLite could only do wrongly.
pub(super) fn unsupported(message: impl Into<String>) -> Error {
    refuse("0A000", message)
}
