//! The desk where it is noticed that sessions wait. Nothing runs while no session has more than one connection or waits for a row of BASE, and no
//! server is asked while none of them waits.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use pando_kernel::runtime::SharedRuntime;
use pando_kernel::waits::Board;

use crate::line::Said;
use crate::round::{Outcome, Rounds};
use crate::sessions::Sessions;

/// A session is at work for so long before it is looked at. The clock of it all: sessions themselves read none and set no timers.
const TICK: Duration = Duration::from_millis(100);
/// Ticks in a row without anybody who could be concerned, until nobody looks any more.
const CALM: u32 = 50;

/// Looks for deadlocks while there is anything to look at.
#[derive(Debug, Default)]
pub struct Desk {
    is_awake: AtomicBool,
    broken: AtomicU64,
    board: OnceLock<Arc<dyn Board>>,
    said: Arc<Said>,
}

impl Desk {
    /// Lets this process and the others of its cluster see each other's waits. Whoever was first stays.
    pub fn join(&self, board: Arc<dyn Board>) {
        if self.board.set(board).is_err() {
            tracing::error!("the instances' waits are told at a board already");
        }
    }

    /// Deadlocks broken so far by ending one of this process's transactions.
    pub fn broken(&self) -> u64 {
        self.broken.load(Ordering::Relaxed)
    }

    /// A session has more than one connection, or is about to. Costs one look at a flag when that is known.
    pub fn rouse<S: Sessions + 'static>(self: &Arc<Self>, runtime: &SharedRuntime, all: &Arc<S>) {
        if self.is_awake.load(Ordering::Relaxed) || self.is_awake.swap(true, Ordering::AcqRel) {
            return;
        }
        let sessions: Weak<dyn Sessions> = Arc::downgrade(all) as Weak<dyn Sessions>;
        let watch = Watch { desk: Arc::clone(self), has_ended: false };
        runtime.spawn(Box::pin(watch.run(Arc::clone(runtime), sessions)));
    }
}

/// However it ends, the desk can be roused again.
struct Watch {
    desk: Arc<Desk>,
    /// It has ended in order, and another one may be at work.
    has_ended: bool,
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.has_ended {
            self.desk.is_awake.store(false, Ordering::Release);
        }
    }
}

impl Watch {
    async fn run(mut self, runtime: SharedRuntime, sessions: Weak<dyn Sessions>) {
        let (board, said) = (self.desk.board.get().cloned(), Arc::clone(&self.desk.said));
        let mut rounds = Rounds::new(Arc::clone(&runtime), board, said);
        let (mut pause, mut calm) = (TICK, 0);
        loop {
            runtime.sleep(pause).await;
            let Some(sessions) = sessions.upgrade() else { return };
            let stands = sessions.spread();
            calm = if stands.is_empty() { calm + 1 } else { 0 };
            pause = match rounds.look(&*sessions, stands).await {
                Outcome::Calm => TICK,
                Outcome::Waits(pause, broken) => {
                    self.desk.broken.fetch_add(broken, Ordering::Relaxed);
                    pause
                }
            };
            let is_idle = rounds.lines.rest(runtime.now());
            if calm >= CALM && is_idle {
                self.desk.is_awake.store(false, Ordering::Release);
                // Who came in between has found it awake.
                if sessions.spread().is_empty() || self.desk.is_awake.swap(true, Ordering::AcqRel) {
                    self.has_ended = true;
                    return;
                }
                calm = 0;
            }
        }
    }
}
