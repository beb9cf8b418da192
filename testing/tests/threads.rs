//! The engine needs no runtime: sessions over an in-memory byte channel on plain threads, sockets polled by poll(2), no tokio reactor in
//! the process; two threads share one pool, and a connection opened under one serves a session polled by the other.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, and says what it skips"
)]

use std::sync::Arc;
use std::time::Duration;

use pando_engine::{Engine, LiveDatabase, Settings, Snapshot};
use pando_kernel::backend::{Connector, Execution};
use pando_kernel::event::Event;
use pando_kernel::runtime::{Address, BoxFuture, Runtime, SharedRuntime, Stream};
use pando_kernel::session::{Credential, Doorway, Key, Login, Settings as DoorSettings};
use pando_kernel::{Channel, Result, Value};
use pando_pool::{Options, Pool};
use pando_testing::poll::{Threads, block_on};

/// What the doors need, over one engine.
struct House {
    engine: Engine,
    runtime: SharedRuntime,
}

impl Doorway for House {
    type Session = pando_engine::Session;

    fn credential(&self, _: &str, _: &str, _: &Channel) -> Credential {
        Credential::of_password("secret", "")
    }

    fn open(&self, login: Login) -> Result<Self::Session> {
        self.engine.open(login)
    }

    fn cancel(&self, key: Key) {
        self.engine.cancel(key);
    }

    fn settings(&self) -> DoorSettings {
        DoorSettings {
            tls: None,
            login_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(600),
            max_message: 64 << 20,
            flush_bytes: 16 << 10,
        }
    }

    fn runtime(&self) -> SharedRuntime {
        Arc::clone(&self.runtime)
    }

    fn stopping(&self, _: Key) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }
}

/// A seam whose `connect` leads into a door, over a byte channel in memory.
struct IntoDoor<F>(F);

impl<F> std::fmt::Debug for IntoDoor<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("IntoDoor")
    }
}

impl<F: Fn(Box<dyn Stream>) + Send + Sync> Runtime for IntoDoor<F> {
    fn connect<'a>(&'a self, _: &'a Address) -> BoxFuture<'a, std::io::Result<Box<dyn Stream>>> {
        let (client, server) = tokio::io::duplex(64 << 10);
        (self.0)(Box::new(server));
        Box::pin(async move { Ok(Box::new(client) as Box<dyn Stream>) })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Threads.sleep(duration)
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        Threads.spawn(task);
    }
}

/// Rows of one statement, through a client connection.
async fn query(client: &mut dyn pando_kernel::Backend, sql: &str) -> Vec<Vec<Value>> {
    client.start(Execution::Text(sql.into())).expect("started");
    let mut columns = None;
    let mut rows = Vec::new();
    loop {
        match std::future::poll_fn(|cx| client.poll_event(cx)).await.expect(sql) {
            Event::Columns(found) => columns = Some(found),
            Event::Rows(chunk) => {
                let columns = columns.as_ref().expect("columns come first");
                let mut fields = Vec::new();
                chunk
                    .for_each(columns, |body| {
                        columns.codec.fields(&columns.list, body, &mut fields)?;
                        let row = columns.list.iter().zip(&fields).map(|(column, field)| {
                            let raw = field.clone().map(|range| &body[range]);
                            columns.codec.value(column, raw)
                        });
                        rows.push(row.collect::<Result<Vec<Value>>>()?);
                        Ok(())
                    })
                    .expect("rows");
            }
            Event::Done => return rows,
            _ => {}
        }
    }
}

