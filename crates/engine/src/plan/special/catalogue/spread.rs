//! Whether a query has rows of its own on each unit.

use pando_kernel::presentation::{Holding, Presentation};
use pando_sql::ast::{JoinKind, Kind, Node, Query, QueryBody, SelectItem, TableFactor};

use crate::plan::merge_plan::aggregate;

/// Whether each unit has rows of its own for this query: its FROM keeps the rows of a relation about tables. `ctes` are the names in scope.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
pub(super) fn spreads<'a>(
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
                && aggregate::any_in(select.items.iter().filter_map(|item| match item {
                    SelectItem::Expr { expr, .. } if !is_window(&expr.node) => Some(expr),
                    _ => None,
                }))
        }
        QueryBody::Set { .. } | QueryBody::Values(_) => false,
    };
    counts || query.limit.is_some()
}

/// Windows over the catalogue are partitioned by table wherever they are in use.
fn is_window(node: &Node) -> bool {
    matches!(node, Node::Function(call) if call.over.is_some())
}

/// Whether the rows of a query are those of relations that are the same on every unit, whatever else it looks at.
pub(super) fn has_shared(presentation: &dyn Presentation, query: &Query) -> bool {
    is_shared(presentation, query, &mut Vec::new())
}

/// `ctes` are the names in scope.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn is_shared<'a>(
    presentation: &dyn Presentation,
    query: &'a Query,
    ctes: &mut Vec<(&'a str, bool)>,
) -> bool {
    let depth = ctes.len();
    for cte in &query.with {
        let found = match &*cte.body {
            Kind::Select(body) => is_shared(presentation, body, ctes),
            _ => false,
        };
        ctes.push((&cte.name.value, found));
    }
    let found = match &query.body {
        QueryBody::Select(select) => {
            select.from.iter().any(|factor| factor_is_shared(presentation, factor, ctes))
        }
        QueryBody::Set { left, right, .. } => {
            is_shared(presentation, left, ctes) && is_shared(presentation, right, ctes)
        }
        QueryBody::Values(_) => true,
    };
    ctes.truncate(depth);
    found
}

fn factor_is_shared<'a>(
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
                Some((_, shared)) => *shared,
                None => presentation.holding(&table.name) == Some(Holding::Shared),
            }
        }
        TableFactor::Derived { query, .. } => is_shared(presentation, query, ctes),
        TableFactor::Join(join) => {
            factor_is_shared(presentation, &join.left, ctes)
                || factor_is_shared(presentation, &join.right, ctes)
        }
        TableFactor::Function { .. } => true,
    }
}
