//! Waiting: for the next message of an idle client, and for a session while its client may leave.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use pando_kernel::runtime::{BoxFuture, SharedRuntime};

use super::end::End;
use super::wire::{Frame, Wire};
use crate::codec::Malformed;

/// What comes next while a client is idle.
pub(super) enum Next {
    Frame(Frame),
    Broken(Malformed),
    Idle,
    Stopping,
}

/// How long a client has been idle. One timer serves many requests: when it rings, it is set again
/// for what is left.
pub(super) struct Idle {
    runtime: SharedRuntime,
    limit: Duration,
    since: Instant,
    timer: Option<BoxFuture<'static, ()>>,
}

impl Idle {
    pub(super) fn new(runtime: SharedRuntime, limit: Duration) -> Idle {
        let since = runtime.now();
        Idle { runtime, limit, since, timer: None }
    }

    fn touch(&mut self) {
        self.since = self.runtime.now();
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.limit == Duration::MAX {
            return Poll::Pending;
        }
        loop {
            let Some(timer) = &mut self.timer else {
                let gone = self.runtime.now().saturating_duration_since(self.since);
                let Some(left) = self.limit.checked_sub(gone).filter(|left| !left.is_zero()) else {
                    return Poll::Ready(());
                };
                self.timer = Some(self.runtime.sleep(left));
                continue;
            };
            match timer.as_mut().poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(()) => self.timer = None,
            }
        }
    }
}

/// The next message of an idle client.
///
/// # Cancel safety
/// May be dropped: what has been read stays in the wire.
pub(super) async fn next(
    wire: &mut Wire,
    idle: &mut Idle,
    mut stopping: Pin<&mut impl Future<Output = ()>>,
) -> Result<Next, End> {
    idle.touch();
    poll_fn(|cx| {
        if let Poll::Ready(frame) = wire.poll_frame(cx) {
            return Poll::Ready(frame.map(|frame| match frame {
                Ok(frame) => Next::Frame(frame),
                Err(malformed) => Next::Broken(malformed),
            }));
        }
        wire.rest();
        if stopping.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Ok(Next::Stopping));
        }
        idle.poll(cx).map(|()| Ok(Next::Idle))
    })
    .await
}

/// Runs `work` to its end, and calls `left` once when the client leaves meanwhile. The work is not
/// dropped: a commit that has begun is to end. It comes pinned, because a session's futures are
/// large and would be copied on each way into another.
pub(super) async fn watched<T>(
    wire: &mut Wire,
    mut work: Pin<&mut impl Future<Output = T>>,
    left: impl FnOnce(),
) -> T {
    let mut left = Some(left);
    poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(done);
        }
        if left.is_some()
            && wire.poll_gone(cx).is_ready()
            && let Some(left) = left.take()
        {
            left();
        }
        Poll::Pending
    })
    .await
}
