//! The storage units of all databases under observation: one board and one prober for each database.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pando_config::global::Properties;
use pando_config::{Database, StorageUnit};
use pando_governor::Cluster;
use pando_health::{Board, Change, Observation, Probed, Prober, Report, Settings, Tell};
use pando_kernel::runtime::SharedRuntime;
use pando_kernel::{Connector, Modules, States};

/// What an observation has brought about, for whoever serves: the database, and what is other now.
pub(crate) type News = Arc<dyn Fn(&str, &Change) + Send + Sync>;

/// What observing needs.
pub(crate) struct Means<'a> {
    /// Who is told.
    pub(crate) news: &'a News,
    /// What opens a unit's connections.
    pub(crate) connector: &'a dyn Fn(&StorageUnit) -> Arc<dyn Connector>,
}

/// All databases' boards.
pub(crate) struct Wards {
    runtime: SharedRuntime,
    modules: Arc<dyn Modules>,
    all: Vec<Ward>,
}

struct Ward {
    config: Arc<Database>,
    settings: Option<Settings>,
    board: Arc<Mutex<Board>>,
    /// Observes until it is dropped.
    _prober: Option<Prober>,
}

impl fmt::Debug for Wards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wards").field("databases", &self.all.len()).finish_non_exhaustive()
    }
}

impl Wards {
    pub(crate) fn new(runtime: SharedRuntime, modules: Arc<dyn Modules>) -> Self {
        Self { runtime, modules, all: Vec::new() }
    }

    /// Puts these databases under observation, and lets go of all others. A database that did not change goes on being observed; of one that did, what
    /// stays the same keeps what is known of it.
    pub(crate) fn take(
        &mut self,
        databases: &[Arc<Database>],
        props: &Properties,
        cluster: &Cluster,
        means: &Means<'_>,
    ) {
        let mut before = std::mem::take(&mut self.all);
        for config in databases {
            let settings = settings(props);
            let known = before.iter().position(|ward| same(&ward.config, config));
            let known = known.map(|at| before.swap_remove(at));
            // Without probes nothing is known any more: it is as configured.
            if let Some(ward) = known.filter(|_| settings.is_some()) {
                if Arc::ptr_eq(&ward.config, config) && ward.settings == settings {
                    self.all.push(ward);
                    continue;
                }
                self.reconfigure(&ward, config, settings.unwrap_or_default());
                let board = ward.board;
                self.all.push(self.observed(config, settings, board, means));
                continue;
            }
            let mut board = Board::new(
                units(config),
                pando_rooms::groups(config, &*self.modules),
                settings.unwrap_or_default(),
            );
            for ((database, group), memory) in &cluster.memories {
                if database.eq_ignore_ascii_case(&config.name.value) {
                    board.remember(group, memory);
                }
            }
            let board = Arc::new(Mutex::new(board));
            self.all.push(self.observed(config, settings, board, means));
        }
    }

    fn reconfigure(&self, ward: &Ward, config: &Database, settings: Settings) {
        let mut board = lock(&ward.board);
        board.reconfigure(units(config), pando_rooms::groups(config, &*self.modules), settings);
        let before: BTreeSet<&str> =
            ward.config.storage_units.iter().map(|unit| unit.name.value.as_str()).collect();
        for unit in &config.storage_units {
            let name = unit.name.value.as_str();
            let is_other =
                ward.config.storage_unit(name).is_some_and(|old| old.url.value != unit.url.value);
            if before.contains(name) && is_other {
                board.forget(name);
            }
        }
    }

    fn observed(
        &self,
        config: &Arc<Database>,
        settings: Option<Settings>,
        board: Arc<Mutex<Board>>,
        means: &Means<'_>,
    ) -> Ward {
        let prober = settings.and_then(|settings| {
            let probed: Vec<Probed> = config
                .storage_units
                .iter()
                .map(|unit| Probed {
                    unit: unit.name.value.as_str().into(),
                    connector: (means.connector)(unit),
                })
                // A file of this machine answers, or no statement would.
                .filter(|probed| !probed.connector.dialect().serves_every_door())
                .collect();
            let tell = telling(config.name.value.clone(), &board, means.news);
            (!probed.is_empty()).then(|| Prober::start(&self.runtime, settings, probed, &tell))
        });
        Ward { config: Arc::clone(config), settings, board, _prober: prober }
    }

    /// What of a database's units concerns routing.
    pub(crate) fn states(&self, database: &str) -> States {
        self.ward(database).map(|ward| lock(&ward.board).states()).unwrap_or_default()
    }

    /// How the units of a database stand.
    pub(crate) fn report(&self, database: &str) -> Vec<Report> {
        self.ward(database).map(|ward| lock(&ward.board).report()).unwrap_or_default()
    }

    /// What the groups of a database remember, as texts.
    pub(crate) fn memories(&self, database: &str) -> Vec<(String, String)> {
        let Some(ward) = self.ward(database) else { return Vec::new() };
        let board = lock(&ward.board);
        let groups = board.groups().iter();
        groups.map(|group| (group.name().to_string(), group.memory().to_text())).collect()
    }

    fn ward(&self, database: &str) -> Option<&Ward> {
        self.all.iter().find(|ward| ward.config.name.value.eq_ignore_ascii_case(database))
    }
}

fn lock(board: &Mutex<Board>) -> MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From an observation to the log and to whoever serves.
fn telling(database: String, board: &Arc<Mutex<Board>>, news: &News) -> Tell {
    let (board, news) = (Arc::downgrade(board), Arc::clone(news));
    Arc::new(move |observation: Observation| {
        let Some(board) = board.upgrade() else { return };
        let change = lock(&board).observe(&observation);
        for happening in &change.news {
            if happening.is_bad() {
                tracing::warn!(database, "{happening}");
            } else {
                tracing::info!(database, "{happening}");
            }
        }
        if change.states_changed || change.memories_changed {
            news(&database, &change);
        }
    })
}

fn units(config: &Database) -> Vec<Arc<str>> {
    config.storage_units.iter().map(|unit| unit.name.value.as_str().into()).collect()
}

fn same(a: &Database, b: &Database) -> bool {
    a.name.value.eq_ignore_ascii_case(&b.name.value)
}

/// How units are probed; `None` when they are not.
fn settings(props: &Properties) -> Option<Settings> {
    let health = &props.health;
    (!health.interval.is_zero()).then(|| Settings {
        interval: health.interval,
        timeout: health.timeout,
        failures: health.failures,
        successes: health.successes,
        most_lag: health.most_lag,
        ..Settings::default()
    })
}
