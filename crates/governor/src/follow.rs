//! Follows the repository: what changes there is served here.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::Duration;

use pando_kernel::runtime::BoxFuture;
use pando_repository::{Session, SessionState, Watch};

use crate::governor::{Governor, Shared};
use crate::member::{self, Before};

/// Time before the first new attempt after one that failed; it doubles up to [`LONGEST_PAUSE`].
const PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Begins to follow; ends when the last handle of the governor is dropped or the repository closed.
pub(crate) fn begin(governor: &Governor, watch: Watch) {
    let shared = Arc::downgrade(&governor.shared);
    let session = governor.repository().map(|repository| repository.session());
    if let Some(session) = session {
        governor.shared.runtime.spawn(Box::pin(run(shared, watch, session)));
    }
}

async fn run(shared: Weak<Shared>, mut watch: Watch, mut session: Session) {
    let mut registered = session.now().number;
    let mut pause = PAUSE;
    let mut is_behind = false;
    loop {
        let Some(governor) = shared.upgrade().map(|shared| Governor { shared }) else { return };
        let runtime = Arc::clone(&governor.shared.runtime);
        let wait = match is_behind {
            true => runtime.sleep(pause),
            false => runtime.sleep(governor.member().look()),
        };
        drop(governor);
        if !woken(&mut watch, &mut session, wait).await {
            return;
        }
        let Some(governor) = shared.upgrade().map(|shared| Governor { shared }) else { return };
        let was_behind = is_behind;
        let view = session.now();
        is_behind = !catch_up(&governor).await;
        if !is_behind && view.state == SessionState::Connected {
            let before = match registered == view.number {
                true => Before::MayStand,
                false => Before::IsGone,
            };
            match member::keep(&governor, before).await {
                Ok(()) => registered = view.number,
                Err(error) => {
                    tracing::warn!(%error, "this instance could not be registered; it tries again");
                    is_behind = true;
                }
            }
        }
        if !is_behind {
            governor.tend_refills();
        }
        if was_behind && !is_behind {
            tracing::info!("the newest configuration is served again");
        }
        pause = if is_behind && was_behind { (pause * 2).min(LONGEST_PAUSE) } else { PAUSE };
    }
}

/// Waits for a sign that something may have changed, or for the time to try again; false when there is nothing to wait for any more.
async fn woken(watch: &mut Watch, session: &mut Session, mut wait: BoxFuture<'static, ()>) -> bool {
    let mut changed = pin!(watch.changed());
    let mut heard = pin!(session.changed());
    poll_fn(|cx| {
        if let Poll::Ready(outcome) = changed.as_mut().poll(cx) {
            return Poll::Ready(outcome.is_ok());
        }
        if let Poll::Ready(outcome) = heard.as_mut().poll(cx) {
            return Poll::Ready(outcome.is_ok());
        }
        if wait.as_mut().poll(cx).is_ready() {
            return Poll::Ready(true);
        }
        Poll::Pending
    })
    .await
}

/// Reads the repository and serves what it says; false when that did not work.
async fn catch_up(governor: &Governor) -> bool {
    let Some(repository) = governor.repository() else { return true };
    let outcome = match governor.read(&*repository).await {
        Ok(stored) => governor.adopt(stored).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match outcome {
        Ok(()) => true,
        Err(why) => {
            governor.is_in_trouble(&why);
            false
        }
    }
}

impl Governor {
    /// Notes and says what is wrong, once.
    pub(crate) fn is_in_trouble(&self, why: &str) {
        let mut now = self.now();
        if now.trouble.as_deref() != Some(why) {
            tracing::error!("the last configuration goes on being served: {why}");
            now.trouble = Some(why.to_owned());
        }
    }
}
