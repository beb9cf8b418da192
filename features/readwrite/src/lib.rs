//! Read/write splitting: a name for one primary and its replicas; reads go to a replica, everything else to the primary.

mod algorithm;
mod read;
mod route;
mod rule;

use std::sync::Arc;

use pando_config::Rules;
use pando_kernel::error::Result;
use pando_kernel::feature::{Context, Feature, Groups, Room};
use pando_kernel::room::Built;
use pando_kernel::{Around, Offer, Route, Shortcut, Turn};
use pando_sql::ast::Statement;

/// The room for `!READWRITE_SPLITTING`. It claims nothing: it replaces group names in routes that other rooms made.
pub const ROOM: Offer = Offer {
    section: Some("READWRITE_SPLITTING"),
    turn: Turn::Groups,
    algorithms: algorithm::algorithms,
    ..Offer::new(room)
};

fn room(rules: &Rules, around: &Around<'_>) -> Built {
    let Some(section) = &rules.readwrite else { return Ok(None) };
    let mut rule = rule::Rule::new(section, around)?;
    rule.groups.iter_mut().for_each(|group| group.adapt(around.states));
    Ok(Some(Arc::new(ReadWrite { rule })))
}

#[derive(Debug)]
struct ReadWrite {
    rule: rule::Rule,
}

impl Room for ReadWrite {
    fn name(&self) -> &'static str {
        "readwrite_splitting"
    }

    fn groups(&self) -> Groups {
        Groups {
            places: self.rule.groups.iter().map(rule::Group::place).collect(),
            followers: self.rule.followers(),
            ..Groups::default()
        }
    }
}

impl Feature for ReadWrite {
    fn route(&self, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
        route::redirect(&self.rule, ctx, stmt, route)
    }

    fn shortcut(&self, _: &Context<'_>, _: &Statement) -> Shortcut {
        Shortcut::Redirect
    }
}
