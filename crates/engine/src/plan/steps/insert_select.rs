//! INSERT … SELECT whose source and target do not stand together: the query's rows are read first, and written as INSERT … VALUES.

use std::collections::BTreeSet;
use std::sync::Arc;

use pando_kernel::dialect::TableColumn;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::Context;
use pando_kernel::insert::unknown_column;
use pando_kernel::route::Need;
use pando_sql::ast::{
    ColumnAssignment, Distinct, Expr, Insert, InsertSource, Kind, Literal, Node, Query, QueryBody,
    Select, SelectItem, Statement,
};
use pando_sql::{Edits, Placeholder, Span, TokenKind, tokenize, visit};

use super::Apart;
use crate::plan::{any_unit, leftovers, numbering};

/// Such a statement, taken apart.
#[derive(Debug, Clone)]
pub struct InsertSelect {
    /// The query, with its WITH.
    pub(crate) query: Arc<str>,
    /// Which of the statement's parameters the query takes, in its own order.
    pub(crate) query_parameters: Vec<u32>,
    /// The text in front of VALUES, and behind the rows.
    pub(crate) head: String,
    /// See `head`.
    pub(crate) tail: String,
    /// Which of the statement's parameters head and tail take, in their own order.
    pub(crate) rest_parameters: Vec<u32>,
    /// What the query's columns are assigned to; never empty.
    pub(crate) columns: Vec<TableColumn>,
    /// The statement lists its columns.
    pub(crate) lists_columns: bool,
    /// By columns of the query: what stands there where that is a constant, which may mean something else for each type that it is assigned to.
    pub(crate) constants: Vec<Option<Arc<str>>>,
    /// It gives rows back.
    pub(crate) returns: bool,
    /// It turns errors of values into warnings.
    pub(crate) ignores: bool,
}

impl InsertSelect {
    /// The INSERT of these rows, each in parentheses, with commas between.
    pub(crate) fn insert(&self, rows: &str) -> Arc<str> {
        format!("{}VALUES {rows}{}", self.head, self.tail).into()
    }

    /// The INSERT of one row of parameters, by which everything about the target can be asked before the rows are there. The parameters of the row have
    /// numbers above the statement's `parameters`, or stand in front of its others where they have none.
    pub(crate) fn template(&self, placeholder: Placeholder, parameters: u32) -> Arc<str> {
        let first = parameters + 1;
        let row: Vec<String> = (first..)
            .take(self.columns.len())
            .map(|number| match placeholder {
                Placeholder::Dollar => format!("${number}"),
                Placeholder::Question => "?".to_owned(),
            })
            .collect();
        self.insert(&format!("({})", row.join(", ")))
    }
}

