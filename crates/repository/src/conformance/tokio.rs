//! The runtime seam on tokio, as far as the tests need it: no TLS.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use pando_kernel::runtime::{Address, BoxFuture, Runtime, SharedRuntime, Stream};
use tokio::runtime::Handle;

/// Sockets, timers and tasks of one tokio runtime.
#[derive(Debug)]
pub struct Tokio(Handle);

impl Tokio {
    /// The seam to this runtime, whose drivers must be enabled.
    pub fn shared(runtime: &tokio::runtime::Runtime) -> SharedRuntime {
        Arc::new(Self(runtime.handle().clone()))
    }
}

impl Tokio {
    /// The seam to the runtime that the caller runs on.
    pub fn current() -> SharedRuntime {
        Arc::new(Self(Handle::current()))
    }
}

impl Runtime for Tokio {
    fn connect<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let Address::Tcp(host, port) = address else {
                return Err(io::ErrorKind::Unsupported.into());
            };
            let stream = tokio::net::TcpStream::connect((host.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(stream) as Box<dyn Stream>)
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let _inside = self.0.enter();
        Box::pin(tokio::time::sleep(duration))
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        drop(self.0.spawn(task));
    }
}
