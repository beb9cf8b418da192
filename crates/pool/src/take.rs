//! Taking connections: a slot first, then a connection that is known to live.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use pando_kernel::runtime::{BoxFuture, Near, within};
use pando_kernel::{Backend, Error, ErrorKind, Execution, Result};

use crate::circuit::Trial;
use crate::connection::Connection;
use crate::keeper;
use crate::live::Live;
use crate::shared::Shared;
use crate::slot::Slot;
use crate::wait::Turn;

/// A connection that does not answer a ping for so long is taken for dead. (Never more than a third of the connection timeout.)
const PING_LIMIT: Duration = Duration::from_secs(5);

/// An idle connection that can be lent as it stands; `None` when there is none, or others wait for one.
pub(crate) fn idle(shared: &Arc<Shared>) -> Result<Option<Connection>> {
    let trial = shared.circuit.begin()?;
    let Some(slot) = shared.try_idle()? else { return Ok(None) };
    keeper::start(shared);
    let connection = at_once(shared, slot, shared.runtime.now()).ok();
    Ok(connection.map(|connection| connection.tries(trial)))
}

/// A statement wants connections: counted, and refused while the circuit is open. Who ends a transaction is not.
fn begin(shared: &Arc<Shared>, turn: Turn<'_>) -> Result<Option<Trial>> {
    match turn {
        Turn::First | Turn::Further(_) => shared.circuit.begin(),
        Turn::Last => Ok(None),
    }
}

pub(crate) async fn one(shared: &Arc<Shared>, turn: Turn<'_>) -> Result<Connection> {
    let trial = begin(shared, turn)?;
    match one_untried(shared, turn).await {
        Ok(connection) => Ok(connection.tries(trial)),
        Err(error) => Err(failed(trial, error)),
    }
}

/// What kept a statement from its connection is counted.
fn failed(trial: Option<Trial>, error: Error) -> Error {
    if let Some(trial) = trial {
        trial.ends(Err::<&(), _>(&error));
    }
    error
}

async fn one_untried(shared: &Arc<Shared>, turn: Turn<'_>) -> Result<Connection> {
    let started = shared.runtime.now();
    let (slot, now) = match shared.try_one(turn)? {
        Some(slot) => (slot, started),
        None => {
            let slot = wait(shared, turn, 1, started).await?.pop();
            (slot.ok_or_else(|| Error::internal("an empty grant"))?, shared.runtime.now())
        }
    };
    keeper::start(shared);
    let slot = match at_once(shared, slot, now) {
        Ok(connection) => return Ok(connection),
        Err(slot) => slot,
    };
    // Boxed: who finds an idle connection, which is nearly everybody, need not have room for opening one.
    Box::pin(opened(shared, turn, slot, started)).await
}

/// A connection in this slot, or, where the server is full, the next that comes free.
async fn opened(
    shared: &Arc<Shared>,
    turn: Turn<'_>,
    mut slot: Slot,
    started: Instant,
) -> Result<Connection> {
    loop {
        let work = ready(Arc::clone(shared), slot);
        match prepared(shared, spent(shared, started), work).await {
            Err(error) if may_come_free(shared, &error, 1) => {}
            done => return done,
        }
        let granted = wait(shared, turn, 1, started).await?.pop();
        slot = granted.ok_or_else(|| Error::internal("an empty grant"))?;
        slot = match at_once(shared, slot, shared.runtime.now()) {
            Ok(connection) => return Ok(connection),
            Err(slot) => slot,
        };
    }
}

fn spent(shared: &Shared, started: Instant) -> Duration {
    shared.runtime.now().saturating_duration_since(started)
}

/// Whether others have as many connections as a full server has turned away.
fn may_come_free(shared: &Shared, error: &Error, count: usize) -> bool {
    let most = shared.room().unwrap_or(shared.options.max);
    matches!(error.kind(), ErrorKind::Full { .. }) && count <= most && shared.statistics().open > 0
}

