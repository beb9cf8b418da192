//! The process as its governor sees it: rooms, pools, engine and gate together.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use pando_config::{Database, Errors, Global, Problem, StorageUnit};
use pando_engine::{Admits, Engine, Settings, Snapshot};
use pando_governor::{
    Cluster, Found, House, Lease, Orders, Progress, Refiller, Refilling, Served, Status, Unsettled,
};
use pando_health::Report;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::{Gauge, LogicTable};
use pando_kernel::runtime::{BoxFuture, SharedRuntime};
use pando_kernel::{Offer, States, TransactionType, Value, WorkerId, circuit};

use crate::certificates::certificate;
use crate::files::Pooled;
use crate::gate::{Gate, Live};
use crate::inquiry::Inquiry;
use crate::look::Look;
use crate::mirrors;
use crate::options::Options;
use crate::place::Place;
use crate::pools::Pools;
use crate::refill::Refills;
use crate::wards::{Means, News, Wards};
use crate::wrong::configuration;

/// Time between two looks whether transactions of type BASE have ended.
const BASE_LOOK: Duration = Duration::from_millis(500);

/// What the governor governs.
pub(crate) struct Host {
    options: Options,
    engine: Engine,
    runtime: SharedRuntime,
    gate: Arc<Gate>,
    pools: Mutex<Pools>,
    served: Mutex<Option<Served>>,
    wards: Mutex<Wards>,
    /// What probes bring about.
    news: News,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("engine", &self.engine).finish_non_exhaustive()
    }
}

impl Host {
    pub(crate) fn new(
        options: Options,
        engine: Engine,
        runtime: SharedRuntime,
        gate: Arc<Gate>,
        news: News,
    ) -> Self {
        let (pools, served) = (Mutex::default(), Mutex::default());
        let modules = Arc::clone(&options.modules);
        let wards = Mutex::new(Wards::new(Arc::clone(&runtime), modules));
        Self { options, engine, runtime, gate, pools, served, wards, news }
    }

