//! Expressions.

use super::{List, ObjectName, OrderItem, Query};
use crate::span::Span;

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
        list: List,
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
