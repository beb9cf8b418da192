//! What a running statement tells: the pieces of a reply, the same from a storage unit to the engine and from the engine to a door.

use std::borrow::Cow;

use bytes::Bytes;

use crate::column::{Columns, Format, Native};
use crate::error::ServerError;
use crate::row::Rows;

/// One piece of a reply.
///
/// A statement's pieces come in this order: `Columns` (when it returns rows), any number of `Rows`, then `Complete`, `Empty` or `Suspended`.
/// `Notice` and `Parameter` may come anywhere.
#[derive(Debug, Clone)]
pub enum Event {
    /// The rows that follow have these columns.
    Columns(Columns),
    /// Some rows.
    Rows(Rows),
    /// The statement is done.
    Complete(Completion),
    /// The text held no statement.
    Empty,
    /// The row limit is reached and more rows wait in the cursor.
    Suspended,
    /// A warning or notice.
    Notice(Box<ServerError>),
    /// A session parameter has a new value the client should know.
    Parameter {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
    /// The answer to a describe request.
    Described(Description),
    /// The statement wants data from the client: answer with copy requests.
    CopyIn(CopyForm),
    /// Data for the client follows as `CopyData`, then `Complete`.
    CopyOut(CopyForm),
    /// Copied data as it stands on the wire, message headers off. An element is one row, as PostgreSQL sends them: drivers look for no
    /// second one in it.
    CopyData(Bytes),
    /// The client shall send this file (LOCAL INFILE): answer with copy requests.
    SendFile(String),
    /// Only between a storage unit and the engine: the unit is ready for the next statement.
    Done,
}

/// A reply that came in one piece: the same as its events.
#[derive(Debug, Clone)]
pub struct Whole {
    /// Its columns; `None` when it returns no rows.
    pub columns: Option<Columns>,
    /// All of its rows; `None` when there is none.
    pub rows: Option<Rows>,
    /// How it ended.
    pub completion: Completion,
}

/// How a statement ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completion {
    /// Command tag without its count: `INSERT`, `SELECT`, `CREATE TABLE`; empty when the unit's vendor has none (the engine fills it in).
    pub tag: Cow<'static, str>,
    /// Rows affected or returned; `None` where the vendor counts nothing.
    pub affected: Option<u64>,
    /// Rows the condition of an UPDATE matched, where the vendor tells them beside those it changed.
    pub matched: Option<u64>,
    /// First generated key of the statement; 0 means none.
    pub last_insert_id: u64,
    /// Number of warnings.
    pub warnings: u16,
    /// Human-readable information (`Rows matched: 1  Changed: 1  Warnings: 0`).
    pub info: String,
    /// Another statement's reply follows in the same request.
    pub more: bool,
}

/// What a prepared statement takes and returns.
#[derive(Debug, Clone)]
pub struct Description {
    /// One type per parameter, in order; `Native::default()` when unknown.
    pub parameters: Vec<Native>,
    /// Its columns (format as text); `None` when it returns no rows.
    pub columns: Option<Columns>,
}

/// Formats of a COPY.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyForm {
    /// The overall format.
    pub format: Format,
    /// One per column.
    pub columns: Vec<Format>,
}

/// Copy data from the client.
#[derive(Debug, Clone)]
pub enum CopyInput {
    /// Data as it stood on the wire, message headers off.
    Data(Bytes),
    /// The end.
    Done,
    /// The client gives up, with its reason.
    Fail(String),
}
