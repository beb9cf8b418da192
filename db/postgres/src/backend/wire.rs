//! The byte stream of one connection with its two buffers.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
use pando_kernel::runtime::Stream;
use pando_kernel::{Error, Result};
use tokio::io::AsyncReadExt;

use crate::codec::frame::{self, Header};

/// Bytes asked of the stream at once: at first, and at most while reads fill what they are given.
const MIN_READ: usize = 8 * 1024;
const MAX_READ: usize = 256 * 1024;
/// A buffer that has grown beyond so many bytes is given back once it is empty: a connection lives for hours after its largest message.
const KEEP: usize = 256 * 1024;

/// A stream with what was read and not yet taken, and what is to be written.
pub(super) struct Wire {
    stream: Box<dyn Stream>,
    pub(super) input: BytesMut,
    /// A message larger than what is kept has been part of `input`.
    has_grown: bool,
    pub(super) output: BytesMut,
    read_size: usize,
    unflushed: bool,
    limit: usize,
}

impl Wire {
    pub(super) fn new(stream: Box<dyn Stream>, limit: usize) -> Wire {
        Wire {
            stream,
            input: BytesMut::new(),
            has_grown: false,
            output: BytesMut::new(),
            read_size: MIN_READ,
            unflushed: false,
            limit,
        }
    }

    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The whole frame at the front of the input.
    pub(super) fn frame(&self) -> Result<Option<(Header, &[u8])>> {
        frame::frame(&self.input, self.limit).map_err(Error::from)
    }

    /// So many bytes off the front of the input, which has them.
    pub(super) fn take(&mut self, length: usize) -> Bytes {
        let taken = self.input.split_to(length).freeze();
        self.settle(length);
        taken
    }

    /// Drops so many bytes off the front of the input, which has them.
    pub(super) fn skip(&mut self, length: usize) {
        self.input.advance(length);
        self.settle(length);
    }

    /// What is left of a large allocation would keep all of it.
    fn settle(&mut self, taken: usize) {
        self.has_grown |= taken > KEEP;
        if self.has_grown && self.input.is_empty() {
            (self.input, self.has_grown) = (BytesMut::new(), false);
        }
    }

    pub(super) fn has_output(&self) -> bool {
        self.unflushed || !self.output.is_empty()
    }

    /// Writes all output and flushes the stream.
    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let stream = &mut *self.stream;
        while !self.output.is_empty() {
            let written = ready!(Pin::new(&mut *stream).poll_write(cx, &self.output))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.output.advance(written);
            self.unflushed = true;
        }
        // `capacity` would tell what is left behind the bytes that were sent, not what is held.
        if self.output.try_reclaim(KEEP) {
            self.output = BytesMut::new();
        }
        if self.unflushed {
            ready!(Pin::new(stream).poll_flush(cx))?;
            self.unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    /// Reads what there is; the end of the stream is an error. The buffer grows only by what arrives.
    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.input.capacity() - self.input.len() < MIN_READ / 2 {
            self.input.reserve(self.read_size);
        }
        let room = self.input.capacity() - self.input.len();
        // The future holds nothing between polls, so that it may be made anew each time.
        let read = ready!(pin!(self.stream.read_buf(&mut self.input)).poll(cx))?;
        if read == 0 {
            return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
        }
        if read == room {
            self.read_size = (self.read_size * 2).min(MAX_READ);
        } else if read < self.read_size / 4 {
            self.read_size = (self.read_size / 2).max(MIN_READ);
        }
        Poll::Ready(Ok(()))
    }

    /// Writes all output. For the login, where one thing happens at a time.
    pub(super) async fn write(&mut self) -> io::Result<()> {
        poll_fn(|cx| self.poll_write(cx)).await
    }

    /// Reads more. For the login.
    pub(super) async fn read(&mut self) -> io::Result<()> {
        poll_fn(|cx| self.poll_read(cx)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn buffers_do_not_stay_as_large_as_the_largest_message() {
        let (near, mut far) = tokio::io::duplex(4 * KEEP);
        let mut wire = Wire::new(Box::new(near), usize::MAX);
        wire.output.extend_from_slice(&[7; 2 * KEEP]);
        wire.write().await.unwrap();
        assert!(!wire.output.try_reclaim(KEEP));

        let mut all = vec![0; 2 * KEEP];
        far.read_exact(&mut all).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut far, &all).await.unwrap();
        while wire.input.len() < all.len() {
            wire.read().await.unwrap();
        }
        let (most, rest) = (wire.take(all.len() - 1), wire.input.len());
        assert_eq!(rest, 1);
        wire.skip(1);
        drop(most);
        assert!(!wire.input.try_reclaim(KEEP));
    }
}
