//! The environment of the statement under way, where a room keeps two apart.

use pando_kernel::route::{Environment, UnitName};

use crate::plan;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::transaction::Work;

impl Work {
    /// The side of the statement under way; `None` while that was not asked, or no room keeps two apart.
    pub(in crate::session) fn environment(&self) -> Option<Environment> {
        self.environment
    }

    /// What follows is looked at by itself: it is no part of a statement whose environment is known.
    /// Result: what was known.
    pub(in crate::session) fn leaves_environment(&mut self) -> Option<Environment> {
        self.environment.take()
    }

    /// The statement whose environment was known goes on.
    pub(in crate::session) fn returns_to(&mut self, before: Option<Environment>) {
        self.environment = before;
    }
}

/// The storage units that have a part in a transaction which sees one state of all: those of the environment of the statement
/// that begins it.
pub(in crate::session) fn units(session: &Session, live: &LiveDatabase) -> Vec<UnitName> {
    match session.work.environment() {
        Some(Environment::Shadow) => plan::leaders(live.shadows.clone()),
        Some(Environment::Production) | None => live.database.units.clone(),
    }
}
