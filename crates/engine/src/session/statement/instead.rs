//! Statements that stand for another one.

use std::sync::Arc;

use pando_sql::ast::Statement;

use crate::copy_rows::Encoder;
use crate::session::cursors::declared::Declaration;
use crate::session::given::Given;

/// What the line runs in the place of a statement. It is no EXECUTE, and behind a DECLARE or a COPY nothing that stands
/// for another, but for a change WHERE CURRENT OF a cursor: the line goes no deeper.
#[derive(Debug)]
pub(in crate::session) struct Instead {
    pub(in crate::session) stmt: Arc<Statement>,
    pub(in crate::session) given: Given,
    /// Variables that hold for it alone.
    pub(in crate::session) settings: Vec<(String, String)>,
    pub(in crate::session) reply: Becomes,
}

/// What becomes of the reply of a statement that stands for another.
#[derive(Debug)]
pub(in crate::session) enum Becomes {
    /// It is the client's, as it is.
    Reply,
    /// It waits in a cursor.
    Cursor(Declaration),
    /// Its rows are written as lines.
    Lines(Encoder),
}
