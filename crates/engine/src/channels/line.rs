//! The connection that listens on one storage unit, and the task that has it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use pando_kernel::backend::{Backend, Connector, Execution};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::runtime::{SharedRuntime, within};
use pando_kernel::{Dialect, Notifications, Value};

use super::hub::Hub;
use super::latch::{Latch, gone};

/// Time to open the connection, and for the storage unit to do what it is ordered.
const LIMIT: Duration = Duration::from_secs(10);
/// A connection over which nothing was said for so long is asked whether it lives.
const QUIET: Duration = Duration::from_secs(15);
/// Orders that are on their way at a time.
const AT_ONCE: usize = 256;

/// What a line is to do, oldest first.
#[derive(Debug, Default)]
pub(super) struct Orders {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Order>,
    is_closed: bool,
    waker: Option<Waker>,
}

/// Something to do.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) what: Do,
    /// Opens when all lines have done it, and told what they had heard before.
    pub(super) latch: Arc<Latch>,
}

/// What.
#[derive(Debug, Clone)]
pub(super) enum Do {
    Listen(Arc<str>),
    Unlisten(Arc<str>),
    /// Only tell what was heard.
    Nothing,
}

impl Orders {
    pub(super) fn push(&self, order: Order) {
        let waker = {
            let mut state = self.state();
            if state.is_closed {
                drop(state);
                order.latch.pass(Err(gone("it has ended")));
                return;
            }
            state.waiting.push_back(order);
            state.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// Nothing more is to be done.
    pub(super) fn close(&self) {
        let (waiting, waker) = {
            let mut state = self.state();
            state.is_closed = true;
            (std::mem::take(&mut state.waiting), state.waker.take())
        };
        waiting.iter().for_each(|order| order.latch.pass(Err(gone("it has ended"))));
        waker.into_iter().for_each(Waker::wake);
    }

    /// What is to be done next: some of it, or nothing any more.
    fn poll(&self, cx: &Context<'_>) -> Poll<Next> {
        let mut state = self.state();
        if state.is_closed {
            return Poll::Ready(Next::End);
        }
        if state.waiting.is_empty() {
            state.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let count = state.waiting.len().min(AT_ONCE);
        Poll::Ready(Next::Orders(state.waiting.drain(..count).collect()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
enum Next {
    Orders(Vec<Order>),
    End,
}

/// Listens on one of a hub's units until the hub ends, which it does with the connection.
pub(super) async fn run(hub: Arc<Hub>, at: usize, runtime: SharedRuntime) {
    let (Some((unit, connector)), Some(orders)) = (hub.unit(at), hub.orders(at)) else { return };
    let mut line = Line { hub: &hub, at, orders, runtime: &runtime };
    if let Err(error) = line.serve(connector).await {
        tracing::warn!(%unit, %error, "the connection that listens for sessions is lost");
        hub.end(&format!("storage unit `{unit}`: {error}"));
    }
}

struct Line<'a> {
    hub: &'a Hub,
    at: usize,
    orders: &'a Orders,
    runtime: &'a SharedRuntime,
}

impl Line<'_> {
    async fn serve(&mut self, connector: &Arc<dyn Connector>) -> Result<()> {
        let dialect: Arc<dyn Dialect> = connector.dialect();
        let words = dialect.notifications();
        let words = words.ok_or_else(|| Error::internal("a unit without channels"))?;
        let mut backend = self.opened(connector).await?;
        // From here on it keeps what it hears.
        backend.heard();
        let asked = pando_transaction::rows(&mut *backend, words.place_query());
        let place = self.in_time(asked).await?;
        let place = match place.concat().pop() {
            Some(Value::Text(place)) => place,
            _ => return Err(Error::internal("a server's place has another shape")),
        };
        if !self.hub.is_first_at(place) {
            drop(backend);
            return self.stand_by().await;
        }
        loop {
            match self.next(&mut *backend).await? {
                None => self.obey(&mut *backend, words, &[]).await?,
                Some(Next::Orders(orders)) => {
                    let done = self.obey(&mut *backend, words, &orders).await;
                    if let Err(error) = done {
                        let why = error.to_string();
                        orders.iter().for_each(|order| order.latch.pass(Err(gone(&why))));
                        return Err(error);
                    }
                }
                Some(Next::End) => return Ok(()),
            }
        }
    }

    async fn opened(&self, connector: &Arc<dyn Connector>) -> Result<Box<dyn Backend>> {
        let connected = connector.connect(self.runtime);
        self.in_time(connected).await
    }

    async fn in_time<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        let silent = || Error::new(ErrorKind::Timeout("it does not answer in time".into()));
        within(&**self.runtime, LIMIT, work).await.unwrap_or_else(|| Err(silent()))
    }

    /// Another line hears all that there is to hear.
    async fn stand_by(&self) -> Result<()> {
        loop {
            match poll_fn(|cx| self.orders.poll(cx)).await {
                Next::Orders(orders) => orders.iter().for_each(|order| order.latch.pass(Ok(()))),
                Next::End => return Ok(()),
            }
        }
    }

    /// Hears what is told until there is something to do; nothing when it was quiet for long.
    async fn next(&self, backend: &mut dyn Backend) -> Result<Option<Next>> {
        let mut quiet = pin!(self.runtime.sleep(QUIET));
        poll_fn(|cx| {
            loop {
                if let Poll::Ready(Err(error)) = backend.poll_flush(cx) {
                    return Poll::Ready(Err(error));
                }
                let heard = backend.heard();
                if heard.is_empty() {
                    break;
                }
                self.hub.heard(self.at, heard);
            }
            if let Poll::Ready(next) = self.orders.poll(cx) {
                return Poll::Ready(Ok(Some(next)));
            }
            quiet.as_mut().poll(cx).map(|()| Ok(None))
        })
        .await
    }

    /// Does what is ordered, and tells all that was heard before. Without orders it is only asked whether the
    /// connection lives.
    async fn obey(
        &self,
        backend: &mut dyn Backend,
        words: &dyn Notifications,
        orders: &[Order],
    ) -> Result<()> {
        let mut results = Vec::with_capacity(orders.len());
        for order in orders {
            let text = match &order.what {
                Do::Listen(channel) => words.listen(channel),
                Do::Unlisten(channel) => words.unlisten(channel),
                Do::Nothing => {
                    results.push(Ok(()));
                    continue;
                }
            };
            backend.start(Execution::Text(text.into()))?;
            results.push(self.in_time(self.answered(backend)).await);
            if !backend.condition().usable {
                return results.pop().unwrap_or_else(|| Err(Error::internal("no result")));
            }
        }
        backend.start(Execution::Ping)?;
        self.in_time(self.answered(backend)).await?;
        for (order, result) in orders.iter().zip(results) {
            order.latch.pass(result);
        }
        Ok(())
    }

    /// Reads a reply to its end, and hears what is told meanwhile.
    async fn answered(&self, backend: &mut dyn Backend) -> Result<()> {
        poll_fn(|cx| {
            loop {
                let event = backend.poll_event(cx);
                let heard = backend.heard();
                if !heard.is_empty() {
                    self.hub.heard(self.at, heard);
                }
                match event {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Ok(Event::Done)) => return Poll::Ready(Ok(())),
                    Poll::Ready(Ok(_)) => {}
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                }
            }
        })
        .await
    }
}
