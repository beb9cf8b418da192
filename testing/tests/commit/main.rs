//! No COMMIT ends with anything but a commit that is known, or an error: each step of each way to commit, with the
//! connection of a storage unit lost there,
//! on real servers of three families, in the three types of transactions, by a session that knows its units and by
//! one that has just started.

#![allow(
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, and says what it skips"
)]

mod losing;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pando_engine::{Engine, LiveDatabase, Session, Settings, Snapshot};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::request::{Execute, Pipeline, Request};
use pando_kernel::route::UnitName;
use pando_kernel::runtime::SharedRuntime;
use pando_kernel::session::{Login, Session as _};
use pando_kernel::{Connector, TransactionType, Value};
use pando_pool::{Options, Pool};
use pando_testing::poll::{Threads, block_on};
use pando_transaction::xa::Way as To;
use pando_transaction::{Aside, Coordinator, Recovery};

use losing::{Losing, Loss, Plot};

/// Steps that any way to commit has at most, on all units together.
const MOST: usize = 80;

/// A family of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Postgres,
    MariaDb,
    MySql,
}

/// What ends the transaction that has inserted two rows, or is all of it.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// A text, after the rows have been inserted by these.
    Text(&'static [&'static str], &'static str),
    /// A prepared COMMIT.
    Prepared,
    /// A pipeline's Sync.
    Sync,
}

const INSERTS: &[&str] =
    &["BEGIN", "INSERT INTO commit_t VALUES (ID0, 1)", "INSERT INTO commit_t VALUES (ID1, 1)"];
const BOTH: &str = "INSERT INTO commit_t VALUES (ID0, 1), (ID1, 1)";

impl Family {
    fn port(self) -> Option<String> {
        let name = match self {
            Self::Postgres => "PG1_PORT",
            Self::MariaDb => "MARIADB1_PORT",
            Self::MySql => "MYSQL1_PORT",
        };
        std::env::var(name).ok()
    }

    fn is_postgres(self) -> bool {
        self == Self::Postgres
    }

    fn url(self, port: &str, unit: usize) -> String {
        match self {
            Self::Postgres => format!("jdbc:postgresql://127.0.0.1:{port}/ds_{unit}"),
            Self::MariaDb | Self::MySql => format!(
                "jdbc:mysql://127.0.0.1:{port}/ds_{unit}?useSSL=false&allowPublicKeyRetrieval=true"
            ),
        }
    }

    /// Every way in which its clients commit.
    fn ways(self, kind: TransactionType) -> Vec<Way> {
        let mut ways = vec![
            Way::Text(INSERTS, "COMMIT"),
            Way::Text(INSERTS, "COMMIT AND CHAIN"),
            Way::Prepared,
            Way::Text(&[], BOTH),
        ];
        if self.is_postgres() {
            ways.push(Way::Sync);
            ways.push(Way::Text(
                &[],
                "INSERT INTO commit_t VALUES (ID0, 1); INSERT INTO commit_t VALUES (ID1, 1)",
            ));
        } else {
            ways.push(Way::Text(INSERTS, "BEGIN"));
            const OFF: &[&str] = &["SET autocommit = 0", BOTH];
            ways.push(Way::Text(OFF, "SET autocommit = 1"));
            if kind != TransactionType::Base {
                ways.push(Way::Text(INSERTS, "CREATE TABLE IF NOT EXISTS commit_t (id INT)"));
            }
        }
        if kind != TransactionType::Base {
            ways.push(Way::Text(&[], "INSERT INTO commit_t SELECT id + 100000, v FROM commit_t WHERE id IN (ID0, ID1) AND v = 2"));
        }
        ways
    }
}

/// Makes an engine that loses connections, whose transactions are of this type.
type Opening = dyn Fn(&Plot, TransactionType) -> Engine;

/// Two storage units of one server, and how to get at them past the engine.
struct Shop {
    family: Family,
    ways: Vec<Arc<dyn Connector>>,
    engine: Box<Opening>,
    runtime: SharedRuntime,
    next: i64,
}