/// Takes an INSERT … SELECT apart; `None` where the language or the statement has no such form.
///
/// # Errors
/// `Refused` where a part of it cannot be kept.
pub(in crate::plan) fn take_apart(
    ctx: &Context<'_>,
    stmt: &Statement,
) -> Result<Apart<InsertSelect>> {
    let Kind::Insert(insert) = &stmt.kind else { return Ok(Ok(None)) };
    let InsertSource::Query(query) = &insert.source else { return Ok(Ok(None)) };
    let Some(transfer) = ctx.dialect.transfer().filter(|_| any_unit(ctx).is_some()) else {
        return Ok(Ok(None));
    };
    leftovers::check(ctx, stmt)?;
    let Some(target) = insert.table.name.parts.last() else { return Ok(Ok(None)) };
    let logic = target.key();
    let Some(known) = ctx.catalog.columns(&logic) else { return Ok(Err(Need::Columns(logic))) };
    if known.is_empty() {
        return Err(ErrorKind::UnknownTable(target.value.clone()).into());
    }
    for shows in ctx.database.features.iter().filter_map(|room| room.columns()) {
        if let Some(need) = shows.carries(ctx, stmt)? {
            return Ok(Err(need));
        }
    }
    tail_is_about_the_target(stmt, insert, &known)?;
    let columns = match &insert.columns {
        Some(listed) if !listed.is_empty() => {
            let own = |name: &str| known.iter().find(|one| one.name.eq_ignore_ascii_case(name));
            let missing = |name: &str| unknown_column(ctx.dialect, target.value.as_str(), name);
            listed
                .iter()
                .map(|name| own(&name.value).cloned().ok_or_else(|| missing(&name.value)))
                .collect::<Result<Vec<_>>>()?
        }
        Some(_) | None => known.iter().filter(|column| !column.invisible).cloned().collect(),
    };
    let (constants, edits) = open_items(stmt, query, &columns, transfer);
    let Some(whole) = with_parentheses(ctx, stmt, insert, query) else { return Ok(Ok(None)) };
    let Some(with) = with(stmt, insert, query) else { return Ok(Ok(None)) };
    let text = edits.apply(stmt.text.get(..query.span.end as usize).unwrap_or_default());
    let text = text.get(query.span.start as usize..).unwrap_or_default();
    let before = |span: Span| stmt.text.get(..span.start as usize).unwrap_or_default();
    let head_start = insert.with.last().map_or(0, |last| last.span.end) as usize;
    let hint = stmt.hint_span.map_or("", |span| span.of(&stmt.text));
    let own_hint = if insert.with.is_empty() { "" } else { hint };
    let parameters = numbering::parameters(stmt);
    let inside = |span: &Span| {
        whole.start <= span.start && span.end <= whole.end || (span.end as usize) <= head_start
    };
    Ok(Ok(Some(InsertSelect {
        query: format!("{hint}{with} {text}").into(),
        query_parameters: numbers(parameters.iter().filter(|(span, _)| inside(span))),
        head: format!("{own_hint}{}", before(whole).get(head_start..).unwrap_or_default()),
        tail: stmt.text.get(whole.end as usize..).unwrap_or_default().to_owned(),
        rest_parameters: numbers(parameters.iter().filter(|(span, _)| !inside(span))),
        columns,
        lists_columns: insert.columns.as_ref().is_some_and(|listed| !listed.is_empty()),
        constants,
        returns: insert.returning.is_some(),
        ignores: insert.modifiers.iter().any(|word| word == "IGNORE"),
    })))
}

fn numbers<'a>(parameters: impl Iterator<Item = &'a (Span, u32)>) -> Vec<u32> {
    parameters.map(|(_, index)| *index).collect()
}

/// The parameters that a part of a statement takes: all where they have numbers, else its own.
pub(crate) fn taken<T: Clone>(placeholder: Placeholder, all: &[T], own: &[u32]) -> Vec<T> {
    match placeholder {
        Placeholder::Dollar => all.to_vec(),
        Placeholder::Question => {
            own.iter().filter_map(|index| all.get(*index as usize).cloned()).collect()
        }
    }
}

/// WITH in front of INSERT belongs to the query; `None` when the query has one of its own, or a part of it changes rows.
fn with<'a>(stmt: &'a Statement, insert: &Insert, query: &Query) -> Option<&'a str> {
    let Some(last) = insert.with.last() else { return Some("") };
    let only_reads = insert
        .with
        .iter()
        .all(|cte| matches!(&*cte.body, Kind::Select(query) if query.lock.is_none()));
    let start = stmt.hint_span.map_or(0, |hint| hint.end).max(insert.span.start);
    let text = stmt.text.get(start as usize..last.span.end as usize)?;
    (only_reads && query.with.is_empty()).then_some(text)
}

/// The query with the parentheses around it.
fn with_parentheses(
    ctx: &Context<'_>,
    stmt: &Statement,
    insert: &Insert,
    query: &Query,
) -> Option<Span> {
    let from = insert.columns_span.end.max(insert.table.span.end);
    let tokens = tokenize(&stmt.text, ctx.dialect.syntax()).ok()?;
    let is_word = |kind: TokenKind| {
        matches!(kind, TokenKind::Word | TokenKind::QuotedIdentifier | TokenKind::UnicodeIdentifier)
    };
    let between = tokens
        .list
        .iter()
        .filter(|token| from <= token.span.start && token.span.end <= query.span.start);
    let mut opened: Vec<Span> = Vec::new();
    for token in between {
        match token.span.of(&stmt.text) {
            "(" => opened.push(token.span),
            // OVERRIDING … VALUE stands in front of them.
            _ if is_word(token.kind) && opened.is_empty() => {}
            _ => return None,
        }
    }
    let behind = tokens.list.iter().filter(|token| query.span.end <= token.span.start);
    let closed: Vec<Span> = behind.take(opened.len()).map(|token| token.span).collect();
    let all_closed = closed.iter().all(|span| span.of(&stmt.text) == ")");
    if closed.len() != opened.len() || !all_closed {
        return None;
    }
    let start = opened.first().map_or(query.span.start, |span| span.start);
    let end = closed.last().map_or(query.span.end, |span| span.end);
    Some(Span::new(start, end))
}

