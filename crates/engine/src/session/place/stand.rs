//! Standing in a database, and looking for it again in a newer configuration.

use std::sync::Arc;

use pando_kernel::dialect::Facts;
use pando_kernel::error::Result;
use pando_kernel::session::Login;

use crate::house::Engine;
use crate::snapshot::LiveDatabase;

use crate::session::place::{Place, visible};

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

    /// The database whose storage units answer what is asked before one is chosen.
    pub(in crate::session) fn home(&self) -> Option<Arc<LiveDatabase>> {
        visible::home(&self.snapshot, &self.login, &self.facts.databases)
    }

    /// The database that is asked for by name, and the name as it is told.
    ///
    /// # Errors
    /// `UnknownDatabase`, and `Refused` where it does not speak the door's language.
    pub(in crate::session) fn look_for(&self, name: &str) -> Result<(Arc<LiveDatabase>, String)> {
        let home = match self.live.clone().filter(|live| live.has_units()) {
            None => self.home(),
            current => current,
        };
        visible::move_to(&self.snapshot, &self.login, name, home)
    }

    /// As [`Place::look_for`] of the database it stands in already, whoever may see it now.
    ///
    /// # Errors
    /// As [`Place::look_for`].
    pub(in crate::session) fn look_for_own(&self, name: &str) -> Result<Arc<LiveDatabase>> {
        visible::stand(&self.snapshot, &self.login, name, self.home()).map(|(live, _)| live)
    }

    /// The current database is called so from now on; `None` where none is chosen.
    pub(in crate::session) fn is_in(&mut self, name: Option<String>) {
        self.handle.uses(name.as_deref());
        self.facts_mut().database = name;
    }

    /// Goes to a database, or where there is none. Returns the language that its units are to be told of, if that is
    /// another one than before: `None` inside where they take but one.
    pub(in crate::session) fn stand_in(
        &mut self,
        live: Option<Arc<LiveDatabase>>,
    ) -> Option<Option<&'static str>> {
        let spoken = |live: &Option<Arc<LiveDatabase>>| live.as_ref()?.client_language;
        let (before, now) = (spoken(&self.live), spoken(&live));
        let version = live.as_ref().and_then(|live| live.version());
        if version.as_deref() != self.facts.version.as_deref() {
            self.facts_mut().version = version.map(Arc::from);
        }
        self.live = live;
        (before != now).then_some(now)
    }

    /// Takes up the version of the servers, if no storage unit had told it when the session came to the database: what
    /// the catalogue's columns are called, and how a table of a list is dropped, goes by it.
    pub(in crate::session) fn hear_version(&mut self) {
        if self.facts.version.is_some() {
            return;
        }
        if let Some(version) = self.live.as_ref().and_then(|live| live.version()) {
            self.facts_mut().version = Some(version.into());
        }
    }

    /// Whether there is a newer configuration than the one it goes by.
    pub(in crate::session) fn is_outdated(&self) -> bool {
        !Arc::ptr_eq(&self.engine.inner.snapshot.load(), &self.snapshot)
    }

    /// Goes by the newest configuration.
    pub(in crate::session) fn take_newest(&mut self) {
        self.snapshot = self.engine.snapshot();
        self.facts_mut().databases = visible::visible(&self.snapshot, &self.login);
    }
}
