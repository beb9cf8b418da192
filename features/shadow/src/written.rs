//! Rows that a statement brings, and values that it puts into rows which are there.

use std::sync::Arc;

use pando_kernel::route::Need;
use pando_sql::ast::{
    ColumnAssignment, Expr, Ident, Insert, InsertSource, Node, Query, QueryBody, SelectItem,
};

use crate::algorithm::Operation;
use crate::clause::{Clause, Says};
use crate::condition::Scope;
use crate::evidence::Gatherer;
use crate::rule::Table;
use crate::values::Source;

/// A column whose values mark rows gets another one in rows that are there already.
#[derive(Debug, Clone)]
pub(crate) struct Assigned {
    pub(crate) table: Arc<Table>,
    pub(crate) column: usize,
    pub(crate) value: Source,
}

impl Gatherer<'_, '_> {
    /// What an INSERT says of its rows.
    pub(crate) fn insert(&mut self, insert: &Insert) {
        let key = insert.table.name.key();
        let found = self.reader.rule.table(&key).cloned();
        if let Some(table) = &found {
            self.upsert(table, insert);
        }
        if let InsertSource::Query(query) = &insert.source {
            let was = self.is_own;
            self.is_own = false;
            self.query(query);
            self.is_own = was;
        }
        let Some(table) = found.filter(|table| table.decides(Operation::Insert)) else { return };
        if let InsertSource::Set(assignments) = &insert.source {
            let values = assignments.iter().filter_map(|own| {
                let column = table.column(&own.column.parts.last()?.value, Operation::Insert)?;
                Some((column, Source::of(&own.value)))
            });
            let values = values.collect();
            return self.row(&table, values);
        }
        let Some(places) = self.places(&table, insert.columns.as_deref(), &key) else { return };
        match &insert.source {
            InsertSource::Values { rows, .. } => {
                for row in rows {
                    let value = |at: usize| {
                        row.value(at, self.reader.text, self.reader.ctx.dialect.syntax())
                    };
                    let values = given(&places, |at| value(at).map(|value| value.into_owned()));
                    self.row(&table, values);
                }
            }
            InsertSource::Query(query) => self.rows_of(&table, &places, query),
            InsertSource::Default => self.row(&table, Vec::new()),
            InsertSource::Set(_) => {}
        }
    }

    fn row(&mut self, table: &Arc<Table>, values: Vec<(usize, Source)>) {
        let (table, is_own) = (Arc::clone(table), self.is_own);
        let (operation, says) = (Operation::Insert, Says::Row(values));
        self.found.clauses.push(Clause { table, operation, says, is_own });
    }

    /// Which columns that mark rows stand at which place of a row; `None` while the table's columns are not known.
    fn places(
        &mut self,
        table: &Table,
        columns: Option<&[Ident]>,
        key: &str,
    ) -> Option<Vec<(usize, usize)>> {
        let own = |names: &mut dyn Iterator<Item = &str>| {
            let names = names.enumerate();
            names
                .filter_map(|(at, name)| Some((at, table.column(name, Operation::Insert)?)))
                .collect()
        };
        if let Some(columns) = columns {
            return Some(own(&mut columns.iter().map(|name| name.value.as_str())));
        }
        match self.reader.ctx.catalog.columns(key) {
            Some(columns) => Some(own(&mut columns.iter().map(|column| column.name.as_str()))),
            None => {
                self.found.needs = Some(Need::Columns(key.to_owned()));
                None
            }
        }
    }

    /// Rows of a query: those of a plain list of items have in each column a constant, or what only shows as it runs.
    fn rows_of(&mut self, table: &Arc<Table>, places: &[(usize, usize)], query: &Query) {
        match &query.body {
            QueryBody::Select(select) => {
                let items: Option<Vec<&Expr>> = select
                    .items
                    .iter()
                    .map(|item| match item {
                        SelectItem::Expr { expr, .. } => Some(expr),
                        SelectItem::Star(_) | SelectItem::QualifiedStar(..) => None,
                    })
                    .collect();
                match items {
                    Some(items) => {
                        let values = given(places, |at| items.get(at).map(|expr| (*expr).clone()));
                        self.row(table, values);
                    }
                    None => self.unseen_rows(&table.name.to_lowercase()),
                }
            }
            QueryBody::Values(rows) => {
                for row in rows {
                    let values = given(places, |at| row.get(at).cloned());
                    self.row(table, values);
                }
            }
            QueryBody::Set { left, right, .. } => {
                self.rows_of(table, places, left);
                self.rows_of(table, places, right);
            }
        }
    }

    /// What an upsert puts into the row that is there.
    fn upsert(&mut self, table: &Arc<Table>, insert: &Insert) {
        let mut scope = Scope::new(Operation::Insert);
        scope.tables.push((table.name.clone(), Arc::clone(table)));
        self.assignments(&scope, &insert.on_duplicate);
        if let Some(conflict) = &insert.on_conflict {
            self.assignments(&scope, &conflict.assignments);
        }
    }

    /// What SET puts into columns that mark rows. A column that keeps its value, or takes that of the row that was to be
    /// inserted, keeps its mark.
    pub(crate) fn assignments(&mut self, scope: &Scope, all: &[ColumnAssignment]) {
        for assignment in all {
            let Some(name) = assignment.column.parts.last() else { continue };
            if is_itself(&name.value, &assignment.value) {
                continue;
            }
            for (_, table) in &scope.tables {
                let column = table.columns.iter().position(|own| own.is_called(&name.value));
                self.found.assigned.extend(column.map(|column| Assigned {
                    table: Arc::clone(table),
                    column,
                    value: Source::of(&assignment.value),
                }));
            }
        }
    }
}

/// The values of a row at these places. What it has no value for has its default, as has what says so.
fn given(places: &[(usize, usize)], value: impl Fn(usize) -> Option<Expr>) -> Vec<(usize, Source)> {
    let values = places.iter().filter_map(|(at, column)| {
        let value = value(*at).filter(|value| !matches!(value.node, Node::Default))?;
        Some((*column, Source::of(&value)))
    });
    values.collect()
}

/// Whether an assignment leaves the column as it is: `c = c`, `c = VALUES(c)`, `c = excluded.c`.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other expression may give another value")]
fn is_itself(column: &str, value: &Expr) -> bool {
    match &value.node {
        Node::Nested(inner) => is_itself(column, inner),
        Node::Column(name) => {
            name.parts.last().is_some_and(|last| last.value.eq_ignore_ascii_case(column))
        }
        Node::Function(function) => {
            let is_values = function.name.parts.len() == 1
                && function.name.parts.iter().all(|name| name.value.eq_ignore_ascii_case("values"));
            is_values && function.arguments.iter().all(|inner| is_itself(column, inner))
        }
        _ => false,
    }
}
