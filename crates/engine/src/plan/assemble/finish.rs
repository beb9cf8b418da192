//! A statement that was taken apart, put together again once its rows are there.

use std::sync::Arc;

use pando_kernel::MergePlan;
use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_kernel::relation::Inline;
use pando_kernel::route::{Spread, Target, Units};
use pando_sql::Span;

use super::assembly::Assembly;
use super::stored;
use crate::plan::parse::parsed;
use crate::plan::rewrite::Text;
use crate::plan::{Planned, Purpose, cells, effects, rewrite, timely};

impl Assembly {
    /// What becomes of the statement over the tables, one for each place.
    ///
    /// # Errors
    /// What rewriting says; for a statement that changes a table, what routing says of that.
    pub fn finish(
        &self,
        ctx: &Context<'_>,
        tables: &[Inline],
        purpose: Purpose,
    ) -> Result<Planned> {
        let mut before: Vec<Arc<str>> = Vec::new();
        let mut edits = self.edits.clone();
        for (place, table) in self.places.iter().zip(tables) {
            before.extend(table.before.iter().map(|text| Arc::from(text.as_str())));
            let text = format!("{}{}{}", place.before, table.table, place.after);
            // What rooms change in a part that goes, as in the WHERE of groups, goes with it.
            edits.replace(place.span, "");
            edits.replace(Span::at(place.span.end), text);
        }
        let mut planned = if self.changes() {
            match self.reads.iter().any(|read| read.is_about_stored) {
                true => stored::change(ctx, &self.rest, &self.at, edits, purpose)?,
                false => timely(ctx, &parsed(ctx, &edits.apply(&self.rest.text))?, purpose)?,
            }
        } else {
            let target = Target::whole(Arc::clone(&self.at));
            let units = Units::new(vec![target], Spread::Gather);
            let merged = (MergePlan::iterate(), edits);
            Planned::Run(Box::new(rewrite::finish(ctx, Text::whole(&self.rest), units, merged)?))
        };
        if let Planned::Run(plan) = &mut planned {
            // Its tables hold what is stored; the rooms know the columns by the statement they came in.
            plan.merge.cells = cells::shown(ctx, &self.rest)?;
            // On their own connection temporary tables are made beside those that are there.
            plan.writes |= self.is_beside && !before.is_empty();
            plan.before = before;
            effects::judge(ctx, &self.rest, plan);
        }
        Ok(planned)
    }
}
