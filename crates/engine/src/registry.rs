//! Who is connected, and how to cancel what a session runs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use pando_kernel::backend::{CancelToken, Connector};
use pando_kernel::runtime::SharedRuntime;
use pando_kernel::session::{Key, Login};

/// All sessions of an engine.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    sessions: Mutex<HashMap<u32, Arc<Handle>>>,
    last: AtomicU32,
}

/// What others may know and do about a session.
#[derive(Debug)]
pub(crate) struct Handle {
    /// Number and secret.
    pub(crate) key: Key,
    /// The user.
    pub(crate) user: String,
    /// The client's host.
    pub(crate) host: String,
    activity: Mutex<Activity>,
    running: Mutex<Vec<Running>>,
    cancelled: AtomicBool,
    killed: AtomicBool,
}

/// What a session is at.
#[derive(Debug, Clone)]
pub(crate) struct Activity {
    /// Its current database.
    pub(crate) database: Option<String>,
    /// When it began what it does, or to wait for its client.
    pub(crate) since: Instant,
    /// The statement that runs.
    pub(crate) statement: Option<Arc<str>>,
}

#[derive(Debug, Clone)]
struct Running {
    connector: Arc<dyn Connector>,
    token: CancelToken,
}

impl Registry {
    /// A session number nobody has.
    pub(crate) fn announce(&self) -> u32 {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let id = self.last.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
            if id != 0 && !sessions.contains_key(&id) {
                return id;
            }
        }
    }

    /// Registers a new session, under the number it was announced with when there is one.
    pub(crate) fn register(&self, login: &Login) -> Arc<Handle> {
        let id = if login.id == 0 { self.announce() } else { login.id };
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let key = Key { id, secret: crate::source::random_u32() };
        let handle = Arc::new(Handle {
            key,
            user: login.user.clone(),
            host: login.host.clone(),
            activity: Mutex::new(Activity {
                database: login.database.clone(),
                since: Instant::now(),
                statement: None,
            }),
            running: Mutex::default(),
            cancelled: AtomicBool::new(false),
            killed: AtomicBool::new(false),
        });
        sessions.insert(id, Arc::clone(&handle));
        handle
    }

    /// Forgets a session.
    pub(crate) fn remove(&self, id: u32) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    /// All sessions, by number.
    pub(crate) fn all(&self) -> Vec<Arc<Handle>> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<Arc<Handle>> = sessions.values().cloned().collect();
        all.sort_by_key(|handle| handle.key.id);
        all
    }

    /// How many sessions there are.
    pub(crate) fn len(&self) -> usize {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The session of this number.
    pub(crate) fn find(&self, id: u32) -> Option<Arc<Handle>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }
}

impl Handle {
    /// What the session is at.
    pub(crate) fn activity(&self) -> Activity {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes a statement that begins.
    pub(crate) fn begins(&self, statement: &Arc<str>) {
        let mut activity = self.activity.lock().unwrap_or_else(PoisonError::into_inner);
        activity.since = Instant::now();
        activity.statement = Some(Arc::clone(statement));
    }

    /// Notes the current database.
    pub(crate) fn uses(&self, database: &str) {
        let mut activity = self.activity.lock().unwrap_or_else(PoisonError::into_inner);
        activity.database = Some(database.to_owned());
    }

    /// Notes a connection that now runs a statement of this session.
    pub(crate) fn runs_on(&self, connector: &Arc<dyn Connector>, token: CancelToken) {
        let connector = Arc::clone(connector);
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.push(Running { connector, token });
    }

    /// Notes that the statement is over. Returns whether it was being cancelled: its connections must then not serve anyone else, for the
    /// cancel may still be on its way to them.
    pub(crate) fn rests(&self) -> bool {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.clear();
        let mut activity = self.activity.lock().unwrap_or_else(PoisonError::into_inner);
        activity.since = Instant::now();
        activity.statement = None;
        self.cancelled.swap(false, Ordering::AcqRel)
    }

    /// Whether the session shall end.
    pub(crate) fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Acquire)
    }

    /// Ends the session at its next request, and its running statement now.
    pub(crate) fn kill(&self, runtime: &SharedRuntime) {
        self.killed.store(true, Ordering::Release);
        self.cancel(runtime);
    }

    /// Asks every storage unit that runs something for this session to cancel it.
    pub(crate) fn cancel(&self, runtime: &SharedRuntime) {
        let running = {
            let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            if running.is_empty() {
                return;
            }
            self.cancelled.store(true, Ordering::Release);
            running.clone()
        };
        for one in running {
            let seam = Arc::clone(runtime);
            runtime.spawn(Box::pin(async move {
                if let Err(error) = one.connector.cancel(&seam, one.token).await {
                    tracing::warn!(%error, "a cancel request did not reach its storage unit");
                }
            }));
        }
    }
}
