//! Tables and columns of the storage units, read when first needed and forgotten when a definition changes.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::{Catalog, Names, Routines, Spellings};
use pando_kernel::oids::{Listing, Oids};
use pando_kernel::route::UnitName;
use pando_kernel::views::Views;
use pando_kernel::{Effectful, LogicColumns, Triggers};

use crate::schemas::Schemas;

/// A table's key to the units that have it, in unit order.
pub(crate) type TableMap = HashMap<String, Vec<UnitName>>;

/// When a unit checks what a statement has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checks {
    /// As each statement ends.
    AtOnce,
    /// Perhaps at the end of the transaction.
    MayWait,
}

/// What was read of one logical database's storage units. Readers never wait for a database.
#[derive(Debug, Default)]
pub(crate) struct UnitCatalog {
    known: RwLock<Known>,
    /// What stands while somebody changes it.
    latest_views: RwLock<Option<Arc<Views>>>,
    /// As `Known::epoch`, to be read without waiting.
    epoch: AtomicU64,
    /// How often tables were forgotten that were not there.
    missed: AtomicU64,
    means_one: AtomicBool,
}

#[derive(Debug, Default)]
struct Known {
    epoch: u64,
    columns: HashMap<String, Arc<Vec<TableColumn>>>,
    /// Those of these tables of which some columns are not as they are stored.
    logic: HashMap<String, Arc<LogicColumns>>,
    tables: Option<Arc<TableMap>>,
    spellings: Option<Arc<Spellings>>,
    sequences: Option<Arc<TableMap>>,
    views: Option<Arc<Views>>,
    schemas: Option<Arc<Schemas>>,
    tables_at: Option<Instant>,
    indexes: Option<Arc<HashMap<String, String>>>,
    names: Arc<Names>,
    /// Whose names these are.
    named: HashSet<UnitName>,
    triggers: Arc<Triggers>,
    /// Of which units it is known what triggers run there.
    triggered: HashSet<UnitName>,
    aggregates: Option<Arc<HashSet<String>>>,
    servers: Option<Arc<HashMap<UnitName, Arc<str>>>>,
    /// Which units may leave checks to the end of a transaction, as far as asked.
    defers: HashMap<UnitName, bool>,
    /// What of each unit that was asked may have effects on connections, and of all of them together.
    effects: HashMap<UnitName, Effectful>,
    effectful: Arc<Effectful>,
    /// What is numbered in each unit that was asked.
    listings: HashMap<UnitName, Arc<Listing>>,
    /// What numbers of these units are shown as.
    numbers: HashMap<UnitName, Arc<Oids>>,
}

/// What was found on the storage units.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) tables: TableMap,
    pub(crate) sequences: TableMap,
    pub(crate) spellings: Spellings,
    pub(crate) views: Views,
    pub(crate) schemas: Schemas,
}

/// A table that is not known is looked for again when what is known is older than this: it may have been made beside Pando.
const STALE: Duration = Duration::from_secs(2);

/// Tables whose columns are remembered at once; beyond it the memory starts afresh.
const MAX_TABLES: usize = 20_000;

