//! One FROM with its WHERE: which tables stand in it, which conditions hold for the rows they give, and which of their columns are equal.

use std::collections::HashMap;
use std::ops::Bound;

use pando_kernel::Value;
use pando_sql::Span;
use pando_sql::ast::{
    BinaryOp, Expr, Ident, InsertSource, Join, JoinConstraint, JoinKind, Kind, Node, ObjectName,
    Query, QueryBody, Select, Table, TableFactor,
};

use crate::asked::Asked;
use crate::domain::Domain;
use crate::kept::{Finds, Keeper};
use crate::literal;

/// A table of a scope.
#[derive(Debug)]
pub(crate) struct Source {
    /// What columns are qualified with: the alias, or the table's name; lower-cased.
    pub(crate) label: String,
    /// The table's name, lower-cased.
    pub(crate) logic: String,
    /// Where the name stands.
    pub(crate) span: Span,
    /// A list behind the alias gives its columns other names: a sharding column's name may be that of another.
    pub(crate) is_renamed: bool,
}

/// A condition and the sources whose rows it restricts.
#[derive(Debug)]
struct Condition<'a> {
    expr: &'a Expr,
    applies: Vec<usize>,
    /// FULL JOIN: an equality counts only between the two sides.
    sides: Option<(Vec<usize>, Vec<usize>)>,
}

/// An outer join, for the rule that its preserved side must be split where its other side is.
#[derive(Debug)]
pub(crate) struct Outer {
    /// Sources whose rows always appear.
    pub(crate) preserved: Vec<usize>,
    /// Sources that may be filled with NULL.
    pub(crate) optional: Vec<usize>,
}

/// A FROM and the conditions on it.
#[derive(Debug, Default)]
pub(crate) struct Scope<'a> {
    pub(crate) sources: Vec<Source>,
    pub(crate) outers: Vec<Outer>,
    conditions: Vec<Condition<'a>>,
    using: Vec<(Vec<usize>, Vec<usize>, String)>,
    /// Sub-queries and functions in FROM: whose columns a bare name may mean.
    derived: usize,
}

/// A column of a source, lower-cased.
pub(crate) type Key = (usize, String);

impl<'a> Scope<'a> {
    /// The scope of some FROM factors and a WHERE.
    pub(crate) fn new(factors: &'a [TableFactor], filter: Option<&'a Expr>) -> Self {
        let mut scope = Self::default();
        for factor in factors {
            scope.factor(factor);
        }
        scope.filter(filter);
        scope
    }

    /// Adds a table that stands outside FROM: the target of UPDATE and DELETE.
    pub(crate) fn target(&mut self, table: &Table) {
        let logic = table.name.key();
        let label = table.alias.as_ref().map_or_else(|| logic.clone(), Ident::key);
        let is_renamed = table.columns.is_some();
        self.sources.push(Source { label, logic, span: table.name.span, is_renamed });
    }

    /// Adds a WHERE: it restricts every source.
    pub(crate) fn filter(&mut self, filter: Option<&'a Expr>) {
        if let Some(expr) = filter {
            let applies = (0..self.sources.len()).collect();
            self.conditions.push(Condition { expr, applies, sides: None });
        }
    }

    /// Adds FROM factors.
    pub(crate) fn factors(&mut self, factors: &'a [TableFactor]) {
        for factor in factors {
            self.factor(factor);
        }
    }

    fn factor(&mut self, factor: &'a TableFactor) -> Vec<usize> {
        let first = self.sources.len();
        match factor {
            TableFactor::Table(table) => self.target(table),
            TableFactor::Join(join) => self.join(join),
            TableFactor::Derived { .. } | TableFactor::Function { .. } => self.derived += 1,
        }
        (first..self.sources.len()).collect()
    }

