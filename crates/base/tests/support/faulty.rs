//! A connection that fails at a statement it is told of.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use pando_kernel::dialect::Dialect;
use pando_kernel::event::CopyInput;
use pando_kernel::runtime::{BoxFuture, SharedRuntime};
use pando_kernel::session::TransactionState;
use pando_kernel::{
    Backend, CancelToken, Condition, Connector, Error, ErrorKind, Event, Execution, Result,
};

/// A statement that every server refuses while it runs.
const FAILING: &str = "SELECT (SELECT 1 UNION ALL SELECT 1)";

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The server refuses the statement.
    Error,
    /// The connection is lost before the statement reaches the server.
    LostBefore,
    /// The connection is lost after the server has run the statement.
    LostAfter,
    /// Whoever runs the transaction is gone before the statement is sent: nothing more happens.
    GoneBefore,
    /// … after the server has run it.
    GoneAfter,
}

pub(crate) const FAULTS: [Fault; 5] =
    [Fault::Error, Fault::LostBefore, Fault::LostAfter, Fault::GoneBefore, Fault::GoneAfter];

#[derive(Debug, Default)]
struct Scene {
    /// The beginning of the statement at which it happens.
    at: Option<(String, Fault)>,
    happened: bool,
    /// Whoever waits for [`Plot::gone`].
    gone: Arc<tokio::sync::Notify>,
}

/// What is to go wrong on a server's connections, once.
#[derive(Debug, Default, Clone)]
pub(crate) struct Plot(Arc<Mutex<Scene>>);

impl Plot {
    pub(crate) fn at(&self, text: &str, fault: Fault) {
        let mut scene = self.0.lock().unwrap();
        *scene = Scene { at: Some((text.to_owned(), fault)), ..Scene::default() };
    }

    /// Nothing more goes wrong. Result: whether it did.
    pub(crate) fn end(&self) -> bool {
        let mut scene = self.0.lock().unwrap();
        scene.at = None;
        scene.happened
    }

    /// Whether it has gone wrong by now.
    pub(crate) fn happened(&self) -> bool {
        self.0.lock().unwrap().happened
    }

    /// Waits until the transaction's coordinator is gone.
    pub(crate) async fn gone(&self) {
        let gone = Arc::clone(&self.0.lock().unwrap().gone);
        gone.notified().await;
    }

    fn meets(&self, execution: &Execution) -> Option<Fault> {
        let text = match execution {
            Execution::Text(text) | Execution::Aside(text) | Execution::Lifted { text, .. } => text,
            Execution::Prepared { sql, .. } | Execution::Describe { sql, .. } => sql,
            Execution::Reset | Execution::Scrub | Execution::Ping => return None,
        };
        let mut scene = self.0.lock().unwrap();
        let fault = scene.at.take_if(|(at, _)| text.starts_with(at.as_str()))?.1;
        scene.happened = true;
        Some(fault)
    }
}

/// Opens such connections.
#[derive(Debug)]
pub(crate) struct Faulty {
    pub(crate) inner: Arc<dyn Connector>,
    pub(crate) plot: Plot,
}

impl Connector for Faulty {
    fn connect<'a>(
        &'a self,
        runtime: &'a SharedRuntime,
    ) -> BoxFuture<'a, Result<Box<dyn Backend>>> {
        Box::pin(async move {
            let inner = Some(self.inner.connect(runtime).await?);
            let line = Line {
                inner,
                plot: self.plot.clone(),
                started: 0,
                done: 0,
                told: false,
                fault: None,
            };
            Ok(Box::new(line) as Box<dyn Backend>)
        })
    }

    fn cancel<'a>(
        &'a self,
        runtime: &'a SharedRuntime,
        token: CancelToken,
    ) -> BoxFuture<'a, Result<()>> {
        self.inner.cancel(runtime, token)
    }

    fn dialect(&self) -> Arc<dyn Dialect> {
        self.inner.dialect()
    }
}