pub(crate) async fn many(
    shared: &Arc<Shared>,
    turn: Turn<'_>,
    count: usize,
) -> Result<Vec<Connection>> {
    let max = shared.options.max;
    if count > max {
        return Err(Error::new(ErrorKind::Configuration(format!(
            "a query needs {count} connections to storage unit `{}` at once, its pool has at most {max}",
            shared.unit
        ))));
    }
    if count == 0 {
        return Ok(Vec::new());
    }
    let trial = begin(shared, turn)?;
    match many_untried(shared, turn, count).await {
        Ok(mut connections) => {
            // The others are counted from when something is sent on them.
            let first = connections.pop().map(|connection| connection.tries(trial));
            connections.extend(first);
            Ok(connections)
        }
        Err(error) => Err(failed(trial, error)),
    }
}

async fn many_untried(
    shared: &Arc<Shared>,
    turn: Turn<'_>,
    count: usize,
) -> Result<Vec<Connection>> {
    let started = shared.runtime.now();
    loop {
        let slots = wait(shared, turn, count, started).await?;
        keeper::start(shared);
        let now = shared.runtime.now();
        let work = slots.into_iter().map(|slot| match at_once(shared, slot, now) {
            Ok(connection) => Work::Done(connection),
            Err(slot) => Work::Doing(Box::pin(ready(Arc::clone(shared), slot))),
        });
        let work: Vec<Work> = work.collect();
        match prepared(shared, spent(shared, started), all(work)).await {
            Err(error) if may_come_free(shared, &error, count) => {}
            done => return done,
        }
    }
}

/// Waits for `count` slots, for what is left of the connection timeout.
async fn wait(
    shared: &Arc<Shared>,
    turn: Turn<'_>,
    count: usize,
    started: Instant,
) -> Result<Vec<Slot>> {
    let mut wait = shared.queue(turn, count)?;
    turn.note(wait.ticket.place);
    if let Poll::Ready(slots) =
        poll_fn(|cx| Poll::Ready(std::pin::Pin::new(&mut wait).poll(cx))).await
    {
        return slots;
    }
    let limit = shared.options.connection_timeout;
    let left = limit.saturating_sub(spent(shared, started));
    within(&*shared.runtime, left, wait).await.unwrap_or_else(|| Err(too_late(shared)))
}

fn too_late(shared: &Shared) -> Error {
    let (statistics, limit) = (shared.statistics(), shared.options.connection_timeout);
    let used = statistics.open - statistics.idle;
    // Callers of `Turn::Last` may have one more than there are.
    let most = shared.room().unwrap_or(shared.options.max).max(used);
    let full = if shared.room().is_some() { " (its server lets no more in)" } else { "" };
    Error::new(ErrorKind::Timeout(format!(
        "no connection to storage unit `{}` within {limit:?}: {used} of {most}{full} are in use and {} callers wait",
        shared.unit, statistics.waiting,
    )))
}

/// Runs the checking and connecting in what is left of the connection timeout.
async fn prepared<T>(
    shared: &Shared,
    spent: Duration,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let limit = shared.options.connection_timeout;
    let done = within(&*shared.runtime, limit.saturating_sub(spent), work).await;
    done.unwrap_or_else(|| {
        shared.suspect_all();
        Err(Error::new(ErrorKind::Unavailable {
            unit: shared.unit.to_string(),
            message: format!("no connection within {limit:?}: its server does not answer"),
        }))
    })
}

/// The slot's idle connection, when it can be lent without asking it anything.
fn at_once(shared: &Shared, mut slot: Slot, now: Instant) -> Result<Connection, Slot> {
    let Some(mut live) = slot.live.take() else {
        return Err(slot);
    };
    if live.memory.is_cleaning {
        match live.poll_cleaned(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(true) => {}
            Poll::Ready(false) => {
                told_unclean(shared, &live);
                drop(live);
                return Err(slot);
            }
            Poll::Pending => {
                slot.live = Some(live);
                return Err(slot);
            }
        }
    }
    if live.is_closed() {
        tracing::debug!(unit = %shared.unit, "an idle connection was closed by its server");
        drop(live);
        shared.throw_stale_away();
        return Err(slot);
    }
    if live.outlived(now) || shared.doubtful(&live, now) {
        slot.live = Some(live);
        return Err(slot);
    }
    Ok(Connection::lent(slot, live))
}

