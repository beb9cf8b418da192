//! Ending the wait for a server that has fallen silent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use pando_kernel::backend::Condition;
use pando_kernel::session::TransactionState;
use pando_kernel::{Backend, CancelToken, CopyInput, Error, ErrorKind, Event, Execution, Result};

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
        let waker = {
            let mut state = self.lock();
            state.given_up = true;
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
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

/// A connection on its leash.
#[derive(Debug)]
pub(crate) struct Leashed {
    backend: Box<dyn Backend>,
    leash: Leash,
    given_up: bool,
}

impl Leashed {
    pub(crate) fn new(backend: Box<dyn Backend>, leash: Leash) -> Self {
        Self { backend, leash, given_up: false }
    }

    /// Only who would wait looks at the leash: what the server has sent already counts.
    fn or_given_up<T>(&mut self, poll: Poll<Result<T>>, cx: &Context<'_>) -> Poll<Result<T>> {
        if poll.is_pending() && self.leash.poll(cx).is_ready() {
            self.given_up = true;
            return Poll::Ready(Err(cancelled()));
        }
        poll
    }
}

fn cancelled() -> Error {
    Error::new(ErrorKind::Cancelled)
}

impl Backend for Leashed {
    fn start(&mut self, execution: Execution) -> Result<()> {
        if self.given_up { Err(cancelled()) } else { self.backend.start(execution) }
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event>> {
        if self.given_up {
            return Poll::Ready(Err(cancelled()));
        }
        let poll = self.backend.poll_event(cx);
        self.or_given_up(poll, cx)
    }

    fn copy(&mut self, input: CopyInput) -> Result<()> {
        if self.given_up { Err(cancelled()) } else { self.backend.copy(input) }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        if self.given_up {
            return Poll::Ready(Err(cancelled()));
        }
        let poll = self.backend.poll_flush(cx);
        self.or_given_up(poll, cx)
    }

    fn condition(&self) -> Condition {
        if self.given_up {
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
