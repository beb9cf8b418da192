//! A client's stream with its buffers.

use std::future::{Future, poll_fn};
use std::io;
use std::mem::MaybeUninit;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use pando_kernel::runtime::{BoxFuture, LONG, SharedRuntime, Stream};
use pando_kernel::{Error, Result, Rows};
use tokio::io::{AsyncReadExt, AsyncWrite, ReadBuf};

use super::end::End;
use super::output::Output;
use super::recode;
use super::shape::Shape;
use crate::codec::frame::{self, HEADER};
use crate::codec::{Fault, Malformed};
use crate::encoding::Encoding;
use crate::error::{self, Severity};

/// Bytes asked for by one read.
const READ: usize = 16 * 1024;
/// An input buffer that has grown beyond this many bytes is not kept.
const KEEP: usize = 256 * 1024;
/// A buffer of more bytes is not kept while its client is idle: most clients are, most of the time.
pub(super) const IDLE: usize = 2 * 1024;
/// Bytes read ahead while a statement runs, to see whether the client is still there.
const READ_AHEAD: usize = 64 * 1024;

/// One message of the client.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) tag: u8,
    pub(super) body: Bytes,
}

pub(super) struct Wire {
    stream: Box<dyn Stream>,
    runtime: SharedRuntime,
    /// A client that takes or gives nothing for so long is gone.
    patience: Duration,
    input: BytesMut,
    /// A message larger than what is kept has been part of `input`.
    has_grown: bool,
    pub(super) output: Output,
    /// What the client's texts are written in.
    pub(super) encoding: Encoding,
    /// The largest message taken, bytes on the wire.
    limit: usize,
    gone: bool,
}

impl Wire {
    pub(super) fn new(
        stream: Box<dyn Stream>,
        runtime: SharedRuntime,
        patience: Duration,
        limit: usize,
    ) -> Wire {
        let (input, output) = (BytesMut::new(), Output::default());
        let (has_grown, gone, encoding) = (false, false, Encoding::default());
        Wire { stream, runtime, patience, input, has_grown, output, encoding, limit, gone }
    }

    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// The stream, for TLS; `None` when the client sent something before it was asked to.
    pub(super) fn into_stream(self) -> Option<Box<dyn Stream>> {
        self.input.is_empty().then_some(self.stream)
    }

    /// The first packet of a connection, its length field included. What has no length of such a packet is no client
    /// that would read an answer, and gets none, as from a server; so a Terminate of who has not begun.
    pub(super) async fn startup(&mut self) -> Result<Bytes, End> {
        loop {
            match frame::startup(&self.input) {
                Ok(Some(length)) if self.input.len() >= length => {
                    return Ok(self.input.split_to(length).freeze());
                }
                Ok(_) => poll_fn(|cx| self.poll_read(cx)).await?,
                Err(malformed) => return Err(End::Told(Error::from(malformed).to_string())),
            }
        }
    }

    /// The next message, if it is there or comes. A broken frame is an error of the inner result.
    pub(super) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Result<Frame, Malformed>, End>> {
        loop {
            match self.take() {
                Ok(Some(frame)) => return Poll::Ready(Ok(Ok(frame))),
                Ok(None) => ready!(self.poll_read(cx))?,
                Err(malformed) => return Poll::Ready(Ok(Err(malformed))),
            }
        }
    }

    /// The next message; a client that sends none for too long is gone.
    pub(super) async fn frame(&mut self) -> Result<Frame, End> {
        let (mut timer, patience) = (None, self.patience);
        let runtime = std::sync::Arc::clone(&self.runtime);
        let frame = poll_fn(|cx| match self.poll_frame(cx) {
            Poll::Pending => over(&mut timer, &runtime, patience, cx),
            ready => ready,
        })
        .await?;
        match frame {
            Ok(frame) => Ok(frame),
            Err(malformed) => Err(self.refuse(malformed).await),
        }
    }

