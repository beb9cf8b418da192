//! One storage unit, through one of its connections.

use std::time::Duration;

use pando_kernel::dialect::{Dialect, TransactionVerb};
use pando_kernel::error::{Error, ErrorKind, Result, ServerError};
use pando_kernel::runtime::Runtime;
use pando_kernel::undo::Undo;
use pando_kernel::{Execution, Value};
use pando_pool::Connection;
use pando_transaction::{drain, finish};

use crate::ask::{Answer, answer, ask, values};
use crate::restore::Written;
use crate::table::{Table, TableName, undo_of};

/// Rows of an abandoned reply that are read away before the connection is given up, in bytes.
const DRAIN_BYTES: usize = 64 << 20;
/// Bytes of an answer about the catalogue or Pando's own tables.
pub(crate) const OWN_BYTES: usize = 1 << 30;
/// Statements under way on one connection.
const AT_ONCE: usize = 256;

/// A storage unit's part in BASE transactions. It uses the connection between transactions only, and leaves it so.
///
/// # Cancel safety
/// Any method may be dropped; the connection is then to be given up or given back, which rolls back what is open on it. What is committed by then is found
/// in the unit's undo log.
#[derive(Debug)]
pub struct Unit<'a> {
    pub(crate) connection: &'a mut Connection,
    pub(crate) dialect: &'a dyn Dialect,
    pub(crate) undo: &'a dyn Undo,
}

/// The statement's place in its global transaction.
#[derive(Debug, Clone, Copy)]
pub struct Branch<'a> {
    /// The global transaction; at most 64 bytes of ASCII.
    pub global: &'a str,
    /// Counts the transaction's statements, over all of its units; grows.
    pub statement: u64,
    /// The name of the storage unit that holds the decision.
    pub decider: &'a str,
    /// How long the transaction may still take: whoever finds its images later may take them back.
    pub remaining: Duration,
}

/// Who is told of waits for rows that other global transactions hold, so that somebody sees when they go round in a circle.
pub trait Waiting: Sync {
    /// A wait for this global transaction begins.
    fn begins(&self, holder: &str);

    /// It is over. Called once for each wait that has begun, also for one that is dropped.
    fn ends(&self, holder: &str);
}

/// How long and how much a statement may take.
#[derive(Clone, Copy)]
pub struct Bounds<'a> {
    /// Waiting happens here.
    pub runtime: &'a dyn Runtime,
    /// Longest wait for rows that other global transactions hold; 10 s is usual.
    pub lock_wait: Duration,
    /// Whether whoever wants the statement has given it up: nobody waits for rows then.
    pub is_cancelled: &'a (dyn Fn() -> bool + Sync),
    /// Is told of waits for rows.
    pub waiting: &'a dyn Waiting,
    /// Bytes of one statement's images and of its answer.
    pub image_bytes: usize,
}

impl<'a> Unit<'a> {
    /// Wraps a connection outside a transaction.
    ///
    /// # Errors
    /// `Refused` when the family has no undo log.
    pub fn of(connection: &'a mut Connection, dialect: &'a dyn Dialect) -> Result<Self> {
        Ok(Self { connection, dialect, undo: undo_of(dialect)? })
    }

    /// Makes Pando's own tables where they are missing. [`Unit::run`] does so itself when it misses them.
    ///
    /// # Errors
    /// The unit's own, such as a missing right to create them.
    pub async fn prepare(&mut self) -> Result<()> {
        for text in self.undo.definitions() {
            // Two who make them at once get in each other's way: what the other has made counts.
            let mut tried = self.ask(&text).await.map(|_| ());
            if tried.is_err() && self.connection.condition().usable {
                tried = self.ask(&text).await.map(|_| ());
            }
            tried?;
        }
        Ok(())
    }

    /// Finds out what a table is like.
    ///
    /// # Errors
    /// `UnknownTable`; `Refused` when changes of its rows could not be taken back: [`Table::of`].
    pub async fn table(&mut self, name: &TableName) -> Result<Table> {
        let schema = name.schema.as_deref();
        let columns = self.dialect.columns_query(schema, &name.name);
        let facts = self.undo.facts_query(schema, &name.name);
        for text in [columns, facts] {
            self.connection.start(Execution::Text(text.into()))?;
        }
        let columns = values(self.connection, OWN_BYTES).await;
        let facts = values(self.connection, OWN_BYTES).await;
        let columns =
            columns?.iter().map(|row| self.dialect.read_column(row)).collect::<Result<_>>()?;
        Table::of(name, columns, &facts?, self.dialect)
    }

