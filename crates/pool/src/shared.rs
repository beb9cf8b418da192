//! What all handles of a pool share: the idle connections, the count of slots and the queue.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;
use std::time::Instant;

use pando_kernel::runtime::SharedRuntime;
use pando_kernel::{Connector, Error, ErrorKind, Result};

use crate::circuit::Circuit;
use crate::crowd;
use crate::definitions::Definitions;
use crate::fence::Fence;
use crate::idle::Idle;
use crate::live::{Live, Memory, Witness};
use crate::options::Options;
use crate::slot::Slot;
use crate::wait::{Ticket, Turn, Wait};

/// Callers that may wait at once; one more is turned away.
const QUEUE_LIMIT: usize = 10_000;

/// So many callers are looked at for one that a connection is near to.
const LOOKED_AT: usize = 32;

/// Connections brought back to a clean state at once; a further unclean one is closed instead.
const RECOVERY_LIMIT: usize = 16;

/// How many connections a pool has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statistics {
    /// Open or being opened, idle ones included.
    pub open: usize,
    /// Open and free.
    pub idle: usize,
    /// Open at most.
    pub most: usize,
    /// Callers waiting.
    pub waiting: usize,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) unit: Arc<str>,
    pub(crate) connector: Arc<dyn Connector>,
    pub(crate) runtime: SharedRuntime,
    pub(crate) options: Options,
    pub(crate) kept: AtomicBool,
    /// Grows whenever a connection is found dead: those that rested before may be dead too. Grows as well when one is opened while there is none: its
    /// server may not be the one that the last was opened to.
    suspicion: AtomicU64,
    /// The last attempt to connect failed.
    pub(crate) unreachable: AtomicBool,
    pub(crate) fence: Arc<Fence>,
    pub(crate) definitions: Definitions,
    pub(crate) circuit: Arc<Circuit>,
    state: Mutex<State>,
}

/// Always: `held <= max`, but for callers of [`Turn::Last`] and where a server has just said that it is full, and `idle.len()` no more than what is left, and one for the next of those. Nobody waits who could be served.
#[derive(Debug, Default)]
struct State {
    idle: Idle,
    /// Slots given out: lent, connecting or being brought back to order.
    held: usize,
    /// In order of their places.
    queue: VecDeque<Arc<Ticket>>,
    tickets: u64,
    opened: u64,
    /// Of the connections that live.
    witness: Weak<()>,
    recovering: usize,
    /// Connections that a full server has let in: no more are tried for a while.
    room: Option<usize>,
    closed: bool,
}

/// What must be done after the lock is released: closing connections and waking tasks may take time, and drop slots.
#[derive(Default)]
struct Aftermath {
    #[expect(clippy::vec_box, reason = "as they idled")]
    close: Vec<Box<Live>>,
    wake: Vec<(Arc<Ticket>, Option<Waker>)>,
}

impl Aftermath {
    fn run(self) {
        for (_, waker) in self.wake {
            if let Some(waker) = waker {
                waker.wake();
            }
        }
        drop(self.close);
    }
}

impl State {
    /// Slots that may be given out.
    fn most(&self, max: usize) -> usize {
        self.room.map_or(max, |room| room.min(max))
    }

    /// Where in the queue he stands who is served next, when the front can be: the front, or one behind it to whose event loop a connection is near that would else move to the
    /// front's, and its server's process with it, to another core. Only callers that hold nothing and want one connection let each other pass, each
    /// [`LET_PASS`](crate::wait::LET_PASS) times.
    fn next(&self) -> usize {
        let passes = |ticket: &&Arc<Ticket>| ticket.is_first && ticket.count == 1;
        let near = |ticket: &Arc<Ticket>| self.idle.is_near(ticket.event_loop);
        let Some(front) = self.queue.front().filter(passes) else { return 0 };
        if self.idle.len() == 0 || near(front) || !front.may_let_pass() {
            return 0;
        }
        let found = self.queue.iter().take(LOOKED_AT).take_while(passes).position(near);
        if found.is_some() {
            front.lets_pass();
        }
        found.unwrap_or(0)
    }
}

impl Shared {
    pub(crate) fn new(
        unit: Arc<str>,
        connector: Arc<dyn Connector>,
        runtime: SharedRuntime,
        options: Options,
    ) -> Arc<Self> {
        let shared = Arc::new(Self {
            fence: Arc::new(Fence::new(Arc::clone(&unit))),
            circuit: Arc::new(Circuit::new(Arc::clone(&unit), Arc::clone(&runtime))),
            unit,
            connector,
            runtime,
            options: options.sane(),
            kept: AtomicBool::new(false),
            suspicion: AtomicU64::new(0),
            unreachable: AtomicBool::new(false),
            definitions: Definitions::default(),
            state: Mutex::new(State::default()),
        });
        shared.circuit.serves(&shared);
        shared
    }

    pub(crate) fn statistics(&self) -> Statistics {
        let state = self.lock();
        let idle = state.idle.len();
        Statistics {
            open: idle + state.held,
            idle,
            most: self.options.max,
            waiting: state.queue.len(),
        }
    }

