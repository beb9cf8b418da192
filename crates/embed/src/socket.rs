//! A non-blocking socket that belongs to no thread: whoever finds nothing in it waits for it where it runs.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};

use rustix::event::PollFlags;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::reactor::Reactor;
use crate::waits;

/// The descriptor, and the reactor that knows it.
#[derive(Debug)]
pub(crate) struct Descriptor {
    fd: OwnedFd,
    /// Where it is waited for by threads that do not wait by themselves.
    fallback: Weak<Reactor>,
    /// The one that has it registered; it is told when the descriptor is closed.
    known_to: Mutex<Weak<Reactor>>,
}

impl AsFd for Descriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Descriptor {
    pub(crate) fn new(fd: OwnedFd, fallback: &Arc<Reactor>) -> Arc<Self> {
        Arc::new(Self { fd, fallback: Arc::downgrade(fallback), known_to: Mutex::default() })
    }

    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Wakes the caller's task once the descriptor may be read from or written to.
    ///
    /// # Errors
    /// When nothing waits any more: the engine is closed.
    pub(crate) fn wait(self: &Arc<Self>, flags: PollFlags, cx: &Context<'_>) -> io::Result<()> {
        if waits::socket(self, flags, cx.waker()) {
            return Ok(());
        }
        let reactor = Reactor::current().or_else(|| self.fallback.upgrade());
        let Some(reactor) = reactor else { return Err(io::ErrorKind::NotConnected.into()) };
        let mut known_to = self.known_to.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::ptr::eq(known_to.as_ptr(), Arc::as_ptr(&reactor)) {
            if let Some(before) = known_to.upgrade() {
                before.forget(&self.fd);
            }
            *known_to = Arc::downgrade(&reactor);
        }
        reactor.wait(&self.fd, flags, cx.waker())
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        let known_to = self.known_to.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(reactor) = known_to.upgrade() {
            reactor.forget(&self.fd);
        }
    }
}

/// A stream over it.
pub(crate) struct Socket(Arc<Descriptor>);

impl Socket {
    pub(crate) fn new(descriptor: Arc<Descriptor>) -> Self {
        Self(descriptor)
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Socket").field(&self.0.fd).finish()
    }
}

/// `None` where it would block.
fn tried(done: rustix::io::Result<usize>) -> io::Result<Option<usize>> {
    use rustix::io::Errno;
    match done {
        Ok(count) => Ok(Some(count)),
        Err(Errno::AGAIN) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn retried(mut call: impl FnMut() -> rustix::io::Result<usize>) -> rustix::io::Result<usize> {
    loop {
        match call() {
            Err(rustix::io::Errno::INTR) => {}
            done => return done,
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let space = buffer.initialize_unfilled();
        let done =
            retried(|| recv(&self.0.fd, &mut *space, RecvFlags::empty()).map(|(count, _)| count));
        match tried(done)? {
            Some(count) => {
                buffer.advance(count);
                Poll::Ready(Ok(()))
            }
            None => {
                self.0.wait(PollFlags::IN, cx)?;
                Poll::Pending
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match tried(retried(|| send(&self.0.fd, bytes, SendFlags::NOSIGNAL)))? {
            Some(count) => Poll::Ready(Ok(count)),
            None => {
                self.0.wait(PollFlags::OUT, cx)?;
                Poll::Pending
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        use rustix::io::Errno;
        Poll::Ready(match shutdown(&self.0.fd, Shutdown::Write) {
            // The other end is gone already.
            Ok(()) | Err(Errno::NOTCONN) => Ok(()),
            Err(error) => Err(error.into()),
        })
    }
}
