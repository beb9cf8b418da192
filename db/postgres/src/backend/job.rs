//! What one execution is doing.

use std::sync::Arc;

use pando_kernel::{Native, ServerError};

use super::request::{Call, Question};
use super::statements::Returns;

/// An execution whose reply is awaited.
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) failed: Option<Box<ServerError>>,
    /// The server has passed over it, up to the Sync behind one before it that failed: no message of its own comes.
    pub(super) passed_over: bool,
    /// It has rows.
    pub(super) returns: bool,
    /// The server waits for copy data.
    pub(super) copying: bool,
    /// The copy is over, and the server may be ready once or twice before it has closed what `settle` asks it to.
    pub(super) settles: bool,
}

/// What is executed.
pub(super) enum Work {
    /// A statement as text.
    Text(Arc<str>),
    /// A statement of which only success counts. It `shares` the Sync of the next reply, or has one of its own.
    Aside { shares: bool },
    /// A prepared statement.
    Run(Run),
    /// A question for types.
    Describe(Subject, Vec<Native>),
    /// A simple query of our own, of which only success or failure counts.
    Silent,
    /// A Sync alone.
    Ping,
}

/// A prepared statement on its way.
pub(super) struct Run {
    pub(super) call: Call,
    /// Its number in the cache; `None` when it is unnamed.
    pub(super) id: Option<u64>,
    /// What it returns, when that is known from an earlier run: it was not prepared anew.
    pub(super) known: Option<Returns>,
    /// It was found prepared, so that the server may have changed its mind about it.
    pub(super) reused: bool,
    /// The server has begun to run it.
    pub(super) bound: bool,
}

/// A statement that is described.
pub(super) struct Subject {
    pub(super) question: Question,
    pub(super) id: Option<u64>,
    /// As for a run.
    pub(super) reused: bool,
}

/// What is sent once more.
pub(super) enum Again {
    Text(Arc<str>),
    Run(Call),
    Describe(Question),
}

impl Job {
    pub(super) fn new(work: Work) -> Job {
        Job {
            work,
            failed: None,
            passed_over: false,
            returns: false,
            copying: false,
            settles: false,
        }
    }

    /// Whether its messages end with a Sync instead of standing alone.
    pub(super) fn extended(&self) -> bool {
        match self.work {
            Work::Text(_) | Work::Run(_) | Work::Describe(..) | Work::Aside { .. } => true,
            Work::Silent | Work::Ping => false,
        }
    }

    /// Whether a Sync has been written for it, at which a server that passes messages over stops to do so. At a simple query it does not, and none follows one that shares its own.
    pub(super) fn syncs(&self) -> bool {
        match self.work {
            Work::Text(_) | Work::Run(_) | Work::Describe(..) | Work::Ping => true,
            Work::Aside { shares } => !shares,
            Work::Silent => false,
        }
    }

    /// Whether the server has told its error; its end is still to come.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Whether rows and warnings are of no interest.
    pub(super) fn silent(&self) -> bool {
        matches!(self.work, Work::Silent | Work::Ping | Work::Aside { .. })
    }

    pub(super) fn shares(&self) -> bool {
        matches!(self.work, Work::Aside { shares: true })
    }
}

impl Work {
    /// The statement that is told of in its errors.
    pub(super) fn sql(&self) -> Option<Arc<str>> {
        match self {
            Work::Text(sql)
            | Work::Run(Run { call: Call { sql, .. }, .. })
            | Work::Describe(Subject { question: Question { sql, .. }, .. }, _) => {
                Some(Arc::clone(sql))
            }
            Work::Aside { .. } | Work::Silent | Work::Ping => None,
        }
    }

    /// What of a statement that was found prepared can be sent anew, and its number in the cache.
    pub(super) fn once_more(self) -> Option<(u64, Again)> {
        match self {
            Work::Run(Run { call, id: Some(id), reused: true, .. }) => Some((id, Again::Run(call))),
            Work::Describe(Subject { question, id: Some(id), reused: true }, _) => {
                Some((id, Again::Describe(question)))
            }
            Work::Run(_)
            | Work::Describe(..)
            | Work::Text(_)
            | Work::Aside { .. }
            | Work::Silent
            | Work::Ping => None,
        }
    }
}

impl Again {
    pub(super) fn sql(&self) -> &str {
        match self {
            Again::Run(call) => &call.sql,
            Again::Describe(Question { sql, .. }) | Again::Text(sql) => sql,
        }
    }
}
