//! What all XA transactions of one instance share.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, UNIX_EPOCH};

use pando_kernel::runtime::SharedRuntime;

use super::id::GlobalId;

/// Decisions that wait to be forgotten, at most; what is beyond is found by its age.
const MAX_SETTLED: usize = 100_000;

/// Gives names to distributed transactions, and knows which of them this instance is ending right now.
#[derive(Debug)]
pub struct Coordinator {
    pub(crate) runtime: SharedRuntime,
    instance: String,
    epoch: u64,
    next: AtomicU64,
    ending: Mutex<HashSet<String>>,
    /// By the deciding unit's identity: transactions whose branches are all over.
    settled: Mutex<HashMap<String, Vec<String>>>,
    /// When branches in doubt were first seen, and how often they could not be ended since.
    seen: Mutex<HashMap<Name, (Instant, u32)>>,
    pub(crate) counts: Tally,
}

/// The transaction and the part that name a branch.
pub(crate) type Name = (String, String);

/// How transactions over several units ended since the start of the instance.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) committed: AtomicU64,
    pub(crate) rolled_back: AtomicU64,
    pub(crate) partial: AtomicU64,
    pub(crate) left: AtomicU64,
    pub(crate) recovered: AtomicU64,
}

/// How transactions over several units ended since the start of the instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// XA transactions that two phases committed.
    pub committed: u64,
    /// XA transactions that failed in the first phase.
    pub rolled_back: u64,
    /// LOCAL transactions that some units committed and others did not.
    pub partial: u64,
    /// XA transactions of which a branch was left to recovery.
    pub left: u64,
    /// Branches that recovery ended.
    pub recovered: u64,
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Coordinator {
    /// For an instance of this name. The epoch is the moment of its start, in milliseconds.
    pub fn new(runtime: SharedRuntime, instance: impl Into<String>) -> Self {
        let since = runtime.wall().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            runtime,
            instance: instance.into(),
            epoch: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            next: AtomicU64::new(1),
            ending: Mutex::default(),
            settled: Mutex::default(),
            seen: Mutex::default(),
            counts: Tally::default(),
        }
    }

    /// How transactions ended so far.
    pub fn counts(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            committed: read(&self.counts.committed),
            rolled_back: read(&self.counts.rolled_back),
            partial: read(&self.counts.partial),
            left: read(&self.counts.left),
            recovered: read(&self.counts.recovered),
        }
    }

    /// A name that nobody else gives, for a transaction that the unit of this identity decides.
    pub fn name(&self, decider: &str) -> GlobalId {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        GlobalId::new(decider, &self.instance, self.epoch, number)
    }

    /// Keeps recovery away from a transaction until the guard is dropped.
    pub(crate) fn ends(self: &Arc<Self>, id: &GlobalId) -> Ending {
        locked(&self.ending).insert(id.as_str().to_owned());
        Ending { coordinator: Arc::clone(self), id: id.as_str().to_owned() }
    }

    /// Whether this instance is ending a transaction right now.
    pub(crate) fn is_ending(&self, global: &str) -> bool {
        locked(&self.ending).contains(global)
    }

    /// When a branch was first seen in doubt, and how often it could not be ended since.
    pub(crate) fn first_seen(&self, branch: Name, now: Instant) -> (Instant, u32) {
        *locked(&self.seen).entry(branch).or_insert((now, 0))
    }

    /// A branch could not be ended.
    pub(crate) fn in_vain(&self, branch: &Name) {
        if let Some((_, tries)) = locked(&self.seen).get_mut(branch) {
            *tries += 1;
        }
    }

    /// No other branches are in doubt any more.
    pub(crate) fn sees_only(&self, branches: HashSet<Name>) {
        locked(&self.seen).retain(|branch, _| branches.contains(branch));
    }

    /// All branches of a transaction are over: its decision can be forgotten.
    pub fn settles(&self, id: &GlobalId) {
        let mut settled = locked(&self.settled);
        let list = settled.entry(id.decider().to_owned()).or_default();
        if list.len() < MAX_SETTLED {
            list.push(id.as_str().to_owned());
        }
    }

    /// Takes the decisions of a unit that can be forgotten, at most a thousand.
    pub(crate) fn take_settled(&self, decider: &str) -> Vec<String> {
        let mut settled = locked(&self.settled);
        let Some(list) = settled.get_mut(decider) else { return Vec::new() };
        let rest = list.len().saturating_sub(1000);
        list.split_off(rest)
    }

    /// Puts back what could not be forgotten.
    pub(crate) fn put_back(&self, decider: &str, globals: Vec<String>) {
        let mut settled = locked(&self.settled);
        let list = settled.entry(decider.to_owned()).or_default();
        if list.len() < MAX_SETTLED {
            list.extend(globals);
        }
    }
}

/// A transaction that is being ended here.
#[derive(Debug)]
pub(crate) struct Ending {
    coordinator: Arc<Coordinator>,
    id: String,
}

impl Drop for Ending {
    fn drop(&mut self) {
        locked(&self.coordinator.ending).remove(&self.id);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
