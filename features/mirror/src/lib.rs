//! Mirrors: a share of a storage unit's statements is run a second time elsewhere, and the answers are compared.

mod grammar;
mod rule;

use std::sync::Arc;

use pando_config::Rules;
use pando_kernel::feature::{Context, Feature, Room};
use pando_kernel::mirror::Settings;
use pando_kernel::room::Built;
use pando_kernel::{Around, Offer, Shortcut, Turn};
use pando_sql::ast::Statement;

/// The room for `!MIRROR`. It is made with the groups, so that no other room takes a mirror for a place; it does nothing
/// with statements: the engine copies what a storage unit is sent.
pub const ROOM: Offer = Offer {
    section: Some("MIRROR"),
    grammar: &[grammar::MIRROR],
    turn: Turn::Groups,
    ..Offer::new(room)
};

fn room(rules: &Rules, around: &Around<'_>) -> Built {
    Ok(rule::read(rules, around)?.map(|mirrors| Arc::new(Mirrors(mirrors)) as _))
}

#[derive(Debug)]
struct Mirrors(Vec<Settings>);

impl Room for Mirrors {
    fn name(&self) -> &'static str {
        "mirror"
    }

    fn mirrors(&self) -> Vec<Settings> {
        self.0.clone()
    }
}

impl Feature for Mirrors {
    /// What is copied is decided for each execution by itself.
    fn shortcut(&self, _: &Context<'_>, _: &Statement) -> Shortcut {
        Shortcut::Idle
    }
}
