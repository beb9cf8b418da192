//! Queries over a few relations: inner joins, filter, select list, order, limit.

use std::cmp::Ordering;

use pando_kernel::Value;
use pando_kernel::alone::Relation;
use pando_sql::ast::{
    Distinct, Expr, Ident, JoinConstraint, JoinKind, Literal, Node, Query, QueryBody, Select,
    SelectItem, SetOp, TableFactor,
};

use super::{Asked, Table, expr};

/// Bytes that one table's values may take, results among them: what is told here is short.
pub(super) const MAX_BYTES: usize = 16 << 20;
/// Rows that a join may have: there is little to join.
const MAX_ROWS: usize = 10_000;

impl Asked<'_> {
    pub(super) fn query(&self, query: &Query) -> Option<Table> {
        if !query.with.is_empty() || query.lock.is_some() {
            return None;
        }
        let mut found = match &query.body {
            QueryBody::Select(select) => self.select(select)?,
            QueryBody::Set { op: SetOp::Union, all: true, left, right } => {
                let (mut left, right) = (self.query(left)?, self.query(right)?);
                if left.rows.columns.len() != right.rows.columns.len() {
                    return None;
                }
                left.rows.rows.extend(right.rows.rows);
                (left.bytes() <= MAX_BYTES).then_some(left)?
            }
            QueryBody::Set { .. } | QueryBody::Values(_) => return None,
        };
        self.sort(query, &mut found)?;
        if let Some(limit) = &query.limit {
            let number = |expr: &Option<Expr>| match expr {
                None => Some(None),
                Some(expr) => {
                    let Value::Int(count) = self.value(expr, None)? else { return None };
                    usize::try_from(count).ok().map(Some)
                }
            };
            let (count, offset) = (number(&limit.count)?, number(&limit.offset)?);
            if limit.with_ties {
                return None;
            }
            let rows = std::mem::take(&mut found.rows.rows).into_iter();
            found.rows.rows =
                rows.skip(offset.unwrap_or(0)).take(count.unwrap_or(usize::MAX)).collect();
        }
        Some(found)
    }

    /// Sorts by places in the select list, or by names of result columns.
    fn sort(&self, query: &Query, found: &mut Table) -> Option<()> {
        let mut keys = Vec::new();
        for item in &query.order_by {
            if item.using.is_some() || item.nulls_first.is_some() {
                return None;
            }
            let at = if let Node::Literal(Literal::Integer(place)) = &item.expr.node {
                usize::try_from(*place).ok()?.checked_sub(1)?
            } else if let Node::Column(name) = &item.expr.node {
                let name = &name.parts.last()?.value;
                found.rows.columns.iter().position(|known| known.eq_ignore_ascii_case(name))?
            } else {
                return None;
            };
            if at >= found.rows.columns.len() {
                return None;
            }
            keys.push((at, item.descending));
        }
        let sorting = self.sorting();
        found.rows.rows.sort_by(|a, b| {
            let mut by_key = keys.iter().map(|(at, descending)| {
                let order = expr::order(a.get(*at), b.get(*at), sorting);
                if *descending { order.reverse() } else { order }
            });
            by_key.find(|order| *order != Ordering::Equal).unwrap_or(Ordering::Equal)
        });
        Some(())
    }

    fn select(&self, select: &Select) -> Option<Table> {
        let plain = matches!(select.distinct, Distinct::No)
            && select.group_by.is_empty()
            && select.having.is_none()
            && select.window.is_none()
            && select.into.is_none()
            && !select.modifiers.iter().any(|word| word == "SQL_CALC_FOUND_ROWS");
        if !plain {
            return None;
        }
        let mut from: Option<Table> = None;
        for factor in &select.from {
            let Some(table) = self.factor(factor)? else { continue };
            from = Some(match from {
                None => table,
                Some(before) => product(before, table)?,
            });
        }
        let one_row = [Vec::new()];
        let rows = from.as_ref().map_or(&one_row[..], |table| &table.rows.rows[..]);
        let mut found = Relation { columns: self.labels(select, from.as_ref())?, rows: Vec::new() };
        let mut left = MAX_BYTES;
        for row in rows {
            let scope = from.as_ref().map(|table| (table, &row[..]));
            if let Some(filter) = &select.filter
                && expr::truth(&self.value(filter, scope)?)? != Some(true)
            {
                continue;
            }
            let mut values = Vec::with_capacity(found.columns.len());
            for item in &select.items {
                let before = values.len();
                match item {
                    SelectItem::Expr { expr, .. } => values.push(self.value(expr, scope)?),
                    SelectItem::Star(_) | SelectItem::QualifiedStar(..) => {
                        values.extend_from_slice(row);
                    }
                }
                left = left.checked_sub(values[before..].iter().map(expr::weight).sum())?;
            }
            found.rows.push(values);
        }
        if rows.is_empty() {
            self.look_at(select, from.as_ref())?;
        }
        Some(Table::of("", found))
    }

    /// Without a row nothing is computed, but what cannot be computed is not to pass either.
    fn look_at(&self, select: &Select, from: Option<&Table>) -> Option<()> {
        let table = from?;
        let row = vec![Value::Null; table.rows.columns.len()];
        let scope = Some((table, &row[..]));
        for item in &select.items {
            if let SelectItem::Expr { expr, .. } = item {
                self.value(expr, scope)?;
            }
        }
        select.filter.as_ref().map_or(Some(()), |filter| self.value(filter, scope).map(|_| ()))
    }

    /// What stands in FROM: inner `None` for DUAL.
    fn factor(&self, factor: &TableFactor) -> Option<Option<Table>> {
        let named = |alias: &Option<Ident>, own: &str| {
            alias.as_ref().map_or_else(|| own.to_owned(), |alias| alias.value.clone())
        };
        match factor {
            TableFactor::Table(table) if table.extras.is_empty() => {
                let own = &table.name.parts.last()?.value;
                if own.eq_ignore_ascii_case("dual") && table.name.parts.len() == 1 {
                    return Some(None);
                }
                let rows = self.source.alone.relation(&table.name, self.source.facts)?;
                Some(Some(Table::of(&named(&table.alias, own), rows)))
            }
            TableFactor::Derived { query, alias, lateral: false, .. } => {
                let found = self.query(query)?;
                Some(Some(Table::of(&named(alias, ""), found.rows)))
            }
            TableFactor::Join(join) => {
                let (left, right) = (self.factor(&join.left)??, self.factor(&join.right)??);
                let mut joined = product(left, right)?;
                match (join.kind, &join.constraint) {
                    (JoinKind::Inner | JoinKind::Cross, JoinConstraint::None) => {}
                    (JoinKind::Inner, JoinConstraint::On(condition)) => {
                        let mut kept = Vec::new();
                        for row in std::mem::take(&mut joined.rows.rows) {
                            let scope = Some((&joined, &row[..]));
                            if expr::truth(&self.value(condition, scope)?)? == Some(true) {
                                kept.push(row);
                            }
                        }
                        joined.rows.rows = kept;
                    }
                    _ => return None,
                }
                Some(Some(joined))
            }
            TableFactor::Table(_) | TableFactor::Derived { .. } | TableFactor::Function { .. } => {
                None
            }
        }
    }
}

/// Each row of one beside each of the other; `None` when that becomes too much.
fn product(left: Table, right: Table) -> Option<Table> {
    let (many, more) = (left.rows.rows.len(), right.rows.rows.len());
    let bytes =
        left.bytes().saturating_mul(more).saturating_add(right.bytes().saturating_mul(many));
    if many.checked_mul(more)? > MAX_ROWS || bytes > MAX_BYTES {
        return None;
    }
    let rows =
        left.rows.rows.iter().flat_map(|a| {
            right.rows.rows.iter().map(move |b| a.iter().chain(b).cloned().collect())
        });
    let rows: Vec<Vec<Value>> = rows.collect();
    let columns = left.rows.columns.into_iter().chain(right.rows.columns).collect();
    let owners = left.owners.into_iter().chain(right.owners).collect();
    Some(Table { owners, rows: Relation { columns, rows } })
}
