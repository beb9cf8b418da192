//! Who is connected, and how to cancel what a session runs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pando_kernel::backend::{CancelToken, Connector};
use pando_kernel::runtime::SharedRuntime;
use pando_kernel::session::Key;

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
    running: Mutex<Vec<Running>>,
    cancelled: AtomicBool,
    killed: AtomicBool,
}

#[derive(Debug, Clone)]
struct Running {
    connector: Arc<dyn Connector>,
    token: CancelToken,
}

impl Registry {
    /// Registers a new session.
    pub(crate) fn register(&self) -> Arc<Handle> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let mut id = self.last.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        while id == 0 || sessions.contains_key(&id) {
            id = self.last.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        }
        let key = Key { id, secret: crate::source::random_u32() };
        let handle = Arc::new(Handle {
            key,
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
