//! A database with the room over two shards of a real server, and the same table without it on one.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use pando_engine::{Engine, LiveDatabase, Session, Settings, Snapshot};
use pando_kernel::backend::{Backend, Connector, Execution};
use pando_kernel::error::Result;
use pando_kernel::event::Event;
use pando_kernel::feature::Feature;
use pando_kernel::request::{CursorId, Execute, Parameter, Pipeline, Request};
use pando_kernel::row::Rows;
use pando_kernel::runtime::SharedRuntime;
use pando_kernel::session::{Login, Session as _};
use pando_kernel::{Columns, CopyInput, Format, TransactionType, Value};
use pando_pool::{Options, Pool};
use pando_testing::poll::Threads;
use pando_transaction::Aside;

use crate::turning::{ASIDE, ASKED, Form, LOGIC, OTHERS, STORED, TABLES, Turning};

/// A family of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Postgres,
    MariaDb,
}

pub(crate) const FAMILIES: [Family; 2] = [Family::Postgres, Family::MariaDb];

/// Rows of both tables, as clients mean them.
pub(crate) const ROWS: [(i64, Option<&str>, &str); 6] = [
    (1, Some("ab"), "one"),
    (2, Some("cd"), "two"),
    (3, Some("ef"), "three"),
    (4, None, "four"),
    (5, Some("ab"), "five"),
    (6, Some("gh"), "ab"),
];

impl Family {
    fn port(self) -> Option<String> {
        let name = match self {
            Self::Postgres => "PG1_PORT",
            Self::MariaDb => "MARIADB1_PORT",
        };
        std::env::var(name).ok()
    }

    fn url(self, port: &str, database: &str) -> String {
        match self {
            Self::Postgres => format!("jdbc:postgresql://127.0.0.1:{port}/{database}"),
            Self::MariaDb => format!("jdbc:mysql://127.0.0.1:{port}/{database}?useSSL=false"),
        }
    }

