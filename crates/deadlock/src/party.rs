//! Who can be part of a deadlock: a session with its transaction, and the connections it has.

use std::cmp::Reverse;
use std::sync::Arc;

/// A connection to a server, as the server counts it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spot {
    /// The server's name.
    pub server: Arc<str>,
    /// The connection's number there.
    pub id: u64,
}

/// In the place of a server: where BASE transactions hold rows. Their numbers are [`crate::number_of`].
pub const CLAIMS: &str = "claims";

impl Spot {
    /// A BASE transaction as others wait for its rows.
    pub(crate) fn of_claims(id: u64) -> Self {
        Self { server: CLAIMS.into(), id }
    }
}

/// A session during one wait. When it waits again it is another one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PartyId {
    /// The instance that serves it; empty for this one where there are no others.
    pub instance: Arc<str>,
    /// The session's number there.
    pub session: u32,
    /// Which of its waits.
    pub wait: u64,
}

/// What would be lost with a transaction; the least first. Every instance sees the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// Rows it has written.
    pub rows: u64,
    /// When it began, in microseconds of wall time: the youngest loses least.
    pub begun: Reverse<u64>,
}

/// How a session stands to a deadlock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stance {
    /// It waits and may be ended.
    Waits,
    /// It waits and must not be ended: it is about to commit.
    Stays,
    /// It does not wait, or is being ended: nobody waits for it for ever.
    Leaves,
}

/// A session with more than one connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Party {
    /// Which.
    pub id: PartyId,
    /// Its connections.
    pub spots: Vec<Spot>,
    /// What would be lost.
    pub cost: Cost,
    /// How it stands.
    pub stance: Stance,
    /// The global transactions whose rows it waits for, as [`CLAIMS`] numbers them.
    pub wanted: Vec<u64>,
    /// It waits for connections of a pool; `None` when it waits for none.
    pub queue: Option<Queue<Spot>>,
}

/// A wait for connections of a full pool, by one who has others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Queue<C> {
    /// The pool's connections, all in use.
    pub holders: Vec<C>,
    /// So many of them must be given back.
    pub wanted: usize,
    /// The session that is served just before it.
    pub behind: Option<u32>,
}

/// A connection waits until another one lets go of something.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// The server on which.
    pub server: Arc<str>,
    /// The connection that waits.
    pub waiter: u64,
    /// One of those it waits for.
    pub blocker: u64,
}

impl PartyId {
    /// The session, whichever of its waits it is.
    pub(crate) fn place(&self) -> (&str, u32) {
        (&self.instance, self.session)
    }
}

impl std::fmt::Display for PartyId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.instance.is_empty() {
            return write!(f, "session {}", self.session);
        }
        write!(f, "session {} of instance {}", self.session, self.instance)
    }
}
