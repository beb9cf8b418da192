//! Where a session stands: its engine, its user, the configuration it goes by, and the logical database it is in.

pub(in crate::session) mod admission;
pub(in crate::session) mod changed_rules;
mod connections;
pub(in crate::session) mod doubted_rows;
pub(in crate::session) mod elsewhere;
pub(in crate::session) mod guard;
pub(in crate::session) mod own_database;
pub(in crate::session) mod stand;
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
    /// Where a session begins: in the database of its login, or in none.
    ///
    /// # Errors
    /// `UnknownDatabase`, and `Refused` where it does not speak the door's language.
    pub(in crate::session) fn of_login(engine: &Engine, login: Login) -> Result<Self> {
        let snapshot = engine.snapshot();
        let databases = visible::visible(&snapshot, &login);
        let home = visible::home(&snapshot, &login, &databases);
        let (live, database) = match &login.database {
            Some(name) => {
                let (live, name) = visible::move_to(&snapshot, &login, name, home)?;
                (Some(live), Some(name))
            }
            None => (home, None),
        };
        let handle = engine.inner.registry.register(&login);
        let id = handle.key.id;
        let facts = Facts {
            database,
            databases,
            user: login.user.clone(),
            host: login.host.clone(),
            id,
            version: live.as_ref().and_then(|live| live.version()).map(Arc::from),
            autocommit: true,
            ..Facts::default()
        };
        Ok(Self {
            engine: engine.clone(),
            handle,
            login,
            snapshot,
            live,
            facts: Arc::new(facts),
            // Sessions of one statement each must not all meet the same replica.
            ticket: u64::from(id),
        })
    }

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
        self.handle.begins(told);
    }

    pub(in crate::session) fn live(&self) -> Result<Arc<LiveDatabase>> {
        self.live.clone().ok_or_else(|| ErrorKind::NoDatabase.into())
    }

    /// What the session knows of itself and tells planning.
    pub(in crate::session) fn facts(&self) -> &Arc<Facts> {
        &self.facts
    }

    /// What it knew before statements that were none of the client's.
    pub(in crate::session) fn knows_again(&mut self, facts: Arc<Facts>) {
        self.facts = facts;
    }

    /// It knows of no statement before the next one.
    pub(in crate::session) fn forget_facts(&mut self) {
        let facts = self.facts_mut();
        facts.autocommit = true;
        facts.last_insert_id = 0;
        facts.told.clear();
    }

    /// From now on it is reset to the servers' values, and not to those of its start-up packet.
    pub(in crate::session) fn forget_login_variables(&mut self) {
        self.login.variables.clear();
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
