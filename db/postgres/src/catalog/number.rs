//! Numbers of objects in statements.

use pando_sql::ast::{Expr, Literal, Node};

/// A literal that can be an object's number.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
pub(super) fn number(expr: &Expr) -> Option<u64> {
    match &expr.node {
        Node::Literal(Literal::Integer(number)) => u64::try_from(*number).ok(),
        Node::Literal(Literal::Text(text)) => text.trim().parse().ok(),
        _ => None,
    }
    .filter(|number| u32::try_from(*number).is_ok())
}
