//! A house that builds no rooms, and a governor in it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pando_config::{Database, Errors, Global, Problem, StorageUnit};
use pando_governor::{
    Found, Governor, House, Instance, Lease, Options, Orders, Origin, Progress, Refiller,
    Refilling, Secrets, Served, Status, Unsettled,
};
use pando_kernel::RuleGrammar;
use pando_kernel::administration::{Administration, Answer, Caller, Order};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::LogicTable;
use pando_kernel::room::Offer;
use pando_kernel::runtime::{BoxFuture, SharedRuntime};
use pando_model::{Key, Model};
use pando_repository::Repository;
use pando_repository::conformance::Tokio;

/// Remembers what it serves.
#[derive(Debug, Default)]
pub(crate) struct Quiet {
    pub(crate) served: Mutex<Vec<Served>>,
    pub(crate) leases: Mutex<Vec<Option<Lease>>>,
    pub(crate) tables: Mutex<Vec<Found>>,
    /// Units that do not answer.
    pub(crate) silent: Mutex<Vec<String>>,
    /// Transactions in doubt, each with its unit.
    pub(crate) doubts: Mutex<Vec<(String, String)>>,
}

/// A room that brings the grammar of its rules. It is never built.
const OFFERS: &[Offer] =
    &[Offer { section: Some("ZOO"), grammar: &[ANIMALS], ..Offer::new(|_, _| Ok(None)) }];

const ANIMALS: RuleGrammar =
    RuleGrammar { help: "Lists.", example: "t_ape", ..RuleGrammar::tables("ZOO_ANIMAL") };

impl Refiller for Quiet {
    fn orders<'a>(&'a self, _: &'a Database, _: &'a str) -> BoxFuture<'a, Result<Orders>> {
        Box::pin(async { Ok(Orders::default()) })
    }

    fn refill<'a>(
        &'a self,
        _: &'a Database,
        _: &'a str,
        _: Refilling,
        _: &'a Progress,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

impl House for Quiet {
    fn rooms(&self, _: &Database) -> Result<Vec<LogicTable>, Errors> {
        Ok(Vec::new())
    }

    fn states(&self, database: &str, of: Status) -> Vec<Vec<Option<String>>> {
        if of != Status::StorageUnits {
            return vec![vec![Some(format!("{of:?}"))]];
        }
        let served = self.served.lock().unwrap();
        let disabled = served.last().map(|served| served.cluster.units.clone()).unwrap_or_default();
        let own = disabled.into_iter().filter(|(own, _)| own == database);
        let cells = |unit: String| {
            let mut row = vec![None; 7];
            (row[0], row[3]) = (Some(unit), Some("DISABLED".to_owned()));
            row
        };
        own.map(|(_, unit)| cells(unit)).collect()
    }

    fn offers(&self) -> &'static [Offer] {
        OFFERS
    }

    fn settings(&self, _: &Global) -> Vec<Problem> {
        Vec::new()
    }

    fn serve(&self, served: &Served) -> Result<()> {
        self.served.lock().unwrap().push(served.clone());
        Ok(())
    }

    fn connects<'a>(&'a self, unit: &'a StorageUnit, _: &'a [String]) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let unit = unit.name.value.clone();
            if self.silent.lock().unwrap().contains(&unit) {
                let message = "no answer".to_owned();
                return Err(Error::new(ErrorKind::Unavailable { unit, message }));
            }
            Ok(())
        })
    }

    fn lease(&self, lease: Option<Lease>) {
        self.leases.lock().unwrap().push(lease);
    }

    fn tables<'a>(&'a self, _: &'a Database) -> BoxFuture<'a, Result<Vec<Found>>> {
        Box::pin(async move { Ok(self.tables.lock().unwrap().clone()) })
    }

    fn rows<'a>(&'a self, _: &'a Database, _: &'a Found) -> BoxFuture<'a, Result<usize>> {
        Box::pin(async { Ok(0) })
    }

    fn misplaced<'a>(
        &'a self,
        _: &'a Database,
        _: &'a str,
        _: &'a Found,
    ) -> BoxFuture<'a, Result<Option<String>>> {
        Box::pin(async { Ok(None) })
    }

    fn differ<'a>(
        &'a self,
        _: &'a Database,
        _: &'a [Found],
    ) -> BoxFuture<'a, Result<Option<String>>> {
        Box::pin(async { Ok(None) })
    }

    fn unsettled<'a>(&'a self, _: &'a Database, units: &'a [String]) -> BoxFuture<'a, Unsettled> {
        Box::pin(async move {
            let all = self.doubts.lock().unwrap().clone();
            let own = all.into_iter().filter(|(_, unit)| units.contains(unit));
            Unsettled { transactions: own.collect(), silent: Vec::new() }
        })
    }
}

