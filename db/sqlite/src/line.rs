//! The line between a backend and its thread: jobs one way, pieces of replies the other, both bounded.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use pando_kernel::session::TransactionState;
use pando_kernel::{Error, Event, Execution, Result};
use rusqlite::InterruptHandle;

use crate::error::cancelled;

/// Pieces that may wait for their reader; then the thread waits.
const WAITING_PIECES: usize = 4;

/// What the thread tells.
#[derive(Debug)]
pub(crate) enum Message {
    /// The database is open, or why not.
    Opened(Result<()>),
    /// A piece of the reply.
    Piece(Event),
    /// The end of the reply, and the transaction status after it.
    End(Result<()>, TransactionState),
}

/// Why a statement must stop.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It failed or was cancelled: the reply ends with this.
    Failed(Error),
    /// Nobody reads any more.
    Abandoned,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Line {
    state: Mutex<State>,
    /// The thread waits here for jobs and for room.
    changed: Condvar,
    /// The running statement shall stop. Read from inside SQLite, hence no lock.
    stop: AtomicBool,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Execution>,
    messages: VecDeque<Message>,
    /// Pieces among the messages.
    pieces: usize,
    reader: Option<Waker>,
    interrupt: Option<InterruptHandle>,
    running: bool,
    /// The backend is gone.
    abandoned: bool,
    /// The thread is gone.
    ended: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("jobs", &self.jobs.len())
            .field("messages", &self.messages.len())
            .field("running", &self.running)
            .finish_non_exhaustive()
    }
}

/// The backend's side.
impl Line {
    pub(crate) fn submit(&self, jobs: &mut VecDeque<Execution>) {
        if jobs.is_empty() {
            return;
        }
        self.lock().jobs.append(jobs);
        self.changed.notify_all();
    }

    /// The next message; `None` when the thread has gone without another.
    pub(crate) fn poll(&self, cx: &Context<'_>) -> Poll<Option<Message>> {
        let mut state = self.lock();
        if let Some(message) = state.messages.pop_front() {
            if matches!(message, Message::Piece(_)) {
                state.pieces -= 1;
                drop(state);
                self.changed.notify_all();
            }
            return Poll::Ready(Some(message));
        }
        if state.ended {
            return Poll::Ready(None);
        }
        match &mut state.reader {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// Nobody reads any more: the running statement is interrupted and the thread ends.
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.abandoned = true;
        state.jobs.clear();
        state.messages.clear();
        state.pieces = 0;
        self.interrupt(&state);
        drop(state);
        self.changed.notify_all();
    }

    /// Stops the running statement, if there is one.
    pub(crate) fn cancel(&self) {
        let state = self.lock();
        if state.running {
            self.interrupt(&state);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Under the lock, so that it cannot hit the statement behind the one it is meant for. SQLite forgets an interrupt that comes before the
    /// statement's first step; the flag does not.
    fn interrupt(&self, state: &State) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(handle) = &state.interrupt {
            handle.interrupt();
        }
    }

    pub(crate) fn ended(&self) -> bool {
        self.lock().ended
    }
}

/// The thread's side.
impl Line {
    pub(crate) fn opened(&self, outcome: Result<()>, interrupt: Option<InterruptHandle>) {
        self.lock().interrupt = interrupt;
        self.tell(Message::Opened(outcome));
    }

    /// The next job; `None` when the backend is gone.
    pub(crate) fn next_job(&self) -> Option<Execution> {
        let idle = |state: &mut State| !state.abandoned && state.jobs.is_empty();
        let waited = self.changed.wait_while(self.lock(), idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.abandoned {
            return None;
        }
        let job = state.jobs.pop_front();
        self.stop.store(false, Ordering::SeqCst);
        state.running = true;
        job
    }

    /// Hands a piece over, once there is room for it.
    pub(crate) fn piece(&self, event: Event) -> Result<(), Stop> {
        let full = |state: &mut State| state.pieces >= WAITING_PIECES && !self.stopping();
        let waited = self.changed.wait_while(self.lock(), full);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.abandoned {
            return Err(Stop::Abandoned);
        }
        if self.stopping() {
            return Err(Stop::Failed(cancelled()));
        }
        state.pieces += 1;
        self.put(state, Message::Piece(event));
        Ok(())
    }

    /// Ends the job. A cancel request from now on is for the next.
    pub(crate) fn end(&self, outcome: Result<()>, transaction: TransactionState) {
        let mut state = self.lock();
        state.running = false;
        self.put(state, Message::End(outcome, transaction));
    }

    /// Whether the running statement shall stop.
    pub(crate) fn stopping(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Waits a while, or until the running statement shall stop: then `false`.
    pub(crate) fn linger(&self, time: Duration) -> bool {
        let goes_on = |_: &mut State| !self.stopping();
        drop(self.changed.wait_timeout_while(self.lock(), time, goes_on));
        !self.stopping()
    }

    fn tell(&self, message: Message) {
        self.put(self.lock(), message);
    }

    fn put(&self, mut state: MutexGuard<'_, State>, message: Message) {
        if !state.abandoned {
            state.messages.push_back(message);
        }
        let reader = state.reader.take();
        drop(state);
        if let Some(waker) = reader {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Held by the thread: tells the backend when the thread ends, however it ends.
pub(crate) struct Presence(pub(crate) Arc<Line>);

impl Drop for Presence {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.ended = true;
        state.interrupt = None;
        let reader = state.reader.take();
        drop(state);
        if let Some(waker) = reader {
            waker.wake();
        }
    }
}
