//! Real servers by their ports, databases of the test's own, and a connection that fails where it is told to.
#![allow(dead_code, reason = "each test program uses a part")]

pub(crate) mod faulty;

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pando_base::{Bounds, Branch, Call, Concern, Plan, Reply, Table, TableName, Undone, Unit};
use pando_kernel::dialect::Dialect;
use pando_kernel::runtime::{Address, BoxFuture, Runtime, SharedRuntime, Stream};
use pando_kernel::{Columns, Connector, Error, Event, Execution, Result, Value};
use pando_mysql::MySqlConnector;
use pando_pool::{Connection, Options, Pool};
use pando_postgres::PostgresConnector;

use faulty::{Faulty, Plot};

/// Who is told of waits and keeps it for himself.
struct Silent;

impl pando_base::Waiting for Silent {
    fn begins(&self, _holder: &str) {}

    fn ends(&self, _holder: &str) {}
}

#[derive(Debug)]
pub(crate) struct Tokio;

impl Runtime for Tokio {
    fn connect<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let Address::Tcp(host, port) = address else {
                return Err(io::ErrorKind::Unsupported.into());
            };
            let stream = tokio::net::TcpStream::connect((host.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(stream) as Box<dyn Stream>)
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        tokio::spawn(task);
    }
}

/// Runs a test on one thread, for at most three minutes.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let limit = Duration::from_secs(180);
    runtime.block_on(async { tokio::time::timeout(limit, test).await }).unwrap();
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Postgres,
    MySql,
}

/// A database of its own on a real server, which is dropped with it.
pub(crate) struct Server {
    pub(crate) family: Family,
    pub(crate) name: &'static str,
    pub(crate) pool: Pool,
    pub(crate) plot: Plot,
    pub(crate) dialect: Arc<dyn Dialect>,
    port: u16,
    database: String,
}

const SERVERS: [(&str, Family); 3] = [
    ("PG1_PORT", Family::Postgres),
    ("MARIADB1_PORT", Family::MySql),
    ("MYSQL1_PORT", Family::MySql),
];

/// Every server that the environment names, each with a fresh database.
pub(crate) async fn servers() -> Vec<Server> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let mut found = Vec::new();
    for (name, family) in SERVERS {
        let Some(port) = std::env::var(name).ok().and_then(|port| port.parse().ok()) else {
            println!("skipped: {name} is not set");
            continue;
        };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let database = format!("base_{}_{number}", std::process::id());
        let admin = connector(family, port, "test");
        execute(&admin, &[&format!("CREATE DATABASE {database}")]).await;
        let plot = Plot::default();
        let inner = connector(family, port, &database);
        let dialect = inner.dialect();
        let faulty: Arc<dyn Connector> = Arc::new(Faulty { inner, plot: plot.clone() });
        let options = Options { min: 0, max: 8, ..Options::default() };
        let pool = Pool::new("ds_0", faulty, runtime(), options);
        found.push(Server { family, name, pool, plot, dialect, port, database });
    }
    found
}

pub(crate) fn runtime() -> SharedRuntime {
    Arc::new(Tokio)
}

fn connector(family: Family, port: u16, database: &str) -> Arc<dyn Connector> {
    let address = Address::Tcp("127.0.0.1".into(), port);
    match family {
        Family::Postgres => {
            let options = pando_postgres::Options::new("ds_0", address, "test", "test", database);
            Arc::new(PostgresConnector::new(options))
        }
        Family::MySql => {
            let mut settings = pando_mysql::Options::new("ds_0", address);
            settings.user = "test".into();
            settings.password = "test".into();
            settings.database = database.into();
            Arc::new(MySqlConnector::new(settings))
        }
    }
}

async fn execute(connector: &Arc<dyn Connector>, statements: &[&str]) {
    let mut backend = connector.connect(&runtime()).await.unwrap();
    for sql in statements {
        backend.start(Execution::Text((*sql).into())).unwrap();
        while !matches!(poll_fn(|cx| backend.poll_event(cx)).await.unwrap(), Event::Done) {}
    }
}

/// All rows of a reply, decoded.
pub(crate) async fn ask(connection: &mut Connection, sql: &str) -> Result<Vec<Vec<Value>>> {
    connection.start(Execution::Text(sql.into()))?;
    let (mut columns, mut all) = (None::<Columns>, Vec::new());
    loop {
        match poll_fn(|cx| connection.poll_event(cx)).await? {
            Event::Done => return Ok(all),
            Event::Columns(found) => columns = Some(found),
            Event::Rows(rows) => decode(columns.as_ref().unwrap(), &rows, &mut all),
            _ => {}
        }
    }
}

pub(crate) fn decode(columns: &Columns, rows: &pando_kernel::Rows, all: &mut Vec<Vec<Value>>) {
    let mut fields = Vec::new();
    rows.for_each(columns, |body| {
        columns.codec.fields(&columns.list, body, &mut fields)?;
        let row: Result<Vec<Value>> = columns
            .list
            .iter()
            .zip(&fields)
            .map(|(column, field)| columns.codec.value(column, field.clone().map(|at| &body[at])))
            .collect();
        all.push(row?);
        Ok(())
    })
    .unwrap();
}

