//! Something that opens when several lines have done their part.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use pando_kernel::error::{Error, ErrorKind, Result};

/// It opens when as many have passed as were expected.
#[derive(Debug)]
pub(super) struct Latch {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    expected: usize,
    error: Option<Error>,
    waker: Option<Waker>,
}

impl Latch {
    /// Opens when so many have passed.
    pub(super) fn expecting(count: usize) -> Arc<Self> {
        let state = State { expected: count, error: None, waker: None };
        Arc::new(Self { state: Mutex::new(state) })
    }

    /// One has passed, or has failed: whoever waits hears of the first that has.
    pub(super) fn pass(&self, result: Result<()>) {
        let waker = {
            let mut state = self.state();
            state.expected = state.expected.saturating_sub(1);
            if let Err(error) = result {
                state.error.get_or_insert(error);
            }
            if state.expected == 0 { state.waker.take() } else { None }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Waits until all have passed.
    ///
    /// # Errors
    /// That of the first that has failed.
    ///
    /// # Cancel safety
    /// May be dropped.
    pub(super) fn opened(&self) -> impl Future<Output = Result<()>> + '_ {
        poll_fn(|cx| {
            let mut state = self.state();
            if state.expected > 0 {
                state.waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(state.error.take().map_or(Ok(()), Err))
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A line is gone before it has done its part.
pub(super) fn gone(why: &str) -> Error {
    let message = format!("its channels are not heard any longer: {why}");
    Error::new(ErrorKind::Unavailable { unit: String::new(), message })
}
