//! A session that shows its user only the databases he may see.

use std::sync::Arc;

use pando_engine::Session as Inner;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Description, Event};
use pando_kernel::request::{Prepared, Request};
use pando_kernel::session::{Key, Session, State};

use crate::authority::Permitted;
use crate::seat::Seat;

/// The engine's session with its user's rights.
#[derive(Debug)]
pub(crate) struct Guarded {
    inner: Inner,
    rights: Rights,
    /// The last database the user was in rightfully.
    home: Option<String>,
    /// Given back after the session has ended: fields are dropped in their order.
    _seat: Seat,
}

/// A user and what he may see.
#[derive(Debug)]
pub(crate) struct Rights {
    pub(crate) user: String,
    pub(crate) permitted: Permitted,
}

impl Rights {
    /// The refusal of a database.
    pub(crate) fn denied(&self, database: &str) -> Error {
        let message = format!("access denied for user `{}` to database `{database}`", self.user);
        Error::new(ErrorKind::AccessDenied(message))
    }

    /// To the engine a database that the user may not see does not exist. He is told that he has no right to it, and so it is with names of
    /// no database: nobody finds out which ones there are.
    fn judge(&self, error: Error) -> Error {
        match (error.kind(), &self.permitted) {
            (ErrorKind::UnknownDatabase(name), Permitted::Only(_)) if !self.permitted.has(name) => {
                self.denied(name)
            }
            _ => error,
        }
    }
}

impl Guarded {
    /// `inner` is in no database, or in one that is permitted.
    pub(crate) fn new(inner: Inner, rights: Rights, seat: Seat) -> Self {
        let home = inner.state().database;
        Self { inner, rights, home, _seat: seat }
    }

    /// The refusal, when the session stands in a database that is not the user's.
    fn trespass(&self) -> Option<Error> {
        match &self.rights.permitted {
            Permitted::All => None,
            Permitted::Only(_) => {
                let database = self.inner.state().database?;
                (!self.rights.permitted.has(&database)).then(|| self.rights.denied(&database))
            }
        }
    }

    /// A statement may have changed the database: goes back to where the user was, and drops what is left of the reply. A user who
    /// was nowhere before stays locked out until he names a database of his.
    async fn go_home(&mut self) -> Result<()> {
        let Some(error) = self.trespass() else {
            if self.rights.permitted != Permitted::All {
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

    fn judged<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| self.rights.judge(error))
    }
}

impl Session for Guarded {
    async fn run(&mut self, request: Request) -> Result<()> {
        match &request {
            Request::Use(database) if !self.rights.permitted.has(database) => {
                return Err(self.rights.denied(database));
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
        let done = self.inner.run(request).await;
        self.judged(done)?;
        self.go_home().await
    }

    async fn next(&mut self) -> Result<Option<Event>> {
        let event = self.inner.next().await;
        let event = self.judged(event)?;
        self.go_home().await?;
        Ok(event)
    }

    async fn prepare(&mut self, sql: Arc<str>, declared: Vec<u32>) -> Result<Arc<Prepared>> {
        match self.trespass() {
            Some(error) => Err(error),
            None => {
                let prepared = self.inner.prepare(sql, declared).await;
                self.judged(prepared)
            }
        }
    }

    async fn describe(&mut self, prepared: &Arc<Prepared>) -> Result<Description> {
        match self.trespass() {
            Some(error) => Err(error),
            None => {
                let description = self.inner.describe(prepared).await;
                self.judged(description)
            }
        }
    }

    fn state(&self) -> State {
        self.inner.state()
    }

    fn key(&self) -> Key {
        self.inner.key()
    }
}
