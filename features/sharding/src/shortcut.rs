//! Statements on one sharded table whose sharding values are plain constants, or that has one node and none: the way to the one target, found once
//! for all values; and queries of one table that go to all of its nodes.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed has no shortcut")]

use std::ops::Bound;
use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::Context;
use pando_kernel::route::Target;
use pando_kernel::shortcut::{Everywhere, Given, Pick, Shortcut, Values};
use pando_sql::ast::{
    BinaryOp, Expr, Insert, InsertSource, Kind, Node, ObjectName, QueryBody, Statement, Table,
    TableFactor,
};
use pando_sql::visit;

use crate::domain::Domain;
use crate::kept::{Finds, Keeper};
use crate::literal::unwrapped;
use crate::rule::Rule;
use crate::scope::{conjuncts, last};

/// The way from sharding values to a node of one table.
#[derive(Debug)]
struct ByKeys {
    rule: Arc<Rule>,
    /// The table's place in the rule.
    table: usize,
    columns: Arc<Vec<TableColumn>>,
    keys: Vec<Key>,
    /// Rows are written: values are kept as the column keeps them, and the node must be there.
    inserts: bool,
}

/// A sharding column, what gives its value, and the column's place.
type Key = (String, Given, Option<usize>);

/// The shortcut of a statement, if it has one.
pub(crate) fn shortcut(rule: &Arc<Rule>, ctx: &Context<'_>, stmt: &Statement) -> Shortcut {
    let is_ours = |table: &visit::Occurrence<'_>| {
        table.name.parts.last().is_some_and(|name| rule.table(&name.key()).is_some())
    };
    if !visit::tables(&stmt.kind).iter().any(is_ours) {
        return Shortcut::Idle;
    }
    if let Some(pick) = found(rule, ctx, stmt) {
        return Shortcut::Pick(Arc::new(pick));
    }
    everywhere(rule, ctx, stmt).map_or(Shortcut::None, |all| Shortcut::All(Arc::new(all)))
}

/// A query of one table that reads all of its nodes, or would if the range asked for is wide enough.
#[derive(Debug)]
struct AllNodes {
    rule: Arc<Rule>,
    logic: Arc<str>,
    columns: Arc<Vec<TableColumn>>,
    /// The one sharding column that is restricted, its place, and the ends of its range.
    range: Option<(String, Option<usize>, [Given; 2])>,
}

fn everywhere(rule: &Arc<Rule>, ctx: &Context<'_>, stmt: &Statement) -> Option<AllNodes> {
    let tables = visit::tables(&stmt.kind);
    let [only] = &tables[..] else { return None };
    let [name] = &only.name.parts[..] else { return None };
    let Kind::Select(query) = &stmt.kind else { return None };
    let QueryBody::Select(select) = &query.body else { return None };
    let is_plain = stmt.hints.is_empty()
        && stmt.hint_span.is_none()
        && query.with.is_empty()
        && query.lock.is_none()
        && select.into.is_none();
    let table = rule.table(&name.key()).filter(|table| table.audit().is_none())?;
    let source = from(&select.from).filter(|_| is_plain)?;
    let columns = ctx.catalog.columns(table.logic()).filter(|columns| !columns.is_empty())?;
    let range = match select.filter.as_ref() {
        Some(filter) => ranged(table, source, filter)?,
        None => None,
    };
    let range = range.map(|(key, ends)| {
        let place = columns.iter().position(|own| own.name.eq_ignore_ascii_case(&key));
        (key, place, ends)
    });
    Some(AllNodes { rule: Arc::clone(rule), logic: Arc::clone(table.logic()), columns, range })
}

/// The one range of constants that a WHERE keeps a sharding column in, if any; `None` when it says anything else about sharding columns.
fn ranged(
    table: &crate::Table,
    source: &Table,
    filter: &Expr,
) -> Option<Option<(String, [Given; 2])>> {
    let label = source.alias.as_ref().or(source.name.parts.last())?.key();
    let mut range = None;
    for part in conjuncts(filter) {
        if !mentions(part, table) {
            continue;
        }
        let Node::Between { operand, low, high, negated: false, symmetric: false } = &part.node
        else {
            return None;
        };
        let column = key_of(table, &label, operand)?;
        let ends = [given(low)?, given(high)?];
        if range.replace((column, ends)).is_some() {
            return None;
        }
    }
    Some(range)
}

