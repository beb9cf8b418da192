//! A connection lent out.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use pando_kernel::{Backend, Connector};

use crate::leash::Leash;
use crate::live::{Gone, Live, Memory, clean};
use crate::recover;
use crate::slot::Slot;

/// A connection lent out; works as its [`Backend`]. Dropped clean (usable, nothing outstanding, no transaction) it goes back to the pool;
/// dropped in the middle of something it is reset in the background first; dropped broken it is closed.
#[derive(Debug)]
pub struct Connection {
    backend: Box<dyn Backend>,
    leash: Leash,
    memory: Memory,
    unit: Arc<str>,
    slot: Slot,
    fate: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Return,
    Close,
}

impl Connection {
    pub(crate) fn lent(slot: Slot, live: Live) -> Self {
        let unit = slot.shared().map_or_else(|| Arc::from(""), |shared| Arc::clone(&shared.unit));
        let Live { backend, leash, memory } = live;
        Self { backend, leash, memory, unit, slot, fate: Fate::Return }
    }

    /// The storage unit's name.
    pub fn unit(&self) -> &Arc<str> {
        &self.unit
    }

    /// Number of the client-session state (its variables) last applied to this connection; 0 means it is as after login.
    pub fn session_state(&self) -> u64 {
        self.memory.session_state
    }

    /// Remembers which client-session state has been applied. Stays with the connection until it is reset.
    pub fn set_session_state(&mut self, id: u64) {
        self.memory.session_state = id;
    }

    /// What opened it, and so the way to cancel what it runs.
    pub fn connector(&self) -> Option<Arc<dyn Connector>> {
        self.slot.shared().map(|shared| Arc::clone(&shared.connector))
    }

    /// The way to end a wait for this connection's server from elsewhere.
    pub fn leash(&self) -> Leash {
        self.leash.clone()
    }

    /// Closes the connection instead of giving it back.
    pub fn discard(mut self) {
        self.fate = Fate::Close;
    }
}

impl Deref for Connection {
    type Target = dyn Backend;

    fn deref(&self) -> &Self::Target {
        &*self.backend
    }
}

impl DerefMut for Connection {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.backend
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let backend = std::mem::replace(&mut self.backend, Box::new(Gone));
        let mut slot = self.slot.leave();
        let Some(shared) = slot.shared() else { return };
        let condition = backend.condition();
        if self.fate == Fate::Close {
            drop(backend);
            return;
        }
        if !condition.usable {
            shared.suspect_all();
            drop(backend);
            return;
        }
        shared.rest(&mut self.memory);
        let live = Live { backend, leash: self.leash.clone(), memory: self.memory };
        if clean(condition) {
            slot.live = Some(live);
        } else if shared.begin_recovery() {
            recover::start(Arc::clone(shared), slot, live);
        }
    }
}
