//! What a statement sees of the configuration: taken once at its start, never looked up again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use pando_kernel::circuit::Report;
use pando_kernel::dialect::Dialect;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::{Admission, Database, Gauge, Meters};
use pando_kernel::mirror;
use pando_kernel::route::{Place, UnitName};
use pando_kernel::runtime::SharedRuntime;
use pando_kernel::session::Login;
use pando_kernel::{ActualNames, ServerError, TransactionType};
use pando_pool::Pool;
use pando_transaction::xa::Way;

use crate::asked_numbers::AskedNumbers;
use crate::catalog::UnitCatalog;
use crate::counters::Book;
use crate::doubts::Doubts;
use crate::locked_keys::LockedKeys;
use crate::mirror::Mirrors;
use crate::templates::{self, Templates};

/// One configuration of the whole engine. Immutable; a change publishes a new one.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// The logical databases.
    pub databases: Vec<Arc<LiveDatabase>>,
    /// Settings of the engine.
    pub settings: Settings,
}

/// What statements are let through to storage units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Admits {
    /// All.
    #[default]
    Everything,
    /// Those that change nothing.
    Reads,
    /// None: the cluster is locked.
    Nothing,
    /// None: a person has taken the instance out of work.
    OutOfWork,
}

/// Settings of the engine.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `MaxCon` of the paper's equation 1: connections of one storage unit that one query may use. At least 1.
    pub max_connections_per_query: usize,
    /// Bytes one statement may hold in memory for merging.
    pub memory_bytes: usize,
    /// Logs every statement with its actual statements.
    pub sql_show: bool,
    /// What statements are let through; open transactions go on under what they began with.
    pub admits: Admits,
    /// Longest time for one statement to begin answering; `None` means no limit.
    pub statement_timeout: Option<Duration>,
    /// How transactions end of sessions that have not chosen.
    pub transaction_type: TransactionType,
    /// Connections of one storage unit that all sessions together may keep for locks of their applications; never more
    /// than half of its pool, and at least 1.
    pub lock_connections: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_connections_per_query: 1,
            memory_bytes: 256 << 20,
            sql_show: false,
            admits: Admits::Everything,
            statement_timeout: None,
            transaction_type: TransactionType::Local,
            lock_connections: 64,
        }
    }
}

/// A logical database with the pools of its storage units and what was read of their catalogues.
#[derive(Debug)]
pub struct LiveDatabase {
    /// The database.
    pub database: Database,
    /// The same below the rooms that have columns stored otherwise than clients see them, where it has some.
    below: Option<Database>,
    /// Pools with the names of their storage units, sorted by these: there are few, and each statement looks for one.
    pools: Vec<(UnitName, Pool)>,
    /// Those of them whose circuit may open.
    guarded: Vec<Pool>,
    /// What is run a second time elsewhere. The pools that it goes to are not among the others: nothing else uses them.
    pub(crate) mirrors: Arc<Mirrors>,
    /// Members of groups that lead none.
    followers: Vec<UnitName>,
    /// What stands behind places for statements of the other environment.
    pub(crate) shadows: Vec<Place>,
    /// Tables and columns read so far.
    pub(crate) catalog: Arc<UnitCatalog>,
    /// Plans of statements that came before.
    pub(crate) templates: Templates,
    /// Told apart from every other database that was ever served.
    pub(crate) number: u64,
    /// The language its clients speak, when its units must be told.
    pub(crate) client_language: Option<&'static str>,
    /// The same database for doors whose language its units can take.
    spoken: Mutex<HashMap<&'static str, Arc<LiveDatabase>>>,
    /// What has moved since, for the newest database that was asked about.
    pub(crate) moved: crate::rule_change::Known,
    /// Its servers have told their versions, and clients are told none of them.
    has_no_version: AtomicBool,
    /// Its actual tables by name, from the first error on that may name one.
    names: OnceLock<ActualNames>,
    /// What its transactions of type XA share.
    pub(crate) together: Arc<crate::recovery::Together>,
    /// Tables whose rows nobody has looked at yet.
    pub(crate) doubts: Arc<Doubts>,
    /// What was leased of the counters of its sharded tables.
    pub(crate) counters: Arc<Book>,
    /// Rows that its transactions have locked one by one.
    pub(crate) locked_keys: Arc<LockedKeys>,
    /// Whether its clients ask for numbers that servers have given.
    pub(crate) asked_numbers: Arc<AskedNumbers>,
}

impl LiveDatabase {
    /// Lets a storage unit's error or notice name logic tables.
    pub(crate) fn in_logic_names(&self, told: &mut ServerError) {
        if let Some(presentation) = self.database.dialect.presentation() {
            let names = self.names.get_or_init(|| {
                let tables = self.database.features.iter().flat_map(|room| room.tables());
                ActualNames::of(&self.database.name, &tables.collect::<Vec<_>>())
            });
            presentation.in_logic_names(told, names);
        }
    }

