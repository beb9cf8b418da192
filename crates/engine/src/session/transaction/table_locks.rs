//! Tables that LOCK TABLES keeps unchanged, and what the session may do meanwhile.
//! <https://dev.mysql.com/doc/refman/8.0/en/lock-tables.html>

use pando_kernel::Temporaries;
use pando_kernel::dialect::Dialect;
use pando_kernel::error::{Error, Result};
use pando_pool::Connection;
use pando_sql::ast::{Kind, ObjectName, Statement};
use pando_sql::{tokenize, visit};

use crate::session::errors::server_error;
use crate::session::transaction::Work;

/// Tables that one LOCK TABLES may name.
pub(in crate::session) const MAX_TABLES: usize = 10_000;

/// What LOCK TABLES … READ has locked. The locks are held by connections of their own, one of each storage unit, which
/// run nothing else: the session reads by others, as everybody may.
#[derive(Debug)]
pub(in crate::session) struct TableLocks {
    pub(in crate::session) tables: Vec<LockedTable>,
    /// One of each storage unit that has some of the tables. Each is reset before it serves anybody else.
    pub(in crate::session) holders: Vec<Connection>,
}

/// A table as LOCK TABLES has named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::session) struct LockedTable {
    /// The logical database.
    pub(in crate::session) database: String,
    pub(in crate::session) table: String,
    /// The alias, or the table's own name.
    pub(in crate::session) called: String,
}

/// Where a statement stands that is to run while tables are locked.
pub(in crate::session) struct Around<'a> {
    /// The current logical database; empty where there is none.
    pub(in crate::session) database: &'a str,
    pub(in crate::session) dialect: &'a dyn Dialect,
    /// The session's temporary tables, which nobody locks.
    pub(in crate::session) temporaries: Option<&'a Temporaries>,
}

impl Around<'_> {
    /// Whether a name means a table that is never locked: the session's own, or the server's.
    fn is_free(&self, name: &ObjectName) -> bool {
        let is_servers = self.dialect.presentation().is_some_and(|own| own.holding(name).is_some());
        is_servers || self.temporaries.is_some_and(|own| own.is_one(name))
    }
}

impl Work {
    /// What LOCK TABLES has locked; `None` when nothing is.
    pub(in crate::session) fn table_locks(&self) -> Option<&TableLocks> {
        self.table_locks.as_deref()
    }

    pub(in crate::session) fn table_locks_mut(&mut self) -> Option<&mut TableLocks> {
        self.table_locks.as_deref_mut()
    }

    pub(in crate::session) fn locks_tables(&mut self, locks: TableLocks) {
        self.table_locks = Some(Box::new(locks));
    }

    /// Takes the locks out of the session. Who drops them frees them.
    pub(in crate::session) fn take_table_locks(&mut self) -> Option<TableLocks> {
        self.table_locks.take().map(|locks| *locks)
    }
}

impl TableLocks {
    /// Refuses what a server refuses while tables are locked for reading.
    ///
    /// # Errors
    /// Number 1099 for a change, 1100 for a table that is not locked under this name; `Refused` for a procedure.
    pub(in crate::session) fn refuse(&self, stmt: &Statement, around: &Around<'_>) -> Result<()> {
        if matches!(&stmt.kind, Kind::Define(define) if define.temporary) {
            return Ok(());
        }
        if let Kind::Utility { verb, .. } = &stmt.kind {
            return match verb.split(' ').next() {
                Some("CALL") => Err(Error::unsupported(
                    30001,
                    "CALL is not supported while tables are locked, as it may use any tables",
                    "UNLOCK TABLES first",
                )),
                Some(_) | None => Ok(()),
            };
        }
        for occurrence in visit::tables(&stmt.kind) {
            if around.is_free(occurrence.name) {
                continue;
            }
            let parts = &occurrence.name.parts;
            let Some(name) = parts.last() else { continue };
            let owner = parts.len().checked_sub(2).and_then(|at| parts.get(at));
            let alias = occurrence.table.and_then(|table| table.alias.as_ref());
            let used = LockedTable {
                database: owner.map_or(around.database, |owner| &owner.value).to_owned(),
                table: name.value.clone(),
                called: alias.unwrap_or(name).value.clone(),
            };
            if !self.tables.contains(&used) {
                let called = &used.called;
                let message = format!("Table '{called}' was not locked with LOCK TABLES");
                return Err(server_error(1100, "HY000", &message));
            }
        }
        match changed(stmt, around) {
            Some(table) => {
                let message =
                    format!("Table '{table}' was locked with a READ lock and can't be updated");
                Err(server_error(1099, "HY000", &message))
            }
            None => Ok(()),
        }
    }
}

/// A table that a statement changes, or of which it locks rows for a change.
fn changed(stmt: &Statement, around: &Around<'_>) -> Option<String> {
    let named = visit::tables(&stmt.kind);
    let is_free = |key: &String| {
        named.iter().any(|found| found.name.key() == *key && around.is_free(found.name))
    };
    if let Some(table) = visit::written(&stmt.kind).into_iter().find(|key| !is_free(key)) {
        return Some(table);
    }
    let tokens = tokenize(&stmt.text, around.dialect.syntax()).ok()?;
    let is = |at: usize, word: &str| {
        let token = tokens.list.get(at);
        token.is_some_and(|token| token.span.of(&stmt.text).eq_ignore_ascii_case(word))
    };
    let locks = (0..tokens.list.len()).any(|at| is(at, "for") && is(at + 1, "update"));
    let mut locked = named.iter().filter(|found| !around.is_free(found.name));
    if locks { locked.next().map(|found| found.name.key()) } else { None }
}
