//! Distributed transactions beside sessions: what they share, and finishing what was left.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pando_base::{Field, Open, Table, TableName};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::route::UnitName;
use pando_kernel::runtime::SharedRuntime;
use pando_kernel::two_phase::Verdict;
use pando_transaction::Recovery;
use pando_transaction::xa::{Barrier, Counts, Doubt, Way};

use crate::house::{Engine, Inner};
use crate::lingering::Lingering;
use crate::readiness::Readiness;
use crate::snapshot::{LiveDatabase, Snapshot};

/// How often abandoned transactions of type BASE are looked for.
const BASE_ROUND: Duration = Duration::from_secs(10);

/// What a database's transactions of type XA share: who of its units can take part, and the barrier for snapshots of all of them.
#[derive(Debug, Default)]
pub(crate) struct Together {
    pub(crate) ready: Readiness,
    barrier: Mutex<Option<Arc<Barrier>>>,
    /// What transactions of type BASE know of its units.
    pub(crate) known: Known,
}

/// Tables that are remembered for transactions of type BASE, over all storage units.
const TABLES: usize = 10_000;

/// Where an actual table stands, for sessions of these variables: which schema a name is looked for in is one of them.
pub(crate) type Place = (UnitName, TableName, u64);

/// What transactions of type BASE know of storage units.
#[derive(Debug, Default)]
pub(crate) struct Known {
    identities: Mutex<HashMap<UnitName, Arc<str>>>,
    /// With the catalogue's epoch at which each was read.
    tables: Mutex<HashMap<Place, (u64, Arc<Table>)>>,
}

impl Known {
    /// Who a unit is, when it has told.
    pub(crate) fn identity(&self, unit: &UnitName) -> Option<Arc<str>> {
        self.identities.lock().unwrap_or_else(PoisonError::into_inner).get(unit).cloned()
    }

    /// Keeps who a unit is.
    pub(crate) fn keep_identity(&self, unit: &UnitName, identity: Arc<str>) {
        let mut identities = self.identities.lock().unwrap_or_else(PoisonError::into_inner);
        identities.insert(Arc::clone(unit), identity);
    }

    /// An actual table, as it was in this epoch of the catalogue.
    pub(crate) fn table(&self, place: &Place, epoch: u64) -> Option<Arc<Table>> {
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        tables.get(place).filter(|(read, _)| *read == epoch).map(|(_, table)| Arc::clone(table))
    }

    /// Keeps what a table is like.
    pub(crate) fn keep_table(&self, place: Place, epoch: u64, table: Arc<Table>) {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if tables.len() >= TABLES {
            tables.clear();
        }
        tables.insert(place, (epoch, table));
    }
}

impl Together {
    /// The barrier of these units. It is another one when they are others than before: two exclude each other by their servers' locks.
    pub(crate) fn barrier(
        &self,
        runtime: &SharedRuntime,
        units: Vec<(String, Way)>,
    ) -> Arc<Barrier> {
        let mut kept = self.barrier.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(barrier) = kept.as_ref().filter(|barrier| barrier.is_of(&units)) {
            return Arc::clone(barrier);
        }
        let barrier = Arc::new(Barrier::new(Arc::clone(runtime), units));
        *kept = Some(Arc::clone(&barrier));
        barrier
    }

