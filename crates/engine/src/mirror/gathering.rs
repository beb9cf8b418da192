//! A transaction's statements, kept until it ends: they are copied all or none.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pando_kernel::mirror::Settings;

pub(crate) use super::item::Manner;
use super::item::{Copied, Item};
use super::lane::Lane;

/// What a session keeps of its open transaction for mirrors.
#[derive(Debug, Default)]
pub(crate) struct Gatherings {
    list: Vec<Gathering>,
    /// Something was done in it that cannot be copied: what writes is not copied.
    is_foregone: bool,
}

/// The same for one rule.
#[derive(Debug)]
struct Gathering {
    lane: Arc<Lane>,
    /// `None` where the transaction is not among those that are copied.
    sampled: Option<Sampled>,
}

#[derive(Debug)]
struct Sampled {
    manner: Arc<Manner>,
    kept: Arc<Mutex<Kept>>,
}

/// Statements that have ended, in order.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    statements: Vec<Copied>,
    bytes: usize,
    /// How many statements, and how many bytes of them, have room at all.
    room: (usize, usize),
    /// It cannot be copied: so many statements of it were passed over.
    given_up: Option<u64>,
}

impl Kept {
    fn for_rule(settings: &Settings) -> Self {
        Self { room: (settings.queue, settings.queue_bytes), ..Self::default() }
    }

    /// One more has ended.
    pub(super) fn keeps(&mut self, copied: Copied) {
        self.bytes = self.bytes.saturating_add(copied.bytes());
        self.statements.push(copied);
        let (statements, bytes) = self.room;
        if self.statements.len() > statements || self.bytes > bytes || self.given_up.is_some() {
            self.gives_up();
        }
    }

    /// It is not copied, nor is what follows.
    pub(crate) fn gives_up(&mut self) {
        let passed = u64::try_from(self.statements.len()).unwrap_or(u64::MAX);
        self.given_up = Some(self.given_up.unwrap_or(0).saturating_add(passed));
        self.statements = Vec::new();
        self.bytes = 0;
    }
}

pub(super) fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gatherings {
    /// Where the open transaction's statements are kept for a rule; `None` where it is not copied. What is decided with its
    /// first statement holds for all of it.
    pub(crate) fn of(
        &mut self,
        lane: &Arc<Lane>,
        settings: &Settings,
        begin: impl FnOnce() -> Option<Manner>,
    ) -> Option<Arc<Mutex<Kept>>> {
        let known = self.list.iter().position(|own| Arc::ptr_eq(&own.lane, lane));
        let at = known.unwrap_or_else(|| {
            let sampled = begin().map(|manner| {
                let kept = Arc::new(Mutex::new(Kept::for_rule(settings)));
                Sampled { manner: Arc::new(manner), kept }
            });
            self.list.push(Gathering { lane: Arc::clone(lane), sampled });
            self.list.len() - 1
        });
        let sampled = self.list.get(at)?.sampled.as_ref()?;
        Some(Arc::clone(&sampled.kept))
    }

    /// Whether it is decided for a rule whether the open transaction is copied.
    pub(crate) fn know(&self, lane: &Arc<Lane>) -> bool {
        self.list.iter().any(|own| Arc::ptr_eq(&own.lane, lane))
    }

    /// Whether the session's variables are those that the transaction began with; what was set since cannot be copied.
    pub(crate) fn wears(&self, lane: &Arc<Lane>, variables: u64) -> bool {
        let own = self.list.iter().find(|own| Arc::ptr_eq(&own.lane, lane));
        let sampled = own.and_then(|own| own.sampled.as_ref());
        sampled.is_none_or(|sampled| sampled.manner.dress.0 == variables)
    }

    /// Something is done, or undone, in the open transaction that is not copied.
    pub(crate) fn forgoes(&mut self) {
        self.is_foregone = true;
    }

    /// The transaction has ended.
    pub(crate) fn end(&mut self, is_committed: Option<bool>) {
        let is_foregone = std::mem::take(&mut self.is_foregone);
        for Gathering { lane, sampled } in std::mem::take(&mut self.list) {
            let Some(Sampled { manner, kept }) = sampled else { continue };
            let mut kept = std::mem::take(&mut *lock(&kept));
            let writes = kept.statements.iter().any(|own| own.writes);
            if is_committed.is_none() || is_foregone && writes {
                kept.gives_up();
            }
            if let Some(passed) = kept.given_up.filter(|passed| *passed > 0) {
                lane.passes_over(passed);
            }
            if kept.statements.is_empty() {
                continue;
            }
            let is_committed = is_committed.unwrap_or(false);
            let is_alone = kept.statements.len() == 1 && (is_committed || !writes);
            lane.takes(Item {
                statements: kept.statements,
                manner,
                is_transaction: !is_alone,
                is_committed,
            });
        }
    }
}
