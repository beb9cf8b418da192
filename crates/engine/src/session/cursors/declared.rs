//! Cursors that statements have declared, and what becomes of them when their transaction ends.

use std::sync::Arc;
use std::time::SystemTime;

use pando_kernel::Columns;
use pando_kernel::dialect::OwnCursor;
use pando_kernel::error::Result;
use pando_kernel::request::CursorId;
use pando_kernel::session::TransactionState;
use pando_sql::ast::{Define, DefineAction, ObjectKind, ObjectName};

use crate::session::Session;
use crate::session::cursors::{Cursors, portals};
use crate::session::errors::server_error;
use crate::session::transaction::End;

/// A cursor under the name that it was declared with.
#[derive(Debug, Clone)]
pub(in crate::session) struct Declared {
    id: CursorId,
    columns: Option<Columns>,
    hold: Hold,
    /// It stands on a row, or behind the last.
    begun: bool,
    /// The DECLARE, and when it came.
    text: Arc<str>,
    made: SystemTime,
    /// The tables that it reads, by their keys.
    tables: Vec<String>,
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

/// A transaction ends, and cursors with it. A commit reads what those WITH HOLD have not given yet into memory; those
/// that are held already stay.
///
/// # Errors
/// What came in place of the rows that were not yet found: the transaction has failed.
pub(in crate::session) async fn part_from_declared(session: &mut Session, end: End) -> Result<()> {
    let commits =
        end == End::Commit && session.work.transaction().state() == TransactionState::Open;
    close_but(session, |declared| match declared.hold {
        Hold::Without => false,
        Hold::FromCommit => commits,
        Hold::Held => true,
    })
    .await;
    let kept = session.cursors.declared.values().filter(|one| one.hold == Hold::FromCommit);
    let kept: Vec<CursorId> = kept.map(|declared| declared.id).collect();
    for id in kept {
        if let Err(error) = portals::settle_cursor(session, id).await {
            close_unheld(session).await;
            return Err(error);
        }
    }
    Ok(())
}

/// The transaction has ended so: what is WITH HOLD is held from now on, where it was committed, and gone where that has
/// failed.
pub(in crate::session) async fn hold_declared(session: &mut Session, ended: End) {
    match ended {
        End::Commit => {
            session.cursors.declared.values_mut().for_each(|one| one.hold = Hold::Held);
        }
        End::RollBack => close_unheld(session).await,
    }
}

/// Closes every cursor but those that are held since an earlier transaction.
pub(in crate::session) async fn close_unheld(session: &mut Session) {
    close_but(session, |declared| declared.hold == Hold::Held).await;
}

/// Closes every cursor that is not declared, or not to be kept.
async fn close_but(session: &mut Session, is_kept: impl Fn(&Declared) -> bool) {
    session.cursors.declared.retain(|_, declared| is_kept(declared));
    let is_over = |id: &&CursorId| !session.cursors.declared.values().any(|one| one.id == **id);
    let over: Vec<CursorId> = session.cursors.portals.keys().filter(is_over).copied().collect();
    for id in over {
        portals::close_cursor(session, id).await;
    }
}
