//! What others may know and do about a session: see what it is at, cancel that, end it.

mod kept;
mod limited;

use std::cmp::Reverse;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pando_deadlock::{Claims, Cost, Held, Stance, Stand};
use pando_kernel::backend::{CancelToken, Connector};
use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::feature::Permits;
use pando_kernel::runtime::{SharedRuntime, within};
use pando_kernel::session::{Key, Login};
use pando_pool::{Connection, Leash, Pool};

pub(crate) use limited::Doom;

/// A storage unit that has not taken a cancel request within so long does not answer at all: nobody waits for it any longer.
const CANCEL_LIMIT: Duration = Duration::from_secs(3);
/// Time between two cancel requests for one connection. A connection may hold several statements of one round, and a request ends only the one at
/// work. After [`QUICK`] requests the time doubles up to [`LONGEST_PAUSE`]: by then the server does what cannot be stopped.
const PAUSE: Duration = Duration::from_millis(20);
const QUICK: u32 = 16;
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

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
    /// What the session is at was cancelled. Changed under the lock of `doing` only.
    cancelled: Arc<AtomicBool>,
    killed: AtomicBool,
    /// Rows that the open transaction has written.
    written: AtomicU64,
    /// Where it stands in the queue of a pool, while it does.
    place: AtomicU64,
    /// Who waits for the session to be killed.
    door: Mutex<Option<Waker>>,
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
    /// A request is under way: a cancel concerns it, whatever it waits for.
    busy: bool,
    /// Connections that work for the current round.
    running: Vec<Running>,
    /// Grows whenever connections are let go, so that a late cancel does not hit who has them next.
    round: u64,
    /// Cancel requests on their way to storage units.
    asking: usize,
    /// The session, while it waits for a connection or for cancel requests to arrive.
    waker: Option<Waker>,
    /// Connections of the open transaction, at work or not.
    branches: Vec<Held>,
    /// Connections that have locks of its application, at work or not.
    kept: Vec<Held>,
    /// When the first of them came.
    begun: Option<SystemTime>,
    /// The connections for which it waits, while it has what others may wait for.
    queued: Option<Queued>,
    /// The number of its BASE transaction, which may hold rows.
    base: Option<u64>,
    /// The numbers of those for whose rows that waits.
    wanted: Vec<u64>,
    /// Why others have ended what it is at.
    doom: Option<Doom>,
    /// What the statement under way holds of limits.
    permits: Permits,
}

/// What KILL ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Killed {
    /// What the session runs now.
    Statement,
    Session,
}

/// A wait for connections of a pool.
#[derive(Debug, Clone)]
pub(crate) struct Queued {
    /// The pool.
    pub(crate) pool: Pool,
    /// How many.
    pub(crate) count: usize,
    /// Lower places are served before.
    pub(crate) place: u64,
}

/// What a cancel does to a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// The server is asked to cancel what runs there.
    Ask,
    /// The server is let finish, but not waited for longer than [`CANCEL_LIMIT`]: the end of a transaction is not to be stopped on one unit when
    /// others have come to it.
    Leave,
}

#[derive(Debug, Clone)]
struct Running {
    connector: Arc<dyn Connector>,
    token: CancelToken,
    leash: Leash,
    manner: Manner,
}

impl Handle {
    /// Of a session that has done nothing yet.
    pub(crate) fn new(key: Key, login: &Login) -> Self {
        Self {
            key,
            user: login.user.clone(),
            host: login.host.clone(),
            activity: Mutex::new(Activity {
                database: login.database.clone(),
                since: Instant::now(),
                statement: None,
            }),
            doing: Mutex::default(),
            cancelled: Arc::default(),
            killed: AtomicBool::new(false),
            written: AtomicU64::new(0),
            place: AtomicU64::new(0),
            door: Mutex::default(),
        }
    }

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
    pub(crate) fn uses(&self, database: Option<&str>) {
        let mut activity = self.activity.lock().unwrap_or_else(PoisonError::into_inner);
        activity.database = database.map(str::to_owned);
    }

    /// A request begins: from here on a cancel concerns it.
    pub(crate) fn works(&self) {
        let mut doing = self.doing();
        doing.busy = true;
        doing.doom = None;
        self.cancelled.store(false, Ordering::Release);
    }