    /// Where what a configuration names is found.
    fn place(&self) -> Place<'_> {
        Place { data: &self.options.data, modules: &*self.options.modules }
    }

    /// Serves the same configuration as the storage units stand now.
    ///
    /// # Errors
    /// `Configuration`; what was served before goes on.
    pub(crate) fn follow_units(&self) -> Result<()> {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(served) = self.served().clone() else { return Ok(()) };
        self.publish(&mut pools, &served)
    }

    /// What the groups of a database remember.
    pub(crate) fn memories(&self, database: &str) -> Vec<(String, String)> {
        self.wards().memories(database)
    }

    fn wards(&self) -> MutexGuard<'_, Wards> {
        self.wards.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What persons and probes say of a database's units.
    fn states(&self, database: &Database, cluster: &Cluster) -> States {
        let name = database.name.value.as_str();
        let mut states = self.wards().states(name);
        let own = |other: &str| other.eq_ignore_ascii_case(name);
        let disabled = cluster.units.iter().filter(|(database, _)| own(database));
        states.disabled = disabled.map(|(_, unit)| unit.as_str().into()).collect();
        let unread = cluster.replicas.iter().filter(|replica| own(&replica.database));
        states.unread = unread
            .map(|replica| (replica.group.as_str().into(), replica.unit.as_str().into()))
            .collect();
        states
    }

    /// Forgets the tables of databases that other instances have defined anew.
    fn forget_defined(&self, known: &Cluster, served: &Served) {
        let snapshot = self.engine.snapshot();
        for (database, definition) in &served.cluster.definitions {
            if known.definitions.get(database) != Some(definition)
                && let Some(live) = snapshot.database(database)
            {
                live.forget_tables();
            }
        }
    }

    fn publish(&self, pools: &mut Pools, served: &Served) -> Result<()> {
        let props = &served.global.props;
        let max = usize::try_from(props.max_connections_size_per_query).unwrap_or(usize::MAX);
        let is_broken = served.cluster.broken.contains(&*served.own);
        let settings = Settings {
            max_connections_per_query: max.max(1),
            sql_show: props.sql_show,
            lock_connections: usize::try_from(props.lock_connections).unwrap_or(usize::MAX),
            admits: match served.cluster.admitted(&served.own) {
                pando_governor::Admits::Everything => Admits::Everything,
                pando_governor::Admits::Reads => Admits::Reads,
                pando_governor::Admits::Nothing if is_broken => Admits::OutOfWork,
                pando_governor::Admits::Nothing => Admits::Nothing,
            },
            transaction_type: match served.global.transaction.default_type {
                pando_config::global::TransactionType::Local => TransactionType::Local,
                pando_config::global::TransactionType::Xa => TransactionType::Xa,
                pando_config::global::TransactionType::Base => TransactionType::Base,
            },
            ..Settings::default()
        };
        let wanted: Vec<(Arc<Database>, States)> = served
            .databases
            .iter()
            .map(|database| (Arc::clone(database), self.states(database, &served.cluster)))
            .collect();
        let databases = pools.open(&wanted, self.place(), &self.runtime);
        let databases = databases.map_err(|errors| configuration(errors.to_string()))?;
        self.engine.publish(Snapshot { databases, settings });
        self.gate.leave_for(pooled(&served.databases));
        Ok(())
    }

    /// The settings that are served.
    pub(crate) fn global(&self) -> Arc<Global> {
        let served = self.served();
        served.as_ref().map(|served| Arc::clone(&served.global)).unwrap_or_default()
    }

    fn served(&self) -> MutexGuard<'_, Option<Served>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no transaction of type BASE is left that has images now: what takes one back knows of the columns of then.
    async fn outlive_base(&self, database: &str, progress: &Progress) -> Result<()> {
        let before = self.engine.opened_in_base(database).await?;
        let mut left = before.clone();
        while left.iter().any(|global| before.contains(global)) {
            if progress.stops.load(Ordering::Relaxed) {
                return Err(ErrorKind::Cancelled.into());
            }
            self.runtime.sleep(BASE_LOOK).await;
            left = self.engine.opened_in_base(database).await?;
        }
        Ok(())
    }

    /// Reads certificate and users anew without any change of the configuration.
    ///
    /// # Errors
    /// `Configuration`; the old ones stay.
    pub(crate) fn renew(&self) -> Result<()> {
        let global = self.global();
        self.gate.renew(Live::new(&global, certificate(&self.options, &global)?));
        Ok(())
    }
}

impl Refiller for Host {
    fn orders<'a>(
        &'a self,
        database: &'a Database,
        table: &'a str,
    ) -> BoxFuture<'a, Result<Orders>> {
        Box::pin(async move {
            let look = Look::at(database, self.place(), &self.runtime)?;
            Refills::of(&look, table).await?.orders(table).await
        })
    }

    fn refill<'a>(
        &'a self,
        database: &'a Database,
        table: &'a str,
        part: Refilling,
        progress: &'a Progress,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let look = Look::at(database, self.place(), &self.runtime)?;
            Refills::of(&look, table).await?.carry_out(part, progress).await?;
            match part {
                Refilling::Fence => self.outlive_base(&database.name, progress).await,
                Refilling::Check
                | Refilling::Columns
                | Refilling::Rows
                | Refilling::Nulls
                | Refilling::Drop => Ok(()),
            }
        })
    }
}

impl House for Host {
    fn rooms(&self, database: &Database) -> Result<Vec<LogicTable>, Errors> {
        let built = self.place().build(database)?;
        Ok(built.database.features.iter().flat_map(|feature| feature.tables()).collect())
    }

