//! What a server is told for one statement alone.

use std::fmt::Debug;

/// A session variable of a server's that is set for a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aside {
    /// The variable, in lower case: a session that has set it keeps its own.
    pub variable: &'static str,
    /// The statement that sets it.
    pub sets: &'static str,
    /// The statement that takes it back.
    pub takes_back: &'static str,
}

/// What servers of a family are told for statements of Pando's own making.
pub trait Asides: Send + Sync + Debug {
    /// What a server is told before a question about its catalogue that is answered as one of all units, and what takes it back; `None` where that is
    /// nothing.
    fn aside(&self) -> Option<Aside> {
        None
    }
}
