//! The database a session stands in: chosen, left, looked for again in a newer configuration.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::session::TransactionState;

use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::place::visible;
use crate::session::place::visible::{home, move_to};
use crate::session::transaction::verbs::Opened;

impl Session {
    /// Changes the current database.
    pub(in crate::session) async fn use_database(&mut self, name: &str) -> Result<()> {
        let home = match self.place.live.clone().filter(|live| live.has_units()) {
            None => home(&self.place.snapshot, &self.place.login, &self.place.facts.databases),
            current => current,
        };
        let (live, name) = move_to((&self.place.snapshot, &self.place.login), name, home)?;
        // A dump begins its transaction before it says of what.
        let is_other = self.place.live.as_ref().is_some_and(|old| !Arc::ptr_eq(old, &live));
        let is_at_work = is_other && !self.work.stands_free() && !self.work.has_begun_only();
        let again = match is_at_work && self.has_read_no_table() {
            true => Some(self.work.transaction.modes().to_vec()),
            false => None,
        };
        if again.is_some() {
            self.end_transaction(false).await?;
        } else if is_at_work {
            return Err(Error::refused(
                30001,
                "the database cannot be changed inside a transaction that has read or changed another one",
                "commit or roll back first",
            ));
        }
        let first = self.place.live.is_none();
        self.place.handle.uses(Some(&name));
        self.place.facts_mut().database = Some(name);
        self.stand_in(Some(live));
        if first {
            self.start_variables()?;
        }
        match again {
            Some(modes) => self.begin_at_once(modes).await,
            None => Ok(()),
        }
    }

    /// Whether the open transaction has changed nothing and was asked of no table, as no database was chosen: only the servers themselves, and their
    /// catalogues. It may as well have begun where one is chosen now, and later.
    pub(in crate::session) fn has_read_no_table(&self) -> bool {
        self.place.facts.database.is_none()
            && !self.work.names_tables
            && self.work.opened == Opened::Client
            && self.work.transaction.state() == TransactionState::Open
            && !self.work.transaction.has_written()
    }

    /// Stands in the newest snapshot where it stood in the one before.
    ///
    /// # Errors
    /// `UnknownDatabase` and `Refused` when that is no longer possible; the session is then in no database.
    pub(in crate::session) fn look_again(&mut self) -> Result<()> {
        self.place.snapshot = self.place.engine.snapshot();
        self.place.facts_mut().databases =
            visible::visible(&self.place.snapshot, &self.place.login);
        let home =
            visible::home(&self.place.snapshot, &self.place.login, &self.place.facts.databases);
        let Some(name) = self.place.facts.database.clone() else {
            self.stand_in(home);
            return Ok(());
        };
        match visible::stand(&self.place.snapshot, (&name, &self.place.login), home.clone()) {
            Ok((live, _)) => {
                self.stand_in(Some(live));
                Ok(())
            }
            Err(gone) => {
                self.leave_database(home);
                Err(gone)
            }
        }
    }

    /// From now on the session is in no database.
    pub(in crate::session) fn leave_database(&mut self, home: Option<Arc<LiveDatabase>>) {
        self.place.handle.uses(None);
        self.place.facts_mut().database = None;
        self.stand_in(home);
    }

    /// Goes to a database, or where there is none. Its units are told of the door's language when they take several.
    pub(in crate::session) fn stand_in(&mut self, live: Option<Arc<LiveDatabase>>) {
        let spoken = |live: &Option<Arc<LiveDatabase>>| live.as_ref()?.client_language;
        let (before, now) = (spoken(&self.place.live), spoken(&live));
        let version = live.as_ref().and_then(|live| live.version());
        if version.as_deref() != self.place.facts.version.as_deref() {
            self.place.facts_mut().version = version.map(Arc::from);
        }
        self.place.live = live;
        match now {
            _ if before == now => {}
            Some(language) => {
                self.settings.variables.set(pando_kernel::dialect::CLIENT_LANGUAGE, language);
            }
            None => self.settings.variables.unset(pando_kernel::dialect::CLIENT_LANGUAGE),
        }
    }

    pub(in crate::session) fn start_variables(&mut self) -> Result<()> {
        let Some(live) = self.place.live.clone() else { return Ok(()) };
        if let Some(language) = live.client_language {
            self.settings.variables.set(pando_kernel::dialect::CLIENT_LANGUAGE, language);
        }
        for (name, value) in self.place.login.variables.clone() {
            self.startup_variable(live.database.dialect.as_ref(), &name, &value)?;
        }
        Ok(())
    }

    /// Takes the newest snapshot; inside a transaction the one it began with stays.
    pub(in crate::session) fn refresh(&mut self) -> Result<()> {
        if self.place.handle.is_killed() {
            return Err(ErrorKind::Shutdown.into());
        }
        if !self.work.stands_free() || self.cursors.waits_in_cursor() {
            return Ok(());
        }
        let newest = self.place.engine.inner.snapshot.load();
        if Arc::ptr_eq(&newest, &self.place.snapshot) {
            return Ok(());
        }
        drop(newest);
        self.look_again()
    }
}
