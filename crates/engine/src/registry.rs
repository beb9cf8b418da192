//! Who is connected.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pando_kernel::session::{Key, Login};

use crate::handle::Handle;

/// All sessions of an engine.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    sessions: Mutex<HashMap<u32, Arc<Handle>>>,
    /// How many numbers were given.
    count: AtomicU32,
}

/// Sessions' numbers are above those of servers' processes, which clients see and ask to be ended as well: Linux has
/// none from here on. <https://man7.org/linux/man-pages/man5/proc_sys_kernel.5.html> (`pid_max`)
const ABOVE: u32 = 1 << 22;
/// PostgreSQL's clients take them for numbers of 32 bits with a sign.
const MOST: u32 = i32::MAX.unsigned_abs() - ABOVE;

impl Registry {
    /// A session number nobody has.
    pub(crate) fn announce(&self) -> u32 {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let id = ABOVE + 1 + self.count.fetch_add(1, Ordering::Relaxed) % MOST;
            if !sessions.contains_key(&id) {
                return id;
            }
        }
    }

    /// Registers a new session, under the number it was announced with when there is one.
    pub(crate) fn register(&self, login: &Login) -> Arc<Handle> {
        let id = if login.id == 0 { self.announce() } else { login.id };
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let key = Key { id, secret: crate::clock::random_u32() };
        let handle = Arc::new(Handle::new(key, login));
        sessions.insert(id, Arc::clone(&handle));
        handle
    }

    /// Forgets a session.
    pub(crate) fn remove(&self, id: u32) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    /// All sessions, by number.
    pub(crate) fn all(&self) -> Vec<Arc<Handle>> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<Arc<Handle>> = sessions.values().cloned().collect();
        all.sort_by_key(|handle| handle.key.id);
        all
    }

    /// All sessions, in no order.
    pub(crate) fn everyone(&self) -> Vec<Arc<Handle>> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.values().cloned().collect()
    }

    /// How many sessions there are.
    pub(crate) fn len(&self) -> usize {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The session of this number.
    pub(crate) fn find(&self, id: u32) -> Option<Arc<Handle>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_session_has_the_number_of_a_process_or_one_that_clients_cannot_read() {
        for count in [0, 1, MOST - 1, MOST, u32::MAX] {
            let registry = Registry { count: AtomicU32::new(count), ..Registry::default() };
            let given = [registry.announce(), registry.announce()];
            assert!(given[0] != given[1]);
            assert!(given.iter().all(|id| *id > ABOVE && i32::try_from(*id).is_ok()), "{given:?}");
        }
    }
}
