//! The storage unit itself: what it shall do, what it has seen, and the connector to it.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use pando_kernel::dialect::{Metadata, TableColumn};
use pando_kernel::runtime::{BoxFuture, SharedRuntime};
use pando_kernel::{
    Backend, CancelToken, Connector, Dialect, Error, ErrorKind, Execution, Result, Value,
};

use crate::backend::FakeBackend;
use crate::dialect::FakeDialect;
use crate::script::{Reply, Script};
use crate::server_error;

/// A scripted storage unit. Clones are the same unit.
#[derive(Debug, Clone)]
pub struct Unit {
    pub(crate) inner: Arc<Inner>,
}

/// How the unit meets new connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Connects {
    /// Lets them in, and takes cancel requests.
    #[default]
    Accept,
    /// Turns them away: `Unavailable`.
    Refuse,
    /// Turns them away with an error of its own: a wrong password.
    Deny,
    /// Turns them away, with the error of a server that is full, while so many are open.
    AtMost(usize),
    /// Never answers.
    Hang,
}

/// How many connections there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connections {
    /// Ever opened.
    pub opened: usize,
    /// Open now.
    pub open: usize,
}

/// One execution that arrived.
#[derive(Debug, Clone)]
pub struct Received {
    /// The connection's number, from 1 in order of opening.
    pub connection: u64,
    /// What was to be done.
    pub execution: Execution,
}

impl Received {
    /// The statement's text; `PING`, `RESET`, `SCRUB` for those three, and `DESCRIBE` in front of a described text.
    pub fn text(&self) -> String {
        match &self.execution {
            Execution::Text(sql)
            | Execution::Aside(sql)
            | Execution::Prepared { sql, .. }
            | Execution::Lifted { text: sql, .. } => sql.to_string(),
            Execution::Describe { sql, .. } => format!("DESCRIBE {sql}"),
            Execution::Reset => "RESET".to_owned(),
            Execution::Scrub => "SCRUB".to_owned(),
            Execution::Ping => "PING".to_owned(),
        }
    }

    /// The bound parameters, decoded; empty for anything but prepared executions.
    pub fn parameters(&self) -> Vec<Value> {
        match &self.execution {
            Execution::Prepared { parameters, .. } => {
                parameters.iter().map(|parameter| parameter.value.clone()).collect()
            }
            Execution::Text(_)
            | Execution::Aside(_)
            | Execution::Lifted { .. }
            | Execution::Describe { .. }
            | Execution::Reset
            | Execution::Scrub
            | Execution::Ping => Vec::new(),
        }
    }
}

pub(crate) struct Inner {
    pub(crate) name: String,
    pub(crate) dialect: FakeDialect,
    pub(crate) open: AtomicUsize,
    pub(crate) state: Mutex<State>,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) script: Script,
    pub(crate) received: Vec<Received>,
    pub(crate) cancels: Vec<CancelToken>,
    pub(crate) copied: Vec<u8>,
    /// Connections with a smaller number are broken.
    pub(crate) broken_below: u64,
    pub(crate) opened: u64,
    pub(crate) rows_per_chunk: usize,
    pub(crate) rows_sent: usize,
    /// Tasks that wait for a hanging statement or connection.
    pub(crate) hanging: Vec<Waker>,
    /// Its connections say nothing.
    pub(crate) is_silent: bool,
    pub(crate) answers_whole: bool,
    connects: Connects,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unit").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Inner {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unavailable(&self) -> Error {
        let (unit, message) = (self.name.clone(), "connection refused".to_owned());
        Error::new(ErrorKind::Unavailable { unit, message })
    }
}

impl Unit {
    /// A unit with the default dialect.
    pub fn new(name: &str) -> Self {
        Self::with_dialect(name, FakeDialect::default())
    }

    /// A unit that speaks this language.
    pub fn with_dialect(name: &str, dialect: FakeDialect) -> Self {
        let state = State {
            script: Script::default(),
            received: Vec::new(),
            cancels: Vec::new(),
            copied: Vec::new(),
            broken_below: 0,
            opened: 0,
            rows_per_chunk: 2,
            rows_sent: 0,
            hanging: Vec::new(),
            is_silent: false,
            answers_whole: false,
            connects: Connects::Accept,
        };
        let (open, state) = (AtomicUsize::new(0), Mutex::new(state));
        Self { inner: Arc::new(Inner { name: name.to_owned(), dialect, open, state }) }
    }

    /// A connector to this unit.
    pub fn connector(&self) -> Arc<dyn Connector> {
        Arc::new(self.clone())
    }

    /// Answers this very text so, every time. The texts `RESET` and `PING` stand for those two executions, which succeed unless told.
    pub fn reply(&self, sql: &str, reply: Reply) -> &Self {
        self.inner.lock().script.exact(sql, reply);
        self
    }

    /// Answers this very text so, once; goes before every other reply to it. Several are used up in the order given.
    pub fn reply_once(&self, sql: &str, reply: Reply) -> &Self {
        self.inner.lock().script.once(sql, reply);
        self
    }

    /// Answers texts that pass `test` with what `make` makes of the text and the parameters. Asked in the order given, after exact texts.
    pub fn when(
        &self,
        test: impl Fn(&str) -> bool + Send + 'static,
        make: impl FnMut(&str, &[Value]) -> Reply + Send + 'static,
    ) -> &Self {
        self.inner.lock().script.pattern(Box::new(test), Box::new(make));
        self
    }

