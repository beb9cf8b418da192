//! Broadcast tables: the same rows in every storage unit, so that every join with them stays in one unit.

mod inherits;
mod listed;
mod passed_over;
mod pinned;
mod replicated;
mod route;
mod rule;
mod same;
mod shortcut;
mod trigger;

use std::sync::Arc;

use pando_config::Rules;
use pando_kernel::changes::Changes;
use pando_kernel::error::Result;
use pando_kernel::feature::{Context, Feature, LogicTable, Room};
use pando_kernel::room::Built;
use pando_kernel::route::{Route, Target};
use pando_kernel::{Around, Offer, Shortcut, Turn};
use pando_sql::ast::Statement;

/// The room for `!BROADCAST`. It also guards what sharded statements read beside their own tables, so every database
/// has one, with or without broadcast tables.
pub const ROOM: Offer =
    Offer { section: Some("BROADCAST"), turn: Turn::Tables, ..Offer::new(room) };

fn room(rules: &Rules, around: &Around<'_>) -> Built {
    let mut rule = rule::Rule::new(rules.broadcast.as_ref(), around.places, around.others)?;
    rule.adapt(around.states);
    Ok(Some(Arc::new(Broadcast { rule: Arc::new(rule) })))
}

#[derive(Debug)]
struct Broadcast {
    rule: Arc<rule::Rule>,
}

impl Room for Broadcast {
    fn name(&self) -> &'static str {
        "broadcast"
    }

    fn tables(&self) -> Vec<LogicTable> {
        self.rule.logic_tables()
    }
}

impl Feature for Broadcast {
    fn route(&self, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
        route::route(&self.rule, ctx, stmt, route)
    }

    fn rewrite(
        &self,
        ctx: &Context<'_>,
        stmt: &Statement,
        _to: &Target,
        changes: &mut Changes,
    ) -> Result<()> {
        listed::list_columns(&self.rule, ctx, stmt, changes.text());
        Ok(())
    }

    fn shortcut(&self, _: &Context<'_>, stmt: &Statement) -> Shortcut {
        shortcut::shortcut(&self.rule, stmt)
    }
}