    /// A database over these pools, one per storage unit. There may be none: such a database speaks the language of whichever door its clients come through.
    pub fn new(database: Database, pools: Vec<Pool>) -> Self {
        let mirrors = Mirrors::of(&database, &pools);
        let pools = pools.into_iter().filter(|pool| mirrors.pool(pool.unit()).is_none());
        let pools = pools.map(|pool| (Arc::clone(pool.unit()), pool));
        let mut pools: Vec<(UnitName, Pool)> = pools.collect();
        pools.sort_by(|(a, _), (b, _)| a.cmp(b));
        let followers = database.features.iter().flat_map(|room| room.groups().followers).collect();
        let shadows = database.shadows();
        let admissions: Vec<_> =
            database.features.iter().filter_map(|feature| feature.admission()).collect();
        let is_guarded =
            |unit: &UnitName| admissions.iter().any(|admission| admission.circuit(unit).is_some());
        let guarded = pools.iter().filter(|(unit, _)| is_guarded(unit));
        let guarded = guarded.map(|(_, pool)| pool.clone()).collect();
        Self {
            below: database.below(),
            database,
            followers,
            shadows,
            pools,
            guarded,
            mirrors: Arc::new(mirrors),
            catalog: Arc::default(),
            templates: Templates::default(),
            number: templates::number(),
            client_language: None,
            spoken: Mutex::default(),
            moved: crate::rule_change::Known::default(),
            has_no_version: AtomicBool::new(false),
            names: OnceLock::new(),
            together: Arc::default(),
            doubts: Arc::default(),
            counters: Arc::default(),
            locked_keys: Arc::default(),
            asked_numbers: Arc::default(),
        }
    }

    /// The same, whose configuration may not be that by which its rows were written: the first statement about each sharded table looks. What was
    /// looked at in `before`, over the same storage units, is not looked at again.
    #[must_use]
    pub fn in_doubt(mut self, before: Option<&Self>) -> Self {
        let before = before.map(|before| (&before.database, &*before.doubts));
        self.doubts = Arc::new(Doubts::of(&self.database, before));
        self
    }

    /// The database below the rooms that have columns stored otherwise than clients see them.
    pub(crate) fn below(&self) -> &Database {
        self.below.as_ref().unwrap_or(&self.database)
    }

    /// Where sessions stand that have no database to stand in: it has no name and no storage units.
    pub(crate) fn nowhere(language: Arc<dyn Dialect>) -> Self {
        let database = Database {
            name: String::new(),
            units: Vec::new(),
            features: Vec::new(),
            dialect: language,
        };
        Self::new(database, Vec::new())
    }

    /// The versions of the servers behind its storage units, as far as they are known.
    pub(crate) fn servers(&self) -> Vec<Arc<str>> {
        self.pools.iter().filter_map(|(_, pool)| pool.connector().server_version()).collect()
    }

    /// Storage units whose servers have not told their version.
    pub(crate) fn unheard(&self) -> Vec<UnitName> {
        let unheard =
            self.pools.iter().filter(|(_, pool)| pool.connector().server_version().is_none());
        unheard.map(|(unit, _)| Arc::clone(unit)).collect()
    }

    /// The version that its clients are told. Sessions that know none ask with each statement: where all servers have
    /// told theirs and there is none for all of them, it is not looked for again.
    pub(crate) fn version(&self) -> Option<String> {
        if self.pools.is_empty() || self.has_no_version.load(Relaxed) {
            return None;
        }
        let servers = self.servers();
        let version = self.database.dialect.presentation()?.version(&servers);
        if version.is_none() && servers.len() == self.pools.len() {
            self.has_no_version.store(true, Relaxed);
        }
        version
    }

    /// Whether anything can be stored here.
    pub(crate) fn has_units(&self) -> bool {
        !self.pools.is_empty()
    }

    /// This database for clients of a door: itself, or one that takes the door's language. Without storage units every door's will do.
    pub(crate) fn at_door(self: &Arc<Self>, login: &Login) -> Arc<Self> {
        let family = login.family;
        let (dialect, client_language) = match self.has_units() {
            true => (self.database.dialect.spoken_at(family), Some(family)),
            false => (login.language.clone(), None),
        };
        let Some(dialect) = dialect else { return Arc::clone(self) };
        let mut spoken = self.spoken.lock().unwrap_or_else(PoisonError::into_inner);
        let live = spoken.entry(family).or_insert_with(|| {
            let database = Database {
                name: self.database.name.clone(),
                units: self.database.units.clone(),
                features: self.database.features.clone(),
                dialect,
            };
            Arc::new(Self {
                below: database.below(),
                database,
                pools: self.pools.clone(),
                guarded: self.guarded.clone(),
                mirrors: Arc::clone(&self.mirrors),
                followers: self.followers.clone(),
                shadows: self.shadows.clone(),
                catalog: Arc::clone(&self.catalog),
                templates: Templates::default(),
                number: templates::number(),
                client_language,
                spoken: Mutex::default(),
                has_no_version: AtomicBool::new(false),
                names: OnceLock::new(),
                moved: crate::rule_change::Known::default(),
                together: Arc::clone(&self.together),
                doubts: Arc::clone(&self.doubts),
                counters: Arc::clone(&self.counters),
                locked_keys: Arc::clone(&self.locked_keys),
                asked_numbers: Arc::clone(&self.asked_numbers),
            })
        });
        Arc::clone(live)
    }

