//! The ways to all servers that are looked at: at most one for each storage unit.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use pando_kernel::Connector;
use pando_kernel::runtime::{BoxFuture, SharedRuntime};
use pando_kernel::waits::Wait;

use crate::line::{IDLE, Line, Said};

/// Storage units that are looked at.
const MOST: usize = 256;

/// The ways to servers.
#[derive(Debug)]
pub(crate) struct Lines {
    list: Vec<Line>,
    said: Arc<Said>,
}

impl Lines {
    pub(crate) fn new(said: Arc<Said>) -> Self {
        Self { list: Vec::new(), said }
    }

    /// Makes the servers of these storage units known.
    pub(crate) async fn meet(&mut self, runtime: &SharedRuntime, wanted: &[Arc<dyn Connector>]) {
        let now = runtime.now();
        for connector in wanted.iter().filter(|one| one.dialect().waits().is_some()) {
            let is_full = self.list.len() >= MOST;
            match self.list.iter_mut().find(|line| Arc::ptr_eq(&line.connector, connector)) {
                Some(line) => line.used = now,
                None if is_full => {}
                None => self.list.push(Line::new(Arc::clone(connector), now, &self.said)),
            }
        }
        let unknown = self.list.iter_mut().filter(|line| line.server().is_none());
        together(unknown.map(|line| boxed(line.meet(runtime))).collect()).await;
    }

    /// The name of the server that this opens connections to, once it is known.
    pub(crate) fn server(&self, connector: &Arc<dyn Connector>) -> Option<&Arc<str>> {
        let line = self.list.iter().find(|line| Arc::ptr_eq(&line.connector, connector))?;
        line.server().map(|server| &server.name)
    }

    /// Who waits on these servers, all asked at once; each is asked over one way, however many storage units it has.
    pub(crate) async fn waits(
        &mut self,
        runtime: &SharedRuntime,
        wanted: &BTreeSet<Arc<str>>,
    ) -> Vec<(Arc<str>, Wait)> {
        let mut chosen: BTreeMap<Arc<str>, &mut Line> = BTreeMap::new();
        for line in &mut self.list {
            let Some(name) = line.server().map(|server| Arc::clone(&server.name)) else { continue };
            if wanted.contains(&name) {
                chosen.entry(name).or_insert(line);
            }
        }
        let asked = chosen.into_iter().map(|(name, line)| {
            boxed(async move {
                let waits = line.waits(runtime).await;
                waits.into_iter().map(move |wait| (Arc::clone(&name), wait)).collect::<Vec<_>>()
            })
        });
        together(asked.collect()).await.into_iter().flatten().collect()
    }

    /// Closes what nobody has needed for long. Returns whether none is left.
    pub(crate) fn rest(&mut self, now: Instant) -> bool {
        self.list.retain(|line| now.saturating_duration_since(line.used) < IDLE);
        self.list.is_empty()
    }
}

fn boxed<'a, T>(work: impl Future<Output = T> + Send + 'a) -> BoxFuture<'a, T> {
    Box::pin(work)
}

/// All of them at once; the results in order.
async fn together<T>(work: Vec<BoxFuture<'_, T>>) -> Vec<T> {
    let mut work: Vec<(BoxFuture<'_, T>, Option<T>)> =
        work.into_iter().map(|one| (one, None)).collect();
    poll_fn(|cx| {
        let mut waiting = false;
        for (one, done) in work.iter_mut().filter(|(_, done)| done.is_none()) {
            match one.as_mut().poll(cx) {
                Poll::Ready(result) => *done = Some(result),
                Poll::Pending => waiting = true,
            }
        }
        if waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    work.into_iter().filter_map(|(_, done)| done).collect()
}
