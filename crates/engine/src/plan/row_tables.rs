//! The table in which a row stands (`tableoid::regclass`), told by its logic name.

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::Target;
use pando_sql::ast::{BinaryOp, Expr, Node, ObjectName, Statement};
use pando_sql::{Edits, Span, visit};

/// Lets expressions that give the name of a row's table give the one that clients know. Where it is compared as a
/// number it stays.
///
/// # Errors
/// `Refused` where it may be the row of another table.
pub(super) fn told(
    ctx: &Context<'_>,
    stmt: &Statement,
    targets: &[Target],
    edits: &mut Edits,
) -> Result<()> {
    let Some(rules) = ctx.dialect.oid_rules() else { return Ok(()) };
    let mut asked: Vec<(Span, &ObjectName)> = Vec::new();
    visit::exprs(&stmt.kind, &mut |expr| {
        if let Some(column) = rules.row_table(expr, &stmt.text) {
            asked.push((expr.span, column));
        }
    });
    if asked.is_empty() {
        return Ok(());
    }
    let mut compared: Vec<Span> = Vec::new();
    visit::exprs(&stmt.kind, &mut |expr| {
        compared.extend(operands(expr).into_iter().map(|operand| operand.span));
    });
    for (span, column) in asked.into_iter().filter(|(span, _)| !compared.contains(span)) {
        if let Some(table) = renamed(stmt, column, targets)? {
            rules.tell_table(span, &table, edits);
        }
    }
    Ok(())
}

/// Whether an expression is to be told so.
pub(super) fn asks(ctx: &Context<'_>, expr: &Expr, text: &str) -> bool {
    ctx.dialect.oid_rules().is_some_and(|rules| rules.row_table(expr, text).is_some())
}

/// What is compared with something else.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn operands(expr: &Expr) -> Vec<&Expr> {
    match &expr.node {
        Node::Binary { op, left, right } if !matches!(op, BinaryOp::Other(_)) => vec![left, right],
        Node::InList { operand, .. } | Node::InQuery { operand, .. } => vec![operand],
        _ => Vec::new(),
    }
}

/// The logic name of the table whose column it is, where units call it otherwise.
fn renamed(stmt: &Statement, column: &ObjectName, targets: &[Target]) -> Result<Option<String>> {
    let owner = column.parts.iter().rev().nth(1);
    let tables = visit::tables(&stmt.kind);
    let meant = tables.iter().filter(|known| {
        let alias = known.table.and_then(|table| table.alias.as_ref());
        let label = alias.or_else(|| known.name.parts.last());
        owner.is_none_or(|owner| label.is_some_and(|label| label.key() == owner.key()))
    });
    let mut names: Vec<String> = meant.map(|known| known.name.key()).collect();
    names.sort_unstable();
    names.dedup();
    let is_renamed = |name: &String| {
        targets.iter().any(|target| target.actual(name).is_some_and(|actual| actual != name))
    };
    match &names[..] {
        [only] => Ok(Some(only.clone()).filter(is_renamed)),
        several if several.iter().any(is_renamed) => Err(Error::unsupported(
            30001,
            "which table's rows `tableoid` is of is not written, and storage units call one of them otherwise",
            "write the table in front of it",
        )),
        _ => Ok(None),
    }
}
