//! Transaction verbs, variables, SHOW, bulk data and cursors.

use super::{ColumnAssignment, Expr, Ident, Kind, ObjectName, Query, Statement};
use crate::span::Span;

/// A transaction verb.
#[derive(Debug, Clone)]
pub enum Transaction {
    /// BEGIN, START TRANSACTION with its modes (upper-cased words, commas dropped).
    Begin(Vec<String>),
    /// COMMIT, END. With AND CHAIN?
    Commit {
        /// AND CHAIN.
        chain: bool,
    },
    /// ROLLBACK, ABORT.
    Rollback {
        /// AND CHAIN.
        chain: bool,
    },
    /// SAVEPOINT name.
    Savepoint(Ident),
    /// RELEASE [SAVEPOINT] name.
    Release(Ident),
    /// ROLLBACK TO [SAVEPOINT] name.
    RollbackTo(Ident),
    /// SET [SESSION | GLOBAL] TRANSACTION modes, SET SESSION CHARACTERISTICS AS TRANSACTION modes.
    Set {
        /// It holds for the session, not only the next transaction.
        session: bool,
        /// The modes, upper-cased words.
        modes: Vec<String>,
    },
    /// PREPARE TRANSACTION, COMMIT PREPARED, XA …: two-phase verbs, not parsed further.
    TwoPhase,
}

/// One assignment of SET.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// Where it holds.
    pub scope: Scope,
    /// The variable, lower-cased; `names` for SET NAMES, `character set`, `time zone`, `role`, `session authorization`; `all` for RESET ALL.
    /// That of a user without `@` and quotes.
    pub name: String,
    /// The value; `None` for RESET and DEFAULT.
    pub value: Option<Expr>,
    /// The value's text.
    pub value_span: Span,
    /// The whole assignment without SET.
    pub span: Span,
}

/// Variables that hold for one statement.
#[derive(Debug, Clone)]
pub struct SetFor {
    /// The variables; never empty.
    pub assignments: Vec<Assignment>,
    /// The statement's text, up to the end.
    pub body: Span,
}

/// A text that is run as a statement.
#[derive(Debug, Clone)]
pub struct Immediate {
    /// What gives the text.
    pub text: Expr,
    /// Arguments in order.
    pub arguments: Vec<Expr>,
}

/// Where a variable holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// SESSION (the default), `@@session.`.
    Session,
    /// SET LOCAL: until the transaction's end.
    Local,
    /// GLOBAL, PERSIST.
    Global,
    /// `@name`.
    User,
}

/// SHOW or DESCRIBE.
#[derive(Debug, Clone)]
pub struct Show {
    /// The words behind SHOW, upper-cased, names and strings left out: `TABLES`, `FULL COLUMNS`, `CREATE TABLE`, `VARIABLES`;
    /// `DESCRIBE` for DESCRIBE/DESC; for a SHOW of a setting its dotted name in lower case (`server_version`).
    pub what: String,
    /// The table it names.
    pub table: Option<ObjectName>,
    /// FROM/IN database.
    pub database: Option<Ident>,
    /// LIKE pattern, decoded.
    pub like: Option<String>,
    /// WHERE.
    pub filter: Option<Expr>,
}

/// COPY.
#[derive(Debug, Clone)]
pub struct Copy {
    /// The table; `None` for COPY (query) TO.
    pub table: Option<ObjectName>,
    /// The columns, when listed.
    pub columns: Option<Vec<Ident>>,
    /// COPY (query) TO.
    pub query: Option<Box<Query>>,
    /// COPY (INSERT, UPDATE or DELETE … RETURNING …) TO: that statement, which is read when it runs.
    pub change: Option<Span>,
    /// FROM STDIN.
    pub direction: CopyDirection,
    /// Options, names lower-cased, values decoded: `format`, `delimiter`, `null`, `header`, `quote`, `escape`, `freeze`, …
    pub options: Vec<(String, String)>,
    /// Insertion point of a column list: right behind the table's name.
    pub columns_at: u32,
    /// WHERE: the rows that are taken.
    pub filter: Option<Expr>,
}

/// Which way a COPY goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyDirection {
    /// FROM STDIN.
    FromClient,
    /// TO STDOUT.
    ToClient,
    /// A file or program on the server.
    ServerFile,
}

/// LOAD DATA.
#[derive(Debug, Clone)]
pub struct Load {
    /// LOCAL: the client sends the file.
    pub local: bool,
    /// The file name, decoded.
    pub file: String,
    /// REPLACE or IGNORE, upper-cased.
    pub duplicates: Option<String>,
    /// The table.
    pub table: ObjectName,
    /// FIELDS/LINES options: `fields terminated by`, `fields enclosed by`, `fields escaped by`, `lines terminated by`, `lines starting by`, `ignore`, `character set`; decoded.
    pub options: Vec<(String, String)>,
    /// Column or variable list as written; `None` when not written.
    pub columns: Option<Vec<Ident>>,
    /// SET assignments.
    pub assignments: Vec<ColumnAssignment>,
    /// Insertion point of a column list: behind everything but SET.
    pub columns_at: u32,
}

/// A SQL-level cursor statement.
#[derive(Debug, Clone)]
pub enum Cursor {
    /// DECLARE name … CURSOR … FOR query.
    Declare {
        /// The cursor.
        name: Ident,
        /// WITH HOLD.
        hold: bool,
        /// SCROLL, NO SCROLL.
        scroll: Scroll,
        /// BINARY.
        binary: bool,
        /// Its query's text.
        body: Span,
        /// Its query.
        query: Box<Query>,
    },
    /// FETCH, MOVE.
    Fetch {
        /// The cursor.
        name: Ident,
        /// Which rows.
        direction: Direction,
        /// MOVE.
        moves: bool,
    },
    /// CLOSE name; `None` for ALL.
    Close(Option<Ident>),
}

/// Whether a cursor goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scroll {
    /// Nothing is said of it.
    Unsaid,
    /// SCROLL.
    Wanted,
    /// NO SCROLL.
    Refused,
}

/// Where FETCH and MOVE go. A negative number goes the other way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// NEXT, ALL, FORWARD: over so many rows; `None` for all.
    Forward(Option<i64>),
    /// PRIOR, BACKWARD: over so many rows; `None` for all.
    Backward(Option<i64>),
    /// FIRST, LAST, ABSOLUTE: to the row of that number, from 1, or from the end from -1; 0 is before the first.
    Absolute(i64),
    /// RELATIVE: to the row so many further on.
    Relative(i64),
}

impl Statement {
    /// A statement of [`Kind::Administration`].
    pub fn of_administration(text: std::sync::Arc<str>) -> Self {
        Self {
            text,
            kind: Kind::Administration,
            digest: 0,
            parameters: 0,
            hints: Vec::new(),
            hint_span: None,
            counts: false,
        }
    }
}

/// The text of a SQL-level PREPARE.
#[derive(Debug, Clone)]
pub enum PrepareBody {
    /// It stands in this statement's text.
    Span(Span),
    /// It was a string literal, decoded.
    Text(String),
    /// It is a user variable (`@name`).
    Variable(String),
}
