//! The condition of a query of one plain view, inside of the view's query: there its shards are seen.

use pando_sql::ast::{
    Distinct, Expr, Kind, Node, ObjectName, Query, QueryBody, Select, SelectItem, Statement, Table,
    TableFactor,
};
use pando_sql::{Edits, Fold, Span, visit};

use super::names;
use crate::plan::merge_plan::aggregate;

/// What is seen in a view.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) query: &'a Statement,
    /// How names of columns compare.
    pub(super) fold: Fold,
}

/// The text of the view's query with the condition of the statement, which is taken out of the statement; `None` where
/// it is to stay. It says the same in either place: the view gives each of its rows for one of what it reads, or for
/// none.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
pub(super) fn narrowed(
    stmt: &Statement,
    table: &Table,
    view: &Seen<'_>,
    edits: &mut Edits,
) -> Option<String> {
    let Seen { query: view, fold } = *view;
    let filter = only_filter(stmt, table)?;
    let select = plain(view)?;
    let (mut moved, mut is_movable) = (Edits::default(), true);
    let label = table.alias.as_ref().or(table.name.parts.last())?;
    visit::exprs_in(filter, &mut |expr| match &expr.node {
        Node::Column(name) => {
            let is_own = match &name.parts[..] {
                [_] => true,
                [owner, _] => owner.is_alike(label),
                _ => false,
            };
            match column(select, name, fold).filter(|_| is_own) {
                Some(own) => moved.replace(name.span, own.span.of(&view.text)),
                None => is_movable = false,
            }
        }
        Node::Subquery(_) | Node::Exists(_) | Node::InQuery { .. } | Node::Other(_) => {
            is_movable = false;
        }
        _ => {}
    });
    if !is_movable {
        return None;
    }
    let whole = moved.apply(&stmt.text);
    let behind = stmt.text.len().checked_sub(filter.span.end as usize)?;
    let condition = whole.get(filter.span.start as usize..whole.len().checked_sub(behind)?)?;
    let mut inside = Edits::default();
    match &select.filter {
        Some(own) => inside.around(own.span, "(", format!(") AND ({condition})")),
        None => inside.replace(Span::at(select.end), format!(" WHERE {condition}")),
    }
    edits.replace(Span::new(table.span.end, filter.span.end), "");
    Some(inside.apply(&view.text))
}

/// The condition of a query of this table alone.
fn only_filter<'a>(stmt: &'a Statement, table: &Table) -> Option<&'a Expr> {
    let Kind::Select(query) = &stmt.kind else { return None };
    let QueryBody::Select(select) = &query.body else { return None };
    let [TableFactor::Table(only)] = &select.from[..] else { return None };
    let is_alone = only.name.span == table.name.span
        && only.extras.is_empty()
        && query.with.is_empty()
        && visit::tables(&stmt.kind).len() == 1;
    select.filter.as_ref().filter(|_| is_alone)
}

/// The SELECT of a view that gives each row for one of what it reads.
fn plain(view: &Statement) -> Option<&Select> {
    let Kind::Select(query) = &view.kind else { return None };
    let Query { with, body: QueryBody::Select(select), limit: None, lock: None, .. } = &**query
    else {
        return None;
    };
    let exprs = || {
        select.items.iter().filter_map(|item| match item {
            SelectItem::Expr { expr, .. } => Some(expr),
            SelectItem::Star(_) | SelectItem::QualifiedStar(..) => None,
        })
    };
    let mut has_windows = false;
    for expr in exprs() {
        visit::exprs_in(expr, &mut |inner| {
            has_windows |= matches!(&inner.node, Node::Function(call) if call.over.is_some());
        });
    }
    let is_plain = with.is_empty()
        && matches!(select.distinct, Distinct::No)
        && select.group_by.is_empty()
        && !select.grouping_sets
        && select.having.is_none()
        && select.window.is_none()
        && !has_windows
        && !aggregate::any_in(exprs());
    is_plain.then_some(&**select)
}

/// The column that a view shows under a name.
fn column<'a>(select: &'a Select, name: &ObjectName, fold: Fold) -> Option<&'a ObjectName> {
    let wanted = &name.parts.last()?.value;
    let mut found = select.items.iter().filter_map(|item| {
        let SelectItem::Expr { expr, alias, .. } = item else { return None };
        let Node::Column(own) = &expr.node else { return None };
        let shown = alias.as_ref().or(own.parts.last())?;
        names::are_same(fold, &shown.value, wanted).then_some(own)
    });
    found.next().filter(|_| found.next().is_none())
}