#[derive(Debug)]
struct Line {
    inner: Option<Box<dyn Backend>>,
    plot: Plot,
    started: usize,
    done: usize,
    told: bool,
    /// At which execution, counted from 0.
    fault: Option<(usize, Fault)>,
}

impl Line {
    fn lost() -> Error {
        ErrorKind::Unavailable { unit: "ds_0".into(), message: "lost by the test".into() }.into()
    }

    /// The fault whose turn it is.
    fn due(&self) -> Option<Fault> {
        let (at, fault) = self.fault?;
        let turn = match fault {
            Fault::Error => return None,
            Fault::LostBefore | Fault::GoneBefore => at,
            Fault::LostAfter | Fault::GoneAfter => at + 1,
        };
        (self.done >= turn).then_some(fault)
    }
}

impl Backend for Line {
    fn start(&mut self, execution: Execution) -> Result<()> {
        let Some(inner) = &mut self.inner else { return Err(Self::lost()) };
        let number = self.started;
        self.started += 1;
        let fault = self.plot.meets(&execution);
        if let Some(fault) = fault {
            self.fault = Some((number, fault));
        }
        match (fault, self.fault) {
            // In the same way, so that what hangs on it fails as well.
            (Some(Fault::Error), _) if matches!(execution, Execution::Aside(_)) => {
                inner.start(Execution::Aside(FAILING.into()))
            }
            (Some(Fault::Error), _) => inner.start(Execution::Text(FAILING.into())),
            // Nothing reaches the server from here on.
            (_, Some((_, Fault::LostBefore | Fault::GoneBefore))) => Ok(()),
            (None, Some((_, Fault::LostAfter | Fault::GoneAfter))) => Ok(()),
            (Some(_), Some(_)) | (None, None | Some((_, Fault::Error))) | (Some(_), None) => {
                inner.start(execution)
            }
        }
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event>> {
        match self.due() {
            Some(Fault::LostBefore | Fault::LostAfter) => {
                self.inner = None;
                return Poll::Ready(Err(Self::lost()));
            }
            Some(Fault::GoneBefore | Fault::GoneAfter) => {
                // Whoever polls once more is the pool, with what was left behind.
                if std::mem::replace(&mut self.told, true) {
                    self.inner = None;
                    return Poll::Ready(Err(Self::lost()));
                }
                self.plot.0.lock().unwrap().gone.notify_one();
                return Poll::Pending;
            }
            Some(Fault::Error) | None => {}
        }
        let Some(inner) = &mut self.inner else { return Poll::Ready(Err(Self::lost())) };
        let polled = std::task::ready!(inner.poll_event(cx));
        if !matches!(&polled, Ok(event) if !matches!(event, Event::Done)) {
            self.done += 1;
            match self.due() {
                Some(Fault::LostAfter) => {
                    self.inner = None;
                    return Poll::Ready(Err(Self::lost()));
                }
                Some(Fault::GoneAfter) => {
                    self.told = true;
                    self.plot.0.lock().unwrap().gone.notify_one();
                    return Poll::Pending;
                }
                _ => {}
            }
        }
        Poll::Ready(polled)
    }

    fn copy(&mut self, input: CopyInput) -> Result<()> {
        self.inner.as_mut().map_or_else(|| Err(Self::lost()), |inner| inner.copy(input))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        match &mut self.inner {
            Some(inner) => inner.poll_flush(cx),
            None => Poll::Ready(Err(Self::lost())),
        }
    }

    fn condition(&self) -> Condition {
        let state = TransactionState::Idle;
        let gone = Condition { usable: false, outstanding: 0, transaction: state };
        if self.told {
            return gone;
        }
        self.inner.as_ref().map_or(gone, |inner| inner.condition())
    }

    fn token(&self) -> CancelToken {
        self.inner.as_ref().map(|inner| inner.token()).unwrap_or_default()
    }
}
