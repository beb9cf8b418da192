//! Questions about the catalogue: which units answer, how their answers become one, and what each is sent.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::{Context, Database, LogicTable};
use pando_kernel::merge::{KeyCompare, MergePlan, Position, SortKey};
use pando_kernel::presentation::{Asked, Holding, Presentation, Presented, Shown, View};
use pando_kernel::route::{Need, Spread, Target, UnitName, Units};
use pando_sql::Edits;
use pando_sql::ast::{
    Distinct, JoinKind, Kind, Literal, Node, Query, QueryBody, Select, SelectItem, SetOp,
    Statement, TableFactor,
};
use pando_sql::visit;

use super::logical::parsed;
use super::resolve::unwrapped;
use super::{Gathered, Plan, any_unit, check, gather};

/// Where a question goes.
pub(super) enum Routed {
    Units(Units),
    Needs(Need),
    /// It is not about the catalogue.
    Other,
}

/// The units that answer a query no room has claimed: every one when each has rows of its own, else one.
pub(super) fn route(ctx: &Context<'_>, stmt: &Statement) -> Result<Routed> {
    let Some(presentation) = ctx.dialect.presentation() else { return Ok(Routed::Other) };
    let Some(query) = query_of(&stmt.kind) else { return Ok(Routed::Other) };
    let one = |unit: Option<UnitName>| match unit.or_else(|| any_unit(ctx)) {
        Some(unit) => Routed::Units(Units::new(vec![Target::whole(unit)], Spread::Gather)),
        None => Routed::Other,
    };
    if let [_] | [] = &ctx.database.units[..] {
        return Ok(one(None));
    }
    if let Asked::Table(table) = presentation.asked(stmt, ctx.parameters.unwrap_or(&[])) {
        return Ok(match shown_by(ctx, &table) {
            Shower::Unit(unit) => one(Some(unit)),
            Shower::Nobody => one(None),
            Shower::Unread => Routed::Needs(Need::Tables),
        });
    }
    if matches!(stmt.kind, Kind::Select(_)) && spreads(presentation, query, &mut Vec::new()) {
        let units = ctx.database.units.iter();
        let targets = units.map(|unit| Target::whole(Arc::clone(unit))).collect();
        return Ok(Routed::Units(Units::new(targets, Spread::Gather)));
    }
    let of_tables = visit::tables(&stmt.kind)
        .iter()
        .any(|table| presentation.holding(table.name) == Some(Holding::Tables));
    Ok(one(of_tables.then(|| preferred(ctx, presentation, stmt)).flatten()))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn query_of(kind: &Kind) -> Option<&Query> {
    match kind {
        Kind::Select(query) => Some(query),
        Kind::Explain { inner, .. } => query_of(inner),
        _ => None,
    }
}

enum Shower {
    Unit(UnitName),
    Nobody,
    Unread,
}

/// The unit that shows a table.
fn shown_by(ctx: &Context<'_>, table: &str) -> Shower {
    if let Some(known) = tables(ctx.database).find(|known| known.name.eq_ignore_ascii_case(table)) {
        let node = known.nodes.first();
        return node.map_or(Shower::Nobody, |node| Shower::Unit(writer(ctx.database, &node.unit)));
    }
    match ctx.catalog.tables() {
        None => Shower::Unread,
        Some(tables) => match tables.get(&table.to_lowercase()).and_then(|units| units.first()) {
            Some(unit) => Shower::Unit(Arc::clone(unit)),
            None => Shower::Nobody,
        },
    }
}

fn tables(database: &Database) -> impl Iterator<Item = LogicTable> {
    database.features.iter().flat_map(|feature| feature.tables())
}

/// The unit itself, or the one of a group that takes writes.
fn writer(database: &Database, unit: &UnitName) -> UnitName {
    let mut groups = database.features.iter().flat_map(|feature| feature.groups());
    let group = groups.find(|group| group.name == *unit);
    group.and_then(|group| group.members.into_iter().next()).unwrap_or_else(|| Arc::clone(unit))
}

/// The one unit for a question that cannot be put to all: that of a table or an object it names, else the first.
fn preferred(
    ctx: &Context<'_>,
    presentation: &dyn Presentation,
    stmt: &Statement,
) -> Option<UnitName> {
    if let Asked::Number(number) = presentation.asked(stmt, ctx.parameters.unwrap_or(&[])) {
        return ctx.database.units.get(number).cloned();
    }
    let known: Vec<LogicTable> = tables(ctx.database).collect();
    let mut found = None;
    visit::exprs(&stmt.kind, &mut |expr| {
        if let Node::Literal(Literal::Text(text)) = &expr.node
            && let Some(table) = known.iter().find(|table| table.name.eq_ignore_ascii_case(text))
        {
            found = found
                .take()
                .or_else(|| table.nodes.first().map(|node| writer(ctx.database, &node.unit)));
        }
    });
    found.or_else(|| ctx.database.units.first().cloned())
}

/// Whether each unit has rows of its own for this query: its FROM keeps the rows of a relation about tables. `ctes` are the names in scope.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn spreads<'a>(
    presentation: &dyn Presentation,
    query: &'a Query,
    ctes: &mut Vec<(&'a str, bool)>,
) -> bool {
    let depth = ctes.len();
    for cte in &query.with {
        let found = match &*cte.body {
            Kind::Select(body) => {
                if query.recursive {
                    ctes.push((&cte.name.value, false));
                }
                spreads(presentation, body, ctes)
            }
            _ => false,
        };
        ctes.push((&cte.name.value, found));
    }
    let found = match &query.body {
        QueryBody::Select(select) => {
            select.from.iter().any(|factor| factor_spreads(presentation, factor, ctes))
        }
        QueryBody::Set { left, right, all, .. } => {
            let (left, right) =
                (spreads(presentation, left, ctes), spreads(presentation, right, ctes));
            if *all { left && right } else { left || right }
        }
        QueryBody::Table(name) => presentation.holding(name) == Some(Holding::Tables),
        QueryBody::Values(_) => false,
    };
    ctes.truncate(depth);
    found
}

fn factor_spreads<'a>(
    presentation: &dyn Presentation,
    factor: &'a TableFactor,
    ctes: &mut Vec<(&'a str, bool)>,
) -> bool {
    match factor {
        TableFactor::Table(table) => {
            let cte = match &table.name.parts[..] {
                [only] => ctes.iter().rev().find(|(name, _)| *name == only.value),
                _ => None,
            };
            match cte {
                Some((_, spreads)) => *spreads,
                None => presentation.holding(&table.name) == Some(Holding::Tables),
            }
        }
        TableFactor::Derived { query, .. } => {
            !is_total(query) && spreads(presentation, query, ctes)
        }
        TableFactor::Join(join) => {
            let left = factor_spreads(presentation, &join.left, ctes);
            let right = factor_spreads(presentation, &join.right, ctes);
            match join.kind {
                JoinKind::Inner | JoinKind::Cross => left || right,
                JoinKind::Left => left,
                JoinKind::Right => right,
                JoinKind::Full => left && right,
            }
        }
        TableFactor::Function { .. } => false,
    }
}

/// A sub-query whose answer is about all rows at once: parts of it cannot be put together.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn is_total(query: &Query) -> bool {
    let counts = match &query.body {
        QueryBody::Select(select) => {
            select.group_by.is_empty()
                && super::aggregate::any_in(select.items.iter().filter_map(|item| match item {
                    SelectItem::Expr { expr, .. } if !is_window(&expr.node) => Some(expr),
                    _ => None,
                }))
        }
        QueryBody::Set { .. } | QueryBody::Values(_) | QueryBody::Table(_) => false,
    };
    counts || query.limit.is_some()
}

