//! What a session's statement holds of limits, and its end when it runs too long.

use std::sync::Arc;
use std::time::Instant;

use pando_kernel::feature::{Deadline, Permits};
use pando_kernel::runtime::SharedRuntime;

use crate::handle::Handle;

/// Why others have ended what a session is at.
#[derive(Debug, Clone)]
pub(crate) enum Doom {
    /// To break a deadlock, told here.
    Deadlock(Arc<str>),
    /// It ran for longer than a limit lets it, as told here.
    Overran(Arc<str>),
}

impl Handle {
    /// Notes what the statement that begins holds; returns what the one before has held.
    pub(crate) fn holds(&self, permits: Permits) -> Permits {
        std::mem::replace(&mut self.doing().permits, permits)
    }

    /// Whether what it is at is to end at some time.
    pub(crate) fn has_deadline(&self) -> bool {
        self.doing().permits.deadline().is_some()
    }

    /// Cancels what it is at if that should have ended by now.
    pub(crate) fn end_overdue(self: &Arc<Self>, runtime: &SharedRuntime, now: Instant) {
        let mut counted = None;
        self.cancel_if(runtime, |doing| {
            let due = doing.permits.deadline().filter(|deadline| deadline.at <= now);
            let Some(Deadline { told, by, .. }) = due.cloned() else { return false };
            doing.doom = Some(Doom::Overran(told));
            counted = Some(by);
            true
        });
        if let Some(by) = counted {
            by.overran();
        }
    }
}
