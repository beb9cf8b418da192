//! Storage units whose connections are lost at a chosen step.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use pando_kernel::dialect::Dialect;
use pando_kernel::event::CopyInput;
use pando_kernel::runtime::{BoxFuture, SharedRuntime};
use pando_kernel::session::TransactionState;
use pando_kernel::{
    Backend, CancelToken, Condition, Connector, Error, ErrorKind, Event, Execution, Result,
};

/// How a connection is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Before the server has what it is sent.
    Before,
    /// After the server has done it, and before it is known here.
    After,
    /// While nothing is asked of it: it is found by whoever looks.
    Seen,
}

#[derive(Debug, Default)]
struct Scene {
    /// Steps until then, and how.
    at: Option<(usize, Loss)>,
    steps: usize,
    happened: Option<String>,
}

/// What is lost on all connections of an engine, once.
#[derive(Debug, Default, Clone)]
pub(crate) struct Plot(Arc<Mutex<Scene>>);

impl Plot {
    /// From here on steps are counted, and the connection of this one is lost.
    pub(crate) fn at(&self, step: usize, loss: Loss) {
        *self.0.lock().unwrap() = Scene { at: Some((step, loss)), ..Scene::default() };
    }

    /// Nothing more is lost. Result: what was under way where it was.
    pub(crate) fn end(&self) -> Option<String> {
        let mut scene = self.0.lock().unwrap();
        scene.at = None;
        scene.happened.take()
    }

    fn meets(&self, what: &str, is_start: bool) -> Option<Loss> {
        let mut scene = self.0.lock().unwrap();
        let (step, loss) = scene.at?;
        if is_start == (loss == Loss::Seen) {
            return None;
        }
        scene.steps += 1;
        if scene.steps <= step {
            return None;
        }
        scene.at = None;
        scene.happened = Some(what.to_owned());
        Some(loss)
    }
}

/// Opens such connections.
#[derive(Debug)]
pub(crate) struct Losing {
    pub(crate) inner: Arc<dyn Connector>,
    pub(crate) plot: Plot,
}

impl Connector for Losing {
    fn connect<'a>(
        &'a self,
        runtime: &'a SharedRuntime,
    ) -> BoxFuture<'a, Result<Box<dyn Backend>>> {
        Box::pin(async move {
            let inner = Some(self.inner.connect(runtime).await?);
            let line = Line { inner, plot: self.plot.clone(), started: 0, done: 0, lost: None };
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
    /// So many executions are answered before it is lost.
    lost: Option<usize>,
}

fn lost() -> Error {
    ErrorKind::Unavailable { unit: "ds".into(), message: "lost by the test".into() }.into()
}

impl Line {
    fn is_due(&self) -> bool {
        self.lost.is_some_and(|answered| self.done >= answered)
    }

    fn lose(&mut self) -> Error {
        self.inner = None;
        lost()
    }
}

impl Backend for Line {
    fn start(&mut self, execution: Execution) -> Result<()> {
        let Some(inner) = &mut self.inner else { return Err(lost()) };
        if self.lost.is_some() {
            // Nothing reaches the server from here on.
            return Ok(());
        }
        match self.plot.meets(&format!("{execution:?}"), true) {
            None => {
                inner.start(execution)?;
                self.started += 1;
            }
            Some(Loss::Before | Loss::Seen) => self.lost = Some(self.started),
            Some(Loss::After) => {
                inner.start(execution)?;
                self.started += 1;
                self.lost = Some(self.started);
            }
        }
        Ok(())
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event>> {
        if self.is_due() {
            return Poll::Ready(Err(self.lose()));
        }
        let Some(inner) = &mut self.inner else { return Poll::Ready(Err(lost())) };
        let polled = std::task::ready!(inner.poll_event(cx));
        if !matches!(&polled, Ok(event) if !matches!(event, Event::Done)) {
            self.done += 1;
            if self.is_due() {
                return Poll::Ready(Err(self.lose()));
            }
        }
        Poll::Ready(polled)
    }

    fn copy(&mut self, input: CopyInput) -> Result<()> {
        self.inner.as_mut().map_or_else(|| Err(lost()), |inner| inner.copy(input))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let is_idle = self.condition().outstanding == 0;
        if is_idle && self.inner.is_some() && self.plot.meets("idle", false).is_some() {
            return Poll::Ready(Err(self.lose()));
        }
        match &mut self.inner {
            Some(inner) => inner.poll_flush(cx),
            None => Poll::Ready(Err(lost())),
        }
    }

    fn condition(&self) -> Condition {
        let gone = Condition { usable: false, outstanding: 0, transaction: TransactionState::Idle };
        match &self.inner {
            // Whoever has sent something waits for its answer.
            Some(inner) if self.is_due() => Condition { outstanding: 1, ..inner.condition() },
            Some(inner) => inner.condition(),
            None => gone,
        }
    }

    fn token(&self) -> CancelToken {
        self.inner.as_ref().map(|inner| inner.token()).unwrap_or_default()
    }
}
