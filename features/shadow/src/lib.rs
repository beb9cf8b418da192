//! Shadow databases: statements of a load test, told by a value or a hint, go to storage units of their own, where tables
//! are alike and rows are others. None of these rows is ever in production.

mod algorithm;
mod cast;
mod class;
mod clause;
mod condition;
mod decision;
mod define;
mod evidence;
mod expression;
mod itself;
mod route;
mod rule;
mod shortcut;
mod values;
mod written;

use std::sync::Arc;

use pando_config::Rules;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{Context, Feature, Found, Groups, Room};
use pando_kernel::room::Built;
use pando_kernel::{Around, Offer, Route, Shortcut, Turn};
use pando_sql::ast::Statement;

/// The room for `!SHADOW`. It claims nothing: it replaces the names of pairs in routes that other rooms made, before
/// read/write splitting replaces those of groups.
pub const ROOM: Offer = Offer {
    section: Some("SHADOW"),
    turn: Turn::Shadows,
    algorithms: algorithm::algorithms,
    ..Offer::new(room)
};

fn room(rules: &Rules, around: &Around<'_>) -> Built {
    let Some(section) = &rules.shadow else { return Ok(None) };
    let rule = rule::Rule::new(section, around)?;
    Ok(Some(Arc::new(Shadow { rule: Arc::new(rule) })))
}

#[derive(Debug)]
struct Shadow {
    rule: Arc<rule::Rule>,
}

impl Room for Shadow {
    fn name(&self) -> &'static str {
        "shadow"
    }

    fn groups(&self) -> Groups {
        Groups {
            places: self.rule.pairs.iter().map(rule::Pair::place).collect(),
            shadows: self.rule.pairs.iter().map(|pair| pair.shadow.clone()).collect(),
            ..Groups::default()
        }
    }
}

impl Feature for Shadow {
    fn route(&self, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()> {
        route::redirect(&self.rule, ctx, stmt, route)
    }

    fn shortcut(&self, ctx: &Context<'_>, stmt: &Statement) -> Shortcut {
        shortcut::shortcut(&self.rule, ctx, stmt)
    }

    fn environment(&self, ctx: &Context<'_>, stmt: &Statement) -> Result<Found> {
        decision::environment(&self.rule, ctx, stmt)
    }
}

/// What would let a row cross from one environment to the other, or is for both.
fn refused(why: impl Into<String>, instead: impl Into<String>) -> Error {
    Error::forbidden(30001, why, instead)
}
