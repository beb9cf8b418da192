//! The right to have one connection open. There are never more than `max` of them.

use std::sync::Arc;

use crate::live::Live;
use crate::shared::Shared;

/// One slot, with the idle connection that came with it, if any. Dropping it gives both back and serves who waits.
#[derive(Debug)]
pub(crate) struct Slot {
    /// `None` after [`Slot::leave`].
    shared: Option<Arc<Shared>>,
    pub(crate) live: Option<Box<Live>>,
}

impl Slot {
    /// Only for a slot already counted in the state.
    pub(crate) fn counted(shared: &Arc<Shared>, live: Option<Box<Live>>) -> Self {
        Self { shared: Some(Arc::clone(shared)), live }
    }

    /// Moves the slot out; what stays behind does nothing.
    pub(crate) fn leave(&mut self) -> Self {
        Self { shared: self.shared.take(), live: self.live.take() }
    }

    pub(crate) fn shared(&self) -> Option<&Arc<Shared>> {
        self.shared.as_ref()
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.take() {
            shared.release(self.live.take());
        }
    }
}
