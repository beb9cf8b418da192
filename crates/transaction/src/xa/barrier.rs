//! Snapshots of several storage units that see all or nothing of each XA transaction.
//!
//! While the barrier is closed no transaction over several units is in its second phase anywhere: decisions are locked out in the ledgers of all units,
//! where other instances' commits meet them as well, and what was decided before has been waited for. All who want a snapshot meanwhile take it together;
//! then the barrier opens again. Commits are held up by milliseconds, and only where somebody asks for such snapshots.

use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::runtime::{SharedRuntime, within};
use pando_kernel::two_phase::InDoubt;
use pando_kernel::value::Value;

use crate::aside::Aside;
use crate::broken::{Need, lacks};

use super::id::GlobalId;
use super::recovery::Way;

/// Who comes later than this after the barrier was closed waits for the next time: commits must go on in between.
const JOINING: Duration = Duration::from_millis(10);
/// Second phases under way are waited for so long with the barrier closed; then it opens, and recovery may end them.
const DRAINING: Duration = Duration::from_millis(200);
/// A pass is good for so long: the servers open a barrier whose owner is silent for longer.
const GOOD: Duration = Duration::from_secs(10);
/// How often, and with what pause, closing is tried again after that.
const ATTEMPTS: u32 = 30;
const PAUSE: Duration = Duration::from_millis(500);

/// The barrier of one database's storage units.
#[derive(Debug)]
pub struct Barrier {
    runtime: SharedRuntime,
    /// With the units' identities, sorted by these: all instances lock in one order.
    units: Vec<(String, Way)>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    /// Who takes a snapshot now.
    inside: usize,
    waiting: Vec<Waker>,
    /// One connection per unit, kept for the next time.
    asides: Vec<Aside>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    #[default]
    Open,
    /// Somebody is closing or opening it.
    Changing,
    Closed(Instant),
}

/// The barrier is closed for as long as this lives.
#[derive(Debug)]
pub struct Pass {
    barrier: Arc<Barrier>,
}

impl Barrier {
    /// That of these units, each with its identity.
    pub fn new(runtime: SharedRuntime, units: Vec<(String, Way)>) -> Self {
        let mut units = units;
        units.sort_by(|(a, _), (b, _)| a.cmp(b));
        units.dedup_by(|(a, _), (b, _)| a == b);
        Self { runtime, units, state: Mutex::default() }
    }

    /// Whether it is the barrier of these units, with their identities.
    pub fn is_of(&self, units: &[(String, Way)]) -> bool {
        let is_one = |(identity, (unit, _)): &(String, Way)| {
            self.units.iter().any(|(own, (name, _))| own == identity && name == unit)
        };
        self.units.len() == units.len() && units.iter().all(is_one)
    }

