//! The tree of one statement: enough for routing, rewriting and merging, with exact byte spans. What the parser does not
//! know stays an opaque span, which planning treats as unknown.

use crate::span::Span;

/// A name as written, with the quotes taken off and folded as the language says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ident {
    /// The whole token, quotes included.
    pub span: Span,
    /// The name that compares: unquoted, unescaped, folded when it was not quoted.
    pub value: String,
    /// It was quoted in the text.
    pub quoted: bool,
}

/// A dotted name: `table`, `schema.table`, `catalog.schema.table`. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectName {
    /// The parts from left to right.
    pub parts: Vec<Ident>,
    /// From the first part's start to the last part's end.
    pub span: Span,
}

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
    /// LISTEN, NOTIFY, UNLISTEN, VACUUM, ANALYZE, GRANT, CALL, DO, FLUSH, …: the verb and the tables that could be read off.
    Utility {
        /// First keyword(s), upper-cased: `VACUUM`, `ANALYZE TABLE`, `GRANT`.
        verb: String,
        /// Tables named where the grammar says a table stands.
        tables: Vec<ObjectName>,
    },
    /// No statement at all: only white space and comments.
    Empty,
    /// Unknown beginning; nothing is known about it.
    Opaque,
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

/// A query expression: WITH, body, ORDER BY, LIMIT, locks.
#[derive(Debug, Clone)]
pub struct Query {
    /// Common table expressions.
    pub with: Vec<Cte>,
    /// WITH RECURSIVE.
    pub recursive: bool,
    /// SELECT core or set operation.
    pub body: QueryBody,
    /// ORDER BY of the whole query.
    pub order_by: Vec<OrderItem>,
    /// From `ORDER` to the end of its last item.
    pub order_span: Option<Span>,
    /// LIMIT / OFFSET / FETCH.
    pub limit: Option<Limit>,
    /// FOR UPDATE and its kin.
    pub lock: Option<Lock>,
    /// The whole query, without surrounding parentheses.
    pub span: Span,
}

/// One WITH element.
#[derive(Debug, Clone)]
pub struct Cte {
    /// Its name.
    pub name: Ident,
    /// Column names after the name.
    pub columns: Vec<Ident>,
    /// What stands in the parentheses: a query or a data-modifying statement.
    pub body: Box<Kind>,
    /// The whole element.
    pub span: Span,
}

/// The core of a query.
#[derive(Debug, Clone)]
pub enum QueryBody {
    /// A plain SELECT.
    Select(Box<Select>),
    /// `left op right`.
    Set {
        /// UNION, INTERSECT or EXCEPT.
        op: SetOp,
        /// ALL was written.
        all: bool,
        /// Left operand.
        left: Box<Query>,
        /// Right operand.
        right: Box<Query>,
    },
    /// VALUES (…), (…).
    Values(Vec<Vec<Expr>>),
    /// TABLE name.
    Table(ObjectName),
}

/// A set operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetOp {
    /// UNION.
    Union,
    /// INTERSECT.
    Intersect,
    /// EXCEPT or MINUS.
    Except,
}

/// One SELECT core.
#[derive(Debug, Clone)]
pub struct Select {
    /// The `SELECT` keyword.
    pub keyword: Span,
    /// DISTINCT.
    pub distinct: Distinct,
    /// Other modifiers between SELECT and the items, upper-cased (`SQL_CALC_FOUND_ROWS`, `STRAIGHT_JOIN`, …).
    pub modifiers: Vec<String>,
    /// The select list.
    pub items: Vec<SelectItem>,
    /// From the first item's start to the last item's end (aliases included). Empty at the insertion point when there are no items.
    pub items_span: Span,
    /// SELECT … INTO (a table, a file or variables).
    pub into: Option<Span>,
    /// FROM items, comma separated; joins are nested.
    pub from: Vec<TableFactor>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// GROUP BY items.
    pub group_by: Vec<Expr>,
    /// From `GROUP` to the end of its last item, WITH ROLLUP included.
    pub group_span: Option<Span>,
    /// WITH ROLLUP, ROLLUP(), CUBE(), GROUPING SETS.
    pub grouping_sets: bool,
    /// HAVING.
    pub having: Option<Expr>,
    /// WINDOW clause, unparsed.
    pub window: Option<Span>,
    /// The expressions inside the WINDOW clause, in text order.
    pub window_exprs: Vec<Expr>,
    /// End of the core: where a clause may be appended (after HAVING/WINDOW, before ORDER BY).
    pub end: u32,
    /// The whole core.
    pub span: Span,
}

