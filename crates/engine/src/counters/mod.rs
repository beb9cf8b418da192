//! What this process knows of the counters of sharded tables: numbers that it has leased, and those below which it
//! knows what was given out.

mod draw;
mod lease;
mod ledger;

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::clock;

pub(crate) use draw::{Counted, Order, Shard, catch_up, forget, next, numbers};
pub(crate) use lease::{Row, Steps};

use lease::{Asks, Lease};

/// The counters of one database.
#[derive(Debug)]
pub(crate) struct Book {
    /// Tells this process and this configuration apart from all others that lease.
    pub(crate) holder: String,
    /// By the keys of tables, as many as there are tables with a column that their servers count.
    tables: Mutex<HashMap<String, Option<Arc<Counted>>>>,
}

/// What this process knows of one counter.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    /// Held by whoever asks the ledger: one at a time, so that numbers ascend in each session.
    asking: tokio::sync::Mutex<()>,
    lease: Mutex<Lease>,
    /// The table's INSERTs have been refused for want of numbers: nothing else makes them.
    pub(crate) is_wanted: AtomicBool,
}

impl Default for Book {
    fn default() -> Self {
        let holder = format!("{:08x}{:08x}", clock::random_u32(), clock::random_u32());
        Self { holder, tables: Mutex::default() }
    }
}

impl Book {
    /// The counter of a table that there is, and whose server counts one of its columns: it is looked for once.
    pub(crate) fn table(
        &self,
        key: &str,
        find: impl FnOnce() -> Option<Counted>,
    ) -> Option<Arc<Counted>> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = tables.get(key) {
            return known.clone();
        }
        let found = find().map(Arc::new);
        tables.insert(key.to_owned(), found.clone());
        found
    }
}

impl Counter {
    /// What is leased of it.
    fn lease(&self) -> MutexGuard<'_, Lease> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