/// The sharding column that an expression is.
fn key_of(table: &crate::Table, label: &str, expr: &Expr) -> Option<String> {
    let Node::Column(name) = &unwrapped(expr).node else { return None };
    let own = match &name.parts[..] {
        [_] => true,
        [owner, _] => owner.key() == label,
        _ => false,
    };
    Some(last(name)).filter(|column| own && table.is_key(column))
}

impl Everywhere for AllNodes {
    fn holds(&self, ctx: &Context<'_>, values: &dyn Values) -> bool {
        let Some((key, place, ends)) = &self.range else { return true };
        let Some(table) = self.rule.table(&self.logic) else { return false };
        let own = place.and_then(|place| self.columns.get(place));
        let keeper = Keeper::new(ctx, own, table.text_keys());
        let end = |given: &Given| {
            let value = taken(given, values).filter(|value| !value.is_null())?;
            Some(keeper.bound(value).map_or(Bound::Unbounded, Bound::Included))
        };
        let [low, high] = ends;
        let Some((low, high)) = end(low).zip(end(high)) else { return false };
        let range = Domain::range(low, high);
        let domain = |column: &str| {
            if column == key.as_str() { range.clone() } else { Domain::Any }
        };
        table.route(&domain, &[]).is_ok_and(|nodes| nodes.len() == table.nodes().len())
    }
}

fn taken(given: &Given, values: &dyn Values) -> Option<Value> {
    match given {
        Given::Literal(span) => Value::of_literal(&values.literal(*span)?),
        Given::Parameter(index) => values.parameter(*index).cloned(),
    }
}

fn found(rule: &Arc<Rule>, ctx: &Context<'_>, stmt: &Statement) -> Option<ByKeys> {
    let tables = visit::tables(&stmt.kind);
    let [only] = &tables[..] else { return None };
    let [name] = &only.name.parts[..] else { return None };
    if !stmt.hints.is_empty() || stmt.hint_span.is_some() {
        return None;
    }
    let table = rule.table(&name.key())?;
    let inserts = matches!(stmt.kind, Kind::Insert(_));
    let columns = ctx.catalog.columns(table.logic()).filter(|columns| !columns.is_empty());
    let columns = match columns {
        // Nobody has asked for the columns of a table without sharding columns.
        None if table.keys().is_empty() && !inserts => Arc::default(),
        columns => columns?,
    };
    let keys = match &stmt.kind {
        Kind::Select(query) => {
            let QueryBody::Select(select) = &query.body else { return None };
            let plain = query.with.is_empty() && select.into.is_none();
            compared(table, from(&select.from).filter(|_| plain)?, select.filter.as_ref())?
        }
        Kind::Update(update) => {
            let plain = update.with.is_empty() && update.from.is_empty();
            let moves = |column: &ObjectName| table.is_key(&last(column));
            if update.assignments.iter().any(|one| moves(&one.column)) {
                return None;
            }
            compared(table, from(&update.tables).filter(|_| plain)?, update.filter.as_ref())?
        }
        Kind::Delete(delete) => {
            let [target] = &delete.targets[..] else { return None };
            if !delete.with.is_empty() || !delete.from.is_empty() {
                return None;
            }
            compared(table, target, delete.filter.as_ref())?
        }
        Kind::Insert(insert) => written(table, insert, &columns)?,
        _ => return None,
    };
    let place = |key: &str| columns.iter().position(|own| own.name.eq_ignore_ascii_case(key));
    let keys = keys.into_iter().map(|(key, given)| {
        let place = place(&key);
        (key, given, place)
    });
    let keys = keys.collect();
    let place = rule.place(table.logic())?;
    Some(ByKeys { rule: Arc::clone(rule), table: place, columns, keys, inserts })
}

/// The one table, whose columns have their own names.
fn from(factors: &[TableFactor]) -> Option<&Table> {
    match factors {
        [TableFactor::Table(table)] if table.columns.is_none() => Some(table),
        _ => None,
    }
}

