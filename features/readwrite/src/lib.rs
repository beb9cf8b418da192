//! Read/write splitting: a name for one primary and its replicas; reads go to a replica, everything else to the primary.

mod algorithm;
mod read;
mod route;
mod rule;

pub use algorithm::algorithms;

use pando_config::Problem;
use pando_config::rules::ReadwriteSplitting;
use pando_kernel::error::Result;
use pando_kernel::feature::{Context, Feature, LogicTable};
use pando_kernel::merge::MergePlan;
use pando_kernel::route::{Place, Route, Target, UnitName};
use pando_kernel::{Shortcut, States};
use pando_sql::Edits;
use pando_sql::ast::Statement;

/// The room for `!READWRITE_SPLITTING`. It claims nothing: it replaces group names in routes that other rooms made.
#[derive(Debug)]
pub struct ReadWrite {
    rule: rule::Rule,
}

impl ReadWrite {
    /// Validates a section; `units` are the names of all storage units of the database.
    ///
    /// # Errors
    /// Every problem of the section, in file order; never empty.
    pub fn new(section: &ReadwriteSplitting, units: &[UnitName]) -> Result<Self, Vec<Problem>> {
        rule::Rule::new(section, units).map(|rule| Self { rule })
    }

    /// The same while its members are so: writes go to who is primary now, reads to who may be read, and to the primary when nobody is left.
    #[must_use]
    pub fn with_states(mut self, states: &States) -> Self {
        self.rule.groups.iter_mut().for_each(|group| group.adapt(states));
        self
    }
}

impl Feature for ReadWrite {
    fn name(&self) -> &'static str {
        "readwrite_splitting"
    }

    fn check(&self, _ctx: &Context<'_>, _stmt: &Statement) -> Result<()> {
        Ok(())
    }

    fn route(&self, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
        route::redirect(&self.rule, ctx, stmt, route)
    }

    fn rewrite(
        &self,
        _ctx: &Context<'_>,
        _stmt: &Statement,
        _to: &Target,
        _edits: &mut Edits,
    ) -> Result<()> {
        Ok(())
    }

    fn merge(&self, _ctx: &Context<'_>, _stmt: &Statement, _plan: &mut MergePlan) -> Result<()> {
        Ok(())
    }

    fn shortcut(&self, _: &Context<'_>, _: &Statement) -> Shortcut {
        Shortcut::Redirect
    }

    fn tables(&self) -> Vec<LogicTable> {
        Vec::new()
    }

    fn groups(&self) -> Vec<Place> {
        self.rule.groups.iter().map(rule::Group::place).collect()
    }

    fn followers(&self) -> Vec<UnitName> {
        self.rule.followers()
    }
}
