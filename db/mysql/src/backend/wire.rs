//! A stream with its two buffers: framed bytes out, packets in.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use pando_kernel::Result;
use pando_kernel::runtime::Stream;
use tokio::io::{AsyncReadExt, AsyncWrite};

use super::unavailable;
use crate::codec::{Inbound, Outbound, Packet};
use crate::error::malformed;

/// Bytes asked for by one read: the least, and the most when reads come back full.
const READ: (usize, usize) = (16 << 10, 128 << 10);

pub(super) struct Wire {
    unit: Arc<str>,
    stream: Box<dyn Stream>,
    pub(super) input: Inbound,
    pub(super) output: Outbound,
    unflushed: bool,
    read: usize,
}

impl Wire {
    pub(super) fn new(unit: Arc<str>, stream: Box<dyn Stream>, limit: usize) -> Self {
        let (input, output) = (Inbound::new(limit), Outbound::new());
        Self { unit, stream, input, output, unflushed: false, read: READ.0 }
    }

    /// Gives the stream away, to be secured; what was read and not used is refused, as it was not secured.
    pub(super) fn into_stream(self) -> Result<Box<dyn Stream>> {
        if self.input.buffered().is_empty() {
            return Ok(self.stream);
        }
        Err(unavailable(&self.unit, "the server spoke before TLS was set up"))
    }

    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        if self.output.is_empty() && !self.unflushed {
            return Poll::Ready(Ok(()));
        }
        while !self.output.is_empty() {
            let written =
                ready!(Pin::new(&mut self.stream).poll_write(cx, self.output.buffer_mut()));
            match written {
                Ok(0) => return Poll::Ready(Err(self.lost("the connection takes no more bytes"))),
                Ok(count) => self.output.buffer_mut().advance(count),
                Err(error) => return Poll::Ready(Err(self.lost(error))),
            }
            self.unflushed = true;
        }
        self.output.settle();
        if self.unflushed {
            ready!(Pin::new(&mut self.stream).poll_flush(cx)).map_err(|error| self.lost(error))?;
            self.unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    /// Reads more bytes, once.
    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let buffer = self.input.buffer_mut();
        if buffer.capacity() - buffer.len() < self.read / 2 {
            buffer.reserve(self.read);
        }
        let room = buffer.capacity() - buffer.len();
        let got = ready!(pin!(self.stream.read_buf(buffer)).poll(cx));
        match got {
            Ok(0) => Poll::Ready(Err(self.lost("the server closed the connection"))),
            Ok(count) => {
                if count == room {
                    self.read = (self.read * 2).min(READ.1);
                } else if count < READ.0 / 4 {
                    self.read = READ.0;
                }
                Poll::Ready(Ok(()))
            }
            Err(error) => Poll::Ready(Err(self.lost(error))),
        }
    }

    pub(super) async fn packet(&mut self) -> Result<Packet> {
        loop {
            if let Some(packet) = self.input.next_packet().map_err(malformed)? {
                return Ok(packet);
            }
            std::future::poll_fn(|cx| self.poll_read(cx)).await?;
        }
    }

    pub(super) async fn flush(&mut self) -> Result<()> {
        std::future::poll_fn(|cx| self.poll_write(cx)).await
    }

    fn lost(&self, why: impl ToString) -> pando_kernel::Error {
        unavailable(&self.unit, why)
    }
}
