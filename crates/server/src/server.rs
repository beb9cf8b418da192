//! A running server.

use std::sync::Arc;

use pando_config::global::{Global, Protocol};
use pando_engine::{Engine, Settings, Snapshot};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::runtime::{SharedRuntime, Stream, TlsAcceptor};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::door::Listening;
use crate::gate::{Gate, Live};
use crate::load::{Loaded, load};
use crate::options::{Addresses, Options};
use crate::pools::Pools;
use crate::runtime::TokioRuntime;
use crate::stop::Stop;
use crate::tls::{Acceptor, Terms};

/// A server whose doors are open. Dropping it without [`Server::stop`] leaves the doors open as long as the runtime lives.
#[derive(Debug)]
pub struct Server {
    options: Options,
    addresses: Addresses,
    engine: Engine,
    runtime: SharedRuntime,
    gate: Arc<Gate>,
    pools: Pools,
    stop: Stop,
    doors: Vec<JoinHandle<()>>,
}

impl Server {
    /// Loads the configuration, binds the doors and accepts clients. Must be called inside a tokio runtime with its I/O and time drivers on.
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
        let loaded = read(&options)?;
        Self::open(options, loaded).await
    }

    pub(crate) async fn open(options: Options, loaded: Loaded) -> Result<Self> {
        let global = loaded.configuration.global.clone();
        let live = Live::new(&global, certificate(&options, &global)?);
        let props = &global.props;
        let mysql = options.mysql.address(Protocol::MySql, props);
        let mysql = bind("mysql", mysql.as_deref(), props.accept_backlog).await?;
        let postgres = options.postgres.address(Protocol::Postgres, props);
        let postgres = bind("postgres", postgres.as_deref(), props.accept_backlog).await?;
        if mysql.is_none() && postgres.is_none() {
            return Err(configuration("both doors are off: there is nothing to serve"));
        }
        let runtime = TokioRuntime::shared(Handle::current());
        let engine = Engine::new(Arc::clone(&runtime));
        let (stop, stopping) = Stop::new();
        let gate = Gate::new(engine.clone(), Arc::clone(&runtime), stopping.clone(), live);
        let address = |door: &Option<Listening>| door.as_ref().map(Listening::address);
        let mut server = Self {
            addresses: Addresses { mysql: address(&mysql), postgres: address(&postgres) },
            options,
            engine,
            runtime,
            gate: Arc::new(gate),
            pools: Pools::default(),
            stop,
            doors: Vec::new(),
        };
        server.publish(loaded);
        let drain = server.options.drain;
        if let Some(listening) = mysql {
            let door = pando_mysql::frontend::Door::new(Arc::clone(&server.gate));
            let serve = move |stream: TcpStream, peer: std::net::SocketAddr| {
                let door = door.clone();
                async move { door.serve(boxed(stream), peer.ip().to_string()).await }
            };
            server.doors.push(listening.open(serve, stopping.clone(), drain));
        }
        if let Some(listening) = postgres {
            let door = pando_postgres::frontend::Door::new(Arc::clone(&server.gate));
            let serve = move |stream: TcpStream, peer: std::net::SocketAddr| {
                let door = door.clone();
                async move { door.serve(boxed(stream), peer.ip().to_string()).await }
            };
            server.doors.push(listening.open(serve, stopping, drain));
        }
        Ok(server)
    }

    /// Where the doors really listen.
    pub fn addresses(&self) -> Addresses {
        self.addresses
    }

    /// The seam its connections run on.
    pub fn runtime(&self) -> &SharedRuntime {
        &self.runtime
    }

    /// Open sessions of both doors.
    pub fn sessions(&self) -> usize {
        self.engine.sessions()
    }

    /// Reads the configuration again and serves it from the next statement on. Storage units that did not change keep their
    /// connections; running statements and open transactions keep the configuration they began with. Addresses do not change.
    ///
    /// # Errors
    /// `Configuration` with everything that is wrong; the old configuration stays.
    pub fn reload(&mut self) -> Result<()> {
        let loaded = read(&self.options)?;
        let global = &loaded.configuration.global;
        let live = Live::new(global, certificate(&self.options, global)?);
        self.gate.renew(live);
        self.publish(loaded);
        Ok(())
    }

    /// Stops accepting, lets running statements end for as long as [`Options::drain`] says, and closes what is left.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the server stopping on its own.
    pub async fn stop(self) {
        self.stop.now();
        for door in self.doors {
            if let Err(error) = door.await {
                tracing::error!(%error, "a door broke");
            }
        }
    }

    fn publish(&mut self, loaded: Loaded) {
        let props = &loaded.configuration.global.props;
        let max = usize::try_from(props.max_connections_size_per_query).unwrap_or(usize::MAX);
        let settings = Settings {
            max_connections_per_query: max.max(1),
            sql_show: props.sql_show,
            ..Settings::default()
        };
        for warning in &loaded.warnings {
            tracing::warn!("{warning}");
        }
        let databases = self.pools.open(loaded, &self.runtime);
        self.engine.publish(Snapshot { databases, settings });
    }
}

pub(crate) fn read(options: &Options) -> Result<Loaded> {
    load(&options.config, &options.data).map_err(|errors| configuration(errors.to_string()))
}

fn certificate(options: &Options, global: &Global) -> Result<Option<Arc<dyn TlsAcceptor>>> {
    let Some(files) = &options.tls else {
        if global.props.frontend_ssl_enabled {
            return Err(configuration(
                "`proxy-frontend-ssl-enabled` needs a certificate: give `--tls-certificate` and `--tls-key`",
            ));
        }
        return Ok(None);
    };
    let props = &global.props;
    let terms =
        Terms { versions: &props.frontend_ssl_versions, ciphers: &props.frontend_ssl_ciphers };
    match Acceptor::load(&files.chain, &files.key, &terms) {
        Ok(acceptor) => Ok(Some(acceptor)),
        Err(error) => Err(configuration(error.to_string())),
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
    Box::new(stream)
}

fn configuration(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Configuration(message.into()))
}
