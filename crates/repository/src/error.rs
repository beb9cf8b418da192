//! Why a call did not do what was asked.

use std::fmt;

use crate::Key;

/// The outcome of a repository's calls.
pub type Result<T> = std::result::Result<T, Error>;

/// What the caller must know to go on. Messages are lower case, without a full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// This key was not as the change expected. Nothing was changed.
    Conflict(Key),
    /// The store did not answer in time or is closed. Nothing was changed; it may work later.
    Unavailable(String),
    /// The store will not do this however often it is asked: too large, not permitted, not a key.
    Refused(String),
    /// The connection broke, or time ran out, after the change was sent: it may have been made.
    Unknown(String),
    /// What the store holds can't be trusted, and a person must look at it. Says the file and where in it.
    Damaged(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict(key) => write!(f, "`{key}` has been changed by someone else"),
            Self::Unavailable(why) => write!(f, "the repository is unavailable: {why}"),
            Self::Refused(why) => write!(f, "the repository refuses: {why}"),
            Self::Unknown(why) => write!(f, "the change may or may not have been made: {why}"),
            Self::Damaged(why) => write!(f, "the repository is damaged: {why}"),
        }
    }
}

impl std::error::Error for Error {}

/// The repository has been closed or dropped; there is nothing more to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the repository is closed")
    }
}

impl std::error::Error for Closed {}
