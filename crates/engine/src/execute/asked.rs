//! What a connection is asked between two statements of a channel: what the first was warned of, which its server
//! forgets with the next.

use pando_kernel::event::Event;
use pando_kernel::{Columns, Rows};

/// Replies that are kept; servers keep 64 warnings, and nobody is shown more.
const KEPT: usize = 64;

/// The question, and what was answered so far.
#[derive(Debug)]
pub(crate) struct Asked {
    question: &'static str,
    /// The statement under way has ended with warnings.
    is_due: bool,
    /// The reply under way is an answer.
    is_answered: bool,
    columns: Option<Columns>,
    /// In the order of the statements.
    rows: Vec<(Columns, Rows)>,
}

impl Asked {
    pub(crate) fn new(question: &'static str) -> Self {
        Self { question, is_due: false, is_answered: false, columns: None, rows: Vec::new() }
    }

    /// Whether the reply under way answers a question, and is not the statement's.
    pub(crate) fn is_answered(&self) -> bool {
        self.is_answered
    }

    /// Sees a piece of the statement's reply.
    pub(crate) fn sees(&mut self, event: &Event) {
        if let Event::Complete(done) = event {
            self.is_due |= done.warnings > 0;
        }
    }

    /// What is to be asked behind the statement that has ended.
    pub(crate) fn take_due(&mut self) -> Option<&'static str> {
        let is_due = std::mem::take(&mut self.is_due);
        self.is_answered = is_due;
        is_due.then_some(self.question)
    }

    /// Takes a piece of an answer.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only rows matter")]
    pub(crate) fn takes(&mut self, event: Event) {
        match event {
            Event::Columns(columns) => self.columns = Some(columns),
            Event::Rows(rows) if self.rows.len() < KEPT => {
                self.rows.extend(self.columns.clone().map(|columns| (columns, rows)));
            }
            Event::Done => self.ends(),
            _ => {}
        }
    }

    /// The answer is at its end.
    pub(crate) fn ends(&mut self) {
        self.is_answered = false;
    }

    /// Rows with their columns, as they were answered.
    pub(crate) fn take_rows(&mut self) -> Vec<(Columns, Rows)> {
        std::mem::take(&mut self.rows)
    }
}
