//! Waiting for the next command of an idle client.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use pando_kernel::runtime::Idle;

use super::end::End;
use super::wire::Wire;
use crate::codec::Packet;

/// What comes next while a client is idle.
pub(super) enum Next {
    Packet(Packet),
    /// A command came, but the server is stopping.
    Refused,
    Idle,
    Stopping,
}

/// The next command of an idle client.
///
/// # Cancel safety
/// May be dropped: what has been read stays in the wire.
pub(super) async fn next(
    wire: &mut Wire,
    idle: &mut Idle,
    mut stopping: Pin<&mut impl Future<Output = ()>>,
) -> Result<Next, End> {
    let next = poll_fn(|cx| {
        let packet = wire.poll_packet(cx);
        let stops = stopping.as_mut().poll(cx).is_ready();
        match packet {
            Poll::Ready(Ok(_)) if stops => return Poll::Ready(Ok(Next::Refused)),
            Poll::Ready(packet) => return Poll::Ready(packet.map(Next::Packet)),
            Poll::Pending if stops => return Poll::Ready(Ok(Next::Stopping)),
            Poll::Pending => wire.rest(),
        }
        idle.poll(cx).map(|()| Ok(Next::Idle))
    })
    .await;
    idle.end();
    wire.tell_refusal(next).await
}
