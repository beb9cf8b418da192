//! `SELECT … ORDER BY … LIMIT n FOR UPDATE` over several shards, as queues are read: the keys of candidates are read without locks and in order, then one row
//! after the other is locked where it lies, until there are n. Each shard would lock its own first n.

use std::sync::Arc;

use pando_kernel::dialect::TableColumn;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{Context, LogicTable, TableKind};
use pando_kernel::route::{Need, UnitName};
use pando_sql::ast::{
    Distinct, Expr, Kind, Literal, Node, OrderItem, Query, QueryBody, Select, SelectItem,
    Statement, Table, TableFactor,
};
use pando_sql::{Edits, Span, visit};

use super::Apart;
use crate::plan::about::writer_of;
use crate::plan::numbering;
use crate::plan::planned::Plan;
use crate::plan::special::catalogue::tables;

/// Such a query, taken apart.
#[derive(Debug)]
pub struct LockedRows {
    /// What reads the keys of candidates, up to its LIMIT.
    pub(crate) candidates: String,
    /// The table's key.
    pub(crate) table: String,
    /// It locks rows against everybody, and passes over those that are locked.
    pub(crate) passes_over: bool,
    /// The copy of a broadcast table whose rows decide.
    pub(crate) home: Option<Home>,
    /// Which of the statement's parameters that takes.
    pub(crate) candidate_parameters: Vec<u32>,
    /// How many rows are locked, and how many of the first of them are not given.
    pub(crate) count: Bound,
    /// How many of the first of these are locked and not given.
    pub(crate) offset: Option<Bound>,
    /// Which of the statement's parameters the query for one row takes.
    pub(crate) row_parameters: Vec<u32>,
    /// The key's columns.
    pub(crate) key: Vec<TableColumn>,
    /// How the query is run where what it reads without locks is older than what it would lock; `None` where it cannot
    /// be.
    merged: Option<Box<Plan>>,
    /// The text of the query.
    text: Arc<str>,
    /// What is taken out of it.
    limit: Span,
    /// Its condition, or where one is to stand.
    filter: std::result::Result<Span, u32>,
    /// The key's columns as the query names them.
    names: Vec<String>,
}

/// Where the first rows of a broadcast table are chosen: they are locked there as they are read, and then everywhere.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    pub(crate) unit: UnitName,
    /// What locks them, as the query says it.
    pub(crate) lock: Arc<str>,
}

/// A number in LIMIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Number(u64),
    /// One of the statement's parameters.
    Parameter(u32),
}

impl LockedRows {
    /// The plan by which the query is run as one.
    ///
    /// # Errors
    /// `Refused` where each place might lock other rows.
    pub(crate) fn into_one(self) -> Result<Plan> {
        self.merged.map(|plan| *plan).ok_or_else(|| {
            Error::unsupported(
                20036,
                "the first rows of a broadcast table cannot be locked in a transaction of type BASE",
                "choose the row by equality with its whole primary key, or lock it first",
            )
        })
    }

    /// What locks and gives the row with this key, where it still is what the query is about; no row without a key.
    pub(crate) fn row(&self, key: Option<&[String]>) -> Arc<str> {
        let condition = match key {
            Some(key) => {
                let parts = self.names.iter().zip(key);
                let parts: Vec<String> =
                    parts.map(|(name, value)| format!("{name} = {value}")).collect();
                parts.join(" AND ")
            }
            None => "1 = 0".to_owned(),
        };
        let mut edits = Edits::default();
        edits.replace(self.limit, "");
        match self.filter {
            Ok(filter) => edits.around(filter, "(", format!(") AND {condition}")),
            Err(end) => edits.replace(Span::at(end), format!(" WHERE {condition}")),
        }
        edits.apply(&self.text).into()
    }
}

/// Whether a statement is a query that locks its first rows.
pub(in crate::plan) fn is_meant(stmt: &Statement) -> bool {
    matches!(&stmt.kind, Kind::Select(query) if query.lock.is_some() && query.limit.is_some())
}

/// Whether a query passes over rows that others have locked.
pub(crate) fn passes_over_locked(stmt: &Statement) -> bool {
    let Kind::Select(query) = &stmt.kind else { return false };
    query.lock.as_ref().is_some_and(|lock| {
        lock.span.of(&stmt.text).split_whitespace().any(|word| word.eq_ignore_ascii_case("skip"))
    })
}

/// FOR UPDATE without less, as FOR NO KEY UPDATE.
fn is_for_update(clause: &str) -> bool {
    let mut words = clause.split_whitespace();
    let mut is_next = |word: &str| words.next().is_some_and(|next| next.eq_ignore_ascii_case(word));
    is_next("for") && is_next("update")
}

/// The first copy of a broadcast table: whoever locks first rows of it does so there first. `None` for other tables,
/// and where columns are stored otherwise than the query names them.
fn first_copy(ctx: &Context<'_>, logic: &str) -> Option<UnitName> {
    let syntax = ctx.dialect.syntax();
    let is_it = |table: &LogicTable| {
        table.kind == TableKind::Broadcast && syntax.table_key(&table.name) == logic
    };
    let table = tables(ctx.database).find(is_it).filter(|_| !ctx.database.turns_columns())?;
    table.nodes.first().map(|node| writer_of(ctx.database, Arc::clone(&node.unit)))
}

