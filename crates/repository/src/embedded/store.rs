//! The store and its instances: reads come from memory, changes go one after the other through a thread that waits for the disk.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use pando_kernel::runtime::{BoxFuture, SharedRuntime, within};
use tokio::sync::oneshot;

use super::log::{Failed, Log};
use super::record::Record;
use super::state::{SessionId, State};
use crate::{
    Change, Error, Prefix, Repository, Result, Revision, Session, Speaker, View, Watch, Watchers,
};

/// Changes that wait for the disk; one more is refused.
const MAX_WAITING: usize = 64;

/// How the store behaves.
#[derive(Debug, Clone)]
pub struct Options {
    /// How long a change may wait for the disk. Default 5 s.
    pub deadline: Duration,
    /// Bytes of log before it is written anew; it also must be several times what is kept. Default 1 MiB; small values only cost time.
    pub compact_after: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { deadline: Duration::from_secs(5), compact_after: 1024 * 1024 }
    }
}

/// A folder's keys. No other process can open the folder while this or one of its instances lives.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

impl Store {
    /// Opens the folder, or makes it. Waits for the disk: for use at start-up.
    ///
    /// # Errors
    /// `Unavailable` when the folder is in use by another process or the disk fails, `Damaged` when the log is: the message names
    /// the file and the byte.
    pub fn open(folder: &Path, runtime: SharedRuntime, options: Options) -> Result<Self> {
        let (log, state) = Log::open(folder, options.compact_after)?;
        let (state, own) = (Arc::new(Mutex::new(state)), Arc::new(Mutex::new(Vec::new())));
        let (queue, jobs) = mpsc::sync_channel(MAX_WAITING);
        let mut writer = Writer { log, state: state.clone(), instances: own.clone() };
        let thread = std::thread::Builder::new().name("repository".into()).spawn(move || {
            while let Ok(job) = jobs.recv() {
                writer.work(job);
            }
        });
        let thread = thread.map_err(|e| Error::Unavailable(format!("no thread: {e}")))?;
        let thread = Thread { queue: Some(queue), handle: Some(thread) };
        let shared =
            Shared { state, instances: own, thread, runtime, options, last: AtomicU64::new(0) };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Another instance with a session of its own. The usual process has one; a test may have a cluster of them.
    pub fn instance(&self) -> Arc<dyn Repository> {
        let session = self.shared.last.fetch_add(1, Ordering::Relaxed) + 1;
        lock(&self.shared.state).begin_session(session);
        let speaker = Speaker::new();
        speaker.begun();
        let own = Arc::new(Own { watchers: Watchers::new(), speaker: Mutex::new(Some(speaker)) });
        lock(&self.shared.instances).push(own.clone());
        Arc::new(Instance { shared: self.shared.clone(), session, own })
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

struct Shared {
    state: Arc<Mutex<State>>,
    instances: Arc<Mutex<Vec<Arc<Own>>>>,
    thread: Thread,
    runtime: SharedRuntime,
    options: Options,
    last: AtomicU64,
}

/// Ends with the last instance; then the folder is free again.
struct Thread {
    queue: Option<SyncSender<Job>>,
    handle: Option<JoinHandle<()>>,
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.queue = None;
        // A thread that has panicked has nothing to say here: its callers were told `Unknown`.
        drop(self.handle.take().map(JoinHandle::join));
    }
}

/// What belongs to one instance and not to the store.
struct Own {
    watchers: Watchers,
    /// `None` once closed.
    speaker: Mutex<Option<Speaker>>,
}

struct Job {
    change: Change,
    session: SessionId,
    reply: oneshot::Sender<Result<Revision>>,
}

/// The thread's side.
struct Writer {
    log: Log,
    state: Arc<Mutex<State>>,
    instances: Arc<Mutex<Vec<Arc<Own>>>>,
}

impl Writer {
    fn work(&mut self, job: Job) {
        // Nobody waits any more and nothing has been done: the kindest meaning of `Unknown`.
        if job.reply.is_closed() {
            return;
        }
        let done = self.commit(job.change, job.session);
        drop(job.reply.send(done));
        // After the answer, which need not wait for it. Only this thread changes what stays, so a copy is as good.
        if self.log.is_due() {
            let state = lock(&self.state).clone();
            self.log.compact(&state);
        }
    }

    fn commit(&mut self, change: Change, session: SessionId) -> Result<Revision> {
        let (writes, revision) = {
            let state = lock(&self.state);
            state.check(&change)?;
            (state.durable(&change), Revision(state.revision.0 + 1))
        };
        if !writes.is_empty() {
            let appended = self.log.append(&Record::Commit { revision, writes });
            appended.map_err(|failed| match failed {
                Failed::Cleanly(why) => Error::Unavailable(why),
                Failed::InDoubt(why) => Error::Unknown(why),
            })?;
        }
        let keys: Vec<_> = change.writes.iter().map(|(key, _)| key.clone()).collect();
        lock(&self.state).apply(change, revision, session);
        for own in lock(&self.instances).iter() {
            for key in &keys {
                own.watchers.changed(key.as_str());
            }
        }
        Ok(revision)
    }
}

/// One instance's connection to the store.
struct Instance {
    shared: Arc<Shared>,
    session: SessionId,
    own: Arc<Own>,
}

impl Instance {
    fn check_open(&self) -> Result<()> {
        let open = lock(&self.own.speaker).is_some();
        if open { Ok(()) } else { Err(Error::Unavailable("it is closed".into())) }
    }

    async fn send(&self, change: Change) -> Result<Revision> {
        self.check_open()?;
        change.check()?;
        let (reply, answer) = oneshot::channel();
        let job = Job { change, session: self.session, reply };
        let ended = || Error::Unavailable("its thread has ended".into());
        let queue = self.shared.thread.queue.as_ref().ok_or_else(ended)?;
        queue.try_send(job).map_err(|e| match e {
            TrySendError::Full(_) => Error::Unavailable("too many changes wait".into()),
            TrySendError::Disconnected(_) => ended(),
        })?;
        let deadline = self.shared.options.deadline;
        match within(&*self.shared.runtime, deadline, answer).await {
            Some(Ok(done)) => done,
            Some(Err(_)) => Err(Error::Unknown("its thread has ended".into())),
            None => Err(Error::Unknown(format!("the disk took longer than {deadline:?}"))),
        }
    }

    fn end(&self) {
        let Some(speaker) = lock(&self.own.speaker).take() else { return };
        drop(speaker);
        let mut instances = lock(&self.shared.instances);
        instances.retain(|own| !Arc::ptr_eq(own, &self.own));
        self.own.watchers.close();
        for key in lock(&self.shared.state).end_session(self.session) {
            for own in instances.iter() {
                own.watchers.changed(key.as_str());
            }
        }
    }
}

impl Repository for Instance {
    fn read<'a>(&'a self, below: &'a Prefix) -> BoxFuture<'a, Result<View>> {
        let view = self.check_open().and_then(|()| lock(&self.shared.state).view(below));
        Box::pin(std::future::ready(view))
    }

    fn commit(&self, change: Change) -> BoxFuture<'_, Result<Revision>> {
        Box::pin(self.send(change))
    }

    fn watch(&self, below: &Prefix) -> Watch {
        self.own.watchers.register(below)
    }

    fn session(&self) -> Session {
        // A session that is closed from the start when the instance is.
        lock(&self.own.speaker).as_ref().map_or_else(|| Speaker::new().listen(), Speaker::listen)
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.end();
        Box::pin(std::future::ready(()))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("embedded::Instance").field("session", &self.session).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