    /// The next message, if all of it is there.
    pub(super) fn take(&mut self) -> Result<Option<Frame>, Malformed> {
        let Some(header) = frame::header(&self.input, self.limit)? else { return Ok(None) };
        let limit = frame::frontend_limit(header.tag, self.limit);
        if header.total > limit.saturating_add(1) {
            return Err(Malformed::new("frame", Fault::BadLength));
        }
        if self.input.len() < header.total {
            return Ok(None);
        }
        let body = if header.total == HEADER {
            self.input.advance(HEADER);
            Bytes::new()
        } else {
            self.input.split_to(header.total).freeze().slice(HEADER..)
        };
        // What is left of a large allocation would keep all of it.
        self.has_grown |= header.total > KEEP;
        if self.has_grown && self.input.is_empty() {
            (self.input, self.has_grown) = (BytesMut::new(), false);
        }
        Ok(Some(Frame { tag: header.tag, body }))
    }

    /// Whether a Sync is already there, with nothing before it that could start a statement.
    pub(super) fn sync_is_next(&self) -> bool {
        let mut rest = &self.input[..];
        while let Ok(Some(header)) = frame::header(rest, self.limit) {
            match header.tag {
                b'S' => return true,
                // Close and Flush.
                b'C' | b'H' if rest.len() >= header.total => rest = &rest[header.total..],
                _ => return false,
            }
        }
        false
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), End>> {
        if self.input.is_empty() {
            return self.poll_more(cx);
        }
        if self.gone {
            return Poll::Ready(Err(gone()));
        }
        if self.input.len() >= LONG && !self.runtime.steps_aside() {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.input.capacity() - self.input.len() < READ / 2 {
            self.input.reserve(READ);
        }
        let read = ready!(pin!(self.stream.read_buf(&mut self.input)).poll(cx));
        self.has_read(read)
    }

    /// Reads by way of the stack: while nothing has come, no memory waits for it.
    fn poll_more(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), End>> {
        if self.gone {
            return Poll::Ready(Err(gone()));
        }
        let mut bytes = [MaybeUninit::uninit(); READ];
        let mut bytes = ReadBuf::uninit(&mut bytes);
        let read = ready!(Pin::new(&mut *self.stream).poll_read(cx, &mut bytes));
        self.input.extend_from_slice(bytes.filled());
        self.has_read(read.map(|()| bytes.filled().len()))
    }

    fn has_read(&mut self, read: io::Result<usize>) -> Poll<Result<(), End>> {
        match read {
            Ok(0) => {
                self.gone = true;
                Poll::Ready(Err(gone()))
            }
            Ok(_) => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(End::Gone(error))),
        }
    }

    /// Gives back what an idle client has no use for.
    pub(super) fn rest(&mut self) {
        if self.input.is_empty() {
            self.runtime.comes_back();
        }
        if self.input.is_empty() && self.input.try_reclaim(IDLE) {
            self.input = BytesMut::new();
        }
        self.output.rest();
    }

    /// Ready when the client has left. What it sends meanwhile is kept, up to a bound.
    pub(super) fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.input.len() < READ_AHEAD {
            if ready!(self.poll_more(cx)).is_err() {
                self.gone = true;
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.output.poll_write(cx, &mut *self.stream))?;
        AsyncWrite::poll_flush(Pin::new(&mut *self.stream), cx)
    }

    /// Writes out everything.
    pub(super) async fn flush(&mut self) -> Result<(), End> {
        if self.output.is_empty() {
            return Ok(());
        }
        let (mut timer, patience) = (None, self.patience);
        let runtime = std::sync::Arc::clone(&self.runtime);
        poll_fn(|cx| match self.poll_flush(cx) {
            Poll::Pending => over(&mut timer, &runtime, patience, cx),
            Poll::Ready(written) => Poll::Ready(written.map_err(End::Gone)),
        })
        .await
    }

    /// Appends messages that hold texts, in the client's encoding.
    ///
    /// # Errors
    /// What writing them says; SQLSTATE 22P05 for a character that the encoding does not have.
    pub(super) fn tell(&mut self, write: impl FnOnce(&mut BytesMut) -> Result<()>) -> Result<()> {
        if self.encoding.is_plain() {
            return write(self.output.buffer());
        }
        let mut messages = BytesMut::new();
        write(&mut messages)?;
        recode::messages(self.encoding, &messages, self.output.buffer())
    }