    fn offers(&self) -> &'static [Offer] {
        pando_rooms::ROOMS
    }

    fn settings(&self, global: &Global) -> Vec<Problem> {
        let mut problems = pando_rooms::check_global(global);
        if let Err(error) = certificate(&self.options, global) {
            problems.push(pando_config::At::default().problem(error.to_string()));
        }
        problems
    }

    fn serve(&self, served: &Served) -> Result<()> {
        let live = Live::new(&served.global, certificate(&self.options, &served.global)?);
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        self.publish(&mut pools, served)?;
        self.gate.renew(live);
        let connector = |unit: &StorageUnit| pando_rooms::connector(unit, &self.options.data);
        let means = Means { news: &self.news, connector: &connector };
        self.wards().take(&served.databases, &served.global.props, &served.cluster, &means);
        // What groups remember may say another primary than the configuration.
        self.publish(&mut pools, served)?;
        let before = self.served().replace(served.clone());
        let known = before.map(|before| Arc::clone(&before.cluster)).unwrap_or_default();
        self.forget_defined(&known, served);
        Ok(())
    }

    fn states(&self, database: &str, of: Status) -> Vec<Vec<Option<String>>> {
        let limits = || {
            let live = self.engine.snapshot().database(database).map(|live| live.limits());
            live.unwrap_or_default()
        };
        let mirrored = || {
            let live = self.engine.snapshot().database(database).map(|live| live.mirrored());
            live.unwrap_or_default()
        };
        match of {
            Status::StorageUnits => {}
            // The governor knows.
            Status::EncryptTables => return Vec::new(),
            Status::Limits => return limits().0.iter().map(gauge).collect(),
            Status::CircuitBreakers => return limits().1.iter().map(circuit).collect(),
            Status::Mirrors => return mirrored().iter().map(mirrors::counts).collect(),
            Status::MirrorDifferences => {
                return mirrored().iter().flat_map(mirrors::differences).collect();
            }
        }
        let served = self.served().clone();
        let said = served.and_then(|served| {
            let own = |known: &&Arc<Database>| known.name.value.eq_ignore_ascii_case(database);
            let known = served.databases.iter().find(own)?;
            Some(Host::states(self, known, &served.cluster))
        });
        let said = said.unwrap_or_default();
        self.wards().report(database).iter().map(|report| row(report, &said)).collect()
    }

    fn connects<'a>(
        &'a self,
        unit: &'a StorageUnit,
        privileges: &'a [String],
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let connector = pando_rooms::connector(unit, &self.options.data);
            let mut inquiry = Inquiry::connect(&unit.name.value, &connector, &self.runtime).await?;
            let dialect = connector.dialect();
            for privilege in privileges {
                let query = dialect.privilege_query(privilege).ok_or_else(|| {
                    let why = format!("privilege `{privilege}` is not known");
                    Error::unsupported(10110, why, "SELECT, XA and NONE can be asked for")
                })?;
                if !is_true(&inquiry.rows(&query).await?) {
                    let why = format!("its user lacks the privilege `{privilege}`");
                    return Err(Error::unsupported(10110, why, "grant it on the storage unit"));
                }
            }
            if privileges.is_empty() {
                inquiry.rows("SELECT 1").await?;
            }
            Ok(())
        })
    }

    fn lease(&self, lease: Option<Lease>) {
        let id = match lease {
            None => WorkerId::Lost,
            Some(Lease { worker, until: None }) => WorkerId::Leased { id: worker, until: i64::MAX },
            Some(Lease { worker, until: Some(until) }) => {
                let left = until.saturating_duration_since(self.runtime.now());
                let wall = self.runtime.wall() + left;
                let wall = wall.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
                WorkerId::Leased { id: worker, until: i64::try_from(wall).unwrap_or(i64::MAX) }
            }
        };
        self.engine.worker().hold(id);
    }

    fn tables<'a>(&'a self, database: &'a Database) -> BoxFuture<'a, Result<Vec<Found>>> {
        Box::pin(async move { Look::at(database, self.place(), &self.runtime)?.tables().await })
    }

    fn rows<'a>(
        &'a self,
        database: &'a Database,
        table: &'a Found,
    ) -> BoxFuture<'a, Result<usize>> {
        Box::pin(async move { Look::at(database, self.place(), &self.runtime)?.rows(table).await })
    }

    fn misplaced<'a>(
        &'a self,
        database: &'a Database,
        table: &'a str,
        node: &'a Found,
    ) -> BoxFuture<'a, Result<Option<String>>> {
        Box::pin(async move {
            Look::at(database, self.place(), &self.runtime)?.misplaced(table, node).await
        })
    }

    fn differ<'a>(
        &'a self,
        database: &'a Database,
        tables: &'a [Found],
    ) -> BoxFuture<'a, Result<Option<String>>> {
        Box::pin(
            async move { Look::at(database, self.place(), &self.runtime)?.differ(tables).await },
        )
    }

    fn unsettled<'a>(
        &'a self,
        database: &'a Database,
        units: &'a [String],
    ) -> BoxFuture<'a, Unsettled> {
        Box::pin(async move {
            let (transactions, silent) = self.engine.unsettled(&database.name, units).await;
            Unsettled { transactions, silent }
        })
    }
}

