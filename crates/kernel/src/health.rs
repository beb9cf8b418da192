//! How a storage unit is, as its server tells.

use std::fmt::{self, Debug};
use std::time::Duration;

use crate::error::ServerError;
use crate::position::Position;
use crate::value::Value;

/// How a family's servers are asked about themselves. Pure: what to ask next follows from the answers so far.
pub trait Health: Send + Sync + Debug {
    /// The next question, or what the answers (in the order asked) tell. A refused question must not be the end: what it would have told is left out
    /// and named in [`Vitals::untold`].
    fn next(&self, answers: &[Answer]) -> Step;
}

/// What a server said to a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Rows, each with one value per label. May be empty.
    Rows {
        /// The columns' labels.
        labels: Vec<String>,
        /// The rows.
        rows: Vec<Vec<Value>>,
    },
    /// It refused.
    Refused(ServerError),
}

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// This is asked, as text.
    Ask(String),
    /// All is told.
    Told(Box<Vitals>),
}

/// What a server tells of itself. What it did not tell is absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vitals {
    /// Its part in its cluster.
    pub role: Role,
    /// Names the cluster: all copies of one database have it, and no others.
    pub cluster: Option<String>,
    /// Names the server within its cluster. Two units with the same name are one server.
    pub node: Option<String>,
    /// The node it copies from.
    pub source: Option<String>,
    /// How far it has come.
    pub position: Option<Position>,
    /// By how much it says it is behind its source.
    pub lag: Option<Duration>,
    /// Whether it is copying.
    pub copying: Copying,
    /// It shows to have been a copy once: it was promoted, or has another server's transactions.
    pub was_copy: bool,
    /// Why it must not answer reads, whatever its lag.
    pub unfit: Option<String>,
    /// What it would not tell, and which right is missing.
    pub untold: Option<String>,
}

/// A server's part in its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// It takes writes, alone in its cluster.
    Primary,
    /// It takes writes, as others of its cluster do.
    Peer,
    /// It takes none.
    Standby,
    /// It doesn't tell, or what it tells doesn't decide.
    #[default]
    Unknown,
}

impl Role {
    /// As it is shown.
    pub fn text(self) -> &'static str {
        match self {
            Self::Primary => "PRIMARY",
            Self::Peer => "PEER",
            Self::Standby => "STANDBY",
            Self::Unknown => "UNKNOWN",
        }
    }
}

/// Whether a server is copying another one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Copying {
    /// It is not set up to, or doesn't tell.
    #[default]
    No,
    /// It is.
    Running,
    /// It should, but does not: the reason.
    Stopped(String),
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Primary => "primary",
            Self::Peer => "peer",
            Self::Standby => "standby",
            Self::Unknown => "unknown",
        })
    }
}
