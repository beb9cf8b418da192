//! From what probes find to what is served: probes must not wait for it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use pando_governor::Keeper;
use pando_health::Change;
use pando_kernel::runtime::SharedRuntime;
use tokio::sync::Notify;

use crate::host::Host;
use crate::wards::News;

/// What was heard and not acted on yet. Bounded by the number of databases.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    waiting: Mutex<Waiting>,
    bell: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    /// The states of some units have changed.
    states: bool,
    /// Databases with a group that remembers something new.
    memories: BTreeSet<String>,
}

/// What probes tell, and where it is heard.
pub(crate) fn channel() -> (News, Arc<Heard>) {
    let heard = Arc::new(Heard::default());
    let told = Arc::clone(&heard);
    let news: News = Arc::new(move |database: &str, change: &Change| {
        let mut waiting = told.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.states |= change.states_changed;
        if change.memories_changed {
            waiting.memories.insert(database.to_owned());
        }
        drop(waiting);
        told.bell.notify_one();
    });
    (news, heard)
}

/// Acts on what is heard until the host is gone.
pub(crate) fn follow(runtime: &SharedRuntime, heard: Arc<Heard>, host: &Arc<Host>, keeper: Keeper) {
    let host = Arc::downgrade(host);
    runtime.spawn(Box::pin(async move {
        loop {
            heard.bell.notified().await;
            let waiting =
                std::mem::take(&mut *heard.waiting.lock().unwrap_or_else(PoisonError::into_inner));
            if !act(&host, &keeper, waiting).await {
                return;
            }
        }
    }));
}

async fn act(host: &Weak<Host>, keeper: &Keeper, waiting: Waiting) -> bool {
    let Some(host) = host.upgrade() else { return false };
    if waiting.states
        && let Err(error) = host.follow_units()
    {
        tracing::error!(%error, "what is known of the storage units cannot be served");
    }
    for database in waiting.memories {
        for (group, text) in host.memories(&database) {
            if let Err(error) = keeper.keep(&database, &group, &text).await {
                tracing::info!(%error, group, "what is known of a group could not be kept");
            }
        }
    }
    true
}