/// The constants that a WHERE compares each sharding column with: each once, and nothing else said about the column. A table on one node has none.
fn compared(
    table: &crate::Table,
    source: &Table,
    filter: Option<&Expr>,
) -> Option<Vec<(String, Given)>> {
    if table.keys().is_empty() {
        // It has one node, or the pick finds none.
        return Some(Vec::new());
    }
    let label = source.alias.as_ref().or(source.name.parts.last())?.key();
    let named = |expr: &Expr| key_of(table, &label, expr);
    let mut keys: Vec<(String, Given)> = Vec::new();
    for part in conjuncts(filter?) {
        let pair = match &part.node {
            Node::Binary { op: BinaryOp::Equal, left, right } => match named(left) {
                Some(column) => given(right).map(|given| (column, given)),
                None => named(right).zip(given(left)),
            },
            _ => None,
        };
        match pair {
            Some(pair) if keys.iter().all(|(known, _)| *known != pair.0) => keys.push(pair),
            Some(_) => return None,
            None if mentions(part, table) => return None,
            None => {}
        }
    }
    (keys.len() == table.keys().len()).then_some(keys)
}

fn mentions(part: &Expr, table: &crate::Table) -> bool {
    let mut found = false;
    visit::exprs_in(part, &mut |expr| {
        if let Node::Column(name) = &expr.node {
            found |= table.is_key(&last(name));
        }
    });
    found
}

/// The constants that the one row of an INSERT gives the sharding columns.
fn written(
    table: &crate::Table,
    insert: &Insert,
    columns: &[TableColumn],
) -> Option<Vec<(String, Given)>> {
    let InsertSource::Values { rows, .. } = &insert.source else { return None };
    let [row] = &rows[..] else { return None };
    let values = row.trees()?;
    let listed = insert.columns.as_ref()?;
    let is_plain = insert.with.is_empty()
        && insert.on_duplicate.is_empty()
        && insert.on_conflict.is_none()
        && insert.table.alias.is_none()
        && values.len() == listed.len();
    // What a generator or the server counts depends on values in more ways than routing does.
    if !is_plain || table.key_generator().is_some() || columns.iter().any(|c| c.auto_increment) {
        return None;
    }
    let is_known = |name: &str| columns.iter().any(|own| own.name.eq_ignore_ascii_case(name));
    if !listed.iter().all(|column| is_known(&column.value)) {
        return None;
    }
    let value = |key: &String| {
        let at = listed.iter().position(|column| column.value.eq_ignore_ascii_case(key))?;
        Some((key.clone(), given(values.get(at)?)?))
    };
    table.keys().iter().map(value).collect()
}

fn given(expr: &Expr) -> Option<Given> {
    let expr = unwrapped(expr);
    match &expr.node {
        Node::Literal(_) => Some(Given::Literal(expr.span)),
        Node::Parameter(index) => Some(Given::Parameter(*index)),
        _ => None,
    }
}

impl ByKeys {
    /// The value by which a row is found or kept.
    fn kept(&self, ctx: &Context<'_>, key: &Key, values: &dyn Values) -> Option<Value> {
        let (_, given, place) = key;
        let text_keys = self.rule.table_at(self.table)?.text_keys();
        let value = taken(given, values).filter(|value| !value.is_null())?;
        let own = place.and_then(|place| self.columns.get(place));
        let keeper = Keeper::new(ctx, own, text_keys);
        if self.inserts {
            return keeper.stored(value).ok();
        }
        match keeper.equal(value) {
            Finds::Value(value) => Some(value),
            Finds::Nothing | Finds::Anything => None,
        }
    }
}

impl Pick for ByKeys {
    fn number(&self, ctx: &Context<'_>, values: &dyn Values) -> Option<usize> {
        let table = self.rule.table_at(self.table)?;
        // Nearly every table has one sharding column, for which nothing is allocated.
        let (mut first, mut others) = (None, Vec::new());
        for key in &self.keys {
            let kept = (&*key.0, self.kept(ctx, key, values)?);
            match first {
                None => first = Some(kept),
                Some(_) => others.push(kept),
            }
        }
        let of = |column: &str| {
            let mut all = first.iter().chain(&others);
            all.find(|(key, _)| *key == column).map(|(_, value)| value)
        };
        table.exact(&of)
    }

    fn target(&self, number: usize) -> Option<Target> {
        let table = self.rule.table_at(self.table)?;
        let node = table.node(number).ok()?;
        Some(Target { unit: node.unit.clone(), tables: vec![table.named_at(node)], rows: None })
    }

    fn count(&self) -> usize {
        self.rule.table_at(self.table).map_or(0, |table| table.nodes().len())
    }

    fn names(&self) -> Vec<Arc<str>> {
        let nodes = self.rule.table_at(self.table).map(crate::Table::nodes).unwrap_or_default();
        nodes.iter().map(|node| Arc::clone(&node.table)).collect()
    }
}