/// A governor and its house.
pub(crate) struct Seat {
    pub(crate) governor: Governor,
    pub(crate) house: Arc<Quiet>,
}

pub(crate) fn runtime() -> SharedRuntime {
    Tokio::current()
}

impl Seat {
    pub(crate) async fn of_origin(id: &str, origin: Origin, files: Model) -> Result<Self> {
        let house = Arc::new(Quiet::default());
        let lease = Some(Duration::from_secs(9));
        let instance = Instance { version: "1".into(), ..Instance::default() };
        let exchange = Some(std::env::temp_dir());
        let options =
            Options { id: id.into(), instance, origin, files, overwrite: false, lease, exchange };
        let own: Arc<dyn House> = Arc::<Quiet>::clone(&house);
        let governor = Governor::start(options, own, runtime()).await?;
        Ok(Self { governor, house })
    }

    pub(crate) fn origin(repository: Arc<dyn Repository>) -> Origin {
        let secrets = Secrets::Sealed(Key::new([7; 32]));
        let told = ("Embedded".to_owned(), Vec::new());
        Origin::Repository { repository, told, is_shared: true, is_trusted: false, secrets }
    }

    pub(crate) async fn at(id: &str, repository: Arc<dyn Repository>) -> Self {
        Self::of_origin(id, Self::origin(repository), Model::default()).await.unwrap()
    }

    pub(crate) async fn run(&self, database: &str, text: &str) -> Result<Answer> {
        self.governor.carry_out(&administrator(database), Order::Statement(text)).await
    }

    /// The rows of an answer, cells parted by a bar.
    pub(crate) async fn rows(&self, database: &str, text: &str) -> Vec<String> {
        match self.run(database, text).await.unwrap() {
            Answer::Rows { rows, .. } => rows
                .into_iter()
                .map(|row| {
                    let cells: Vec<String> =
                        row.into_iter().map(|cell| cell.unwrap_or_default()).collect();
                    cells.join("|")
                })
                .collect(),
            other => panic!("no rows but {other:?}"),
        }
    }

    pub(crate) fn checksum(&self) -> String {
        self.governor.model().checksum()
    }

    /// Waits until it serves a configuration of which this holds.
    pub(crate) async fn until(&self, holds: impl Fn(&Model) -> bool) {
        let wait = async {
            while !holds(&self.governor.model()) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), wait).await.expect("it never comes");
    }
}

pub(crate) fn administrator(database: &str) -> Caller {
    Caller {
        user: "root".into(),
        database: (!database.is_empty()).then(|| database.to_owned()),
        is_administrator: true,
        family: "mysql",
        ..Caller::default()
    }
}

/// What an error says to a client: its number and its text.
pub(crate) fn told(error: &Error) -> (u32, String) {
    match error.kind() {
        ErrorKind::Server(server) => (server.number, server.message.clone()),
        other => (0, other.to_string()),
    }
}

pub(crate) const UNIT: &str =
    "REGISTER STORAGE UNIT ds_0(HOST=db1, PORT=3306, DB=shop, USER=me, PASSWORD='pw')";
