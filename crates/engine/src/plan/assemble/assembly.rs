//! A statement taken apart, and put together again once its rows are there.

use std::sync::Arc;

use pando_kernel::MergePlan;
use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_kernel::relation::{Carried, Inline};
use pando_kernel::route::{Spread, Target, UnitName, Units};
use pando_sql::ast::Statement;
use pando_sql::{Edits, Span};

use crate::plan::{Plan, rewrite};

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

    /// The plan of the statement over the tables, one for each place.
    ///
    /// # Errors
    /// What rewriting says.
    pub fn finish(&self, ctx: &Context<'_>, tables: Vec<Inline>) -> Result<Plan> {
        let mut before = Vec::new();
        let mut texts = Vec::new();
        for table in tables {
            before.extend(table.before.into_iter().map(Arc::from));
            texts.push(table.table);
        }
        self.planned(ctx, texts, before)
    }

    pub(super) fn planned(
        &self,
        ctx: &Context<'_>,
        tables: Vec<String>,
        before: Vec<Arc<str>>,
    ) -> Result<Plan> {
        let mut edits = self.edits.clone();
        for (place, mut text) in self.places.iter().zip(tables) {
            if let Some(label) = &place.label {
                text.push_str(" AS ");
                text.push_str(label);
            }
            edits.replace(place.span, text);
        }
        let target = Target::whole(Arc::clone(&self.at));
        let units = Units::new(vec![target], Spread::Gather);
        let mut plan = rewrite::finish(ctx, &self.rest, units, (MergePlan::iterate(), edits))?;
        plan.before = before;
        Ok(plan)
    }
}