    fn configuration(self, folder: &Path, port: &str) -> pando_config::Configuration {
        let [ds_0, ds_1, aside, straight] =
            ["ds_0", "ds_1", "direct", "test"].map(|name| self.url(port, name));
        let single = match self {
            Self::Postgres => "public.room_s",
            Self::MariaDb => "room_s",
        };
        let text = format!(
            "databaseName: shop
dataSources:
  ds_0: {{url: \"{ds_0}\", username: test, password: test}}
  ds_1: {{url: \"{ds_1}\", username: test, password: test}}
  {ASIDE}: {{url: \"{aside}\", username: test, password: test}}
  straight: {{url: \"{straight}\", username: test, password: test}}
rules:
- !SHARDING
  tables:
    room_t:
      actualDataNodes: ds_${{0..1}}.room_t
      databaseStrategy: {{standard: {{shardingColumn: id, shardingAlgorithmName: db}}}}
    room_u:
      actualDataNodes: ds_${{0..1}}.room_u
      databaseStrategy: {{standard: {{shardingColumn: id, shardingAlgorithmName: db}}}}
    room_k:
      actualDataNodes: ds_${{0..1}}.room_k
      databaseStrategy: {{standard: {{shardingColumn: {LOGIC}, shardingAlgorithmName: hash}}}}
  bindingTables: [\"room_t, room_u\"]
  shardingAlgorithms:
    db: {{type: INLINE, props: {{algorithm-expression: \"ds_${{id % 2}}\"}}}}
    hash: {{type: HASH_MOD, props: {{sharding-count: 2}}}}
- !BROADCAST
  tables: [room_b]
- !SINGLE
  tables: [\"ds_0.{single}\"]
"
        );
        std::fs::write(folder.join("database-shop.yaml"), text).unwrap();
        pando_config::load(folder).unwrap()
    }

    /// The database with the room behind all others, over fresh tables; `None` with a visible line where no server of
    /// the family runs.
    pub(crate) async fn house(self, form: Form, kind: TransactionType) -> Option<House> {
        let left = Arc::new(AtomicI64::new(i64::MAX));
        let room = Arc::new(Turning::new(form, Arc::clone(&left)));
        self.house_with(room, form, left, kind).await
    }

    /// The same with another room.
    pub(crate) async fn house_with(
        self,
        room: Arc<dyn Feature>,
        form: Form,
        left: Arc<AtomicI64>,
        kind: TransactionType,
    ) -> Option<House> {
        let Some(port) = self.port() else {
            eprintln!("skipped: no server of {self:?}");
            return None;
        };
        let runtime: SharedRuntime = Arc::new(Threads);
        let folder = tempfile::tempdir().unwrap();
        let configuration = self.configuration(folder.path(), &port);
        let built = pando_rooms::build(&configuration.databases[0], folder.path()).unwrap();
        let connectors: Vec<Arc<dyn Connector>> =
            built.units.iter().map(|unit| Arc::clone(&unit.connector)).collect();
        for (at, connector) in connectors.iter().enumerate() {
            let mut aside = Aside::open(Arc::clone(connector), Arc::clone(&runtime)).await.unwrap();
            for sql in tables(at, form) {
                aside.rows(&sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
            }
        }
        let mut database = built.database;
        database.features.push(room);
        let pools = built.units.into_iter().map(|unit| {
            let options = Options { min: 0, max: 4, ..Options::default() };
            Pool::new(unit.name, unit.connector, Arc::clone(&runtime), options)
        });
        let live = Arc::new(LiveDatabase::new(database, pools.collect()));
        let engine = Engine::new(Arc::clone(&runtime));
        let settings = Settings { transaction_type: kind, ..Settings::default() };
        engine.publish(Snapshot { databases: vec![live], settings });
        let database = Some("shop".into());
        let login = Login { database, is_administrator: true, ..Login::default() };
        let session = engine.open(login).unwrap();
        let client = Client { session, columns: None };
        let straight = connectors[3].connect(&runtime).await.unwrap();
        Some(House { family: self, form, client, straight, connectors, runtime, left })
    }

    /// A statement's texts lifted out as parameters.
    pub(crate) fn lifted(self, sql: &str) -> (String, Vec<Parameter>) {
        let (mut text, mut parameters) = (String::new(), Vec::new());
        for (at, piece) in sql.split('\'').enumerate() {
            if at % 2 == 0 {
                text.push_str(piece);
                continue;
            }
            parameters.push(Parameter::made(Value::Text(piece.to_owned())));
            match self {
                Self::Postgres => text.push_str(&format!("${}", parameters.len())),
                Self::MariaDb => text.push('?'),
            }
        }
        (text, parameters)
    }
}

/// What makes the tables of one of the four databases.
fn tables(at: usize, form: Form) -> Vec<String> {
    let (column, is_straight) = if at == 3 { (LOGIC, true) } else { (STORED, false) };
    let is_two = form == Form::Two && !is_straight;
    let further = if is_two { format!(", {ASKED} VARCHAR(20)") } else { String::new() };
    let mut all = Vec::new();
    for table in TABLES {
        all.push(format!("DROP TABLE IF EXISTS {table}"));
        all.push(format!(
            "CREATE TABLE {table} (id INT PRIMARY KEY, {column} VARCHAR(20), note VARCHAR(20){further}, UNIQUE (id, {column}))"
        ));
        for (id, secret, note) in ROWS {
            let value = secret.map_or("NULL".to_owned(), |meant| match is_straight {
                true => format!("'{meant}'"),
                false => format!("'{}'", meant.chars().rev().collect::<String>()),
            });
            if is_straight || id % 2 == at as i64 {
                let asked = secret.map_or("NULL".to_owned(), |meant| format!("'={meant}'"));
                let asked = if is_two { format!(", {asked}") } else { String::new() };
                all.push(format!("INSERT INTO {table} VALUES ({id}, {value}, '{note}'{asked})"));
            }
        }
    }
    for table in OTHERS {
        all.push(format!("DROP TABLE IF EXISTS {table}"));
        if at == 0 || table == "room_b" || table == "room_k" && at == 1 {
            all.push(format!(
                "CREATE TABLE {table} (id INT PRIMARY KEY, {STORED} VARCHAR(20), note VARCHAR(20))"
            ));
        }
    }
    all
}

/// The labels of an answer, and its rows; what is copied, as lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) labels: Vec<String>,
    pub(crate) rows: Vec<String>,
    /// What is copied, in one piece.
    pub(crate) bytes: Vec<u8>,
}

impl Told {
    /// Where the statement does not order its rows, by their text.
    pub(crate) fn in_order_of(mut self, sql: &str) -> Self {
        if !sql.contains("ORDER BY") {
            self.rows.sort();
            self.bytes.clear();
        }
        self
    }
}

/// The database, its client, and what stands beside it.
pub(crate) struct House {
    pub(crate) family: Family,
    form: Form,
    pub(crate) client: Client,
    straight: Box<dyn Backend>,
    connectors: Vec<Arc<dyn Connector>>,
    runtime: SharedRuntime,
    pub(crate) left: Arc<AtomicI64>,
}

impl House {
    /// What the server says to a statement on the table without the room.
    pub(crate) async fn straight(&mut self, sql: &str) -> Result<Told> {
        self.straight.start(Execution::Text(sql.into()))?;
        let (mut told, mut columns) = (Told::default(), None);
        loop {
            let backend = &mut *self.straight;
            match std::future::poll_fn(|cx| backend.poll_event(cx)).await? {
                Event::Done => return Ok(told),
                event => show(&event, &mut columns, &mut told),
            }
        }
    }

    /// The rows of a table as one unit has them.
    pub(crate) async fn stored(&self, unit: usize, table: &str) -> Vec<String> {
        let column = if unit == 3 { LOGIC } else { STORED };
        let connector = Arc::clone(&self.connectors[unit]);
        let mut aside = Aside::open(connector, Arc::clone(&self.runtime)).await.unwrap();
        let sql = format!("SELECT id, {column}, note FROM {table} ORDER BY id");
        if unit < 2 && self.form == Form::Two {
            // What is stored twice means the same.
            let sql = format!(
                "SELECT id FROM {table} WHERE COALESCE(REVERSE({STORED}), '-') <> COALESCE(SUBSTRING({ASKED}, 2), '-')"
            );
            assert_eq!(aside.rows(&sql).await.unwrap(), Vec::<Vec<Value>>::new(), "{table}");
        }
        let rows = aside.rows(&sql).await.unwrap();
        rows.iter().map(|row| row.iter().map(written).collect::<Vec<_>>().join(" ")).collect()
    }

    /// What the server says to bulk data for the table without the room.
    pub(crate) async fn straight_bulk(&mut self, sql: &str, data: &[u8]) -> Result<()> {
        let backend = &mut *self.straight;
        backend.start(Execution::Text(sql.into()))?;
        loop {
            match std::future::poll_fn(|cx| backend.poll_event(cx)).await? {
                Event::CopyIn(_) | Event::SendFile(_) => {
                    backend.copy(CopyInput::Data(data.to_vec().into()))?;
                    backend.copy(CopyInput::Done)?;
                }
                Event::Done => return Ok(()),
                _ => {}
            }
        }
    }

    /// Changes a table past everybody.
    pub(crate) async fn alter(&self, unit: usize, sql: &str) {
        let connector = Arc::clone(&self.connectors[unit]);
        let mut aside = Aside::open(connector, Arc::clone(&self.runtime)).await.unwrap();
        aside.rows(sql).await.unwrap();
    }

    /// The rows of a table as one unit has them, field by field.
    pub(crate) async fn rows(&self, unit: usize, table: &str) -> Vec<Vec<Value>> {
        let column = if unit == 3 { LOGIC } else { STORED };
        let connector = Arc::clone(&self.connectors[unit]);
        let mut aside = Aside::open(connector, Arc::clone(&self.runtime)).await.unwrap();
        let sql = format!("SELECT id, {column}, note FROM {table} ORDER BY id");
        aside.rows(&sql).await.unwrap()
    }

    /// Where the units do not hold from behind what the table without the room holds.
    pub(crate) async fn check_stored(&self, after: &str) -> Option<String> {
        for table in TABLES {
            let mut units = self.stored(0, table).await;
            units.extend(self.stored(1, table).await);
            units.sort();
            let mut expected: Vec<String> =
                self.stored(3, table).await.iter().map(|row| from_behind(row)).collect();
            expected.sort();
            if units != expected {
                let family = self.family;
                return Some(format!(
                    "{family:?} {table} after {after}\n    holds    {units:?}\n    expected {expected:?}"
                ));
            }
        }
        None
    }
}

/// A row `id secret note` as it is stored.
pub(crate) fn from_behind(row: &str) -> String {
    let fields: Vec<&str> = row.split(' ').collect();
    let [id, secret, note] = fields[..] else { panic!("{row}") };
    format!("{id} {} {note}", secret.chars().rev().collect::<String>())
}

fn written(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Text(text) => text.clone(),
        other => format!("{other:?}"),
    }
}

fn show(event: &Event, columns: &mut Option<Columns>, told: &mut Told) {
    match event {
        Event::Columns(found) => {
            told.labels = found.list.iter().map(|column| column.name.clone()).collect();
            *columns = Some(found.clone());
        }
        Event::CopyData(data) => {
            told.bytes.extend_from_slice(data);
            told.rows.push(String::from_utf8_lossy(data).into_owned());
        }
        Event::Rows(rows) => told.rows.extend(read(columns.as_ref().unwrap(), rows)),
        _ => {}
    }
}

fn read(columns: &Columns, rows: &Rows) -> Vec<String> {
    let (mut fields, mut lines) = (Vec::new(), Vec::new());
    rows.for_each(columns, |body| {
        columns.codec.fields(&columns.list, body, &mut fields)?;
        let values = columns.list.iter().zip(&fields).map(|(column, field)| {
            let raw = field.clone().map(|range| &body[range]);
            Ok(written(&columns.codec.value(column, raw)?))
        });
        lines.push(values.collect::<Result<Vec<_>>>()?.join(" "));
        Ok(())
    })
    .unwrap();
    lines
}

/// A client of the database with the room.
pub(crate) struct Client {
    pub(crate) session: Session,
    /// Those of the last rows: a fetch does not repeat them.
    columns: Option<Columns>,
}

impl Client {
    async fn request(&mut self, request: Request) -> Result<Told> {
        let mut told = Told::default();
        if let Some(whole) = self.session.answer(request).await? {
            let columns = whole.columns.map(Event::Columns);
            for event in columns.into_iter().chain(whole.rows.map(Event::Rows)) {
                show(&event, &mut self.columns, &mut told);
            }
            return Ok(told);
        }
        while let Some(event) = self.session.next().await? {
            show(&event, &mut self.columns, &mut told);
        }
        Ok(told)
    }

    /// What the columns of a table are called, as an old client asks for them.
    pub(crate) async fn fields(&mut self, table: &str) -> Result<Vec<String>> {
        Ok(self.request(Request::Fields { table: table.to_owned() }).await?.labels)
    }

    pub(crate) async fn query(&mut self, sql: &str) -> Result<Told> {
        self.request(Request::Query(sql.into())).await
    }

    /// A statement with bulk data, which comes in such pieces.
    pub(crate) async fn bulk(&mut self, sql: &str, pieces: &[&[u8]]) -> Result<Told> {
        self.query(sql).await?;
        for piece in pieces {
            let data = CopyInput::Data(piece.to_vec().into());
            self.session.run(Request::Copy(data)).await?;
        }
        self.request(Request::Copy(CopyInput::Done)).await
    }

    /// A prepared statement's answer in this form, so many rows at a time.
    pub(crate) async fn execute(
        &mut self,
        (sql, parameters): (&str, Vec<Parameter>),
        format: Format,
        limit: Option<u32>,
    ) -> Result<Told> {
        let prepared = self.session.prepare(sql.into(), Vec::new()).await?;
        let described = self.session.describe(&prepared).await?.columns;
        let execute = Execute {
            prepared,
            parameters,
            result_formats: vec![format],
            limit,
            cursor: limit.map(|_| CursorId(1)),
            pipeline: Pipeline::Alone,
        };
        let mut told = self.request(Request::Execute(execute)).await?;
        let mut more = limit.is_some() && !told.labels.is_empty();
        while more {
            let fetch = Request::Fetch { cursor: CursorId(1), limit };
            let fetched = self.request(fetch).await.unwrap_or_default().rows;
            more = !fetched.is_empty();
            told.rows.extend(fetched);
        }
        if let Some(described) = described {
            let labels: Vec<&String> = described.list.iter().map(|column| &column.name).collect();
            assert_eq!(labels, told.labels.iter().collect::<Vec<_>>(), "{sql}: as described");
        }
        Ok(told)
    }
}
