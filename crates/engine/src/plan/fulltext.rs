//! MATCH … AGAINST: how well a row matches hangs on all rows of its table, whether it does on the row alone.

use pando_kernel::error::{Error, Result};
use pando_sql::ast::{BinaryOp, Expr, Kind, Node, Query, QueryBody, Statement};
use pando_sql::{Edits, visit};

/// Refuses scores that are told, sorted or compared: each shard's are of its own rows.
///
/// # Errors
/// `Refused`; no other way answers it either, as rows that are brought together have no such index.
pub(super) fn refuse_scores(stmt: &Statement) -> Result<()> {
    let (mut all, mut asked) = (0_usize, 0_usize);
    visit::exprs(&stmt.kind, &mut |expr| all += usize::from(is_match(stmt, expr)));
    if all == 0 {
        return Ok(());
    }
    filters(&stmt.kind, &mut |filter| asked += whether(stmt, filter));
    if all == asked {
        return Ok(());
    }
    Err(Error::unsupported(
        30001,
        "how well a row matches (MATCH … AGAINST as a value) hangs on all rows of the table, and each shard knows its own only",
        "ask whether it matches, in WHERE, or narrow it to one shard by an equality on the sharding key",
    ))
}

/// Whether a statement has such an expression once it is edited.
pub(super) fn remains(stmt: &Statement, edits: &Edits) -> bool {
    let mut any = false;
    visit::exprs(&stmt.kind, &mut |expr| any |= is_match(stmt, expr) && !edits.covers(expr.span));
    any
}

fn is_match(stmt: &Statement, expr: &Expr) -> bool {
    if !matches!(expr.node, Node::Other(_)) {
        return false;
    }
    let text = expr.span.of(&stmt.text).as_bytes();
    let (word, rest) = text.split_at(text.len().min(5));
    word.eq_ignore_ascii_case(b"match")
        && rest.first().is_some_and(|next| !next.is_ascii_alphanumeric() && *next != b'_')
}

/// How many of them only say yes or no in a condition.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn whether(stmt: &Statement, condition: &Expr) -> usize {
    match &condition.node {
        Node::Other(_) => usize::from(is_match(stmt, condition)),
        Node::Nested(inner) => whether(stmt, inner),
        Node::Unary { op, operand } if op == "NOT" || op == "!" => whether(stmt, operand),
        Node::Binary { op: BinaryOp::And | BinaryOp::Or | BinaryOp::Xor, left, right } => {
            whether(stmt, left) + whether(stmt, right)
        }
        _ => 0,
    }
}

/// The conditions of the statement that only let rows through.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter: others have none")]
fn filters<'a>(kind: &'a Kind, see: &mut dyn FnMut(&'a Expr)) {
    match kind {
        Kind::Select(query) => of_query(query, see),
        Kind::Update(update) => update.filter.iter().for_each(see),
        Kind::Delete(delete) => delete.filter.iter().for_each(see),
        Kind::Explain { inner, .. } => filters(inner, see),
        _ => {}
    }
}

fn of_query<'a>(query: &'a Query, see: &mut dyn FnMut(&'a Expr)) {
    match &query.body {
        QueryBody::Select(select) => select.filter.iter().for_each(see),
        QueryBody::Set { left, right, .. } => {
            of_query(left, see);
            of_query(right, see);
        }
        QueryBody::Values(_) => {}
    }
}
