//! The seam to whatever runs us: sockets, timers, spawning, TLS. Only the server implements it with a real runtime; the engine, the
//! pool and the databases know nothing else, so the same engine runs inside an application's own threads.

use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};

use tokio::io::{AsyncRead, AsyncWrite};

use crate::channel::{ClientTls, Secured};
use crate::error::{Error, Result};

/// A boxed future that may be polled from any thread.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A byte stream. It must be usable from whichever thread polls it.
pub trait Stream: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Stream for T {}

/// Where a storage unit listens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Address {
    /// Host name or IP address, and port.
    Tcp(String, u16),
    /// Path of a Unix-domain socket.
    Unix(String),
}

/// How a connection to a storage unit is secured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TlsMode {
    /// Never.
    #[default]
    Off,
    /// When the server offers it; the certificate is not checked.
    Prefer,
    /// Always; the certificate is not checked.
    Require,
    /// Always; the certificate must come from a known authority.
    VerifyCa,
    /// Always; certificate and host name are checked.
    VerifyFull,
}

/// The event loop nearest to where a stream's bytes arrive: told by the runtime that has opened it, asked by who keeps connections. Clones are about the same
/// stream.
#[derive(Debug, Clone, Default)]
pub struct Near(Arc<AtomicUsize>);

impl Near {
    /// Numbers are those of [`Runtime::event_loop`].
    pub fn tell(&self, event_loop: usize) {
        self.0.store(event_loop, Ordering::Relaxed);
    }

    /// 0 where nothing is known.
    pub fn event_loop(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// What the engine needs of its surroundings.
pub trait Runtime: Send + Sync + Debug {
    /// Opens a stream, without Nagle's delay. Bounded by the caller with [`Runtime::sleep`].
    fn connect<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, io::Result<Box<dyn Stream>>>;

    /// Completes after `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// Runs a future to its end in the background.
    fn spawn(&self, task: BoxFuture<'static, ()>);

    /// Secures the client side of a stream to `host`. A runtime without TLS fails.
    fn secure<'a>(
        &'a self,
        _stream: Box<dyn Stream>,
        _host: &'a str,
        _tls: &'a ClientTls,
    ) -> BoxFuture<'a, io::Result<Secured>> {
        Box::pin(async { Err(io::Error::new(io::ErrorKind::Unsupported, "no TLS here")) })
    }

    /// The number of the event loop whose thread calls, from 1, for who keeps things near those who use them; 0 where there is none.
    fn event_loop(&self) -> usize {
        0
    }

    /// This runtime, which tells `near` of the streams that it opens; `None` where it knows nothing of the kind.
    fn telling(&self, _near: &Near) -> Option<SharedRuntime> {
        None
    }

    /// The caller's task goes on where long work keeps nobody waiting; true once it is there, and where there is no such place. False: it moves when it has
    /// returned `Pending`, and is to be woken.
    fn steps_aside(&self) -> bool {
        true
    }

    /// The long work is done: the caller's task goes on among all others when it has returned `Pending`. Cheap where it is there already.
    fn comes_back(&self) {}

    /// Monotonic time.
    fn now(&self) -> Instant {
        Instant::now()
    }

    /// Wall-clock time.
    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// Secures the server side of accepted streams.
pub trait TlsAcceptor: Send + Sync + Debug {
    /// The server's handshake on a fresh stream.
    fn accept(&self, stream: Box<dyn Stream>) -> BoxFuture<'static, io::Result<Secured>>;
}

/// Shared handle of the runtime.
pub type SharedRuntime = Arc<dyn Runtime>;

/// How long somebody has been idle. One timer serves many waits: when it rings, it is set again for what is left.
pub struct Idle {
    runtime: SharedRuntime,
    limit: Duration,
    /// When the wait under way began; `None` between two waits.
    since: Option<Instant>,
    timer: Option<BoxFuture<'static, ()>>,
}

impl Idle {
    /// Waits of so long are too long; `Duration::MAX` means no limit.
    pub fn new(runtime: SharedRuntime, limit: Duration) -> Self {
        Self { runtime, limit, since: None, timer: None }
    }

    /// From now on waits of so long are too long.
    pub fn limit(&mut self, limit: Duration) {
        if self.limit != limit {
            self.limit = limit;
            self.timer = None;
        }
    }

    /// What was waited for has come.
    pub fn end(&mut self) {
        self.since = None;
    }

    /// Goes on with the wait, or begins one: ready when it has become too long.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.limit == Duration::MAX {
            return Poll::Pending;
        }
        let since = *self.since.get_or_insert_with(|| self.runtime.now());
        loop {
            let Some(timer) = &mut self.timer else {
                let gone = self.runtime.now().saturating_duration_since(since);
                let Some(left) = self.limit.checked_sub(gone).filter(|left| !left.is_zero()) else {
                    return Poll::Ready(());
                };
                self.timer = Some(self.runtime.sleep(left));
                continue;
            };
            match timer.as_mut().poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(()) => self.timer = None,
            }
        }
    }
}

impl Debug for Idle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Idle").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// So many bytes of a text, and of a message that is not whole yet, are long: who reads more of it steps aside first.
pub const LONG: usize = 64 << 10;

/// Goes on where long work keeps nobody waiting, if there is such a place.
pub async fn aside(runtime: &dyn Runtime) {
    let mut has_asked = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut has_asked, true) || runtime.steps_aside() {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Runs `work` for at most `limit`; `None` when the time is over.
///
/// # Cancel safety
/// `work` is dropped when the time is over: give it only work that may be dropped at any await.
pub async fn within<T>(
    runtime: &dyn Runtime,
    limit: Duration,
    work: impl Future<Output = T>,
) -> Option<T> {
    let mut work = std::pin::pin!(work);
    // Most work needs none.
    let mut timer = None;
    std::future::poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Some(done));
        }
        let timer = timer.get_or_insert_with(|| runtime.sleep(limit));
        timer.as_mut().poll(cx).map(|()| None)
    })
    .await
}

/// Runs `work` to its end, and calls `left` once when `gone` becomes ready meanwhile: a client that leaves ends its statement, but what has begun to be
/// committed is to end. The work comes pinned, because a session's futures are large and would be copied on each way into another.
///
/// # Cancel safety
/// As safe as `work`.
pub async fn watched<T>(
    work: Pin<&mut impl Future<Output = T>>,
    gone: impl FnMut(&mut Context<'_>) -> Poll<()>,
    left: impl FnOnce(),
) -> T {
    let (mut work, mut gone, mut left) = (work, gone, Some(left));
    std::future::poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(done);
        }
        if left.is_some()
            && gone(cx).is_ready()
            && let Some(left) = left.take()
        {
            left();
        }
        Poll::Pending
    })
    .await
}

/// Works side by side in the caller's task. All answers in the order of the works, or the first error.
///
/// # Errors
/// The first one; what is not done by then is dropped.
///
/// # Cancel safety
/// The works are dropped: give it only such as may be dropped at any await.
pub async fn all<T>(mut works: Vec<BoxFuture<'_, Result<T>>>) -> Result<Vec<T>> {
    let mut answers: Vec<Option<T>> = works.iter().map(|_| None).collect();
    std::future::poll_fn(|cx| {
        for (work, answer) in works.iter_mut().zip(&mut answers) {
            if answer.is_none()
                && let Poll::Ready(done) = work.as_mut().poll(cx)?
            {
                *answer = Some(done);
            }
        }
        if answers.iter().all(Option::is_some) {
            Poll::Ready(Ok::<(), Error>(()))
        } else {
            Poll::Pending
        }
    })
    .await?;
    Ok(answers.into_iter().flatten().collect())
}