/// An engine over two storage units of one server, sharded by `id`.
fn engine(folder: &std::path::Path, urls: [&str; 2], runtime: &SharedRuntime) -> Engine {
    let text = format!(
        "databaseName: shop
dataSources:
  ds_0: {{url: \"{}\", username: test, password: test}}
  ds_1: {{url: \"{}\", username: test, password: test}}
rules:
- !SHARDING
  tables:
    threads_t:
      actualDataNodes: ds_${{0..1}}.threads_t_${{0..1}}
      databaseStrategy: {{standard: {{shardingColumn: id, shardingAlgorithmName: db}}}}
      tableStrategy: {{standard: {{shardingColumn: id, shardingAlgorithmName: tb}}}}
  shardingAlgorithms:
    db: {{type: INLINE, props: {{algorithm-expression: \"ds_${{id % 2}}\"}}}}
    tb: {{type: INLINE, props: {{algorithm-expression: \"threads_t_${{id.intdiv(2) % 2}}\"}}}}
",
        urls[0], urls[1]
    );
    std::fs::write(folder.join("database-shop.yaml"), text).expect("a file");
    let configuration = pando_config::load(folder).expect("it loads");
    let built = pando_rooms::build(&configuration.databases[0], folder).expect("it builds");
    let pools = built
        .units
        .into_iter()
        .map(|unit| {
            let options = Options { min: 0, max: 4, ..Options::default() };
            Pool::new(unit.name, unit.connector, Arc::clone(runtime), options)
        })
        .collect();
    let engine = Engine::new(Arc::clone(runtime));
    let live = Arc::new(LiveDatabase::new(built.database, pools));
    engine.publish(Snapshot { databases: vec![live], settings: Settings::default() });
    engine
}

const ROWS: i64 = 40;

/// What each thread does: its own rows in, all rows out.
async fn work(connector: &dyn Connector, runtime: SharedRuntime, thread: i64) {
    let mut client = connector.connect(&runtime).await.expect("logged in");
    for i in 0..ROWS {
        let id = i * 2 + thread;
        let sql = format!("INSERT INTO threads_t (id, v) VALUES ({id}, {thread})");
        query(client.as_mut(), &sql).await;
    }
    query(client.as_mut(), "BEGIN").await;
    let sql = format!("UPDATE threads_t SET v = v + 10 WHERE v = {thread}");
    query(client.as_mut(), &sql).await;
    query(client.as_mut(), "COMMIT").await;
    let sql = format!("SELECT id FROM threads_t WHERE v = {} ORDER BY id", thread + 10);
    let rows = query(client.as_mut(), &sql).await;
    let expected: Vec<Vec<Value>> = (0..ROWS).map(|i| vec![Value::Int(i * 2 + thread)]).collect();
    assert_eq!(rows, expected);
}

fn no_reactor() {
    let threads = std::fs::read_dir("/proc/self/task").expect("the threads of this process");
    for thread in threads.flatten() {
        let name = std::fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
        assert!(!name.starts_with("tokio"), "a thread of a tokio runtime runs: {name}");
    }
}

/// Two threads, each with its own client and door, share the pools.
fn share(connector: Arc<dyn Connector>, door: SharedRuntime) {
    block_on(async {
        let mut client = connector.connect(&door).await.expect("logged in");
        query(client.as_mut(), "DROP TABLE IF EXISTS threads_t").await;
        let sql = "CREATE TABLE threads_t (id BIGINT PRIMARY KEY, v INT)";
        query(client.as_mut(), sql).await;
    });
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (connector, door) = (Arc::clone(&connector), Arc::clone(&door));
            scope.spawn(move || block_on(work(connector.as_ref(), door, thread)));
        }
    });
    block_on(async {
        let mut client = connector.connect(&door).await.expect("logged in");
        let count = query(client.as_mut(), "SELECT COUNT(*) FROM threads_t").await;
        assert_eq!(count, [[Value::Int(ROWS * 2)]]);
        query(client.as_mut(), "DROP TABLE threads_t").await;
    });
    no_reactor();
}

fn port(name: &str) -> Option<u16> {
    let port = std::env::var(name).ok().and_then(|port| port.parse().ok());
    if port.is_none() {
        eprintln!("skipped: {name} is not set");
    }
    port
}

#[test]
fn mysql_sessions_run_on_plain_threads() {
    let Some(port) = port("MARIADB1_PORT") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let runtime: SharedRuntime = Arc::new(Threads);
    let urls = [0, 1].map(|n| format!("jdbc:mysql://127.0.0.1:{port}/ds_{n}"));
    let engine = engine(folder.path(), [&urls[0], &urls[1]], &runtime);
    let door = pando_mysql::Door::new(Arc::new(House { engine, runtime }));
    let door = Arc::new(door);
    let into = IntoDoor(move |stream| {
        let door = Arc::clone(&door);
        std::thread::spawn(move || block_on(door.serve(stream, "memory".into())));
    });
    let address = Address::Tcp("memory".into(), 0);
    let mut settings = pando_mysql::Options::new("client", address);
    settings.user = "test".into();
    settings.password = "secret".into();
    settings.database = "shop".into();
    share(Arc::new(pando_mysql::MySqlConnector::new(settings)), Arc::new(into));
}

#[test]
fn postgres_sessions_run_on_plain_threads() {
    let Some(port) = port("PG1_PORT") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let runtime: SharedRuntime = Arc::new(Threads);
    let urls = [0, 1].map(|n| format!("jdbc:postgresql://127.0.0.1:{port}/ds_{n}"));
    let engine = engine(folder.path(), [&urls[0], &urls[1]], &runtime);
    let door = Arc::new(pando_postgres::frontend::Door::new(Arc::new(House { engine, runtime })));
    let into = IntoDoor(move |stream| {
        let door = Arc::clone(&door);
        std::thread::spawn(move || block_on(door.serve(stream, "memory".into())));
    });
    let address = Address::Tcp("memory".into(), 0);
    let options = pando_postgres::Options::new("client", address, "test", "secret", "shop");
    share(Arc::new(pando_postgres::PostgresConnector::new(options)), Arc::new(into));
}
