//! A session that shows its user only the databases he may see.

use std::sync::Arc;

use pando_engine::Session as Inner;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Description, Event};
use pando_kernel::request::{Prepared, Request};
use pando_kernel::session::{Key, Session, State};

use crate::authority::Permitted;

/// The engine's session with its user's rights.
#[derive(Debug)]
pub(crate) struct Guarded {
    inner: Inner,
    user: String,
    permitted: Permitted,
    /// The last database the user was in rightfully.
    home: Option<String>,
}

impl Guarded {
    /// `inner` is in no database, or in one that is permitted.
    pub(crate) fn new(inner: Inner, user: String, permitted: Permitted) -> Self {
        let home = inner.state().database;
        Self { inner, user, permitted, home }
    }

    /// The refusal, when the session stands in a database that is not the user's.
    fn trespass(&self) -> Option<Error> {
        match &self.permitted {
            Permitted::All => None,
            Permitted::Only(_) => {
                let database = self.inner.state().database?;
                (!self.permitted.has(&database)).then(|| denied(&self.user, &database))
            }
        }
    }

    /// A statement may have changed the database: goes back to where the user was, and drops what is left of the reply. A user who
    /// was nowhere before stays locked out until he names a database of his.
    async fn go_home(&mut self) -> Result<()> {
        let Some(error) = self.trespass() else {
            if self.permitted != Permitted::All {
                self.home = self.inner.state().database;
            }
            return Ok(());
        };
        if let Some(home) = self.home.clone() {
            self.inner.run(Request::Use(home)).await?;
            while self.inner.next().await?.is_some() {}
        }
        Err(error)
    }
}

/// The refusal of a database, in the words MySQL has for it.
pub(crate) fn denied(user: &str, database: &str) -> Error {
    let message = format!("access denied for user `{user}` to database `{database}`");
    Error::new(ErrorKind::AccessDenied(message))
}

impl Session for Guarded {
    async fn run(&mut self, request: Request) -> Result<()> {
        match &request {
            Request::Use(database) if !self.permitted.has(database) => {
                return Err(denied(&self.user, database));
            }
            Request::Use(_) => {}
            Request::Query(_)
            | Request::Execute(_)
            | Request::Fetch { .. }
            | Request::CloseCursor(_)
            | Request::Copy(_)
            | Request::Sync
            | Request::Reset
            | Request::Fields { .. } => {
                if let Some(error) = self.trespass() {
                    return Err(error);
                }
            }
        }
        self.inner.run(request).await?;
        self.go_home().await
    }

    async fn next(&mut self) -> Result<Option<Event>> {
        let event = self.inner.next().await?;
        self.go_home().await?;
        Ok(event)
    }

    async fn prepare(&mut self, sql: Arc<str>, declared: Vec<u32>) -> Result<Arc<Prepared>> {
        match self.trespass() {
            Some(error) => Err(error),
            None => self.inner.prepare(sql, declared).await,
        }
    }

    async fn describe(&mut self, prepared: &Arc<Prepared>) -> Result<Description> {
        match self.trespass() {
            Some(error) => Err(error),
            None => self.inner.describe(prepared).await,
        }
    }

    fn state(&self) -> State {
        self.inner.state()
    }

    fn key(&self) -> Key {
        self.inner.key()
    }
}
