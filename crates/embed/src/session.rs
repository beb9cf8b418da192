//! A session that goes on when somebody polls it: the thread that reads its client's channel.

use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use pando_kernel::runtime::BoxFuture;

use crate::driver::{Driver, own_bell};
use crate::pipe::{Pipe, Wants};
use crate::waits::Waiting;

/// One client's session.
pub(crate) struct Session {
    /// Polled by whoever drives the pipe; `None` once it is over.
    future: Mutex<Option<BoxFuture<'static, ()>>>,
    driver: Arc<Driver>,
    waker: Waker,
    pipe: Arc<Pipe>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("driver", &self.driver).finish_non_exhaustive()
    }
}

impl Session {
    pub(crate) fn new(pipe: Arc<Pipe>, future: BoxFuture<'static, ()>) -> Self {
        let driver = Arc::<Driver>::default();
        let waker = Waker::from(Arc::clone(&driver));
        Self { future: Mutex::new(Some(future)), driver, waker, pipe }
    }

    pub(crate) fn pipe(&self) -> &Pipe {
        &self.pipe
    }

    /// Goes on with the session on this thread until the client has reason to look, or it is `until`; `None` where somebody else is at it.
    /// False when it is `until`.
    ///
    /// # Errors
    /// When the process may open no more files.
    pub(crate) fn drive(&self, wanted: Wants, until: Option<Instant>) -> io::Result<Option<bool>> {
        let bell = own_bell()?;
        let Some(drive) = Drive::begin(self) else { return Ok(None) };
        let waiting = Waiting::begin();
        self.driver.is_thread(&bell);
        let in_time = loop {
            drive.poll();
            if self.pipe.has(wanted) {
                break true;
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                break false;
            }
            if !self.driver.was_woken() {
                waiting.sleep(&bell, until);
            }
        };
        self.driver.is_nobody();
        Ok(Some(in_time))
    }

    /// Goes on with the session for as long as nothing is waited for; the client is called when there is reason to come again.
    pub(crate) fn step(&self, client: &Waker) {
        if !self.pipe.drive_or_call(client) {
            return;
        }
        let drive = Drive { session: self, client: Some(client) };
        self.driver.is_called(client);
        drive.poll();
    }

    /// Ends the session, if nobody is at it; who is sees that it is closed.
    pub(crate) fn end(&self) {
        self.pipe.close();
        drop(Drive::begin(self));
    }

    fn future(&self) -> MutexGuard<'_, Option<BoxFuture<'static, ()>>> {
        self.future.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread's turn at a session.
struct Drive<'a> {
    session: &'a Session,
    /// Who is called when there is reason to come again.
    client: Option<&'a Waker>,
}

impl<'a> Drive<'a> {
    fn begin(session: &'a Session) -> Option<Self> {
        // Made only where it is driven: its end is the end of the turn.
        session.pipe.drive().then(|| Self { session, client: None })
    }

    fn poll(&self) {
        let mut cx = Context::from_waker(&self.session.waker);
        let mut slot = self.session.future();
        let Some(future) = slot.as_mut() else { return };
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut cx)));
        if let Ok(Poll::Pending) = polled {
            return;
        }
        if polled.is_err() {
            tracing::error!("a session broke; the others go on");
        }
        let over = slot.take();
        drop(slot);
        drop(over);
        self.session.pipe.end();
    }
}

impl Drop for Drive<'_> {
    fn drop(&mut self) {
        let Self { session, client } = *self;
        session.pipe.leave(client);
        // Closed meanwhile, or just before: whoever comes last ends it.
        if session.pipe.is_closed() && session.pipe.drive() {
            let over = session.future().take();
            drop(over);
            // Sockets that the session has waited for may know its driver for long.
            session.driver.is_nobody();
            session.pipe.end();
            session.pipe.leave(None);
        }
    }
}
