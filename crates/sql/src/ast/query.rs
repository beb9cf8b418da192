//! SELECT and everything inside it.

use super::{Expr, Ident, Kind, ObjectName};
use crate::span::Span;

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
    /// That are user variables, so that nothing is written.
    pub into_variables: bool,
    /// FROM items, comma separated; joins are nested.
    pub from: Vec<TableFactor>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// GROUP BY items.
    pub group_by: Vec<Expr>,
    /// ASC (`Some(false)`) or DESC (`Some(true)`) behind each of them, which MariaDB and MySQL 5.7 sort by where there is no ORDER BY.
    pub group_descending: Vec<Option<bool>>,
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

impl Select {
    /// Whether GROUP BY says how its groups are sorted.
    pub fn sorts_groups(&self) -> bool {
        self.group_descending.iter().any(Option::is_some)
    }
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
    /// The names it gives its columns behind the alias, in parentheses; among the extras, too.
    pub columns: Option<Span>,
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
    /// The names that columns get behind the alias of a join in parentheses.
    pub columns: Option<Span>,
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
