//! A gate that one at a time may pass.

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// Shut while somebody who has passed has not left.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_shut: bool,
    /// At most one for each session that waits.
    waiting: Vec<Waker>,
}

/// Opens the gate when dropped.
#[derive(Debug)]
pub(crate) struct Passed<'a> {
    gate: &'a Gate,
}

impl Gate {
    /// Passes as soon as nobody else is inside.
    ///
    /// # Cancel safety
    /// May be dropped at any time: all who wait are woken when the gate opens.
    pub(crate) async fn pass(&self) -> Passed<'_> {
        poll_fn(|cx| {
            let mut state = self.state();
            if !state.is_shut {
                state.is_shut = true;
                return Poll::Ready(());
            }
            if !state.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
                state.waiting.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
        Passed { gate: self }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Passed<'_> {
    fn drop(&mut self) {
        let waiting = {
            let mut state = self.gate.state();
            state.is_shut = false;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }
}