    /// The request is over; a cancel that comes now concerns nothing.
    pub(crate) fn idles(&self) {
        let permits = {
            let mut doing = self.doing();
            doing.busy = false;
            doing.doom = None;
            doing.queued = None;
            doing.let_go();
            self.cancelled.store(false, Ordering::Release);
            std::mem::take(&mut doing.permits)
        };
        // Others may be let in by it, with no lock of ours.
        drop(permits);
        let mut activity = self.activity.lock().unwrap_or_else(PoisonError::into_inner);
        activity.since = Instant::now();
        activity.statement = None;
    }

    /// Whether what the session is at was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// The same for who has to look often.
    pub(crate) fn halt(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// Forgets a cancel: what comes next is to be done all the same.
    pub(crate) fn overlook(&self) {
        let _doing = self.doing();
        self.cancelled.store(false, Ordering::Release);
    }

    /// Notes a connection that is about to work for this session.
    ///
    /// # Errors
    /// `Cancelled` when that has been cancelled already and the connection is not to be left alone.
    pub(crate) fn runs_on(&self, connection: &Connection, manner: Manner) -> Result<()> {
        let Some(connector) = connection.connector() else { return Ok(()) };
        let (token, leash) = (connection.token(), connection.leash());
        let mut doing = self.doing();
        if manner == Manner::Ask && self.is_cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        doing.running.push(Running { connector, token, leash, manner });
        Ok(())
    }

    /// Waits for connections, until somebody cancels that.
    ///
    /// # Errors
    /// `Cancelled`, or what `taking` says.
    pub(crate) async fn taken<T>(&self, taking: impl Future<Output = Result<T>>) -> Result<T> {
        let mut taking = pin!(taking);
        poll_fn(|cx| {
            let taken = taking.as_mut().poll(cx);
            let mut doing = self.doing();
            if self.is_cancelled() {
                return Poll::Ready(Err(ErrorKind::Cancelled.into()));
            }
            doing.waker = taken.is_pending().then(|| cx.waker().clone());
            taken
        })
        .await
    }

    /// Whether it has connections, or perhaps rows, for which others may wait.
    pub(crate) fn has_some(&self) -> bool {
        let doing = self.doing();
        let has_others = !doing.branches.is_empty() || !doing.kept.is_empty();
        has_others || !doing.running.is_empty() || doing.base.is_some()
    }

    /// Waits as [`Handle::taken`] does for a connection of this pool, while others see that it does: for a session that has some already.
    pub(crate) async fn taken_further(&self, pool: &Pool) -> Result<Connection> {
        let taking = self.taken(pool.take_further(&self.place));
        self.queued(pool, 1, taking).await
    }

    /// The same for several connections.
    pub(crate) async fn many_further(&self, pool: &Pool, count: usize) -> Result<Vec<Connection>> {
        let taking = self.taken(pool.take_many_further(count, &self.place));
        self.queued(pool, count, taking).await
    }

    async fn queued<T>(
        &self,
        pool: &Pool,
        count: usize,
        taking: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let mut taking = pin!(taking);
        poll_fn(|cx| {
            let taken = taking.as_mut().poll(cx);
            let place = self.place.load(Ordering::Relaxed);
            let queued = || Queued { pool: pool.clone(), count, place };
            self.doing().queued = taken.is_pending().then(queued);
            taken
        })
        .await
    }

    fn doing(&self) -> MutexGuard<'_, Doing> {
        self.doing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a connection that belongs to the open transaction from here on.
    pub(crate) fn joins(&self, connection: &Connection) {
        let mut doing = self.doing();
        if let Some(connector) = connection.connector() {
            let id = connection.token().id;
            doing.branches.push(Held { connector, id, is_running: false });
        }
        self.has_begun(&mut doing);
    }

    /// Notes that a transaction of type BASE begins, by its number.
    pub(crate) fn begins_base(&self, own: u64) {
        let mut doing = self.doing();
        doing.base = Some(own);
        self.has_begun(&mut doing);
    }

    fn has_begun(&self, doing: &mut Doing) {
        if doing.begun.is_none() {
            doing.begun = Some(SystemTime::now());
            self.written.store(0, Ordering::Relaxed);
        }
    }

    /// Notes that the transaction is over.
    pub(crate) fn parts(&self) {
        let mut doing = self.doing();
        doing.branches.clear();
        doing.begun = None;
        doing.base = None;
    }

    /// Notes rows that the open transaction has written.
    pub(crate) fn wrote(&self, rows: u64) {
        self.written.fetch_add(rows, Ordering::Relaxed);
    }

    /// Notes that its BASE transaction waits for a row that the one with this number holds.
    pub(crate) fn wants(&self, holder: u64) {
        self.doing().wanted.push(holder);
    }

    /// Notes that such a wait is over.
    pub(crate) fn wants_no_more(&self, holder: u64) {
        let mut doing = self.doing();
        if let Some(at) = doing.wanted.iter().position(|wanted| *wanted == holder) {
            doing.wanted.swap_remove(at);
        }
    }

    /// How the session stands towards others, and the connections for which it waits; `None` when it has none, and no rows while it waits for one.
    pub(crate) fn stand(&self) -> Option<(Stand, Option<Queued>)> {
        let doing = self.doing();
        let mut held = doing.branches.clone();
        held.extend(doing.kept.iter().cloned());
        for running in &doing.running {
            let id = running.token.id;
            let same = |held: &&mut Held| {
                held.id == id && Arc::ptr_eq(&held.connector, &running.connector)
            };
            match held.iter_mut().find(same) {
                Some(held) => held.is_running = true,
                None => {
                    let connector = Arc::clone(&running.connector);
                    held.push(Held { connector, id, is_running: true });
                }
            }
        }
        let waits = doing.busy && (!doing.running.is_empty() || doing.queued.is_some());
        // One that only idles concerns nobody but those who say so themselves.
        let base = doing.base.filter(|_| waits || !doing.wanted.is_empty());
        if held.is_empty() && base.is_none() {
            return None;
        }
        let is_left = doing.running.iter().any(|running| running.manner == Manner::Leave);
        let begun = doing.begun.and_then(|begun| begun.duration_since(UNIX_EPOCH).ok());
        let begun = begun.and_then(|begun| u64::try_from(begun.as_micros()).ok());
        let stand = Stand {
            session: self.key.id,
            wait: waits.then_some(doing.round),
            held,
            cost: Cost {
                rows: begun.map_or(0, |_| self.written.load(Ordering::Relaxed)),
                begun: Reverse(begun.unwrap_or(u64::MAX)),
            },
            stance: match (self.is_cancelled(), is_left) {
                (true, _) => Stance::Leaves,
                (false, true) => Stance::Stays,
                (false, false) => Stance::Waits,
            },
            claims: base.map(|own| Claims { own, wanted: doing.wanted.clone() }),
            queue: None,
        };
        Some((stand, doing.queued.clone()))
    }

    /// Cancels a wait because of a deadlock; false when it is over.
    pub(crate) fn give_way(
        self: &Arc<Self>,
        runtime: &SharedRuntime,
        wait: u64,
        told: &str,
    ) -> bool {
        self.cancel_if(runtime, |doing| {
            let lasts = doing.round == wait;
            doing.doom = lasts.then(|| Doom::Deadlock(told.into()));
            lasts
        })
    }

    /// Why others have cancelled what the session is at.
    pub(crate) fn doom(&self) -> Option<Doom> {
        self.doing().doom.clone()
    }

    /// Notes that connections are let go of. Returns whether they were being cancelled: they must then not serve anyone else, for a cancel may still
    /// be on its way to them.
    pub(crate) fn lets_go(&self) -> bool {
        let is_asked = {
            let mut doing = self.doing();
            doing.let_go();
            doing.asking > 0
        };
        // A request may outlast what it was for.
        is_asked || self.is_cancelled()
    }

    /// Notes that one of the connections that work has done its part. False when it must stay with the others, for a cancel may be on its way to it.
    pub(crate) fn parts_with(&self, connection: &Connection) -> bool {
        let Some(connector) = connection.connector() else { return false };
        let id = connection.token().id;
        let mut doing = self.doing();
        if self.is_cancelled() || doing.asking > 0 {
            return false;
        }
        doing.running.retain(|one| one.token.id != id || !Arc::ptr_eq(&one.connector, &connector));
        true
    }

    /// Notes that connections wait with their replies for the client. What is being cancelled stays so.
    pub(crate) fn pauses(&self) {
        let mut doing = self.doing();
        if !self.is_cancelled() {
            doing.let_go();
        }
    }

    /// Waits until no cancel request is on its way any more; at most as long as one may take. To be called after [`Handle::lets_go`].
    pub(crate) async fn settled(&self, runtime: &SharedRuntime) {
        let quiet = poll_fn(|cx| {
            let mut doing = self.doing();
            if doing.asking == 0 {
                return Poll::Ready(());
            }
            doing.waker = Some(cx.waker().clone());
            Poll::Pending
        });
        within(&**runtime, CANCEL_LIMIT, quiet).await;
    }

    /// Whether the session shall end.
    pub(crate) fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Acquire)
    }

    /// Completes when the session shall end. Only one may wait, ever: who has said so once does not say it again.
    pub(crate) async fn killed(&self) {
        let mut known: Option<Waker> = None;
        poll_fn(|cx| {
            let is_known = known.as_ref().is_some_and(|known| known.will_wake(cx.waker()));
            if is_known && !self.is_killed() {
                return Poll::Pending;
            }
            known = Some(cx.waker().clone());
            let mut door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
            if self.is_killed() {
                return Poll::Ready(());
            }
            *door = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Ends the session: its running statement, and its door's wait for the next request.
    pub(crate) fn kill(self: &Arc<Self>, runtime: &SharedRuntime) {
        let door = {
            let mut door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
            self.killed.store(true, Ordering::Release);
            door.take()
        };
        self.cancel(runtime);
        if let Some(door) = door {
            door.wake();
        }
    }

    /// Cancels what the session is at: a wait for connections ends, nothing further is started, and every storage unit that runs something for it is
    /// asked to stop, again and again until the session has let go of the connection. A unit that does not even take the request is given up.
    pub(crate) fn cancel(self: &Arc<Self>, runtime: &SharedRuntime) {
        self.cancel_if(runtime, |_| true);
    }

    /// Cancels as [`Handle::cancel`] does, if that is agreed to; false when nothing was cancelled.
    fn cancel_if(
        self: &Arc<Self>,
        runtime: &SharedRuntime,
        agrees: impl FnOnce(&mut Doing) -> bool,
    ) -> bool {
        let (running, round, waker) = {
            let mut doing = self.doing();
            if !doing.busy || self.is_cancelled() || !agrees(&mut doing) {
                return false;
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
                match one.manner {
                    Manner::Ask => handle.ask(&seam, round, &one).await,
                    Manner::Leave => {
                        seam.sleep(CANCEL_LIMIT).await;
                        handle.give_up(round, &one.leash);
                    }
                }
            }));
        }
        true
    }

    async fn ask(&self, runtime: &SharedRuntime, round: u64, one: &Running) {
        let mut pause = PAUSE;
        for count in 1u32.. {
            let Some(asking) = self.asks(round) else { return };
            let asked = one.connector.cancel(runtime, one.token);
            match within(&**runtime, CANCEL_LIMIT, asked).await {
                Some(Ok(())) => {}
                Some(Err(error)) if matches!(error.kind(), ErrorKind::Server(_)) => {
                    tracing::debug!(%error, "a storage unit refused a cancel request");
                }
                Some(Err(error)) => {
                    tracing::warn!(%error, "a cancel request did not reach its storage unit");
                    return self.give_up(round, &one.leash);
                }
                None => {
                    tracing::warn!("a storage unit does not answer a cancel request");
                    return self.give_up(round, &one.leash);
                }
            }
            drop(asking);
            runtime.sleep(pause).await;
            if count > QUICK {
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }

    /// Counts a cancel request for connections of that round; `None` when they have been let go.
    fn asks(&self, round: u64) -> Option<Asking<'_>> {
        let mut doing = self.doing();
        if doing.round != round {
            return None;
        }
        doing.asking += 1;
        Some(Asking(self))
    }

    /// Gives a connection up if it still works for that round.
    fn give_up(&self, round: u64, leash: &Leash) {
        let doing = self.doing();
        if doing.round == round {
            leash.give_up();
        }
    }
}

impl Doing {
    fn let_go(&mut self) {
        self.running.clear();
        self.round = self.round.wrapping_add(1);
    }
}

/// A cancel request on its way, however its task ends.
struct Asking<'a>(&'a Handle);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let waker = {
            let mut doing = self.0.doing();
            doing.asking = doing.asking.saturating_sub(1);
            doing.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
