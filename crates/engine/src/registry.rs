//! Who is connected, and how to cancel what a session runs.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use pando_kernel::backend::{CancelToken, Connector};
use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::runtime::{SharedRuntime, within};
use pando_kernel::session::{Key, Login};
use pando_pool::{Connection, Leash};

/// A storage unit that has not taken a cancel request within so long does not answer at all: nobody waits for it any longer.
const CANCEL_LIMIT: Duration = Duration::from_secs(3);

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
    doing: Mutex<Doing>,
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

/// What a cancel would concern.
#[derive(Debug, Default)]
struct Doing {
    running: Vec<Running>,
    /// Grows with every statement that ends, so that a late cancel does not hit the next one.
    round: u64,
    /// The session waits for a connection.
    waits: bool,
    waker: Option<Waker>,
}

#[derive(Debug, Clone)]
struct Running {
    connector: Arc<dyn Connector>,
    token: CancelToken,
    leash: Leash,
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
            doing: Mutex::default(),
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
    pub(crate) fn runs_on(&self, connector: &Arc<dyn Connector>, connection: &Connection) {
        let connector = Arc::clone(connector);
        let (token, leash) = (connection.token(), connection.leash());
        self.doing().running.push(Running { connector, token, leash });
    }

    /// Waits for connections, until somebody cancels that.
    ///
    /// # Errors
    /// `Cancelled`, or what `taking` says.
    pub(crate) async fn taken<T>(&self, taking: impl Future<Output = Result<T>>) -> Result<T> {
        let mut taking = pin!(taking);
        let taken = poll_fn(|cx| {
            if let Poll::Ready(taken) = taking.as_mut().poll(cx) {
                return Poll::Ready(taken);
            }
            let mut doing = self.doing();
            if doing.waits && self.cancelled.swap(false, Ordering::AcqRel) {
                return Poll::Ready(Err(ErrorKind::Cancelled.into()));
            }
            doing.waits = true;
            doing.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
        let mut doing = self.doing();
        if doing.waits {
            doing.waits = false;
            doing.waker = None;
            self.cancelled.store(false, Ordering::Release);
        }
        taken
    }

    fn doing(&self) -> MutexGuard<'_, Doing> {
        self.doing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the statement is over. Returns whether it was being cancelled: its connections must then not serve anyone else, for the
    /// cancel may still be on its way to them.
    pub(crate) fn rests(&self) -> bool {
        {
            let mut doing = self.doing();
            doing.running.clear();
            doing.round = doing.round.wrapping_add(1);
        }
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
    pub(crate) fn kill(self: &Arc<Self>, runtime: &SharedRuntime) {
        self.killed.store(true, Ordering::Release);
        self.cancel(runtime);
    }

    /// Asks every storage unit that runs something for this session to cancel it, and ends a wait for connections. A unit that does not even take
    /// the request is given up.
    pub(crate) fn cancel(self: &Arc<Self>, runtime: &SharedRuntime) {
        let (running, round, waker) = {
            let mut doing = self.doing();
            if doing.running.is_empty() && !doing.waits {
                return;
            }
            self.cancelled.store(true, Ordering::Release);
            (doing.running.clone(), doing.round, doing.waker.take())
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        for one in running {
            let (seam, handle) = (Arc::clone(runtime), Arc::clone(self));
            runtime.spawn(Box::pin(async move {
                let asked = one.connector.cancel(&seam, one.token);
                match within(&*seam, CANCEL_LIMIT, asked).await {
                    Some(Ok(())) => {}
                    Some(Err(error)) if matches!(error.kind(), ErrorKind::Server(_)) => {
                        tracing::debug!(%error, "a storage unit refused a cancel request");
                    }
                    Some(Err(error)) => {
                        tracing::warn!(%error, "a cancel request did not reach its storage unit");
                        handle.give_up(round, &one.leash);
                    }
                    None => {
                        tracing::warn!("a storage unit does not answer a cancel request");
                        handle.give_up(round, &one.leash);
                    }
                }
            }));
        }
    }

    /// Gives a connection up if it still runs the statement of that round.
    fn give_up(&self, round: u64, leash: &Leash) {
        let doing = self.doing();
        if doing.round == round {
            leash.give_up();
        }
    }
}
