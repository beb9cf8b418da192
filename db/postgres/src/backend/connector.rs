//! What opens connections to one server, and knows what it called itself.

use std::sync::{Arc, Mutex, PoisonError};

use pando_kernel::runtime::{BoxFuture, SharedRuntime};
use pando_kernel::{Backend, CancelToken, Connector, Dialect, Place, Result};

use super::{Options, cancel, login};
use crate::dialect::Postgres;

/// Opens connections to one PostgreSQL server.
#[derive(Debug)]
pub struct PostgresConnector {
    options: Options,
    version: Mutex<Option<Arc<str>>>,
}

impl PostgresConnector {
    /// A connector for this server; nothing is opened yet.
    pub fn new(options: Options) -> PostgresConnector {
        PostgresConnector { options, version: Mutex::default() }
    }
}

impl Connector for PostgresConnector {
    fn connect<'a>(
        &'a self,
        runtime: &'a SharedRuntime,
    ) -> BoxFuture<'a, Result<Box<dyn Backend>>> {
        Box::pin(async move {
            let (connection, version) = login::connect(&self.options, runtime).await?;
            let mut known = self.version.lock().unwrap_or_else(PoisonError::into_inner);
            if known.as_deref() != version.as_deref() {
                *known = version.map(Arc::from);
            }
            Ok(Box::new(connection) as Box<dyn Backend>)
        })
    }

    fn cancel<'a>(
        &'a self,
        runtime: &'a SharedRuntime,
        token: CancelToken,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(cancel::cancel(&self.options, runtime, token))
    }

    fn dialect(&self) -> Arc<dyn Dialect> {
        Arc::new(Postgres)
    }

    fn place(&self) -> Option<Place> {
        Some(self.options.place())
    }

    fn server_version(&self) -> Option<Arc<str>> {
        self.version.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
