//! Groups over values that are told: units give the rows one by one, and say what types the aggregates have; these are
//! computed here.

use pando_kernel::dialect::Compare;
use pando_kernel::error::Error;
use pando_kernel::merge::{
    Aggregate, AggregateFunction, Computed, Condition, DistinctOf, Group, KeyCompare, MergePlan,
    Position, Relation, Scalar, SortKey,
};
use pando_kernel::value::Value;
use pando_sql::Fold;
use pando_sql::ast::{Distinct, Expr, Function, Node, SelectItem};

use super::computed::{Is, Made};
use super::parts::{Builder, Known, Usage};
use super::told_column::refused;
use crate::plan::merge_plan::aggregate;
use crate::plan::merge_plan::resolve::unwrapped;

/// A literal that MySQL has a BIGINT for, as it has for a count, which is never NULL.
const MYSQL_COUNT: &str = "4294967296";

impl<'a> Builder<'a> {
    /// Whether units cannot make the groups: rows would be missing to them, or they do not know what is equal or least.
    pub(super) fn groups_here(&self, told: &MergePlan) -> Known<bool> {
        if told.filter.is_some() {
            return Ok(true);
        }
        for key in &self.select.group_by {
            let meaning = self.scope.grouped(key)?;
            let expr = meaning.expr.unwrap_or(key);
            if meaning.info.compares() == pando_kernel::Compares::NotAtAll
                || self.is_computed(expr)?
            {
                return Ok(true);
            }
        }
        for expr in self.items().chain(aggregate::order_exprs(self.query())) {
            if aggregate::contains(expr) && !self.is_answered_item(expr)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// GROUP BY and the aggregates, ORDER BY with them.
    pub(super) fn group(&mut self, told: &mut MergePlan) -> Known<()> {
        let select = self.select;
        let is_plain = select.having.is_none()
            && !select.grouping_sets
            && !select.sorts_groups()
            && matches!(select.distinct, Distinct::No)
            && !self.has_windows();
        if !is_plain {
            return Err(refused("HAVING, ROLLUP, DISTINCT or windows over groups").into());
        }
        let mut keys: Vec<SortKey> = Vec::new();
        let mut grouped: Vec<usize> = Vec::new();
        for key in &select.group_by {
            let meaning = self.scope.grouped(key)?;
            grouped.extend(meaning.at);
            let expr = meaning.expr.unwrap_or(key);
            let key = match self.is_computed(expr)? {
                true => self.computed_group(expr, meaning.at, told)?,
                false => self.key(meaning, Usage::Distinct)?,
            };
            keys.push(key);
        }
        let mut aggregates = Vec::new();
        let mut compared: Vec<(usize, Compare)> = Vec::new();
        for (at, item) in select.items.iter().enumerate() {
            let SelectItem::Expr { expr, .. } = item else { continue };
            if grouped.contains(&at) {
                continue;
            }
            let Node::Function(call) = &unwrapped(expr).node else {
                return Err(self.uncomputed(expr));
            };
            let (aggregate, compare, text) = self.aggregate(call, expr, at, told)?;
            aggregates.push(aggregate);
            compared.push((at, compare));
            self.put_item(at, text)?;
        }
        let then_order = self.group_order(&grouped, &keys, &compared, told)?;
        self.leaves_out(select.group_span);
        told.group = Some(Group { keys, sorted: false, aggregates, then_order });
        Ok(())
    }

    /// A group's key that is computed here, at the place of its item if it has one.
    fn computed_group(
        &mut self,
        expr: &Expr,
        at: Option<usize>,
        told: &mut MergePlan,
    ) -> Known<SortKey> {
        let (position, is) = match at {
            Some(at) => (Position::Index(at), self.compute_item(at, expr, told)?),
            None => {
                let Made { value, is } = self.computed(expr)?;
                let text = self.typed_null(expr)?;
                let position = self.derive_again(&text, "GROUP_BY");
                told.computed.push((position.clone(), value));
                (position, is)
            }
        };
        let compare = is.equality().ok_or_else(|| self.uncomputed(expr))?;
        let (compare, nulls_first) = (KeyCompare::Known(compare), true);
        Ok(SortKey { position, compare, descending: false, nulls_first })
    }

    /// What is computed of the rows for one aggregate, how its results compare, and what a unit says its type by.
    fn aggregate(
        &mut self,
        call: &Function,
        expr: &Expr,
        at: usize,
        told: &mut MergePlan,
    ) -> Known<(Aggregate, Compare, String)> {
        let output = Position::Index(at);
        let is_plain = call.is_aggregate()
            && call.over.is_none()
            && call.filter.is_none()
            && call.order_by.is_empty()
            && call.within_group.is_none();
        if !is_plain {
            return Err(self.uncomputed(expr));
        }
        let is_mysql = self.ctx.dialect.syntax().fold == Fold::Keep;
        let name = call.plain_name();
        if name == "count" {
            let text = match is_mysql {
                true => MYSQL_COUNT.to_owned(),
                false => "(SELECT count(*))".to_owned(),
            };
            let function = self.count(call, expr, &output, told)?;
            return Ok((Aggregate { output, function }, Compare::Number, text));
        }
        let [argument] = &call.arguments[..] else { return Err(self.uncomputed(expr)) };
        if call.distinct.is_some() {
            return Err(self.uncomputed(expr));
        }
        let Made { value, is } = self.computed(argument)?;
        let text = format!("(SELECT {})", self.all_typed_null(expr)?);
        let (function, compare) = match name.as_str() {
            "min" | "max" => {
                self.keeps_type(is, expr)?;
                let compare = is.compare().ok_or_else(|| self.uncomputed(expr))?;
                told.computed.push((output.clone(), value));
                let known = KeyCompare::Known(compare);
                let function = match name.as_str() {
                    "min" => AggregateFunction::Min(known),
                    _ => AggregateFunction::Max(known),
                };
                (function, compare)
            }
            "sum" => {
                let is_short = !is_mysql && matches!(is, Is::Whole(octets) if octets < 8);
                let value = if is_short { value } else { self.exact(value, is, expr)? };
                told.computed.push((output.clone(), value));
                (AggregateFunction::Sum, Compare::Number)
            }
            "avg" => {
                let null = self.all_typed_null(argument)?;
                let value = self.exact(value, is, expr)?;
                let there = counted(value.clone());
                let sum = self.derive_again(&format!("(SELECT sum({null}) + 0.0)"), "AVG_SUM");
                told.computed.push((sum.clone(), value));
                let count = self.derive_again("(SELECT count(*))", "AVG_COUNT");
                told.computed.push((count.clone(), there));
                (AggregateFunction::Average { sum, count }, Compare::Number)
            }
            _ => return Err(self.uncomputed(expr)),
        };
        Ok((Aggregate { output, function }, compare, text))
    }

    fn count(
        &mut self,
        call: &Function,
        expr: &Expr,
        output: &Position,
        told: &mut MergePlan,
    ) -> Known<AggregateFunction> {
        let of = match &call.arguments[..] {
            [] if call.star => Computed::Constant(Value::Int(1)),
            [argument] if call.distinct.is_none() && self.is_answered_item(argument)? => {
                let text = self.filled(argument)?;
                let text = format!("CASE WHEN ({text}) IS NULL THEN 0 ELSE 1 END");
                Computed::Column(self.derive(&text, "COUNT"))
            }
            [argument] => {
                let Made { value, is } = self.computed(argument)?;
                if call.distinct.is_some() {
                    let Computed::Column(position) = value else {
                        return Err(self.uncomputed(expr));
                    };
                    let compare = is.equality().ok_or_else(|| self.uncomputed(expr))?;
                    let (compare, nulls_first) = (KeyCompare::Known(compare), true);
                    let values = SortKey { position, compare, descending: false, nulls_first };
                    return Ok(AggregateFunction::Distinct { values, of: DistinctOf::Count });
                }
                counted(value)
            }
            _ => return Err(self.uncomputed(expr)),
        };
        told.computed.push((output.clone(), of));
        Ok(AggregateFunction::Count)
    }

    /// A number of which sums are exact.
    fn exact(&self, value: Computed, is: Is, expr: &Expr) -> Known<Computed> {
        let nought = || Value::decimal("0").map(Computed::Constant);
        match is {
            Is::Exact => Ok(value),
            Is::Whole(_) => {
                let nought = nought().ok_or_else(|| Error::internal("0 is no number"))?;
                Ok(Computed::Of(Scalar::Plus(8), vec![value, nought]))
            }
            Is::Null | Is::Text(_) | Is::Written | Is::Other(_) => Err(self.uncomputed(expr)),
        }
    }

    /// ORDER BY of groups: by their keys and aggregates.
    fn group_order(
        &mut self,
        grouped: &[usize],
        keys: &[SortKey],
        compared: &[(usize, Compare)],
        told: &mut MergePlan,
    ) -> Known<Vec<SortKey>> {
        let query = self.query();
        let mut order = Vec::new();
        for item in query.order_by.iter().filter(|_| !keys.is_empty()) {
            let meaning = self.scope.ordered(&item.expr)?;
            let place = meaning.at.map(Position::Index);
            let aggregate = compared.iter().find(|(at, _)| Some(*at) == meaning.at);
            let is_key = meaning.at.is_some_and(|at| grouped.contains(&at));
            let mut key = match (aggregate, place) {
                (Some((_, compare)), Some(position)) => SortKey {
                    position,
                    compare: KeyCompare::Known(*compare),
                    descending: false,
                    nulls_first: true,
                },
                _ if is_key && self.is_made(&meaning)? => {
                    self.made_key(&meaning, Usage::Order, told)?
                }
                _ if is_key => self.key(meaning, Usage::Order)?,
                _ => return Err(self.uncomputed(&item.expr)),
            };
            key.descending = item.descending;
            let default = self.ctx.dialect.nulls_first() != item.descending;
            key.nulls_first = item.nulls_first.unwrap_or(default);
            order.push(key);
        }
        self.leaves_out(query.order_span);
        Ok(order)
    }
}

/// 1 of a value that is there, 0 of NULL.
fn counted(value: Computed) -> Computed {
    let (is, compare) = (Relation::Same, Compare::Bytes);
    let null = Computed::Constant(Value::Null);
    let is_null = Condition::Compared { left: value, compare, is, right: null };
    let number = |number| Computed::Constant(Value::Int(number));
    Computed::Case(vec![(is_null, number(0))], Box::new(number(1)))
}
