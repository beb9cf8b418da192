//! Views over sharded tables, as statements that name them are planned: their server knows them over one actual table
//! of each.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use crate::error::{Error, ServerError};
use crate::route::UnitName;

/// How long the query for views waits for who is changing one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// It fails soon.
    Briefly,
    /// As the session has set it: inside its transaction, which would end with the error.
    AsSet,
}

/// How a family tells views.
pub trait ViewTexts: Send + Sync + Debug {
    /// A query for the views of the current database that are not the vendor's own, with rows of seven columns: schema
    /// or NULL, view, 0, definition, whether rows written through it must be shown by it, whether rows can be written
    /// through it (2: only as [`LogicView::is_strict`] says), and the schema or database in which its unqualified
    /// tables stand; an eighth that is true of a materialized view made by [`Refill::query`]. Further rows tell names of columns, where definitions may lack them: the third column is the
    /// place from 1, the fourth the name. Rows without a name say nothing.
    fn query(&self, waits: Waits) -> String;

    /// The query of a view as clients may write it, where servers tell it with functions of their own; where what they
    /// tell is not the query, no query, with the words of what they tell.
    fn written(&self, definition: &str) -> String {
        definition.to_owned()
    }

    /// Whether the query failed because somebody is changing what a view is made of.
    fn is_being_changed(&self, _error: &Error) -> bool {
        false
    }

    /// What is said of a view over what is no longer there, where servers let it stand.
    fn invalid(&self, _database: &str, _view: &str) -> Option<ServerError> {
        None
    }

    /// How materialized views are filled with rows of several storage units; `None` where there are none.
    fn refill(&self) -> Option<&dyn Refill> {
        None
    }
}

/// How a server is made to fill a materialized view with rows that it is given: it has a part of what the view's query
/// is over.
pub trait Refill: Send + Sync + Debug {
    /// The query that the view is made with: it gives what its connection was given, in columns of these names (quoted)
    /// and types, and hangs on all that the view's own query is over.
    fn query(&self, own: &str, columns: &[String], types: &[String]) -> String;

    /// Adds a row in its text form to those that are given; they begin empty.
    fn push(&self, rows: &mut String, fields: &[Option<&str>]);

    /// Gives rows to a connection, for its transaction at most.
    fn given(&self, rows: &str) -> String;
}

/// By its key each view whose rows are those of several actual tables. Others are their servers' own.
pub type Views = HashMap<String, LogicView>;

/// One such view.
#[derive(Debug, Clone)]
pub struct LogicView {
    /// Its storage unit, which has it over one actual table of each sharded one.
    pub unit: UnitName,
    /// Its schema, where its family has schemas inside of a database.
    pub schema: Option<String>,
    /// Its name alone means it.
    pub is_found: bool,
    /// Its query over logic tables, views among these written out, or why it has none.
    pub query: Result<Arc<str>, Unusable>,
    /// The names of its columns, where the query's own are others; else empty.
    pub columns: Vec<String>,
    /// Its own query over logic tables and other views.
    pub own: Arc<str>,
    /// Which changes of rows its server takes.
    pub changes: Taken,
    /// Its server takes no rows where it shows more than columns of its table, and no changes where it shows
    /// sub-queries about the row.
    pub is_strict: bool,
    /// Its server has its rows, which it is given anew when it is told to: reading it is reading a table.
    pub is_materialized: bool,
}

/// Which changes of rows a server takes through a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// None: it says so itself.
    Nothing,
    /// All that leave the row in the table.
    Any,
    /// Those whose rows the view shows (WITH CHECK OPTION).
    Shown,
}

/// Why a view cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// What is the matter with it.
    pub reason: String,
    /// What to do.
    pub instead: &'static str,
}

impl From<&Unusable> for Error {
    fn from(unusable: &Unusable) -> Self {
        Self::unsupported(20032, unusable.reason.clone(), unusable.instead)
    }
}
