//! The way from running to stopped: told once, seen by every door and session.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Waker};

use tokio::sync::watch;

/// Tells everyone to stop.
#[derive(Debug)]
pub(crate) struct Stop {
    sender: watch::Sender<bool>,
    /// Set before anybody is told.
    is_near: Arc<AtomicBool>,
}

/// Sees when it is time to stop. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Stopping {
    receiver: watch::Receiver<bool>,
    is_near: Arc<AtomicBool>,
}

impl Stop {
    pub(crate) fn new() -> (Self, Stopping) {
        let (sender, receiver) = watch::channel(false);
        let is_near = Arc::new(AtomicBool::new(false));
        (Self { sender, is_near: Arc::clone(&is_near) }, Stopping { receiver, is_near })
    }

    pub(crate) fn now(&self) {
        self.is_near.store(true, Ordering::Release);
        self.sender.send_replace(true);
    }
}

impl Drop for Stop {
    /// Whoever waits is woken when the sender goes.
    fn drop(&mut self) {
        self.is_near.store(true, Ordering::Release);
    }
}

impl Stopping {
    pub(crate) fn is_told(&self) -> bool {
        *self.receiver.borrow()
    }

    /// Completes once it was told, also when that was long ago. Sessions look at each statement: they have one lock together, which is
    /// not taken as long as nothing is near.
    ///
    /// # Cancel safety
    /// May be dropped at any time.
    pub(crate) async fn told(&self) {
        let mut receiver = self.receiver.clone();
        let mut told = pin!(receiver.wait_for(|stop| *stop));
        let mut known: Option<Waker> = None;
        poll_fn(|cx| {
            let is_known = known.as_ref().is_some_and(|known| known.will_wake(cx.waker()));
            if is_known && !self.is_near.load(Ordering::Acquire) {
                return Poll::Pending;
            }
            known = Some(cx.waker().clone());
            // A vanished sender means that the server itself is gone.
            told.as_mut().poll(cx).map(drop)
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
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

    #[test]
    fn who_waits_is_told_of_the_end() {
        assert!(is_told(|stop| {
            stop.now();
            std::mem::forget(stop);
        }));
        assert!(is_told(drop));
    }
}
