//! Telling callers to read again.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::{Closed, Prefix};

/// Says when something at or below a prefix may have changed since it was asked last. It carries no data and cannot fall behind:
/// any number of changes make one signal.
#[derive(Debug)]
pub struct Watch {
    receiver: watch::Receiver<()>,
}

impl Watch {
    /// Completes when something may have changed since the watch was made or since this completed last; also after a connection to
    /// the store was lost and found again. What changes while nobody waits here is kept for the next call.
    ///
    /// # Errors
    /// [`Closed`] when the repository is.
    ///
    /// # Cancel safety
    /// Cancel safe: a signal is taken only by completing.
    pub async fn changed(&mut self) -> Result<(), Closed> {
        self.receiver.changed().await.map_err(|_| Closed)
    }

    /// Whether something may have changed, without waiting; takes the signal. Nothing changes any more in a closed repository.
    pub fn has_changed(&mut self) -> bool {
        let has_changed = self.receiver.has_changed().unwrap_or(false);
        if has_changed {
            self.receiver.borrow_and_update();
        }
        has_changed
    }
}

/// A repository's end of its watches. As many as callers hold, and one more per prefix at most.
#[derive(Debug, Default)]
pub struct Watchers {
    /// `None` once closed.
    senders: Mutex<Option<Senders>>,
}

type Senders = Vec<(Prefix, watch::Sender<()>)>;

impl Watchers {
    /// None yet.
    pub fn new() -> Self {
        Self { senders: Mutex::new(Some(Vec::new())) }
    }

    /// A watch for a caller; one that is closed from the start when the repository is.
    pub fn register(&self, below: &Prefix) -> Watch {
        let mut senders = self.lock();
        let Some(senders) = senders.as_mut() else {
            return Watch { receiver: watch::Sender::new(()).subscribe() };
        };
        senders.retain(|(_, sender)| sender.receiver_count() > 0);
        if let Some((_, sender)) = senders.iter().find(|(prefix, _)| prefix == below) {
            return Watch { receiver: sender.subscribe() };
        }
        let sender = watch::Sender::new(());
        let receiver = sender.subscribe();
        senders.push((below.clone(), sender));
        Watch { receiver }
    }

    /// The key with this path was put or deleted.
    pub fn changed(&self, path: &str) {
        self.signal(|prefix| prefix.covers(path));
    }

    /// Anything may have changed.
    pub fn all_changed(&self) {
        self.signal(|_| true);
    }

    /// Ends all watches.
    pub fn close(&self) {
        *self.lock() = None;
    }

    fn signal(&self, concerned: impl Fn(&Prefix) -> bool) {
        for (prefix, sender) in self.lock().iter().flatten() {
            if concerned(prefix) {
                sender.send_replace(());
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Senders>> {
        self.senders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn poll(watch: &mut Watch) -> Poll<Result<(), Closed>> {
        pin!(watch.changed()).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn changes_while_nobody_waits_make_one_signal() {
        let watchers = Watchers::new();
        let mut watch = watchers.register(&Prefix::parse("/a").unwrap());
        assert_eq!(poll(&mut watch), Poll::Pending);
        watchers.changed("/a/b");
        watchers.changed("/a");
        assert_eq!(poll(&mut watch), Poll::Ready(Ok(())));
        assert_eq!(poll(&mut watch), Poll::Pending);
        watchers.changed("/ab");
        assert_eq!(poll(&mut watch), Poll::Pending);
        watchers.all_changed();
        assert_eq!(poll(&mut watch), Poll::Ready(Ok(())));
    }

    #[test]
    fn a_wait_that_is_dropped_takes_no_signal() {
        let watchers = Watchers::new();
        let mut watch = watchers.register(&Prefix::root());
        drop(watch.changed());
        watchers.changed("/a");
        drop(watch.changed());
        assert_eq!(poll(&mut watch), Poll::Ready(Ok(())));
    }

    #[test]
    fn a_watch_that_nobody_holds_is_forgotten() {
        let watchers = Watchers::new();
        for n in 0..100 {
            drop(watchers.register(&Prefix::parse(&format!("/{n}")).unwrap()));
        }
        let held = watchers.lock().as_ref().unwrap().len();
        assert_eq!(held, 1);
    }

    #[test]
    fn closing_ends_watches_old_and_new() {
        let watchers = Watchers::new();
        let mut old = watchers.register(&Prefix::root());
        watchers.close();
        assert_eq!(poll(&mut old), Poll::Ready(Err(Closed)));
        assert_eq!(poll(&mut watchers.register(&Prefix::root())), Poll::Ready(Err(Closed)));
    }
}
