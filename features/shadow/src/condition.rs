//! What conditions say of the columns that mark rows: never less than the rows they let through.

use std::sync::Arc;

use pando_kernel::feature::Context;
use pando_sql::ast::{
    BinaryOp, Expr, Join, JoinConstraint, JoinKind, Node, ObjectName, TableFactor,
};

use crate::algorithm::Operation;
use crate::rule::{Rule, Table};
use crate::values::{Constant, Source};

/// The rule's tables in a FROM, by what they are called there.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) tables: Vec<(String, Arc<Table>)>,
    operation: Operation,
}

/// Each row of a table has one of these values in a column.
#[derive(Debug, Clone)]
pub(crate) struct Bound {
    /// By its place in the scope.
    pub(crate) table: usize,
    pub(crate) column: usize,
    pub(crate) values: Vec<Constant>,
}

/// What reading conditions needs.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) rule: &'a Rule,
    pub(crate) ctx: &'a Context<'a>,
    /// The statement's text.
    pub(crate) text: &'a str,
}

impl Scope {
    pub(crate) fn new(operation: Operation) -> Self {
        Self { tables: Vec::new(), operation }
    }

    /// The tables of these factors, of those that `is_table` lets pass, which common table expressions may hide.
    pub(crate) fn take(&mut self, rule: &Rule, factors: &[TableFactor], hidden: &[String]) {
        factors.iter().for_each(|factor| self.take_one(rule, factor, hidden));
    }

    fn take_one(&mut self, rule: &Rule, factor: &TableFactor, hidden: &[String]) {
        match factor {
            TableFactor::Table(table) => self.take_table(rule, table, hidden),
            TableFactor::Join(join) => {
                self.take_one(rule, &join.left, hidden);
                self.take_one(rule, &join.right, hidden);
            }
            TableFactor::Derived { .. } | TableFactor::Function { .. } => {}
        }
    }

    pub(crate) fn take_table(
        &mut self,
        rule: &Rule,
        table: &pando_sql::ast::Table,
        hidden: &[String],
    ) {
        let key = table.name.key();
        if table.name.parts.len() == 1 && hidden.contains(&key) {
            return;
        }
        if let Some(own) = rule.table(&key) {
            let label = table.alias.as_ref().map_or(key, |alias| alias.key());
            self.tables.push((label, Arc::clone(own)));
        }
    }

    /// The columns of this name that may mark rows of one of its tables.
    fn columns(&self, name: &ObjectName) -> Vec<(usize, usize)> {
        let (owner, column) = match &name.parts[..] {
            [column] => (None, column),
            [.., owner, column] => (Some(owner.key()), column),
            [] => return Vec::new(),
        };
        let tables = self.tables.iter().enumerate();
        let own =
            tables.filter(|(_, (label, _))| owner.as_ref().is_none_or(|owner| owner == label));
        own.filter_map(|(at, (_, table))| Some((at, table.column(&column.value, self.operation)?)))
            .collect()
    }
}

impl Reader<'_> {
    /// What an expression gives.
    pub(crate) fn source(self, expr: &Expr) -> Source {
        Source::of(expr, self.text, self.ctx.dialect.syntax())
    }

    /// What a condition says.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "any other condition says nothing of single values"
    )]
    pub(crate) fn bounds(self, scope: &Scope, expr: &Expr) -> Vec<Bound> {
        match &expr.node {
            Node::Nested(inner) => self.bounds(scope, inner),
            Node::Binary { op: BinaryOp::And, left, right } => {
                let mut both = self.bounds(scope, left);
                both.extend(self.bounds(scope, right));
                both
            }
            Node::Binary { op: BinaryOp::Or, left, right } => {
                either(self.bounds(scope, left), &self.bounds(scope, right))
            }
            Node::Binary { op: BinaryOp::Equal | BinaryOp::NullSafeEqual, left, right } => {
                self.equal(scope, left, right)
            }
            Node::InList { operand, list, negated: false } => {
                let syntax = self.ctx.dialect.syntax();
                let values = list.values(self.text, syntax);
                let values: Option<Vec<Constant>> =
                    values.map(|value| self.source(&value).constant()).collect();
                values.map_or_else(Vec::new, |values| bound(scope, operand, &values))
            }
            // A pattern stands for itself, as ShardingSphere takes it.
            Node::Like { operand, pattern, negated: false } => {
                let pattern = self.source(pattern).constant();
                pattern.map_or_else(Vec::new, |pattern| bound(scope, operand, &[pattern]))
            }
            _ => Vec::new(),
        }
    }

    fn equal(self, scope: &Scope, left: &Expr, right: &Expr) -> Vec<Bound> {
        if let (Node::Row(left), Node::Row(right)) = (&left.node, &right.node) {
            let pairs = left.iter().zip(right);
            return pairs.flat_map(|(left, right)| self.equal(scope, left, right)).collect();
        }
        let of = |column: &Expr, value: &Expr| match self.source(value).constant() {
            Some(value) => bound(scope, column, &[value]),
            None => Vec::new(),
        };
        let mut found = of(left, right);
        found.extend(of(right, left));
        found
    }

    /// What the conditions of joins say. Of an outer join they are about the rows of the side that may be missing.
    pub(crate) fn of_joins(self, scope: &Scope, factor: &TableFactor, found: &mut Vec<Bound>) {
        let TableFactor::Join(join) = factor else { return };
        self.of_joins(scope, &join.left, found);
        self.of_joins(scope, &join.right, found);
        if let JoinConstraint::On(expr) = &join.constraint {
            let concerned = self.concerned(scope, join);
            let own = self.bounds(scope, expr).into_iter();
            found.extend(own.filter(|bound| concerned.contains(&bound.table)));
        }
    }

    /// The tables of which a join's condition keeps rows away.
    fn concerned(self, scope: &Scope, join: &Join) -> Vec<usize> {
        let side = match join.kind {
            JoinKind::Inner | JoinKind::Cross => return (0..scope.tables.len()).collect(),
            JoinKind::Left => &join.right,
            JoinKind::Right => &join.left,
            JoinKind::Full => return Vec::new(),
        };
        let mut inner = Scope::new(scope.operation);
        inner.take_one(self.rule, side, &[]);
        let is_inside = |label: &String| inner.tables.iter().any(|(own, _)| own == label);
        let tables = scope.tables.iter().enumerate();
        tables.filter(|(_, (label, _))| is_inside(label)).map(|(at, _)| at).collect()
    }
}

fn bound(scope: &Scope, column: &Expr, values: &[Constant]) -> Vec<Bound> {
    let mut column = column;
    while let Node::Nested(inner) = &column.node {
        column = inner;
    }
    let Node::Column(name) = &column.node else { return Vec::new() };
    let columns = scope.columns(name).into_iter();
    columns.map(|(table, column)| Bound { table, column, values: values.to_vec() }).collect()
}

/// What holds of each row that one of two conditions lets through.
fn either(left: Vec<Bound>, right: &[Bound]) -> Vec<Bound> {
    let joined = left.into_iter().filter_map(|mut bound| {
        let is_same = |other: &&Bound| (other.table, other.column) == (bound.table, bound.column);
        let other = right.iter().find(is_same)?;
        bound.values.extend(other.values.iter().cloned());
        Some(bound)
    });
    joined.collect()
}
