//! Single tables: those no rule speaks of, each in exactly one storage unit.

mod named;
mod pattern;
mod route;
mod rule;

use pando_config::{Problem, rules};
use pando_kernel::Shortcut;
use pando_kernel::error::Result;
use pando_kernel::feature::{Context, Feature, LogicTable};
use pando_kernel::merge::MergePlan;
use pando_kernel::route::{Place, Route, Target};
use pando_sql::Edits;
use pando_sql::ast::Statement;

/// The room for `!SINGLE`. Every database has one: tables without a rule are found by looking into the storage units.
#[derive(Debug)]
pub struct Single {
    rule: rule::Rule,
}

impl Single {
    /// Validates a section. `places` are all a table can stand in; `others` are the tables other rooms answer for.
    ///
    /// # Errors
    /// Every problem of the section, in file order; never empty.
    pub fn new(
        section: Option<&rules::Single>,
        places: &[Place],
        others: &[LogicTable],
    ) -> Result<Self, Vec<Problem>> {
        rule::Rule::new(section, places, others).map(|rule| Self { rule })
    }
}

impl Feature for Single {
    fn name(&self) -> &'static str {
        "single"
    }

    fn check(&self, _ctx: &Context<'_>, _stmt: &Statement) -> Result<()> {
        Ok(())
    }

    fn route(&self, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
        route::route(&self.rule, ctx, stmt, route)
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

    fn shortcut(&self, ctx: &Context<'_>, stmt: &Statement) -> Shortcut {
        route::shortcut(&self.rule, ctx, stmt)
    }

    fn tables(&self) -> Vec<LogicTable> {
        self.rule.logic_tables()
    }
}
