//! A running server.

use std::sync::Arc;

use pando_config::global::{Global, Level, Protocol};
use pando_engine::Engine;
use pando_governor::{Governor, House, Instance, Origin};
use pando_kernel::error::Result;
use pando_kernel::runtime::{SharedRuntime, Stream, TlsAcceptor};
use pando_kernel::session::Peer;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::door::{Draining, Listening};
use crate::gate::{Gate, Live};
use crate::host::Host;
use crate::load::{Documents, documents};
use crate::loops::Loops;
use crate::options::{Addresses, Options};
use crate::place::Place;
use crate::private::{self, exchange};
use crate::roaming::Client;
use crate::runtime::TokioRuntime;
use crate::stop::{Hurry, Stop, Stopping};
use crate::store;
use crate::tidings;
use crate::tls::{Acceptor, Files, Terms};
use crate::wrong::configuration;

/// A server whose doors are open. Dropping it without [`Server::stop`] leaves the doors open as long as the runtime lives.
#[derive(Debug)]
pub struct Server {
    options: Options,
    addresses: Addresses,
    engine: Engine,
    runtime: SharedRuntime,
    gate: Arc<Gate>,
    host: Arc<Host>,
    governor: Governor,
    stop: Stop,
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
        let Documents { loaded, model } = documents;
        let global = loaded.configuration.global;
        loaded.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        let runtime = TokioRuntime::shared(Handle::current());
        let place = store::open(options.store.as_deref(), &global, &runtime)?;
        if matches!(place.origin, Origin::Files) && model.databases().next().is_none() {
            return Err(configuration(NOTHING));
        }
        let engine = Engine::named(Arc::clone(&runtime), &place.id);
        let (stop, stopping) = Stop::new();
        let live = Live::new(&global, certificate(&options, &global)?);
        let gate = Gate::new(engine.clone(), Arc::clone(&runtime), stopping.clone(), live);
        let gate = Arc::new(gate);
        let (own, inner, seam) = (options.clone(), engine.clone(), Arc::clone(&runtime));
        let (news, heard) = tidings::channel();
        let host = Arc::new(Host::new(own, inner, seam, Arc::clone(&gate), news));
        let begin = pando_governor::Options {
            id: place.id,
            instance: Instance { version: VERSION.to_owned(), ..Instance::default() },
            origin: place.origin,
            files: model,
            overwrite: global.overwrite,
            lease: place.lease,
            exchange: exchange(&options)?,
        };
        let house: Arc<dyn House> = Arc::<Host>::clone(&host);
        let governor = Governor::start(begin, house, Arc::clone(&runtime)).await?;
        engine.govern(Arc::new(governor.clone()));
        if let Some(board) = governor.board() {
            engine.share_waits(board);
        }
        tidings::follow(&runtime, heard, &host, governor.keeper());
        engine.recover();
        let doors = Doors::bind(&options, &host.global()).await?;
        let loops = Loops::start(host.global().props.frontend_executor_size)
            .map_err(|error| configuration(format!("no threads that serve: {error}")))?;
        let loops = Arc::new(loops);
        let addresses = doors.addresses();
        let handles = Vec::new();
        let mut server = Self {
            options,
            addresses,
            engine,
            runtime,
            gate,
            host,
            governor,
            stop,
            loops,
            doors: handles,
        };
        server.let_in(doors, &stopping);
        if let Some(address) = addresses.mysql.or(addresses.postgres) {
            server.governor.joins(&address.ip().to_string(), address.port()).await;
        }
        Ok(server)
    }

    fn let_in(&mut self, doors: Doors, stopping: &Stopping) {
        let engine = self.engine.clone();
        let end: Arc<dyn Fn() + Send + Sync> = Arc::new(move || engine.end_sessions());
        let draining = Draining { patience: self.options.drain, end };
        if let Some(listening) = doors.mysql {
            let door = pando_mysql::frontend::Door::new(Arc::clone(&self.gate));
            let serve = move |stream: TcpStream, peer: Peer| {
                let door = door.clone();
                async move { door.serve(boxed(stream), peer).await }
            };
            let loops = Arc::clone(&self.loops);
            self.doors.push(listening.open(serve, loops, stopping.clone(), draining.clone()));
        }
        if let Some(listening) = doors.postgres {
            let door = pando_postgres::frontend::Door::new(Arc::clone(&self.gate));
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
        &self.runtime
    }

    /// Open sessions of both doors.
    pub fn sessions(&self) -> usize {
        self.engine.sessions()
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
        if self.governor.is_of_files() {
            let documents = read(&self.options)?;
            documents.loaded.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
            if documents.model.databases().next().is_none() {
                return Err(configuration(NOTHING));
            }
            self.governor.reload_files(&documents.model).await?;
        }
        self.host.renew()
    }

    /// What ends the draining of [`Server::stop`].
    pub(crate) fn hurry(&self) -> Hurry {
        self.stop.hurry()
    }

    /// Stops accepting, lets running statements end for as long as [`Options::drain`] says, ends those that are left, and closes who does not hear it.
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
        self.governor.close().await;
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");
const NOTHING: &str = "there is no database to serve: add a `database-*.yaml`, or give `--data` and make databases by statements";

pub(crate) fn read(options: &Options) -> Result<Documents> {
    // Before the files are read, which may speak of embedded storage units below it.
    if let Some(folder) = &options.store {
        private::make(folder)?;
    }
    match &options.config {
        Some(config) => {
            let place = Place { data: &options.data, modules: &*options.modules };
            documents(config, place).map_err(|errors| configuration(errors.to_string()))
        }
        None => Ok(Documents::default()),
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

pub(crate) fn certificate(
    options: &Options,
    global: &Global,
) -> Result<Option<Arc<dyn TlsAcceptor>>> {
    may_enter(options, global)?;
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
    let clients = files.clients.as_deref();
    match Acceptor::load(&Files { chain: &files.chain, key: &files.key, clients }, &terms) {
        Ok(acceptor) => Ok(Some(acceptor)),
        Err(error) => Err(configuration(error.to_string())),
    }
}

/// A user of whom something is required that no client here can have is a mistake.
fn may_enter(options: &Options, global: &Global) -> Result<()> {
    for user in &global.authority.users {
        let (level, files) = (global.authority.required(user).level, options.tls.as_ref());
        let lacks = match level {
            Level::Nothing => continue,
            Level::Tls if files.is_none() => "TLS: give `--tls-certificate` and `--tls-key`",
            Level::Certificate | Level::NamedCertificate
                if files.is_none_or(|files| files.clients.is_none()) =>
            {
                "a certificate: give `--tls-client-ca`"
            }
            Level::Tls | Level::Certificate | Level::NamedCertificate => continue,
        };
        let message = format!("user `{}@{}` needs {lacks}", user.name, user.host);
        return Err(configuration(user.at.problem(message).to_string()));
    }
    Ok(())
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
