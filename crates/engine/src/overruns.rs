//! Statements that run for longer than a limit lets them are cancelled, as by KILL.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::house::Inner;

/// How often statements with a time are looked at. One may run for so long more.
const LOOK: Duration = Duration::from_millis(100);

/// Whether somebody looks.
#[derive(Debug, Default)]
pub(crate) struct Overruns {
    is_watched: AtomicBool,
}

/// Looks after all sessions, from now on until none of them has a statement with a time.
pub(crate) fn watch(engine: &Arc<Inner>) {
    if engine.overruns.is_watched.swap(true, Ordering::SeqCst) {
        return;
    }
    let (weak, runtime) = (Arc::downgrade(engine), Arc::clone(&engine.runtime));
    engine.runtime.spawn(Box::pin(async move {
        loop {
            runtime.sleep(LOOK).await;
            let Some(engine) = weak.upgrade() else { return };
            if end_overdue(&engine) {
                continue;
            }
            engine.overruns.is_watched.store(false, Ordering::SeqCst);
            // One that began in between has found it watched.
            let is_needed = engine.registry.everyone().iter().any(|one| one.has_deadline());
            if !is_needed || engine.overruns.is_watched.swap(true, Ordering::SeqCst) {
                return;
            }
        }
    }));
}

/// Ends what should have ended. False where nothing has a time.
fn end_overdue(engine: &Arc<Inner>) -> bool {
    let now = engine.runtime.now();
    let timed = engine.registry.everyone().into_iter().filter(|one| one.has_deadline());
    let mut is_needed = false;
    for handle in timed {
        is_needed = true;
        handle.end_overdue(&engine.runtime, now);
    }
    is_needed
}