/// Windows over the catalogue are partitioned by table wherever they are in use.
fn is_window(node: &Node) -> bool {
    matches!(node, Node::Function(call) if call.over.is_some())
}

/// How the answers of several units become one. What cannot be merged is asked of one unit only, which is then all that is left in `units`.
pub(super) fn merge(ctx: &Context<'_>, stmt: &Statement, units: &mut Units) -> Result<Gathered> {
    let Kind::Select(query) = &stmt.kind else {
        return Err(Error::internal("only queries are put to several units"));
    };
    let merged = match &query.body {
        QueryBody::Select(select) => selected(ctx, stmt, (query, select), units),
        QueryBody::Set { .. } => union(ctx, query),
        QueryBody::Values(_) | QueryBody::Table(_) => {
            Ok(Gathered::Plan(MergePlan::iterate(), Edits::default()))
        }
    };
    match merged {
        Ok(Gathered::Plan(mut plan, edits)) => {
            let sorts = plan.order.iter_mut().filter(|_| plan.group.is_none());
            sorts.chain(plan.distinct.iter_mut().flatten()).for_each(loosen);
            Ok(Gathered::Plan(plan, edits))
        }
        Err(error) if matches!(error.kind(), ErrorKind::Refused { .. }) => {
            let one = ctx.dialect.presentation().and_then(|own| preferred(ctx, own, stmt));
            units.targets = one.into_iter().map(Target::whole).collect();
            Ok(Gathered::Plan(MergePlan::iterate(), Edits::default()))
        }
        other => other,
    }
}

