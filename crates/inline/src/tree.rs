//! The compiled form of one expression.

use crate::datum::Datum;

/// An expression with its place, for messages while it is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expr {
    /// The character it starts at.
    pub(crate) at: usize,
    pub(crate) kind: Kind,
}

/// What an expression does.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// A value known already.
    Constant(Datum<'static>),
    /// A sharding value, by its position among the variables.
    Slot(usize),
    /// The parameter of a closure, by its nesting from outside.
    Local(usize),
    /// `[a, b]`
    List(Vec<Expr>),
    /// `a..b`, `a..<b`
    Range { low: Box<Expr>, high: Box<Expr>, end: RangeEnd },
    /// `-a`, `!a`
    Unary(Unary, Box<Expr>),
    /// `a + b` and the like
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `a && b`
    And(Box<Expr>, Box<Expr>),
    /// `a || b`
    Or(Box<Expr>, Box<Expr>),
    /// `a ? b : c`
    Choose(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a ?: b`
    Elvis(Box<Expr>, Box<Expr>),
    /// `a[b]`
    Index(Box<Expr>, Box<Expr>),
    /// `a as int`, `(long) a`
    Cast(Type, Box<Expr>),
    /// `a.b(c)`, `a?.b(c)`
    Call { on: Box<Expr>, method: super::methods::Method, arguments: Vec<Expr>, on_null: OnNull },
    /// `Math.abs(a)`, `String.format(a, b)`
    Static { function: super::methods::Function, arguments: Vec<Expr> },
    /// `a.collect { x -> b }`, `a.findAll { x -> b }`
    Each { on: Box<Expr>, each: Each, body: Box<Expr> },
}

/// Operators on one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unary {
    Negate,
    Not,
}

/// Operators on two values that evaluate both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    ShiftLeft,
    ShiftRight,
    BitAnd,
    BitOr,
    BitXor,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Compare,
    In,
}

/// Types a value can be cast to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Integer,
    Long,
    BigInteger,
    Decimal,
    Text,
    Bool,
}

/// Whether a range has its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RangeEnd {
    /// `a..b`
    Included,
    /// `a..<b`
    Excluded,
}

/// What a call of a method of null does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnNull {
    /// `a.b()` is an error.
    Fails,
    /// `a?.b()` is null.
    Passes,
}

/// What is made of the items of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Each {
    /// What the closure says of each.
    Collect,
    /// Those of which the closure is true.
    FindAll,
}
