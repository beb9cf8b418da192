//! The pools of all storage units, kept over a reload as far as their configuration stays the same.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use pando_config::{Database, Errors, PoolOptions, Report, StorageUnit};
use pando_engine::LiveDatabase;
use pando_kernel::States;
use pando_kernel::route::UnitName;
use pando_kernel::runtime::SharedRuntime;
use pando_kernel::states::{GroupState, Primary};
use pando_pool::{LoosePool, Options, Pool};
use pando_rooms::{Built, Unit};

use crate::place::Place;

/// What is served of each database: kept while its configuration stays the same.
#[derive(Debug, Default)]
pub(crate) struct Pools {
    kept: HashMap<Key, Kept>,
    /// Pools that were replaced or are served no more, of which open transactions may hold some.
    replaced: Vec<(Key, LoosePool)>,
    live: Vec<(Arc<Database>, States, Arc<LiveDatabase>)>,
}

/// A storage unit: its database in lower case, and its name.
type Key = (String, UnitName);

#[derive(Debug, Clone)]
struct Kept {
    from: Option<StorageUnit>,
    pool: Pool,
}

impl Pools {
    /// Databases with pools. What is no longer used is forgotten here and closes when the last statement of the old configuration
    /// has ended; closing it at once would fail open transactions.
    ///
    /// # Errors
    /// Every problem of databases that are new or have changed; everything stays as it was then.
    pub(crate) fn open(
        &mut self,
        databases: &[(Arc<Database>, States)],
        place: Place<'_>,
        runtime: &SharedRuntime,
    ) -> Result<Vec<Arc<LiveDatabase>>, Errors> {
        let mut report = Report::default();
        let mut built = Vec::new();
        for (config, states) in databases {
            let is_same =
                |own: &Arc<Database>, so: &States| Arc::ptr_eq(own, config) && so == states;
            let known = self.live.iter().find(|(own, so, _)| is_same(own, so));
            match known {
                Some((_, _, live)) => built.push((config, states, Some(Arc::clone(live)), None)),
                None => match place.build_while(config, states) {
                    Ok(new) => built.push((config, states, None, Some(new))),
                    Err(errors) => {
                        errors.problems().iter().for_each(|one| report.error(one.clone()));
                    }
                },
            }
        }
        report.finish()?;
        let mut now = HashMap::new();
        let mut live = Vec::new();
        for (config, states, known, new) in built {
            let database = match (known, new) {
                (Some(known), _) => {
                    self.keep(config, &mut now);
                    known
                }
                (None, Some(new)) => {
                    self.condemn(config, states);
                    self.database(config, new, runtime, &mut now)
                }
                (None, None) => continue,
            };
            live.push((Arc::clone(config), states.clone(), database));
        }
        self.replace(now);
        self.live = live;
        Ok(self.live.iter().map(|(_, _, live)| Arc::clone(live)).collect())
    }

    /// Serves these pools from now on. What is served no more is remembered for as long as anybody uses it.
    fn replace(&mut self, now: HashMap<Key, Kept>) {
        let is_other = |key: &Key, old: &Kept| {
            now.get(key).is_none_or(|new| !Arc::ptr_eq(new.pool.connector(), old.pool.connector()))
        };
        self.replaced.retain(|(_, pool)| pool.get().is_some());
        let before = self.kept.iter().filter(|(key, old)| is_other(key, old));
        self.replaced.extend(before.map(|(key, old)| (key.clone(), old.pool.loosen())));
        self.kept = now;
    }

    /// Ends the pools of units that took the writes of a group and do so no more, also such as were replaced since. Transactions keep the configuration that they began with, and would go on
    /// there: what they wrote would be told to be committed, and be lost.
    fn condemn(&mut self, config: &Database, states: &States) {
        let name = config.name.value.to_lowercase();
        let same = |own: &&(Arc<Database>, States, _)| own.0.name.eq_ignore_ascii_case(&name);
        let Some((_, before, _)) = self.live.iter().find(same) else { return };
        for (unit, why) in deposed(before, states) {
            let key = (name.clone(), unit);
            let kept = self.kept.remove(&key).map(|kept| kept.pool);
            let replaced = self.replaced.iter().filter(|(own, _)| *own == key);
            for pool in kept.into_iter().chain(replaced.filter_map(|(_, pool)| pool.get())) {
                pool.condemn(&why);
            }
        }
    }

    /// Keeps the pools of a database that goes on as it is.
    fn keep(&self, config: &Database, now: &mut HashMap<Key, Kept>) {
        let name = config.name.value.to_lowercase();
        let own = self.kept.iter().filter(|((database, _), _)| *database == name);
        now.extend(own.map(|(key, kept)| (key.clone(), kept.clone())));
    }

