//! What is wrong with bytes that are no message.

use std::fmt;

/// A message that breaks the protocol: which one, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed {
    /// The message's name in the manual.
    pub message: &'static str,
    /// The rule it breaks.
    pub fault: Fault,
}

/// The rules a message can break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The body ends before its last field does.
    Truncated,
    /// Bytes follow the last field.
    Trailing,
    /// A string has no zero byte at its end.
    Unterminated,
    /// A text is not UTF-8; SQLSTATE 22021 instead of 08P01.
    NotUtf8,
    /// A count or a length that cannot be (negative, or lists of different length).
    BadCount,
    /// A code that the protocol does not define.
    BadCode,
    /// The frame's length field is above the limit or below four.
    BadLength,
    /// The tag byte names no message.
    UnknownTag(u8),
    /// A field is longer than the protocol or we allow.
    TooLong,
}

impl Malformed {
    pub(crate) fn new(message: &'static str, fault: Fault) -> Malformed {
        Malformed { message, fault }
    }

    /// The SQLSTATE PostgreSQL answers such a message with.
    pub fn sqlstate(&self) -> &'static str {
        match self.fault {
            Fault::NotUtf8 => "22021",
            Fault::Truncated
            | Fault::Trailing
            | Fault::Unterminated
            | Fault::BadCount
            | Fault::BadCode
            | Fault::BadLength
            | Fault::UnknownTag(_)
            | Fault::TooLong => "08P01",
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.message;
        match self.fault {
            Fault::Truncated => write!(f, "the `{message}` message ends too early"),
            Fault::Trailing => write!(f, "the `{message}` message has bytes after its end"),
            Fault::Unterminated => {
                write!(f, "a string in the `{message}` message has no zero byte at its end")
            }
            Fault::NotUtf8 => write!(f, "invalid byte sequence for encoding `UTF8` in `{message}`"),
            Fault::BadCount => write!(f, "the `{message}` message has a wrong count or length"),
            Fault::BadCode => write!(f, "the `{message}` message has an undefined code"),
            Fault::BadLength => write!(f, "the `{message}` message has an invalid length"),
            Fault::UnknownTag(tag) => write!(f, "message type {tag} is not known ({message})"),
            Fault::TooLong => write!(f, "a field of the `{message}` message is too long"),
        }
    }
}

impl std::error::Error for Malformed {}