    /// How texts for the unit are written.
    pub(crate) fn written(&self) -> Written<'a> {
        Written { values: self.undo, names: self.dialect }
    }

    pub(crate) async fn ask(&mut self, text: &str) -> Result<Answer> {
        ask(self.connection, text, OWN_BYTES).await
    }

    /// What opens a local transaction. A statement that changes anything is not to be under way before the last of these has succeeded, unless the session is
    /// guarded: alone it would be committed alone.
    pub(crate) fn opening(&self, modes: &[&str]) -> Vec<String> {
        let modes: Vec<String> = modes.iter().map(|mode| (*mode).to_owned()).collect();
        let verbs = [TransactionVerb::BeforeBegin(&modes), TransactionVerb::Begin(&modes)];
        let guard = self.undo.guard().map(|(on, _)| on.to_owned());
        guard
            .into_iter()
            .chain(verbs.iter().filter_map(|verb| self.dialect.transaction(verb)))
            .collect()
    }

    /// Queues what opens a local transaction, and tells how many replies belong to that.
    pub(crate) fn begin(&mut self, modes: &[&str]) -> Result<usize> {
        let texts = self.opening(modes);
        for text in &texts {
            self.start(text)?;
        }
        Ok(texts.len())
    }

    /// The same where the server runs nothing of what is started next unless it has opened one.
    pub(crate) fn begin_or_nothing(&mut self, modes: &[&str]) -> Result<usize> {
        let texts = self.opening(modes);
        for text in &texts {
            self.connection.start(Execution::Aside(text.as_str().into()))?;
        }
        Ok(texts.len())
    }

    pub(crate) fn start(&mut self, text: &str) -> Result<()> {
        self.connection.start(Execution::Text(text.into()))
    }

    /// Reads so many replies that must succeed.
    pub(crate) async fn succeed(&mut self, replies: usize) -> Result<()> {
        let mut first = Ok(());
        for _ in 0..replies {
            let told = answer(self.connection, OWN_BYTES).await;
            first = first.and(told.map(|_| ()));
            if !self.connection.condition().usable {
                break;
            }
        }
        first
    }

    /// Runs texts in as few round trips as a connection allows. Result: what each came to, in order; those behind a lost connection are left out.
    pub(crate) async fn together(&mut self, texts: &[&str]) -> Result<Vec<Result<Answer>>> {
        let mut told = Vec::with_capacity(texts.len());
        for chunk in texts.chunks(AT_ONCE) {
            for text in chunk {
                self.start(text)?;
            }
            for _ in chunk {
                told.push(answer(self.connection, OWN_BYTES).await);
                if !self.connection.condition().usable {
                    return Ok(told);
                }
            }
        }
        Ok(told)
    }

    pub(crate) fn verb(&self, verb: &TransactionVerb<'_>) -> String {
        self.dialect.transaction(verb).unwrap_or_default()
    }

    /// Commits, and puts the session back. That is under way before the commit is known: a connection dropped in between is not clean.
    pub(crate) async fn commit(&mut self, after: &[&str]) -> Result<()> {
        let commit = self.verb(&TransactionVerb::Commit);
        let rollback = self.verb(&TransactionVerb::Rollback);
        let mut texts = vec![commit.as_str()];
        if self.undo.guard().is_some() {
            // What puts the session back would commit what a failed COMMIT has left open.
            texts.push(&rollback);
        }
        texts.extend(after);
        texts.extend(self.undo.guard().map(|(_, off)| off));
        self.together(&texts).await?.into_iter().try_for_each(|told| told.map(|_| ()))
    }

    /// Ends the local transaction without its changes, whatever is still to be read.
    pub(crate) async fn abandon(&mut self, after: &[&str]) {
        if drain(self.connection, DRAIN_BYTES).await.is_err() || !self.connection.condition().usable
        {
            return;
        }
        let rollback = self.verb(&TransactionVerb::Rollback);
        let guard = self.undo.guard().map(|(_, off)| off);
        let mut started = 0;
        for text in std::iter::once(rollback.as_str()).chain(after.iter().copied()).chain(guard) {
            started += usize::from(self.start(text).is_ok());
        }
        for _ in 0..started {
            if self.connection.condition().usable {
                drop(finish(self.connection).await);
            }
        }
    }

    pub(crate) fn literal(&self, text: &str) -> String {
        self.dialect.literal(&Value::Text(text.to_owned()))
    }
}

/// Whether two transactions got in each other's way, so that it may go well once more.
pub(crate) fn is_collision(error: &Error) -> bool {
    server(error).is_some_and(|(number, sqlstate)| {
        number == 1213 || number == 0 && matches!(sqlstate, "40001" | "40P01")
    })
}

/// Whether the same may succeed later: nothing is wrong with the data.
pub(crate) fn is_passing(error: &Error) -> bool {
    match server(error) {
        None => !matches!(
            error.kind(),
            ErrorKind::Value(_)
                | ErrorKind::Internal(_)
                | ErrorKind::Memory(_)
                | ErrorKind::TooLarge(_)
                | ErrorKind::TooComplex(_)
        ),
        Some((number, sqlstate)) => {
            matches!(number, 1205 | 1213 | 1317 | 3024 | 1969)
                || matches!(sqlstate.get(..2), Some("40" | "53" | "57" | "58" | "08"))
                || sqlstate == "55P03"
        }
    }
}

/// A server's own error.
#[expect(clippy::wildcard_enum_match_arm, reason = "only servers have numbers")]
pub(crate) fn server_error(error: &Error) -> Option<&ServerError> {
    match error.kind() {
        ErrorKind::Server(server) => Some(server),
        _ => None,
    }
}

/// Its number and SQLSTATE.
pub(crate) fn server(error: &Error) -> Option<(u32, &str)> {
    server_error(error).map(|server| (server.number, server.sqlstate.as_str()))
}
