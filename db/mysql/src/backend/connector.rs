//! What opens connections to one server, and knows what it called itself.

use std::sync::{Arc, Mutex, PoisonError};

use pando_kernel::backend::{Backend, CancelToken, Connector, Execution};
use pando_kernel::dialect::Dialect;
use pando_kernel::runtime::{BoxFuture, SharedRuntime};
use pando_kernel::{Error, ErrorKind, Event, Result};

use super::{Settings, login};

/// Opens connections to one MySQL or MariaDB server.
#[derive(Debug, Clone)]
pub struct MySqlConnector {
    settings: Arc<Settings>,
    version: Arc<Mutex<Option<Arc<str>>>>,
}

impl MySqlConnector {
    /// A connector with these settings. Nothing is opened yet.
    pub fn new(settings: Settings) -> Self {
        Self { settings: Arc::new(settings), version: Arc::default() }
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
            let mut version = self.version.lock().unwrap_or_else(PoisonError::into_inner);
            if version.as_deref() != Some(connection.version()) {
                *version = Some(connection.version().into());
            }
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

    fn server_version(&self) -> Option<Arc<str>> {
        self.version.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
