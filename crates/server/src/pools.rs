//! The pools of all storage units, kept over a reload as far as their configuration stays the same.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use pando_config::{Database, PoolOptions, StorageUnit};
use pando_engine::LiveDatabase;
use pando_kernel::runtime::SharedRuntime;
use pando_pool::{Options, Pool};
use pando_rooms::{Built, Unit};

use crate::load::Loaded;

/// Pools by database and storage unit, each with the configuration it was made from.
#[derive(Debug, Default)]
pub(crate) struct Pools {
    kept: HashMap<(String, Arc<str>), Kept>,
}

#[derive(Debug, Clone)]
struct Kept {
    from: Option<StorageUnit>,
    pool: Pool,
}

impl Pools {
    /// Databases with pools. What is no longer used is forgotten here and closes when the last statement of the old configuration
    /// has ended; closing it at once would fail open transactions.
    pub(crate) fn open(
        &mut self,
        loaded: Loaded,
        runtime: &SharedRuntime,
    ) -> Vec<Arc<LiveDatabase>> {
        let mut now = HashMap::new();
        let configured = loaded.configuration.databases.iter();
        let databases = configured
            .zip(loaded.databases)
            .map(|(config, built)| self.database(config, built, runtime, &mut now))
            .collect();
        self.kept = now;
        databases
    }

    fn database(
        &self,
        config: &Database,
        built: Built,
        runtime: &SharedRuntime,
        now: &mut HashMap<(String, Arc<str>), Kept>,
    ) -> Arc<LiveDatabase> {
        let mut pools = Vec::new();
        for unit in built.units {
            let key = (config.name.value.to_lowercase(), Arc::clone(&unit.name));
            let from = config.storage_unit(&unit.name);
            let kept = match self.kept.get(&key) {
                Some(kept) if from.zip(kept.from.as_ref()).is_some_and(|(a, b)| same(a, b)) => {
                    kept.clone()
                }
                _ => Kept { from: from.cloned(), pool: pool(&unit, runtime) },
            };
            pools.push(kept.pool.clone());
            now.insert(key, kept);
        }
        Arc::new(LiveDatabase::new(built.database, pools))
    }
}

fn pool(unit: &Unit, runtime: &SharedRuntime) -> Pool {
    let connector = Arc::clone(&unit.connector);
    Pool::new(Arc::clone(&unit.name), connector, Arc::clone(runtime), options(&unit.pool))
}

fn options(from: &PoolOptions) -> Options {
    let number = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    Options {
        min: number(from.min),
        max: number(from.max),
        connection_timeout: from.connection_timeout,
        idle_timeout: from.idle_timeout.unwrap_or(Duration::ZERO),
        max_lifetime: from.max_lifetime.unwrap_or(Duration::ZERO),
        ..Options::default()
    }
}

/// Whether two entries mean the same connections, wherever they stand in their files.
fn same(a: &StorageUnit, b: &StorageUnit) -> bool {
    a.url.value == b.url.value
        && a.connection == b.connection
        && a.username == b.username
        && a.password == b.password
        && a.pool == b.pool
}
