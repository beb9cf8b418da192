//! The kernel's runtime seam on tokio: the only place where engine, pool and databases meet a reactor.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use pando_kernel::runtime::{Address, BoxFuture, Runtime, SharedRuntime, Stream, TlsMode};
use tokio::net::{TcpStream, UnixStream};
use tokio::runtime::Handle;

use crate::tls::Client;

/// Sockets, timers and tasks of one tokio runtime, and the client side of TLS.
#[derive(Debug)]
pub struct TokioRuntime {
    handle: Handle,
    tls: Client,
}

impl TokioRuntime {
    /// The seam to the runtime behind `handle`. It must have its I/O and time drivers enabled.
    pub fn shared(handle: Handle) -> SharedRuntime {
        Arc::new(Self { handle, tls: Client::default() })
    }
}

impl Runtime for TokioRuntime {
    fn connect<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            match address {
                Address::Tcp(host, port) => {
                    let stream = {
                        // A caller outside the runtime's threads still gets a socket of this runtime's reactor.
                        let _inside = self.handle.enter();
                        TcpStream::connect((host.as_str(), *port))
                    }
                    .await?;
                    stream.set_nodelay(true)?;
                    Ok(Box::new(stream) as Box<dyn Stream>)
                }
                Address::Unix(path) => {
                    Ok(Box::new(UnixStream::connect(path).await?) as Box<dyn Stream>)
                }
            }
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let _inside = self.handle.enter();
        Box::pin(tokio::time::sleep(duration))
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        drop(self.handle.spawn(task));
    }

    fn secure<'a>(
        &'a self,
        stream: Box<dyn Stream>,
        host: &'a str,
        mode: TlsMode,
        authority: Option<&'a str>,
    ) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(self.tls.secure(stream, host, mode, authority))
    }
}
