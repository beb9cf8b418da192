//! What sessions tell each other over channels: one connection for each storage unit listens for all sessions of this
//! instance.
//!
//! A [`Hub`] is about one logical database. Each of its lines is the task of one connection; what a line hears goes to
//! the mailboxes of the sessions that listen. Orders to lines are answered behind all that was told before them, so
//! whoever has had an answer has heard that. A hub that loses a line ends: nobody knows what was told meanwhile.

mod hub;
mod latch;
mod line;
mod mailbox;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pando_kernel::runtime::SharedRuntime;

use crate::snapshot::{LiveDatabase, Snapshot};

pub(crate) use hub::{Hub, Origin};
pub(crate) use mailbox::{Mailbox, Take};

/// Why a hub ends whose database has other units now.
pub(crate) const CHANGED: &str = "the storage units of its database have changed";

/// The hubs of an engine, by their databases.
#[derive(Debug, Default)]
pub(crate) struct Hubs {
    all: Mutex<HashMap<String, Arc<Hub>>>,
}

impl Hubs {
    /// A database's hub, which begins to listen where it does not yet.
    pub(crate) fn open(&self, live: &LiveDatabase, runtime: &SharedRuntime) -> Arc<Hub> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, hub| !hub.is_over());
        match all.get(&live.database.name) {
            Some(hub) if hub.is_of(live) => return Arc::clone(hub),
            Some(hub) => hub.end(CHANGED),
            None => {}
        }
        let hub = Hub::open(live, runtime);
        all.insert(live.database.name.clone(), Arc::clone(&hub));
        hub
    }

    /// A database's hub, if anybody listens there.
    pub(crate) fn find(&self, database: &str) -> Option<Arc<Hub>> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(database).filter(|hub| !hub.is_over()).cloned()
    }

    /// Ends the hubs of databases that have other storage units now: what these were told before they are listened to
    /// is not known.
    pub(crate) fn follow(&self, snapshot: &Snapshot) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|name, hub| {
            let stays = snapshot.database(name).is_some_and(|live| hub.is_of(live));
            if !stays {
                hub.end(CHANGED);
            }
            stays
        });
    }
}
