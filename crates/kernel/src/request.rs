//! What a door asks of a session.

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use pando_sql::ast::Statement;

use crate::column::{Column, Format, Native};
use crate::event::{CopyInput, Description};
use crate::value::Value;

/// One request.
#[derive(Debug, Clone)]
pub enum Request {
    /// Text of one or several statements (several only where the door's client may send several). Each gets its own `Complete`,
    /// with `more` on all but the last. An error ends the whole request.
    Query(Arc<str>),
    /// Runs a prepared statement.
    Execute(Execute),
    /// More rows of a suspended cursor; their columns were given when it was opened. Where it ends, `Complete` counts all rows of the statement.
    Fetch {
        /// Which cursor.
        cursor: CursorId,
        /// At most so many rows; `None` means all.
        limit: Option<u32>,
    },
    /// Drops a cursor; unknown ones are ignored.
    CloseCursor(CursorId),
    /// Copy data in answer to `CopyIn` or `SendFile`: goes on with the current reply instead of starting one.
    Copy(CopyInput),
    /// End of a pipeline of `Execute` requests: commits (or, after an error, rolls back) what `Pipeline::More` opened.
    Sync,
    /// The door itself has refused something of the client's: an open transaction fails where errors fail it.
    Fail,
    /// Changes the current logical database.
    Use(String),
    /// Ends the transaction, forgets cursors and session variables, those of the login too, keeps user and database.
    Reset,
    /// Columns of a logic table without its rows.
    Fields {
        /// The logic table.
        table: String,
    },
}

/// A cursor of one session, numbered by its door.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CursorId(pub u64);

/// Whether an execution stands alone between two ends of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pipeline {
    /// It is the pipeline's only statement (or the door has no pipelines): outside a transaction it commits by itself.
    #[default]
    Alone,
    /// More may follow before [`Request::Sync`]: outside a transaction all of them form one.
    More,
}

/// One execution of a prepared statement.
#[derive(Debug, Clone)]
pub struct Execute {
    /// What [`crate::session::Session::prepare`] returned.
    pub prepared: Arc<Prepared>,
    /// One per parameter, in order.
    pub parameters: Vec<Parameter>,
    /// Formats of the result's columns: none means all text, one means all so, else one per column.
    pub result_formats: Vec<Format>,
    /// At most so many rows, then `Suspended`; `None` means all. `Some(0)` gives the columns only.
    pub limit: Option<u32>,
    /// The cursor that keeps the rest when a limit is given.
    pub cursor: Option<CursorId>,
    /// Whether it stands alone.
    pub pipeline: Pipeline,
}

/// A bound parameter: decoded for routing, and as it stood on the wire for passing on.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// The decoded value.
    pub value: Value,
    /// Its type; `type_id` 0 when the client left it open.
    pub native: Native,
    /// How `raw` is written.
    pub format: Format,
    /// The wire bytes (without length prefix); `None` is NULL, or that Pando made the value itself: then `value` counts.
    pub raw: Option<Bytes>,
}

impl Parameter {
    /// A value Pando made itself.
    pub fn made(value: Value) -> Self {
        Self { value, native: Native::default(), format: Format::Text, raw: None }
    }
}

/// A prepared statement of one session.
#[derive(Debug)]
pub struct Prepared {
    /// Its text: one statement.
    pub sql: Arc<str>,
    /// The tree.
    pub statement: Arc<Statement>,
    /// Parameter types the client declared; may be shorter than the parameters, 0 means open.
    pub declared: Arc<[u32]>,
    /// What it takes and returns, once asked.
    pub description: OnceLock<Description>,
    /// The columns that a client was first told with a reply, where it never asked for the description.
    pub told: OnceLock<Arc<[Column]>>,
    /// See [`Prepared::types`].
    held: OnceLock<Arc<[u32]>>,
    /// See [`Prepared::runs`].
    ran: AtomicBool,
    /// See [`Prepared::counted`].
    share: Option<Box<dyn Debug + Send + Sync>>,
}

/// The type of a parameter that is known and has another number on each server, as those made by users have: no number is sent for it.
pub const UNNUMBERED: u32 = u32::MAX;

impl Prepared {
    /// A statement that was never run or asked about.
    pub fn new(sql: Arc<str>, statement: Statement, declared: Vec<u32>) -> Self {
        Self {
            sql,
            statement: Arc::new(statement),
            declared: declared.into(),
            description: OnceLock::new(),
            told: OnceLock::new(),
            held: OnceLock::new(),
            ran: AtomicBool::new(false),
            share: None,
        }
    }

    /// With its share of what counts the memory of statements that are kept: it is dropped with the statement, wherever that is held last.
    #[must_use]
    pub fn counted(mut self, share: impl Debug + Send + Sync + 'static) -> Self {
        self.share = Some(Box::new(share));
        self
    }

    /// Types of its parameters: those declared, and for the others what a storage unit found for them at first and the client may have been told; 0 where none was
    /// asked, [`UNNUMBERED`] for types that every server numbers by itself.
    pub fn types(&self) -> &Arc<[u32]> {
        if let Some(held) = self.held.get() {
            return held;
        }
        match self.description.get() {
            Some(told) => self.hold(&told.parameters),
            None => &self.declared,
        }
    }

    /// Keeps these types, in the order of the parameters, for all its executions, unless some are kept already.
    pub fn hold(&self, found: &[Native]) -> &Arc<[u32]> {
        /// The first number of a type that was made by a user.
        /// <https://www.postgresql.org/docs/current/system-catalog-initial-data.html#SYSTEM-CATALOG-OID-ASSIGNMENT>
        const FIRST_MADE: u32 = 16_384;
        self.held.get_or_init(|| {
            let declared = self.declared.iter().copied().chain(std::iter::repeat(0));
            let found = found.iter().map(|native| native.type_id).chain(std::iter::repeat(0));
            let held = |(own, found): (u32, u32)| match own {
                0 if found >= FIRST_MADE => UNNUMBERED,
                0 => found,
                own => own,
            };
            let all = self.statement.parameters as usize;
            declared.zip(found).map(held).take(all).collect()
        })
    }

    /// Whether nobody has asked yet for the type of a parameter that the client left open.
    pub fn has_open_types(&self) -> bool {
        let is_open = || {
            self.declared.len() < self.statement.parameters as usize || self.declared.contains(&0)
        };
        self.held.get().is_none() && self.description.get().is_none() && is_open()
    }

    /// Notes that it runs; true from the second time on.
    pub fn runs(&self) -> bool {
        self.ran.swap(true, Ordering::Relaxed)
    }
}
