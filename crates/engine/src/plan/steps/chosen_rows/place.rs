//! Where queries with a LIMIT or a lock stand in a change, and what their values meet there.

use pando_sql::ast::{
    BinaryOp, Cte, Distinct, Expr, Ident, Kind, Node, ObjectName, Query, QueryBody, SelectItem,
    Statement, Table, TableFactor,
};
use pando_sql::{Span, visit};

use super::Form;
use crate::plan::assemble::conjuncts;

/// Such a query in its place.
pub(super) struct Found<'a> {
    pub(super) query: &'a Query,
    pub(super) place: Span,
    pub(super) form: Form,
    /// What each item meets, and whether it is assigned to that.
    pub(super) meets: Vec<(&'a ObjectName, Manner)>,
    /// How many items it must have, where that is known.
    pub(super) width: Option<usize>,
}

/// What is done with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    Compared,
    Assigned,
}

impl Form {
    /// Whether every family can write it.
    pub(super) fn is_for_all(self) -> bool {
        match self {
            Self::List { .. } | Self::Value | Self::Existence => true,
            Self::Array { .. } | Self::Table => false,
        }
    }
}

/// What both statements have.
pub(super) struct Parts<'a> {
    pub(super) with: &'a [Cte],
    /// The tables that are changed; none where that is not one.
    pub(super) targets: Vec<&'a Table>,
    pub(super) factors: Vec<&'a TableFactor>,
    pub(super) filter: Option<&'a Expr>,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only two statements change rows in place")]
pub(super) fn parts(stmt: &Statement) -> Option<Parts<'_>> {
    match &stmt.kind {
        Kind::Update(update) => Some(Parts {
            with: &update.with,
            targets: match &update.tables[..] {
                [TableFactor::Table(table)] => vec![table],
                _ => Vec::new(),
            },
            factors: update.tables.iter().chain(&update.from).collect(),
            filter: update.filter.as_ref(),
        }),
        Kind::Delete(delete) => Some(Parts {
            with: &delete.with,
            targets: delete.targets.iter().collect(),
            factors: delete.from.iter().collect(),
            filter: delete.filter.as_ref(),
        }),
        _ => None,
    }
}

/// The queries with a LIMIT or a lock, outermost ones.
pub(super) fn find(stmt: &Statement) -> Vec<Found<'_>> {
    let mut found = Vec::new();
    let Some(parts) = parts(stmt) else { return found };
    for cte in parts.with {
        if let Kind::Select(query) = &*cte.body {
            found.extend(table(query));
        }
    }
    let mut factors = parts.factors;
    while let Some(factor) = factors.pop() {
        match factor {
            TableFactor::Derived { query, lateral: false, .. } => found.extend(table(query)),
            TableFactor::Join(join) => factors.extend([&join.left, &join.right]),
            TableFactor::Derived { .. } | TableFactor::Table(_) | TableFactor::Function { .. } => {}
        }
    }
    let mut narrowing = Vec::new();
    parts.filter.iter().for_each(|filter| conjuncts(filter, &mut narrowing));
    let mut met: Vec<(Span, &ObjectName, Manner)> = assigned(stmt);
    visit::exprs(&stmt.kind, &mut |expr| {
        let within = |known: &Found<'_>| {
            let whole = known.query.span;
            let place = known.place;
            let start = whole.start.min(place.start);
            start <= expr.span.start && expr.span.end <= whole.end.max(place.end)
        };
        if found.iter().any(within) {
            return;
        }
        compared(expr, &mut met);
        let role = match narrowing.iter().any(|one| std::ptr::eq(*one, expr)) {
            true => Role::Narrows,
            false => Role::Other,
        };
        found.extend(at(stmt, expr, role, &met));
    });
    found
}

/// A query in WITH or FROM.
fn table(query: &Query) -> Option<Found<'_>> {
    is_limited(query).then(|| Found {
        query: bare(query),
        place: query.span,
        form: Form::Table,
        meets: Vec::new(),
        width: None,
    })
}

