//! What the doors ask of the server: users, sessions, cancel, TLS, limits. One gate for all doors.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use pando_config::global::Global;
use pando_engine::Engine;
use pando_kernel::Channel;
use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::runtime::{BoxFuture, SharedRuntime, TlsAcceptor};
use pando_kernel::session::{Credential, Doorway, Key, Login, Proof, Settings};

use crate::authority::{Authority, Permitted};
use crate::files::{self, Pooled, Shares};
use crate::guarded::{Guarded, Rights};
use crate::hall::Hall;
use crate::options::Clients;
use crate::seat::Seats;
use crate::stop::Stopping;

/// Time for start-up and login: as MySQL's `connect_timeout`.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(10);
/// Largest message of a client: MySQL's own default for servers.
const MAX_MESSAGE: usize = 64 << 20;
/// A reply is written out when so many bytes wait: one full TLS record.
const FLUSH_BYTES: usize = 16 << 10;

/// The doorway of a running server.
#[derive(Debug)]
pub(crate) struct Gate {
    engine: Engine,
    runtime: SharedRuntime,
    stopping: Stopping,
    clients: Clients,
    seats: Seats,
    hall: Arc<Hall>,
    /// Files that the process may open, and what of them the pools may want.
    files: usize,
    pooled: RwLock<Pooled>,
    live: RwLock<Arc<Live>>,
}

/// What a reload changes.
#[derive(Debug)]
pub(crate) struct Live {
    authority: Authority,
    settings: Settings,
    max_sessions: usize,
}

impl Live {
    pub(crate) fn new(global: &Global, tls: Option<Arc<dyn TlsAcceptor>>) -> Self {
        let idle = global.props.frontend_connection_idle_timeout;
        let settings = Settings {
            tls,
            login_timeout: LOGIN_TIMEOUT,
            idle_timeout: if idle == 0 { Duration::MAX } else { Duration::from_secs(idle) },
            max_message: MAX_MESSAGE,
            flush_bytes: FLUSH_BYTES,
        };
        let max_sessions = match global.props.frontend_max_connections {
            0 => usize::MAX,
            most => usize::try_from(most).unwrap_or(usize::MAX),
        };
        let authority = Authority::new(global.authority.clone());
        Self { authority, settings, max_sessions }
    }
}

impl Gate {
    pub(crate) fn new(
        engine: Engine,
        runtime: SharedRuntime,
        stopping: Stopping,
        live: Live,
        clients: Clients,
    ) -> Self {
        let (seats, hall, pooled) = (Seats::default(), Arc::default(), RwLock::default());
        let (files, live) = (files::limit(), RwLock::new(Arc::new(live)));
        Self { engine, runtime, stopping, clients, seats, hall, files, pooled, live }
    }

    /// Leaves files for these pools from now on.
    pub(crate) fn leave_for(&self, pooled: Pooled) {
        *self.pooled.write().unwrap_or_else(PoisonError::into_inner) = pooled;
    }

    fn shares(&self) -> Shares {
        files::shares(self.files, *self.pooled.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// New logins meet these users and limits; open sessions keep what they have.
    pub(crate) fn renew(&self, live: Live) {
        *self.live.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(live);
    }

    fn live(&self) -> Arc<Live> {
        Arc::clone(&self.live.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Doorway for Gate {
    type Session = Guarded;

    fn credential(&self, user: &str, host: &str, over: &Channel) -> Credential {
        if self.clients == Clients::OwnProcess {
            return Credential { proof: Proof::Given, method: String::new() };
        }
        self.live().authority.credential(user, host, over)
    }

    fn knocks(&self, since: Instant) -> BoxFuture<'static, ()> {
        Box::pin(self.hall.enter(since, self.shares().entering))
    }

    fn announce(&self) -> u32 {
        self.engine.announce()
    }

    fn server_version(&self, family: &str, database: Option<&str>) -> Option<String> {
        self.engine.server_version(family, database)
    }

    fn open(&self, login: Login) -> Result<Guarded> {
        let live = self.live();
        if self.stopping.is_told() {
            return Err(ErrorKind::Shutdown.into());
        }
        let Some(seat) = self.seats.take(live.max_sessions.min(self.shares().sessions)) else {
            return Err(ErrorKind::TooManyConnections.into());
        };
        let permitted = match self.clients {
            Clients::Strangers => live.authority.permitted(&login.user, &login.host),
            Clients::OwnProcess => Permitted::All,
        };
        let rights = Rights { user: login.user.clone(), permitted };
        let databases = match &rights.permitted {
            Permitted::All => None,
            Permitted::Only(names) => Some(names.clone()),
        };
        let is_administrator = self.clients == Clients::OwnProcess
            || live.authority.administers(&login.user, &login.host);
        let login = Login { databases, is_administrator, ..login };
        match self.engine.open(login) {
            Ok(session) => Ok(Guarded::new(session, rights, seat)),
            Err(error) => Err(rights.judge(error)),
        }
    }

    fn cancel(&self, key: Key) {
        self.engine.cancel(key);
    }

    fn settings(&self) -> Settings {
        self.live().settings.clone()
    }

    fn runtime(&self) -> SharedRuntime {
        Arc::clone(&self.runtime)
    }

    async fn stopping(&self, key: Key) {
        tokio::select! {
            biased;
            () = self.stopping.told() => {}
            () = self.engine.killed(key) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use pando_kernel::runtime::Stream;

    use super::*;
    use crate::runtime::TokioRuntime;
    use crate::stop::Stop;

    fn gate() -> Arc<Gate> {
        let runtime = TokioRuntime::shared(tokio::runtime::Handle::current());
        let engine = Engine::new(Arc::clone(&runtime));
        let (_, stopping) = Stop::new();
        Arc::new(Gate::new(
            engine,
            runtime,
            stopping,
            Live::new(&Global::default(), None),
            Clients::Strangers,
        ))
    }

    fn stream() -> Box<dyn Stream> {
        Box::new(tokio::io::empty())
    }

    /// Ten thousand idle clients are to fit into 150 MB: each one's task is made of this.
    #[tokio::test]
    async fn a_client_is_small() {
        let postgres = pando_postgres::frontend::Door::new(gate());
        let mysql = pando_mysql::frontend::Door::new(gate());
        let postgres = size_of_val(&postgres.serve(stream(), String::new().into()));
        let mysql = size_of_val(&mysql.serve(stream(), String::new().into()));
        assert!(postgres.max(mysql) <= 5_100, "PostgreSQL {postgres}, MySQL {mysql}");
    }
}