    fn join(&mut self, join: &'a Join) {
        let left = self.factor(&join.left);
        let right = self.factor(&join.right);
        let both: Vec<usize> = left.iter().chain(&right).copied().collect();
        let (applies, sides) = match join.kind {
            JoinKind::Inner | JoinKind::Cross => (both, None),
            JoinKind::Left => (right.clone(), None),
            JoinKind::Right => (left.clone(), None),
            JoinKind::Full => (Vec::new(), Some((left.clone(), right.clone()))),
        };
        match join.kind {
            JoinKind::Inner | JoinKind::Cross => {}
            JoinKind::Left => {
                self.outers.push(Outer { preserved: left.clone(), optional: right.clone() });
            }
            JoinKind::Right => {
                self.outers.push(Outer { preserved: right.clone(), optional: left.clone() });
            }
            JoinKind::Full => {
                self.outers.push(Outer { preserved: left.clone(), optional: right.clone() });
                self.outers.push(Outer { preserved: right.clone(), optional: left.clone() });
            }
        }
        match &join.constraint {
            JoinConstraint::On(expr) => self.conditions.push(Condition { expr, applies, sides }),
            JoinConstraint::Using(columns) => {
                for column in columns {
                    self.using.push((left.clone(), right.clone(), column.value.to_lowercase()));
                }
            }
            JoinConstraint::Natural | JoinConstraint::None => {}
        }
    }

    /// Whether a source's column of this name is of interest.
    fn is_key(&self, keys: &dyn Fn(usize, &str) -> bool, at: usize, column: &str) -> bool {
        self.sources.get(at).is_some_and(|source| !source.is_renamed) && keys(at, column)
    }

    /// The source and column a name means; `keys` tells which columns of which sources are of interest.
    fn resolve(&self, name: &ObjectName, keys: &dyn Fn(usize, &str) -> bool) -> Option<Key> {
        let column = name.parts.last()?.value.to_lowercase();
        let at = match name.parts.len() {
            1 if self.sources.len() == 1 && self.derived == 0 => 0,
            1 => (0..self.sources.len()).find(|i| self.is_key(keys, *i, &column))?,
            n => {
                let owner = name.parts.get(n - 2)?.key();
                self.sources.iter().position(|source| source.label == owner)?
            }
        };
        self.is_key(keys, at, &column).then_some((at, column))
    }

