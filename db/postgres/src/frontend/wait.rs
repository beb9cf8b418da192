//! Waiting for the next message of an idle client.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use pando_kernel::runtime::Idle;
use pando_kernel::session::Session;
use pando_kernel::{Error, Notification};

use super::end::End;
use super::wire::{Frame, Wire};
use crate::codec::Malformed;

/// What comes next while a client is idle.
pub(super) enum Next {
    Frame(Frame),
    Broken(Malformed),
    /// Channels have told something, or the session is to end.
    Notified(Result<Vec<Notification>, Error>),
    Idle,
    Stopping,
}

/// The next message of an idle client, or what a session that listens is told before.
///
/// # Cancel safety
/// May be dropped: what has been read stays in the wire.
pub(super) async fn next(
    wire: &mut Wire,
    idle: &mut Idle,
    mut stopping: Pin<&mut impl Future<Output = ()>>,
    mut listens: Option<&mut impl Session>,
) -> Result<Next, End> {
    poll_fn(|cx| {
        if let Poll::Ready(frame) = wire.poll_frame(cx) {
            idle.end();
            return Poll::Ready(frame.map(|frame| match frame {
                Ok(frame) => Next::Frame(frame),
                Err(malformed) => Next::Broken(malformed),
            }));
        }
        wire.rest();
        if let Some(session) = &mut listens
            && let Poll::Ready(told) = session.poll_notified(cx)
        {
            return Poll::Ready(Ok(Next::Notified(told)));
        }
        if stopping.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Ok(Next::Stopping));
        }
        idle.poll(cx).map(|()| Ok(Next::Idle))
    })
    .await
}
