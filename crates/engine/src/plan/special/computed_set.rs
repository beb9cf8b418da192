//! `setval` to what a query computes.

use pando_sql::Span;
use pando_sql::ast::{Expr, Kind, Node, QueryBody, SelectItem, Statement};

use super::sequence_calls::{Call, Verb};

/// A query that sets one sequence to what is computed, perhaps of rows: how that is computed first, and then set.
#[derive(Debug)]
pub(crate) struct ComputedSet {
    /// The query for the values, in the place of the call.
    pub(crate) query: String,
    /// The call and what stands around it, in pieces between which the values stand.
    pub(crate) head: String,
    pub(crate) tail: String,
}

/// Such a query; `None` for another statement.
pub(crate) fn computed_set(stmt: &Statement, calls: &[Call]) -> Option<ComputedSet> {
    let ([call], 0) = (calls, stmt.parameters) else { return None };
    let (Kind::Select(query), Verb::Set) = (&stmt.kind, call.verb) else { return None };
    let QueryBody::Select(select) = &query.body else { return None };
    let [SelectItem::Expr { expr, span: item, .. }] = &select.items[..] else { return None };
    let Node::Function(function) = &expr.node else { return None };
    let is_plain = expr.span == call.span && query.with.is_empty() && select.into.is_none();
    let is_computed = |value: &Expr| !matches!(value.node, Node::Literal(_));
    let [first, values @ ..] = &function.arguments[..] else { return None };
    if !is_plain || select.from.is_empty() && !values.iter().any(is_computed) {
        return None;
    }
    let text = &stmt.text;
    let last = values.last()?;
    let values = Span::new(values.first()?.span.start, last.span.end);
    let (before, behind) =
        (Span::new(0, item.start), Span::new(item.end, u32::try_from(text.len()).ok()?));
    let query = format!("{}{}{}", before.of(text), values.of(text), behind.of(text));
    let named = call.sequence.as_ref()?;
    let name = Span::new(item.start, first.span.start).of(text);
    let head = format!("SELECT {name}{}, ", named.written);
    Some(ComputedSet { query, head, tail: Span::new(last.span.end, item.end).of(text).to_owned() })
}
