//! A statement taken apart, and put together again once its rows are there.

use std::sync::Arc;

use pando_kernel::MergePlan;
use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_kernel::relation::{Carried, Inline};
use pando_kernel::route::{Spread, Target, UnitName, Units};
use pando_sql::ast::{Kind, Statement};
use pando_sql::{Edits, Span};

use crate::plan::direct::direct;
use crate::plan::logical::parsed;
use crate::plan::{Planned, Purpose, rewrite};

/// A statement to be answered at one unit over rows read before.
#[derive(Debug, Clone)]
pub struct Assembly {
    /// What is read first: each logic table once.
    pub reads: Vec<Read>,
    pub(super) places: Vec<Place>,
    pub(super) rest: Statement,
    /// What else changes in the statement's text.
    pub(super) edits: Edits,
    pub(super) at: UnitName,
}

/// One table's rows.
#[derive(Debug, Clone)]
pub struct Read {
    /// The query that gives them, over logic tables; its rows must come as text.
    pub text: String,
    /// What its columns are.
    pub columns: Vec<Carried>,
}

/// Where a table stands in the statement.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) span: Span,
    /// Its name, where the statement gives it no alias.
    pub(super) label: Option<String>,
    pub(super) read: usize,
}

impl Assembly {
    /// The tables to be written, in order of their places: which read fills each.
    pub fn tables(&self) -> impl Iterator<Item = usize> + '_ {
        self.places.iter().map(|place| place.read)
    }

    /// Whether it changes a table: it then goes to that table's shards, each of which gets the tables of rows.
    pub fn changes(&self) -> bool {
        !matches!(self.rest.kind, Kind::Select(_))
    }

    /// What becomes of the statement over the tables, one for each place.
    ///
    /// # Errors
    /// What rewriting says; for a statement that changes a table, what routing says of that.
    pub fn finish(
        &self,
        ctx: &Context<'_>,
        tables: Vec<Inline>,
        purpose: Purpose,
    ) -> Result<Planned> {
        let mut before: Vec<Arc<str>> = Vec::new();
        let mut edits = self.edits.clone();
        for (place, table) in self.places.iter().zip(tables) {
            before.extend(table.before.into_iter().map(Arc::from));
            let mut text = table.table;
            if let Some(label) = &place.label {
                text.push_str(" AS ");
                text.push_str(label);
            }
            edits.replace(place.span, text);
        }
        let mut planned = if self.changes() {
            let stmt = parsed(ctx, &edits.apply(&self.rest.text))?;
            direct(ctx, &stmt, purpose)?
        } else {
            let target = Target::whole(Arc::clone(&self.at));
            let units = Units::new(vec![target], Spread::Gather);
            let merged = (MergePlan::iterate(), edits);
            Planned::Plan(Box::new(rewrite::finish(ctx, &self.rest, units, merged)?))
        };
        if let Planned::Plan(plan) = &mut planned {
            plan.before = before;
        }
        Ok(planned)
    }
}
