//! What this process knows of the counters of sharded tables: numbers that it has leased, and those below which it knows what was given out.

mod draw;
mod gate;
mod lease;
mod ledger;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::clock;

pub(crate) use draw::{Counted, Order, Shard, forget, numbers};
pub(crate) use lease::{Row, Steps};

use gate::Gate;
use lease::{Asks, Lease};

/// Tables whose counters are remembered; those of further ones are looked for each time.
const MOST_TABLES: usize = 100_000;

/// The counters of one database, by their names.
#[derive(Debug)]
pub(crate) struct Book {
    /// Tells this process and this configuration apart from all others that lease.
    pub(crate) holder: String,
    counters: Mutex<HashMap<String, Arc<Counter>>>,
    /// The counters of tables that have one, by the tables' keys.
    tables: Mutex<HashMap<String, Option<Arc<Counted>>>>,
}

/// One counter.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    /// Whoever asks the ledger has passed it: one at a time, so that numbers ascend in each session.
    pub(crate) gate: Gate,
    lease: Mutex<Lease>,
}

impl Default for Book {
    fn default() -> Self {
        let holder = format!("{:08x}{:08x}", clock::random_u32(), clock::random_u32());
        Self { holder, counters: Mutex::default(), tables: Mutex::default() }
    }
}

impl Book {
    /// The counter of a table that there is: it is looked for once.
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
        if tables.len() < MOST_TABLES {
            tables.insert(key.to_owned(), found.clone());
        }
        found
    }

    /// The counter of this name. There are as many as counted tables.
    pub(crate) fn counter(&self, name: &str) -> Arc<Counter> {
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(counter) = counters.get(name) {
            return Arc::clone(counter);
        }
        Arc::clone(counters.entry(name.to_owned()).or_default())
    }
}

impl Counter {
    /// What is leased of it.
    pub(crate) fn lease(&self) -> MutexGuard<'_, Lease> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
