//! A stream whose other end is a script in the same thread: what it costs is a few copies of short texts.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The other end.
pub(crate) trait Peer: Send + Sync + Unpin {
    /// What it says first.
    ///
    /// # Errors
    /// When it cannot be written.
    fn greet(&mut self, out: &mut BytesMut) -> io::Result<()>;

    /// Hears one piece of what was written to it, which holds whole messages, and answers.
    ///
    /// # Errors
    /// When it does not understand.
    fn hear(&mut self, piece: &[u8], out: &mut BytesMut) -> io::Result<()>;

    /// It has said all it has to say.
    fn is_done(&self) -> bool;
}

/// The stream. As on a socket, an answer is not there yet when it is first looked for: each costs one more turn of the task.
pub(crate) struct Wire<P> {
    peer: P,
    out: BytesMut,
    /// The answer has not been looked for.
    fresh: bool,
    waiting: Option<Waker>,
}

impl<P: Peer> Wire<P> {
    /// A stream to this peer.
    ///
    /// # Errors
    /// When the peer cannot say its first words.
    pub(crate) fn to(mut peer: P) -> io::Result<Self> {
        let mut out = BytesMut::new();
        peer.greet(&mut out)?;
        Ok(Self { peer, out, fresh: true, waiting: None })
    }

    fn hear(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut heard = 0;
        for piece in pieces {
            self.peer.hear(piece, &mut self.out)?;
            heard += piece.len();
        }
        if !self.out.is_empty() || self.peer.is_done() {
            self.fresh = true;
            if let Some(waiting) = self.waiting.take() {
                waiting.wake();
            }
        }
        Ok(heard)
    }
}

impl<P: Peer> AsyncRead for Wire<P> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        let nothing = own.out.is_empty() && !own.peer.is_done();
        if nothing {
            if !own.waiting.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                own.waiting = Some(cx.waker().clone());
            }
            return Poll::Pending;
        }
        if std::mem::take(&mut own.fresh) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let length = own.out.len().min(buffer.remaining());
        buffer.put_slice(own.out.get(..length).unwrap_or_default());
        own.out.advance(length);
        Poll::Ready(Ok(()))
    }
}

impl<P: Peer> AsyncWrite for Wire<P> {
    fn poll_write(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        piece: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(self.get_mut().hear(&[IoSlice::new(piece)]))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(self.get_mut().hear(pieces))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