    /// Answers every text no one knows so; without it such a text is an error (transaction verbs and SET succeed).
    pub fn otherwise(&self, reply: Reply) -> &Self {
        self.inner.lock().script.otherwise(reply);
        self
    }

    /// Declares an actual table: the dialect's catalogue queries then tell of it.
    pub fn table(&self, name: &str, columns: Vec<TableColumn>) -> &Self {
        let query = self.inner.dialect.columns_query(None, name);
        self.inner.lock().script.table(name, query, columns);
        self
    }

    /// Sends so many rows per chunk (at least one; 2 unless told).
    pub fn rows_per_chunk(&self, count: usize) -> &Self {
        self.inner.lock().rows_per_chunk = count.max(1);
        self
    }

    /// Gives replies of columns, rows and completion in one from now on, to whom asks for them so.
    pub fn answers_whole(&self) -> &Self {
        self.inner.lock().answers_whole = true;
        self
    }

    /// Meets new connections so from now on.
    pub fn connects(&self, how: Connects) -> &Self {
        let waiting = {
            let mut state = self.inner.lock();
            state.connects = how;
            std::mem::take(&mut state.hanging)
        };
        waiting.into_iter().for_each(Waker::wake);
        self
    }

    /// Falls silent on all its connections, or speaks again: a server that is stopped, or cut off.
    pub fn silent(&self, is_silent: bool) -> &Self {
        let waiting = {
            let mut state = self.inner.lock();
            state.is_silent = is_silent;
            std::mem::take(&mut state.hanging)
        };
        waiting.into_iter().for_each(Waker::wake);
        self
    }

    /// Breaks every connection open now, as a restart of the server would.
    pub fn disconnect_all(&self) -> &Self {
        let waiting = {
            let mut state = self.inner.lock();
            state.broken_below = state.opened + 1;
            std::mem::take(&mut state.hanging)
        };
        waiting.into_iter().for_each(Waker::wake);
        self
    }

    /// Everything that arrived, in order of arrival.
    pub fn received(&self) -> Vec<Received> {
        self.inner.lock().received.clone()
    }

    /// The texts of what arrived: see [`Received::text`].
    pub fn statements(&self) -> Vec<String> {
        self.inner.lock().received.iter().map(Received::text).collect()
    }

    /// Forgets what arrived so far.
    pub fn forget(&self) -> &Self {
        self.inner.lock().received.clear();
        self
    }

    /// How many connections there were and are.
    pub fn connections(&self) -> Connections {
        let opened = usize::try_from(self.inner.lock().opened).unwrap_or(usize::MAX);
        Connections { opened, open: self.inner.open.load(Ordering::SeqCst) }
    }

    /// The cancel requests that arrived, in order.
    pub fn cancels(&self) -> Vec<CancelToken> {
        self.inner.lock().cancels.clone()
    }

    /// All copy data that arrived, in order.
    pub fn copied(&self) -> Vec<u8> {
        self.inner.lock().copied.clone()
    }

    /// How many rows have been handed over: tells how far a reader has pulled.
    pub fn rows_sent(&self) -> usize {
        self.inner.lock().rows_sent
    }
}

impl Connector for Unit {
    fn connect<'a>(
        &'a self,
        _runtime: &'a SharedRuntime,
    ) -> BoxFuture<'a, Result<Box<dyn Backend>>> {
        Box::pin(std::future::poll_fn(move |cx| {
            let mut state = self.inner.lock();
            match state.connects {
                Connects::AtMost(most) if self.inner.open.load(Ordering::SeqCst) >= most => {
                    let full = server_error("53300", "sorry, too many clients already");
                    Poll::Ready(Err(ErrorKind::Server(Box::new(full)).into()))
                }
                Connects::Accept | Connects::AtMost(_) => {
                    state.opened += 1;
                    let number = state.opened;
                    drop(state);
                    let backend = FakeBackend::new(Arc::clone(&self.inner), number);
                    Poll::Ready(Ok(Box::new(backend) as Box<dyn Backend>))
                }
                Connects::Refuse => Poll::Ready(Err(self.inner.unavailable())),
                Connects::Deny => {
                    let denied = server_error("28000", "wrong password");
                    Poll::Ready(Err(ErrorKind::Server(Box::new(denied)).into()))
                }
                Connects::Hang => {
                    state.hanging.push(cx.waker().clone());
                    Poll::Pending
                }
            }
        }))
    }

    fn cancel<'a>(
        &'a self,
        _runtime: &'a SharedRuntime,
        token: CancelToken,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(std::future::poll_fn(move |cx| {
            let waiting = {
                let mut state = self.inner.lock();
                match state.connects {
                    Connects::Accept | Connects::Deny | Connects::AtMost(_) => {}
                    Connects::Refuse => return Poll::Ready(Err(self.inner.unavailable())),
                    Connects::Hang => {
                        state.hanging.push(cx.waker().clone());
                        return Poll::Pending;
                    }
                }
                state.cancels.push(token);
                std::mem::take(&mut state.hanging)
            };
            waiting.into_iter().for_each(Waker::wake);
            Poll::Ready(Ok(()))
        }))
    }

    fn dialect(&self) -> Arc<dyn Dialect> {
        Arc::new(self.inner.dialect)
    }
}
