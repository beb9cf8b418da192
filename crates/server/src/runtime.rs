//! The kernel's runtime seam on tokio: the only place where engine, pool and databases meet a reactor.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use pando_kernel::runtime::{Address, BoxFuture, Near, Runtime, SharedRuntime, Stream};
use pando_kernel::{ClientTls, Secured};
use rustix::net::sockopt;
use tokio::net::{TcpStream, UnixStream};
use tokio::runtime::Handle;

use crate::homed::Homed;
use crate::loops;
use crate::roaming;
use crate::tls::Client;

/// Sockets, timers and tasks of one tokio runtime, and the client side of TLS. What a session asks for belongs to its event loop, but for tasks: those go on without it.
#[derive(Debug)]
pub struct TokioRuntime {
    handle: Handle,
    tls: Client,
    near: Near,
}

impl TokioRuntime {
    /// The seam to the runtime behind `handle`. It must have its I/O and time drivers enabled.
    pub fn shared(handle: Handle) -> SharedRuntime {
        Arc::new(Self { handle, tls: Client::default(), near: Near::default() })
    }
}

/// Makes a socket send at once, and notice within half a minute that the other machine is gone while nothing is under way to it. (What is under way the
/// operating system gives up after its own time, a quarter of an hour by default: a limit for that would end connections whose reader merely pauses.)
///
/// # Errors
/// When the connection is gone already.
pub fn prepare(stream: &impl AsFd) -> io::Result<()> {
    sockopt::set_tcp_nodelay(stream, true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, Duration::from_secs(15))?;
    sockopt::set_tcp_keepintvl(stream, Duration::from_secs(5))?;
    Ok(sockopt::set_tcp_keepcnt(stream, 3)?)
}

impl Runtime for TokioRuntime {
    fn connect<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        let near = self.near.clone();
        Box::pin(async move {
            // A session that moves meanwhile leaves the socket with the reactor it began on, or not: then nobody's, it goes with the next who sends.
            let begun = loops::current();
            let home = || if loops::current() == begun { begun } else { 0 };
            match address {
                Address::Tcp(host, port) => {
                    let stream = TcpStream::connect((host.as_str(), *port)).await?;
                    prepare(&stream)?;
                    Ok(Box::new(Homed::new(stream, home(), near)) as Box<dyn Stream>)
                }
                Address::Unix(path) => {
                    let stream = UnixStream::connect(path).await?;
                    Ok(Box::new(Homed::new(stream, home(), near)) as Box<dyn Stream>)
                }
            }
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        // A loop has timers of its own; a caller outside of all gets one of this runtime's.
        let _inside = (loops::current() == 0).then(|| self.handle.enter());
        Box::pin(tokio::time::sleep(duration))
    }

    /// Beside the event loops: what is spawned may start threads, which would stay on a loop's core, and go on after its session.
    fn spawn(&self, task: BoxFuture<'static, ()>) {
        drop(self.handle.spawn(task));
    }

    fn event_loop(&self) -> usize {
        loops::current()
    }

    fn steps_aside(&self) -> bool {
        roaming::steps_aside()
    }

    fn comes_back(&self) {
        roaming::comes_back();
    }

    fn telling(&self, near: &Near) -> Option<SharedRuntime> {
        let (handle, tls) = (self.handle.clone(), self.tls.clone());
        Some(Arc::new(Self { handle, tls, near: near.clone() }))
    }

    fn secure<'a>(
        &'a self,
        stream: Box<dyn Stream>,
        host: &'a str,
        tls: &'a ClientTls,
    ) -> BoxFuture<'a, io::Result<Secured>> {
        Box::pin(self.tls.secure(stream, host, tls))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_session_spawns_runs_beside_the_loops_on_all_cores() {
        let own = crate::cores::allowed();
        let runtime = TokioRuntime::shared(Handle::current());
        let (tell, told) = tokio::sync::oneshot::channel();
        let session = async move {
            runtime.spawn(Box::pin(async move {
                drop(tell.send((loops::current(), crate::cores::allowed())));
            }));
        };
        let loops = crate::loops::Loops::start(0).unwrap();
        loops.place(None).unwrap().handle().unwrap().spawn(session).await.unwrap();
        assert_eq!(told.await.unwrap(), (0, own));
    }

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
