//! One listening socket: accepts clients, runs one task for each, and lets them finish when the server stops.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream, lookup_host};
use tokio::task::{JoinError, JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use crate::stop::Stopping;

/// First pause after a failed accept; it doubles up to [`LONGEST_PAUSE`], because a process out of file descriptors fails at once
/// again and again.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A socket that listens and whose clients are not accepted yet.
#[derive(Debug)]
pub(crate) struct Listening {
    name: &'static str,
    listener: TcpListener,
    address: SocketAddr,
}

impl Listening {
    /// Binds the first address `address` (`host:port`, port 0 for any) stands for.
    ///
    /// # Errors
    /// When the address cannot be resolved or bound; the message names door and address.
    pub(crate) async fn bind(name: &'static str, address: &str, backlog: u32) -> io::Result<Self> {
        let named = |error: io::Error| {
            io::Error::new(
                error.kind(),
                format!("cannot listen for {name} on `{address}`: {error}"),
            )
        };
        if !is_address(address) {
            let expected = "expected `HOST:PORT`, as `127.0.0.1:3306` or `0.0.0.0:3306`";
            return Err(named(io::Error::new(io::ErrorKind::InvalidInput, expected)));
        }
        let found = lookup_host(address).await.map_err(named)?.next();
        let wanted = found.ok_or_else(|| {
            named(io::Error::new(io::ErrorKind::NotFound, "the name stands for no address"))
        })?;
        let listener = listen(wanted, backlog).map_err(named)?;
        let address = listener.local_addr().map_err(named)?;
        Ok(Self { name, listener, address })
    }

    /// The address really bound.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts until told to stop; then waits `drain` for the sessions to end and cuts off the rest.
    pub(crate) fn open<S, F>(self, serve: S, stopping: Stopping, drain: Duration) -> JoinHandle<()>
    where
        S: Fn(TcpStream, SocketAddr) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        tokio::spawn(async move {
            let name = self.name;
            let mut sessions = JoinSet::new();
            self.accept(&serve, &stopping, &mut sessions).await;
            let all = async { while sessions.join_next().await.is_some() {} };
            if timeout(drain, all).await.is_err() {
                tracing::warn!(door = name, left = sessions.len(), "sessions are cut off");
                sessions.shutdown().await;
            }
        })
    }

    async fn accept<S, F>(self, serve: &S, stopping: &Stopping, sessions: &mut JoinSet<()>)
    where
        S: Fn(TcpStream, SocketAddr) -> F,
        F: Future<Output = ()> + Send + 'static,
    {
        let mut pause = FIRST_PAUSE;
        loop {
            tokio::select! {
                () = stopping.told() => return,
                Some(ended) = sessions.join_next(), if !sessions.is_empty() => {
                    report(self.name, ended);
                }
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, peer)) => {
                        pause = FIRST_PAUSE;
                        if let Err(error) = crate::runtime::prepare(&stream) {
                            tracing::debug!(door = self.name, %peer, %error, "client is gone");
                            continue;
                        }
                        sessions.spawn(serve(stream, peer));
                    }
                    Err(error) => {
                        tracing::warn!(door = self.name, %error, "a client cannot be accepted");
                        sleep(pause).await;
                        pause = (pause * 2).min(LONGEST_PAUSE);
                    }
                }
            }
        }
    }
}

fn is_address(text: &str) -> bool {
    let parts = text.rsplit_once(':');
    parts.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

fn listen(address: SocketAddr, backlog: u32) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A restarted server gets its port back although old connections still linger in the kernel.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(backlog)
}

fn report(door: &'static str, ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(door, %error, "a session broke; the others go on");
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::stop::Stop;

    async fn echo(mut stream: TcpStream) {
        let mut byte = [0];
        while stream.read_exact(&mut byte).await.is_ok() {
            assert_ne!(byte, [b'!'], "asked to break");
            if stream.write_all(&byte).await.is_err() {
                return;
            }
        }
    }

    async fn ask(address: SocketAddr, byte: u8) -> io::Result<u8> {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(&[byte]).await?;
        stream.read_u8().await
    }

    #[tokio::test]
    async fn a_broken_session_does_not_end_the_door_and_stopping_closes_it() {
        let listening = Listening::bind("test", "127.0.0.1:0", 16).await.unwrap();
        let address = listening.address();
        let (stop, stopping) = Stop::new();
        let door = listening.open(|stream, _| echo(stream), stopping, Duration::from_secs(9));
        assert_eq!(ask(address, b'a').await.unwrap(), b'a');
        assert!(ask(address, b'!').await.is_err());
        assert_eq!(ask(address, b'b').await.unwrap(), b'b');
        stop.now();
        door.await.unwrap();
        assert!(ask(address, b'c').await.is_err());
    }

    #[tokio::test]
    async fn a_session_that_does_not_end_is_cut_off_after_the_drain() {
        let listening = Listening::bind("test", "127.0.0.1:0", 16).await.unwrap();
        let address = listening.address();
        let (stop, stopping) = Stop::new();
        let door = listening.open(|stream, _| echo(stream), stopping, Duration::ZERO);
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"a").await.unwrap();
        assert_eq!(stream.read_u8().await.unwrap(), b'a');
        stop.now();
        door.await.unwrap();
        assert!(stream.read_u8().await.is_err());
    }

    #[tokio::test]
    async fn an_address_that_cannot_be_bound_is_named() {
        let taken = Listening::bind("mysql", "127.0.0.1:0", 16).await.unwrap();
        let address = taken.address().to_string();
        let error = Listening::bind("mysql", &address, 16).await.unwrap_err().to_string();
        assert!(error.contains(&address) && error.contains("mysql"), "{error}");
        for short in ["3306", ":3306", "localhost", "127.0.0.1:99999"] {
            let error = Listening::bind("mysql", short, 16).await.unwrap_err().to_string();
            assert!(error.contains("HOST:PORT"), "{short}: {error}");
        }
    }
}
