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
}

impl Guarded {
    pub(crate) fn new(inner: Inner, user: String, permitted: Permitted) -> Self {
        Self { inner, user, permitted }
    }

    /// A statement may change the database, so this is asked again before anything of a reply is shown.
    fn check(&self) -> Result<()> {
        match &self.permitted {
            Permitted::All => Ok(()),
            Permitted::Only(_) => match self.inner.state().database {
                Some(database) if !self.permitted.has(&database) => {
                    Err(denied(&self.user, &database))
                }
                Some(_) | None => Ok(()),
            },
        }
    }
}

/// The refusal of a database, in the words MySQL has for it.
pub(crate) fn denied(user: &str, database: &str) -> Error {
    let message = format!("access denied for user `{user}` to database `{database}`");
    Error::new(ErrorKind::AccessDenied(message))
}

impl Session for Guarded {
    async fn run(&mut self, request: Request) -> Result<()> {
        if let Request::Use(database) = &request
            && !self.permitted.has(database)
        {
            return Err(denied(&self.user, database));
        }
        self.inner.run(request).await?;
        self.check()
    }

    async fn next(&mut self) -> Result<Option<Event>> {
        let event = self.inner.next().await?;
        self.check()?;
        Ok(event)
    }

    async fn prepare(&mut self, sql: Arc<str>, declared: Vec<u32>) -> Result<Arc<Prepared>> {
        self.check()?;
        self.inner.prepare(sql, declared).await
    }

    async fn describe(&mut self, prepared: &Arc<Prepared>) -> Result<Description> {
        self.check()?;
        self.inner.describe(prepared).await
    }

    fn state(&self) -> State {
        self.inner.state()
    }

    fn key(&self) -> Key {
        self.inner.key()
    }
}
