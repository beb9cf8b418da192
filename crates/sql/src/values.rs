//! INSERT … SELECT of nothing but columns of a VALUES list, written as INSERT … VALUES: so each row can be looked at by itself.

use std::fmt::Write as _;

use crate::ast::{
    Distinct, Expr, Insert, InsertSource, Literal, Node, Query, QueryBody, Select, SelectItem,
    TableFactor,
};
use crate::span::Span;

/// The text with its rows in VALUES: what is selected (`p0::integer`, `p1`) is written out for each row. `None` when the query is another one, or asks
/// for an order that the list does not have already. Parameters keep their numbers, so the language must write these.
pub fn as_values(insert: &Insert, text: &str) -> Option<String> {
    let InsertSource::Query(query) = &insert.source else { return None };
    let QueryBody::Select(select) = &query.body else { return None };
    let plain = query.with.is_empty()
        && query.limit.is_none()
        && query.lock.is_none()
        && matches!(select.distinct, Distinct::No)
        && select.filter.is_none()
        && select.group_by.is_empty()
        && select.having.is_none()
        && select.into.is_none()
        && select.window.is_none()
        && insert.with.is_empty();
    let [TableFactor::Derived { query: list, alias: Some(alias), lateral: false, span }] =
        &select.from[..]
    else {
        return None;
    };
    let QueryBody::Values(rows) = &list.body else { return None };
    let bare = list.with.is_empty() && list.limit.is_none() && list.order_by.is_empty();
    let width = rows.first()?.len();
    if !plain || !bare || rows.iter().any(|row| row.len() != width) {
        return None;
    }
    let columns = names(Span::new(alias.span.end, span.end).of(text), width)?;
    let list = List { alias: &alias.value, columns, rows, text };
    list.is_ordered(query)?;
    let mut out = String::with_capacity(text.len());
    out.push_str(text.get(..query.span.start as usize)?);
    out.push_str("VALUES ");
    for (i, row) in rows.iter().enumerate() {
        out.push_str(if i == 0 { "(" } else { ", (" });
        list.write_row(select, row, &mut out)?;
        out.push(')');
    }
    out.push_str(text.get(query.span.end as usize..)?);
    Some(out)
}

/// A VALUES list with the names of its columns.
struct List<'a> {
    alias: &'a str,
    columns: Vec<String>,
    rows: &'a [Vec<Expr>],
    text: &'a str,
}

impl List<'_> {
    fn write_row(&self, select: &Select, row: &[Expr], out: &mut String) -> Option<()> {
        for (i, item) in select.items.iter().enumerate() {
            let SelectItem::Expr { expr, .. } = item else { return None };
            let column = cast_column(expr)?;
            let value = row.get(self.place(column)?)?.span.of(self.text);
            let comma = if i == 0 { "" } else { ", " };
            let before = Span::new(expr.span.start, column.span.start).of(self.text);
            let behind = Span::new(column.span.end, expr.span.end).of(self.text);
            write!(out, "{comma}{before}({value}){behind}").ok()?;
        }
        Some(())
    }

    /// Where a column stands in the list.
    fn place(&self, column: &Expr) -> Option<usize> {
        let Node::Column(name) = &column.node else { return None };
        let last = match &name.parts[..] {
            [only] => only,
            [owner, last] if owner.value == self.alias => last,
            _ => return None,
        };
        self.columns.iter().position(|known| *known == last.value)
    }

    /// Whether the list is in the order the query asks for.
    fn is_ordered(&self, query: &Query) -> Option<()> {
        let [item] = &query.order_by[..] else { return query.order_by.is_empty().then_some(()) };
        let at = self.place(&item.expr)?;
        let keys: Option<Vec<i64>> = self.rows.iter().map(|row| integer(row.get(at)?)).collect();
        (keys?.is_sorted() && !item.descending && item.using.is_none()).then_some(())
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn integer(expr: &Expr) -> Option<i64> {
    match &expr.node {
        Node::Literal(Literal::Integer(number)) => Some(*number),
        Node::Nested(inner) => integer(inner),
        _ => None,
    }
}

/// The column under any casts.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn cast_column(expr: &Expr) -> Option<&Expr> {
    match &expr.node {
        Node::Column(_) => Some(expr),
        Node::Nested(inner) | Node::Cast { operand: inner, .. } => cast_column(inner),
        _ => None,
    }
}

/// The names in `(a, b, "C")`; the list's own (`column1`, …) when nothing is written.
fn names(text: &str, width: usize) -> Option<Vec<String>> {
    let text = text.trim();
    if text.is_empty() {
        return Some((1..=width).map(|n| format!("column{n}")).collect());
    }
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let mut names = Vec::with_capacity(width);
    for name in inner.split(',').map(str::trim) {
        let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
            Some(quoted) if !quoted.contains('"') => names.push(quoted.to_owned()),
            None if !name.is_empty() && name.chars().all(plain) => names.push(name.to_lowercase()),
            Some(_) | None => return None,
        }
    }
    // Columns without a name of their own keep the list's.
    names.extend((names.len() + 1..=width).map(|n| format!("column{n}")));
    (names.len() == width).then_some(names)
}
