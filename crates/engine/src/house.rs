//! The engine: the published snapshot and the sessions on it.

use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use pando_deadlock::Desk;
use pando_kernel::Worker;
use pando_kernel::administration::Administration;
use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::feature::Meters;
use pando_kernel::runtime::SharedRuntime;
use pando_kernel::session::{Key, Login};
use pando_kernel::waits::Board;
use pando_transaction::Coordinator;

use crate::aside::Aside;
use crate::channels::Hubs;
use crate::clock::System;
use crate::handle::Killed;
use crate::overruns::Overruns;
use crate::reading::Reading;
use crate::registry::Registry;
use crate::session::Session;
use crate::snapshot::{LiveDatabase, Snapshot};

/// The engine. Cloning it gives another handle of the same one.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) snapshot: ArcSwap<Snapshot>,
    pub(crate) runtime: SharedRuntime,
    pub(crate) registry: Registry,
    administration: OnceLock<Arc<dyn Administration>>,
    pub(crate) deadlocks: Arc<Desk>,
    pub(crate) source: System,
    pub(crate) reading: Reading,
    pub(crate) coordinator: Arc<Coordinator>,
    pub(crate) aside: Aside,
    /// What sessions tell each other.
    pub(crate) hubs: Hubs,
    /// Statements that may run for so long.
    pub(crate) overruns: Overruns,
    /// What rooms count.
    meters: Meters,
}

impl Engine {
    /// An engine without any database.
    pub fn new(runtime: SharedRuntime) -> Self {
        Self::named(runtime, "")
    }

    /// The same, for an instance of this name: distributed transactions are called after it.
    pub fn named(runtime: SharedRuntime, instance: &str) -> Self {
        let snapshot = ArcSwap::from_pointee(Snapshot::default());
        let coordinator = Arc::new(Coordinator::new(Arc::clone(&runtime), instance));
        Self {
            inner: Arc::new(Inner {
                snapshot,
                runtime,
                registry: Registry::default(),
                source: System::default(),
                aside: Aside::default(),
                hubs: Hubs::default(),
                overruns: Overruns::default(),
                meters: Meters::default(),
                reading: Reading::default(),
                administration: OnceLock::new(),
                deadlocks: Arc::default(),
                coordinator,
            }),
        }
    }

    /// Lets clients show and change the configuration. Without this, a statement that asks for it is read as SQL.
    /// Whoever was first stays.
    pub fn govern(&self, administration: Arc<dyn Administration>) {
        if self.inner.administration.set(administration).is_err() {
            tracing::error!("the engine is governed already");
        }
    }

    /// Lets this process and the others of its cluster see each other's waiting transactions, so that deadlocks between them are found.
    pub fn share_waits(&self, board: Arc<dyn Board>) {
        self.inner.deadlocks.join(board);
    }

    /// Deadlocks over several storage units that were broken by ending a transaction of this process, since it began.
    pub fn broken_deadlocks(&self) -> u64 {
        self.inner.deadlocks.broken()
    }

    pub(crate) fn administration(&self) -> Option<&Arc<dyn Administration>> {
        self.inner.administration.get()
    }

    /// Makes a configuration the current one. Running statements and open transactions keep the one they began with.
    pub fn publish(&self, snapshot: Snapshot) {
        let snapshot = Arc::new(snapshot);
        // Of rules that are gone and whose last statement has ended since.
        self.inner.meters.sweep();
        for live in &snapshot.databases {
            live.take_over_limits(&self.inner.meters, self.inner.runtime.now());
            live.begin_mirrors(&self.inner.meters, &self.inner.runtime);
        }
        self.inner.snapshot.store(Arc::clone(&snapshot));
        self.inner.hubs.follow(&snapshot);
    }

    /// The current configuration.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.inner.snapshot.load_full()
    }

    /// What keeps this process's generated keys apart from other processes'. It stands alone until whoever leases worker ids says otherwise.
    pub fn worker(&self) -> &Worker {
        &self.inner.source.worker
    }

    /// A fresh session number, for doors that must tell it before the login.
    pub fn announce(&self) -> u32 {
        self.inner.registry.announce()
    }

    /// Opens a session for a user who has proved who he is.
    ///
    /// # Errors
    /// `UnknownDatabase` when the named database does not exist; `Refused` when its storage units speak another language than the door.
    pub fn open(&self, login: Login) -> Result<Session> {
        Session::open(self, login)
    }

    /// The version of this family's servers behind a logical database, or behind all of the family's, as clients are to be told.
    pub fn server_version(&self, family: &str, database: Option<&str>) -> Option<String> {
        let snapshot = self.inner.snapshot.load();
        let is_meant = |live: &&Arc<LiveDatabase>| {
            live.database.dialect.family() == family
                && database.is_none_or(|name| live.database.name == name)
        };
        let meant: Vec<&Arc<LiveDatabase>> = snapshot.databases.iter().filter(is_meant).collect();
        let servers: Vec<Arc<str>> = meant.iter().flat_map(|live| live.servers()).collect();
        meant.first()?.database.dialect.presentation()?.version(&servers)
    }

    /// Cancels what a session runs. A wrong key does nothing.
    pub fn cancel(&self, key: Key) {
        if let Some(handle) = self.inner.registry.find(key.id)
            && handle.key == key
        {
            handle.cancel(&self.inner.runtime);
        }
    }

    /// Ends a session, or its running statement; only one of this user's when one is given.
    ///
    /// # Errors
    /// MySQL's 1094 when there is no such session, 1095 when it is somebody else's.
    pub(crate) fn kill(&self, id: u64, what: Killed, user: Option<&str>) -> Result<()> {
        let error = |number, message| {
            let sqlstate = "HY000".into();
            let severity = "ERROR".into();
            let fields = Vec::new();
            let said = pando_kernel::ServerError { number, sqlstate, message, severity, fields };
            pando_kernel::Error::new(ErrorKind::Server(Box::new(said)))
        };
        let handle = u32::try_from(id).ok().and_then(|id| self.inner.registry.find(id));
        let Some(handle) = handle else {
            return Err(error(1094, format!("Unknown thread id: {id}")));
        };
        if user.is_some_and(|user| user != &*handle.user) {
            return Err(error(1095, format!("You are not owner of thread {id}")));
        }
        match what {
            Killed::Statement => handle.cancel(&self.inner.runtime),
            Killed::Session => handle.kill(&self.inner.runtime),
        }
        Ok(())
    }

    /// Ends every session, with its running statement: its client is told so.
    pub fn end_sessions(&self) {
        for handle in self.inner.registry.everyone() {
            handle.kill(&self.inner.runtime);
        }
    }

    /// Completes when the session of this key is killed. Never, when there is no such session.
    ///
    /// # Cancel safety
    /// May be dropped at any time.
    pub async fn killed(&self, key: Key) {
        match self.inner.registry.find(key.id).filter(|handle| handle.key == key) {
            Some(handle) => handle.killed().await,
            None => std::future::pending().await,
        }
    }

    /// Open sessions.
    pub fn sessions(&self) -> usize {
        self.inner.registry.len()
    }
}
