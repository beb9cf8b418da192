//! Figures of tables that stand on several units: what each unit is asked of its parts.

use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::error::Result;
use pando_kernel::feature::Context;
use pando_kernel::presentation::{Figures, Presented, View};
use pando_kernel::route::{Need, UnitName};

use super::stand;

/// What is presented by this view. Who only describes a statement needs no figures for it.
///
/// # Errors
/// As those of `present`.
pub(super) fn presented(
    ctx: &Context<'_>,
    view: View<'_>,
    present: impl Fn(&View<'_>) -> Result<(Presented, Vec<(usize, Value)>)>,
) -> Result<(Presented, Vec<(usize, Value)>)> {
    let mut facts = None;
    loop {
        let presented = present(&View { facts: facts.as_ref().unwrap_or(view.facts), ..view })?;
        match presented {
            (Presented::Needs(Need::Figures(asked)), _) if ctx.session.describes => {
                let own = facts.get_or_insert_with(|| view.facts.clone());
                Arc::make_mut(&mut own.figures).push(Figures { asked, rows: Vec::new() });
            }
            presented => return Ok(presented),
        }
    }
}

/// What one unit is asked.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) unit: UnitName,
    /// Its place among the database's units.
    pub(crate) number: usize,
    pub(crate) text: String,
}

/// The question to each unit that has something to tell: those that take writes.
pub(crate) fn figures_questions(ctx: &Context<'_>, asked: &str) -> Vec<Question> {
    let Some(presentation) = ctx.dialect.presentation() else { return Vec::new() };
    let mut questions = Vec::new();
    for (number, unit) in ctx.database.units.iter().enumerate() {
        if stand::writer(ctx.database, unit) != *unit {
            continue;
        }
        let view = View {
            database: &ctx.database.name,
            facts: &ctx.session.facts,
            number,
            tables: &stand::parts_at(ctx.database, unit),
            columns: &[],
            numbers: None,
            catalog: ctx.catalog,
        };
        if let Some(text) = presentation.figures_question(asked, &view) {
            questions.push(Question { unit: Arc::clone(unit), number, text });
        }
    }
    questions
}
