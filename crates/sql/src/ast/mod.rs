//! The tree of one statement: enough for routing, rewriting and merging, with exact byte spans. What the parser does not
//! know stays an opaque span, which planning treats as unknown.

mod aggregate;
mod change;
mod define;
mod expr;
mod kept;
mod list;
mod name;
mod query;
mod row;
mod session;

use crate::span::Span;

pub use change::{
    ColumnAssignment, Delete, Insert, InsertSource, Merge, MergeThen, MergeWhen, OnConflict,
    RowAlias, Update,
};
pub use define::{ColumnDefinition, Define, DefineAction, InnerKind, InnerName, ObjectKind};
pub use expr::{BinaryOp, Expr, Function, Literal, Node};
pub use list::List;
pub use name::{Ident, ObjectName};
pub use query::{
    Cte, Distinct, Join, JoinConstraint, JoinKind, Limit, Lock, OrderItem, Query, QueryBody,
    Select, SelectItem, SetOp, Table, TableFactor,
};
pub use row::InsertRow;
pub use session::{
    Assignment, Copy, CopyDirection, Cursor, Direction, Immediate, Load, PrepareBody, Scope,
    Scroll, SetFor, Show, Transaction,
};

/// One parsed statement with the text it came from. Spans index `text`.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The statement alone, without the final semicolon; comments are kept.
    pub text: std::sync::Arc<str>,
    /// What it says.
    pub kind: Kind,
    /// Hash of the normalised tokens: equal for statements that differ only in literals, white space and comments.
    pub digest: u64,
    /// Number of parameters the text refers to (the highest `$n`, or the count of `?`).
    pub parameters: u32,
    /// Key and value pairs of a hint comment (`SHARDINGSPHERE_HINT: k=v, …`), keys upper-cased.
    pub hints: Vec<(String, String)>,
    /// Where the hint comment stands, so that rewriting can take it out.
    pub hint_span: Option<Span>,
    /// A word of it asks for numbers of sequences, or sets them, if it is a call: `nextval`, `NEXT VALUE FOR`, …
    pub counts: bool,
}

/// What a statement says.
#[derive(Debug, Clone)]
pub enum Kind {
    /// SELECT, VALUES, TABLE, with every WITH and set operation.
    Select(Box<Query>),
    /// INSERT and REPLACE.
    Insert(Box<Insert>),
    /// UPDATE of one or several tables.
    Update(Box<Update>),
    /// DELETE from one or several tables.
    Delete(Box<Delete>),
    /// CREATE, ALTER, DROP, TRUNCATE, RENAME and other definitions.
    Define(Box<Define>),
    /// BEGIN, COMMIT, ROLLBACK, savepoints, SET TRANSACTION, two-phase and XA verbs.
    Transaction(Transaction),
    /// SET and RESET of variables; one statement may set several.
    Set(Vec<Assignment>),
    /// SET STATEMENT variables FOR statement.
    SetFor(Box<SetFor>),
    /// SHOW and DESCRIBE.
    Show(Box<Show>),
    /// USE name.
    Use(Ident),
    /// EXPLAIN; the inner statement's spans index the same text.
    Explain {
        /// Where the explained statement starts.
        body: Span,
        /// What is explained.
        inner: Box<Kind>,
        /// ANALYZE was asked for: the statement really runs.
        analyze: bool,
    },
    /// COPY table FROM STDIN, COPY … TO STDOUT.
    Copy(Box<Copy>),
    /// LOAD DATA [LOCAL] INFILE.
    Load(Box<Load>),
    /// PREPARE name AS … / PREPARE name FROM '…'.
    Prepare {
        /// The statement's name.
        name: Ident,
        /// The types of its first parameters, as they are written.
        types: Vec<String>,
        /// The text to prepare: a span of this text, or a decoded string literal.
        body: PrepareBody,
    },
    /// EXECUTE name (…) / EXECUTE name USING @a.
    Execute {
        /// The prepared statement's name.
        name: Ident,
        /// Arguments in order.
        arguments: Vec<Expr>,
    },
    /// EXECUTE IMMEDIATE text USING arguments.
    Immediate(Box<Immediate>),
    /// DEALLOCATE / DROP PREPARE; `None` means ALL.
    Deallocate(Option<Ident>),
    /// DECLARE, FETCH, MOVE and CLOSE of SQL-level cursors.
    Cursor(Box<Cursor>),
    /// LOCK TABLE(S), UNLOCK TABLES.
    Lock(Vec<ObjectName>),
    /// KILL [CONNECTION | QUERY] id.
    Kill {
        /// The session's number.
        id: u64,
        /// Only the running statement ends, not the session.
        query_only: bool,
    },
    /// PREVIEW statement: the rest of the text is planned and not run.
    Preview(Span),
    /// A statement about the proxy's own configuration: the text is all that is known of it. The parser never gives it; who knows that language does.
    Administration,
    /// LISTEN, NOTIFY, UNLISTEN, VACUUM, ANALYZE, GRANT, CALL, DO, FLUSH, …: the verb and the tables that could be read off.
    Utility {
        /// First keyword(s), upper-cased: `VACUUM`, `ANALYZE TABLE`, `GRANT`.
        verb: String,
        /// Tables named where the grammar says a table stands.
        tables: Vec<ObjectName>,
        /// The index that CLUSTER or REINDEX names.
        index: Option<ObjectName>,
        /// What MERGE says, where all of it could be read.
        merge: Option<Box<Merge>>,
    },
    /// No statement at all: only white space and comments.
    Empty,
    /// Unknown beginning; nothing is known about it.
    Opaque,
}
