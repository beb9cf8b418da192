//! What is set in a transaction and taken back with it, where the language says so: PostgreSQL's SET, by ROLLBACK TO.

use pando_kernel::Dialect;
use pando_kernel::request::CursorId;

use crate::variables::Variables;

use crate::session::settings::Settings;
use crate::session::settings::shown::Shown;

/// How units are told that a transaction reads only from here on, up to the return to a savepoint in front of it or its
/// release.
pub(in crate::session) const BECOMES_READ_ONLY: &str = "SET TRANSACTION READ ONLY";

/// What was set when a savepoint was made.
#[derive(Debug)]
pub(in crate::session) struct Mark {
    name: String,
    variables: Variables,
    shown: Shown,
    /// The texts of SET LOCAL until then.
    locals: usize,
    settings: u64,
    /// Cursors that were open already: only those opened behind it end with a return to it.
    cursors: Vec<CursorId>,
}

impl Settings {
    /// A savepoint is made, with these cursors open.
    pub(in crate::session) fn mark(&mut self, name: &str, cursors: Vec<CursorId>) {
        self.savepoints.push(Mark {
            name: name.to_owned(),
            variables: self.variables.clone(),
            shown: self.shown.clone(),
            locals: self.local.len(),
            settings: self.count,
            cursors,
        });
    }

    /// How many savepoints the transaction has.
    pub(in crate::session) fn depth(&self) -> usize {
        self.savepoints.len()
    }

    /// How many it has in front of one.
    pub(in crate::session) fn depth_of(&self, name: &str) -> Option<usize> {
        self.savepoints.iter().rposition(|mark| mark.name == name)
    }

    /// The cursors that were open when a savepoint was made.
    pub(in crate::session) fn open_at_mark(&self, name: &str) -> Option<&[CursorId]> {
        let mark = self.savepoints.iter().rfind(|mark| mark.name == name);
        mark.map(|mark| &mark.cursors[..])
    }

    /// The units have returned to a savepoint. One that joined the transaction after it has been told what was set
    /// until then when it joined: gives what tells all of them anew what held at the savepoint, where that is needed.
    pub(in crate::session) fn return_to_mark(
        &mut self,
        name: &str,
        dialect: &dyn Dialect,
    ) -> Option<String> {
        let at = self.savepoints.iter().rposition(|mark| mark.name == name)?;
        self.savepoints.truncate(at + 1);
        let mark = self.savepoints.last_mut()?;
        if mark.settings == self.count {
            return None;
        }
        // What they are told now goes when they return to the same savepoint again.
        mark.settings = u64::MAX;
        self.variables = mark.variables.clone();
        self.shown.returns_to(&mark.shown);
        let locals = mark.locals;
        self.local.truncate(locals);
        self.keep_local_roles(locals);
        let mut text = "RESET ALL; RESET SESSION AUTHORIZATION; RESET ROLE".to_owned();
        if self.variables.id() != 0 {
            text.push_str("; ");
            text.push_str(&dialect.set_statement(self.variables.list()));
        }
        for local in &self.local {
            text.push_str("; ");
            text.push_str(local);
        }
        Some(text)
    }

    /// A transaction has failed: the client is shown what was set in front of the savepoint that it may return to.
    pub(in crate::session) fn shows_what_stays(&mut self) {
        match self.savepoints.last() {
            Some(mark) => self.shown.returns_to(&mark.shown),
            None => self.shown.is_rolled_back(),
        }
    }

    /// A unit has joined, and is told behind all savepoints what was set before them: at the return to one of them it
    /// has to be told again.
    pub(in crate::session) fn told_behind_marks(&mut self) {
        if !self.local.is_empty() {
            self.savepoints.iter_mut().for_each(|mark| mark.settings = u64::MAX);
        }
    }

    pub(in crate::session) fn unmark(&mut self, name: &str) {
        if let Some(at) = self.savepoints.iter().rposition(|mark| mark.name == name) {
            let locals = self.savepoints.get(at).map_or(0, |mark| mark.locals);
            self.savepoints.truncate(at);
            self.forget_read_only(locals);
        }
    }

    /// A savepoint is released: what was set behind it stays, but for this.
    fn forget_read_only(&mut self, behind: usize) {
        let mut place = 0;
        self.local.retain(|text| {
            place += 1;
            place <= behind || text != BECOMES_READ_ONLY
        });
    }

    /// Whether the open transaction was told in its midst that it only reads.
    pub(in crate::session) fn is_told_read_only(&self) -> bool {
        self.local.iter().any(|text| text == BECOMES_READ_ONLY)
    }
}
