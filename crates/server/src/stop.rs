//! The way from running to stopped: told once, seen by every door and session.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Waker};

use tokio::sync::Notify;

/// Tells everyone to stop; so does its end, as the server itself is gone then.
#[derive(Debug)]
pub(crate) struct Stop(Arc<Told>);

/// Sees when it is time to stop. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Stopping(Arc<Told>);

#[derive(Debug, Default)]
struct Told {
    /// Set before those who wait are woken.
    is_told: AtomicBool,
    waiting: Notify,
    /// The same for draining no longer.
    is_hurried: AtomicBool,
    hurry: Notify,
}

/// Ends the draining. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Hurry(Arc<Told>);

impl Hurry {
    pub(crate) fn now(&self) {
        self.0.is_hurried.store(true, Ordering::SeqCst);
        self.0.hurry.notify_waiters();
    }
}

impl Stop {
    pub(crate) fn new() -> (Self, Stopping) {
        let told = Arc::default();
        (Self(Arc::clone(&told)), Stopping(told))
    }

    pub(crate) fn hurry(&self) -> Hurry {
        Hurry(Arc::clone(&self.0))
    }

    pub(crate) fn stopping(&self) -> Stopping {
        Stopping(Arc::clone(&self.0))
    }

    pub(crate) fn now(&self) {
        self.0.is_told.store(true, Ordering::SeqCst);
        self.0.waiting.notify_waiters();
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.now();
    }
}

impl Stopping {
    pub(crate) fn is_told(&self) -> bool {
        self.0.is_told.load(Ordering::SeqCst)
    }

    /// Completes once draining shall end.
    ///
    /// # Cancel safety
    /// May be dropped at any time.
    pub(crate) async fn hurried(&self) {
        // It hears of what is told from here on, and what was told before is seen.
        let hurry = self.0.hurry.notified();
        if !self.0.is_hurried.load(Ordering::SeqCst) {
            hurry.await;
        }
    }

    /// Completes once it was told, also when that was long ago. Sessions look at each statement: they wait behind one lock together, which is
    /// taken once for each waker.
    ///
    /// # Cancel safety
    /// May be dropped at any time.
    pub(crate) async fn told(&self) {
        let mut woken = pin!(self.0.waiting.notified());
        let mut known: Option<Waker> = None;
        poll_fn(|cx| {
            if self.is_told() {
                return Poll::Ready(());
            }
            if known.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
                return Poll::Pending;
            }
            known = Some(cx.waker().clone());
            // It may have been told before the waker was left there.
            if woken.as_mut().poll(cx).is_ready() || self.is_told() {
                return Poll::Ready(());
            }
            Poll::Pending
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Wake};

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// Waits by looks of two wakers, the second more than once; then it is over, and only the last is woken.
    fn is_told(end: impl FnOnce(Stop)) -> bool {
        let (stop, stopping) = Stop::new();
        let (first, last) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
        let mut told = pin!(stopping.told());
        for woken in [&first, &last, &last] {
            let waker = Waker::from(Arc::clone(woken));
            assert!(told.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        end(stop);
        assert!(!first.0.load(Ordering::Relaxed) && last.0.load(Ordering::Relaxed));
        let waker = Waker::from(last);
        told.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()
    }

    #[tokio::test]
    async fn who_drains_is_told_to_hurry_before_and_after() {
        let (stop, stopping) = Stop::new();
        let hurry = stop.hurry();
        tokio::join!(stopping.hurried(), async { hurry.now() });
        stopping.hurried().await;
        assert!(!stopping.is_told());
    }

    #[test]
    fn who_waits_is_told_of_the_end() {
        assert!(is_told(|stop| {
            stop.now();
            std::mem::forget(stop);
        }));
        assert!(is_told(drop));
    }
}
