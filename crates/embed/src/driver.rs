//! Who polls a session now: what wakes the session wakes him.

use std::cell::OnceCell;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

use crate::bell::Bell;

thread_local! {
    static BELL: OnceCell<Arc<Bell>> = const { OnceCell::new() };
}

/// The bell of the thread that calls.
///
/// # Errors
/// When the process may open no more files.
pub(crate) fn own_bell() -> io::Result<Arc<Bell>> {
    BELL.with(|own| {
        if let Some(bell) = own.get() {
            return Ok(Arc::clone(bell));
        }
        let bell = Arc::new(Bell::new()?);
        Ok(Arc::clone(own.get_or_init(|| bell)))
    })
}

/// One session's, for its whole life: wakers that were given to sockets, pools and timers under one thread reach the next one, too.
#[derive(Default)]
pub(crate) struct Driver {
    who: Mutex<Who>,
    is_woken: AtomicBool,
}

#[derive(Default)]
enum Who {
    /// The session goes on when somebody comes.
    #[default]
    Nobody,
    /// A thread that sleeps in poll(2).
    Thread(Arc<Bell>),
    /// Who is called, and comes then.
    Called(Waker),
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("is_woken", &self.is_woken).finish_non_exhaustive()
    }
}

impl Driver {
    pub(crate) fn is_thread(&self, bell: &Arc<Bell>) {
        self.becomes(Who::Thread(Arc::clone(bell)));
    }

    pub(crate) fn is_called(&self, waker: &Waker) {
        self.becomes(Who::Called(waker.clone()));
    }

    pub(crate) fn is_nobody(&self) {
        self.becomes(Who::Nobody);
    }

    fn becomes(&self, who: Who) {
        *self.who.lock().unwrap_or_else(PoisonError::into_inner) = who;
    }

    /// Whether it was woken since this was asked last.
    pub(crate) fn was_woken(&self) -> bool {
        self.is_woken.swap(false, Ordering::AcqRel)
    }
}

impl Wake for Driver {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        // Called without the lock: who is called may come at once.
        let called = match &*self.who.lock().unwrap_or_else(PoisonError::into_inner) {
            Who::Nobody => None,
            Who::Thread(bell) => {
                bell.ring();
                None
            }
            Who::Called(waker) => Some(waker.clone()),
        };
        called.into_iter().for_each(Waker::wake);
    }
}
