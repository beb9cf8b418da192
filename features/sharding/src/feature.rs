//! The room: sharding claims statements that touch sharded tables.

use std::sync::Arc;

use pando_config::{Problem, rules};
use pando_kernel::Shortcut;
use pando_kernel::error::Result;
use pando_kernel::feature::{Context, Feature, LogicTable, TableKind};
use pando_kernel::merge::MergePlan;
use pando_kernel::route::{Route, Target, UnitName};
use pando_sql::Edits;
use pando_sql::ast::Statement;

use crate::rule::Rule;
use crate::{rewrite, route, shortcut};

/// The sharding room of one logical database.
#[derive(Debug)]
pub struct Sharding {
    rule: Arc<Rule>,
}

impl Sharding {
    /// A room for the configured section and the places tables can stand in.
    ///
    /// # Errors
    /// Everything that is wrong with the section, by file and line.
    pub fn new(section: &rules::Sharding, units: &[UnitName]) -> Result<Self, Vec<Problem>> {
        Rule::new(section, units).map(|rule| Self { rule: Arc::new(rule) })
    }
}

impl Feature for Sharding {
    fn name(&self) -> &'static str {
        "sharding"
    }

    fn check(&self, _: &Context<'_>, _: &Statement) -> Result<()> {
        Ok(())
    }

    fn route(&self, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
        route::route(&self.rule, ctx, stmt, route)
    }

    fn rewrite(
        &self,
        ctx: &Context<'_>,
        stmt: &Statement,
        to: &Target,
        edits: &mut Edits,
    ) -> Result<()> {
        rewrite::rewrite(&self.rule, ctx, stmt, to, edits)
    }

    fn merge(&self, _: &Context<'_>, _: &Statement, _: &mut MergePlan) -> Result<()> {
        Ok(())
    }

    fn shortcut(&self, ctx: &Context<'_>, stmt: &Statement) -> Shortcut {
        shortcut::shortcut(&self.rule, ctx, stmt)
    }

    fn tables(&self) -> Vec<LogicTable> {
        let tables = self.rule.tables();
        tables
            .map(|table| LogicTable {
                name: table.name().to_owned(),
                kind: TableKind::Sharded,
                nodes: table.nodes().to_vec(),
                spread: table.spread(),
                keys: table.keys().to_vec(),
            })
            .collect()
    }
}