    /// For each column of interest what the conditions say, equalities between columns followed.
    pub(crate) fn domains(
        &self,
        asked: &Asked<'_>,
        keys: &dyn Fn(usize, &str) -> bool,
    ) -> HashMap<Key, Domain> {
        let mut found: HashMap<Key, Domain> = HashMap::new();
        for condition in &self.conditions {
            for (key, domain) in self.of(asked, condition.expr, keys) {
                if condition.applies.contains(&key.0) {
                    let known = found.remove(&key).unwrap_or_default();
                    found.insert(key, known.and(domain));
                }
            }
        }
        // Equal texts may be two values where one of the columns tells apart what the other does not.
        let class = |(at, column): &Key| {
            let logic = self.sources.get(*at).map_or("", |source| &source.logic);
            asked.keeper(logic, column, |keeper| keeper.class())
        };
        let mut edges = self.equalities(keys);
        edges.retain(|(a, b, _)| class(a).is_some_and(|own| Some(own) == class(b)));
        for _ in 0..self.sources.len() {
            let mut changed = false;
            for (from, to, applies) in &edges {
                for (from, to) in [(from, to), (to, from)] {
                    let Some(domain) = found.get(from).cloned() else { continue };
                    let known = found.get(to).cloned().unwrap_or_default();
                    if applies.contains(&to.0) && known == Domain::Any && domain != Domain::Any {
                        found.insert(to.clone(), domain);
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        found
    }

    /// Pairs of columns of interest that are equal in every pair of rows the scope joins, with the sources the equality restricts.
    pub(crate) fn equalities(
        &self,
        keys: &dyn Fn(usize, &str) -> bool,
    ) -> Vec<(Key, Key, Vec<usize>)> {
        let mut edges = Vec::new();
        for condition in &self.conditions {
            for part in conjuncts(condition.expr) {
                let Node::Binary { op: BinaryOp::Equal, left, right } = &part.node else {
                    continue;
                };
                let (Node::Column(a), Node::Column(b)) =
                    (&literal::unwrapped(left).node, &literal::unwrapped(right).node)
                else {
                    continue;
                };
                let pair = self.resolve(a, keys).zip(self.resolve(b, keys));
                let Some((a, b)) = pair else { continue };
                let counts = match &condition.sides {
                    None => condition.applies.contains(&a.0) || condition.applies.contains(&b.0),
                    Some((left, right)) => {
                        left.contains(&a.0) && right.contains(&b.0)
                            || left.contains(&b.0) && right.contains(&a.0)
                    }
                };
                if counts && a.0 != b.0 {
                    edges.push((a, b, condition.applies.clone()));
                }
            }
        }
        for (left, right, column) in &self.using {
            for l in left.iter().filter(|l| self.is_key(keys, **l, column)) {
                for r in right.iter().filter(|r| self.is_key(keys, **r, column)) {
                    edges.push(((*l, column.clone()), (*r, column.clone()), Vec::new()));
                }
            }
        }
        edges
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a filter over syntax nodes: every other one says nothing about a shard"
    )]
    fn of(
        &self,
        asked: &Asked<'_>,
        expr: &Expr,
        keys: &dyn Fn(usize, &str) -> bool,
    ) -> HashMap<Key, Domain> {
        match &expr.node {
            Node::Nested(inner) => self.of(asked, inner, keys),
            Node::Binary { op: BinaryOp::And, left, right } => {
                let mut all = self.of(asked, left, keys);
                for (key, domain) in self.of(asked, right, keys) {
                    let known = all.remove(&key).unwrap_or_default();
                    all.insert(key, known.and(domain));
                }
                all
            }
            Node::Binary { op: BinaryOp::Or, left, right } => {
                let mut other = self.of(asked, right, keys);
                if other.is_empty() {
                    return other;
                }
                self.of(asked, left, keys)
                    .into_iter()
                    .filter_map(|(key, domain)| {
                        other.remove(&key).map(|more| (key, domain.or(more)))
                    })
                    .collect()
            }
            _ => self.leaf(asked, expr, keys).into_iter().collect(),
        }
    }

    /// One comparison of a column with constants.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a filter over syntax nodes: every other one says nothing about a shard"
    )]
    fn leaf(
        &self,
        asked: &Asked<'_>,
        expr: &Expr,
        keys: &dyn Fn(usize, &str) -> bool,
    ) -> Option<(Key, Domain)> {
        let column = |expr: &Expr| match &literal::unwrapped(expr).node {
            Node::Column(name) => self.resolve(name, keys),
            _ => None,
        };
        let value = |expr: &Expr| literal::value(asked, expr);
        let kept = |key: &Key, read: &mut dyn FnMut(&Keeper<'_>) -> Option<Domain>| {
            let logic = self.sources.get(key.0).map_or("", |source| &source.logic);
            asked.keeper(logic, &key.1, |keeper| read(&keeper))
        };
        match &expr.node {
            Node::Binary { op, left, right } => {
                let (key, value, op) = match column(left) {
                    Some(key) => (key, value(right)?, op.clone()),
                    None => (column(right)?, value(left)?, mirrored(op)),
                };
                let domain = kept(&key, &mut |keeper| compared(keeper, &op, value.clone()))?;
                Some((key, domain))
            }
            Node::InList { operand, list, negated: false } => {
                let key = column(operand)?;
                let (text, syntax) = (&asked.stmt.text, asked.ctx.dialect.syntax());
                let domain = kept(&key, &mut |keeper| {
                    let mut domain = Domain::nothing();
                    for one in list.values(text, syntax) {
                        domain = domain.or(equal(keeper, value(&one)?));
                        if matches!(domain, Domain::Any) {
                            break;
                        }
                    }
                    (!list.is_empty()).then_some(domain)
                })?;
                Some((key, domain))
            }
            Node::Between { operand, low, high, negated: false, symmetric: false } => {
                let key = column(operand)?;
                let (low, high) = (value(low)?, value(high)?);
                let domain = kept(&key, &mut |keeper| {
                    let low = bound(keeper, low.clone(), Bound::Included);
                    Some(Domain::range(low, bound(keeper, high.clone(), Bound::Included)))
                })?;
                Some((key, domain))
            }
            _ => None,
        }
    }
}

/// The rows whose column equals a value.
fn equal(keeper: &Keeper<'_>, value: Value) -> Domain {
    if value.is_null() {
        return Domain::nothing();
    }
    match keeper.equal(value) {
        Finds::Nothing => Domain::nothing(),
        Finds::Value(value) => Domain::equal(value),
        Finds::Anything => Domain::Any,
    }
}

/// One end of a range; open when the value is compared in an order that is not known.
fn bound(keeper: &Keeper<'_>, value: Value, kind: fn(Value) -> Bound<Value>) -> Bound<Value> {
    if value.is_null() {
        return kind(value);
    }
    keeper.bound(value).map_or(Bound::Unbounded, kind)
}

fn compared(keeper: &Keeper<'_>, op: &BinaryOp, value: Value) -> Option<Domain> {
    Some(match op {
        BinaryOp::Equal => equal(keeper, value),
        BinaryOp::NullSafeEqual if !value.is_null() => equal(keeper, value),
        BinaryOp::Less => Domain::range(Bound::Unbounded, bound(keeper, value, Bound::Excluded)),
        BinaryOp::LessOrEqual => {
            Domain::range(Bound::Unbounded, bound(keeper, value, Bound::Included))
        }
        BinaryOp::Greater => Domain::range(bound(keeper, value, Bound::Excluded), Bound::Unbounded),
        BinaryOp::GreaterOrEqual => {
            Domain::range(bound(keeper, value, Bound::Included), Bound::Unbounded)
        }
        BinaryOp::NullSafeEqual
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::NotEqual
        | BinaryOp::Plus
        | BinaryOp::Minus
        | BinaryOp::Multiply
        | BinaryOp::Divide
        | BinaryOp::Modulo
        | BinaryOp::Other(_) => return None,
    })
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter over syntax nodes: every other one says nothing about a shard"
)]
fn mirrored(op: &BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessOrEqual => BinaryOp::GreaterOrEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterOrEqual => BinaryOp::LessOrEqual,
        other => other.clone(),
    }
}

