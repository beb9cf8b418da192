//! The connections of a transaction, and telling them what to do.

use std::sync::Arc;

use pando_kernel::Execution;
use pando_kernel::dialect::{Dialect, TransactionVerb};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Completion;
use pando_kernel::route::UnitName;
use pando_kernel::two_phase::{Branch, Part, TwoPhase};
use pando_pool::Connection;

use crate::aside::no_two_phase;
use crate::errors::aborted;
use crate::reply::{drain, finish_each};
use crate::xa::GlobalId;

/// Rows of an abandoned reply that are read away before the connection is given up, in bytes.
pub(crate) const DRAIN_BYTES: usize = 64 << 20;

/// What a branch does for the decision of its XA transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    /// Its own commit is the decision.
    Decides,
    /// It is prepared, and ends as is decided.
    Follows,
}

/// A connection enlisted in a transaction.
#[derive(Debug)]
pub(crate) struct Held {
    /// Its storage unit.
    pub(crate) unit: UnitName,
    /// `None` while a statement uses it.
    pub(crate) connection: Option<Connection>,
    /// The language of its unit.
    pub(crate) dialect: Arc<dyn Dialect>,
    /// A statement may have changed something there.
    pub(crate) wrote: bool,
    /// The name of its part in an XA transaction; `None` where there is nothing to commit.
    pub(crate) part: Option<String>,
    /// Its own commit is the decision of an XA transaction: it is never prepared, and so an ordinary transaction of its server.
    pub(crate) decides: bool,
    /// The savepoints from this one on were set behind all of its changes.
    pub(crate) unchanged: usize,
    /// Its branch is being ended: a connection that is dropped in the midst of that may own a prepared one, and serves nobody else.
    pub(crate) ends: bool,
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.ends {
            self.discard();
        }
    }
}

impl Held {
    pub(crate) fn new(unit: UnitName, dialect: Arc<dyn Dialect>) -> Self {
        Self {
            unit,
            connection: None,
            dialect,
            wrote: false,
            part: None,
            decides: false,
            unchanged: 0,
            ends: false,
        }
    }

    /// Makes it a branch of an XA transaction.
    ///
    /// # Errors
    /// `Refused` where the family has no two-phase commit.
    pub(crate) fn join(&mut self, part: Part, share: Share) -> Result<()> {
        if self.dialect.two_phase().is_none() {
            return Err(no_two_phase(self.dialect.family()));
        }
        self.part = Some(part.to_string());
        self.decides = share == Share::Decides;
        Ok(())
    }

    /// What opens its branch.
    pub(crate) fn opening(&self, id: &GlobalId, modes: &[String]) -> Vec<String> {
        match self.branch(id) {
            Some((family, branch)) if !self.decides => family.begin(&branch, modes),
            Some(_) | None => self.opening_alone(modes),
        }
    }

    /// What opens a transaction of its own.
    pub(crate) fn opening_alone(&self, modes: &[String]) -> Vec<String> {
        let verbs = [TransactionVerb::BeforeBegin(modes), TransactionVerb::Begin(modes)];
        verbs.iter().filter_map(|verb| self.dialect.transaction(verb)).collect()
    }

    /// Its part in an XA transaction.
    pub(crate) fn branch<'a>(&'a self, id: &'a GlobalId) -> Option<(&'a dyn TwoPhase, Branch<'a>)> {
        let part = self.part.as_deref()?;
        Some((self.dialect.two_phase()?, Branch { global: id.as_str(), part }))
    }

    /// Closes its connection: nobody knows how it stands.
    pub(crate) fn discard(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.discard();
        }
    }
}

/// Runs texts on connections, those of each in order and all connections at once. For each what its first failing text, else its last one, came to;
/// `None` where there was nothing to say.
pub(crate) async fn tell(
    held: &mut [Held],
    texts: Vec<Vec<String>>,
) -> Vec<Option<Result<Completion>>> {
    let mut results: Vec<Option<Result<Completion>>> = held.iter().map(|_| None).collect();
    let mut started: Vec<(usize, usize, &mut Connection)> = Vec::new();
    for (at, (one, texts)) in held.iter_mut().zip(&texts).enumerate() {
        if texts.is_empty() {
            continue;
        }
        let Some(connection) = one.connection.as_mut() else {
            results[at] = Some(Err(gone(&one.unit)));
            continue;
        };
        let mut ready = drain(connection, DRAIN_BYTES).await;
        let mut count = 0;
        for text in texts {
            ready = ready.and_then(|()| connection.start(Execution::Text(text.as_str().into())));
            count += usize::from(ready.is_ok());
        }
        if let Err(error) = ready {
            results[at] = Some(Err(error));
        }
        started.push((at, count, connection));
    }
    let mut connections: Vec<(usize, &mut Connection)> =
        started.iter_mut().map(|(_, left, connection)| (*left, &mut **connection)).collect();
    let ended = finish_each(&mut connections).await;
    for ((at, _, _), ended) in started.iter().zip(ended) {
        if let (Some(ended), false) = (ended, matches!(results[*at], Some(Err(_)))) {
            results[*at] = Some(ended);
        }
    }
    results
}

/// What came of a COMMIT on a unit: PostgreSQL answers that it has rolled back what has failed, without an error.
/// <https://www.postgresql.org/docs/current/sql-commit.html>
pub(crate) fn committed(unit: &str, told: Result<Completion>) -> Result<Completion> {
    match told {
        Ok(done) if done.tag == "ROLLBACK" => {
            Err(aborted(&format!("its part on storage unit `{unit}` has failed")))
        }
        told => told,
    }
}

fn gone(unit: &str) -> Error {
    ErrorKind::Unavailable { unit: unit.to_owned(), message: "its connection is gone".into() }
        .into()
}
