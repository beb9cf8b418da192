//! How the answers of several units become one.

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::merge::{KeyCompare, MergePlan, Position, SortKey};
use pando_kernel::route::{Alone, Target, Units};
use pando_sql::Edits;
use pando_sql::ast::{
    Distinct, Kind, Literal, Node, Query, QueryBody, Select, SelectItem, SetOp, Statement,
};

use super::stand::{self, Chosen};
use crate::plan::merge_plan::gather;
use crate::plan::merge_plan::gather::Gathered;
use crate::plan::merge_plan::resolve::unwrapped;
use crate::plan::{check, is_for_assembly};

/// How the answers of several units become one. What cannot be merged is asked of one unit only, which is then all that is left in `units`.
pub(in crate::plan) fn merge(
    ctx: &Context<'_>,
    stmt: &Statement,
    units: &mut Units,
) -> Result<Gathered> {
    let Kind::Select(query) = &stmt.kind else {
        return Err(Error::internal("only queries are put to several units"));
    };
    let merged = match &query.body {
        QueryBody::Select(select) => selected(ctx, stmt, query, select, units),
        QueryBody::Set { .. } => union(ctx, query),
        QueryBody::Values(_) => {
            Ok(Gathered::Plan(Box::new(MergePlan::iterate()), Edits::default()))
        }
    };
    match merged {
        Ok(Gathered::Plan(mut plan, edits)) => {
            let sorts = plan.order.iter_mut().filter(|_| plan.group.is_none());
            sorts.chain(plan.distinct.iter_mut().flatten()).for_each(loosen);
            Ok(Gathered::Plan(plan, edits))
        }
        Err(error) if is_for_assembly(&error) => {
            let Some(presentation) = ctx.dialect.presentation() else { return Err(error) };
            match stand::chosen(ctx, presentation, stmt)? {
                Chosen::Unit(unit) => {
                    units.targets = vec![Target::whole(unit)];
                    Ok(Gathered::Plan(Box::new(MergePlan::iterate()), Edits::default()))
                }
                Chosen::Needs(need) => Ok(Gathered::Needs(need)),
            }
        }
        other => other,
    }
}

/// A SELECT as any other; and where that is refused for what it does with groups, one whose groups are each about one table: no two units have
/// rows of the same.
fn selected(
    ctx: &Context<'_>,
    stmt: &Statement,
    query: &Query,
    select: &Select,
    units: &mut Units,
) -> Result<Gathered> {
    let merged = check::select_spreadable(query, select, Alone::default())
        .and_then(|()| gather::gather(ctx, stmt, query, select, units));
    let refused = merged.as_ref().is_err_and(is_for_assembly);
    let plain = !select.grouping_sets && select.into.is_none() && select.window.is_none();
    let on = matches!(select.distinct, Distinct::On(..));
    if !refused || select.group_by.is_empty() || !plain || on {
        return merged;
    }
    units.alone.groups = true;
    gather::gather(ctx, stmt, query, select, units)
}

fn loosen(key: &mut SortKey) {
    if let KeyCompare::ByResult { weights } = &key.compare {
        key.compare = KeyCompare::Loose { weights: weights.clone() };
    }
}

/// UNION and UNION ALL at the top, sorted by places or names of columns.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn union(ctx: &Context<'_>, query: &Query) -> Result<Gathered> {
    let no = || Error::unmerged(30001, "this UNION cannot be answered across shards", "");
    let mut all = None;
    let is_whole =
        query.limit.is_none() && ctx.dialect.select_limit(&ctx.session.facts.settings)?.is_none();
    let first = arms(query, &mut all).filter(|_| is_whole).ok_or_else(no)?;
    let mut plan = MergePlan::iterate();
    let key = |position, descending: bool, nulls: Option<bool>| SortKey {
        position,
        compare: KeyCompare::ByResult { weights: None },
        descending,
        nulls_first: nulls.unwrap_or(ctx.dialect.nulls_first() != descending),
    };
    for item in &query.order_by {
        let position = match &unwrapped(&item.expr).node {
            Node::Literal(Literal::Integer(n)) => usize::try_from(*n)
                .ok()
                .and_then(|n| n.checked_sub(1))
                .map(Position::Index)
                .ok_or_else(no)?,
            Node::Column(name) if name.parts.len() == 1 => {
                Position::Name(name.parts[0].value.clone())
            }
            _ => return Err(no()),
        };
        plan.order.push(key(position, item.descending, item.nulls_first));
    }
    if all == Some(false) {
        let expressions = first.items.iter().all(|item| matches!(item, SelectItem::Expr { .. }));
        if !expressions {
            return Err(no());
        }
        let keys = (0..first.items.len()).map(|at| key(Position::Index(at), false, None));
        plan.distinct = Some(keys.collect());
    }
    Ok(Gathered::Plan(Box::new(plan), Edits::default()))
}

/// The first arm of a UNION whose operators are all of one kind and whose arms are plain.
fn arms<'a>(query: &'a Query, all: &mut Option<bool>) -> Option<&'a Select> {
    let mut stack = vec![query];
    let mut first = None;
    while let Some(part) = stack.pop() {
        let is_top = std::ptr::eq(part, query);
        if !is_top && (part.limit.is_some() || !part.with.is_empty()) {
            return None;
        }
        match &part.body {
            QueryBody::Set { op: SetOp::Union, all: this, left, right } => {
                if all.replace(*this).is_some_and(|before| before != *this) {
                    return None;
                }
                stack.extend([&**right, &**left]);
            }
            QueryBody::Select(select) => {
                let plain = select.into.is_none() && !matches!(select.distinct, Distinct::On(..));
                first = first.or(plain.then_some(&**select));
                if !plain {
                    return None;
                }
            }
            QueryBody::Set { .. } | QueryBody::Values(_) => return None,
        }
    }
    first
}
