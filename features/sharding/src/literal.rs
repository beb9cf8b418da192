//! Constants in a statement: literals and bound parameters.

use pando_kernel::Value;
use pando_sql::ast::{Expr, Literal, Node};

use crate::asked::Asked;
use crate::cast;

/// The expression inside parentheses.
pub(crate) fn unwrapped(expr: &Expr) -> &Expr {
    let mut expr = expr;
    while let Node::Nested(inner) = &expr.node {
        expr = inner;
    }
    expr
}

/// The value of a constant expression; `None` when it is not one, or its parameter is not bound.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter over syntax nodes: every other one says nothing about a shard"
)]
pub(crate) fn value(asked: &Asked<'_>, expr: &Expr) -> Option<Value> {
    match &expr.node {
        Node::Nested(inner) => value(asked, inner),
        Node::Unary { op, operand } if op == "-" => negated(value(asked, operand)?),
        Node::Unary { op, operand } if op == "+" => {
            value(asked, operand).filter(|value| !matches!(value, Value::Text(_) | Value::Bytes(_)))
        }
        Node::Cast { operand, to } => cast::cast(value(asked, operand)?, to.of(&asked.stmt.text)),
        Node::Literal(Literal::Typed(to, text)) => cast::cast(Value::Text(text.clone()), to),
        Node::Literal(literal) => Value::of_literal(literal),
        Node::Parameter(index) => asked.ctx.parameter(*index).cloned(),
        _ => None,
    }
}

/// Whether an expression is a parameter, whatever its value.
pub(crate) fn is_parameter(expr: &Expr) -> bool {
    matches!(unwrapped(expr).node, Node::Parameter(_))
}

fn negated(value: Value) -> Option<Value> {
    match value {
        Value::Null => Some(Value::Null),
        Value::Int(n) => n.checked_neg().map(Value::Int),
        Value::UInt(n) => i64::try_from(-i128::from(n)).ok().map(Value::Int),
        Value::Float(n) => Some(Value::Float(-n)),
        Value::Decimal(n) => Some(Value::Decimal(-n)),
        Value::Bool(_) | Value::Text(_) | Value::Bytes(_) => None,
    }
}
