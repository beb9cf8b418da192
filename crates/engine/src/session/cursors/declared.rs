//! Cursors that statements have declared, and what becomes of them when their transaction ends.

use std::sync::Arc;
use std::time::SystemTime;

use pando_kernel::Columns;
use pando_kernel::dialect::OwnCursor;
use pando_kernel::error::Result;
use pando_kernel::request::CursorId;
use pando_sql::ast::{Define, DefineAction, ObjectKind, ObjectName};

use crate::session::cursors::Cursors;
use crate::session::errors::server_error;

/// A cursor under the name that it was declared with.
#[derive(Debug, Clone)]
pub(in crate::session) struct Declared {
    pub(super) id: CursorId,
    columns: Option<Columns>,
    pub(super) hold: Hold,
    /// It stands on a row, or behind the last.
    begun: bool,
    /// The DECLARE, and when it came.
    text: Arc<str>,
    made: SystemTime,
    /// The tables that it reads, by their keys.
    tables: Vec<String>,
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
    /// The tables that its query reads, by their keys.
    pub(in crate::session) tables: Vec<String>,
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
        tables: Vec<String>,
    ) -> Self {
        Self { id, columns, hold, begun: false, text, made: SystemTime::now(), tables }
    }

    pub(in crate::session) fn id(&self) -> CursorId {
        self.id
    }

    pub(in crate::session) fn columns(&self) -> Option<Columns> {
        self.columns.clone()
    }

    /// Whether it stands on a row, or behind the last.
    pub(in crate::session) fn has_begun(&self) -> bool {
        self.begun
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

    /// Rows of it are asked for.
    pub(in crate::session) fn begin_declared(&mut self, name: &str) {
        if let Some(declared) = self.declared.get_mut(name) {
            declared.begun = true;
        }
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
        let read: Vec<&String> = read.flat_map(|one| &one.tables).collect();
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
