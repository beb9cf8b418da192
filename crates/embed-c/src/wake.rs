//! Whom a session wakes that nobody waits in.

use std::ffi::c_void;
use std::sync::Arc;
use std::task::{Wake, Waker};

/// A function of the caller's.
pub(crate) type Call = extern "C" fn(*mut c_void);

/// What it is called with.
struct Callback {
    wake: Call,
    release: Option<Call>,
    context: *mut c_void,
}

// SAFETY: `pando.h` asks for functions that may be called from any thread.
unsafe impl Send for Callback {}
// SAFETY: the same.
unsafe impl Sync for Callback {}

impl Wake for Callback {
    fn wake(self: Arc<Self>) {
        (self.wake)(self.context);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        (self.wake)(self.context);
    }
}

impl Drop for Callback {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            release(self.context);
        }
    }
}

/// Calls `wake`; `release` when the last copy of the waker is gone.
pub(crate) fn waker(wake: Call, release: Option<Call>, context: *mut c_void) -> Waker {
    Waker::from(Arc::new(Callback { wake, release, context }))
}
