//! Where a session stands: its engine, its user, the configuration it goes by, and the logical database it is in.

pub(in crate::session) mod changed_rules;
mod connections;
pub(in crate::session) mod elsewhere;
mod facts;
pub(in crate::session) mod guard;
pub(in crate::session) mod own_database;
mod stand;
pub(in crate::session) mod visible;

use std::sync::Arc;

use pando_kernel::dialect::{Dialect, Facts};
use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::runtime::SharedRuntime;
use pando_kernel::session::Login;

use crate::handle::Handle;
use crate::house::Engine;
use crate::snapshot;
use crate::snapshot::{LiveDatabase, Snapshot};

/// Where a session stands.
#[derive(Debug)]
pub(in crate::session) struct Place {
    engine: Engine,
    handle: Arc<Handle>,
    login: Login,
    snapshot: Arc<Snapshot>,
    /// The current database, or the one that answers before one is chosen.
    live: Option<Arc<LiveDatabase>>,
    /// What the session knows of itself and tells planning.
    facts: Arc<Facts>,
    /// Another number for each statement, by which replicas take turns.
    ticket: u64,
}

impl Place {
    pub(in crate::session) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(in crate::session) fn runtime(&self) -> &SharedRuntime {
        &self.engine.inner.runtime
    }

    /// The session as others see it and can reach it.
    pub(in crate::session) fn handle(&self) -> &Arc<Handle> {
        &self.handle
    }

    pub(in crate::session) fn login(&self) -> &Login {
        &self.login
    }

    /// Another number for each statement, by which replicas take turns.
    pub(in crate::session) fn ticket(&self) -> u64 {
        self.ticket
    }

    /// The current database, or the one that answers before one is chosen.
    pub(in crate::session) fn current(&self) -> Option<&Arc<LiveDatabase>> {
        self.live.as_ref()
    }

    /// A database by name, in the configuration that the session goes by.
    ///
    /// # Errors
    /// `UnknownDatabase`, and `Refused` where it does not speak the door's language.
    pub(in crate::session) fn find(&self, name: &str) -> Result<Arc<LiveDatabase>> {
        visible::find(&self.snapshot, name, &self.login)
    }

    /// A statement begins: others see it, as `told`.
    pub(in crate::session) fn begins(&mut self, told: &Arc<str>) {
        self.ticket = self.ticket.wrapping_add(1);
        self.hear_version();
        self.handle.begins(told);
    }

    pub(in crate::session) fn live(&self) -> Result<Arc<LiveDatabase>> {
        self.live.clone().ok_or_else(|| ErrorKind::NoDatabase.into())
    }

    /// From now on it is reset to the servers' values, and not to those of its start-up packet.
    pub(in crate::session) fn forget_login_variables(&mut self) {
        self.login.variables.clear();
    }

    pub(in crate::session) fn properties(&self) -> &snapshot::Settings {
        &self.snapshot.settings
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
