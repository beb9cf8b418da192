//! Bringing an unclean connection back to order in the background.

use std::sync::Arc;
use std::time::Duration;

use pando_kernel::runtime::within;
use pando_kernel::{Backend, CopyInput, Execution};

use crate::definitions::Defining;
use crate::live::Live;
use crate::shared::Shared;
use crate::slot::Slot;

/// A connection that is not clean within so long is closed.
const LIMIT: Duration = Duration::from_secs(5);

/// A server that has not taken a cancel request within so long is not waited for.
const CANCEL_LIMIT: Duration = Duration::from_secs(2);

/// Time for a cancelled statement to end before the next request; it grows.
const PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Counts as one recovery for as long as it lives, however the task ends.
struct Counted(Arc<Shared>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.end_recovery();
    }
}

/// An unclean connection, what it runs when it is clean, and that it may define something until then.
pub(crate) type Unclean = (Box<Live>, Execution, Option<Defining>);

/// Spawns the recovery of a connection; [`Shared::begin_recovery`] has counted it. The slot stays taken meanwhile.
pub(crate) fn start(shared: Arc<Shared>, slot: Slot, unclean: Unclean) {
    let counted = Counted(Arc::clone(&shared));
    let runtime = Arc::clone(&shared.runtime);
    runtime.spawn(Box::pin(recover(counted, slot, unclean)));
}

/// Cancels what is left running. The replies may be endless, a closed connection alone does not stop every server from working on them, and one cancel
/// request ends one statement.
async fn stop(shared: &Shared, live: &mut Live) {
    let began = shared.runtime.now();
    let mut pause = PAUSE;
    while live.backend.condition().usable
        && live.backend.condition().outstanding > 0
        && shared.runtime.now().saturating_duration_since(began) < LIMIT
    {
        let cancel = shared.connector.cancel(&shared.runtime, live.backend.token());
        if let Some(Err(error)) = within(&*shared.runtime, CANCEL_LIMIT, cancel).await {
            tracing::debug!(unit = %shared.unit, %error, "an abandoned statement could not be cancelled");
        }
        within(&*shared.runtime, pause, live.read_away()).await;
        pause = (pause * 3 / 2).min(LONGEST_PAUSE);
    }
}

async fn recover(counted: Counted, mut slot: Slot, unclean: Unclean) {
    let (mut live, remedy, _defining) = unclean;
    let shared = &counted.0;
    if live.backend.condition().outstanding > 0 {
        // An error here says that no copy is under way, or that its server has no other way of giving it up than a closed connection.
        let _ = live.backend.copy(CopyInput::Fail("the client went away".to_owned()));
        stop(shared, &mut live).await;
    }
    let settle = live.settle(remedy);
    if within(&*shared.runtime, LIMIT, settle).await.unwrap_or(false) {
        live.memory.session_state = 0;
        live.memory.told = None;
        shared.rest(&mut live.memory);
        slot.live = Some(live);
    } else {
        tracing::debug!(unit = %shared.unit, "an unclean connection is closed");
    }
}