    /// Somebody has removed Pando's tables from a unit: all are asked anew, which makes them where they are missing.
    pub(crate) fn forget(&self) {
        self.ready.forget();
        self.known.identities.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.barrier.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl Engine {
    /// Finishes, for as long as the engine lives, what instances have left of distributed transactions: on every storage unit of every database, at
    /// once, every 2 seconds and when a branch is due.
    pub fn recover(&self) {
        let inner = Arc::downgrade(&self.inner);
        let runtime = Arc::clone(&self.inner.runtime);
        let mut recovery = Recovery::new(Arc::clone(&self.inner.coordinator));
        let sleeper = Arc::clone(&runtime);
        runtime.spawn(Box::pin(async move {
            let mut lingering = Lingering::default();
            let mut ways = |inner: Arc<Inner>| {
                let now = inner.runtime.now();
                lingering.ways(&inner.snapshot.load(), now)
            };
            while let Some(ways) = inner.upgrade().map(&mut ways) {
                let next = recovery.round(&ways).await;
                sleeper.sleep(next).await;
            }
        }));
        self.recover_base();
        self.watch_effects();
    }

    /// The same for transactions of type BASE, every 10 seconds.
    fn recover_base(&self) {
        let inner = Arc::downgrade(&self.inner);
        let runtime = Arc::clone(&self.inner.runtime);
        runtime.clone().spawn(Box::pin(async move {
            while let Some(inner) = inner.upgrade() {
                let (snapshot, engine) = (inner.snapshot.load_full(), Self { inner });
                for live in &snapshot.databases {
                    // Those who have all connections may wait for the very rows.
                    let field = Field { is_awaited: true, ..engine.field(live) };
                    field.recover().await;
                }
                drop((snapshot, engine));
                runtime.sleep(BASE_ROUND).await;
            }
        }));
    }

    /// What ends transactions of type BASE on a database.
    pub(crate) fn field(&self, live: &LiveDatabase) -> Field {
        Field {
            is_awaited: false,
            pools: live.leading().cloned().collect(),
            coordinator: Arc::clone(&self.inner.coordinator),
            runtime: Arc::clone(&self.inner.runtime),
        }
    }

    /// The branches that are prepared and not ended, on all storage units that answer.
    ///
    /// # Cancel safety
    /// May be dropped at any await.
    pub async fn doubts(&self) -> Vec<Doubt> {
        let mut recovery = Recovery::new(Arc::clone(&self.inner.coordinator));
        recovery.doubts(&self.snapshot().ways()).await
    }

    /// What transactions of type BASE have left on storage units that answer: by unit.
    ///
    /// # Cancel safety
    /// May be dropped at any await.
    pub async fn left_in_base(&self) -> Vec<(UnitName, Open)> {
        let mut left = Vec::new();
        for live in &self.snapshot().databases {
            left.extend(self.field(live).left().await);
        }
        left
    }

    /// The transactions of type BASE that have images on a database's storage units now.
    ///
    /// # Errors
    /// The units' own.
    ///
    /// # Cancel safety
    /// May be dropped at any await.
    pub async fn opened_in_base(&self, database: &str) -> Result<Vec<String>> {
        match self.snapshot().database(database) {
            Some(live) => self.field(live).opened().await,
            None => Ok(Vec::new()),
        }
    }

    /// The transactions in doubt of a database that have a part on one of these storage units or are decided there, each with its unit; and who of
    /// these does not answer. A transaction whose deciding unit is not known may be of any.
    ///
    /// # Cancel safety
    /// May be dropped at any await.
    pub async fn unsettled(
        &self,
        database: &str,
        units: &[String],
    ) -> (Vec<(String, String)>, Vec<String>) {
        let snapshot = self.snapshot();
        let Some(live) = snapshot.database(database) else { return Default::default() };
        let is_one = |unit: &UnitName| units.iter().any(|own| **own == **unit);
        let leading = live.leading();
        let ways: Vec<Way> =
            leading.map(|pool| (Arc::clone(pool.unit()), Arc::clone(pool.connector()))).collect();
        let mut recovery = Recovery::new(Arc::clone(&self.inner.coordinator));
        let doubts = recovery.doubts(&ways).await.into_iter();
        let concerned = doubts
            .filter(|doubt| is_one(&doubt.unit) || doubt.decider.as_ref().is_some_and(is_one));
        let mut found: Vec<(String, String)> =
            concerned.map(|doubt| (doubt.global, doubt.unit.to_string())).collect();
        let left = self.field(live).left().await.into_iter();
        found.extend(left.filter(|(unit, _)| is_one(unit)).map(|(u, o)| (o.global, u.to_string())));
        let silent = recovery.silent().filter(|unit| is_one(unit)).map(|unit| unit.to_string());
        (found, silent.collect())
    }

    /// Ends the branches of a transaction by hand. Returns how many there were.
    ///
    /// # Errors
    /// As [`Recovery::resolve`].
    ///
    /// # Cancel safety
    /// May be dropped at any await; some branches may be ended then.
    pub async fn resolve(&self, global: &str, verdict: Verdict) -> Result<u64> {
        let snapshot = self.snapshot();
        let everybody = self.identities(&snapshot).await;
        for live in &snapshot.databases {
            let field = self.field(live);
            let parts = field.resolve(global, verdict, everybody.as_deref()).await?;
            if parts > 0 {
                return Ok(parts);
            }
        }
        let mut recovery = Recovery::new(Arc::clone(&self.inner.coordinator));
        recovery.resolve(&self.snapshot().ways(), global, verdict).await
    }

    /// Who could decide on a transaction of type BASE, of all databases; `None` while a group has no leader, or a unit does not tell who it is.
    async fn identities(&self, snapshot: &Snapshot) -> Option<Vec<String>> {
        let mut all = Vec::new();
        for live in &snapshot.databases {
            if !live.is_led() {
                return None;
            }
            all.extend(self.field(live).identities().await?);
        }
        Some(all)
    }

    /// How transactions over several units have ended since the start.
    pub fn transaction_counts(&self) -> Counts {
        self.inner.coordinator.counts()
    }
}

/// A unit that cannot take part, as its client is told.
pub(crate) fn cannot_take_part(unit: &str, error: Error) -> Error {
    if let ErrorKind::Refused { because, code, reason, instead } = error.kind() {
        let reason = format!("storage unit `{unit}` cannot take part in XA transactions: {reason}");
        return Error::refused(*because, *code, reason, instead.clone());
    }
    let ErrorKind::Timeout(message) = error.kind() else { return error };
    ErrorKind::Timeout(format!("storage unit `{unit}`: {message}")).into()
}
