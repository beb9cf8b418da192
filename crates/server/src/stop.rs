//! The way from running to stopped: told once, seen by every door and session.

use tokio::sync::watch;

/// Tells everyone to stop.
#[derive(Debug)]
pub(crate) struct Stop {
    sender: watch::Sender<bool>,
}

/// Sees when it is time to stop. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Stopping {
    receiver: watch::Receiver<bool>,
}

impl Stop {
    pub(crate) fn new() -> (Self, Stopping) {
        let (sender, receiver) = watch::channel(false);
        (Self { sender }, Stopping { receiver })
    }

    pub(crate) fn now(&self) {
        self.sender.send_replace(true);
    }
}

impl Stopping {
    pub(crate) fn is_told(&self) -> bool {
        *self.receiver.borrow()
    }

    /// Completes once it was told, also when that was long ago.
    ///
    /// # Cancel safety
    /// May be dropped at any time.
    pub(crate) async fn told(&self) {
        let mut receiver = self.receiver.clone();
        // A vanished sender means that the server itself is gone.
        let _ = receiver.wait_for(|stop| *stop).await;
    }
}
