//! The one error of this crate: what is wrong, where, and what could have stood there.

use std::fmt;

use pando_sql::Span;

/// What sort of mistake it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The words do not follow the grammar.
    Syntax,
    /// The grammar is kept, but a value cannot be: a port of 70000, a property given twice.
    Value,
    /// The text is longer than a bound of this crate.
    Limit,
    /// ShardingSphere has, or had, the statement; this version has not.
    NotSupported,
}

/// A text that is no statement of DistSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What sort of mistake it is.
    pub kind: ErrorKind,
    /// Lower case, the offending word in backticks, what was expected, and a guess. Never the content of a string, which may
    /// be a password.
    pub message: String,
    /// Byte of the text where the mistake begins; the text's length when it ends too early.
    pub at: u32,
    /// Line of that byte, from 1.
    pub line: u32,
    /// Column of that byte in characters, from 1.
    pub column: u32,
    /// What could have stood there, as it stands in the message; empty when that is not the question.
    pub expected: Vec<&'static str>,
    /// The expected word that was probably meant.
    pub suggestion: Option<&'static str>,
}

/// What functions of this crate answer.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            at: 0,
            line: 1,
            column: 1,
            expected: Vec::new(),
            suggestion: None,
        }
    }

    pub(crate) fn value(message: impl Into<String>, span: Span) -> Self {
        Self { at: span.start, ..Self::new(ErrorKind::Value, message) }
    }

    /// The same error with line and column counted in the statement's text.
    pub(crate) fn placed_in(mut self, text: &str) -> Self {
        let before = text.get(..self.at as usize).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1);
        self.line = count(before.matches('\n').count());
        self.column = count(before.get(line_start..).unwrap_or("").chars().count());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at line {}, column {}", self.message, self.line, self.column)
    }
}

impl std::error::Error for Error {}