/// DISTINCT of a select.
#[derive(Debug, Clone)]
pub enum Distinct {
    /// Not written (or ALL).
    No,
    /// DISTINCT.
    Yes(Span),
    /// DISTINCT ON (…).
    On(Vec<Expr>, Span),
}

/// One item of a select list.
#[derive(Debug, Clone)]
pub enum SelectItem {
    /// `*`.
    Star(Span),
    /// `t.*`.
    QualifiedStar(ObjectName, Span),
    /// An expression with its alias.
    Expr {
        /// The expression.
        expr: Expr,
        /// AS name, or a bare name.
        alias: Option<Ident>,
        /// Expression and alias.
        span: Span,
    },
}

/// One factor of FROM.
#[derive(Debug, Clone)]
pub enum TableFactor {
    /// A named table.
    Table(Table),
    /// `(query) alias`, LATERAL or not.
    Derived {
        /// The sub-query.
        query: Box<Query>,
        /// Its alias.
        alias: Option<Ident>,
        /// LATERAL was written.
        lateral: bool,
        /// The whole factor.
        span: Span,
    },
    /// `left JOIN right ON …`.
    Join(Box<Join>),
    /// A function in FROM, ROWS FROM, JSON_TABLE, UNNEST: opaque but for its arguments.
    Function {
        /// What it calls.
        expr: Expr,
        /// Its alias.
        alias: Option<Ident>,
        /// The whole factor.
        span: Span,
    },
}

/// A table where a table may stand.
#[derive(Debug, Clone)]
pub struct Table {
    /// The name as written.
    pub name: ObjectName,
    /// Its alias.
    pub alias: Option<Ident>,
    /// ONLY, `*`, PARTITION (…), index hints, TABLESAMPLE: present in the text.
    pub extras: Vec<Span>,
    /// Name, alias and extras.
    pub span: Span,
}

/// A join of two factors.
#[derive(Debug, Clone)]
pub struct Join {
    /// Left side.
    pub left: TableFactor,
    /// Right side.
    pub right: TableFactor,
    /// Which join.
    pub kind: JoinKind,
    /// ON, USING or nothing.
    pub constraint: JoinConstraint,
    /// The whole join.
    pub span: Span,
}

/// Which join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    /// JOIN, INNER JOIN, STRAIGHT_JOIN.
    Inner,
    /// LEFT [OUTER] JOIN.
    Left,
    /// RIGHT [OUTER] JOIN.
    Right,
    /// FULL [OUTER] JOIN.
    Full,
    /// CROSS JOIN.
    Cross,
}

/// How a join pairs rows.
#[derive(Debug, Clone)]
pub enum JoinConstraint {
    /// ON expr.
    On(Expr),
    /// USING (a, b).
    Using(Vec<Ident>),
    /// NATURAL.
    Natural,
    /// Nothing.
    None,
}

/// One ORDER BY item.
#[derive(Debug, Clone)]
pub struct OrderItem {
    /// What is sorted by.
    pub expr: Expr,
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST (`Some(true)`) or NULLS LAST (`Some(false)`); `None` is the language's default.
    pub nulls_first: Option<bool>,
    /// USING operator: opaque ordering.
    pub using: Option<Span>,
    /// The whole item.
    pub span: Span,
}

/// LIMIT and OFFSET.
#[derive(Debug, Clone)]
pub struct Limit {
    /// Rows to return; `None` for LIMIT ALL or OFFSET alone.
    pub count: Option<Expr>,
    /// Rows to skip.
    pub offset: Option<Expr>,
    /// FETCH FIRST … WITH TIES.
    pub with_ties: bool,
    /// The whole clause (LIMIT and OFFSET may stand in either order; this covers both).
    pub span: Span,
}

/// FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE, …
#[derive(Debug, Clone)]
pub struct Lock {
    /// The whole clause.
    pub span: Span,
    /// Tables after OF.
    pub of: Vec<ObjectName>,
}

/// An expression with its exact span (surrounding parentheses belong to `Nested`).
#[derive(Debug, Clone)]
pub struct Expr {
    /// All of its text.
    pub span: Span,
    /// What it is.
    pub node: Node,
}

