//! Sub-queries in expressions: each must find, for the row it is asked for, all its rows on that row's shard.

use pando_sql::Placeholder;
use pando_sql::ast::{BinaryOp, Expr, Node, Query, QueryBody, SelectItem, Table, TableFactor};

use super::level::{Level, Origin};
use super::{Env, Lie, Prover, Rows, Step, Why};
use crate::literal::unwrapped;
use crate::scope::last;

/// One place is one row on one server, and one on each shard of several.
const ELSEWHERE: Why = Why::Doubt("a row's place (`ctid`) is that of other rows on other shards");

/// What an expression that is NULL is to who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    /// A condition, which might as well be false.
    AreFalse,
    /// A value, which differs from false.
    Count,
}

impl<'a> Prover<'a> {
    pub(super) fn exprs<'e>(
        &self,
        level: &Level<'_, 'a>,
        list: impl IntoIterator<Item = &'e Expr>,
        env: &Env,
    ) -> Step<()> {
        list.into_iter().try_for_each(|expr| self.expr(level, expr, Nulls::Count, env))
    }

    /// Checks an expression over the rows of a level.
    pub(super) fn expr(
        &self,
        level: &Level<'_, 'a>,
        expr: &Expr,
        nulls: Nulls,
        env: &Env,
    ) -> Step<()> {
        let own = |inner: &Expr| self.expr(level, inner, Nulls::Count, env);
        match &expr.node {
            Node::Nested(inner) => self.expr(level, inner, nulls, env),
            Node::Binary { op: BinaryOp::And | BinaryOp::Or, left, right } => {
                self.expr(level, left, nulls, env)?;
                self.expr(level, right, nulls, env)
            }
            Node::InQuery { operand, query, negated } => {
                own(operand)?;
                if self.is_place(operand) && !self.is_row_itself(level, operand, query) {
                    return Err(ELSEWHERE);
                }
                let rows = self.asked_for(level, query, env)?;
                let nulls = if *negated { Nulls::Count } else { nulls };
                if rows.lie != Lie::Parts
                    || self.is_semi_join(level, operand, &rows, nulls)
                    || nulls == Nulls::AreFalse && self.is_row_itself(level, operand, query)
                {
                    return Ok(());
                }
                Err(Why::Doubt(
                    "IN compares rows of several shards with more than the sharding key",
                ))
            }
            Node::Subquery(query) | Node::Exists(query) => {
                match self.asked_for(level, query, env)?.lie {
                    Lie::Whole | Lie::Local => Ok(()),
                    Lie::Parts => Err(Why::Doubt(
                        "a sub-query over a sharded table does not equal its sharding key with that of the row outside",
                    )),
                }
            }
            Node::Unary { operand, .. }
            | Node::IsNull { operand, .. }
            | Node::Cast { operand, .. }
            | Node::Collate { operand, .. } => own(operand),
            Node::Binary { op: BinaryOp::Equal | BinaryOp::NotEqual, left, right }
                if self.is_place(left) != self.is_place(right) =>
            {
                Err(ELSEWHERE)
            }
            Node::Binary { left, right, .. } => own(left).and_then(|()| own(right)),
            Node::Between { operand, low, high, .. } => {
                [operand, low, high].into_iter().try_for_each(|inner| own(inner))
            }
            Node::InList { operand, .. } if self.is_place(operand) => Err(ELSEWHERE),
            Node::InList { operand, list, .. } => {
                own(operand)?;
                list.trees().iter().try_for_each(own)
            }
            Node::Like { operand, pattern, .. } => own(operand).and_then(|()| own(pattern)),
            Node::Function(call) => {
                let order = call.order_by.iter().map(|item| &item.expr);
                let all = call.arguments.iter().chain(order).chain(call.filter.as_deref());
                all.chain(&call.inner).try_for_each(own)
            }
            Node::Case { operand, branches, otherwise } => {
                operand.as_deref().map_or(Ok(()), own)?;
                branches.iter().flat_map(|(when, then)| [when, then]).try_for_each(own)?;
                otherwise.as_deref().map_or(Ok(()), own)
            }
            Node::Row(list) | Node::Other(list) => list.iter().try_for_each(own),
            Node::Column(_)
            | Node::Literal(_)
            | Node::Parameter(_)
            | Node::Variable(_)
            | Node::Default => Ok(()),
        }
    }

    fn asked_for(&self, level: &Level<'_, 'a>, query: &Query, env: &Env) -> Step<Rows> {
        let rows = self.query(query, Some(level), env)?;
        if rows.lie == Lie::Local {
            level.is_local.set(true);
        }
        Ok(rows)
    }

    /// `key IN (SELECT key …)`: what can match is on the row's shard. Elsewhere nothing is equal, which is false, unless a NULL makes it NULL.
    fn is_semi_join(
        &self,
        level: &Level<'_, 'a>,
        operand: &Expr,
        rows: &Rows,
        nulls: Nulls,
    ) -> bool {
        let operand = unwrapped(operand);
        let operands =
            if let Node::Row(list) = &operand.node { list.iter().collect() } else { vec![operand] };
        let Some(columns) = rows.columns.as_ref().filter(|c| c.len() == operands.len()) else {
            return false;
        };
        let mut met = Vec::new();
        for (operand, column) in operands.into_iter().zip(columns) {
            let Node::Column(name) = &unwrapped(operand).node else { continue };
            let Some((own, other)) = self.key(level, level.all(), name).zip(column.key) else {
                continue;
            };
            let sure = nulls == Nulls::AreFalse || own.part.firm && other.firm;
            if own.part.at == other.at && own.part.kept == other.kept && sure {
                met.push((own.depth, own.source, own.part.at));
            }
        }
        let keys = self.keys();
        keys > 0
            && met
                .iter()
                .any(|(depth, source, _)| (0..keys).all(|at| met.contains(&(*depth, *source, at))))
    }

    /// `ctid IN (SELECT t.ctid FROM t …)` of one table: where a row lies in its actual table is that row, whatever the sub-query joins it with.
    fn is_row_itself(&self, level: &Level<'_, 'a>, operand: &Expr, query: &Query) -> bool {
        let QueryBody::Select(select) = &query.body else { return false };
        let [SelectItem::Expr { expr, .. }] = &select.items[..] else { return false };
        let Some((outside, inside)) = self.place(operand).zip(self.place(expr)) else {
            return false;
        };
        let mut fitting = level.sources.iter().filter(|source| names(outside, &source.label));
        let (Some(source), None) = (fitting.next(), fitting.next()) else { return false };
        let Origin::Sharded(own) = &source.origin else { return false };
        let mut tables = Vec::new();
        if !select.from.iter().all(|factor| collect(factor, &mut tables)) {
            return false;
        }
        let mut fitting = tables.iter().filter(|table| {
            let label = table.alias.as_ref().or(table.name.parts.last());
            label.is_some_and(|label| names(inside, &label.value))
        });
        let (Some(table), None) = (fitting.next(), fitting.next()) else { return false };
        let logic = last(&table.name);
        self.asked.sharded(table.name.span, &logic).is_some() && logic == **own.logic()
    }

    /// Whether an expression is the place of a row, perhaps as another type.
    fn is_place(&self, expr: &Expr) -> bool {
        let mut expr = unwrapped(expr);
        while let Node::Cast { operand, .. } = &expr.node {
            expr = unwrapped(operand);
        }
        self.place(expr).is_some()
    }

    /// What the place of a row is qualified with (nothing, or a table); `None` for every other expression.
    fn place<'e>(&self, expr: &'e Expr) -> Option<Option<&'e str>> {
        let Node::Column(name) = &unwrapped(expr).node else { return None };
        let has_places = self.asked.ctx.dialect.syntax().placeholder == Placeholder::Dollar;
        match &name.parts[..] {
            [column] if has_places && column.value == "ctid" => Some(None),
            [owner, column] if has_places && column.value == "ctid" => Some(Some(&owner.value)),
            _ => None,
        }
    }
}

/// Whether a qualifier may mean a table of this label; without one it means the only table there is.
fn names(qualifier: Option<&str>, label: &str) -> bool {
    qualifier.is_none_or(|qualifier| qualifier == label)
}

/// The tables of a FROM item; false when there is anything else in it.
fn collect<'e>(factor: &'e TableFactor, tables: &mut Vec<&'e Table>) -> bool {
    match factor {
        TableFactor::Table(table) => {
            tables.push(table);
            true
        }
        TableFactor::Join(join) => collect(&join.left, tables) && collect(&join.right, tables),
        TableFactor::Derived { .. } | TableFactor::Function { .. } => false,
    }
}
