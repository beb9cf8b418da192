//! What opens connections to one server, and knows what it called itself.

use std::sync::{Arc, Mutex, PoisonError};

use pando_kernel::Result;
use pando_kernel::backend::{Backend, CancelToken, Connector};
use pando_kernel::dialect::Dialect;
use pando_kernel::runtime::{BoxFuture, SharedRuntime};

use super::{Options, cancel, login};

/// Opens connections to one MySQL or MariaDB server.
#[derive(Debug, Clone)]
pub struct MySqlConnector {
    options: Arc<Options>,
    version: Arc<Mutex<Option<Arc<str>>>>,
}

impl MySqlConnector {
    /// A connector with these settings. Nothing is opened yet.
    pub fn new(options: Options) -> Self {
        Self { options: Arc::new(options), version: Arc::default() }
    }
}

impl Connector for MySqlConnector {
    fn connect<'a>(
        &'a self,
        runtime: &'a SharedRuntime,
    ) -> BoxFuture<'a, Result<Box<dyn Backend>>> {
        Box::pin(async move {
            let connection = login::connect(&self.options, runtime).await?;
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
        Box::pin(cancel::cancel(self, runtime, token))
    }

    fn dialect(&self) -> Arc<dyn Dialect> {
        Arc::new(crate::dialect::MySql)
    }

    fn server_version(&self) -> Option<Arc<str>> {
        self.version.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
