//! Aggregates in a select list: which there are, and which can be computed from the shards' partial results.

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_sql::ast::{Expr, Function, Kind, Node, Query};
use pando_sql::visit;

use super::resolve::unwrapped;

/// An aggregate whose partial results combine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plan) enum Combinable {
    Count,
    Sum,
    Min,
    Max,
    Average,
}

/// Refuses aggregates that users have made: how their partial results combine is not known. Gives back what must be found out first.
///
/// # Errors
/// `Refused`.
pub(in crate::plan) fn unknown(ctx: &Context<'_>, kind: &Kind) -> Result<Option<Need>> {
    if ctx.dialect.aggregates_query().is_none() {
        return Ok(None);
    }
    let mut called = Vec::new();
    visit::exprs(kind, &mut |expr| {
        if let Node::Function(call) = &expr.node
            && !call.is_aggregate()
        {
            called.push(call.plain_name());
        }
    });
    if called.is_empty() {
        return Ok(None);
    }
    let Some(made) = ctx.catalog.routines(&[]).aggregates else {
        return Ok(Some(Need::Aggregates));
    };
    match called.iter().find(|name| made.contains(*name)) {
        Some(name) => Err(refused(&format!("the aggregate `{name}`"))),
        None => Ok(None),
    }
}

/// The aggregate an item is, when it is one and nothing else.
///
/// # Errors
/// `Refused` for aggregates that cannot be combined, window functions, and aggregates inside a larger expression.
pub(in crate::plan) fn of(expr: &Expr, text: &str) -> Result<Option<(Combinable, Function)>> {
    if let Node::Function(function) = &unwrapped(expr).node
        && function.is_aggregate()
        && function.over.is_none()
    {
        return combinable(function, text).map(|kind| Some((kind, (**function).clone())));
    }
    if contains(expr) {
        return Err(refused(&format!("the expression `{}` over aggregates", expr.span.of(text))));
    }
    Ok(None)
}

fn refused(what: &str) -> Error {
    Error::unmerged(
        30001,
        format!("{what} cannot be answered across shards yet"),
        "narrow it to one shard by an equality on the sharding key",
    )
}

fn combinable(function: &Function, text: &str) -> Result<Combinable> {
    let name = function.plain_name();
    let kind = match name.as_str() {
        "count" => Combinable::Count,
        "sum" => Combinable::Sum,
        // False is less than true.
        "min" | "bool_and" | "every" => Combinable::Min,
        "max" | "bool_or" => Combinable::Max,
        "avg" => Combinable::Average,
        _ => return Err(refused(&format!("the aggregate `{name}`"))),
    };
    let plain = function.order_by.is_empty() && function.within_group.is_none();
    let ordinary = matches!(kind, Combinable::Min | Combinable::Max) || function.distinct.is_none();
    let nested = function.arguments.iter().any(contains);
    if plain && ordinary && !nested {
        return Ok(kind);
    }
    let what = function.distinct.map_or(name.as_str(), |_| "an aggregate with DISTINCT");
    let _ = text;
    Err(refused(what))
}

/// Whether an aggregate or a window function stands anywhere inside.
pub(in crate::plan) fn contains(expr: &Expr) -> bool {
    let mut found = false;
    walk(expr, &mut |node| {
        if let Node::Function(function) = node {
            found |= function.is_aggregate() || function.over.is_some();
        }
    });
    found
}

/// Visits an expression's nodes, sub-queries left out.
pub(in crate::plan) fn walk<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Node)) {
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        visit(&expr.node);
        push_children(expr, &mut stack);
    }
}

/// Adds what an expression is made of, sub-queries left out.
pub(in crate::plan) fn push_children<'a>(expr: &'a Expr, stack: &mut Vec<&'a Expr>) {
    match &expr.node {
        Node::Unary { operand, .. }
        | Node::IsNull { operand, .. }
        | Node::Cast { operand, .. }
        | Node::Collate { operand, .. }
        | Node::InQuery { operand, .. }
        | Node::Nested(operand) => stack.push(operand),
        Node::Binary { left, right, .. } => stack.extend([&**left, &**right]),
        Node::Between { operand, low, high, .. } => stack.extend([&**operand, &**low, &**high]),
        Node::InList { operand, list, .. } => {
            stack.push(operand);
            stack.extend(list.trees());
        }
        Node::Like { operand, pattern, .. } => stack.extend([&**operand, &**pattern]),
        Node::Function(function) => stack.extend(&function.arguments),
        Node::Case { operand, branches, otherwise } => {
            stack.extend(operand.iter().map(|e| &**e));
            stack.extend(branches.iter().flat_map(|(when, then)| [when, then]));
            stack.extend(otherwise.iter().map(|e| &**e));
        }
        Node::Row(list) | Node::Other(list) => stack.extend(list),
        Node::Column(_)
        | Node::Literal(_)
        | Node::Parameter(_)
        | Node::Variable(_)
        | Node::Subquery(_)
        | Node::Exists(_)
        | Node::Default => {}
    }
}

/// Whether any item, or ORDER BY, of a query computes an aggregate.
pub(in crate::plan) fn any_in<'a>(exprs: impl Iterator<Item = &'a Expr>) -> bool {
    exprs.into_iter().any(contains)
}

/// Kept for callers that hold only the query.
pub(in crate::plan) fn order_exprs(query: &Query) -> impl Iterator<Item = &Expr> {
    query.order_by.iter().map(|item| &item.expr)
}