impl Server {
    /// Gives its pool another name; nothing has been done on it yet.
    pub(crate) fn rename(&mut self, unit: &str) {
        let inner = connector(self.family, self.port, &self.database);
        let faulty: Arc<dyn Connector> = Arc::new(Faulty { inner, plot: self.plot.clone() });
        let options = Options { min: 0, max: 8, ..Options::default() };
        self.pool = Pool::new(unit, faulty, runtime(), options);
    }

    /// A unit of the same kind whose server is away.
    pub(crate) fn away(&self, unit: &str) -> Pool {
        Pool::new(unit, connector(self.family, 1, &self.database), runtime(), Options::default())
    }

    pub(crate) async fn drop_database(self) {
        self.pool.close();
        drop(self.pool);
        let force = if self.family == Family::Postgres { " WITH (FORCE)" } else { "" };
        let admin = connector(self.family, self.port, "test");
        execute(&admin, &[&format!("DROP DATABASE {}{force}", self.database)]).await;
    }

    /// Runs statements straight on the server.
    pub(crate) async fn direct(&self, statements: &[&str]) {
        let mut connection = self.pool.take().await.unwrap();
        for sql in statements {
            ask(&mut connection, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
    }

    pub(crate) async fn rows(&self, sql: &str) -> Vec<Vec<Value>> {
        let mut connection = self.pool.take().await.unwrap();
        ask(&mut connection, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Runs a statement in a global transaction.
    pub(crate) async fn run(&self, global: &str, statement: u64, sql: &str) -> Result<Reply> {
        self.call(global, statement, (sql, &Call::default())).await
    }

    pub(crate) async fn call(
        &self,
        global: &str,
        statement: u64,
        (sql, call): (&str, &Call),
    ) -> Result<Reply> {
        let mut connection = self.pool.take().await?;
        let result = self.call_on(&mut connection, (global, statement), (sql, call)).await;
        if !connection.condition().usable {
            connection.discard();
        }
        result
    }

    pub(crate) async fn call_on(
        &self,
        connection: &mut Connection,
        (global, statement): (&str, u64),
        (sql, call): (&str, &Call),
    ) -> Result<Reply> {
        let dialect = self.dialect.as_ref();
        let stmt = pando_sql::parse(sql, dialect.syntax())
            .map_err(|error| Error::internal(error.to_string()))?;
        let mut unit = Unit::of(connection, dialect)?;
        let name = match pando_base::concern(&stmt)? {
            Concern::Nothing => return Err(Error::internal("nothing to run")),
            Concern::Changes(name) | Concern::Locks(name) => name,
        };
        let table = Arc::new(unit.table(&name).await?);
        let plan = Plan::of(&stmt, &table, &call.parameters, dialect)?;
        let runtime = runtime();
        let bounds = Bounds {
            runtime: runtime.as_ref(),
            lock_wait: Duration::from_secs(2),
            is_cancelled: &|| false,
            waiting: &Silent,
            image_bytes: 64 << 20,
        };
        let remaining = Duration::from_secs(60);
        let branch = Branch { global, statement, decider: "ds_0", remaining };
        unit.run(&plan, call, &branch, &bounds).await
    }

    pub(crate) async fn table(&self, name: &str) -> Result<Table> {
        let mut connection = self.pool.take().await?;
        let name = TableName { schema: None, name: name.into() };
        Unit::of(&mut connection, self.dialect.as_ref())?.table(&name).await
    }

    pub(crate) async fn rollback(&self, global: &str, from: u64) -> Result<Undone> {
        let mut connection = self.pool.take().await?;
        let undone = Unit::of(&mut connection, self.dialect.as_ref())?.rollback(global, from).await;
        if !connection.condition().usable {
            connection.discard();
        }
        undone
    }

    pub(crate) async fn commit(&self, global: &str) -> Result<()> {
        let mut connection = self.pool.take().await?;
        let mut unit = Unit::of(&mut connection, self.dialect.as_ref())?;
        let done = match unit.release(global).await {
            Ok(()) => unit.clean(&[global]).await,
            Err(error) => Err(error),
        };
        if !connection.condition().usable {
            connection.discard();
        }
        done
    }

    pub(crate) async fn conclude(&self, global: &str, within: &[String]) -> Result<()> {
        let mut connection = self.pool.take().await?;
        let mut unit = Unit::of(&mut connection, self.dialect.as_ref())?;
        let done = unit.conclude(global, within).await;
        if !connection.condition().usable {
            connection.discard();
        }
        done
    }

    pub(crate) fn undo_table(&self) -> &'static str {
        self.dialect.undo().unwrap().tables().undo
    }

    pub(crate) fn lock_table(&self) -> &'static str {
        self.dialect.undo().unwrap().tables().lock
    }

    /// Makes Pando's own tables.
    pub(crate) async fn prepare(&self) {
        let mut connection = self.pool.take().await.unwrap();
        Unit::of(&mut connection, self.dialect.as_ref()).unwrap().prepare().await.unwrap();
    }

    /// How many rows the undo log and the lock table have.
    pub(crate) async fn left(&self) -> (usize, usize) {
        let undo = self.rows(&format!("SELECT global_id FROM {}", self.undo_table())).await;
        let lock = self.rows(&format!("SELECT key_text FROM {}", self.lock_table())).await;
        (undo.len(), lock.len())
    }
}
