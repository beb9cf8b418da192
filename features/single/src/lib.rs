//! Single tables: those no rule speaks of, each in exactly one storage unit.

mod named;
mod pattern;
mod route;
mod rule;

use std::sync::Arc;

use pando_config::Rules;
use pando_kernel::error::Result;
use pando_kernel::feature::{Context, Feature, LogicTable, Room};
use pando_kernel::room::Built;
use pando_kernel::{Around, Offer, Route, Shortcut, Turn};
use pando_sql::ast::Statement;

/// The room for `!SINGLE`. Every database has one: tables without a rule are found by looking into the storage units.
pub const ROOM: Offer = Offer { section: Some("SINGLE"), turn: Turn::Rest, ..Offer::new(room) };

fn room(rules: &Rules, around: &Around<'_>) -> Built {
    let rule = rule::Rule::new(rules.single.as_ref(), around.places, around.others)?;
    Ok(Some(Arc::new(Single { rule })))
}

#[derive(Debug)]
struct Single {
    rule: rule::Rule,
}

impl Room for Single {
    fn name(&self) -> &'static str {
        "single"
    }

    fn tables(&self) -> Vec<LogicTable> {
        self.rule.logic_tables()
    }
}

impl Feature for Single {
    fn route(&self, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
        route::route(&self.rule, ctx, stmt, route)
    }

    fn shortcut(&self, ctx: &Context<'_>, stmt: &Statement) -> Shortcut {
        route::shortcut(&self.rule, ctx, stmt)
    }
}
