//! The kernel's runtime seam on tokio: the only place where engine, pool and databases meet a reactor.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use pando_kernel::runtime::{Address, BoxFuture, Runtime, SharedRuntime, Stream, TlsMode};
use rustix::net::sockopt;
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

/// Makes a socket send at once, and notice within half a minute that the other machine is gone while nothing is under way to it. (What is under way the
/// operating system gives up after its own time, a quarter of an hour by default: a limit for that would end connections whose reader merely pauses.)
///
/// # Errors
/// When the connection is gone already.
pub(crate) fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, Duration::from_secs(15))?;
    sockopt::set_tcp_keepintvl(stream, Duration::from_secs(5))?;
    Ok(sockopt::set_tcp_keepcnt(stream, 3)?)
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
                    prepare(&stream)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn a_machine_that_is_gone_is_noticed() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        prepare(&stream).unwrap();
        assert!(stream.nodelay().unwrap() && sockopt::socket_keepalive(&stream).unwrap());
        let idle = sockopt::tcp_keepidle(&stream).unwrap();
        let probes =
            sockopt::tcp_keepintvl(&stream).unwrap() * sockopt::tcp_keepcnt(&stream).unwrap();
        assert!(idle + probes <= Duration::from_secs(30), "{idle:?} {probes:?}");
    }
}
