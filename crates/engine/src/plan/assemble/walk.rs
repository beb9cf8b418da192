//! The tables of a statement, each with the conditions that every row of it must meet to matter.

use pando_sql::ast::{
    BinaryOp, Cte, Expr, Join, JoinConstraint, JoinKind, Kind, Node, Query, QueryBody, Select,
    SelectItem, Statement, Table, TableFactor,
};
use pando_sql::visit::{self, Occurrence};

/// One place of a table.
#[derive(Debug, Clone)]
pub(super) struct Leaf<'a> {
    pub(super) table: &'a Table,
    /// Its logic name, lower-cased.
    pub(super) logic: String,
    /// The SELECT it stands in; none for the tables of a statement that changes rows.
    pub(super) select: Option<&'a Select>,
    /// Conjuncts of WHERE and ON: a row for which one is not true changes nothing.
    pub(super) conditions: Vec<&'a Expr>,
}

/// A query of the statement, and whether only the existence of its rows matters.
pub(in crate::plan) struct Inner<'a> {
    pub(in crate::plan) query: &'a Query,
    pub(in crate::plan) exists: bool,
}

/// Every query that is not part of another's FROM, WITH or set operation: the statement's own, and those in expressions.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
pub(in crate::plan) fn roots(stmt: &Statement) -> Vec<Inner<'_>> {
    let mut found = Vec::new();
    own(&stmt.kind, &mut found);
    visit::exprs(&stmt.kind, &mut |expr| {
        let (query, exists) = match &expr.node {
            Node::Exists(query) => (&**query, true),
            Node::Subquery(query) | Node::InQuery { query, .. } => (&**query, false),
            _ => return,
        };
        if !found.iter().any(|known| std::ptr::eq(known.query, query)) {
            found.push(Inner { query, exists });
        }
    });
    found
}

/// The statement's own query; those in WITH and FROM of a statement that changes rows.
fn own<'a>(kind: &'a Kind, found: &mut Vec<Inner<'a>>) {
    if let Kind::Select(query) = kind {
        return found.push(Inner { query, exists: false });
    }
    let (with, factors) = outermost(kind);
    for cte in with {
        own(&cte.body, found);
    }
    derived(factors, &mut |query| found.push(Inner { query, exists: false }));
}

/// WITH and FROM of a statement that changes rows.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter: other statements are not assembled")]
pub(super) fn outermost(kind: &Kind) -> (&[Cte], Vec<&TableFactor>) {
    match kind {
        Kind::Update(update) => (&update.with, update.tables.iter().chain(&update.from).collect()),
        Kind::Delete(delete) => (&delete.with, delete.from.iter().collect()),
        Kind::Insert(insert) => (&insert.with, Vec::new()),
        _ => (&[], Vec::new()),
    }
}

/// The sub-queries of FROM items.
fn derived<'a>(factors: Vec<&'a TableFactor>, see: &mut dyn FnMut(&'a Query)) {
    let mut factors = factors;
    while let Some(factor) = factors.pop() {
        match factor {
            TableFactor::Derived { query, .. } => see(query),
            TableFactor::Join(join) => factors.extend([&join.left, &join.right]),
            TableFactor::Table(_) | TableFactor::Function { .. } => {}
        }
    }
}

/// The SELECT cores of one root.
pub(in crate::plan) fn selects<'a>(query: &'a Query, out: &mut Vec<&'a Select>) {
    for cte in &query.with {
        if let Kind::Select(inner) = &*cte.body {
            selects(inner, out);
        }
    }
    match &query.body {
        QueryBody::Select(select) => {
            out.push(select);
            derived(select.from.iter().collect(), &mut |query| selects(query, out));
        }
        QueryBody::Set { left, right, .. } => {
            selects(left, out);
            selects(right, out);
        }
        QueryBody::Values(_) => {}
    }
}

/// Whether no query of the statement changes or locks anything.
fn only_reads(stmt: &Statement) -> bool {
    fn reads(query: &Query) -> bool {
        let mut parts: Vec<&Query> = Vec::new();
        for cte in &query.with {
            let Kind::Select(inner) = &*cte.body else { return false };
            parts.push(inner);
        }
        match &query.body {
            QueryBody::Select(select) => {
                derived(select.from.iter().collect(), &mut |query| parts.push(query));
            }
            QueryBody::Set { left, right, .. } => parts.extend([&**left, &**right]),
            QueryBody::Values(_) => {}
        }
        query.lock.is_none() && parts.into_iter().all(reads)
    }
    roots(stmt).iter().all(|root| reads(root.query))
}

