//! An instance without listeners: engine, governor, health, recovery, and the doors that clients are led to.

use std::sync::Arc;

use pando_config::global::{Global, Protocol};
use pando_engine::Engine;
use pando_governor::{Governor, House, Instance, InstanceKind, Origin};
use pando_kernel::error::Result;
use pando_kernel::runtime::{BoxFuture, SharedRuntime, Stream};
use pando_kernel::session::Peer;

use crate::certificates::certificate;
use crate::gate::{Gate, Live};
use crate::host::Host;
use crate::load::{Documents, documents};
use crate::options::{Clients, Options};
use crate::place::Place;
use crate::private::{self, exchange};
use crate::stop::{Hurry, Stop, Stopping};
use crate::store;
use crate::tidings;
use crate::wrong::configuration;

/// One instance of a cluster, or one that stands alone. Who has a stream to a client hands it to [`ComputeNode::serve`].
#[derive(Debug)]
pub struct ComputeNode {
    options: Options,
    engine: Engine,
    runtime: SharedRuntime,
    gate: Arc<Gate>,
    host: Arc<Host>,
    governor: Governor,
    stop: Stop,
}

impl ComputeNode {
    /// Loads the configuration and begins its background work on `runtime`.
    ///
    /// # Errors
    /// `Configuration` with everything that is wrong with the configuration or the certificate.
    ///
    /// # Cancel safety
    /// Dropping the future leaves no background work.
    pub async fn start(options: Options, runtime: SharedRuntime) -> Result<Self> {
        let documents = read(&options)?;
        Self::open(options, documents, runtime).await
    }

    pub(crate) async fn open(
        options: Options,
        documents: Documents,
        runtime: SharedRuntime,
    ) -> Result<Self> {
        let Documents { loaded, model } = documents;
        let global = loaded.configuration.global;
        loaded.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        let place = store::open(options.store.as_deref(), &global, &runtime)?;
        if matches!(place.origin, Origin::Files) && model.databases().next().is_none() {
            return Err(configuration(NOTHING));
        }
        let engine = Engine::named(Arc::clone(&runtime), &place.id);
        let (stop, stopping) = Stop::new();
        let live = Live::new(&global, certificate(&options, &global)?);
        let (own, seam) = (engine.clone(), Arc::clone(&runtime));
        let gate = Arc::new(Gate::new(own, seam, stopping, live, options.clients));
        let (own, inner, seam) = (options.clone(), engine.clone(), Arc::clone(&runtime));
        let (news, heard) = tidings::channel();
        let host = Arc::new(Host::new(own, inner, seam, Arc::clone(&gate), news));
        let begin = pando_governor::Options {
            id: place.id,
            instance: Instance {
                kind: match options.clients {
                    Clients::Strangers => InstanceKind::Proxy,
                    Clients::OwnProcess => InstanceKind::Embedded,
                },
                version: VERSION.to_owned(),
                ..Instance::default()
            },
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
        Ok(Self { options, engine, runtime, gate, host, governor, stop })
    }

    /// Registers the instance, with where it is met, among those of its cluster.
    pub async fn joins(&self, host: &str, port: u16) {
        self.governor.joins(host, port).await;
    }

    /// Serves a client at the other end of `stream` in this protocol, to the end.
    ///
    /// # Cancel safety
    /// Dropping the future closes the client's connection and its session.
    pub fn serve(
        &self,
        protocol: Protocol,
        stream: Box<dyn Stream>,
        peer: Peer,
    ) -> BoxFuture<'static, ()> {
        match protocol {
            Protocol::MySql => {
                let door = self.mysql();
                Box::pin(async move { door.serve(stream, peer).await })
            }
            Protocol::Postgres => {
                let door = self.postgres();
                Box::pin(async move { door.serve(stream, peer).await })
            }
        }
    }

    pub(crate) fn mysql(&self) -> pando_mysql::frontend::Door<Gate> {
        pando_mysql::frontend::Door::new(Arc::clone(&self.gate))
    }

    pub(crate) fn postgres(&self) -> pando_postgres::frontend::Door<Gate> {
        pando_postgres::frontend::Door::new(Arc::clone(&self.gate))
    }

    /// The seam that its connections run on.
    pub fn runtime(&self) -> &SharedRuntime {
        &self.runtime
    }

    /// The name of the first database that is served.
    pub fn first_database(&self) -> Option<String> {
        let snapshot = self.engine.snapshot();
        snapshot.databases.first().map(|live| live.database.name.clone())
    }

    /// The protocol that clients of this database had best speak, that of its storage units; the first database's where none is named.
    pub fn protocol(&self, database: Option<&str>) -> Option<Protocol> {
        let snapshot = self.engine.snapshot();
        let live = match database {
            Some(name) => snapshot.database(name),
            None => snapshot.databases.first(),
        };
        Some(match live?.database.dialect.family() == "mysql" {
            true => Protocol::MySql,
            false => Protocol::Postgres,
        })
    }

    /// Open sessions of both doors.
    pub fn sessions(&self) -> usize {
        self.engine.sessions()
    }

    /// The settings that are served.
    pub fn global(&self) -> Arc<Global> {
        self.host.global()
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn stopping(&self) -> Stopping {
        self.stop.stopping()
    }

    pub(crate) fn hurry(&self) -> Hurry {
        self.stop.hurry()
    }

    /// Reads the files again, as [`Server::reload`](crate::Server::reload) says.
    ///
    /// # Errors
    /// `Configuration` with everything that is wrong; the old configuration stays.
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

    /// Lets no client in any more, and tells sessions to end with their statements.
    pub fn stop_serving(&self) {
        self.stop.now();
    }

    /// Ends the statements that still run; their clients hear why.
    pub fn end_sessions(&self) {
        self.engine.end_sessions();
    }

    /// Says good-bye to the other instances.
    ///
    /// # Cancel safety
    /// Dropping the future leaves this instance's entries to the end of its session.
    pub async fn close(&self) {
        self.stop.now();
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
    let place = Place { data: &options.data, modules: &*options.modules };
    documents(&options.config, place).map_err(|errors| configuration(errors.to_string()))
}
