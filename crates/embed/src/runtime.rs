//! The runtime seam without a runtime: sockets and times are waited for on the thread that polls, and by a reactor where that does not wait.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use pando_kernel::runtime::{Address, BoxFuture, Runtime, SharedRuntime, Stream};
use pando_kernel::{ClientTls, Secured};
use pando_server::TlsClient;

use crate::connect;
use crate::driver::own_bell;
use crate::reactor::{Alarm, Reactor};
use crate::waits::{self, Waiting};

/// The seam of one engine. It does not keep the reactor alive.
#[derive(Debug)]
pub(crate) struct Polled {
    reactor: Weak<Reactor>,
    tls: TlsClient,
}

impl Polled {
    pub(crate) fn shared(reactor: &Arc<Reactor>) -> SharedRuntime {
        Arc::new(Self { reactor: Arc::downgrade(reactor), tls: TlsClient::default() })
    }
}

impl Runtime for Polled {
    fn connect<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let Some(reactor) = self.reactor.upgrade() else {
                return Err(io::ErrorKind::NotConnected.into());
            };
            let socket = connect::connect(address, &reactor).await?;
            Ok(Box::new(socket) as Box<dyn Stream>)
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let end = Instant::now().checked_add(duration);
        Box::pin(Sleep { end, fallback: self.reactor.clone(), waits: None })
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        if let Some(reactor) = self.reactor.upgrade() {
            reactor.tasks().spawn(&reactor, task);
        }
    }

    fn secure<'a>(
        &'a self,
        stream: Box<dyn Stream>,
        host: &'a str,
        tls: &'a ClientTls,
    ) -> BoxFuture<'a, io::Result<Secured>> {
        Box::pin(self.tls.secure(stream, host, tls))
    }
}

/// Ready at its end; `None` never comes.
struct Sleep {
    end: Option<Instant>,
    fallback: Weak<Reactor>,
    /// Where it is waited for, and by what that is given up.
    waits: Option<(Weak<Reactor>, Alarm)>,
}

impl Sleep {
    fn give_up(&mut self) {
        if let Some((reactor, alarm)) = self.waits.take()
            && let Some(reactor) = reactor.upgrade()
        {
            reactor.forget_timer(alarm);
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.give_up();
        let Some(end) = self.end else { return Poll::Pending };
        if Instant::now() >= end {
            return Poll::Ready(());
        }
        if !waits::timer(end, cx.waker()) {
            let reactor = Reactor::current().or_else(|| self.fallback.upgrade());
            self.waits = reactor.map(|reactor| {
                let alarm = reactor.timer(end, cx.waker());
                (Arc::downgrade(&reactor), alarm)
            });
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.give_up();
    }
}

/// Runs a future on this thread, which sleeps in poll(2) while the future waits.
///
/// # Errors
/// When the process may open no more files.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> io::Result<T> {
    let (bell, driver) = (own_bell()?, Arc::<crate::driver::Driver>::default());
    let waker = std::task::Waker::from(Arc::clone(&driver));
    driver.is_thread(&bell);
    let mut cx = Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    let waiting = Waiting::begin();
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut cx) {
            return Ok(done);
        }
        if !driver.was_woken() {
            waiting.sleep(&bell, None);
        }
    }
}
