//! Where a session stands: its engine, its user, the configuration it goes by, and the logical database it is in.

pub(in crate::session) mod admission;
pub(in crate::session) mod changed_rules;
pub(in crate::session) mod doubted_rows;
pub(in crate::session) mod elsewhere;
pub(in crate::session) mod guard;
pub(in crate::session) mod own_database;
pub(in crate::session) mod stand;
pub(in crate::session) mod visible;

use std::sync::Arc;

use pando_kernel::dialect::{Dialect, Facts};
use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::session::Login;

use crate::handle::Handle;
use crate::house::Engine;
use crate::snapshot;
use crate::snapshot::{LiveDatabase, Snapshot};

/// Where a session stands.
#[derive(Debug)]
pub(in crate::session) struct Place {
    pub(in crate::session) engine: Engine,
    pub(in crate::session) handle: Arc<Handle>,
    pub(in crate::session) login: Login,
    pub(in crate::session) snapshot: Arc<Snapshot>,
    /// The current database, or the one that answers before one is chosen.
    pub(in crate::session) live: Option<Arc<LiveDatabase>>,
    /// What the session knows of itself and tells planning.
    pub(in crate::session) facts: Arc<Facts>,
    /// Another number for each statement, by which replicas take turns.
    pub(in crate::session) ticket: u64,
}

impl Place {
    /// A statement begins: others see it, as `told`.
    pub(in crate::session) fn begins(&mut self, told: &Arc<str>) {
        self.ticket = self.ticket.wrapping_add(1);
        self.handle.begins(told);
    }

    pub(in crate::session) fn live(&self) -> Result<Arc<LiveDatabase>> {
        self.live.clone().ok_or_else(|| ErrorKind::NoDatabase.into())
    }

    /// What the session knows of itself, to be changed. Nobody else holds it between statements, so nothing is copied.
    pub(in crate::session) fn facts_mut(&mut self) -> &mut Facts {
        Arc::make_mut(&mut self.facts)
    }

    pub(in crate::session) fn properties(&self) -> &snapshot::Settings {
        &self.snapshot.settings
    }

    /// What `ROW_COUNT()` tells from now on: rows changed, or -1 after a statement that gives some or fails.
    /// <https://dev.mysql.com/doc/refman/8.0/en/information-functions.html#function_row-count>
    pub(in crate::session) fn counts_rows(&mut self, count: i64) {
        if self.facts.row_count != count {
            self.facts_mut().row_count = count;
        }
    }

    pub(in crate::session) fn dialect(&self) -> Option<Arc<dyn Dialect>> {
        self.live.as_ref().map(|live| Arc::clone(&live.database.dialect))
    }

    /// After an error nothing more comes: the session waits for its client.
    pub(in crate::session) fn or_idle<T>(&self, result: Result<T>) -> Result<T> {
        if result.is_err() {
            self.handle.idles();
        }
        result
    }

    pub(in crate::session) fn syntax(&self) -> Result<&'static pando_sql::Syntax> {
        if let Some(live) = &self.live {
            return Ok(live.database.dialect.syntax());
        }
        let family = self.login.family;
        self.snapshot
            .databases
            .iter()
            .map(|live| &live.database.dialect)
            .find(|dialect| dialect.family() == family)
            .or_else(|| self.snapshot.databases.first().map(|live| &live.database.dialect))
            .map(|dialect| dialect.syntax())
            .ok_or_else(|| ErrorKind::NoDatabase.into())
    }
}
