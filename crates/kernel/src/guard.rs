//! The guard: what a client's statement may reach beside the tables of its logical database.
//!
//! A session asks it once about every text it reads, whatever way the text came: alone, prepared, behind a hint, one of several, as the query of a COPY or a
//! cursor, or as the body of a PREPARE. A statement that was read is not judged again, and one of a known shape is not even read, so a warm statement
//! pays nothing. The family's part ([`Guard`]) goes over *all* names of the text, by its tokens: the tree says which of them are tables and columns, and what the
//! tree does not know is judged by the words around it.
//!
//! What is promised:
//!
//! - To everybody, of everybody, administrators of Pando included: no statement names, reads, changes, locks, drops or gives away a ledger. One that would take it along without its name
//!   (DROP OWNED, DROP DATABASE past Pando, changes of the vendor's own catalogue) or that hands SQL to a function as a text nobody has read is refused.
//! - Of users who are no administrators: they read no passwords, no files of servers and no rows of others in the vendor's own tables, run no programs, load no code, and change nothing that
//!   belongs to a whole server. Routines that put their SQL together while they run are refused, and so are languages that cannot be read.
//! - Of users who may not see all databases: they reach no table of another database. Where that cannot be told of a name it is refused.
//!
//! What is not promised: a routine of an *administrator* that puts SQL together while it runs is not judged but for the texts it holds, and neither is one that exists on the servers
//! already. Two logical databases that stand in the same physical one (on PostgreSQL: in the same schema of it) are not kept apart: their tables are the same.

mod known;
mod mentions;
mod places;

use std::fmt::Debug;

use pando_sql::ast::Statement;

use crate::error::{Error, ErrorKind, Result};

pub use known::{Known, plain_rows};
pub use mentions::mentions;
pub use places::{column_places, labels};

/// What a family knows of statements that reach further than the tables of their database.
pub trait Guard: Send + Sync + Debug {
    /// Refuses a statement that reaches what its user may not.
    ///
    /// # Errors
    /// `AccessDenied` with what it is about.
    fn judge(&self, asked: &Scrutiny<'_>) -> Result<()>;

    /// Refuses the value of a session variable by which names would come to mean what the user may not reach. The name is in lower case.
    ///
    /// # Errors
    /// `AccessDenied`.
    fn judge_setting(&self, _name: &str, _value: &str, _asked: &Standing<'_>) -> Result<()> {
        Ok(())
    }

    /// Whether an actual table of this name is a ledger: no rule may lead to it under another name.
    fn is_ledger(&self, _actual: &str) -> bool {
        false
    }
}

/// A statement that is judged.
#[derive(Debug, Clone, Copy)]
pub struct Scrutiny<'a> {
    /// The statement.
    pub statement: &'a Statement,
    /// A hint sends it to a unit as it is: no room looks at it, and nothing is renamed in it.
    pub is_hinted: bool,
    /// Who asks.
    pub standing: Standing<'a>,
}

/// Who asks.
#[derive(Clone, Copy)]
pub struct Standing<'a> {
    /// How far the user may reach.
    pub reach: Reach,
    /// The schemas that are the database's own, when tables of databases the user may not see stand beside them; `None` when nobody else is there.
    pub own_schemas: &'a dyn Fn() -> Option<Vec<String>>,
}

impl Debug for Standing<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Standing").field("reach", &self.reach).finish_non_exhaustive()
    }
}

/// How far a user may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// The databases that are his.
    Own,
    /// Every database.
    Every,
    /// What an administrator of the servers may, the ledgers excepted.
    Administrator,
}

/// The error of the guard: what the statement is not allowed.
pub fn denied(what: impl Into<String>) -> Error {
    ErrorKind::AccessDenied(what.into()).into()
}

/// The error for what others than administrators ask for, and who these are.
pub fn for_administrators(what: &str) -> Error {
    denied(format!(
        "{what} is for administrators, which users with `admin: true` under `authority` are"
    ))
}

/// The error for a ledger's name.
pub fn is_ledger(name: &str) -> Error {
    denied(format!("`{name}` belongs to the ledgers of transactions, which no statement may name"))
}
