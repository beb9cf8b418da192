//! What time it is for a session's transaction and the statement under way: one for all storage units.

use pando_kernel::Moments;

use crate::session::transaction::Work;

/// When the transaction and the statement under way began, in microseconds since 1970-01-01 UTC.
#[derive(Debug, Default)]
pub(in crate::session) struct Times {
    /// Of the transaction that was opened last.
    transaction: i64,
    /// `None` as long as nobody has asked.
    statement: Option<i64>,
    /// The statement under way runs as several.
    has_parts: bool,
}

impl Work {
    /// A client's statement begins.
    pub(in crate::session) fn statement_begins(&mut self) {
        self.times.statement = None;
        self.times.has_parts = false;
        self.environment = None;
    }

    /// A transaction begins.
    pub(in crate::session) fn transaction_begins(&mut self, now: i64) {
        self.times.transaction = now;
    }

    /// What follows up to the next statement of the client are parts of the one under way.
    pub(in crate::session) fn runs_in_parts(&mut self) {
        self.times.has_parts = true;
    }

    /// Whether what runs now is a part of the client's statement.
    pub(in crate::session) fn is_in_parts(&self) -> bool {
        self.times.has_parts
    }

    /// When the statement under way began, and its transaction: now, if nobody has asked before.
    pub(in crate::session) fn moments(&mut self, now: i64) -> Moments {
        let statement = *self.times.statement.get_or_insert(now);
        let transaction = if self.is_idle() { statement } else { self.times.transaction };
        Moments { transaction, statement }
    }
}
