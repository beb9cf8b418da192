//! What is set in a transaction and taken back with it, where the language says so: PostgreSQL's SET, by ROLLBACK TO.

use pando_kernel::error::Result;
use pando_kernel::request::CursorId;

use crate::variables::{UNKNOWN, Variables};

use crate::session::Session;
use crate::session::cursors::portals;
use crate::session::settings::Settings;

/// How units are told that a transaction reads only from here on, up to the return to a savepoint in front of it or its
/// release.
pub(in crate::session) const BECOMES_READ_ONLY: &str = "SET TRANSACTION READ ONLY";

/// What was set when a savepoint was made.
#[derive(Debug)]
pub(in crate::session) struct Mark {
    name: String,
    variables: Variables,
    /// The texts of SET LOCAL until then.
    locals: usize,
    settings: u64,
    /// Cursors that were open already: only those opened behind it end with a return to it.
    cursors: Vec<CursorId>,
}

impl Settings {
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

pub(in crate::session) fn mark(session: &mut Session, name: &str) {
    if session.place.dialect().is_some_and(|dialect| dialect.error_fails_transaction()) {
        session.settings.savepoints.push(Mark {
            name: name.to_owned(),
            variables: session.settings.variables.clone(),
            locals: session.settings.local.len(),
            settings: session.settings.count,
            cursors: session.cursors.ids().collect(),
        });
    }
}

/// Closes the cursors that were opened behind a savepoint, where the language says so.
pub(in crate::session) async fn close_cursors_behind(session: &mut Session, name: &str) {
    let Some(mark) = session.settings.savepoints.iter().rfind(|mark| mark.name == name) else {
        return;
    };
    let newer = session.cursors.ids().filter(|id| !mark.cursors.contains(id));
    let newer: Vec<CursorId> = newer.collect();
    for id in newer {
        portals::close_cursor(session, id).await;
    }
}

/// The units have returned to a savepoint. One that joined the transaction after it has been told what was set until
/// then when it joined: all are told anew what held at the savepoint.
pub(in crate::session) async fn return_to_mark(session: &mut Session, name: &str) -> Result<()> {
    let Some(at) = session.settings.savepoints.iter().rposition(|mark| mark.name == name) else {
        return Ok(());
    };
    session.settings.savepoints.truncate(at + 1);
    let Some(mark) = session.settings.savepoints.last_mut() else { return Ok(()) };
    if mark.settings == session.settings.count {
        return Ok(());
    }
    // What they are told now goes when they return to the same savepoint again.
    mark.settings = u64::MAX;
    session.settings.variables = mark.variables.clone();
    session.settings.local.truncate(mark.locals);
    let Some(dialect) = session.place.dialect() else { return Ok(()) };
    let mut text = "RESET ALL; RESET ROLE".to_owned();
    if session.settings.variables.id() != 0 {
        text.push_str("; ");
        text.push_str(&dialect.set_statement(session.settings.variables.list()));
    }
    for local in &session.settings.local {
        text.push_str("; ");
        text.push_str(local);
    }
    session.work.transaction_mut().connections().for_each(|one| one.set_session_state(UNKNOWN));
    session.work.transaction_mut().run_everywhere(&text).await
}
