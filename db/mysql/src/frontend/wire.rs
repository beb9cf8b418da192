//! A client's stream with its buffers.

use std::future::Future;
use std::io;
use std::mem::MaybeUninit;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, BytesMut};
use pando_kernel::runtime::{LONG, SharedRuntime, Stream};
use tokio::io::{AsyncReadExt, ReadBuf};

use super::charset::Charsets;
use super::end::End;
use crate::codec::{Fault, HEADER_LEN, Inbound, Malformed, Outbound, Packet, frame_payload_len};
use crate::error::ClientError;

/// Bytes asked for by one read.
const READ: usize = 16 << 10;
/// What a client sends while its statement runs is read up to so many bytes, to see when it leaves.
const READ_AHEAD: usize = 64 << 10;
/// A buffer of more bytes is not kept while its client is idle: most clients are, most of the time.
const IDLE: usize = 2 << 10;

pub(super) struct Wire {
    stream: Box<dyn Stream>,
    runtime: SharedRuntime,
    /// A client that takes nothing for so long is gone.
    patience: Duration,
    pub(super) input: Inbound,
    pub(super) output: Outbound,
    pub(super) charsets: Charsets,
    /// The client sends nothing any more.
    gone: bool,
}

/// The longest packet of a login, in bytes: names, an answer and 64 KiB of attributes fit.
const LOGIN_LIMIT: usize = 128 << 10;

impl Wire {
    pub(super) fn new(stream: Box<dyn Stream>, runtime: SharedRuntime, patience: Duration) -> Self {
        let (input, output) = (Inbound::new(LOGIN_LIMIT), Outbound::new());
        let charsets = Charsets::default();
        Self { stream, runtime, patience, input, output, charsets, gone: false }
    }

    /// Secures the stream, which must have been read by [`Self::exact_packet`] only.
    pub(super) fn into_stream(self) -> Box<dyn Stream> {
        self.stream
    }

    /// The next packet, if it is there or comes; its answer will have the right sequence numbers.
    pub(super) fn poll_packet(&mut self, cx: &mut Context<'_>) -> Poll<Result<Packet, End>> {
        loop {
            match self.input.next_packet() {
                Ok(Some(packet)) => {
                    self.output.restart(self.input.expected());
                    return Poll::Ready(Ok(packet));
                }
                Ok(None) => ready!(self.poll_read(cx))?,
                Err(fault) => return Poll::Ready(Err(self.refuse(fault))),
            }
        }
    }

    /// Ready when the client has left. What it sends meanwhile is kept, up to a bound.
    pub(super) fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.input.buffer_mut().len() < READ_AHEAD {
            if ready!(self.poll_read(cx)).is_err() {
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), End>> {
        if self.gone {
            return Poll::Ready(Err(End::Gone(io::ErrorKind::UnexpectedEof.into())));
        }
        let buffer = self.input.buffer_mut();
        let read = if buffer.is_empty() {
            ready!(self.poll_first(cx))
        } else {
            if buffer.len() >= LONG && !self.runtime.steps_aside() {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            if buffer.capacity() - buffer.len() < READ / 2 {
                buffer.reserve(READ);
            }
            ready!(pin!(self.stream.read_buf(buffer)).poll(cx))
        };
        self.gone = !matches!(read, Ok(1..));
        match read {
            Ok(0) => Poll::Ready(Err(End::Gone(io::ErrorKind::UnexpectedEof.into()))),
            Ok(_) => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(End::Gone(error))),
        }
    }

    /// Reads by way of the stack: while nothing has come, no memory waits for it.
    fn poll_first(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut bytes = [MaybeUninit::uninit(); READ];
        let mut bytes = ReadBuf::uninit(&mut bytes);
        ready!(Pin::new(&mut *self.stream).poll_read(cx, &mut bytes))?;
        self.input.buffer_mut().extend_from_slice(bytes.filled());
        Poll::Ready(Ok(bytes.filled().len()))
    }

    /// Gives back what an idle client has no use for.
    pub(super) fn rest(&mut self) {
        if self.input.buffer_mut().is_empty() {
            self.runtime.comes_back();
        }
        for buffer in [self.input.buffer_mut(), self.output.buffer_mut()] {
            // `capacity` would tell what is left behind the bytes that were taken, not what is held.
            if buffer.is_empty() && buffer.try_reclaim(IDLE) {
                *buffer = BytesMut::new();
            }
        }
    }

    /// The next packet. Not bounded in time.
    pub(super) async fn packet(&mut self) -> Result<Packet, End> {
        let packet = std::future::poll_fn(|cx| self.poll_packet(cx)).await;
        self.tell_refusal(packet).await
    }

    /// The next packet, with not a byte read behind it: TLS may start there.
    pub(super) async fn exact_packet(&mut self) -> Result<Packet, End> {
        let mut header = [0; HEADER_LEN];
        self.stream.read_exact(&mut header).await?;
        let len = frame_payload_len(header);
        let mut frame = BytesMut::from(&header[..]);
        if len <= LOGIN_LIMIT {
            frame.resize(HEADER_LEN + len, 0);
            let payload = frame.get_mut(HEADER_LEN..).unwrap_or_default();
            self.stream.read_exact(payload).await?;
        }
        self.input.buffer_mut().unsplit(frame);
        self.packet().await
    }

    /// Ends a connection whose framing is broken: writes the ERR packet, which still has to be flushed.
    fn refuse(&mut self, fault: Malformed) -> End {
        self.output.restart(self.input.expected());
        let error = match fault.fault {
            Fault::TooLarge(_) => ClientError::new(
                1153,
                b"08S01",
                "Got a packet bigger than 'max_allowed_packet' bytes",
            ),
            Fault::OutOfOrder { .. } => {
                ClientError::new(1156, b"08S01", "Got packets out of order")
            }
            Fault::Truncated | Fault::Unterminated | Fault::Value(_) | Fault::NotUtf8 => {
                ClientError::new(1835, b"HY000", fault.to_string())
            }
        };
        self.error(&error);
        End::Told(error.message.into_owned())
    }

    pub(super) async fn tell_refusal<T>(&mut self, result: Result<T, End>) -> Result<T, End> {
        if let Err(End::Told(_)) = &result {
            self.flush().await?;
        }
        result
    }

    /// Appends an ERR packet.
    pub(super) fn error(&mut self, error: &ClientError<'_>) {
        let message = self.charsets.results.write(error.message.as_bytes());
        self.output.packet(|out| error.encode_with(&message, out));
    }

    /// Appends an ERR packet and sends it; the connection ends with that.
    pub(super) async fn last_words(&mut self, error: &ClientError<'_>) -> End {
        self.error(error);
        match self.flush().await {
            Ok(()) => End::Told(error.message.to_string()),
            Err(end) => end,
        }
    }

    /// Writes out everything.
    pub(super) async fn flush(&mut self) -> Result<(), End> {
        if self.output.is_empty() {
            return Ok(());
        }
        let mut timer = None;
        // Most writes are taken at once: the timer is made for those that are not.
        std::future::poll_fn(|cx| {
            if let Poll::Ready(written) = self.poll_flush(cx) {
                return Poll::Ready(written);
            }
            let timer = timer.get_or_insert_with(|| self.runtime.sleep(self.patience));
            timer.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
        })
        .await?;
        self.output.settle();
        Ok(())
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.output.is_empty() {
            let output = self.output.buffer_mut();
            match ready!(Pin::new(&mut *self.stream).poll_write(cx, output))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => output.advance(count),
            }
        }
        Pin::new(&mut *self.stream).poll_flush(cx)
    }
}