/// What the pools of these databases may have open.
fn pooled(databases: &[Arc<Database>]) -> Pooled {
    let units = databases.iter().flat_map(|database| &database.storage_units);
    units.fold(Pooled::default(), |all, unit| Pooled {
        units: all.units + 1,
        connections: all
            .connections
            .saturating_add(usize::try_from(unit.pool.max).unwrap_or(usize::MAX)),
    })
}

/// A row about a unit. What persons have taken out of work is `DISABLED`, however well it answers.
fn row(report: &Report, said: &States) -> Vec<Option<String>> {
    let text = |text: &dyn ToString| Some(text.to_string());
    let is_unread = report.group.as_ref().is_some_and(|group| {
        said.unread.iter().any(|(own, unit)| own == group && *unit == report.unit)
    });
    let is_disabled = is_unread || said.disabled.contains(&report.unit);
    vec![
        text(&report.unit),
        report.group.as_ref().map(ToString::to_string),
        text(&report.role.text()),
        text(&if is_disabled { "DISABLED" } else { report.state.text() }),
        report.lag.map(|lag| lag.as_millis().to_string()),
        report.since.map(|since| since.to_string()),
        report.error.clone(),
    ]
}

/// A row about a limit.
fn gauge(gauge: &Gauge) -> Vec<Option<String>> {
    let Gauge { running, waiting, admitted, waited, refused, overran, .. } = gauge;
    let counted = [running, waiting, admitted, waited, refused, overran];
    let counted = counted.into_iter().map(|count| Some(count.to_string()));
    [Some(gauge.rule.clone()), gauge.of.clone()].into_iter().chain(counted).collect()
}

/// A row about a circuit.
fn circuit(report: &circuit::Report) -> Vec<Option<String>> {
    let circuit::Report { unit, state, statements, failed, slow, opened, refused } = report;
    let counted = [statements, failed, slow, opened, refused];
    let counted = counted.into_iter().map(|count| Some(count.to_string()));
    [unit.to_string(), state.word().to_owned()].map(Some).into_iter().chain(counted).collect()
}

fn is_true(rows: &[Vec<Value>]) -> bool {
    match rows.first().and_then(|row| row.first()) {
        Some(Value::Bool(is)) => *is,
        Some(Value::Int(number)) => *number != 0,
        Some(Value::UInt(number)) => *number != 0,
        Some(_) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use pando_health::State;
    use pando_kernel::health::Role;

    use super::*;

    #[test]
    fn what_persons_took_out_of_work_is_told_as_disabled() {
        let report = |unit: &str, group: Option<&str>| Report {
            unit: unit.into(),
            group: group.map(Into::into),
            role: Role::Primary,
            state: State::Writes,
            lag: None,
            since: None,
            error: None,
        };
        let said = States {
            disabled: ["ds_0".into()].into_iter().collect(),
            unread: [("g".into(), "r0".into())].into_iter().collect(),
            ..States::default()
        };
        let status = |report: Report| row(&report, &said)[3].clone().unwrap();
        assert_eq!(status(report("ds_0", None)), "DISABLED");
        assert_eq!(status(report("r0", Some("g"))), "DISABLED");
        assert_eq!(status(report("r0", Some("h"))), "PRIMARY");
        assert_eq!(status(report("ds_1", None)), "PRIMARY");
    }
}
