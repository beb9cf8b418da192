//! One listening socket: accepts clients, runs one task for each, and lets them finish when the server stops.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use pando_kernel::session::Peer;
use tokio::net::{TcpListener, TcpSocket, TcpStream, lookup_host};
use tokio::task::{JoinError, JoinHandle, JoinSet};
use tokio::time::{Instant, sleep_until, timeout};

use crate::cores;
use crate::loops::Loops;
use crate::roaming::Roaming;
use crate::stop::Stopping;

/// First pause after a failed accept; it doubles up to [`LONGEST_PAUSE`], because a process out of file descriptors fails at once
/// again and again.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// How long sessions have to say their last words when their statements are ended.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// How sessions end when the server stops.
#[derive(Clone)]
pub(crate) struct Draining {
    /// How long running statements may go on.
    pub(crate) patience: Duration,
    /// Ends the statements that still run, so that their clients hear why.
    pub(crate) end: Arc<dyn Fn() + Send + Sync>,
}

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
                format!(
                    "cannot listen for {name} on `{address}`: {error}; `--{name} ADDRESS` names another, `--{name} off` none"
                ),
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

    /// Accepts until told to stop, and serves on these loops; then waits for the sessions to end by themselves, ends their statements, and cuts off who
    /// does not even hear that.
    pub(crate) fn open<S, F>(
        self,
        serve: S,
        loops: Arc<Loops>,
        stopping: Stopping,
        draining: Draining,
    ) -> JoinHandle<()>
    where
        S: Fn(TcpStream, Peer) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        tokio::spawn(async move {
            let name = self.name;
            let mut sessions = JoinSet::new();
            self.accept(&serve, &loops, &stopping, &mut sessions).await;
            tokio::select! {
                ended = timeout(draining.patience, ended(name, &mut sessions)) => if ended.is_ok() { return },
                () = stopping.hurried() => {}
            }
            tracing::warn!(door = name, left = sessions.len(), "running statements are ended");
            (draining.end)();
            if timeout(LAST_WORDS, ended(name, &mut sessions)).await.is_err() {
                tracing::warn!(door = name, left = sessions.len(), "sessions are cut off");
                sessions.shutdown().await;
            }
        })
    }

    async fn accept<S, F>(
        self,
        serve: &S,
        loops: &Loops,
        stopping: &Stopping,
        sessions: &mut JoinSet<Option<Roaming>>,
    ) where
        S: Fn(TcpStream, Peer) -> F + Clone + Send + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let (mut pause, mut next) = (FIRST_PAUSE, Instant::now());
        loop {
            // Sessions go on while accepting pauses.
            let accept = async {
                sleep_until(next).await;
                self.listener.accept().await
            };
            tokio::select! {
                () = stopping.told() => return,
                Some(ended) = sessions.join_next(), if !sessions.is_empty() => {
                    go_on(self.name, ended, sessions);
                }
                accepted = accept => match accepted {
                    Ok((stream, peer)) => {
                        pause = FIRST_PAUSE;
                        let place = loops.place(cores::arrival(&stream));
                        let prepared = crate::runtime::prepare(&stream).and_then(|()| stream.into_std());
                        match (prepared, place) {
                            (Ok(stream), Some(place)) => {
                                let session = session(stream, peer.ip().to_string().into(), serve.clone());
                                go_on(self.name, Ok(Some(Roaming::new(session, place))), sessions);
                            }
                            (prepared, _) => {
                                let error = prepared.err();
                                tracing::debug!(door = self.name, %peer, ?error, "client is gone");
                            }
                        }
                    }
                    Err(error) => {
                        tracing::warn!(door = self.name, %error, "a client cannot be accepted");
                        next = Instant::now() + pause;
                        pause = (pause * 2).min(LONGEST_PAUSE);
                    }
                }
            }
        }
    }
}

/// One client, on the loop that calls.
async fn session<F: Future<Output = ()>>(
    stream: std::net::TcpStream,
    peer: Peer,
    serve: impl FnOnce(TcpStream, Peer) -> F,
) {
    match TcpStream::from_std(stream) {
        Ok(stream) => serve(stream, peer).await,
        Err(error) => tracing::warn!(peer.host, %error, "a client cannot be served"),
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

/// Completes when all sessions are over. May be dropped at any time.
async fn ended(name: &'static str, sessions: &mut JoinSet<Option<Roaming>>) {
    while let Some(ended) = sessions.join_next().await {
        go_on(name, ended, sessions);
    }
}

/// A session that comes to a loop, or has left one: for another, for good, or broken.
fn go_on(
    door: &'static str,
    session: Result<Option<Roaming>, JoinError>,
    sessions: &mut JoinSet<Option<Roaming>>,
) {
    match session {
        Ok(Some(session)) => {
            if let Some(handle) = session.handle() {
                sessions.spawn_on(session, &handle);
            }
        }
        Err(error) if error.is_panic() => {
            tracing::error!(door, %error, "a session broke; the others go on");
        }
        Ok(None) | Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::loops;
    use crate::roaming::Client;
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

    fn draining(seconds: u64) -> Draining {
        Draining { patience: Duration::from_secs(seconds), end: Arc::new(|| {}) }
    }

    fn open(listening: Listening, stopping: Stopping, draining: Draining) -> JoinHandle<()> {
        let loops = Arc::new(Loops::start(1).unwrap());
        listening.open(|stream, _| echo(stream), loops, stopping, draining)
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
        let door = open(listening, stopping, draining(9));
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
        let door = open(listening, stopping, draining(0));
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

    /// Answers each byte with the number of the loop it is on.
    async fn tell_where(stream: TcpStream) {
        let mut client = Client::new(stream);
        while client.read_u8().await.is_ok() {
            let number = u8::try_from(loops::current()).unwrap();
            client.write_all(&[number]).await.unwrap();
        }
    }

    /// A client whose thread moves to another core, and what it is told before and at last.
    fn wander(address: SocketAddr, from: usize, to: usize) -> (u8, u8) {
        use std::io::{Read, Write};
        cores::stay_on(from).unwrap();
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let mut ask = || {
            let mut number = [0];
            stream.write_all(b"?").unwrap();
            stream.read_exact(&mut number).unwrap();
            number[0]
        };
        let first = ask();
        cores::stay_on(to).unwrap();
        (first, (0..100).map(|_| ask()).last().unwrap())
    }

    #[tokio::test]
    async fn a_session_goes_where_its_client_goes_and_ends_with_its_door() {
        let loops = Arc::new(Loops::start(0).unwrap());
        let cores = cores::allowed();
        // One core has nowhere to go, and shares of cores no place of their own.
        let [first, .., last] = cores[..] else { return };
        if std::thread::available_parallelism().unwrap().get() != cores.len() {
            return;
        }
        let listening = Listening::bind("test", "127.0.0.1:0", 16).await.unwrap();
        let address = listening.address();
        let (stop, stopping) = Stop::new();
        let serve = |stream, _| tell_where(stream);
        let door = listening.open(serve, loops, stopping, draining(9));
        let told = tokio::task::spawn_blocking(move || wander(address, first, last));
        assert_eq!(told.await.unwrap(), (1, u8::try_from(cores.len()).unwrap()));
        stop.now();
        door.await.unwrap();
    }
}