/// A connection in this slot that lives: the idle one if it does, else a new one.
async fn ready(shared: Arc<Shared>, mut slot: Slot) -> Result<Connection> {
    let now = shared.runtime.now();
    if let Some(mut live) = slot.live.take()
        && !live.outlived(now)
        && is_cleaned(&shared, &mut live).await
    {
        if !shared.doubtful(&live, now) || answers(&shared, &mut live).await {
            return Ok(Connection::lent(slot, live));
        }
        tracing::debug!(unit = %shared.unit, "an idle connection is dead");
        drop(live);
        shared.throw_stale_away();
    }
    let live = open(&shared).await?;
    Ok(Connection::lent(slot, live))
}

/// Whether a connection that was to clean itself has done so; one that need not has.
async fn is_cleaned(shared: &Shared, live: &mut Live) -> bool {
    let cleaned = poll_fn(|cx| live.poll_cleaned(cx)).await;
    if !cleaned {
        told_unclean(shared, live);
    }
    cleaned
}

/// A connection that could not be cleaned is about to be closed.
fn told_unclean(shared: &Shared, live: &Live) {
    tracing::debug!(unit = %shared.unit, "a connection that could not be cleaned is closed");
    if !live.backend.condition().usable {
        shared.throw_stale_away();
    }
}

async fn answers(shared: &Shared, live: &mut Live) -> bool {
    let limit = PING_LIMIT.min(shared.options.connection_timeout / 3);
    within(&*shared.runtime, limit, live.settle(Execution::Ping)).await.unwrap_or(false)
}

/// A new connection. What the server says against it is told as the storage unit's: "access denied" alone would seem to be about the client itself.
pub(crate) async fn open(shared: &Arc<Shared>) -> Result<Box<Live>> {
    let near = Near::default();
    let telling = shared.runtime.telling(&near);
    let runtime = telling.as_ref().unwrap_or(&shared.runtime);
    let error = match shared.connector.connect(runtime).await {
        Ok(backend) => {
            if shared.unreachable.swap(false, Ordering::Relaxed) {
                tracing::info!(unit = %shared.unit, "the storage unit is available again");
            }
            let (memory, witness) = shared.memory();
            return Ok(Live::new(backend, near, memory, witness, shared));
        }
        Err(error) => unavailable(shared, error),
    };
    if matches!(error.kind(), ErrorKind::Full { .. }) {
        shared.is_full();
    } else {
        shared.suspect_all();
    }
    // Once, and not for each of the statements that fail meanwhile.
    if shared.unreachable.swap(true, Ordering::Relaxed) {
        tracing::debug!(%error, "connecting failed again");
    } else {
        tracing::warn!("{error}");
    }
    Err(error)
}

fn unavailable(shared: &Shared, error: Error) -> Error {
    let ErrorKind::Server(own) = error.kind() else { return error };
    let (unit, message) = (shared.unit.to_string(), own.message.clone());
    if own.is_of_a_full_server() {
        return Error::new(ErrorKind::Full { unit, message });
    }
    Error::new(ErrorKind::Unavailable { unit, message })
}

enum Work {
    Doing(BoxFuture<'static, Result<Connection>>),
    Done(Connection),
}

/// All connections, made ready side by side; the first error ends it and what was ready goes back.
async fn all(mut work: Vec<Work>) -> Result<Vec<Connection>> {
    poll_fn(|cx| {
        let mut pending = false;
        for item in &mut work {
            if let Work::Doing(future) = item {
                match future.as_mut().poll(cx) {
                    Poll::Pending => pending = true,
                    Poll::Ready(Ok(connection)) => *item = Work::Done(connection),
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                }
            }
        }
        if pending { Poll::Pending } else { Poll::Ready(Ok(())) }
    })
    .await?;
    let done = work.into_iter().filter_map(|item| match item {
        Work::Done(connection) => Some(connection),
        Work::Doing(_) => None,
    });
    Ok(done.collect())
}