/// Takes the query apart, which one plan would run on several shards; or it is refused as one, as copies of a broadcast
/// table may have other first rows. `None` where it is of another form: then each shard locks its own first rows.
///
/// # Errors
/// `Refused` where its rows have no key to be named by.
pub(in crate::plan) fn take_apart(
    ctx: &Context<'_>,
    stmt: &Statement,
    merged: Option<&Plan>,
) -> Result<Apart<LockedRows>> {
    let Kind::Select(query) = &stmt.kind else { return Ok(Ok(None)) };
    let (Some(parts), Some(limit)) = (parts(query), &query.limit) else { return Ok(Ok(None)) };
    let (select, table) = parts;
    if ctx.dialect.transfer().is_none() || limit.with_ties {
        return Ok(Ok(None));
    }
    let Some(count) = limit.count.as_ref().and_then(bound) else { return Ok(Ok(None)) };
    let offset = match &limit.offset {
        None => None,
        Some(offset) => match bound(offset) {
            Some(bound) => Some(bound),
            None => return Ok(Ok(None)),
        },
    };
    let Some(name) = table.name.parts.last() else { return Ok(Ok(None)) };
    let logic = name.key();
    let Some(known) = ctx.catalog.columns(&logic) else { return Ok(Err(Need::Columns(logic))) };
    if known.is_empty() || !sorts_by_columns(select, &query.order_by) {
        return Ok(Ok(None));
    }
    let key: Vec<TableColumn> = known.iter().filter(|column| column.primary_key).cloned().collect();
    let skips = passes_over_locked(stmt);
    if key.is_empty() && !skips {
        // Each shard locks its own first rows: more than are given back, which makes others wait and nobody miss one.
        return Ok(Ok(None));
    }
    if key.is_empty() {
        return Err(Error::unsupported(
            30001,
            format!(
                "the first rows of `{}` cannot be locked over several shards: nothing names each of them",
                name.value
            ),
            "give the table a primary key, or narrow the query to one shard by an equality on the sharding key",
        ));
    }
    let label = table.alias.as_ref().unwrap_or(name);
    let label = label.span.of(&stmt.text);
    let names: Vec<String> =
        key.iter().map(|column| format!("{label}.{}", ctx.dialect.quote(&column.name))).collect();
    let text = |span: Span| span.of(&stmt.text);
    let hint = stmt.hint_span.map_or("", text);
    let mut candidates = format!("{hint}SELECT {} FROM {}", names.join(", "), text(table.span));
    let mut read = Vec::new();
    if let Some(filter) = &select.filter {
        candidates.push_str(" WHERE ");
        candidates.push_str(text(filter.span));
        read.push(filter.span);
    }
    if let Some(order) = query.order_span {
        candidates.push(' ');
        candidates.push_str(text(order));
        read.push(order);
    }
    candidates.push_str("\nLIMIT ");
    let home = first_copy(ctx, &logic).zip(query.lock.as_ref());
    let home = home.map(|(unit, lock)| Home { unit, lock: text(lock.span).into() });
    let parameters = numbering::parameters(stmt);
    let within = |span: &Span, outer: &Span| outer.start <= span.start && span.end <= outer.end;
    let own = |takes: &dyn Fn(&Span) -> bool| {
        let own = parameters.iter().filter(|(span, _)| takes(span));
        own.map(|(_, index)| *index).collect::<Vec<u32>>()
    };
    Ok(Ok(Some(LockedRows {
        candidates,
        table: logic,
        passes_over: skips
            && query.lock.as_ref().is_some_and(|lock| is_for_update(text(lock.span))),
        home,
        candidate_parameters: own(&|span| read.iter().any(|outer| within(span, outer))),
        count,
        offset,
        row_parameters: own(&|span| !within(span, &limit.span)),
        key,
        merged: merged.map(|plan| Box::new(plan.clone())),
        text: Arc::clone(&stmt.text),
        limit: limit.span,
        filter: select.filter.as_ref().map(|filter| filter.span).ok_or(table.span.end),
        names,
    })))
}

/// The one table of a query that gives its rows as they are.
fn parts(query: &Query) -> Option<(&Select, &Table)> {
    let QueryBody::Select(select) = &query.body else { return None };
    let [TableFactor::Table(table)] = &select.from[..] else { return None };
    let plain = query.with.is_empty()
        && matches!(select.distinct, Distinct::No)
        && select.modifiers.is_empty()
        && select.into.is_none()
        && select.group_by.is_empty()
        && select.having.is_none()
        && select.window.is_none()
        && table.columns.is_none()
        && table.extras.is_empty();
    plain.then_some((&**select, table))
}

/// Whether rows are sorted by what a list without the query's own items still has.
fn sorts_by_columns(select: &Select, order: &[OrderItem]) -> bool {
    let is_alias = |name: &str| {
        select.items.iter().any(|item| match item {
            SelectItem::Expr { alias: Some(alias), .. } => alias.value.eq_ignore_ascii_case(name),
            SelectItem::Expr { alias: None, .. }
            | SelectItem::Star(_)
            | SelectItem::QualifiedStar(..) => false,
        })
    };
    order.iter().all(|item| {
        let mut fits = !matches!(item.expr.node, Node::Literal(_));
        visit::exprs_in(&item.expr, &mut |expr| {
            if let Node::Column(name) = &expr.node {
                fits &= name.parts.len() > 1
                    || name.parts.last().is_some_and(|part| !is_alias(&part.value));
            }
        });
        fits
    })
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only two forms are numbers that are known")]
fn bound(expr: &Expr) -> Option<Bound> {
    match &expr.node {
        Node::Literal(Literal::Integer(number)) => u64::try_from(*number).ok().map(Bound::Number),
        Node::Parameter(index) => Some(Bound::Parameter(*index)),
        _ => None,
    }
}
