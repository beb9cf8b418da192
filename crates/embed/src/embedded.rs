//! The engine in an application's process.

use std::io;
use std::os::unix::net::UnixStream;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use pando_config::global::Protocol;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::session::Peer;
use pando_server::{ComputeNode, Options};

use crate::channel::Channel;
use crate::pair::{Workers, pair};
use crate::pipe::{Pipe, SessionEnd};
use crate::reactor::Reactor;
use crate::runtime::{Polled, block_on};
use crate::session::Session;

/// What sessions call their client.
const HOST: &str = "localhost";

/// Engine, governor, health, recovery: everything of a server but its listeners. Background work is done by one thread.
///
/// Dropping it ends its sessions, and says good-bye to the other instances of the cluster.
#[derive(Debug)]
pub struct Embedded {
    node: Mutex<Option<Arc<ComputeNode>>>,
    reactor: Arc<Reactor>,
    thread: Mutex<Option<JoinHandle<()>>>,
    workers: Workers,
    /// The process that it was opened in.
    process: u32,
}

/// Waits for a thread, unless it is the caller.
pub(crate) fn join(thread: JoinHandle<()>) {
    if thread.thread().id() != thread::current().id() && thread.join().is_err() {
        tracing::error!("a thread of the engine broke");
    }
}

/// What other instances call this machine.
fn machine() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn failed(error: io::Error) -> Error {
    Error::new(ErrorKind::Configuration(format!("the engine cannot begin: {error}")))
}

impl Embedded {
    pub(crate) fn start(options: Options) -> Result<Self> {
        let (reactor, thread) = Reactor::start("pando-background").map_err(failed)?;
        let own = Self {
            node: Mutex::default(),
            reactor,
            thread: Mutex::new(Some(thread)),
            workers: Workers::default(),
            process: process::id(),
        };
        let runtime = Polled::shared(&own.reactor);
        let node = block_on(async {
            let node = ComputeNode::start(options, runtime).await?;
            // It has no port.
            node.joins(&machine(), 0).await;
            Ok::<_, Error>(node)
        });
        let node = node.map_err(failed)??;
        *own.node.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(node));
        Ok(own)
    }

    fn node(&self) -> io::Result<Arc<ComputeNode>> {
        if process::id() != self.process {
            let why = "the engine was opened before fork(2), and its threads are not in this process: open it here";
            return Err(io::Error::other(why));
        }
        let node = self.node.lock().unwrap_or_else(PoisonError::into_inner);
        node.clone()
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotConnected, "the engine is closed"))
    }

    /// A new connection in this protocol; the client begins with its login, and any user name and password are right.
    ///
    /// # Errors
    /// When the engine is closed, or this process is a fork of the one that has opened it.
    pub fn connect(&self, protocol: Protocol) -> io::Result<Channel> {
        let (node, pipe) = (self.node()?, Arc::<Pipe>::default());
        let stream = Box::new(SessionEnd(Arc::clone(&pipe)));
        let session = node.serve(protocol, stream, Peer::from(HOST));
        Ok(Channel::new(Session::new(pipe, session)))
    }

    /// The same behind a connected socket, for drivers that want a file descriptor: a thread of the engine's own serves it.
    ///
    /// # Errors
    /// As [`Embedded::connect`]; when the process may have no more files or threads.
    pub fn socket(&self, protocol: Protocol) -> io::Result<UnixStream> {
        let (node, worker) = (self.node()?, self.workers.next()?);
        let (own, other) = pair(&worker)?;
        let session = node.serve(protocol, Box::new(own), Peer::from(HOST));
        worker.tasks().spawn(&worker, session);
        Ok(other)
    }

    /// Whether it is this process's, and not closed.
    pub(crate) fn is_open(&self) -> bool {
        self.node().is_ok()
    }

    /// The name of the configuration's first database, for clients that name none.
    ///
    /// # Errors
    /// As [`Embedded::connect`].
    pub fn first_database(&self) -> io::Result<Option<String>> {
        Ok(self.node()?.first_database())
    }

    /// The protocol of a database's storage units, which its clients had best speak; the first database's where none is named. `None` where there is no
    /// such database.
    ///
    /// # Errors
    /// As [`Embedded::connect`].
    pub fn protocol(&self, database: Option<&str>) -> io::Result<Option<Protocol>> {
        Ok(self.node()?.protocol(database))
    }

    /// Open sessions.
    ///
    /// # Errors
    /// As [`Embedded::connect`].
    pub fn sessions(&self) -> io::Result<usize> {
        Ok(self.node()?.sessions())
    }

    /// Ends sessions and background work. Later calls are told that it is closed.
    pub fn close(&self) {
        if process::id() != self.process {
            return;
        }
        let node = self.node.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(node) = node {
            node.stop_serving();
            node.end_sessions();
            self.workers.end();
            if let Err(error) = block_on(node.close()) {
                tracing::warn!(%error, "the other instances were not told that this one is gone");
            }
        }
        self.reactor.close();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        thread.into_iter().for_each(join);
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.close();
    }
}
