//! Keeping a session: connects to one server after the other, takes the session up again, begins another when it has expired.

use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use pando_kernel::ClientTls;
use pando_kernel::runtime::{Address, TlsMode, within};
use pando_repository::Speaker;
use tokio::sync::{mpsc, watch};

use crate::connection::{Connection, Context, read_frame, serve, write_frame};
use crate::link::{Broken, Call, Link, MAX_QUEUED};
use crate::options::{Options, Server};
use crate::wire::{self, Kind, Op, Reader, Step, code};

/// Between two rounds over the servers.
const PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The background task of one instance; it ends with the receiving end of `links`.
pub(crate) struct Keeper {
    pub(crate) context: Arc<Context>,
    pub(crate) options: Options,
    pub(crate) speaker: Speaker,
    pub(crate) links: watch::Sender<Option<Link>>,
}

/// 0 stands for none yet.
#[derive(Default)]
struct Identity {
    session: i64,
    password: Bytes,
}

impl Keeper {
    pub(crate) async fn run(self) {
        let mut identity = Identity::default();
        let (mut pause, mut failures) = (PAUSE, 0);
        // Instances that start together need not all begin with the same server.
        let mut turn = std::process::id() as usize;
        while !self.links.is_closed() {
            let server = &self.options.servers[turn % self.options.servers.len()];
            turn += 1;
            let mut gone = pin!(self.links.closed());
            let mut work = pin!(self.connect(server, &mut identity));
            let ended = poll_fn(|cx| match gone.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(None),
                Poll::Pending => work.as_mut().poll(cx).map(Some),
            });
            let Some((stood, why)) = ended.await else { return };
            self.links.send_replace(None);
            self.speaker.lost();
            tracing::warn!(host = %server.host, port = server.port, error = %why, "no connection to ZooKeeper");
            if stood {
                (pause, failures) = (PAUSE, 0);
            }
            failures += 1;
            if failures % self.options.servers.len() == 0 {
                self.context.runtime.sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }

    /// One connection from its beginning to its end: whether it stood, and why it ended.
    async fn connect(&self, server: &Server, identity: &mut Identity) -> (bool, io::Error) {
        let limit = self.options.session_timeout / 3;
        let opened = within(&*self.context.runtime, limit, self.open(server, identity)).await;
        let connection = match opened {
            Some(Ok(connection)) => connection,
            Some(Err(e)) => return (false, e),
            None => return (false, io::ErrorKind::TimedOut.into()),
        };
        let (calls, queue) = mpsc::channel(MAX_QUEUED);
        let link = Link { calls, session: identity.session };
        let mut stood = false;
        let mut serving = pin!(serve(connection, &self.context, queue));
        let prepared = {
            let mut preparing = pin!(self.prepare(&link));
            poll_fn(|cx| match serving.as_mut().poll(cx) {
                Poll::Ready(e) => Poll::Ready(Err(e)),
                Poll::Pending => preparing.as_mut().poll(cx),
            })
            .await
        };
        if let Err(e) = prepared {
            return (stood, e);
        }
        stood = true;
        let view = self.speaker.last();
        if view.number == 0 || view.state == pando_repository::SessionState::Expired {
            self.speaker.begun();
        } else {
            self.speaker.regained();
        }
        self.links.send_replace(Some(link));
        // What happened while there was no watch is not known.
        self.context.watchers.all_changed();
        (stood, serving.await)
    }

    /// Connects and takes the session up, or begins one; the login goes before everything else.
    async fn open(&self, server: &Server, identity: &mut Identity) -> io::Result<Connection> {
        let runtime = &self.context.runtime;
        let address = Address::Tcp(server.host.clone(), server.port);
        let mut stream = runtime.connect(&address).await?;
        if self.options.tls != TlsMode::Off {
            let authority = self.options.authority.clone();
            let tls = ClientTls { mode: self.options.tls, authority, identity: None };
            stream = runtime.secure(stream, &server.host, &tls).await?.stream;
        }
        let (mut input, mut output) = tokio::io::split(stream);
        let mut buffer = BytesMut::new();
        let wanted = i32::try_from(self.options.session_timeout.as_millis()).unwrap_or(i32::MAX);
        let none = [0; 16];
        let password = if identity.session == 0 { &none[..] } else { &identity.password };
        let zxid = self.context.zxid.load(Ordering::Relaxed);
        let hello = wire::connect(zxid, wanted, identity.session, password);
        write_frame(&mut output, &hello).await?;
        let mut reader = Reader(read_frame(&mut input, &mut buffer).await?);
        let mut granted = || {
            let (_, timeout, session) = (reader.int()?, reader.int()?, reader.long()?);
            Some((timeout, session, reader.buffer()??))
        };
        let odd = || io::Error::new(io::ErrorKind::InvalidData, "an odd answer to the greeting");
        let (timeout, session, password) = granted().ok_or_else(odd)?;
        let Some(timeout) = u64::try_from(timeout).ok().filter(|timeout| *timeout > 0) else {
            self.forget(identity);
            return Err(io::Error::new(io::ErrorKind::NotFound, "the session has expired"));
        };
        *identity = Identity { session, password };
        if let Some(digest) = &self.options.digest {
            write_frame(&mut output, &wire::auth(digest)).await?;
        }
        Ok(Connection { input, output, buffer, timeout: Duration::from_millis(timeout) })
    }

    fn forget(&self, identity: &mut Identity) {
        *identity = Identity::default();
        self.speaker.expired();
        self.context.watchers.all_changed();
    }

    /// Sets the watch and makes the namespace's node where it is missing.
    async fn prepare(&self, link: &Link) -> io::Result<()> {
        let root = &self.context.root;
        let broken = |why: Broken| io::Error::other(format!("{why:?}"));
        let refused = |what: &str, error| io::Error::other(format!("{what}: error {error}"));
        let watched = link.call(Op::AddWatch { path: root.clone() }).await.map_err(broken)?;
        if watched.error != 0 {
            return Err(refused("the watch is refused (it needs ZooKeeper 3.6)", watched.error));
        }
        let found = link.call(Op::Exists { path: root.clone() }).await.map_err(broken)?;
        if found.error == 0 {
            return Ok(());
        }
        let ends = root.match_indices('/').map(|(at, _)| at).skip(1).chain([root.len()]);
        for end in ends {
            let path = root[..end].to_owned();
            let step = Step::Create { path, data: None, kind: Kind::Persistent };
            let made = link.call(Op::Multi(vec![step])).await.map_err(broken)?;
            let mut body = made.body;
            let error = if made.error != 0 { made.error } else { body.multi().unwrap_or(-5) };
            if error != 0 && error != code::NODE_EXISTS {
                return Err(refused("the namespace cannot be made", error));
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.op.fmt(f)
    }
}
