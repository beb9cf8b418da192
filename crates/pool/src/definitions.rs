//! Whether what was read of a server's definitions still holds: those who may define something by a function of their
//! own are counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Pool;
use crate::shared::Shared;

/// How often somebody has begun and ended what may define something, and up to which of them the definitions were read.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    begun: AtomicU64,
    ended: AtomicU64,
    read: AtomicU64,
}

/// One who may define something, until he has come to an end.
#[derive(Debug)]
pub(crate) struct Defining(Arc<Shared>);

impl Definitions {
    pub(crate) fn begun(&self) -> u64 {
        self.begun.load(Ordering::SeqCst)
    }
}

impl Defining {
    pub(crate) fn begin(shared: &Arc<Shared>) -> Self {
        shared.definitions.begun.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(shared))
    }
}

impl Drop for Defining {
    fn drop(&mut self) {
        self.0.definitions.ended.fetch_add(1, Ordering::SeqCst);
    }
}

impl Pool {
    /// How many have done what may define something here, when nobody does it at this moment: what is read of the
    /// definitions from now on has all of theirs in it.
    pub fn definitions(&self) -> Option<u64> {
        let own = &self.shared.definitions;
        // In this order: none of those that have begun by now was under way when those that have ended were counted.
        let ended = own.ended.load(Ordering::SeqCst);
        (own.begun() == ended).then_some(ended)
    }

    /// Definitions have been read since that number was given.
    pub fn settle(&self, number: u64) {
        self.shared.definitions.read.fetch_max(number, Ordering::SeqCst);
    }

    /// Whether nobody may have defined anything since they were read.
    pub fn is_settled(&self) -> bool {
        let own = &self.shared.definitions;
        own.begun() == own.read.load(Ordering::SeqCst)
    }
}

/// The number at which somebody begins to rely on the definitions that were read; `None` where they may have changed
/// already.
pub(crate) fn relied_on(shared: &Shared) -> Option<u64> {
    let own = &shared.definitions;
    let begun = own.begun();
    (begun == own.read.load(Ordering::SeqCst)).then_some(begun)
}
