//! The end of a pool whose server may not be used as it was: nothing that was begun there is finished.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pando_kernel::{Error, ErrorKind};

use crate::leash::{Leash, LooseLeash};

/// What every connection of a pool looks at before it is used.
#[derive(Debug)]
pub(crate) struct Fence {
    unit: Arc<str>,
    closed: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    why: String,
    /// Of connections that were open when they were last looked through; about twice as many as there are at most.
    leashes: Vec<LooseLeash>,
    /// When there are so many, those of closed connections go.
    full: usize,
}

/// Fewer leashes are not worth a look.
const FEW: usize = 16;

impl Fence {
    pub(crate) fn new(unit: Arc<str>) -> Self {
        Self { unit, closed: AtomicBool::new(false), state: Mutex::default() }
    }

    /// Takes note of a new connection, whose wait can be ended through this leash.
    pub(crate) fn admit(&self, leash: &Leash) {
        let mut state = self.lock();
        if state.leashes.len() >= state.full {
            state.leashes.retain(LooseLeash::is_held);
            state.full = (state.leashes.len() * 2).max(FEW);
        }
        state.leashes.push(leash.loosen());
    }

    /// Nothing goes through from now on; who waits is told.
    pub(crate) fn close(&self, why: &str) {
        let leashes = {
            let mut state = self.lock();
            why.clone_into(&mut state.why);
            self.closed.store(true, Ordering::SeqCst);
            std::mem::take(&mut state.leashes)
        };
        leashes.iter().for_each(LooseLeash::wake);
    }

    /// What whoever wants to go through is told; `None` while everybody may.
    pub(crate) fn refusal(&self) -> Option<Error> {
        self.is_closed().then(|| {
            let message = self.lock().why.clone();
            ErrorKind::Unavailable { unit: self.unit.to_string(), message }.into()
        })
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
