//! The connection to a MySQL or MariaDB storage unit.

mod connection;
mod job;
mod lifted;
mod login;
mod old_names;
mod reply;
mod reset;
mod statements;
mod whole;
mod wire;

use std::sync::Arc;

use pando_kernel::backend::{Backend, CancelToken, Connector, Execution};
use pando_kernel::dialect::Dialect;
use pando_kernel::runtime::{Address, BoxFuture, SharedRuntime, TlsMode};
use pando_kernel::{Error, ErrorKind, Event, Lists, Result};

/// Where a storage unit is and how to log in.
#[derive(Clone)]
pub struct Settings {
    /// The storage unit's name, for messages.
    pub unit: Arc<str>,
    /// Where its server listens.
    pub address: Address,
    /// Whether and how the connection is secured.
    pub tls: TlsMode,
    /// Path of a PEM file with the authorities to trust.
    pub authority: Option<String>,
    /// User name.
    pub user: String,
    /// Password; empty for none.
    pub password: String,
    /// The database every connection uses; empty for none.
    pub database: String,
    /// What the affected count of an UPDATE means.
    pub count: Count,
    /// Prepared statements kept open per connection; the least recently used one is closed beyond that.
    pub statements: usize,
    /// Largest packet taken from the server, in bytes. A larger row costs the connection.
    pub max_packet: usize,
    /// What its connections know together of the columns of results.
    pub lists: Arc<Lists>,
}

/// What the affected count of an UPDATE means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Count {
    /// Rows that really changed.
    #[default]
    Changed,
    /// Rows the condition matched.
    Found,
}

impl Settings {
    /// Settings for a server at `address`, without TLS, user, password or database, and with the usual bounds.
    pub fn new(unit: &str, address: Address) -> Self {
        Self {
            unit: unit.into(),
            address,
            tls: TlsMode::Off,
            authority: None,
            user: String::new(),
            password: String::new(),
            database: String::new(),
            count: Count::Changed,
            statements: 100,
            max_packet: 64 << 20,
            lists: Arc::default(),
        }
    }

    fn unavailable(&self, message: impl ToString) -> Error {
        unavailable(&self.unit, message)
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("unit", &self.unit)
            .field("address", &self.address)
            .field("user", &self.user)
            .field("database", &self.database)
            .finish_non_exhaustive()
    }
}

fn unavailable(unit: &str, message: impl ToString) -> Error {
    Error::new(ErrorKind::Unavailable { unit: unit.to_owned(), message: message.to_string() })
}

/// Opens connections to one MySQL or MariaDB server.
#[derive(Debug, Clone)]
pub struct MySqlConnector {
    settings: Arc<Settings>,
}

impl MySqlConnector {
    /// A connector with these settings. Nothing is opened yet.
    pub fn new(settings: Settings) -> Self {
        Self { settings: Arc::new(settings) }
    }

    async fn kill(&self, runtime: &SharedRuntime, id: u64) -> Result<()> {
        let mut connection = self.connect(runtime).await?;
        connection.start(Execution::Text(format!("KILL QUERY {id}").into()))?;
        loop {
            match std::future::poll_fn(|cx| connection.poll_event(cx)).await {
                Ok(Event::Done) => return Ok(()),
                Ok(_) => {}
                // The statement, or its whole connection, ended in the meantime.
                Err(error) if is_gone(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}

/// `ER_NO_SUCH_THREAD`.
fn is_gone(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Server(server) if server.number == 1094)
}

impl Connector for MySqlConnector {
    fn connect<'a>(
        &'a self,
        runtime: &'a SharedRuntime,
    ) -> BoxFuture<'a, Result<Box<dyn Backend>>> {
        Box::pin(async move {
            let connection = login::connect(&self.settings, runtime).await?;
            Ok(Box::new(connection) as Box<dyn Backend>)
        })
    }

    fn cancel<'a>(
        &'a self,
        runtime: &'a SharedRuntime,
        token: CancelToken,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.kill(runtime, token.id))
    }

    fn dialect(&self) -> Arc<dyn Dialect> {
        Arc::new(crate::dialect::MySql)
    }
}