/// The parts of a chain of AND.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter over syntax nodes: every other one says nothing about a shard"
)]
pub(crate) fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    let mut stack = vec![expr];
    let mut parts = Vec::new();
    while let Some(expr) = stack.pop() {
        match &expr.node {
            Node::Nested(inner) => stack.push(inner),
            Node::Binary { op: BinaryOp::And, left, right } => stack.extend([&**left, &**right]),
            _ => parts.push(expr),
        }
    }
    parts
}

/// The last part of a name, lower-cased: a column, a function or an index.
pub(crate) fn last(name: &ObjectName) -> String {
    name.parts.last().map(|part| part.value.to_lowercase()).unwrap_or_default()
}

/// Every SELECT core in the WITH, FROM and row source of a statement that changes rows; those in expressions not.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter over statements: every other one has no rows to change"
)]
pub(crate) fn inside<'a>(kind: &'a Kind, out: &mut Vec<&'a Select>) {
    let (with, source, factors): (_, _, Vec<&TableFactor>) = match kind {
        Kind::Insert(insert) => {
            let query = match &insert.source {
                InsertSource::Query(query) => Some(&**query),
                InsertSource::Values { .. } | InsertSource::Set(_) | InsertSource::Default => None,
            };
            (&insert.with[..], query, Vec::new())
        }
        Kind::Update(update) => {
            (&update.with[..], None, update.tables.iter().chain(&update.from).collect())
        }
        Kind::Delete(delete) => (&delete.with[..], None, delete.from.iter().collect()),
        Kind::Explain { inner, .. } => return inside(inner, out),
        _ => return,
    };
    let bodies = with.iter().filter_map(|cte| match &*cte.body {
        Kind::Select(query) => Some(query),
        _ => None,
    });
    bodies.for_each(|query| selects(query, out));
    source.into_iter().for_each(|query| selects(query, out));
    let mut queries = Vec::new();
    derived(factors, &mut queries);
    queries.into_iter().for_each(|query| selects(query, out));
}

/// The sub-queries in FROM.
fn derived<'a>(mut factors: Vec<&'a TableFactor>, out: &mut Vec<&'a Query>) {
    while let Some(factor) = factors.pop() {
        match factor {
            TableFactor::Derived { query, .. } => out.push(query),
            TableFactor::Join(join) => factors.extend([&join.left, &join.right]),
            TableFactor::Table(_) | TableFactor::Function { .. } => {}
        }
    }
}

/// Every SELECT core of a query: set operands, derived tables and WITH bodies included, sub-queries in expressions not.
pub(crate) fn selects<'a>(query: &'a Query, out: &mut Vec<&'a Select>) {
    let mut queries = vec![query];
    while let Some(query) = queries.pop() {
        for cte in &query.with {
            if let pando_sql::ast::Kind::Select(inner) = &*cte.body {
                queries.push(inner);
            }
        }
        match &query.body {
            QueryBody::Select(select) => {
                out.push(select);
                derived(select.from.iter().collect(), &mut queries);
            }
            QueryBody::Set { left, right, .. } => queries.extend([&**left, &**right]),
            QueryBody::Values(_) => {}
        }
    }
}
