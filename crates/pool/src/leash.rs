//! Ending the wait for a server that has fallen silent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use pando_kernel::backend::Condition;
use pando_kernel::circuit::is_failure;
use pando_kernel::session::TransactionState;
use pando_kernel::{
    Backend, CancelToken, CopyInput, Error, ErrorKind, Event, Execution, Result, Whole,
};

use crate::circuit::{Circuit, Trial};
use crate::fence::Fence;

/// Lets others give a connection up while its borrower waits for the server. Clones belong to the same connection.
#[derive(Debug, Clone, Default)]
pub struct Leash(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    given_up: bool,
    waker: Option<Waker>,
}

impl Leash {
    /// Who waits for this connection gets `Cancelled`, now or at the next wait; the connection is of no further use to anyone.
    pub fn give_up(&self) {
        self.lock().given_up = true;
        self.wake();
    }

    /// Who waits looks again.
    fn wake(&self) {
        let waker = self.lock().waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Does not keep the connection's own one.
    pub(crate) fn loosen(&self) -> LooseLeash {
        LooseLeash(Arc::downgrade(&self.0))
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.given_up {
            return Poll::Ready(());
        }
        if !state.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            state.waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The leash of a connection that may be closed already.
#[derive(Debug)]
pub(crate) struct LooseLeash(Weak<Mutex<State>>);

impl LooseLeash {
    pub(crate) fn is_held(&self) -> bool {
        self.0.strong_count() > 0
    }

    pub(crate) fn wake(&self) {
        if let Some(state) = self.0.upgrade() {
            Leash(state).wake();
        }
    }
}

/// A connection on its leash, inside its pool's fence.
#[derive(Debug)]
pub(crate) struct Leashed {
    backend: Box<dyn Backend>,
    leash: Leash,
    given_up: bool,
    fence: Arc<Fence>,
    circuit: Arc<Circuit>,
    /// What is counted of the statement under way.
    trial: Option<Trial>,
}

impl Leashed {
    pub(crate) fn new(
        backend: Box<dyn Backend>,
        leash: Leash,
        fence: Arc<Fence>,
        circuit: Arc<Circuit>,
    ) -> Self {
        fence.admit(&leash);
        Self { backend, leash, given_up: false, fence, circuit, trial: None }
    }

    /// The statement for which it was taken is counted from before that.
    pub(crate) fn tries(&mut self, trial: Option<Trial>) {
        self.trial = trial;
    }

    /// Nothing is counted of the statement before it is sent.
    pub(crate) fn is_put_off(&mut self) {
        if let Some(trial) = self.trial.take() {
            trial.puts_off();
        }
    }

    /// A statement begins: it is counted, but for what the pool itself has to say.
    fn begins(&mut self, execution: &Execution) {
        match execution {
            Execution::Text(_)
            | Execution::Aside(_)
            | Execution::Lifted { .. }
            | Execution::Prepared { .. }
            | Execution::Describe { .. } => {
                if self.trial.is_none() {
                    self.trial = self.circuit.begin_held();
                }
            }
            Execution::Reset | Execution::Scrub | Execution::Ping => {}
        }
    }

    /// Its server has said something while so many statements were under way: of the last of them, or that nothing more
    /// is to be expected.
    fn hears<T>(&mut self, outstanding: usize, told: &Result<T>) {
        let is_end = outstanding <= 1 || told.as_ref().is_err_and(is_failure);
        if is_end && let Some(trial) = self.trial.take() {
            trial.ends(told.as_ref());
        }
    }

    /// Statements under way, where one of them is counted.
    fn outstanding(&self) -> usize {
        if self.trial.is_some() { self.backend.condition().outstanding } else { 0 }
    }

    /// The way to end a wait for it from elsewhere.
    pub(crate) fn leash(&self) -> &Leash {
        &self.leash
    }

    /// Why it is of no use any more.
    fn ended(&self) -> Option<Error> {
        if self.given_up {
            return Some(cancelled());
        }
        self.fence.refusal()
    }

    /// Only who would wait looks at the leash: what the server has sent already counts.
    fn or_given_up<T>(&mut self, poll: Poll<Result<T>>, cx: &Context<'_>) -> Poll<Result<T>> {
        if poll.is_pending() {
            self.given_up = self.leash.poll(cx).is_ready();
            // Only now, as the fence wakes whom the leash knows.
            if let Some(error) = self.ended() {
                if let Some(trial) = self.trial.take() {
                    trial.fails();
                }
                return Poll::Ready(Err(error));
            }
        }
        poll
    }
}

fn cancelled() -> Error {
    Error::new(ErrorKind::Cancelled)
}

impl Backend for Leashed {
    fn start(&mut self, execution: Execution) -> Result<()> {
        if let Some(error) = self.ended() {
            return Err(error);
        }
        self.begins(&execution);
        self.backend.start(execution)
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event>> {
        if let Some(error) = self.ended() {
            return Poll::Ready(Err(error));
        }
        let outstanding = self.outstanding();
        let poll = self.backend.poll_event(cx);
        if self.trial.is_some()
            && let Poll::Ready(told) = &poll
        {
            self.hears(outstanding, told);
        }
        self.or_given_up(poll, cx)
    }

    fn poll_whole(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Whole>>> {
        if let Some(error) = self.ended() {
            return Poll::Ready(Err(error));
        }
        let outstanding = self.outstanding();
        let poll = self.backend.poll_whole(cx);
        if self.trial.is_some()
            && let Poll::Ready(told @ (Ok(Some(_)) | Err(_))) = &poll
        {
            self.hears(outstanding, told);
        }
        self.or_given_up(poll, cx)
    }

    fn copy(&mut self, input: CopyInput) -> Result<()> {
        self.ended().map_or_else(|| self.backend.copy(input), Err)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        if let Some(error) = self.ended() {
            return Poll::Ready(Err(error));
        }
        let poll = self.backend.poll_flush(cx);
        self.or_given_up(poll, cx)
    }

    fn condition(&self) -> Condition {
        if self.given_up || self.fence.is_closed() {
            return Condition {
                usable: false,
                outstanding: 0,
                transaction: TransactionState::Idle,
            };
        }
        self.backend.condition()
    }

    fn token(&self) -> CancelToken {
        self.backend.token()
    }
}
