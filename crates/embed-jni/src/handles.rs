//! Numbers that stand for engines and channels.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// Things by number. Numbers are never used twice.
#[derive(Debug)]
pub(crate) struct Handles<T> {
    known: RwLock<Option<HashMap<i64, Arc<T>>>>,
    next: AtomicI64,
}

impl<T> Handles<T> {
    pub(crate) const fn new() -> Self {
        Self { known: RwLock::new(None), next: AtomicI64::new(1) }
    }

    pub(crate) fn add(&self, make: impl FnOnce(i64) -> T) -> i64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let thing = Arc::new(make(number));
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert_default().insert(number, thing);
        number
    }

    pub(crate) fn get(&self, number: i64) -> Option<Arc<T>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.as_ref()?.get(&number).cloned()
    }

    /// Who is at it keeps it until he is done.
    pub(crate) fn remove(&self, number: i64) -> Option<Arc<T>> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.as_mut()?.remove(&number)
    }
}
