//! Queries that are answered without any storage unit: literals, what the session knows of itself, and the few relations a family tells alone.
//! What goes beyond that is not answered at all.

mod expr;
mod label;
mod query;

pub(crate) use expr::matches;

use std::cell::Cell;

use pando_kernel::alone::{Alone, Relation};
use pando_kernel::dialect::{Dialect, Facts};
use pando_kernel::{Column, Kind as ValueKind, Parameter, Value};
use pando_sql::Fold;
use pando_sql::ast::{Kind, Show, Statement};

/// What an answer is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    dialect: &'a dyn Dialect,
    alone: &'a dyn Alone,
    facts: &'a Facts,
    /// `None` while they are not known: each is NULL then.
    parameters: Option<&'a [Parameter]>,
}

/// Columns and rows of an answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Value>>,
}

impl<'a> Source<'a> {
    /// `None` where the family tells nothing.
    pub(crate) fn new(
        dialect: &'a dyn Dialect,
        facts: &'a Facts,
        parameters: Option<&'a [Parameter]>,
    ) -> Option<Self> {
        Some(Self { dialect, alone: dialect.alone()?, facts, parameters })
    }

    /// The answer to a query or a SHOW; `None` when a server would have to be asked.
    pub(crate) fn answer(&self, stmt: &Statement) -> Option<Answer> {
        let rows = if let Kind::Select(query) = &stmt.kind {
            Asked { source: *self, text: &stmt.text, steps: &Cell::new(MOST_STEPS) }
                .query(query)?
                .rows
        } else if let Kind::Show(show) = &stmt.kind {
            self.shown(&stmt.text, show)?
        } else {
            return None;
        };
        let columns = rows.columns.iter().enumerate().map(|(at, name)| {
            let values = rows.rows.iter().filter_map(|row| row.get(at));
            Column::computed(name.clone(), common(values))
        });
        Some(Answer { columns: columns.collect(), rows: rows.rows })
    }

    fn shown(&self, text: &str, show: &Show) -> Option<Relation> {
        let presented = self.dialect.presentation();
        let restated = presented.and_then(|own| own.restate(text, show, self.facts).ok().flatten());
        let query = restated.or_else(|| self.alone.restate(text, show, self.facts))?;
        let stmt = pando_sql::parse(&query, self.dialect.syntax()).ok()?;
        let Kind::Select(query) = &stmt.kind else { return None };
        Some(
            Asked { source: *self, text: &stmt.text, steps: &Cell::new(MOST_STEPS) }
                .query(query)?
                .rows,
        )
    }

    fn names_by_text(&self) -> bool {
        self.dialect.syntax().fold == Fold::Keep
    }
}

/// A kind that holds all of these.
fn common<'a>(values: impl Iterator<Item = &'a Value>) -> ValueKind {
    let mut kinds = values.filter_map(|value| match value {
        Value::Null => None,
        Value::Bool(_) => Some(ValueKind::Bool),
        Value::Int(_) => Some(ValueKind::Int),
        Value::UInt(_) => Some(ValueKind::UInt),
        Value::Float(_) => Some(ValueKind::Float),
        Value::Decimal(_) => Some(ValueKind::Decimal),
        Value::Text(_) => Some(ValueKind::Text),
        Value::Bytes(_) => Some(ValueKind::Bytes),
    });
    let first = kinds.next().unwrap_or(ValueKind::Text);
    if kinds.all(|kind| kind == first) { first } else { ValueKind::Text }
}

/// Steps of all comparisons with patterns of one statement: some milliseconds.
const MOST_STEPS: usize = 1 << 22;

/// A statement whose tree is looked at.
#[derive(Debug, Clone, Copy)]
struct Asked<'a> {
    source: Source<'a>,
    text: &'a str,
    /// Steps that its comparisons with patterns may still take.
    steps: &'a Cell<usize>,
}

/// Rows, and the names of the tables they come from: one for each column.
#[derive(Debug, Default)]
struct Table {
    owners: Vec<String>,
    rows: Relation,
}

impl Table {
    fn bytes(&self) -> usize {
        self.rows.rows.iter().flatten().map(expr::weight).sum()
    }

    fn of(owner: &str, rows: Relation) -> Self {
        Self { owners: vec![owner.to_owned(); rows.columns.len()], rows }
    }
}