/// What an expression is.
#[derive(Debug, Clone)]
pub enum Node {
    /// `column`, `table.column`, `schema.table.column`.
    Column(ObjectName),
    /// A literal.
    Literal(Literal),
    /// A parameter, counted from 0.
    Parameter(u32),
    /// `@user`, `@@global.x`, with the sigils.
    Variable(String),
    /// NOT, `-`, `+`, `~`, `!`, or a vendor operator.
    Unary {
        /// The operator, upper-cased.
        op: String,
        /// Its operand.
        operand: Box<Expr>,
    },
    /// `left op right` for every binary operator, AND/OR/comparisons included.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// `x [NOT] BETWEEN [SYMMETRIC] low AND high`.
    Between {
        /// The tested value.
        operand: Box<Expr>,
        /// Lower bound.
        low: Box<Expr>,
        /// Upper bound.
        high: Box<Expr>,
        /// NOT was written.
        negated: bool,
        /// SYMMETRIC was written.
        symmetric: bool,
    },
    /// `x [NOT] IN (a, b)`.
    InList {
        /// The tested value.
        operand: Box<Expr>,
        /// The list.
        list: Vec<Expr>,
        /// NOT was written.
        negated: bool,
    },
    /// `x [NOT] IN (SELECT …)`.
    InQuery {
        /// The tested value.
        operand: Box<Expr>,
        /// The sub-query.
        query: Box<Query>,
        /// NOT was written.
        negated: bool,
    },
    /// LIKE, ILIKE, RLIKE, REGEXP, SIMILAR TO.
    Like {
        /// The tested value.
        operand: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// NOT was written.
        negated: bool,
    },
    /// `x IS [NOT] NULL`.
    IsNull {
        /// The tested value.
        operand: Box<Expr>,
        /// NOT was written.
        negated: bool,
    },
    /// A function or aggregate call.
    Function(Box<Function>),
    /// CASE.
    Case {
        /// CASE operand.
        operand: Option<Box<Expr>>,
        /// WHEN, THEN pairs.
        branches: Vec<(Expr, Expr)>,
        /// ELSE.
        otherwise: Option<Box<Expr>>,
    },
    /// CAST(x AS t), `x::t`, CONVERT(x, t), `date '…'` stays a literal.
    Cast {
        /// The operand.
        operand: Box<Expr>,
        /// The type's text.
        to: Span,
    },
    /// `x COLLATE name`.
    Collate {
        /// The operand.
        operand: Box<Expr>,
        /// The collation.
        collation: ObjectName,
    },
    /// `(SELECT …)` as a value.
    Subquery(Box<Query>),
    /// EXISTS (SELECT …).
    Exists(Box<Query>),
    /// `(a, b)` or ROW(a, b).
    Row(Vec<Expr>),
    /// `(x)`.
    Nested(Box<Expr>),
    /// ARRAY[…], `x[1]`, INTERVAL …, `x AT TIME ZONE y`, MATCH … AGAINST and everything else: the expressions inside that could be read.
    Other(Vec<Expr>),
    /// DEFAULT as a value.
    Default,
}

/// A literal with its value.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// An integer that fits 64 bits signed.
    Integer(i64),
    /// Any other number, as written: decimals, floats, larger integers.
    Number(String),
    /// A string, decoded.
    Text(String),
    /// A binary or hexadecimal string, decoded.
    Bytes(Vec<u8>),
    /// TRUE or FALSE.
    Boolean(bool),
    /// NULL.
    Null,
    /// `DATE '…'`, `TIMESTAMP '…'`, `TIME '…'`: type name upper-cased, content decoded.
    Typed(String, String),
}

/// A binary operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BinaryOp {
    /// AND, `&&` where it means AND.
    And,
    /// OR, `||` where it means OR.
    Or,
    /// XOR.
    Xor,
    /// `=`.
    Equal,
    /// `<=>`, IS NOT DISTINCT FROM.
    NullSafeEqual,
    /// `<>`, `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
    /// `+`.
    Plus,
    /// `-`.
    Minus,
    /// `*`.
    Multiply,
    /// `/`, DIV.
    Divide,
    /// `%`, MOD.
    Modulo,
    /// Any other operator, as written.
    Other(String),
}

