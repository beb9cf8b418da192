//! What waits to be run on a mirror.

use std::sync::Arc;

use bytes::Bytes;
use pando_kernel::backend::Execution;
use pando_kernel::{Dialect, Parameter};

use super::answer::{Answer, Order};

/// Bytes that a statement takes besides its text and values.
const OVERHEAD: usize = 256;

/// A transaction, or a statement outside of one.
#[derive(Debug)]
pub(super) struct Item {
    /// In the order in which they ended; never empty.
    pub(super) statements: Vec<Copied>,
    pub(super) manner: Arc<Manner>,
    /// They run as one transaction.
    pub(super) is_transaction: bool,
    /// It was committed; rolled back else.
    pub(super) is_committed: bool,
}

/// What a connection of the mirror is brought to before a transaction runs there.
#[derive(Debug)]
pub(crate) struct Manner {
    /// The session's variables: their number, and the text that sets them where there are any.
    pub(crate) dress: (u64, Option<Arc<str>>),
    /// What begins a transaction.
    pub(crate) begin: Vec<String>,
    pub(crate) dialect: Arc<dyn Dialect>,
}

/// A statement, and what its source has answered.
#[derive(Debug, Clone)]
pub(super) struct Copied {
    pub(super) execution: Execution,
    pub(super) answer: Answer,
    pub(super) order: Order,
    pub(super) writes: bool,
}

impl Item {
    /// Memory that it takes, about.
    pub(super) fn bytes(&self) -> usize {
        self.statements.iter().map(Copied::bytes).sum()
    }
}

impl Copied {
    /// Memory that it takes, about.
    pub(super) fn bytes(&self) -> usize {
        OVERHEAD + bytes(&self.execution)
    }

    /// Its text.
    pub(super) fn text(&self) -> &str {
        match &self.execution {
            Execution::Text(text) | Execution::Aside(text) | Execution::Lifted { text, .. } => text,
            Execution::Prepared { sql, .. } | Execution::Describe { sql, .. } => sql,
            Execution::Reset | Execution::Scrub | Execution::Ping => "",
        }
    }
}

fn bytes(execution: &Execution) -> usize {
    let values = |parameters: &[Parameter]| -> usize {
        let value = |one: &Parameter| one.raw.as_ref().map_or(0, Bytes::len);
        parameters.iter().map(|one| size_of::<Parameter>() + 2 * value(one)).sum()
    };
    match execution {
        Execution::Text(text) | Execution::Aside(text) => text.len(),
        Execution::Lifted { text, sql, parameters, .. } => {
            text.len() + sql.len() + values(parameters)
        }
        Execution::Prepared { sql, parameters, .. } => sql.len() + values(parameters),
        Execution::Describe { sql, .. } => sql.len(),
        Execution::Reset | Execution::Scrub | Execution::Ping => 0,
    }
}

/// An execution as it may be kept for long: its values stand in memory of their own, not in what a client has sent.
pub(super) fn to_keep(execution: &Execution) -> Execution {
    let mut kept = execution.clone();
    if let Execution::Prepared { parameters, .. } | Execution::Lifted { parameters, .. } = &mut kept
    {
        for parameter in parameters {
            parameter.raw = parameter.raw.as_deref().map(Bytes::copy_from_slice);
        }
    }
    kept
}