    /// Appends an error. A server that cannot tell it in the client's encoding tells that.
    pub(super) fn tell_error(
        &mut self,
        severity: Severity,
        error: &Error,
        place: Option<(&str, u32)>,
    ) {
        let told = self.tell(|buf| {
            error::encode(buf, severity, error, place);
            Ok(())
        });
        if let Err(other) = told {
            error::encode(self.output.buffer(), severity, &other, None);
        }
    }

    /// Appends rows, in the client's encoding.
    ///
    /// # Errors
    /// As [`Shape::rows`] and [`recode::rows`].
    pub(super) fn rows(&mut self, shape: &Shape, rows: Rows) -> Result<()> {
        if self.encoding.is_plain() {
            return shape.rows(&mut self.output, rows);
        }
        let frames = shape.frames(rows)?;
        recode::rows(self.encoding, &shape.forms(), &frames, self.output.buffer())
    }

    /// Appends an error that ends the connection, and sends it.
    pub(super) async fn last_words(&mut self, error: &Error) -> End {
        self.tell_error(Severity::Fatal, error, None);
        match self.flush().await {
            Ok(()) => End::Told(error.to_string()),
            Err(end) => end,
        }
    }

    async fn refuse(&mut self, malformed: Malformed) -> End {
        self.last_words(&malformed.into()).await
    }
}

/// The client has closed its side.
fn gone() -> End {
    End::Gone(io::ErrorKind::UnexpectedEof.into())
}

/// Ready once the patience is over. Most waits are short: the timer is made for those that are not.
fn over<T>(
    timer: &mut Option<BoxFuture<'static, ()>>,
    runtime: &SharedRuntime,
    patience: Duration,
    cx: &mut Context<'_>,
) -> Poll<Result<T, End>> {
    if patience == Duration::MAX {
        return Poll::Pending;
    }
    let timer = timer.get_or_insert_with(|| runtime.sleep(patience));
    timer.as_mut().poll(cx).map(|()| Err(End::Gone(io::ErrorKind::TimedOut.into())))
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use tokio::io::{AsyncRead, ReadBuf};

    use super::*;

    #[derive(Debug)]
    struct Still;

    impl pando_kernel::runtime::Runtime for Still {
        fn connect<'a>(
            &'a self,
            _: &'a pando_kernel::runtime::Address,
        ) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
            Box::pin(std::future::pending())
        }

        fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
            Box::pin(std::future::pending())
        }

        fn spawn(&self, _: BoxFuture<'static, ()>) {}
    }

    /// Gives what it has, then nothing more; takes everything.
    struct Given(Bytes);

    impl AsyncRead for Given {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            if self.0.is_empty() {
                return Poll::Pending;
            }
            let count = bytes.remaining().min(self.0.len());
            bytes.put_slice(&self.0.split_to(count));
            Poll::Ready(Ok(()))
        }
    }

    impl AsyncWrite for Given {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[test]
    fn an_idle_client_holds_no_buffers_whatever_it_sent_and_got() {
        for size in [10, 5_000, 100_000] {
            let mut message = vec![b'Q'];
            message.extend_from_slice(&u32::try_from(size + 4).unwrap().to_be_bytes());
            message.resize(message.len() + size, b'x');
            let stream = Box::new(Given(message.into()));
            let mut wire = Wire::new(stream, std::sync::Arc::new(Still), Duration::MAX, 1 << 20);
            let mut cx = Context::from_waker(Waker::noop());
            let Poll::Ready(Ok(Ok(frame))) = wire.poll_frame(&mut cx) else { panic!("no frame") };
            assert_eq!(frame.body.len(), size);
            wire.output.buffer().extend_from_slice(&frame.body);
            assert!(wire.poll_flush(&mut cx).is_ready());
            drop(frame);
            assert!(wire.poll_frame(&mut cx).is_pending());
            wire.rest();
            assert!(!wire.input.try_reclaim(IDLE), "{size}");
            assert!(!wire.output.buffer().try_reclaim(IDLE), "{size}");
        }
    }
}
