//! The room: sharding claims statements that touch sharded tables.

use std::sync::Arc;

use pando_config::Rules;
use pando_kernel::changes::Changes;
use pando_kernel::error::Result;
use pando_kernel::feature::{Context, Feature, LogicTable, Room, TableKind};
use pando_kernel::room::Built;
use pando_kernel::route::{Route, Target, UnitName};
use pando_kernel::{Around, Offer, Shortcut, Turn};
use pando_sql::ast::Statement;

use crate::rule::{Means, Rule, algorithms};
use crate::{rewrite, route, shortcut};

/// The room for `!SHARDING`.
pub const ROOM: Offer =
    Offer { section: Some("SHARDING"), turn: Turn::Tables, algorithms, ..Offer::new(room) };

fn room(rules: &Rules, around: &Around<'_>) -> Built {
    let Some(section) = &rules.sharding else { return Ok(None) };
    let names: Vec<UnitName> = around.places.iter().map(|place| place.name.clone()).collect();
    let means = Means { fold: around.fold, modules: around.modules };
    let rule = Arc::new(Rule::reading(section, &names, means)?);
    Ok(Some(Arc::new(Sharding { rule })))
}

#[derive(Debug)]
struct Sharding {
    rule: Arc<Rule>,
}

impl Room for Sharding {
    fn name(&self) -> &'static str {
        "sharding"
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

impl Feature for Sharding {
    fn route(&self, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
        route::route(&self.rule, ctx, stmt, route)
    }

    fn rewrite(
        &self,
        ctx: &Context<'_>,
        stmt: &Statement,
        to: &Target,
        changes: &mut Changes,
    ) -> Result<()> {
        rewrite::rewrite(&self.rule, ctx, stmt, to, changes.text())
    }

    fn shortcut(&self, ctx: &Context<'_>, stmt: &Statement) -> Shortcut {
        shortcut::shortcut(&self.rule, ctx, stmt)
    }
}