/// A SELECT as any other; and where that is refused for what it does with groups, one whose groups are each about one table: no two units have
/// rows of the same.
fn selected(
    ctx: &Context<'_>,
    stmt: &Statement,
    (query, select): (&Query, &Select),
    units: &mut Units,
) -> Result<Gathered> {
    let merged = check::select_spreadable(query, select)
        .and_then(|()| gather::gather(ctx, stmt, query, select, units));
    let refused =
        matches!(&merged, Err(error) if matches!(error.kind(), ErrorKind::Refused { .. }));
    let plain = !select.grouping_sets && select.into.is_none() && select.window.is_none();
    let on = matches!(select.distinct, Distinct::On(..));
    if !refused || select.group_by.is_empty() || !plain || on {
        return merged;
    }
    units.disjoint_groups = true;
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
    let no = || Error::refused(30001, "this UNION cannot be answered across shards", "");
    let mut all = None;
    let first = arms(query, &mut all).filter(|_| query.limit.is_none()).ok_or_else(no)?;
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
    Ok(Gathered::Plan(plan, Edits::default()))
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
            QueryBody::Set { .. } | QueryBody::Values(_) | QueryBody::Table(_) => return None,
        }
    }
    first
}

/// Changes what each unit is sent, so that it answers in logic names. Gives back what must be found out first.
pub(super) fn present(ctx: &Context<'_>, plan: &mut Plan) -> Result<Option<Need>> {
    let Some(presentation) = ctx.dialect.presentation() else { return Ok(None) };
    for unit in &mut plan.units {
        let number = number_of(ctx, &unit.target.unit);
        let shown = shown_at(ctx.database, &unit.target.unit);
        let view = View {
            database: &ctx.database.name,
            facts: &ctx.session.facts,
            number,
            tables: &shown,
            catalog: ctx.catalog,
        };
        let stmt = parsed(ctx, &unit.sql)?;
        match presentation.present(&stmt, &view)? {
            Presented::Needs(need) => return Ok(Some(need)),
            Presented::Edits(edits) if edits.is_empty() => {}
            Presented::Edits(edits) => unit.sql = edits.apply(&unit.sql).into(),
        }
    }
    Ok(None)
}

fn number_of(ctx: &Context<'_>, unit: &str) -> usize {
    ctx.database.units.iter().position(|known| &**known == unit).unwrap_or(0)
}

/// The tables of a unit that are not simply shown under their own names: of each logic table the first node stands for all, and what has a logic
/// table's name without being a part of it cannot be reached, so it is not shown.
pub(crate) fn shown_at(database: &Database, unit: &str) -> Vec<Shown> {
    let mut list = Vec::new();
    for table in tables(database) {
        let logic: Arc<str> = table.name.as_str().into();
        let mut is_node = false;
        for (i, node) in table.nodes.iter().enumerate() {
            if *writer(database, &node.unit) != *unit {
                continue;
            }
            let same = node.table.eq_ignore_ascii_case(&logic);
            is_node |= same;
            if i > 0 || !same {
                list.push(Shown {
                    actual: Arc::clone(&node.table),
                    logic: Arc::clone(&logic),
                    hidden: i > 0,
                });
            }
        }
        if !is_node {
            list.push(Shown { actual: Arc::clone(&logic), logic, hidden: true });
        }
    }
    list
}
