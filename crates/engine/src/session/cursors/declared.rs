//! Cursors that statements have declared, and what becomes of them when their transaction ends.

use std::sync::Arc;
use std::time::SystemTime;

use pando_kernel::Columns;
use pando_kernel::dialect::OwnCursor;
use pando_kernel::error::Result;
use pando_kernel::request::CursorId;
use pando_sql::Span;
use pando_sql::ast::{Define, DefineAction, ObjectKind, ObjectName, Scroll};

use crate::session::cursors::Cursors;
use crate::session::cursors::rows::Given;
use crate::session::errors::server_error;

/// A cursor under the name that it was declared with.
#[derive(Debug, Clone)]
pub(in crate::session) struct Declared {
    pub(super) id: CursorId,
    columns: Option<Columns>,
    pub(super) hold: Hold,
    given: Given,
    /// The DECLARE, and when it came.
    text: Arc<str>,
    made: SystemTime,
    reads: Reads,
}

/// What the query of a cursor is like.
#[derive(Debug, Clone)]
pub(in crate::session) struct Reads {
    /// The tables that it reads, by their keys.
    pub(in crate::session) tables: Vec<String>,
    /// Whether the cursor goes back.
    pub(in crate::session) scroll: Scroll,
    /// Where it stands in the DECLARE.
    pub(in crate::session) body: Span,
}

/// What DECLARE says of a cursor.
#[derive(Debug)]
pub(in crate::session) struct Declaration {
    pub(in crate::session) id: CursorId,
    pub(in crate::session) name: String,
    pub(in crate::session) hold: Hold,
    /// The whole statement.
    pub(in crate::session) text: Arc<str>,
    /// No transaction was open.
    pub(in crate::session) is_alone: bool,
    /// What its query is like.
    pub(in crate::session) reads: Reads,
}

/// Whether a cursor outlives its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Hold {
    /// It does not.
    Without,
    /// It is WITH HOLD, and its transaction is still open.
    FromCommit,
    /// Its transaction is over; all that it has to give is in memory.
    Held,
}

impl Declared {
    /// One that has given no row yet, declared now.
    pub(in crate::session) fn new(
        id: CursorId,
        columns: Option<Columns>,
        hold: Hold,
        text: Arc<str>,
        reads: Reads,
    ) -> Self {
        let given = Given::new(reads.scroll);
        Self { id, columns, hold, given, text, made: SystemTime::now(), reads }
    }

    pub(in crate::session) fn id(&self) -> CursorId {
        self.id
    }

    pub(in crate::session) fn columns(&self) -> Option<Columns> {
        self.columns.clone()
    }

    /// The query, as it is written.
    pub(in crate::session) fn query(&self) -> &str {
        self.reads.body.of(&self.text)
    }

    pub(in crate::session) fn hold(&self) -> Hold {
        self.hold
    }

    /// The rows that it has given.
    pub(in crate::session) fn given(&self) -> &Given {
        &self.given
    }

    pub(in crate::session) fn given_mut(&mut self) -> &mut Given {
        &mut self.given
    }
}

impl Cursors {
    pub(in crate::session) fn declare(&mut self, name: &str, declared: Declared) {
        self.declared.insert(name.to_owned(), declared);
    }

    pub(in crate::session) fn declared(&self, name: &str) -> Option<&Declared> {
        self.declared.get(name)
    }

    pub(in crate::session) fn has_declared(&self, name: &str) -> bool {
        self.declared.contains_key(name)
    }

    pub(in crate::session) fn count_declared(&self) -> usize {
        self.declared.len()
    }

    /// Its name may be given to another.
    pub(in crate::session) fn forget_declared(&mut self, name: &str) -> Option<Declared> {
        self.declared.remove(name)
    }

    pub(in crate::session) fn declared_mut(&mut self, name: &str) -> Option<&mut Declared> {
        self.declared.get_mut(name)
    }

    /// What cursors keep of the rows that they have given, because they were declared to, in bytes.
    pub(in crate::session) fn given_bytes(&self) -> usize {
        self.declared.values().map(|one| one.given.owed_bytes()).sum()
    }

    /// Refuses a definition of what a cursor reads, as one server does: what is left to read would be another table's,
    /// or none's. Those that are held have read all.
    /// <https://www.postgresql.org/docs/current/errcodes-appendix.html>
    pub(in crate::session) fn refuse_in_use(&self, define: &Define) -> Result<()> {
        let verb = match (define.action, define.object) {
            (DefineAction::Drop, ObjectKind::Table) => "DROP TABLE",
            (DefineAction::Truncate, ObjectKind::Table) => "TRUNCATE",
            (DefineAction::Alter, ObjectKind::Table) => "ALTER TABLE",
            _ => return Ok(()),
        };
        let read = self.declared.values().filter(|one| one.hold != Hold::Held);
        let read: Vec<&String> = read.flat_map(|one| &one.reads.tables).collect();
        match define.names.iter().map(ObjectName::key).find(|name| read.contains(&name)) {
            None => Ok(()),
            Some(name) => Err(server_error(
                0,
                "55006",
                &format!(
                    "cannot {verb} \"{name}\" because it is being used by active queries in this session"
                ),
            )),
        }
    }

    /// The cursors there are, as a session is shown its own.
    pub(in crate::session) fn own_cursors(&self) -> Vec<OwnCursor> {
        let own = |(name, one): (&String, &Declared)| OwnCursor {
            name: name.clone(),
            text: Arc::clone(&one.text),
            holds: one.hold != Hold::Without,
            made: one.made,
        };
        let mut all: Vec<OwnCursor> = self.declared.iter().map(own).collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }

    /// The columns of a cursor made by DECLARE. One that is not there has none: what is wrong with that, the FETCH says
    /// when it runs.
    pub(in crate::session) fn sql_cursor_columns(&self, name: &str) -> Option<Columns> {
        self.declared.get(name)?.columns.clone()
    }
}
