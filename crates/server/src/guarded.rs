//! A session that tells its user what he has no right to.

use std::sync::Arc;
use std::task::{Context, Poll};

use pando_engine::Session as Inner;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Description, Event, Whole};
use pando_kernel::request::{Prepared, Request};
use pando_kernel::session::{Key, Session, State};
use pando_kernel::{Notification, Statements};

use crate::authority::Permitted;
use crate::seat::Seat;

/// The engine's session with its user's rights. The engine itself shows nothing of other databases ([`pando_kernel::session::Login::databases`]).
#[derive(Debug)]
pub(crate) struct Guarded {
    inner: Inner,
    rights: Rights,
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
    /// To the engine a database that the user may not see does not exist. He is told that he has no right to it, and so it is with names of
    /// no database: nobody finds out which ones there are.
    pub(crate) fn judge(&self, error: Error) -> Error {
        match (error.kind(), &self.permitted) {
            (ErrorKind::UnknownDatabase(name), permitted) if !permitted.has(name) => {
                let user = &self.user;
                let message = format!("access denied for user `{user}` to database `{name}`");
                Error::new(ErrorKind::AccessDenied(message))
            }
            _ => error,
        }
    }

    fn judged<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| self.judge(error))
    }
}

impl Guarded {
    pub(crate) fn new(inner: Inner, rights: Rights, seat: Seat) -> Self {
        Self { inner, rights, _seat: seat }
    }
}

impl Session for Guarded {
    async fn run(&mut self, request: Request) -> Result<()> {
        let done = self.inner.run(request).await;
        self.rights.judged(done)
    }

    async fn answer(&mut self, request: Request) -> Result<Option<Whole>> {
        let whole = self.inner.answer(request).await;
        self.rights.judged(whole)
    }

    async fn next(&mut self) -> Result<Option<Event>> {
        let event = self.inner.next().await;
        self.rights.judged(event)
    }

    fn ahead(&mut self) -> Option<Result<Option<Event>>> {
        let event = self.inner.ahead()?;
        Some(self.rights.judged(event))
    }

    async fn refused(&mut self) {
        self.inner.refused().await;
    }

    async fn prepare(&mut self, sql: Arc<str>, declared: Vec<u32>) -> Result<Arc<Prepared>> {
        let prepared = self.inner.prepare(sql, declared).await;
        self.rights.judged(prepared)
    }

    async fn describe(&mut self, prepared: &Arc<Prepared>) -> Result<Description> {
        let description = self.inner.describe(prepared).await;
        self.rights.judged(description)
    }

    fn statements(&mut self) -> &mut Statements {
        self.inner.statements()
    }

    fn state(&self) -> State<'_> {
        self.inner.state()
    }

    fn changed_parameters(&mut self) -> Vec<(String, String)> {
        self.inner.changed_parameters()
    }

    fn poll_notified(&mut self, cx: &mut Context<'_>) -> Poll<Result<Vec<Notification>>> {
        self.inner.poll_notified(cx)
    }

    async fn notified(&mut self) -> Result<Vec<Notification>> {
        self.inner.notified().await
    }

    fn key(&self) -> Key {
        self.inner.key()
    }
}
