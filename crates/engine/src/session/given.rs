//! What comes with a statement besides its text.

use std::sync::Arc;

use pando_kernel::request::CursorId;
use pando_kernel::{Format, Parameter};

use crate::plan;
use crate::plan::{Lifted, Plan, Unit};

/// At most so many rows, then the rest waits in a cursor.
#[derive(Debug, Clone, Copy)]
pub(in crate::session) struct Window {
    pub(in crate::session) left: u64,
    pub(in crate::session) cursor: Option<CursorId>,
}

/// Parameters, and the form of the answer.
#[derive(Debug, Clone, Default)]
pub(in crate::session) struct Given {
    pub(in crate::session) parameters: Vec<Parameter>,
    pub(in crate::session) formats: Vec<Format>,
    pub(in crate::session) declared: Arc<[u32]>,
    /// The era of the definitions that it was planned by; 0 before that.
    pub(in crate::session) era: u64,
    /// It came as a prepared statement: run it as one.
    pub(in crate::session) prepared: bool,
    /// It came as text, and storage units may run it so: one for each of the plan's units, or none.
    pub(in crate::session) lifted: Vec<Lifted>,
    /// The text for the plan's one unit, where the plan was made for another statement of its shape.
    pub(in crate::session) text: Option<Arc<str>>,
}

impl Given {
    /// The plan with the statement's own text, for whom that is more than something to send.
    pub(in crate::session) fn written(&self, plan: &Arc<Plan>) -> Arc<Plan> {
        match &self.text {
            Some(text) => plan::with_text(plan, Arc::clone(text)),
            None => Arc::clone(plan),
        }
    }

    /// What a unit of the plan is sent.
    pub(in crate::session) fn text_for(&self, unit: &Unit) -> Arc<str> {
        Arc::clone(self.text.as_ref().unwrap_or(&unit.sql))
    }
}
