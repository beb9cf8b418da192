//! The row that a condition asks for by its key, when that stands in it.

use pando_kernel::Value;
use pando_sql::ast::{BinaryOp, Expr, Kind, Literal, Node, QueryBody};
use pando_sql::visit;

use super::About;
use crate::image::Row;
use crate::lock;

/// The name under which the only row is held that a statement can find; `None` when its condition does not pin the primary key to constants. A constant that is
/// written otherwise than the server writes it gives a name that nobody holds.
pub(super) fn asked(about: &About<'_>) -> Option<String> {
    // The key of another table would name a row of this one.
    if visit::tables(&about.stmt.kind).len() != 1 {
        return None;
    }
    let filter = filter(&about.stmt.kind)?;
    let shape = &about.table.shape;
    let mut row: Row = vec![None; shape.columns.len()];
    for at in &shape.key {
        let value = pinned(about, filter, &shape.columns.get(*at)?.name)?;
        *row.get_mut(*at)? = Some(value);
    }
    lock::name(about.table, &shape.key, &row, 0)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over statements")]
fn filter(kind: &Kind) -> Option<&Expr> {
    match kind {
        Kind::Update(update) => update.filter.as_ref(),
        Kind::Delete(delete) => delete.filter.as_ref(),
        Kind::Select(query) => match &query.body {
            QueryBody::Select(select) => select.filter.as_ref(),
            QueryBody::Set { .. } | QueryBody::Values(_) => None,
        },
        _ => None,
    }
}

/// The constant that a column must be equal to.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn pinned(about: &About<'_>, expr: &Expr, name: &str) -> Option<String> {
    match &expr.node {
        Node::Nested(inner) => pinned(about, inner, name),
        Node::Binary { op: BinaryOp::And, left, right } => {
            pinned(about, left, name).or_else(|| pinned(about, right, name))
        }
        Node::Binary { op: BinaryOp::Equal, left, right } => match () {
            () if is_column(left, name) => constant(about, right),
            () if is_column(right, name) => constant(about, left),
            () => None,
        },
        _ => None,
    }
}

fn is_column(expr: &Expr, name: &str) -> bool {
    let Node::Column(column) = &expr.node else { return false };
    column.parts.last().is_some_and(|part| part.value.eq_ignore_ascii_case(name))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn constant(about: &About<'_>, expr: &Expr) -> Option<String> {
    match &expr.node {
        Node::Nested(inner) => constant(about, inner),
        Node::Literal(Literal::Integer(number)) => Some(number.to_string()),
        Node::Literal(Literal::Text(text)) => Some(text.clone()),
        Node::Parameter(at) => match &about.parameters.get(*at as usize)?.value {
            Value::Int(number) => Some(number.to_string()),
            Value::UInt(number) => Some(number.to_string()),
            Value::Text(text) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}
