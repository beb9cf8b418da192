//! From what probes find to what is served: probes must not wait for it, and what is served must not wait for a repository.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pando_governor::Keeper;
use pando_health::Change;
use pando_kernel::runtime::SharedRuntime;
use tokio::sync::Notify;

use crate::host::Host;
use crate::wards::News;

/// What was heard and not acted on yet. Bounded by the number of databases.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// The states of some units have changed.
    states: Notify,
    /// Databases with a group that remembers something new.
    memories: Mutex<BTreeSet<String>>,
    remembered: Notify,
}

/// Time until what could not be served is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// What probes tell, and where it is heard.
pub(crate) fn channel() -> (News, Arc<Heard>) {
    let heard = Arc::new(Heard::default());
    let told = Arc::clone(&heard);
    let news: News = Arc::new(move |database: &str, change: &Change| {
        if change.memories_changed {
            told.databases().insert(database.to_owned());
            told.remembered.notify_one();
        }
        if change.states_changed {
            told.states.notify_one();
        }
    });
    (news, heard)
}

impl Heard {
    fn databases(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.memories.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Acts on what is heard until the host is gone.
pub(crate) fn follow(runtime: &SharedRuntime, heard: Arc<Heard>, host: &Arc<Host>, keeper: Keeper) {
    let (states, sleeper) = (Arc::clone(&heard), Arc::clone(runtime));
    let follower = Arc::downgrade(host);
    runtime.spawn(Box::pin(async move {
        loop {
            states.states.notified().await;
            let Some(host) = follower.upgrade() else { return };
            if let Err(error) = host.follow_units() {
                tracing::error!(%error, "what is known of the storage units cannot be served");
                drop(host);
                sleeper.sleep(AGAIN).await;
                states.states.notify_one();
            }
        }
    }));
    let host = Arc::downgrade(host);
    runtime.spawn(Box::pin(async move {
        loop {
            heard.remembered.notified().await;
            let databases = std::mem::take(&mut *heard.databases());
            for database in databases {
                let Some(host) = host.upgrade() else { return };
                for (group, text) in host.memories(&database) {
                    if let Err(error) = keeper.keep(&database, &group, &text).await {
                        tracing::info!(%error, group, "what is known of a group could not be kept");
                    }
                }
            }
        }
    }));
}
