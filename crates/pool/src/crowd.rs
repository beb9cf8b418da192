//! A server that is full: it lets no further connection in, though the pool may have more. Who wanted one waits for those that are open.

use std::sync::{Arc, Weak};
use std::time::Duration;

use pando_kernel::runtime::SharedRuntime;

use crate::shared::Shared;

/// So long no further connection is asked for: to turn one away costs the server as much as to let it in.
const PAUSE: Duration = Duration::from_secs(5);

/// Asks for further connections again after a pause, if somebody waits for one then.
pub(crate) fn try_later(shared: &Arc<Shared>) {
    let (pool, runtime) = (Arc::downgrade(shared), Arc::clone(&shared.runtime));
    shared.runtime.spawn(Box::pin(expand(pool, runtime)));
}

async fn expand(pool: Weak<Shared>, runtime: SharedRuntime) {
    runtime.sleep(PAUSE).await;
    if let Some(shared) = pool.upgrade() {
        shared.expand();
    }
}