impl UnitCatalog {
    /// Changes whenever everything is forgotten, and when it becomes known what of a further unit may have effects.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Remembers the columns of a logic table (by its key) as they are stored, and as clients see them where that is
    /// another thing; not if a definition has changed since `epoch`.
    pub(crate) fn learn_columns(
        &self,
        epoch: u64,
        table: String,
        stored: Vec<TableColumn>,
        logic: Option<LogicColumns>,
    ) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.epoch != epoch {
            return;
        }
        if known.columns.len() >= MAX_TABLES {
            known.columns.clear();
            known.logic.clear();
        }
        // Within an epoch a table keeps its columns: what is planned with them must not meet others halfway.
        if known.columns.contains_key(&table) {
            return;
        }
        let told = logic.as_ref().map_or(stored, LogicColumns::told);
        known.columns.insert(table.clone(), Arc::new(told));
        if let Some(logic) = logic {
            known.logic.insert(table, Arc::new(logic));
        }
    }

    /// Remembers which tables, sequences and views exist where, unless a definition has changed since `epoch`.
    pub(crate) fn learn_tables(&self, epoch: u64, found: Found) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.epoch != epoch {
            return;
        }
        known.tables = Some(Arc::new(found.tables));
        let means_one = found.schemas.are_one() && found.views.is_empty();
        self.means_one.store(means_one, Ordering::Release);
        known.schemas = Some(Arc::new(found.schemas));
        known.spellings = Some(Arc::new(found.spellings));
        known.sequences = Some(Arc::new(found.sequences));
        let views = Arc::new(found.views);
        *self.latest_views.write().unwrap_or_else(PoisonError::into_inner) =
            Some(Arc::clone(&views));
        known.views = Some(views);
        known.tables_at = Some(Instant::now());
    }

    /// In which schemas tables stand; `None` when not read yet. It is read with the tables.
    pub(crate) fn schemas(&self) -> Option<Arc<Schemas>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.schemas.clone()
    }

    /// Whether it is known that names mean the same tables and views in whichever schemas they are looked for. Without
    /// waiting.
    pub(crate) fn means_one(&self) -> bool {
        self.means_one.load(Ordering::Acquire)
    }

    /// The views that were found last, in whichever epoch.
    pub(crate) fn latest_views(&self) -> Option<Arc<Views>> {
        self.latest_views.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers which table each index belongs to, unless a definition has changed since `epoch`.
    pub(crate) fn learn_indexes(&self, epoch: u64, indexes: HashMap<String, String>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.epoch == epoch {
            known.indexes = Some(Arc::new(indexes));
        }
    }

    /// Remembers what indexes, constraints and triggers of these units are called, unless a definition has changed since `epoch`.
    pub(crate) fn learn_names(&self, epoch: u64, units: Vec<UnitName>, names: Names) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.epoch != epoch {
            return;
        }
        let all = Arc::make_mut(&mut known.names);
        for (table, found) in names {
            let own = all.entry(table).or_default();
            own.indexes.extend(found.indexes);
            own.constraints.extend(found.constraints);
            own.triggers.extend(found.triggers);
        }
        known.named.extend(units);
    }

    /// Remembers what triggers run on these units, unless a definition has changed since `epoch`.
    pub(crate) fn learn_triggers(&self, epoch: u64, units: Vec<UnitName>, triggers: Triggers) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.epoch == epoch {
            Arc::make_mut(&mut known.triggers).add(triggers);
            known.triggered.extend(units);
        }
    }

    /// Remembers the aggregates users have made, unless a definition has changed since `epoch`.
    pub(crate) fn learn_aggregates(&self, epoch: u64, aggregates: HashSet<String>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.epoch == epoch {
            known.aggregates = Some(Arc::new(aggregates));
        }
    }

    /// What the server of each unit calls itself, of those that say it; `None` when not read yet.
    pub(crate) fn servers(&self) -> Option<Arc<HashMap<UnitName, Arc<str>>>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.servers.clone()
    }

    /// Remembers what the units' servers call themselves, unless a definition has changed since `epoch`.
    pub(crate) fn learn_servers(&self, epoch: u64, servers: Arc<HashMap<UnitName, Arc<str>>>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.epoch == epoch {
            known.servers = Some(servers);
        }
    }

    /// Remembers whether a unit may leave checks to the end of a transaction, unless a definition has changed since `epoch`.
    pub(crate) fn learn_checks(&self, epoch: u64, unit: UnitName, checks: Checks) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.epoch == epoch {
            known.defers.insert(unit, checks == Checks::MayWait);
        }
    }

    /// Remembers which names of a unit may have effects on connections, unless a definition has changed since `epoch`. Those of one unit count for all: plans that were
    /// made without them are not kept. Returns whether it does.
    pub(crate) fn learn_effects(&self, epoch: u64, unit: UnitName, found: Effectful) -> bool {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.epoch != epoch {
            return false;
        }
        let all = Arc::make_mut(&mut known.effectful);
        all.add(&found);
        for name in found.calls.keys() {
            all.routines.entry(name.clone()).or_default().push(Arc::clone(&unit));
        }
        known.effects.insert(unit, found);
        known.epoch += 1;
        self.epoch.store(known.epoch, Ordering::Release);
        true
    }

    /// What was learnt of the units' effects, and when.
    pub(crate) fn effects(&self) -> (u64, HashMap<UnitName, Effectful>) {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        (known.epoch, known.effects.clone())
    }

    /// Whether a unit may leave checks to the end of a transaction; `None` when it was not asked yet.
    pub(crate) fn defers(&self, unit: &str) -> Option<bool> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.defers.get(unit).copied()
    }

    /// What is numbered in a unit; `None` when it was not asked yet.
    pub(crate) fn listing(&self, unit: &str) -> Option<Arc<Listing>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.listings.get(unit).cloned()
    }

    /// Remembers what is numbered in a unit, unless a definition has changed since `epoch`.
    pub(crate) fn learn_listing(&self, epoch: u64, unit: UnitName, listing: Arc<Listing>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.epoch == epoch {
            known.listings.insert(unit, listing);
        }
    }

    /// Remembers what a unit's numbers are shown as, unless a definition has changed since `epoch`.
    pub(crate) fn learn_oids(&self, epoch: u64, unit: UnitName, numbers: Arc<Oids>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.epoch == epoch {
            known.numbers.insert(unit, numbers);
        }
    }

    /// Forgets everything when it is old enough that a look may help; false when it is fresh or nothing is known.
    pub(crate) fn forget_stale(&self) -> bool {
        let read = self.known.read().unwrap_or_else(PoisonError::into_inner).tables_at;
        let stale = read.is_some_and(|at| at.elapsed() > STALE);
        if stale {
            self.forget();
        }
        stale
    }

    /// Forgets the tables that were not there: a transaction that ends may have made them.
    pub(crate) fn forget_missing(&self) {
        let read = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if read.columns.values().all(|columns| !columns.is_empty()) {
            return;
        }
        drop(read);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.columns.retain(|_, columns| !columns.is_empty());
        self.missed.fetch_add(1, Ordering::AcqRel);
    }

    /// Changes whenever [`UnitCatalog::forget_missing`] has forgotten any. What was planned by what is known stays right,
    /// but who plans meanwhile may miss what he has asked for.
    pub(crate) fn missed(&self) -> u64 {
        self.missed.load(Ordering::Acquire)
    }

    /// Forgets everything: a definition has changed.
    pub(crate) fn forget(&self) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        self.means_one.store(false, Ordering::Release);
        *known = Known { epoch: known.epoch + 1, ..Known::default() };
        self.epoch.store(known.epoch, Ordering::Release);
    }
}