    /// Its rooms go on with what was counted under earlier rules, and its storage units' circuits go by the present ones.
    pub(crate) fn take_over_limits(&self, meters: &Meters, now: Instant) {
        for admission in self.admissions() {
            admission.takes_over(&self.database.name, meters, now);
        }
        for (unit, pool) in &self.pools {
            pool.breaks_circuit(self.admissions().find_map(|admission| admission.circuit(unit)));
        }
    }

    /// What its rooms want to be run a second time is, from now on.
    pub(crate) fn begin_mirrors(&self, meters: &Meters, runtime: &SharedRuntime) {
        self.mirrors.begin(&self.database.name, meters, runtime);
    }

    /// What has come of what was run a second time.
    pub fn mirrored(&self) -> Vec<mirror::Report> {
        self.mirrors.reports()
    }

    fn admissions(&self) -> impl Iterator<Item = &dyn Admission> {
        self.database.features.iter().filter_map(|feature| feature.admission())
    }

    /// Storage units whose circuit is open now; `None` where there is none.
    pub(crate) fn shut(&self, now: impl FnOnce() -> Instant) -> Option<Arc<[UnitName]>> {
        if self.guarded.is_empty() {
            return None;
        }
        let now = now();
        let shut = self.guarded.iter().filter(|pool| pool.is_shut(now));
        let shut: Vec<UnitName> = shut.map(|pool| Arc::clone(pool.unit())).collect();
        (!shut.is_empty()).then(|| shut.into())
    }

    /// What was counted under the limits of its rooms, and how the circuits of its storage units stand.
    pub fn limits(&self) -> (Vec<Gauge>, Vec<Report>) {
        let gauges = self.admissions().flat_map(|admission| admission.gauges()).collect();
        (gauges, self.guarded.iter().filter_map(Pool::circuit).collect())
    }

    /// Forgets what was read of its tables: somebody else has changed definitions.
    pub fn forget_tables(&self) {
        self.catalog.forget();
    }

    /// The pools of its storage units.
    pub(crate) fn pools(&self) -> impl Iterator<Item = &Pool> {
        self.pools.iter().map(|(_, pool)| pool)
    }

    /// The pools of the storage units where transactions are decided and ended. A copy, or a leader of former days that still takes writes, has the leader's
    /// identity and its ledger, and may lack decisions that were made since: whoever asked it would decide otherwise.
    pub(crate) fn leading(&self) -> impl Iterator<Item = &Pool> {
        self.pools.iter().map(|(_, pool)| pool).filter(|pool| self.leads(pool.unit()))
    }

    /// Whether a storage unit is no copy of another, and none that was led from before.
    pub(crate) fn leads(&self, unit: &UnitName) -> bool {
        !self.followers.contains(unit)
    }

    /// Whether each of its groups has somebody who leads it.
    pub(crate) fn is_led(&self) -> bool {
        let mut groups = self.database.features.iter().flat_map(|room| room.groups().places);
        groups.all(|group| group.members.iter().any(|unit| self.leads(unit)))
    }

    /// The pool of a storage unit.
    ///
    /// # Errors
    /// `Internal` when a room routed to a unit that does not exist.
    pub fn pool(&self, unit: &str) -> Result<&Pool> {
        let found = self.pools.binary_search_by(|(name, _)| (**name).cmp(unit)).ok();
        found
            .and_then(|at| self.pools.get(at))
            .map(|(_, pool)| pool)
            .or_else(|| self.mirrors.pool(unit))
            .ok_or_else(|| Error::internal(format!("no storage unit is named `{unit}`")))
    }
}

impl Snapshot {
    /// The ways to all storage units where transactions are decided and ended, each once.
    pub(crate) fn ways(&self) -> Vec<Way> {
        let mut ways: Vec<Way> = Vec::new();
        for pool in self.databases.iter().flat_map(|live| live.leading()) {
            if !ways.iter().any(|(_, way)| Arc::ptr_eq(way, pool.connector())) {
                ways.push((Arc::clone(pool.unit()), Arc::clone(pool.connector())));
            }
        }
        ways
    }

    /// The database of this name, without regard to case.
    pub fn database(&self, name: &str) -> Option<&Arc<LiveDatabase>> {
        self.databases.iter().find(|live| live.database.name.eq_ignore_ascii_case(name))
    }
}
