//! Broadcast tables: the same rows in every storage unit, so that every join with them stays in one unit.

mod listed;
mod pinned;
mod replicated;
mod route;
mod rule;
mod same;
mod shortcut;
mod written;

use std::sync::Arc;

use pando_config::{Problem, rules};
use pando_kernel::error::Result;
use pando_kernel::feature::{Context, Feature, LogicTable};
use pando_kernel::merge::MergePlan;
use pando_kernel::route::{Place, Route, Target};
use pando_kernel::{Shortcut, States};
use pando_sql::Edits;
use pando_sql::ast::Statement;

/// The room for `!BROADCAST`. It also guards what sharded statements read beside their own tables, so every database has one, with or
/// without broadcast tables.
#[derive(Debug)]
pub struct Broadcast {
    rule: Arc<rule::Rule>,
}

impl Broadcast {
    /// Validates a section. The tables stand in every one of `places`; `others` are the tables of the rooms before this one.
    ///
    /// # Errors
    /// Every problem of the section, in file order; never empty.
    pub fn new(
        section: Option<&rules::Broadcast>,
        places: &[Place],
        others: &[LogicTable],
    ) -> Result<Self, Vec<Problem>> {
        rule::Rule::new(section, places, others).map(|rule| Self { rule: Arc::new(rule) })
    }

    /// The same while storage units are so: reads go to places where somebody answers. Changes still go everywhere.
    #[must_use]
    pub fn with_states(mut self, states: &States) -> Self {
        if let Some(rule) = Arc::get_mut(&mut self.rule) {
            rule.adapt(states);
        }
        self
    }
}

impl Feature for Broadcast {
    fn name(&self) -> &'static str {
        "broadcast"
    }

    fn check(&self, _ctx: &Context<'_>, _stmt: &Statement) -> Result<()> {
        Ok(())
    }

    fn route(&self, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
        route::route(&self.rule, ctx, stmt, route)
    }

    fn rewrite(
        &self,
        ctx: &Context<'_>,
        stmt: &Statement,
        _to: &Target,
        edits: &mut Edits,
    ) -> Result<()> {
        listed::list_columns(&self.rule, ctx, stmt, edits);
        Ok(())
    }

    fn merge(&self, _ctx: &Context<'_>, _stmt: &Statement, _plan: &mut MergePlan) -> Result<()> {
        Ok(())
    }

    fn shortcut(&self, _: &Context<'_>, stmt: &Statement) -> Shortcut {
        shortcut::shortcut(&self.rule, stmt)
    }

    fn tables(&self) -> Vec<LogicTable> {
        self.rule.logic_tables()
    }
}