impl Catalog for UnitCatalog {
    fn epoch(&self) -> u64 {
        Self::epoch(self)
    }

    fn columns(&self, table: &str) -> Option<Arc<Vec<TableColumn>>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.columns.get(table).cloned()
    }

    fn logic(&self, table: &str) -> Option<Arc<LogicColumns>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.logic.get(table).cloned()
    }

    fn indexes(&self) -> Option<Arc<HashMap<String, String>>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.indexes.clone()
    }

    fn names(&self, units: &[UnitName]) -> Option<Arc<Names>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        units.iter().all(|unit| known.named.contains(unit)).then(|| Arc::clone(&known.names))
    }

    fn effectful(&self, unit: &str) -> Option<Arc<Effectful>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.effects.contains_key(unit).then(|| Arc::clone(&known.effectful))
    }

    fn numbers(&self, unit: &str) -> Option<Arc<Oids>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.numbers.get(unit).cloned()
    }

    fn routines(&self, units: &[UnitName]) -> Routines {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let is_told = |unit| known.triggered.contains(unit);
        let triggers = units.iter().all(is_told).then(|| Arc::clone(&known.triggers));
        Routines { aggregates: known.aggregates.clone(), triggers }
    }

    fn spellings(&self) -> Option<Arc<Spellings>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.spellings.clone()
    }

    fn sequences(&self) -> Option<Arc<TableMap>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.sequences.clone()
    }

    fn tables(&self) -> Option<Arc<TableMap>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.tables.clone()
    }

    fn views(&self) -> Option<Arc<Views>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.views.clone()
    }
}

/// The same with tables' columns as they are stored.
#[derive(Debug)]
pub(crate) struct AsStored<'a>(pub(crate) &'a dyn Catalog);

impl Catalog for AsStored<'_> {
    fn columns(&self, table: &str) -> Option<Arc<Vec<TableColumn>>> {
        match self.0.logic(table) {
            Some(logic) => Some(Arc::clone(&logic.stored)),
            None => self.0.columns(table),
        }
    }

    fn epoch(&self) -> u64 {
        self.0.epoch()
    }

    fn tables(&self) -> Option<Arc<TableMap>> {
        self.0.tables()
    }

    fn views(&self) -> Option<Arc<Views>> {
        self.0.views()
    }

    fn spellings(&self) -> Option<Arc<Spellings>> {
        self.0.spellings()
    }

    fn sequences(&self) -> Option<Arc<TableMap>> {
        self.0.sequences()
    }

    fn indexes(&self) -> Option<Arc<HashMap<String, String>>> {
        self.0.indexes()
    }

    fn names(&self, units: &[UnitName]) -> Option<Arc<Names>> {
        self.0.names(units)
    }

    fn effectful(&self, unit: &str) -> Option<Arc<Effectful>> {
        self.0.effectful(unit)
    }

    fn numbers(&self, unit: &str) -> Option<Arc<Oids>> {
        self.0.numbers(unit)
    }

    fn routines(&self, units: &[UnitName]) -> Routines {
        self.0.routines(units)
    }
}