/// What an expression is to the rows of its statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Rows of which it is not true are left out.
    Narrows,
    Other,
}

/// The query of an expression.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn at<'a>(
    stmt: &Statement,
    expr: &'a Expr,
    role: Role,
    met: &[(Span, &'a ObjectName, Manner)],
) -> Option<Found<'a>> {
    let (query, place, form) = match &expr.node {
        Node::InQuery { query, negated, .. } => {
            (&**query, query.span, Form::List { narrows: role == Role::Narrows && !negated })
        }
        Node::Exists(query) if word(stmt, expr) == "exists" => {
            (&**query, expr.span, Form::Existence)
        }
        Node::Subquery(query) => (&**query, expr.span, Form::Value),
        Node::Other(inner) => match &inner[..] {
            [inner @ Expr { node: Node::Subquery(query), .. }] => match word(stmt, expr).as_str() {
                "array" => (&**query, expr.span, Form::Array { quantified: false }),
                "any" | "some" | "all" => (&**query, inner.span, Form::Array { quantified: true }),
                _ => return None,
            },
            _ => return None,
        },
        _ => return None,
    };
    if !is_limited(query) {
        return None;
    }
    let (mut meets, mut width) = (Vec::new(), Some(1));
    match &expr.node {
        Node::InQuery { operand, .. } => {
            let operand = unwrapped(operand);
            let operands = match &operand.node {
                Node::Row(list) => list.iter().collect(),
                _ => vec![operand],
            };
            width = Some(operands.len());
            let named = |operand: &&'a Expr| match &unwrapped(operand).node {
                Node::Column(name) => Some((name, Manner::Compared)),
                _ => None,
            };
            // Either all are known, or none is.
            let all: Option<Vec<_>> = operands.iter().map(named).collect();
            meets = all.unwrap_or_default();
        }
        Node::Exists(_) => width = None,
        _ => {
            let own = met.iter().find(|(span, ..)| *span == expr.span);
            meets.extend(own.map(|(_, name, manner)| (*name, *manner)));
        }
    }
    Some(Found { query: bare(query), place, form, meets, width })
}