/// Whether a statement does nothing beside reading, or changing one table.
pub(super) fn is_plain(stmt: &Statement) -> bool {
    if !only_reads(stmt) || visit::renames_joins(&stmt.kind) {
        return false;
    }
    let Kind::Select(query) = &stmt.kind else { return true };
    match &query.body {
        QueryBody::Select(select) => select.into.is_none(),
        QueryBody::Set { .. } | QueryBody::Values(_) => true,
    }
}

/// The tables of FROM clauses that are among `occurrences` (the others are common table expressions).
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter: other statements have no FROM")]
pub(super) fn leaves<'a>(stmt: &'a Statement, occurrences: &[Occurrence<'_>]) -> Vec<Leaf<'a>> {
    let mut all = Vec::new();
    for root in roots(stmt) {
        selects(root.query, &mut all);
    }
    let mut out = Vec::new();
    let own: Vec<&TableFactor> = match &stmt.kind {
        Kind::Update(update) => update.tables.iter().chain(&update.from).collect(),
        Kind::Delete(delete) => delete.from.iter().collect(),
        _ => Vec::new(),
    };
    own.into_iter().for_each(|factor| descend(None, factor, &[], &mut out));
    for select in all {
        let mut conditions = Vec::new();
        if let Some(filter) = &select.filter {
            conjuncts(filter, &mut conditions);
        }
        for factor in &select.from {
            descend(Some(select), factor, &conditions, &mut out);
        }
    }
    out.retain(|leaf: &Leaf<'_>| {
        occurrences.iter().any(|found| found.name.span == leaf.table.name.span)
    });
    out
}

fn descend<'a>(
    select: Option<&'a Select>,
    factor: &'a TableFactor,
    conditions: &[&'a Expr],
    out: &mut Vec<Leaf<'a>>,
) {
    match factor {
        TableFactor::Table(table) => {
            let logic = table.name.key();
            out.push(Leaf { table, logic, select, conditions: conditions.to_vec() });
        }
        TableFactor::Join(join) => {
            let (left, right) = sides(join, conditions);
            descend(select, &join.left, &left, out);
            descend(select, &join.right, &right, out);
        }
        TableFactor::Derived { .. } | TableFactor::Function { .. } => {}
    }
}

/// Which conditions reach each side: those from outside only where the join never fills it with NULL, its own where a row that fails them
/// is not kept.
fn sides<'a>(join: &'a Join, outside: &[&'a Expr]) -> (Vec<&'a Expr>, Vec<&'a Expr>) {
    let mut own = Vec::new();
    if let JoinConstraint::On(expr) = &join.constraint {
        conjuncts(expr, &mut own);
    }
    let both = || outside.iter().chain(&own).copied().collect::<Vec<_>>();
    match join.kind {
        JoinKind::Inner | JoinKind::Cross => (both(), both()),
        JoinKind::Left => (outside.to_vec(), own),
        JoinKind::Right => (own, outside.to_vec()),
        JoinKind::Full => (Vec::new(), Vec::new()),
    }
}

/// The parts of an AND.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
pub(in crate::plan) fn conjuncts<'a>(expr: &'a Expr, out: &mut Vec<&'a Expr>) {
    match &expr.node {
        Node::Binary { op: BinaryOp::And, left, right } => {
            conjuncts(left, out);
            conjuncts(right, out);
        }
        Node::Nested(inner) => conjuncts(inner, out),
        _ => out.push(expr),
    }
}

/// Whether the whole row of a table may be meant: `*`, `t.*`, NATURAL JOIN.
pub(super) fn whole_rows(stmt: &Statement) -> bool {
    let mut found = false;
    for root in roots(stmt) {
        let mut all = Vec::new();
        selects(root.query, &mut all);
        for select in all {
            let top =
                matches!(&root.query.body, QueryBody::Select(own) if std::ptr::eq(&**own, select));
            let star = select.items.iter().any(|item| !matches!(item, SelectItem::Expr { .. }));
            found |= star && !(root.exists && top);
            let mut factors: Vec<&TableFactor> = select.from.iter().collect();
            while let Some(factor) = factors.pop() {
                if let TableFactor::Join(join) = factor {
                    found |= matches!(join.constraint, JoinConstraint::Natural);
                    factors.extend([&join.left, &join.right]);
                }
            }
        }
    }
    found
}