    pub(crate) fn closed(&self) -> bool {
        self.lock().closed
    }

    /// One slot if nobody has to wait for it.
    pub(crate) fn try_one(self: &Arc<Self>, turn: Turn<'_>) -> Result<Option<Slot>> {
        let mut state = self.lock();
        if state.closed {
            return Err(self.over());
        }
        let place = turn.place(state.tickets + 1);
        let is_behind = state.queue.front().is_some_and(|front| front.place < place);
        if is_behind || state.held >= state.most(self.options.max + turn.spare()) {
            return Ok(None);
        }
        state.held += 1;
        let live = state.idle.pop(self.runtime.event_loop());
        Ok(Some(Slot::counted(self, live)))
    }

    /// As [`Shared::try_one`], if an idle connection comes with it.
    pub(crate) fn try_idle(self: &Arc<Self>) -> Result<Option<Slot>> {
        let mut state = self.lock();
        if state.closed {
            return Err(self.over());
        }
        if !state.queue.is_empty() || state.held >= state.most(self.options.max) {
            return Ok(None);
        }
        let Some(live) = state.idle.pop(self.runtime.event_loop()) else { return Ok(None) };
        state.held += 1;
        Ok(Some(Slot::counted(self, Some(live))))
    }

    /// A place in the queue; granted at once when nobody has to wait. `count` is at most `max`.
    pub(crate) fn queue(self: &Arc<Self>, turn: Turn<'_>, count: usize) -> Result<Wait> {
        let mut aftermath = Aftermath::default();
        let wait = {
            let mut state = self.lock();
            if state.closed {
                return Err(self.over());
            }
            if state.queue.len() >= QUEUE_LIMIT {
                return Err(Error::new(ErrorKind::TooManyConnections));
            }
            state.tickets += 1;
            let event_loop = self.runtime.event_loop();
            let ticket = Arc::new(Ticket::new(turn, state.tickets, count, event_loop));
            let at = state.queue.partition_point(|before| before.place < ticket.place);
            state.queue.insert(at, Arc::clone(&ticket));
            self.serve(&mut state, &mut aftermath);
            Wait { shared: Arc::clone(self), ticket }
        };
        aftermath.run();
        Ok(wait)
    }

    /// Gives a slot back, with its connection when that may be lent again.
    pub(crate) fn release(self: &Arc<Self>, live: Option<Box<Live>>) {
        let mut aftermath = Aftermath::default();
        {
            let mut state = self.lock();
            state.held = state.held.saturating_sub(1);
            match live {
                Some(live) if state.closed => aftermath.close.push(live),
                Some(live) => state.idle.push(self.runtime.event_loop(), live),
                None => {}
            }
            self.serve(&mut state, &mut aftermath);
        }
        aftermath.run();
    }

    /// Takes a ticket out of the queue, if it is still there. Who stood behind it may then be served.
    pub(crate) fn leave_queue(self: &Arc<Self>, place: u64) {
        let mut aftermath = Aftermath::default();
        {
            let mut state = self.lock();
            if let Ok(at) = state.queue.binary_search_by_key(&place, |ticket| ticket.place) {
                state.queue.remove(at);
                self.serve(&mut state, &mut aftermath);
            }
        }
        aftermath.run();
    }

    /// Serves the queue from its front for as long as the front can be served as a whole. A large request is not overtaken by small ones behind it, so it
    /// cannot starve; see [`State::next`] for who may go before the front.
    fn serve(self: &Arc<Self>, state: &mut State, aftermath: &mut Aftermath) {
        while let Some(front) = state.queue.front() {
            let most = state.most(self.options.max + front.spare);
            if front.count > most.saturating_sub(state.held) {
                return;
            }
            let next = state.next();
            let Some(ticket) = state.queue.remove(next) else { return };
            state.held += ticket.count;
            let slot = |_| Slot::counted(self, state.idle.pop(ticket.event_loop));
            let slots = (0..ticket.count).map(slot).collect::<Vec<_>>();
            let waker = ticket.grant(slots);
            aftermath.wake.push((ticket, waker));
        }
    }

    /// A slot for a connection to be kept in reserve, when there are fewer than `min` and nobody waits.
    pub(crate) fn reserve(self: &Arc<Self>) -> Option<Slot> {
        let mut state = self.lock();
        let open = state.idle.len() + state.held;
        if state.closed || open >= state.most(self.options.min) || !state.queue.is_empty() {
            return None;
        }
        state.held += 1;
        Some(Slot::counted(self, None))
    }

    /// How many connections a full server has let in; `None` where it is not known to be full.
    pub(crate) fn room(&self) -> Option<usize> {
        self.lock().room
    }

    /// The server is full, says the attempt of somebody who still holds his slot: from now on for a while there are as many slots as others have, if they have any.
    pub(crate) fn is_full(self: &Arc<Self>) {
        let is_news = {
            let mut state = self.lock();
            let others = (state.idle.len() + state.held).saturating_sub(1);
            others > 0 && state.room.replace(others).is_none()
        };
        if is_news {
            crowd::try_later(self);
        }
    }