/// The first word of an expression.
fn word(stmt: &Statement, expr: &Expr) -> String {
    let text = expr.span.of(&stmt.text);
    text.chars().take_while(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase()
}

pub(super) fn unwrapped(expr: &Expr) -> &Expr {
    let mut expr = expr;
    while let Node::Nested(inner) = &expr.node {
        expr = inner;
    }
    expr
}

/// Sub-queries that are assigned to a column.
fn assigned(stmt: &Statement) -> Vec<(Span, &ObjectName, Manner)> {
    let Kind::Update(update) = &stmt.kind else { return Vec::new() };
    let assignments = update.assignments.iter();
    assignments.map(|one| (unwrapped(&one.value).span, &one.column, Manner::Assigned)).collect()
}

/// Notes a sub-query that is compared with a column.
fn compared<'a>(expr: &'a Expr, met: &mut Vec<(Span, &'a ObjectName, Manner)>) {
    let Node::Binary { op, left, right } = &expr.node else { return };
    let compares = match op {
        BinaryOp::Equal
        | BinaryOp::NullSafeEqual
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessOrEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterOrEqual => true,
        BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Plus
        | BinaryOp::Minus
        | BinaryOp::Multiply
        | BinaryOp::Divide
        | BinaryOp::Modulo
        | BinaryOp::Other(_) => false,
    };
    if !compares {
        return;
    }
    for (one, other) in [(left, right), (right, left)] {
        if let Node::Column(name) = &unwrapped(one).node {
            met.push((unwrapped(other).span, name, Manner::Compared));
        }
    }
}

/// Whether a query or one that it reads from has a LIMIT or a lock.
fn is_limited(query: &Query) -> bool {
    if query.limit.is_some() || query.lock.is_some() {
        return true;
    }
    let inside = |cte: &Cte| matches!(&*cte.body, Kind::Select(inner) if is_limited(inner));
    if query.with.iter().any(inside) {
        return true;
    }
    match &query.body {
        QueryBody::Select(select) => {
            let mut factors: Vec<&TableFactor> = select.from.iter().collect();
            while let Some(factor) = factors.pop() {
                match factor {
                    TableFactor::Derived { query, .. } if is_limited(query) => return true,
                    TableFactor::Join(join) => factors.extend([&join.left, &join.right]),
                    TableFactor::Derived { .. }
                    | TableFactor::Table(_)
                    | TableFactor::Function { .. } => {}
                }
            }
            false
        }
        QueryBody::Set { left, right, .. } => is_limited(left) || is_limited(right),
        QueryBody::Values(_) => false,
    }
}

/// The query inside those that only give its columns on, as MySQL wants it: `SELECT id FROM (SELECT id FROM t LIMIT 2) x`.
fn bare(query: &Query) -> &Query {
    let mut query = query;
    while let Some(inner) = given_on(query) {
        query = inner;
    }
    query
}

fn given_on(query: &Query) -> Option<&Query> {
    let QueryBody::Select(select) = &query.body else { return None };
    let [TableFactor::Derived { query: inner, lateral: false, alias: Some(alias), span }] =
        &select.from[..]
    else {
        return None;
    };
    let plain = query.with.is_empty()
        && query.order_by.is_empty()
        && query.limit.is_none()
        && query.lock.is_none()
        && matches!(select.distinct, Distinct::No)
        && select.modifiers.is_empty()
        && select.into.is_none()
        && select.filter.is_none()
        && select.group_by.is_empty()
        && select.having.is_none()
        && select.window.is_none()
        // A list of names behind the alias calls the columns otherwise.
        && span.end == alias.span.end;
    let QueryBody::Select(own) = &inner.body else { return None };
    let same = match &select.items[..] {
        [SelectItem::Star(_)] => true,
        items => {
            items.len() == own.items.len()
                && items.iter().zip(&own.items).all(|(outer, inner)| is_same(outer, inner))
        }
    };
    (plain && same).then_some(inner)
}

/// Whether an item is the column that an item of the query inside makes.
fn is_same(outer: &SelectItem, inner: &SelectItem) -> bool {
    let (SelectItem::Expr { expr: outer, .. }, SelectItem::Expr { expr: inner, alias, .. }) =
        (outer, inner)
    else {
        return false;
    };
    let (Node::Column(outer), inner) = (&outer.node, &inner.node) else { return false };
    let made = match (alias, inner) {
        (Some(alias), _) => Some(alias),
        (None, Node::Column(name)) => name.parts.last(),
        (None, _) => None,
    };
    made.zip(outer.parts.last()).is_some_and(|(made, outer)| made.value == outer.value)
}

impl Found<'_> {
    /// Whether it is what MySQL answers with error 1235: IN with a LIMIT that stands in no derived table.
    pub(super) fn is_limited_list(&self) -> bool {
        let is_list = matches!(self.form, Form::List { .. });
        is_list && self.place == self.query.span && self.query.limit.is_some()
    }
}

/// The lock under which a MySQL server reads the rows of such a query: of the table that it changes, the one that the change takes anyway. `None` where the
/// query is of a form that takes none.
pub(super) fn lock_for(stmt: &Statement, sub: &Statement) -> Option<&'static str> {
    let Kind::Select(query) = &sub.kind else { return None };
    let QueryBody::Select(_) = &query.body else { return None };
    let parts = parts(stmt)?;
    let last = |name: &ObjectName| name.parts.last().map(Ident::key);
    let own = match &parts.targets[..] {
        [table] => last(&table.name),
        _ => None,
    };
    let all_own = visit::tables(&sub.kind).iter().all(|read| last(read.name) == own);
    // The query may end with a comment.
    Some(if own.is_some() && all_own { "\nFOR UPDATE" } else { "\nLOCK IN SHARE MODE" })
}
