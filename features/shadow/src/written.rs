//! Rows that a statement brings, and values that it puts into rows which are there.

use std::sync::Arc;

use pando_kernel::route::Need;
use pando_sql::ast::{
    ColumnAssignment, Expr, Ident, Insert, InsertSource, Node, Query, QueryBody, SelectItem, Update,
};

use crate::algorithm::Operation;
use crate::clause::{Clause, Says};
use crate::condition::Scope;
use crate::evidence::Gatherer;
use crate::itself::{self, Itself};
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
                Some((column, self.reader.source(&own.value)))
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
                    let values =
                        self.given(&places, |at| value(at).map(|value| value.into_owned()));
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
                        let values =
                            self.given(places, |at| items.get(at).map(|expr| (*expr).clone()));
                        self.row(table, values);
                    }
                    None => self.unseen_rows(&table.name.to_lowercase()),
                }
            }
            QueryBody::Values(rows) => {
                for row in rows {
                    let values = self.given(places, |at| row.get(at).cloned());
                    self.row(table, values);
                }
            }
            QueryBody::Set { left, right, .. } => {
                self.rows_of(table, places, left);
                self.rows_of(table, places, right);
            }
        }
    }

    /// The values of a row at these places. What it has no value for has its default, as has what says so.
    fn given(
        &self,
        places: &[(usize, usize)],
        value: impl Fn(usize) -> Option<Expr>,
    ) -> Vec<(usize, Source)> {
        let values = places.iter().filter_map(|(at, column)| {
            let value = value(*at).filter(|value| !matches!(value.node, Node::Default))?;
            Some((*column, self.reader.source(&value)))
        });
        values.collect()
    }

    /// What an upsert puts into the row that is there. What keeps its value, or takes that of the row that was to be
    /// inserted, keeps its mark.
    fn upsert(&mut self, table: &Arc<Table>, insert: &Insert) {
        let fold = self.reader.ctx.dialect.syntax().fold;
        for assignment in &insert.on_duplicate {
            if !Itself::replaced(insert, fold).is_given(assignment) {
                self.assign([table].into_iter(), assignment);
            }
        }
        for assignment in insert.on_conflict.iter().flat_map(|own| &own.assignments) {
            if !Itself::in_conflict(insert, fold).is_given(assignment) {
                self.assign([table].into_iter(), assignment);
            }
        }
    }

    /// What the SET of an UPDATE puts into columns that mark rows; what keeps its value keeps its mark.
    pub(crate) fn assignments(&mut self, update: &Update) {
        let fold = self.reader.ctx.dialect.syntax().fold;
        let mut targets = Scope::new(Operation::Update);
        // What is changed is never a common table expression.
        targets.take(self.reader.rule, &update.tables, &[]);
        let mut named = itself::labels(&update.tables);
        named.extend(itself::labels(&update.from));
        for assignment in &update.assignments {
            if Itself::changed(update, assignment, fold).is_given(assignment) {
                continue;
            }
            let owner = itself::owner(&assignment.column).map(Ident::key);
            let is_owner =
                |label: &str| owner.as_ref().is_some_and(|owner| owner.eq_ignore_ascii_case(label));
            // The column may be one of a table without marks.
            let is_told = named.iter().any(|label| is_owner(label));
            let own = targets.tables.iter().filter(|(label, _)| !is_told || is_owner(label));
            self.assign(own.map(|(_, table)| table), assignment);
        }
    }

    /// An assignment to a column of one of these tables.
    fn assign<'t>(
        &mut self,
        tables: impl Iterator<Item = &'t Arc<Table>>,
        assignment: &ColumnAssignment,
    ) {
        let Some(name) = assignment.column.parts.last() else { return };
        for table in tables {
            let column = table.columns.iter().position(|own| own.is_called(&name.value));
            self.found.assigned.extend(column.map(|column| Assigned {
                table: Arc::clone(table),
                column,
                value: self.reader.source(&assignment.value),
            }));
        }
    }
}