/// What an expression is in the statement's text where that is a constant whose meaning the column decides that it is assigned to: a text, octets, NULL.
pub(in crate::plan) fn constant(stmt: &Statement, expr: &Expr) -> Option<Arc<str>> {
    let is_one =
        matches!(expr.node, Node::Literal(Literal::Text(_) | Literal::Bytes(_) | Literal::Null));
    is_one.then(|| expr.span.of(&stmt.text).into())
}

/// Whether an item asks for the next number of a sequence: each row that is written asks for its own then.
fn numbered(item: &Expr, select: &Select) -> bool {
    let Node::Function(call) = &item.node else { return false };
    let name = call.name.parts.last();
    matches!(select.distinct, Distinct::No)
        && select.group_by.is_empty()
        && name.is_some_and(|name| name.value.eq_ignore_ascii_case("nextval"))
}

/// Items of the query that take their type from the column they are assigned to: parameters are given it, constants are told.
fn open_items(
    stmt: &Statement,
    query: &Query,
    columns: &[TableColumn],
    transfer: &dyn pando_kernel::transfer::Transfer,
) -> (Vec<Option<Arc<str>>>, Edits) {
    let mut edits = Edits::default();
    let mut constants = Vec::new();
    let QueryBody::Select(select) = &query.body else { return (constants, edits) };
    let mut done = BTreeSet::new();
    for (item, column) in select.items.iter().zip(columns) {
        let SelectItem::Expr { expr, .. } = item else { break };
        let mut inner = expr;
        while let Node::Nested(nested) = &inner.node {
            inner = nested;
        }
        let number = numbered(inner, select);
        if number {
            edits.replace(inner.span, "0");
        }
        constants.push(match number {
            true => Some(inner.span.of(&stmt.text).into()),
            false => constant(stmt, inner),
        });
        if matches!(inner.node, Node::Parameter(_)) {
            let cast = transfer.typed_as(column);
            if !cast.is_empty() && done.insert(inner.span) {
                edits.replace(Span::at(inner.span.end), cast);
            }
        }
    }
    (constants, edits)
}

/// ON DUPLICATE KEY UPDATE may name columns of the query, which will be gone by then.
fn tail_is_about_the_target(
    stmt: &Statement,
    insert: &Insert,
    known: &[TableColumn],
) -> Result<()> {
    if insert.on_duplicate.is_empty() {
        return Ok(());
    }
    let label = insert.table.alias.as_ref().or(insert.table.name.parts.last());
    let span = |assignment: &ColumnAssignment| assignment.span;
    let first = insert.on_duplicate.iter().map(span).min_by_key(|span| span.start);
    let from = first.map_or(u32::MAX, |span| span.start);
    let mut wrong = None;
    visit::exprs(&stmt.kind, &mut |expr| {
        if expr.span.start < from {
            return;
        }
        let is_known = |name: &str| known.iter().any(|one| one.name.eq_ignore_ascii_case(name));
        if let Node::Column(name) = &expr.node {
            let own = match &name.parts[..] {
                [column] => is_known(&column.value),
                [.., owner, column] => {
                    label.is_some_and(|label| label.value.eq_ignore_ascii_case(&owner.value))
                        && is_known(&column.value)
                }
                [] => true,
            };
            if !own {
                wrong.get_or_insert(name.span.of(&stmt.text).to_owned());
            }
        }
        if leftovers::keeps_key(expr) {
            wrong.get_or_insert("LAST_INSERT_ID".to_owned());
        }
    });
    match wrong {
        None => Ok(()),
        Some(name) => Err(Error::unsupported(
            20034,
            format!(
                "`{name}` in ON DUPLICATE KEY UPDATE is not of the target, and the rows of the query come from other shards"
            ),
            "use VALUES(column)",
        )),
    }
}