    /// Waits until it is closed: a snapshot that is taken on all units before the pass is dropped sees all or nothing of each XA transaction.
    ///
    /// # Errors
    /// What a unit says to being locked; `Timeout` when a transaction that was decided does not come to its end.
    ///
    /// # Cancel safety
    /// May be dropped at any await.
    pub async fn pass(self: &Arc<Self>) -> Result<Pass> {
        if !self.turn().await {
            return Ok(Pass { barrier: Arc::clone(self) });
        }
        let mut leader = Leader { barrier: self, asides: self.take_asides(), done: false };
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                self.runtime.sleep(PAUSE).await;
            }
            if self.close(&mut leader.asides).await? {
                return Ok(leader.lets_in());
            }
        }
        Err(ErrorKind::Timeout(
            "a transaction over several storage units has been decided and does not come to its end: no snapshot of all units can be had (SHOW IN DOUBT TRANSACTIONS)".into(),
        )
        .into())
    }

    /// Waits until the barrier is closed (false), or until it is one's turn to close it (true).
    async fn turn(&self) -> bool {
        poll_fn(|cx| {
            let mut state = self.state();
            match state.phase {
                Phase::Open => {
                    state.phase = Phase::Changing;
                    Poll::Ready(true)
                }
                Phase::Closed(since)
                    if self.runtime.now().saturating_duration_since(since) < JOINING =>
                {
                    state.inside += 1;
                    Poll::Ready(false)
                }
                Phase::Closed(_) | Phase::Changing => {
                    if !state.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
                        state.waiting.push(cx.waker().clone());
                    }
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Locks all ledgers, and looks whether what was decided is done everywhere. False when it is not, with all of them open again.
    async fn close(&self, asides: &mut Vec<Aside>) -> Result<bool> {
        if lacks(Need::Barrier) {
            return Ok(true);
        }
        let is_old = asides.len() == self.units.len() && asides.iter().all(Aside::is_usable);
        if !is_old {
            self.connect(asides).await?;
        }
        match lock(asides).await {
            // Connections that were idle may have been closed by their servers.
            Err(error) if is_old && !matches!(error.kind(), ErrorKind::Server(_)) => {
                self.connect(asides).await?;
                lock(asides).await?;
            }
            locked => locked?,
        }
        let until = self.runtime.now() + DRAINING;
        loop {
            if !self.is_under_way(asides).await? {
                return Ok(true);
            }
            if self.runtime.now() > until {
                open(asides).await;
                return Ok(false);
            }
            self.runtime.sleep(Duration::from_millis(1)).await;
        }
    }

    /// New connections to all units in the place of those that are there.
    async fn connect(&self, asides: &mut Vec<Aside>) -> Result<()> {
        asides.clear();
        for (_, (_, way)) in &self.units {
            asides.push(Aside::open(Arc::clone(way), Arc::clone(&self.runtime)).await?);
        }
        Ok(())
    }

    /// Whether a transaction that was decided to commit still has a prepared branch.
    async fn is_under_way(&self, asides: &mut [Aside]) -> Result<bool> {
        let mut prepared: HashSet<String> = HashSet::new();
        for aside in asides.iter_mut() {
            let query = aside.two_phase(|family| Ok(family.prepared_query()))?;
            let rows = aside.rows(query).await?;
            let found: Vec<InDoubt> = aside.two_phase(|family| {
                Ok(rows.iter().filter_map(|row| family.read_prepared(row)).collect())
            })?;
            prepared.extend(found.into_iter().map(|one| one.global));
        }
        for ((identity, _), aside) in self.units.iter().zip(asides) {
            let of_it = |global: &&String| {
                GlobalId::read(global).is_some_and(|id| id.decider() == identity)
            };
            let globals: Vec<&str> = prepared.iter().filter(of_it).map(String::as_str).collect();
            if globals.is_empty() {
                continue;
            }
            let query = aside.two_phase(|family| Ok(family.ledger().decided_query(&globals)))?;
            if aside
                .rows(&query)
                .await?
                .iter()
                .flatten()
                .any(|value| matches!(value, Value::Text(_)))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn take_asides(&self) -> Vec<Aside> {
        std::mem::take(&mut self.state().asides)
    }

    fn changes(&self, phase: Phase, inside: usize, asides: Vec<Aside>) {
        let waiting = {
            let mut state = self.state();
            (state.phase, state.inside, state.asides) = (phase, inside, asides);
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who closes the barrier. Dropped in the midst of it, it is open again.
struct Leader<'a> {
    barrier: &'a Arc<Barrier>,
    asides: Vec<Aside>,
    done: bool,
}

impl Leader<'_> {
    fn lets_in(mut self) -> Pass {
        self.done = true;
        let now = self.barrier.runtime.now();
        self.barrier.changes(Phase::Closed(now), 1, std::mem::take(&mut self.asides));
        Pass { barrier: Arc::clone(self.barrier) }
    }
}

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        if !self.done {
            // Its connections are closed, which unlocks.
            self.barrier.changes(Phase::Open, 0, Vec::new());
        }
    }
}

impl Pass {
    /// What comes of `work` while the pass is good; whoever holds it for longer keeps everybody else waiting for nothing.
    ///
    /// # Errors
    /// `Timeout` when that takes too long, as [`Pass::holds`].
    ///
    /// # Cancel safety
    /// `work` is dropped with it.
    pub async fn during<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        let done = within(&*self.barrier.runtime, GOOD, work).await.ok_or_else(slow)?;
        self.holds().map(|()| done)
    }

    /// That the barrier has been closed until now.
    ///
    /// # Errors
    /// `Timeout` when it may have been opened meanwhile: the snapshot is of no use.
    fn holds(&self) -> Result<()> {
        let now = self.barrier.runtime.now();
        match self.barrier.state().phase {
            Phase::Closed(since) if now.saturating_duration_since(since) < GOOD => Ok(()),
            Phase::Open | Phase::Closed(_) | Phase::Changing => Err(slow()),
        }
    }
}

fn slow() -> Error {
    ErrorKind::Timeout("the storage units took too long to take a snapshot together".into()).into()
}

impl Drop for Pass {
    fn drop(&mut self) {
        let asides = {
            let mut state = self.barrier.state();
            state.inside = state.inside.saturating_sub(1);
            if state.inside > 0 {
                return;
            }
            state.phase = Phase::Changing;
            std::mem::take(&mut state.asides)
        };
        let barrier = Arc::clone(&self.barrier);
        let runtime = Arc::clone(&barrier.runtime);
        runtime.spawn(Box::pin(async move {
            let mut asides = asides;
            open(&mut asides).await;
            barrier.changes(Phase::Open, 0, asides);
        }));
    }
}

/// Locks all ledgers. After an error none is locked.
async fn lock(asides: &mut Vec<Aside>) -> Result<()> {
    for aside in asides.iter_mut() {
        let texts = aside.two_phase(|family| Ok(family.ledger().close()))?;
        if let Err(error) = aside.run(texts).await {
            // Dropped connections let go of what they have locked.
            asides.clear();
            return Err(error);
        }
    }
    Ok(())
}

/// Unlocks; a connection that cannot is closed.
async fn open(asides: &mut Vec<Aside>) {
    for aside in asides.iter_mut() {
        let opened = match aside.two_phase(|family| Ok(family.ledger().open())) {
            Ok(texts) => aside.run(texts).await,
            Err(error) => Err(error),
        };
        if opened.is_err() {
            asides.clear();
            return;
        }
    }
}
