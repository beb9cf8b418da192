//! Opening connections to one SQLite database, and cancelling what they run.

use std::collections::HashMap;
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use pando_kernel::runtime::{BoxFuture, SharedRuntime};
use pando_kernel::{Backend, CancelToken, Connector, Dialect, Result};

use crate::backend::SqliteBackend;
use crate::dialect::SqliteDialect;
use crate::error::unavailable;
use crate::line::Line;
use crate::worker;

/// Numbers the databases that live in memory: each connector has its own.
static MEMORIES: AtomicU64 = AtomicU64::new(0);

/// Connects to the database in this file, which is created when it is not there. `:memory:` is a database that all connections of this connector
/// share and that ends with it; `file:` URIs and a `jdbc:sqlite:` prefix are understood.
///
/// # Example
/// ```
/// # use pando_fake::FakeRuntime;
/// # use pando_kernel::{Backend, Connector, Execution};
/// let runtime = FakeRuntime::new();
/// let connector = pando_sqlite::connector(":memory:");
/// let mut backend = runtime.block_on(connector.connect(&runtime.handle()))?;
/// backend.start(Execution::Text("CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB".into()))?;
/// # Ok::<(), pando_kernel::Error>(())
/// ```
pub fn connector(path: &str) -> SqliteConnector {
    let path = path.strip_prefix("jdbc:").unwrap_or(path);
    let path = path.strip_prefix("sqlite:").unwrap_or(path);
    let (path, memory) = match path {
        "" | ":memory:" => {
            let number = MEMORIES.fetch_add(1, Ordering::Relaxed);
            (format!("file:/pando-{number}?vfs=memdb"), true)
        }
        path => (path.to_owned(), false),
    };
    SqliteConnector {
        path: path.into(),
        memory,
        numbers: AtomicU64::new(0),
        open: Mutex::default(),
        anchor: Mutex::new(None),
    }
}

/// Opens connections to one SQLite database; made by [`connector`]. Each connection has a thread of its own.
pub struct SqliteConnector {
    path: Arc<str>,
    memory: bool,
    numbers: AtomicU64,
    /// The connections by their number, for cancel requests.
    open: Mutex<HashMap<u64, Weak<Line>>>,
    /// Keeps a database in memory alive between connections.
    anchor: Mutex<Option<rusqlite::Connection>>,
}

impl SqliteConnector {
    fn lines(&self) -> MutexGuard<'_, HashMap<u64, Weak<Line>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn register(&self, number: u64, line: &Arc<Line>) {
        let mut lines = self.lines();
        lines.retain(|_, line| line.strong_count() > 0);
        lines.insert(number, Arc::downgrade(line));
    }

    fn hold_memory(&self) -> Result<()> {
        if !self.memory {
            return Ok(());
        }
        let mut anchor = self.anchor.lock().unwrap_or_else(PoisonError::into_inner);
        if anchor.is_none() {
            let opened = rusqlite::Connection::open(&*self.path);
            *anchor = Some(opened.map_err(|e| unavailable(&self.path, e.to_string()))?);
        }
        Ok(())
    }
}

impl fmt::Debug for SqliteConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteConnector").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Connector for SqliteConnector {
    fn connect<'a>(
        &'a self,
        runtime: &'a SharedRuntime,
    ) -> BoxFuture<'a, Result<Box<dyn Backend>>> {
        Box::pin(async move {
            self.hold_memory()?;
            let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
            let line = Arc::new(Line::default());
            self.register(number, &line);
            // A thread inherits its maker's core and policy: not those of who happens to need a connection.
            let (path, own) = (Arc::clone(&self.path), Arc::clone(&line));
            runtime.spawn(Box::pin(async move { worker::spawn(&path, number, own) }));
            let mut backend = SqliteBackend::new(Arc::clone(&self.path), number, line);
            poll_fn(|cx| backend.poll_open(cx)).await?;
            Ok(Box::new(backend) as Box<dyn Backend>)
        })
    }

    fn cancel<'a>(
        &'a self,
        _runtime: &'a SharedRuntime,
        token: CancelToken,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let line = self.lines().get(&token.id).and_then(Weak::upgrade);
            if let Some(line) = line {
                line.cancel();
            }
            Ok(())
        })
    }

    fn dialect(&self) -> Arc<dyn Dialect> {
        Arc::new(SqliteDialect::default())
    }
}