    /// Lets as many connections be tried again as the pool may have.
    pub(crate) fn expand(self: &Arc<Self>) {
        let mut aftermath = Aftermath::default();
        {
            let mut state = self.lock();
            state.room = None;
            self.serve(&mut state, &mut aftermath);
        }
        aftermath.run();
    }

    /// Closes what is too old or has idled too long.
    pub(crate) fn reap(&self) {
        let (now, options) = (self.runtime.now(), self.options);
        let mut close = Vec::new();
        {
            let mut state = self.lock();
            close.extend(state.idle.extract(|live| live.outlived(now)));
            if !options.idle_timeout.is_zero() {
                let spare = (state.idle.len() + state.held).saturating_sub(options.min);
                let mut left = spare;
                close.extend(state.idle.extract(|live| {
                    let idled = now.saturating_duration_since(live.memory.rested);
                    let goes = left > 0 && idled >= options.idle_timeout;
                    left -= usize::from(goes);
                    goes
                }));
            }
        }
        drop(close);
    }

    /// What a new connection is remembered by.
    pub(crate) fn memory(&self) -> (Memory, Witness) {
        let (number, witness) = {
            let mut state = self.lock();
            state.opened = state.opened.wrapping_add(1);
            let witness = state.witness.upgrade().unwrap_or_else(|| {
                self.suspect_all();
                let first = Witness::default();
                state.witness = Arc::downgrade(&first);
                first
            });
            (u32::try_from(state.opened % 16).unwrap_or(0), witness)
        };
        let (now, lifetime) = (self.runtime.now(), self.options.max_lifetime);
        let lifetime = lifetime - lifetime / 640 * number;
        let suspicion = self.suspicion.load(Ordering::Relaxed);
        (
            Memory {
                born: now,
                lifetime,
                rested: now,
                suspicion,
                session_state: 0,
                told: None,
                is_cleaning: false,
            },
            witness,
        )
    }

    /// Notes that a connection has just been in order.
    pub(crate) fn rest(&self, memory: &mut Memory) {
        memory.rested = self.runtime.now();
        memory.suspicion = self.suspicion.load(Ordering::Relaxed);
    }

    /// Whether a connection must show a sign of life before it is lent.
    pub(crate) fn doubtful(&self, live: &Live, now: Instant) -> bool {
        live.memory.suspicion != self.suspicion.load(Ordering::Relaxed)
            || now.saturating_duration_since(live.memory.rested) > self.options.health_check_after
    }

    /// A connection broke in use, or connecting failed: every idle one must show a sign of life before it is lent again.
    pub(crate) fn suspect_all(&self) {
        self.suspicion.fetch_add(1, Ordering::Relaxed);
    }

    /// How often the server may have been started anew, as far as the connections tell. Those that idle are looked at, from the one used last, up to one
    /// whose server has not closed it; the others go. No server is asked: reading from a socket that has nothing is not waited for.
    pub(crate) fn breaks(&self) -> u64 {
        let closed = self.lock().idle.extract_recent(Live::is_closed);
        if !closed.is_empty() {
            tracing::debug!(unit = %self.unit, "idle connections were closed by their server");
            self.suspect_all();
        }
        self.suspicion.load(Ordering::Relaxed)
    }

    /// A connection gave no sign of life: the idle ones that would have been asked too are closed, the others will be asked.
    pub(crate) fn throw_stale_away(&self) {
        let now = self.runtime.now();
        let stale = self.lock().idle.extract(|live| self.doubtful(live, now));
        self.suspect_all();
        drop(stale);
    }

    /// Counts one more recovery, unless there are enough of them or the pool is closed.
    pub(crate) fn begin_recovery(&self) -> bool {
        let mut state = self.lock();
        let may = !state.closed && state.recovering < RECOVERY_LIMIT;
        state.recovering += usize::from(may);
        may
    }

    pub(crate) fn end_recovery(&self) {
        let mut state = self.lock();
        state.recovering = state.recovering.saturating_sub(1);
    }

    /// Tells callers that wait and hold nothing that the storage unit's circuit is open.
    pub(crate) fn turn_away(&self) {
        let mut aftermath = Aftermath::default();
        {
            let mut state = self.lock();
            let (first, others): (VecDeque<_>, VecDeque<_>) =
                std::mem::take(&mut state.queue).into_iter().partition(|ticket| ticket.is_first);
            state.queue = others;
            for ticket in first {
                let waker = ticket.turn_away();
                aftermath.wake.push((ticket, waker));
            }
        }
        aftermath.run();
    }

    pub(crate) fn condemn(&self, why: &str) {
        self.fence.close(why);
        self.close();
    }

    /// What a caller of a closed pool is told.
    pub(crate) fn over(&self) -> Error {
        self.fence.refusal().unwrap_or_else(|| Error::new(ErrorKind::Shutdown))
    }

    pub(crate) fn close(&self) {
        let mut aftermath = Aftermath::default();
        {
            let mut state = self.lock();
            state.closed = true;
            aftermath.close = state.idle.extract(|_| true);
            for ticket in std::mem::take(&mut state.queue) {
                let waker = ticket.close();
                aftermath.wake.push((ticket, waker));
            }
        }
        aftermath.run();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