fn configuration(folder: &Path, family: Family, port: &str) -> pando_config::Configuration {
    let text = format!(
        "databaseName: shop
dataSources:
  ds_0: {{url: \"{}\", username: test, password: test}}
  ds_1: {{url: \"{}\", username: test, password: test}}
rules:
- !SHARDING
  tables:
    commit_t:
      actualDataNodes: ds_${{0..1}}.commit_t
      databaseStrategy: {{standard: {{shardingColumn: id, shardingAlgorithmName: db}}}}
  shardingAlgorithms:
    db: {{type: INLINE, props: {{algorithm-expression: \"ds_${{id % 2}}\"}}}}
",
        family.url(port, 0),
        family.url(port, 1)
    );
    std::fs::write(folder.join("database-shop.yaml"), text).unwrap();
    pando_config::load(folder).unwrap()
}

impl Shop {
    fn of(family: Family) -> Option<Self> {
        let Some(port) = family.port() else {
            eprintln!("skipped: no server of {family:?}");
            return None;
        };
        let runtime: SharedRuntime = Arc::new(Threads);
        let folder = tempfile::tempdir().unwrap();
        let configuration = configuration(folder.path(), family, &port);
        let built = pando_rooms::build(&configuration.databases[0], folder.path()).unwrap();
        let ways = built.units.into_iter().map(|unit| unit.connector).collect();
        let own = Arc::clone(&runtime);
        let engine = move |plot: &Plot, kind: TransactionType| {
            let built = pando_rooms::build(&configuration.databases[0], folder.path()).unwrap();
            let pools = built.units.into_iter().map(|unit| {
                let losing = Losing { inner: unit.connector, plot: plot.clone() };
                let options = Options { min: 0, max: 4, ..Options::default() };
                Pool::new(unit.name, Arc::new(losing), Arc::clone(&own), options)
            });
            let live = Arc::new(LiveDatabase::new(built.database, pools.collect()));
            let engine = Engine::new(Arc::clone(&own));
            let settings = Settings { transaction_type: kind, ..Settings::default() };
            engine.publish(Snapshot { databases: vec![live], settings });
            engine
        };
        Some(Self { family, ways, engine: Box::new(engine), runtime, next: 2 })
    }

    /// Ends what is in doubt, as another instance would.
    async fn recover(&self) {
        let names = ["ds_0", "ds_1"].into_iter().map(UnitName::from);
        let ways: Vec<To> = names.zip(self.ways.iter().cloned()).collect();
        let coordinator = Arc::new(Coordinator::new(Arc::clone(&self.runtime), "another"));
        let mut recovery = Recovery::after(coordinator, Duration::ZERO);
        while !recovery.doubts(&ways).await.is_empty() {
            recovery.round(&ways).await;
        }
    }

    /// What is really there, past the engine. Both units' answers, one after the other.
    async fn ask(&self, sql: &str) -> Vec<Value> {
        let mut found = Vec::new();
        for way in &self.ways {
            let mut aside = Aside::open(Arc::clone(way), Arc::clone(&self.runtime)).await.unwrap();
            found.extend(aside.rows(sql).await.unwrap_or_else(|e| panic!("{sql}: {e}")).concat());
        }
        found
    }
}

/// A client of an engine.
struct Client {
    session: Session,
}

impl Client {
    fn of(engine: &Engine) -> Self {
        let login = Login { database: Some("shop".into()), ..Login::default() };
        Self { session: engine.open(login).unwrap() }
    }

    /// The tags of what was done.
    async fn request(&mut self, request: Request) -> Result<Vec<String>> {
        self.session.run(request).await?;
        let mut tags = Vec::new();
        while let Some(event) = self.session.next().await? {
            if let Event::Complete(done) = event {
                tags.push(done.tag.to_string());
            }
        }
        Ok(tags)
    }

    async fn query(&mut self, sql: &str) -> Result<Vec<String>> {
        self.request(Request::Query(sql.into())).await
    }

    async fn execute(&mut self, sql: &str, pipeline: Pipeline) -> Result<Vec<String>> {
        let prepared = self.session.prepare(sql.into(), Vec::new()).await?;
        self.request(Request::Execute(Execute {
            prepared,
            parameters: Vec::new(),
            result_formats: Vec::new(),
            limit: None,
            cursor: None,
            pipeline,
        }))
        .await
    }

    /// Does all up to what commits.
    async fn work(&mut self, way: Way, ids: [i64; 2]) {
        let texts = match way {
            Way::Text(texts, _) => texts,
            Way::Prepared => INSERTS,
            Way::Sync => {
                for id in ["ID0", "ID1"] {
                    let sql = with(&format!("INSERT INTO commit_t VALUES ({id}, 1)"), ids);
                    self.execute(&sql, Pipeline::More).await.unwrap();
                }
                return;
            }
        };
        for text in texts {
            let text = with(text, ids);
            self.query(&text).await.unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }

    async fn commit(&mut self, way: Way, ids: [i64; 2]) -> Result<Vec<String>> {
        match way {
            Way::Text(_, text) => self.query(&with(text, ids)).await,
            Way::Prepared => self.execute("COMMIT", Pipeline::Alone).await,
            Way::Sync => self.request(Request::Sync).await,
        }
    }
}

fn with(text: &str, ids: [i64; 2]) -> String {
    text.replace("ID0", &ids[0].to_string()).replace("ID1", &ids[1].to_string())
}

fn sqlstate(error: &Error) -> &str {
    match error.kind() {
        ErrorKind::Server(server) => &server.sqlstate,
        _ => "",
    }
}

/// One transaction with a loss at one of its commit's steps. Whether the loss has happened.
async fn play(
    shop: &mut Shop,
    (engine, plot): (&Engine, &Plot),
    (kind, way): (TransactionType, Way),
    (step, loss): (usize, Loss),
) -> bool {
    let ids = [shop.next, shop.next + 1];
    shop.next += 2;
    let is_copied = matches!(way, Way::Text([], text) if text.contains("SELECT"));
    if is_copied {
        for (way, id) in shop.ways.iter().zip(ids) {
            let mut aside = Aside::open(Arc::clone(way), Arc::clone(&shop.runtime)).await.unwrap();
            aside.rows(&format!("INSERT INTO commit_t VALUES ({id}, 2)")).await.unwrap();
        }
    }
    let mut client = Client::of(engine);
    client.work(way, ids).await;
    plot.at(step, loss);
    let told = client.commit(way, ids).await;
    let happened = plot.end();
    drop(client);
    let copied = if is_copied { 100_000 } else { 0 };
    let where_are = format!(
        "SELECT COUNT(*) FROM commit_t WHERE id IN ({}, {})",
        ids[0] + copied,
        ids[1] + copied
    );
    let what = format!("{:?} {kind} {way:?}: {loss:?} at {step}, {happened:?}", shop.family);
    match &told {
        Ok(tags) => {
            assert!(!tags.iter().any(|tag| tag == "ROLLBACK"), "{what}: {tags:?}");
            // What is decided is done on every unit, if only by recovery.
            shop.recover().await;
            let rows = shop.ask(&where_are).await;
            assert_eq!(rows, [Value::Int(1), Value::Int(1)], "{what}: {tags:?}");
        }
        Err(error) if sqlstate(error).starts_with("40") && sqlstate(error) != "40003" => {
            shop.recover().await;
            let rows = shop.ask(&where_are).await;
            assert_eq!(rows, [Value::Int(0), Value::Int(0)], "{what}: {error}");
        }
        Err(_) => {}
    }
    happened.is_some()
}

fn play_all(family: Family) {
    let Some(mut shop) = Shop::of(family) else { return };
    block_on(async {
        // A run that was broken off may have left what holds the table.
        shop.recover().await;
        shop.ask("DROP TABLE IF EXISTS commit_t").await;
        shop.ask("CREATE TABLE commit_t (id INT PRIMARY KEY, v INT)").await;
        let plot = Plot::default();
        for kind in [TransactionType::Local, TransactionType::Xa, TransactionType::Base] {
            let warm = (shop.engine)(&plot, kind);
            for way in family.ways(kind) {
                for loss in [Loss::Before, Loss::After, Loss::Seen] {
                    for is_cold in [true, false] {
                        if is_cold && !matches!(way, Way::Text(INSERTS, "COMMIT") | Way::Sync) {
                            // What is asked about the units belongs to them, not to how it is committed.
                            continue;
                        }
                        let mut step = 0;
                        loop {
                            let cold = is_cold.then(|| (shop.engine)(&plot, kind));
                            let engine = cold.as_ref().unwrap_or(&warm);
                            let here = (engine, &plot);
                            if !play(&mut shop, here, (kind, way), (step, loss)).await {
                                break;
                            }
                            step += 1;
                            assert!(step < MOST, "{family:?} {kind} {way:?} has no end");
                        }
                        let least = if loss == Loss::Seen { 0 } else { 1 };
                        assert!(step >= least, "{family:?} {kind} {way:?}: nothing was lost");
                    }
                }
            }
        }
        shop.ask("DROP TABLE commit_t").await;
    });
}

#[test]
fn no_commit_on_postgres_is_told_that_is_not_known() {
    play_all(Family::Postgres);
}

#[test]
fn no_commit_on_mariadb_is_told_that_is_not_known() {
    play_all(Family::MariaDb);
}

#[test]
fn no_commit_on_mysql_is_told_that_is_not_known() {
    play_all(Family::MySql);
}
