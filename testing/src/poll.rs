//! The runtime seam without a runtime: non-blocking sockets, and poll(2) on the thread that polls the session.
//!
//! A socket belongs to no thread: whoever polls it and finds nothing to read notes it with its own thread's poller. So a connection opened
//! under one thread serves a session polled by another.

use std::cell::RefCell;
use std::future::Future;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use pando_kernel::runtime::{Address, BoxFuture, Runtime, Stream};
use rustix::event::{PollFd, PollFlags, Timespec};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

thread_local! {
    static WAITING: RefCell<Waiting> = RefCell::default();
}

/// What the tasks of this thread wait for.
#[derive(Default)]
struct Waiting {
    sockets: Vec<(OwnedFd, PollFlags, Waker)>,
    timers: Vec<(Instant, Waker)>,
}

/// The seam.
#[derive(Debug, Default, Clone, Copy)]
pub struct Threads;

impl Runtime for Threads {
    fn connect<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let stream = match address {
                Address::Tcp(host, port) => TcpStream::connect((host.as_str(), *port))?,
                Address::Unix(_) => return Err(io::ErrorKind::Unsupported.into()),
            };
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            Ok(Box::new(Socket(stream)) as Box<dyn Stream>)
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let end = Instant::now() + duration;
        Box::pin(std::future::poll_fn(move |cx| {
            if Instant::now() >= end {
                return Poll::Ready(());
            }
            WAITING.with_borrow_mut(|waiting| waiting.timers.push((end, cx.waker().clone())));
            Poll::Pending
        }))
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        std::thread::spawn(move || block_on(task));
    }
}

/// A non-blocking socket.
struct Socket(TcpStream);

impl Socket {
    fn wait(&self, flags: PollFlags, cx: &Context<'_>) -> io::Result<()> {
        let fd = self.0.as_fd().try_clone_to_owned()?;
        WAITING.with_borrow_mut(|waiting| waiting.sockets.push((fd, flags, cx.waker().clone())));
        Ok(())
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.0.read(buffer.initialize_unfilled()) {
            Ok(count) => {
                buffer.advance(count);
                Poll::Ready(Ok(()))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.wait(PollFlags::IN, cx)?;
                Poll::Pending
            }
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.wait(PollFlags::OUT, cx)?;
                Poll::Pending
            }
            done => Poll::Ready(done),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.shutdown(std::net::Shutdown::Write))
    }
}

/// Wakes a thread that sleeps in poll(2).
struct Bell(UnixStream);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        // A full pipe means that the bell has been rung already.
        let _ = (&self.0).write(&[1]);
    }
}

/// Runs a future on this thread, which sleeps in poll(2) while the future waits.
///
/// # Panics
/// When the operating system gives no socket pair.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let (bell, ear) = pair();
    let waker = Waker::from(Arc::new(Bell(bell)));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut cx) {
            return done;
        }
        sleep_until_something(&ear);
    }
}

#[expect(clippy::expect_used, reason = "without a socket pair nothing can run")]
fn pair() -> (UnixStream, UnixStream) {
    let (bell, ear) = UnixStream::pair().expect("a socket pair");
    bell.set_nonblocking(true).and_then(|()| ear.set_nonblocking(true)).expect("non-blocking");
    (bell, ear)
}

/// One call of poll(2) for everything this thread waits for.
fn sleep_until_something(ear: &UnixStream) {
    let Waiting { sockets, timers } = WAITING.take();
    let mut fds = vec![PollFd::new(ear, PollFlags::IN)];
    fds.extend(sockets.iter().map(|(fd, flags, _)| PollFd::new(fd, *flags)));
    let next = timers.iter().map(|(end, _)| *end).min();
    let limit = next.map(|end| end.saturating_duration_since(Instant::now()));
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    // An interrupted wait is a wake-up like any other.
    let _ = rustix::event::poll(&mut fds, limit.as_ref());
    let mut heard = [0; 64];
    while matches!((&*ear).read(&mut heard), Ok(count) if count > 0) {}
}
