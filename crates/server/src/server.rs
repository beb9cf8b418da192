//! A running server.

use std::sync::Arc;
use std::time::Duration;

use pando_config::global::{Global, Protocol};
use pando_kernel::error::Result;
use pando_kernel::runtime::{SharedRuntime, Stream};
use pando_kernel::session::Peer;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::compute_node::{ComputeNode, read};
use crate::door::{Draining, Listening};
use crate::load::Documents;
use crate::loops::Loops;
use crate::options::{Addresses, Options};
use crate::roaming::Client;
use crate::runtime::TokioRuntime;
use crate::stop::Hurry;
use crate::wrong::configuration;

/// A server whose doors are open. Dropping it without [`Server::stop`] leaves the doors open as long as the runtime lives.
#[derive(Debug)]
pub struct Server {
    drain: Duration,
    addresses: Addresses,
    node: ComputeNode,
    loops: Arc<Loops>,
    doors: Vec<JoinHandle<()>>,
}

impl Server {
    /// Loads the configuration, binds the doors and accepts clients. Must be called inside a tokio runtime with its I/O and time drivers on;
    /// clients are served by threads of its own.
    ///
    /// # Errors
    /// `Configuration` with everything that is wrong with the configuration, the certificate or the addresses; nothing is served then.
    ///
    /// # Example
    /// ```no_run
    /// # async fn example() -> pando_kernel::Result<()> {
    /// use pando_server::{Listen, Options, Server};
    /// let options = Options { postgres: Listen::At("127.0.0.1:0".into()), ..Options::new("conf") };
    /// let server = Server::start(options).await?;
    /// assert!(server.addresses().postgres.is_some());
    /// server.stop().await;
    /// # Ok(()) }
    /// ```
    pub async fn start(options: Options) -> Result<Self> {
        let documents = read(&options)?;
        Self::open(options, documents).await
    }

    pub(crate) async fn open(options: Options, documents: Documents) -> Result<Self> {
        let runtime = TokioRuntime::shared(Handle::current());
        let node = ComputeNode::open(options.clone(), documents, runtime).await?;
        let doors = Doors::bind(&options, &node.global()).await?;
        let loops = Loops::start(node.global().props.frontend_executor_size)
            .map_err(|error| configuration(format!("no threads that serve: {error}")))?;
        let (loops, addresses) = (Arc::new(loops), doors.addresses());
        let mut server = Self { drain: options.drain, addresses, node, loops, doors: Vec::new() };
        server.let_in(doors);
        if let Some(address) = addresses.mysql.or(addresses.postgres) {
            server.node.joins(&address.ip().to_string(), address.port()).await;
        }
        Ok(server)
    }

    fn let_in(&mut self, doors: Doors) {
        let (engine, stopping) = (self.node.engine().clone(), self.node.stopping());
        let end: Arc<dyn Fn() + Send + Sync> = Arc::new(move || engine.end_sessions());
        let draining = Draining { patience: self.drain, end };
        if let Some(listening) = doors.mysql {
            let door = self.node.mysql();
            let serve = move |stream: TcpStream, peer: Peer| {
                let door = door.clone();
                async move { door.serve(boxed(stream), peer).await }
            };
            let loops = Arc::clone(&self.loops);
            self.doors.push(listening.open(serve, loops, stopping.clone(), draining.clone()));
        }
        if let Some(listening) = doors.postgres {
            let door = self.node.postgres();
            let serve = move |stream: TcpStream, peer: Peer| {
                let door = door.clone();
                async move { door.serve(boxed(stream), peer).await }
            };
            let loops = Arc::clone(&self.loops);
            self.doors.push(listening.open(serve, loops, stopping.clone(), draining));
        }
    }

    /// Where the doors really listen.
    pub fn addresses(&self) -> Addresses {
        self.addresses
    }

    /// The seam its connections run on.
    pub fn runtime(&self) -> &SharedRuntime {
        self.node.runtime()
    }

    /// Open sessions of both doors.
    pub fn sessions(&self) -> usize {
        self.node.sessions()
    }

    /// Reads the files again and serves them from the next statement on; a configuration that is kept in a store or a repository is followed anyway, and
    /// only the certificate is read again. Storage units that did not change keep their connections; running statements and open transactions keep the
    /// configuration they began with. Addresses do not change.
    ///
    /// # Errors
    /// `Configuration` with everything that is wrong; the old configuration stays.
    ///
    /// # Cancel safety
    /// Dropping it leaves the old or the new configuration served.
    pub async fn reload(&self) -> Result<()> {
        self.node.reload().await
    }

    /// What ends the draining of [`Server::stop`].
    pub(crate) fn hurry(&self) -> Hurry {
        self.node.hurry()
    }

    /// Stops accepting, lets running statements end for as long as [`Options::drain`] says, ends those that are left, and closes who does not hear it.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the server stopping on its own.
    pub async fn stop(self) {
        self.node.stop_serving();
        for door in self.doors {
            if let Err(error) = door.await {
                tracing::error!(%error, "a door broke");
            }
        }
        self.node.close().await;
    }
}

/// Where clients are met, bound and not yet open.
struct Doors {
    mysql: Option<Listening>,
    postgres: Option<Listening>,
}

impl Doors {
    async fn bind(options: &Options, global: &Global) -> Result<Self> {
        let props = &global.props;
        let mysql = options.mysql.address(Protocol::MySql, props);
        let mysql = bind("mysql", mysql.as_deref(), props.accept_backlog).await?;
        let postgres = options.postgres.address(Protocol::Postgres, props);
        let postgres = bind("postgres", postgres.as_deref(), props.accept_backlog).await?;
        if mysql.is_none() && postgres.is_none() {
            return Err(configuration("both doors are off: there is nothing to serve"));
        }
        Ok(Self { mysql, postgres })
    }

    fn addresses(&self) -> Addresses {
        let address = |door: &Option<Listening>| door.as_ref().map(Listening::address);
        Addresses { mysql: address(&self.mysql), postgres: address(&self.postgres) }
    }
}

async fn bind(
    name: &'static str,
    address: Option<&str>,
    backlog: u32,
) -> Result<Option<Listening>> {
    let Some(address) = address else { return Ok(None) };
    match Listening::bind(name, address, backlog).await {
        Ok(listening) => Ok(Some(listening)),
        Err(error) => Err(configuration(error.to_string())),
    }
}

fn boxed(stream: TcpStream) -> Box<dyn Stream> {
    Box::new(Client::new(stream))
}
