//! Queries over at most one relation: filter, select list, order, limit.

use std::cmp::Ordering;

use pando_kernel::Value;
use pando_kernel::alone::Relation;
use pando_sql::ast::{
    Distinct, Expr, Ident, Literal, Node, Query, QueryBody, Select, SelectItem, SetOp, TableFactor,
};

use super::{Asked, Table, expr};

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
                left
            }
            QueryBody::Set { .. } | QueryBody::Values(_) | QueryBody::Table(_) => return None,
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
        let loose = self.source.names_by_text();
        found.rows.rows.sort_by(|a, b| {
            let mut by_key = keys.iter().map(|(at, descending)| {
                let order = expr::order(a.get(*at), b.get(*at), loose);
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
        let from = match &select.from[..] {
            [] => None,
            [only] => self.factor(only)?,
            _ => return None,
        };
        let one_row = [Vec::new()];
        let rows = from.as_ref().map_or(&one_row[..], |table| &table.rows.rows[..]);
        let mut found = Relation { columns: self.labels(select, from.as_ref())?, rows: Vec::new() };
        for row in rows {
            let scope = from.as_ref().map(|table| (table, &row[..]));
            if let Some(filter) = &select.filter
                && expr::truth(&self.value(filter, scope)?)? != Some(true)
            {
                continue;
            }
            let mut values = Vec::with_capacity(found.columns.len());
            for item in &select.items {
                match item {
                    SelectItem::Expr { expr, .. } => values.push(self.value(expr, scope)?),
                    SelectItem::Star(_) | SelectItem::QualifiedStar(..) => {
                        values.extend_from_slice(row);
                    }
                }
            }
            found.rows.push(values);
        }
        if rows.is_empty() {
            self.look_at(select, from.as_ref())?;
        }
        Some(Table { alias: String::new(), rows: found })
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
                Some(Some(Table { alias: named(&table.alias, own), rows }))
            }
            TableFactor::Derived { query, alias, lateral: false, .. } => {
                let found = self.query(query)?;
                Some(Some(Table { alias: named(alias, ""), rows: found.rows }))
            }
            TableFactor::Table(_)
            | TableFactor::Derived { .. }
            | TableFactor::Join(_)
            | TableFactor::Function { .. } => None,
        }
    }
}
