//! Statements that stand for another one.

use std::sync::Arc;

use pando_sql::ast::Statement;

use crate::session::cursors::declared::Declaration;
use crate::session::given::Given;

/// What the line runs in the place of a statement. It is no EXECUTE, and behind a DECLARE nothing that stands for
/// another: the line goes no deeper than EXECUTE, DECLARE, query.
#[derive(Debug)]
pub(in crate::session) struct Instead {
    pub(in crate::session) stmt: Arc<Statement>,
    pub(in crate::session) given: Given,
    /// Variables that hold for it alone.
    pub(in crate::session) settings: Vec<(String, String)>,
    /// Its reply is to wait in a cursor.
    pub(in crate::session) cursor: Option<Declaration>,
}
