//! Defaults that ask for the time, written out where servers cannot be told it.

use pando_kernel::clock::{Clock, Timed};
use pando_kernel::dialect::TableColumn;
use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_sql::ast::{
    ColumnAssignment, Insert, InsertSource, Kind, Node, Query, QueryBody, SelectItem, Statement,
};
use pando_sql::{Edits, Span, Token, tokenize};

use super::words::found;
use super::{changed, is_needed, writes_by_clock};
use crate::plan::parse::parsed;
use crate::plan::special::temporary;

/// The statement with those defaults written out that ask for the time, where a statement for so many units leaves
/// them to its servers and these cannot be told; `None` where it can stay.
///
/// # Errors
/// `Internal` where what was written cannot be read.
pub(in crate::plan) fn with_defaults(
    ctx: &Context<'_>,
    stmt: &Statement,
    units: usize,
) -> Result<Option<Statement>> {
    let Some(clock) = ctx.dialect.clock() else { return Ok(None) };
    let tells_servers = clock.by_servers().is_any();
    if tells_servers
        || !is_needed(ctx, clock, units)
        || temporary::concerned(ctx, stmt).is_some()
        || !writes_by_clock(ctx, stmt)
    {
        return Ok(None);
    }
    let mut edits = Edits::default();
    if let Kind::Insert(insert) = &stmt.kind {
        inserted(ctx, stmt, insert, &mut edits);
    }
    if let Kind::Update(update) = &stmt.kind
        && let [table] = &changed(ctx, stmt)[..]
    {
        assigned(ctx, table, &update.assignments, &mut edits);
    }
    if edits.is_empty() {
        return Ok(None);
    }
    parsed(ctx, &edits.apply(&stmt.text)).map(Some)
}

/// `SET at = DEFAULT`.
fn assigned(ctx: &Context<'_>, table: &str, all: &[ColumnAssignment], edits: &mut Edits) {
    let columns = ctx.catalog.columns(table).unwrap_or_default();
    for one in all.iter().filter(|one| matches!(one.value.node, Node::Default)) {
        let Some(name) = one.column.parts.last() else { continue };
        let own = columns.iter().find(|column| column.name == name.value);
        if let Some(default) = own.and_then(|column| column.timed.as_deref()) {
            edits.replace(one.value.span, default);
        }
    }
}

/// The defaults that an INSERT leaves to its servers.
struct Left<'a> {
    /// The columns that its values are for, in their order.
    listed: Vec<&'a str>,
    /// Columns and defaults that are not among them.
    added: Vec<(&'a str, &'a str)>,
}

fn left<'a>(columns: &'a [TableColumn], insert: &'a Insert) -> Option<Left<'a>> {
    let listed: Vec<&str> = match (&insert.columns, &insert.source) {
        (Some(list), _) => list.iter().map(|column| column.value.as_str()).collect(),
        (None, InsertSource::Default) => Vec::new(),
        (None, source) => {
            columns.iter().take(width(source)?).map(|column| column.name.as_str()).collect()
        }
    };
    let timed = columns.iter().filter_map(|column| Some((&*column.name, column.timed.as_deref()?)));
    let added = timed.filter(|(name, _)| !listed.contains(name)).collect();
    Some(Left { listed, added })
}

/// Whether an INSERT names its columns and has its rows with it: what it leaves to its servers is put behind both.
pub(super) fn is_listed(insert: &Insert) -> bool {
    insert.columns.is_some() && matches!(insert.source, InsertSource::Values { .. })
}

/// Puts defaults that ask for the time into such an INSERT.
pub(super) fn put_in(
    ctx: &Context<'_>,
    clock: &dyn Clock,
    stmt: &Statement,
    edits: &mut Edits,
) -> Timed {
    let Kind::Insert(insert) = &stmt.kind else { return Timed::default() };
    let InsertSource::Values { rows, .. } = &insert.source else { return Timed::default() };
    let [table] = &changed(ctx, stmt)[..] else { return Timed::default() };
    let columns = ctx.catalog.columns(table).unwrap_or_default();
    let Some(Left { listed, added }) = left(&columns, insert) else { return Timed::default() };
    let mut timed = Timed::default();
    let mut told = |default: &str| {
        let mut own = Edits::default();
        for word in found(ctx, clock, default) {
            timed = timed.and(word.asked.timed);
            own.replace(word.span, word.asked.written.unwrap_or_else(|| word.name.clone()));
        }
        own.apply(default)
    };
    let own = columns.iter().filter_map(|column| Some((&*column.name, column.timed.as_deref()?)));
    for (name, default) in own {
        let Some(at) = listed.iter().position(|listed| *listed == name) else { continue };
        let values = rows.iter().filter_map(|row| row.trees()?.get(at));
        for value in values.filter(|value| matches!(value.node, Node::Default)) {
            edits.replace(value.span, told(default));
        }
    }
    if added.is_empty() {
        return timed;
    }
    let names: String =
        added.iter().map(|(name, _)| format!(", {}", ctx.dialect.quote(name))).collect();
    edits.replace(Span::at(insert.columns_span.end.saturating_sub(1)), names);
    let values: String = added.iter().map(|(_, default)| format!(", {}", told(default))).collect();
    for row in rows {
        edits.replace(Span::at(row.span.end.saturating_sub(1)), values.as_str());
    }
    timed
}

