//! The joint between the engine and one storage unit's server.

use std::fmt::Debug;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::column::Format;
use crate::dialect::Dialect;
use crate::error::Result;
use crate::event::{CopyInput, Event, Whole};
use crate::notifications::Notification;
use crate::request::Parameter;
use crate::runtime::{BoxFuture, SharedRuntime};
use crate::session::TransactionState;

/// Opens connections to one storage unit.
pub trait Connector: Send + Sync + Debug {
    /// Connects, logs in and makes the connection ready. The caller bounds the time.
    ///
    /// # Errors
    /// `Unavailable` when the server cannot be reached, `Server` when it refuses the login.
    ///
    /// # Cancel safety
    /// May be dropped at any time; the half-open connection is closed.
    fn connect<'a>(&'a self, runtime: &'a SharedRuntime)
    -> BoxFuture<'a, Result<Box<dyn Backend>>>;

    /// Asks the server to cancel what the connection with this token runs.
    ///
    /// # Errors
    /// `Unavailable` when the server cannot be reached.
    fn cancel<'a>(
        &'a self,
        runtime: &'a SharedRuntime,
        token: CancelToken,
    ) -> BoxFuture<'a, Result<()>>;

    /// The language this unit speaks.
    fn dialect(&self) -> Arc<dyn Dialect>;

    /// What the server calls its version, as the newest connection was told; `None` before there is one, and where servers do not tell.
    fn server_version(&self) -> Option<Arc<str>> {
        None
    }

    /// Where its tables stand, when a statement could reach others beside them there by a schema's name.
    fn place(&self) -> Option<Place> {
        None
    }
}

/// Where the tables of a storage unit stand: a part of a server's database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The server and its database, the same for all who reach the same one by the same name.
    pub database: String,
    /// The schemas in which tables are looked for, in order; never empty.
    pub schemas: Vec<String>,
}

/// One connection to a storage unit. Several executions may be started before the first is read; their replies come in order.
///
/// Each execution's reply ends with exactly one `Event::Done` or one `Err`. After an `Err` the connection has already been brought
/// back to where it accepts the next execution, unless [`Condition::usable`] is false. An `Err` does not cancel executions started
/// behind it: each still gives its own reply.
///
/// Nothing is read or written but inside [`Backend::poll_event`] and [`Backend::poll_flush`]: a caller that does not poll stops the
/// server from sending. Buffers are bounded.
pub trait Backend: Send + Debug {
    /// Queues an execution. Does no I/O.
    ///
    /// # Errors
    /// `TooLarge`, `Value` when it cannot be written; the connection stays as it was.
    fn start(&mut self, execution: Execution) -> Result<()>;

    /// Writes what is queued, and reads the next piece of the oldest unfinished reply.
    ///
    /// # Errors
    /// `Server` for the server's own errors, `Unavailable` and `Protocol` when the connection is lost.
    ///
    /// # Cancel safety
    /// May be polled from any task at any time; dropping the caller loses nothing.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event>>;

    /// As [`Backend::poll_event`], but gives the oldest unfinished reply in one when it has come so: cheaper than piece by piece, and a short reply nearly always
    /// does. `None` says nothing of the reply: its pieces are to be read. To be asked before the first of them only.
    ///
    /// # Errors
    /// As [`Backend::poll_event`].
    ///
    /// # Cancel safety
    /// As [`Backend::poll_event`].
    fn poll_whole(&mut self, _cx: &mut Context<'_>) -> Poll<Result<Option<Whole>>> {
        Poll::Ready(Ok(None))
    }

    /// Queues copy data, in answer to `Event::CopyIn` or `Event::SendFile`. Does no I/O: flush before queueing much more.
    ///
    /// # Errors
    /// `Internal` when no copy is under way.
    fn copy(&mut self, input: CopyInput) -> Result<()>;

    /// Writes what is queued. When no reply is outstanding it also looks, without waiting, whether the server has closed the connection.
    ///
    /// # Errors
    /// `Unavailable` when the connection is lost. (An error the server sent meanwhile shows in `poll_event`.)
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>>;

    /// What it was told over channels since it was asked last; at most some thousands at a time. A connection keeps
    /// that from the first call on: nobody else listens through one.
    fn heard(&mut self) -> Vec<Notification> {
        Vec::new()
    }

    /// How the connection stands.
    fn condition(&self) -> Condition;

    /// What [`Connector::cancel`] needs to cancel this connection's statement.
    fn token(&self) -> CancelToken;
}

/// How a connection stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    /// It accepts executions.
    pub usable: bool,
    /// Executions whose replies have not been read to their end.
    pub outstanding: usize,
    /// The server's transaction status after the last finished reply.
    pub transaction: TransactionState,
}

/// Names one connection to its server: process or thread number, and a secret where the vendor has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CancelToken {
    /// Process or thread number.
    pub id: u64,
    /// The secret.
    pub secret: u32,
}

/// One thing to do on a connection.
#[derive(Debug, Clone)]
pub enum Execution {
    /// Runs one statement given as text; rows come in text form.
    Text(Arc<str>),
    /// Runs one statement given as text of which only success counts: its reply may be [`Event::Done`] alone. It travels with what is started next, if
    /// anything is before the connection is flushed or read, and then its failure may be that one's too, which has not run.
    Aside(Arc<str>),
    /// Runs one statement given as text whose values have been lifted out of it, so that a unit may keep it prepared. The reply is that of the
    /// text, columns, rows and errors alike: a unit that cannot promise so runs the text.
    Lifted {
        /// The statement as it would be sent alone.
        text: Arc<str>,
        /// The same with parameters in the places of values.
        sql: Arc<str>,
        /// The values in order, as [`crate::dialect::Language::lifted`] gave them.
        parameters: Vec<Parameter>,
        /// Changes with every definition that Pando knows of: names may mean others from then on. Not 0.
        era: u64,
    },
    /// Prepares (once per connection, kept in a bounded cache by text and types), binds and runs.
    Prepared {
        /// The statement's text.
        sql: Arc<str>,
        /// Types of the parameters as far as known, [`crate::request::UNNUMBERED`] among them; 0 means open, as does what is missing at the end: their types are
        /// found anew each time, never taken from who sent the same text before. Part of the cache key.
        types: Arc<[u32]>,
        /// The parameters.
        parameters: Vec<Parameter>,
        /// Formats of the columns: none means all text, one means all so, else one per column.
        formats: Vec<Format>,
        /// As that of `Lifted`: a server goes on with the types it found for parameters whatever becomes of the columns they stand for. Part of the cache key; 0
        /// where no definition is heeded.
        era: u64,
    },
    /// Prepares and asks for parameter and column types: `Event::Described`.
    Describe {
        /// The statement's text.
        sql: Arc<str>,
        /// Types of the parameters as far as known, one for each; open ones (0) are found anew.
        types: Arc<[u32]>,
        /// As that of `Prepared`.
        era: u64,
    },
    /// Puts the connection back to how it was after login: no transaction, no session variables, no temporary tables. Prepared statements may be kept.
    Reset,
    /// The same for a connection of which nobody knows what was done on it: prepared statements are not kept, as their names may mean others by now, nor is anything else that
    /// the server can be told to forget.
    Scrub,
    /// Asks for a sign of life.
    Ping,
}
