//! The one background task of a pool: closes what is too old, keeps `min` connections open.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use pando_kernel::runtime::{SharedRuntime, within};

use crate::shared::Shared;
use crate::take::open;

/// Starts it once, at the pool's first use. It ends when the pool is closed or has no handle left.
pub(crate) fn start(shared: &Arc<Shared>) {
    if shared.kept.load(Ordering::Relaxed) || shared.kept.swap(true, Ordering::Relaxed) {
        return;
    }
    let (pool, runtime) = (Arc::downgrade(shared), Arc::clone(&shared.runtime));
    let task = keep(pool, Arc::clone(&runtime), interval(shared));
    runtime.spawn(Box::pin(task));
}

/// Half the shortest of the limits it watches over, between 1 and 30 seconds.
fn interval(shared: &Shared) -> Duration {
    let limits = [shared.options.idle_timeout, shared.options.max_lifetime];
    let shortest = limits.into_iter().filter(|limit| !limit.is_zero()).min();
    let (least, most) = (Duration::from_secs(1), Duration::from_secs(30));
    shortest.map_or(most, |limit| (limit / 2).clamp(least, most))
}

async fn keep(pool: Weak<Shared>, runtime: SharedRuntime, every: Duration) {
    loop {
        {
            let Some(shared) = pool.upgrade() else { return };
            if shared.closed() {
                return;
            }
            shared.reap();
            fill(&shared).await;
        }
        runtime.sleep(every).await;
    }
}

/// Opens connections up to `min`. A server that cannot be reached is tried again at the next round.
async fn fill(shared: &Arc<Shared>) {
    while let Some(mut slot) = shared.reserve() {
        let limit = shared.options.connection_timeout;
        match within(&*shared.runtime, limit, open(shared)).await {
            Some(Ok(live)) => slot.live = Some(live),
            Some(Err(_)) | None => return,
        }
    }
}
