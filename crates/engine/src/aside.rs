//! Work that takes its time: done beside the event loops, each of whose threads serves many clients.
//!
//! A session with a long statement moves itself instead (`kernel::runtime::aside`), with its connections near it. What a client orders of the configuration may not: the
//! connections, watchers and threads that it opens go on after the session, and must belong to no thread that long statements keep busy.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use pando_kernel::error::{Error, Result};
use pando_kernel::runtime::SharedRuntime;
use tokio::sync::{Semaphore, oneshot};

/// Texts of so many bytes are heavy: what is done with one may take more than a few milliseconds.
pub(crate) const HEAVY: usize = 16 << 10;

/// Who does heavy work: one at a time, so that all of it together takes one core at most.
#[derive(Debug)]
pub(crate) struct Aside(Arc<Semaphore>);

impl Default for Aside {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

impl Aside {
    /// Runs work to its end where no client waits for its thread. Where there are no event loops it runs here. `size` is that of the text it is about.
    ///
    /// # Errors
    /// `Internal` when the work has broken off.
    ///
    /// # Cancel safety
    /// The work is dropped at its next await.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        runtime: &SharedRuntime,
        size: usize,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T> {
        if runtime.event_loop() == 0 {
            return Ok(work.await);
        }
        let (mut tell, told) = oneshot::channel();
        let turn = Arc::clone(&self.0);
        let work = async move {
            let _turn = if size >= HEAVY { turn.acquire_owned().await.ok() } else { None };
            work.await
        };
        runtime.spawn(Box::pin(async move {
            let mut work = pin!(work);
            let done = poll_fn(|cx| match work.as_mut().poll(cx) {
                Poll::Ready(done) => Poll::Ready(Some(done)),
                // Nobody waits for it any more.
                Poll::Pending => tell.poll_closed(cx).map(|()| None),
            });
            if let Some(done) = done.await {
                // Who has left meanwhile needs no answer.
                let _ = tell.send(done);
            }
        }));
        told.await.map_err(|_| Error::internal("work beside the event loops broke off"))
    }
}