    fn database(
        &self,
        config: &Database,
        built: Built,
        runtime: &SharedRuntime,
        now: &mut HashMap<Key, Kept>,
    ) -> Arc<LiveDatabase> {
        let mut pools = Vec::new();
        let name = config.name.value.to_lowercase();
        let mut live = self.live.iter();
        let before = live.find(|(own, ..)| own.name.eq_ignore_ascii_case(&name));
        let is_known = |unit: &StorageUnit| {
            let own = self.kept.get(&(name.clone(), unit.name.as_str().into()));
            own.and_then(|own| own.from.as_ref()).is_some_and(|own| own.url.value == unit.url.value)
        };
        // Other servers have other rows.
        let before = before.filter(|_| config.storage_units.iter().all(is_known));
        let before = before.map(|(.., live)| &**live);
        for warning in &built.warnings {
            tracing::warn!("{warning}");
        }
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
        Arc::new(LiveDatabase::new(built.database, pools).in_doubt(before))
    }
}

/// Who took writes then and does not now, each with the reason. A group that is configured anew is none of them.
fn deposed(then: &States, now: &States) -> Vec<(UnitName, String)> {
    let fallen = |(group, before): (&UnitName, &GroupState)| {
        let Primary::Unit(unit) = &before.primary else { return None };
        let why = match &now.groups.get(group)?.primary {
            Primary::Unit(leader) if leader == unit => return None,
            Primary::Unit(leader) => {
                format!("`{leader}` takes the writes of group `{group}` in its place")
            }
            Primary::Nobody { why } => why.clone(),
        };
        Some((unit.clone(), why))
    };
    then.groups.iter().filter_map(fallen).collect()
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn states(primary: Primary) -> States {
        let state =
            GroupState { primary, readable: Default::default(), former: Default::default() };
        States { groups: [("g".into(), state)].into(), ..States::default() }
    }

    fn configured(folder: &Path, most: u32) -> Arc<Database> {
        let text = format!(
            "databaseName: one
dataSources:
  w: {{url: 'jdbc:sqlite:w.db', maxPoolSize: {most}}}
  r: {{url: 'jdbc:sqlite:r.db'}}
rules:
  - !READWRITE_SPLITTING
    dataSourceGroups:
      g: {{writeDataSourceName: w, readDataSourceNames: [r]}}
"
        );
        std::fs::write(folder.join("database-one.yaml"), text).expect("a file");
        let mut loaded = pando_config::load(folder).expect("a configuration");
        Arc::new(loaded.databases.remove(0))
    }

    #[tokio::test]
    async fn a_pool_that_was_replaced_is_condemned_with_its_unit() {
        let runtime = crate::runtime::TokioRuntime::shared(tokio::runtime::Handle::current());
        let folder = tempfile::tempdir().expect("a folder");
        let mut pools = Pools::default();
        let place = Place { data: folder.path(), modules: &pando_kernel::NoModules };
        let mut open = |most: u32, leader: &str| {
            let serves = (configured(folder.path(), most), states(Primary::Unit(leader.into())));
            pools.open(&[serves], place, &runtime).expect("pools").remove(0)
        };
        let first = open(3, "w");
        let second = open(4, "w");
        let third = open(4, "r");
        let took = async |live: &LiveDatabase, unit: &str| {
            let pool = live.pool(unit).expect("a pool");
            pool.take().await.map(drop).map_err(|error| error.to_string())
        };
        for live in [&first, &second] {
            let told = took(live, "w").await.expect_err("it leads no more");
            assert!(told.contains("`r` takes the writes"), "{told}");
        }
        assert_eq!(took(&third, "w").await, Ok(()));
        assert_eq!(took(&second, "r").await, Ok(()));
    }

    #[test]
    fn who_leads_no_more_is_deposed_with_the_reason() {
        let led_by = |unit: &str| states(Primary::Unit(unit.into()));
        let nobody = states(Primary::Nobody { why: "no primary since noon".into() });
        let names = |then: &States, now: &States| deposed(then, now);
        assert_eq!(
            names(&led_by("w"), &led_by("r")),
            [("w".into(), "`r` takes the writes of group `g` in its place".to_owned())]
        );
        assert_eq!(names(&led_by("w"), &nobody), [("w".into(), "no primary since noon".into())]);
        for (then, now) in [
            (led_by("w"), led_by("w")),
            (nobody.clone(), led_by("w")),
            (nobody.clone(), nobody),
            (led_by("w"), States::default()),
        ] {
            assert!(names(&then, &now).is_empty());
        }
    }
}
