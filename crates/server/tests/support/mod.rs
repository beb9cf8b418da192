//! A server on embedded storage units, and a client for each door.

use std::future::poll_fn;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pando_kernel::runtime::{Address, SharedRuntime, TlsMode};
use pando_kernel::{Backend, Columns, Connector, ErrorKind, Event, Execution, Result, Value};
use pando_server::{Listen, Options, Server};
use tempfile::TempDir;

pub(crate) const GLOBAL: &str = "
authority:
  users:
  - {user: root@%, password: root, admin: true}
  - {user: app@%, password: secret}
  privilege: {type: DATABASE_PERMITTED, props: {user-database-mappings: 'root@%=*, app@%=shop'}}
";

pub(crate) const SHOP: &str = "
databaseName: shop
dataSources:
  ds_0: {url: 'jdbc:sqlite:ds_0.db'}
  ds_1: {url: 'jdbc:sqlite:ds_1.db'}
rules:
- !SHARDING
  tables:
    t_order:
      actualDataNodes: ds_${0..1}.t_order_${0..1}
      databaseStrategy: {standard: {shardingColumn: user_id, shardingAlgorithmName: by_user}}
      tableStrategy: {standard: {shardingColumn: order_id, shardingAlgorithmName: by_order}}
  shardingAlgorithms:
    by_user: {type: INLINE, props: {algorithm-expression: 'ds_${user_id % 2}'}}
    by_order: {type: INLINE, props: {algorithm-expression: 't_order_${order_id % 2}'}}
- !BROADCAST
  tables: [t_region]
";

pub(crate) const BANK: &str = "
databaseName: bank
dataSources:
  ds_0: {url: 'jdbc:sqlite:bank.db'}
";

/// A running server with its files.
pub(crate) struct Running {
    pub(crate) server: Server,
    pub(crate) folder: TempDir,
}

pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| write(folder.path(), name, text));
    folder
}

pub(crate) fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

pub(crate) fn options(folder: &Path) -> Options {
    Options {
        data: folder.into(),
        mysql: Listen::At("127.0.0.1:0".into()),
        postgres: Listen::At("127.0.0.1:0".into()),
        drain: Duration::from_secs(10),
        ..Options::new(folder)
    }
}

impl Running {
    pub(crate) async fn start(files: &[(&str, &str)]) -> Self {
        let folder = folder(files);
        let server = Server::start(options(folder.path())).await.unwrap();
        Self { server, folder }
    }

    pub(crate) async fn shop() -> Self {
        let files =
            [("global.yaml", GLOBAL), ("database-shop.yaml", SHOP), ("database-bank.yaml", BANK)];
        Self::start(&files).await
    }

    pub(crate) fn mysql(&self) -> pando_mysql::Options {
        let port = self.server.addresses().mysql.unwrap().port();
        let address = Address::Tcp("127.0.0.1".into(), port);
        let mut settings = pando_mysql::Options::new("pando", address);
        (settings.user, settings.password) = ("root".into(), "root".into());
        settings.database = "shop".into();
        settings
    }

    pub(crate) fn postgres(&self) -> pando_postgres::Options {
        let port = self.server.addresses().postgres.unwrap().port();
        let address = Address::Tcp("127.0.0.1".into(), port);
        pando_postgres::Options::new("pando", address, "root", "root", "shop")
    }

    pub(crate) async fn by_mysql(&self, settings: pando_mysql::Options) -> Result<Client> {
        let connector = pando_mysql::MySqlConnector::new(settings);
        Client::connect(Arc::new(connector), self.server.runtime()).await
    }

    pub(crate) async fn by_postgres(&self, options: pando_postgres::Options) -> Result<Client> {
        let connector = pando_postgres::PostgresConnector::new(options);
        Client::connect(Arc::new(connector), self.server.runtime()).await
    }

    /// A client at each door.
    pub(crate) async fn both(&self) -> [Client; 2] {
        let mysql = self.by_mysql(self.mysql()).await.unwrap();
        [mysql, self.by_postgres(self.postgres()).await.unwrap()]
    }
}

/// One connection to a door.
pub(crate) struct Client {
    backend: Box<dyn Backend>,
    connector: Arc<dyn Connector>,
    runtime: SharedRuntime,
}

impl Client {
    async fn connect(connector: Arc<dyn Connector>, runtime: &SharedRuntime) -> Result<Self> {
        let backend = connector.connect(runtime).await?;
        Ok(Self { backend, connector, runtime: Arc::clone(runtime) })
    }

    /// All rows as one line per row, columns parted by blanks.
    pub(crate) async fn ask(&mut self, sql: &str) -> Result<Vec<String>> {
        self.backend.start(Execution::Text(sql.into()))?;
        let mut rows = Vec::new();
        let mut columns: Option<Columns> = None;
        loop {
            match poll_fn(|cx| self.backend.poll_event(cx)).await? {
                Event::Columns(found) => columns = Some(found),
                Event::Rows(found) => {
                    let columns = columns.as_ref().unwrap();
                    found.for_each(columns, |body| {
                        rows.push(line(columns, body)?);
                        Ok(())
                    })?;
                }
                Event::Done => return Ok(rows),
                _ => {}
            }
        }
    }

    /// Asks the server again and again to cancel what this connection runs; never ends: the first request may come before the statement.
    pub(crate) fn cancels(&self) -> impl Future<Output = ()> + 'static {
        let (connector, runtime) = (Arc::clone(&self.connector), Arc::clone(&self.runtime));
        let token = self.backend.token();
        async move {
            loop {
                connector.cancel(&runtime, token).await.unwrap();
                runtime.sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

fn line(columns: &Columns, body: &[u8]) -> Result<String> {
    let mut fields = Vec::new();
    columns.codec.fields(&columns.list, body, &mut fields)?;
    let texts: Result<Vec<String>> = columns
        .list
        .iter()
        .zip(fields)
        .map(|(column, field)| {
            let value = columns.codec.value(column, field.map(|range| &body[range]))?;
            Ok(match value {
                Value::Text(text) => text,
                Value::Int(number) => number.to_string(),
                Value::UInt(number) => number.to_string(),
                Value::Decimal(number) => number.to_plain_string(),
                other => format!("{other:?}"),
            })
        })
        .collect();
    Ok(texts?.join(" "))
}

/// The vendor's error number and SQLSTATE.
pub(crate) fn code(error: &pando_kernel::Error) -> (u32, String) {
    match error.kind() {
        ErrorKind::Server(server) => (server.number, server.sqlstate.clone()),
        other => (0, other.to_string()),
    }
}

/// How the connection is secured, trusting the test's own certificate.
pub(crate) const SECURED: [TlsMode; 4] =
    [TlsMode::Prefer, TlsMode::Require, TlsMode::VerifyCa, TlsMode::VerifyFull];