/// A call.
#[derive(Debug, Clone)]
pub struct Function {
    /// The name; compare its last part without regard to case.
    pub name: ObjectName,
    /// Arguments; empty for `f()` and `count(*)`.
    pub arguments: Vec<Expr>,
    /// `count(*)`.
    pub star: bool,
    /// DISTINCT inside the parentheses.
    pub distinct: Option<Span>,
    /// ORDER BY inside the parentheses.
    pub order_by: Vec<OrderItem>,
    /// SEPARATOR '…' (decoded).
    pub separator: Option<String>,
    /// FILTER (WHERE …).
    pub filter: Option<Box<Expr>>,
    /// WITHIN GROUP (…).
    pub within_group: Option<Span>,
    /// OVER …: a window function.
    pub over: Option<Span>,
    /// The expressions inside WITHIN GROUP and OVER, in text order.
    pub inner: Vec<Expr>,
}

/// INSERT or REPLACE.
#[derive(Debug, Clone)]
pub struct Insert {
    /// WITH in front.
    pub with: Vec<Cte>,
    /// REPLACE instead of INSERT.
    pub replace: bool,
    /// IGNORE, LOW_PRIORITY, DELAYED, HIGH_PRIORITY, upper-cased.
    pub modifiers: Vec<String>,
    /// The target.
    pub table: Table,
    /// The column list; `None` when it is not written.
    pub columns: Option<Vec<Ident>>,
    /// The column list with its parentheses; the insertion point behind the table name when it is not written.
    pub columns_span: Span,
    /// Where the rows come from.
    pub source: InsertSource,
    /// ON DUPLICATE KEY UPDATE assignments.
    pub on_duplicate: Vec<ColumnAssignment>,
    /// ON CONFLICT.
    pub on_conflict: Option<OnConflict>,
    /// RETURNING items and the whole clause.
    pub returning: Option<(Vec<SelectItem>, Span)>,
    /// The whole statement.
    pub span: Span,
}

/// Where inserted rows come from.
#[derive(Debug, Clone)]
pub enum InsertSource {
    /// VALUES: each row with its parentheses.
    Values {
        /// The rows.
        rows: Vec<InsertRow>,
        /// From the first row's `(` to the last row's `)`.
        span: Span,
    },
    /// SET a = 1, b = 2.
    Set(Vec<ColumnAssignment>),
    /// INSERT … SELECT.
    Query(Box<Query>),
    /// DEFAULT VALUES.
    Default,
}

/// One row of VALUES.
#[derive(Debug, Clone)]
pub struct InsertRow {
    /// Its values.
    pub values: Vec<Expr>,
    /// With its parentheses (and the `ROW` keyword, when written).
    pub span: Span,
}

/// ON CONFLICT of an INSERT.
#[derive(Debug, Clone)]
pub struct OnConflict {
    /// DO UPDATE SET assignments; empty for DO NOTHING.
    pub assignments: Vec<ColumnAssignment>,
    /// WHERE of DO UPDATE.
    pub filter: Option<Expr>,
    /// The whole clause.
    pub span: Span,
}

/// `column = value` in UPDATE, INSERT … SET and upserts. `(a, b) = (…)` gives one entry per column with the same value.
#[derive(Debug, Clone)]
pub struct ColumnAssignment {
    /// The column, perhaps qualified.
    pub column: ObjectName,
    /// The value.
    pub value: Expr,
    /// The whole assignment.
    pub span: Span,
}

/// UPDATE.
#[derive(Debug, Clone)]
pub struct Update {
    /// WITH in front.
    pub with: Vec<Cte>,
    /// The tables between UPDATE and SET.
    pub tables: Vec<TableFactor>,
    /// SET.
    pub assignments: Vec<ColumnAssignment>,
    /// FROM after SET.
    pub from: Vec<TableFactor>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// LIMIT.
    pub limit: Option<Limit>,
    /// RETURNING items and the whole clause.
    pub returning: Option<(Vec<SelectItem>, Span)>,
    /// The whole statement.
    pub span: Span,
}

/// DELETE.
#[derive(Debug, Clone)]
pub struct Delete {
    /// WITH in front.
    pub with: Vec<Cte>,
    /// The tables rows are deleted from (multi-table form: the names listed; else the one table).
    pub targets: Vec<Table>,
    /// FROM/USING factors of the multi-table forms; empty in the plain form.
    pub from: Vec<TableFactor>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// LIMIT.
    pub limit: Option<Limit>,
    /// RETURNING items and the whole clause.
    pub returning: Option<(Vec<SelectItem>, Span)>,
    /// The whole statement.
    pub span: Span,
}

