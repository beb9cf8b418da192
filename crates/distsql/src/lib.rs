//! DistSQL: text to command, from one grammar table. No I/O, no engine; whoever runs a command is elsewhere.

mod belongs;
mod build;
pub mod command;
mod ebnf;
mod entry;
mod error;
pub mod help;
mod language;
mod like;
mod matcher;
mod own;
mod parse;
mod print;
#[cfg(test)]
mod sentences;
mod source;
mod tables;
mod tree;

pub use command::Command;
pub use entry::{Age, Category, Entry, Fragment};
pub use error::{Error, ErrorKind};
pub use language::Language;
pub use like::{MOST_PATTERN, Pattern};
pub use parse::{Statement, parse};
pub use source::{MOST_BYTES, MOST_TOKENS};
pub use tables::{FRAGMENTS, entries};

/// So that the README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