fn inserted(ctx: &Context<'_>, stmt: &Statement, insert: &Insert, edits: &mut Edits) {
    let [table] = &changed(ctx, stmt)[..] else { return };
    let columns = ctx.catalog.columns(table).unwrap_or_default();
    if let Some(conflict) = &insert.on_conflict {
        assigned(ctx, table, &conflict.assignments, edits);
    }
    if is_listed(insert) {
        return;
    }
    let Some(Left { listed, added }) = left(&columns, insert) else { return };
    if added.is_empty() && !matches!(insert.source, InsertSource::Values { .. }) {
        return;
    }
    let names = || added.iter().map(|(name, _)| ctx.dialect.quote(name));
    let values: Vec<&str> = added.iter().map(|(_, default)| *default).collect();
    let further = format!(", {}", values.join(", "));
    match &insert.source {
        // With their list they are as others are that have one.
        InsertSource::Values { .. } => {
            let own: Vec<String> = listed.iter().map(|name| ctx.dialect.quote(name)).collect();
            edits.replace(insert.columns_span, format!(" ({})", own.join(", ")));
        }
        InsertSource::Query(query) => {
            if !queried(query, &further, edits) {
                return;
            }
            let (span, own) = match insert.columns {
                Some(_) => (Span::at(insert.columns_span.end.saturating_sub(1)), Vec::new()),
                None => (
                    insert.columns_span,
                    listed.iter().map(|name| ctx.dialect.quote(name)).collect(),
                ),
            };
            let all: Vec<String> = own.into_iter().chain(names()).collect();
            let all = all.join(", ");
            let written =
                if insert.columns.is_some() { format!(", {all}") } else { format!(" ({all})") };
            edits.replace(span, written);
        }
        InsertSource::Default => {
            let all: Vec<String> = names().collect();
            let text = format!(" ({}) VALUES ({})", all.join(", "), values.join(", "));
            if let Some(span) = default_values(ctx, &stmt.text) {
                edits.replace(span, text);
            }
        }
        InsertSource::Set(_) => {}
    }
}

/// How many values each row has; `None` where they have not the same number, or it does not show.
fn width(source: &InsertSource) -> Option<usize> {
    match source {
        InsertSource::Values { rows, .. } => {
            let width = rows.first()?.width();
            rows.iter().all(|row| row.width() == width).then_some(width)
        }
        InsertSource::Query(query) => items(query),
        InsertSource::Set(_) | InsertSource::Default => None,
    }
}

/// How many columns a query gives, where that shows.
fn items(query: &Query) -> Option<usize> {
    match &query.body {
        QueryBody::Select(select) => {
            let is_one = |item: &SelectItem| matches!(item, SelectItem::Expr { .. });
            select.items.iter().all(is_one).then_some(select.items.len())
        }
        QueryBody::Set { left, .. } => items(left),
        QueryBody::Values(rows) => rows.first().map(Vec::len),
    }
}

/// Adds items to each part of a query. False where one cannot take them.
fn queried(query: &Query, further: &str, edits: &mut Edits) -> bool {
    match &query.body {
        QueryBody::Select(select) => {
            let Some(last) = select.items.last() else { return false };
            let (SelectItem::Star(span)
            | SelectItem::QualifiedStar(_, span)
            | SelectItem::Expr { span, .. }) = last;
            edits.replace(Span::at(span.end), further);
            true
        }
        QueryBody::Set { left, right, .. } => {
            queried(left, further, edits) && queried(right, further, edits)
        }
        QueryBody::Values(rows) => {
            let ends: Option<Vec<u32>> =
                rows.iter().map(|row| row.last().map(|last| last.span.end)).collect();
            let Some(ends) = ends else { return false };
            ends.iter().for_each(|end| edits.replace(Span::at(*end), further));
            true
        }
    }
}

/// Where `DEFAULT VALUES` stands.
pub(in crate::plan) fn default_values(ctx: &Context<'_>, text: &str) -> Option<Span> {
    let tokens = tokenize(text, ctx.dialect.syntax()).ok()?.list;
    let word = |token: &Token, word: &str| token.span.of(text).eq_ignore_ascii_case(word);
    let pair = tokens.windows(2).find(|pair| word(&pair[0], "default") && word(&pair[1], "values"));
    pair.map(|pair| pair[0].span.to(pair[1].span))
}
