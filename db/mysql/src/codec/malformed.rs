//! What a decoder says when the bytes are not the message they claim to be.

use std::fmt;

/// A message whose bytes do not hold together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed {
    /// The message that was being read, in words, such as `"handshake response"`.
    pub message: &'static str,
    /// The part of it that failed, in words, such as `"user name"`.
    pub part: &'static str,
    /// What is wrong with that part.
    pub fault: Fault,
}

/// The ways in which bytes can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The payload ends before the part does; a length that reaches past the end counts too.
    Truncated,
    /// A string that must end in a zero byte has none.
    Unterminated,
    /// A byte or number has a value this place does not allow.
    Value(u64),
    /// Text that must be UTF-8 is not.
    NotUtf8,
    /// A packet's payload exceeds the limit, in bytes.
    TooLarge(usize),
    /// A packet came with another sequence number than the expected one.
    OutOfOrder {
        /// The number this side was waiting for.
        expected: u8,
        /// The number that came.
        got: u8,
    },
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, part, fault } = self;
        match fault {
            Fault::Truncated => write!(f, "`{part}` of `{message}` reaches past the packet's end"),
            Fault::Unterminated => write!(f, "`{part}` of `{message}` has no closing zero byte"),
            Fault::Value(value) => write!(f, "`{part}` of `{message}` cannot be {value}"),
            Fault::NotUtf8 => write!(f, "`{part}` of `{message}` is not UTF-8"),
            Fault::TooLarge(limit) => {
                write!(f, "`{part}` of `{message}` is larger than the limit of {limit} bytes")
            }
            Fault::OutOfOrder { expected, got } => {
                write!(f, "`{message}` came with sequence number {got}, expected {expected}")
            }
        }
    }
}

impl std::error::Error for Malformed {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_names_the_message_and_the_part() {
        let fault = Malformed { message: "execute", part: "null bitmap", fault: Fault::Truncated };
        assert_eq!(fault.to_string(), "`null bitmap` of `execute` reaches past the packet's end");
    }
}
