//! What waits to be written to a client: small pieces together, large ones as they came.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::AsyncWrite;

use super::wire::IDLE;

/// Rows of fewer bytes are cheaper to copy than to write from their own place.
const COPY_BELOW: usize = 4096;
/// Pieces handed to one write at most.
const SLICES: usize = 16;
/// A buffer that has grown beyond this many bytes is not kept.
const KEEP: usize = 256 * 1024;

/// Bytes in the order they will be written.
#[derive(Debug, Default)]
pub(super) struct Output {
    pieces: VecDeque<Bytes>,
    tail: BytesMut,
    waiting: usize,
}

impl Output {
    /// Where messages are appended.
    pub(super) fn buffer(&mut self) -> &mut BytesMut {
        &mut self.tail
    }

    /// Appends bytes that are whole messages, without copying them when they are many.
    pub(super) fn append(&mut self, bytes: Bytes) {
        if bytes.len() < COPY_BELOW {
            self.tail.extend_from_slice(&bytes);
            return;
        }
        if !self.tail.is_empty() {
            let tail = self.tail.split().freeze();
            self.waiting += tail.len();
            self.pieces.push_back(tail);
        }
        self.waiting += bytes.len();
        self.pieces.push_back(bytes);
    }

    /// How many bytes wait.
    pub(super) fn len(&self) -> usize {
        self.waiting + self.tail.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes everything; the stream is not flushed.
    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut (dyn AsyncWrite + Send + Sync + Unpin),
    ) -> Poll<io::Result<()>> {
        while !self.is_empty() {
            let mut stream = Pin::new(&mut *stream);
            let written = if self.pieces.is_empty() {
                ready!(stream.as_mut().poll_write(cx, &self.tail))?
            } else if stream.is_write_vectored() {
                let mut slices = [IoSlice::new(&[]); SLICES];
                let all = self.pieces.iter().map(|piece| &piece[..]).chain([&self.tail[..]]);
                let mut count = 0;
                for (slice, bytes) in slices.iter_mut().zip(all) {
                    *slice = IoSlice::new(bytes);
                    count += 1;
                }
                ready!(stream.as_mut().poll_write_vectored(cx, &slices[..count]))?
            } else {
                let first = self.pieces.front().map_or(&[][..], |piece| piece);
                ready!(stream.as_mut().poll_write(cx, first))?
            };
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.advance(written);
        }
        // `capacity` would tell what is left behind the bytes that were sent, not what is held.
        if self.tail.try_reclaim(KEEP) {
            self.tail = BytesMut::new();
        }
        Poll::Ready(Ok(()))
    }

    /// Gives back what an idle client has no use for.
    pub(super) fn rest(&mut self) {
        if self.is_empty() && self.tail.try_reclaim(IDLE) {
            self.tail = BytesMut::new();
        }
        if self.pieces.is_empty() && self.pieces.capacity() > 0 {
            self.pieces = VecDeque::new();
        }
    }

    fn advance(&mut self, mut written: usize) {
        while let Some(piece) = self.pieces.front_mut() {
            let step = written.min(piece.len());
            piece.advance(step);
            written -= step;
            self.waiting -= step;
            if !piece.is_empty() {
                return;
            }
            self.pieces.pop_front();
        }
        self.tail.advance(written.min(self.tail.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes three bytes at a time.
    #[derive(Default)]
    struct Trickle {
        got: Vec<u8>,
        vectored: bool,
    }

    impl AsyncWrite for Trickle {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            let count = bytes.len().min(3);
            self.got.extend_from_slice(&bytes[..count]);
            Poll::Ready(Ok(count))
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            slices: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            let all: Vec<u8> = slices.iter().flat_map(|slice| slice.iter().copied()).collect();
            let count = all.len().min(5000);
            self.got.extend_from_slice(&all[..count]);
            Poll::Ready(Ok(count))
        }

        fn is_write_vectored(&self) -> bool {
            self.vectored
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[test]
    fn everything_is_written_in_order_however_little_is_taken() {
        for vectored in [false, true] {
            let mut output = Output::default();
            let mut expected = Vec::new();
            for number in 0..40_u8 {
                output.buffer().extend_from_slice(&[number; 10]);
                let large = vec![number; if number % 3 == 0 { COPY_BELOW } else { 20 }];
                expected.extend_from_slice(&[number; 10]);
                expected.extend_from_slice(&large);
                output.append(large.into());
            }
            assert_eq!(output.len(), expected.len());
            let mut stream = Trickle { vectored, ..Trickle::default() };
            let mut cx = Context::from_waker(std::task::Waker::noop());
            assert!(matches!(output.poll_write(&mut cx, &mut stream), Poll::Ready(Ok(()))));
            assert_eq!(stream.got, expected);
            assert!(output.is_empty());
        }
    }
}