/// A definition statement.
#[derive(Debug, Clone)]
pub struct Define {
    /// What is done.
    pub action: DefineAction,
    /// To what kind of thing.
    pub object: ObjectKind,
    /// The named things: the table of CREATE/ALTER TABLE, every table of DROP/TRUNCATE TABLE, the index of CREATE/DROP INDEX,
    /// the old name of a rename, the database of CREATE/DROP DATABASE.
    pub names: Vec<ObjectName>,
    /// The table an index, trigger or the like belongs to (`ON t`).
    pub on: Option<ObjectName>,
    /// Tables named elsewhere: REFERENCES t, LIKE t, RENAME TO t, INHERITS (t).
    pub referenced: Vec<ObjectName>,
    /// New names: RENAME TO.
    pub renamed_to: Vec<ObjectName>,
    /// Index and constraint names declared or used inside CREATE/ALTER TABLE (they must stay unique where the language makes them global).
    pub inner_names: Vec<InnerName>,
    /// CREATE TABLE: columns in order, as far as they could be read.
    pub columns: Vec<ColumnDefinition>,
    /// CREATE TABLE … AS SELECT, CREATE VIEW … AS SELECT.
    pub query: Option<Box<Query>>,
    /// IF EXISTS / IF NOT EXISTS.
    pub conditional: bool,
    /// TEMPORARY.
    pub temporary: bool,
    /// CASCADE.
    pub cascade: bool,
    /// CREATE INDEX without a name: where one would be inserted.
    pub missing_name_at: Option<u32>,
    /// Indexed column names, where plain (CREATE INDEX).
    pub index_columns: Vec<String>,
}

/// A name inside a definition.
#[derive(Debug, Clone)]
pub struct InnerName {
    /// The name.
    pub name: Ident,
    /// What it names.
    pub kind: InnerKind,
}

/// What an inner name names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InnerKind {
    /// INDEX / KEY name.
    Index,
    /// CONSTRAINT name.
    Constraint,
}

/// A column of CREATE TABLE.
#[derive(Debug, Clone)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: Ident,
    /// The type's text.
    pub type_span: Span,
    /// PRIMARY KEY at the column.
    pub primary_key: bool,
    /// AUTO_INCREMENT, SERIAL, GENERATED … AS IDENTITY.
    pub auto_increment: bool,
}

/// What a definition does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefineAction {
    /// CREATE.
    Create,
    /// ALTER.
    Alter,
    /// DROP.
    Drop,
    /// TRUNCATE.
    Truncate,
    /// RENAME TABLE.
    Rename,
    /// COMMENT ON.
    Comment,
}

/// What a definition defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// A table.
    Table,
    /// An index.
    Index,
    /// A view, materialised or not.
    View,
    /// A database (or, where they are the same, a schema).
    Database,
    /// A schema inside a database.
    Schema,
    /// A sequence.
    Sequence,
    /// A function or procedure.
    Routine,
    /// A trigger or event.
    Trigger,
    /// A user or role.
    User,
    /// A type, domain, extension, … anything else.
    Other,
}

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
    pub name: String,
    /// The value; `None` for RESET and DEFAULT.
    pub value: Option<Expr>,
    /// The value's text.
    pub value_span: Span,
    /// The whole assignment without SET.
    pub span: Span,
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
    /// FROM STDIN.
    pub direction: CopyDirection,
    /// Options, names lower-cased, values decoded: `format`, `delimiter`, `null`, `header`, `quote`, `escape`, `freeze`, …
    pub options: Vec<(String, String)>,
    /// Insertion point of a column list: right behind the table's name.
    pub columns_at: u32,
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
        /// Its query's text.
        body: Span,
        /// Its query.
        query: Box<Query>,
    },
    /// FETCH / MOVE with the text between verb and cursor name.
    Fetch {
        /// The cursor.
        name: Ident,
        /// FORWARD 10, NEXT, ALL, …, upper-cased.
        direction: String,
        /// MOVE.
        moves: bool,
    },
    /// CLOSE name; `None` for ALL.
    Close(Option<Ident>),
}
