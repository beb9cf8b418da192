//! What the doors open onto: the engine over pools whose connections lead to scripts.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use pando_engine::{Engine, LiveDatabase, Session, Snapshot};
use pando_kernel::error::Result;
use pando_kernel::runtime::{Address, BoxFuture, Runtime, SharedRuntime, Stream};
use pando_kernel::session::{Credential, Doorway, Key, Login, Settings};
use pando_kernel::{Channel, ClientTls, Secured};
use pando_pool::{Options, Pool};
use pando_rooms::Built;
use pando_server::TokioRuntime;
use tokio::runtime::Handle;

use super::wire::Wire;
use super::{mysql, postgres};
use crate::shop::Family;

/// The server without its sockets.
#[derive(Debug)]
pub(super) struct House {
    engine: Engine,
    runtime: SharedRuntime,
}

impl House {
    /// A house that serves this database. To be called inside a tokio runtime.
    pub(super) fn open(built: Built, family: Family) -> Arc<Self> {
        let runtime: SharedRuntime =
            Arc::new(Scripted { family, tokio: TokioRuntime::shared(Handle::current()) });
        let pools = built.units.iter().map(|unit| {
            let (name, connector) = (Arc::clone(&unit.name), Arc::clone(&unit.connector));
            Pool::new(name, connector, Arc::clone(&runtime), Options::default())
        });
        let pools = pools.collect();
        let live = Arc::new(LiveDatabase::new(built.database, pools));
        let engine = Engine::new(Arc::clone(&runtime));
        engine.publish(Snapshot { databases: vec![live], ..Snapshot::default() });
        Arc::new(Self { engine, runtime })
    }
}

impl Doorway for House {
    type Session = Session;

    fn credential(&self, _user: &str, _host: &str, _over: &Channel) -> Credential {
        Credential::of_password("", "")
    }

    fn announce(&self) -> u32 {
        self.engine.announce()
    }

    fn open(&self, login: Login) -> Result<Session> {
        self.engine.open(login)
    }

    fn cancel(&self, key: Key) {
        self.engine.cancel(key);
    }

    /// The server's own.
    fn settings(&self) -> Settings {
        Settings {
            tls: None,
            login_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(8 * 3600),
            max_message: 64 << 20,
            flush_bytes: 16 << 10,
        }
    }

    fn runtime(&self) -> SharedRuntime {
        Arc::clone(&self.runtime)
    }

    async fn stopping(&self, key: Key) {
        self.engine.killed(key).await;
    }
}

/// The server's runtime, but connections lead to scripts.
#[derive(Debug)]
struct Scripted {
    family: Family,
    tokio: SharedRuntime,
}

impl Runtime for Scripted {
    fn connect<'a>(&'a self, _address: &'a Address) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            Ok(match self.family {
                Family::Postgres => Box::new(Wire::to(postgres::Unit::new()?)?) as Box<dyn Stream>,
                Family::MySql => Box::new(Wire::to(mysql::Unit::new())?),
            })
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.tokio.sleep(duration)
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.tokio.spawn(task);
    }

    fn secure<'a>(
        &'a self,
        stream: Box<dyn Stream>,
        _host: &'a str,
        _tls: &'a ClientTls,
    ) -> BoxFuture<'a, io::Result<Secured>> {
        let channel = Channel { is_secured: true, ..Channel::default() };
        Box::pin(async { Ok(Secured { stream, channel }) })
    }
}
