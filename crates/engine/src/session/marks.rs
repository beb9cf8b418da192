//! What is set in a transaction and taken back with it, where the language says so: PostgreSQL's SET, by ROLLBACK TO.

use pando_kernel::error::Result;
use pando_kernel::request::CursorId;

use crate::variables::{UNKNOWN, Variables};

use super::Session;

/// What was set when a savepoint was made.
#[derive(Debug)]
pub(super) struct Mark {
    name: String,
    variables: Variables,
    /// The texts of SET LOCAL until then.
    locals: usize,
    settings: u64,
    /// Cursors that were open already: only those opened behind it end with a return to it.
    cursors: Vec<CursorId>,
}

impl Session {
    pub(super) fn mark(&mut self, name: &str) {
        if self.dialect().is_some_and(|dialect| dialect.error_fails_transaction()) {
            self.marks.push(Mark {
                name: name.to_owned(),
                variables: self.variables.clone(),
                locals: self.local_settings.len(),
                settings: self.settings,
                cursors: self.cursors.keys().copied().collect(),
            });
        }
    }

    /// A unit has joined, and is told behind all savepoints what was set before them: at the return to one of them it
    /// has to be told again.
    pub(super) fn told_behind_marks(&mut self) {
        if !self.local_settings.is_empty() {
            self.marks.iter_mut().for_each(|mark| mark.settings = u64::MAX);
        }
    }

    pub(super) fn unmark(&mut self, name: &str) {
        if let Some(at) = self.marks.iter().rposition(|mark| mark.name == name) {
            let locals = self.marks.get(at).map_or(0, |mark| mark.locals);
            self.marks.truncate(at);
            self.forget_read_only(locals);
        }
    }

    /// Closes the cursors that were opened behind a savepoint, where the language says so.
    pub(super) async fn close_cursors_behind(&mut self, name: &str) {
        let Some(mark) = self.marks.iter().rfind(|mark| mark.name == name) else { return };
        let newer = self.cursors.keys().filter(|id| !mark.cursors.contains(id));
        let newer: Vec<CursorId> = newer.copied().collect();
        for id in newer {
            self.close_cursor(id).await;
        }
    }

    /// The units have returned to a savepoint. One that joined the transaction after it has been told what was set until then when it joined: all are
    /// told anew what held at the savepoint.
    pub(super) async fn return_to_mark(&mut self, name: &str) -> Result<()> {
        let Some(at) = self.marks.iter().rposition(|mark| mark.name == name) else {
            return Ok(());
        };
        self.marks.truncate(at + 1);
        let Some(mark) = self.marks.last_mut() else { return Ok(()) };
        if mark.settings == self.settings {
            return Ok(());
        }
        // What they are told now goes when they return to the same savepoint again.
        mark.settings = u64::MAX;
        self.variables = mark.variables.clone();
        self.local_settings.truncate(mark.locals);
        let Some(dialect) = self.dialect() else { return Ok(()) };
        let mut text = "RESET ALL; RESET ROLE".to_owned();
        if self.variables.id() != 0 {
            text.push_str("; ");
            text.push_str(&dialect.set_statement(self.variables.list()));
        }
        for local in &self.local_settings {
            text.push_str("; ");
            text.push_str(local);
        }
        self.transaction.connections().for_each(|one| one.set_session_state(UNKNOWN));
        self.transaction.run_everywhere(&text).await
    }
}
