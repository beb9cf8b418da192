//! Whether a condition names the whole primary key of a table, so that it fits one row at most and LIMIT has nothing to choose from.

use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_kernel::{Kind, Value};
use pando_sql::Fold;
use pando_sql::ast::{BinaryOp, Expr, Literal, Node, QueryBody, Statement, TableFactor};
use pando_sql::ast::{Kind as StatementKind, Table};

/// What is known of it.
pub(crate) enum Pinned {
    Yes,
    No,
    Needs(Need),
}

/// Looks at an UPDATE, a DELETE or a plain SELECT of one table.
pub(crate) fn pinned(ctx: &Context<'_>, stmt: &Statement) -> Pinned {
    let Some((table, filter)) = of_one_table(stmt) else { return Pinned::No };
    let Some(name) = table.name.parts.last() else { return Pinned::No };
    let name = name.key();
    let Some(columns) = ctx.catalog.columns(&name) else {
        return Pinned::Needs(Need::Columns(name));
    };
    let mut conditions = Vec::new();
    conjuncts(filter, &mut conditions);
    if conditions.iter().any(|one| is_never(one)) {
        return Pinned::Yes;
    }
    let mut keys = columns.iter().filter(|column| column.primary_key).peekable();
    let has_key = keys.peek().is_some();
    let fits = |key: &TableColumn| conditions.iter().any(|one| equals(ctx, key, one));
    if has_key && keys.all(fits) { Pinned::Yes } else { Pinned::No }
}

/// The only table of a statement, and its condition.
fn of_one_table(stmt: &Statement) -> Option<(&Table, &Expr)> {
    if let StatementKind::Update(update) = &stmt.kind
        && let [TableFactor::Table(table)] = &update.tables[..]
        && update.from.is_empty()
    {
        return Some((table, update.filter.as_ref()?));
    }
    if let StatementKind::Delete(delete) = &stmt.kind
        && let [table] = &delete.targets[..]
        && delete.from.is_empty()
    {
        return Some((table, delete.filter.as_ref()?));
    }
    if let StatementKind::Select(query) = &stmt.kind
        && let QueryBody::Select(select) = &query.body
        && let [TableFactor::Table(table)] = &select.from[..]
    {
        return Some((table, select.filter.as_ref()?));
    }
    None
}

fn conjuncts<'a>(expr: &'a Expr, out: &mut Vec<&'a Expr>) {
    if let Node::Nested(inner) = &expr.node {
        conjuncts(inner, out);
    } else if let Node::Binary { op: BinaryOp::And, left, right } = &expr.node {
        conjuncts(left, out);
        conjuncts(right, out);
    } else {
        out.push(expr);
    }
}

/// Whether a condition compares two numbers that differ: no row fits it.
fn is_never(condition: &Expr) -> bool {
    let Node::Binary { op: BinaryOp::Equal, left, right } = &condition.node else { return false };
    let number = |expr: &Expr| {
        if let Node::Literal(Literal::Integer(number)) = expr.node { Some(number) } else { None }
    };
    number(left).zip(number(right)).is_some_and(|(left, right)| left != right)
}

/// Whether a condition is that the key equals a value that one row alone can have.
fn equals(ctx: &Context<'_>, key: &TableColumn, condition: &Expr) -> bool {
    let Node::Binary { op: BinaryOp::Equal, left, right } = &condition.node else { return false };
    let is_key = |expr: &Expr| {
        matches!(&expr.node, Node::Column(name)
            if name.parts.last().is_some_and(|name| name.value.eq_ignore_ascii_case(&key.name)))
    };
    is_key(left) && is_exact(ctx, key, right) || is_key(right) && is_exact(ctx, key, left)
}

/// Whether the key is compared with the value as its own type compares. MySQL compares texts with numbers, and large integers with floats, as floats,
/// of which several keys may be one.
fn is_exact(ctx: &Context<'_>, key: &TableColumn, value: &Expr) -> bool {
    let is_strict = ctx.dialect.syntax().fold == Fold::Lower;
    let number = matches!(key.kind, Kind::Bool | Kind::Int | Kind::UInt | Kind::Decimal);
    let text = matches!(key.kind, Kind::Text | Kind::Bytes);
    if let Node::Literal(literal) = &value.node {
        return is_strict
            || match literal {
                Literal::Integer(_) => number,
                Literal::Text(_) => number || text,
                Literal::Bytes(_) => text,
                Literal::Number(_) | Literal::Boolean(_) | Literal::Null | Literal::Typed(..) => {
                    false
                }
            };
    }
    let Node::Parameter(index) = &value.node else { return false };
    is_strict
        || ctx.parameter(*index).is_none_or(|value| match value {
            Value::Int(_) | Value::UInt(_) => number,
            Value::Text(_) => number || text,
            Value::Bytes(_) => text,
            Value::Null | Value::Bool(_) | Value::Float(_) | Value::Decimal(_) => false,
        })
}
