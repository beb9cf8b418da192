//! Cells that a room tells otherwise than they are stored, of rows in the servers' own forms: text and binary, passed, merged and assembled, on real
//! servers of three families.

#![allow(
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, and says what it skips"
)]

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pando_engine::{Engine, LiveDatabase, Session, Settings, Snapshot};
use pando_kernel::changes::{Changes, Turn, ValueMap};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::feature::{Context, Feature, Room};
use pando_kernel::merge::Position;
use pando_kernel::request::{CursorId, Execute, Pipeline, Prepared, Request};
use pando_kernel::runtime::SharedRuntime;
use pando_kernel::session::{Login, Session as _};
use pando_kernel::{
    CellMap, CellTurn, Column, Columns, Format, Kind, Shortcut, Target, TransactionType, Value,
};
use pando_pool::{Options, Pool};
use pando_sql::ast::{BinaryOp, Expr, InsertSource, Kind as Kinds, Node, SelectItem, Statement};
use pando_sql::visit;
use pando_testing::poll::{Threads, block_on};
use pando_transaction::Aside;

/// All make the same table: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Texts from behind.
#[derive(Debug)]
struct Around;

impl CellTurn for Around {
    fn value(&self, value: Value) -> Result<Value> {
        match value {
            Value::Text(text) => Ok(Value::Text(text.chars().rev().collect())),
            other => Err(Error::new(ErrorKind::Value(format!("{other:?} is no text")))),
        }
    }

    fn goes_back(&self) -> bool {
        true
    }
}

impl ValueMap for Around {
    fn turned(&self, value: &Value) -> Result<Value> {
        self.value(value.clone())
    }
}

/// Bytes as the text that they are.
#[derive(Debug)]
struct Opened {
    is_postgres: bool,
}

impl CellTurn for Opened {
    fn column(&self, column: &mut Column) {
        column.kind = Kind::Text;
        if self.is_postgres {
            column.native.type_id = 25;
        } else {
            // As `utf8mb4_general_ci`, and not binary.
            column.native.charset = 45;
            column.native.flags &= !128;
        }
    }

    fn value(&self, value: Value) -> Result<Value> {
        match value {
            Value::Bytes(bytes) => Ok(Value::Text(String::from_utf8(bytes.into()).unwrap())),
            other => Err(Error::new(ErrorKind::Value(format!("{other:?} is no bytes")))),
        }
    }
}

/// A room that has `name` stored from behind and tells it as it was meant, and opens `sealed`, of whatever table.
#[derive(Debug)]
struct Teller {
    around: Arc<dyn CellTurn>,
    stored: Turn,
    opened: Arc<dyn CellTurn>,
}

impl Teller {
    fn turn(&self, column: &str) -> Option<Arc<dyn CellTurn>> {
        match column {
            "name" => Some(Arc::clone(&self.around)),
            "sealed" => Some(Arc::clone(&self.opened)),
            _ => None,
        }
    }
}

impl Room for Teller {
    fn name(&self) -> &'static str {
        "teller"
    }
}

impl Feature for Teller {
    fn rewrite(
        &self,
        ctx: &Context<'_>,
        stmt: &Statement,
        _: &Target,
        changes: &mut Changes,
    ) -> Result<()> {
        if let Kinds::Insert(insert) = &stmt.kind
            && let (Some(columns), InsertSource::Values { rows, .. }) =
                (&insert.columns, &insert.source)
            && let Some(at) = columns.iter().position(|column| column.value == "name")
        {
            for row in rows {
                let value = row.value(at, &stmt.text, ctx.dialect.syntax()).unwrap();
                changes.value(&value, &self.stored)?;
            }
        }
        let mut found = Vec::new();
        visit::exprs(&stmt.kind, &mut |expr| match &expr.node {
            Node::Binary { op: BinaryOp::Equal, left, right } if is_name(left) => {
                found.push((**right).clone());
            }
            _ => {}
        });
        found.iter().try_for_each(|expr| changes.value(expr, &self.stored))
    }

    fn shown(&self, _: &Context<'_>, stmt: &Statement) -> Result<Vec<CellMap>> {
        let (mut cells, mut at) = (Vec::new(), 0);
        let mut tell = |at: Position, column: &str| {
            cells.extend(self.turn(column).map(|turn| CellMap { at, turn }));
        };
        visit::items(&stmt.kind, &mut |item| {
            match item {
                // Of a table with the columns `id`, `name` and `sealed`.
                SelectItem::Star(_) | SelectItem::QualifiedStar(..) => {
                    tell(Position::Index(at + 1), "name");
                    tell(Position::Index(at + 2), "sealed");
                    at += 2;
                }
                SelectItem::Expr { expr, .. } => {
                    if let Node::Column(column) = &expr.node {
                        tell(Position::Index(at), &column.parts.last().unwrap().value);
                    }
                }
            }
            at += 1;
        });
        Ok(cells)
    }

    fn shortcut(&self, _: &Context<'_>, _: &Statement) -> Shortcut {
        Shortcut::Idle
    }
}

fn is_name(expr: &Expr) -> bool {
    matches!(&expr.node, Node::Column(name) if name.parts.last().is_some_and(|last| last.value == "name"))
}

/// A family of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Postgres,
    MariaDb,
    MySql,
}

impl Family {
    fn port(self) -> Option<String> {
        let name = match self {
            Self::Postgres => "PG1_PORT",
            Self::MariaDb => "MARIADB1_PORT",
            Self::MySql => "MYSQL1_PORT",
        };
        std::env::var(name).ok()
    }

    fn url(self, port: &str, unit: usize) -> String {
        match self {
            Self::Postgres => format!("jdbc:postgresql://127.0.0.1:{port}/ds_{unit}"),
            Self::MariaDb | Self::MySql => format!(
                "jdbc:mysql://127.0.0.1:{port}/ds_{unit}?useSSL=false&allowPublicKeyRetrieval=true"
            ),
        }
    }

    fn configuration(self, folder: &Path, port: &str) -> pando_config::Configuration {
        let text = format!(
            "databaseName: shop
dataSources:
  ds_0: {{url: \"{}\", username: test, password: test}}
  ds_1: {{url: \"{}\", username: test, password: test}}
rules:
- !SHARDING
  tables:
    cells_t:
      actualDataNodes: ds_${{0..1}}.cells_t
      databaseStrategy: {{standard: {{shardingColumn: id, shardingAlgorithmName: db}}}}
  shardingAlgorithms:
    db: {{type: INLINE, props: {{algorithm-expression: \"ds_${{id % 2}}\"}}}}
",
            self.url(port, 0),
            self.url(port, 1)
        );
        std::fs::write(folder.join("database-shop.yaml"), text).unwrap();
        pando_config::load(folder).unwrap()
    }

    /// An engine with the room behind all others, over a table of five rows; `None` with a visible line where no server of the family runs.
    async fn engine(self, kind: TransactionType) -> Option<Engine> {
        let Some(port) = self.port() else {
            eprintln!("skipped: no server of {self:?}");
            return None;
        };
        let runtime: SharedRuntime = Arc::new(Threads);
        let folder = tempfile::tempdir().unwrap();
        let configuration = self.configuration(folder.path(), &port);
        let built = pando_rooms::build(&configuration.databases[0], folder.path()).unwrap();
        let is_postgres = self == Self::Postgres;
        let bytes = if is_postgres { "BYTEA" } else { "VARBINARY(20)" };
        for (unit, rows) in built.units.iter().zip([
            "(2, 'dc', 'two'), (4, NULL, NULL)",
            "(1, 'ba', 'one'), (3, 'fe', 'three'), (5, 'ba', 'five')",
        ]) {
            let mut aside =
                Aside::open(Arc::clone(&unit.connector), Arc::clone(&runtime)).await.unwrap();
            for sql in [
                "DROP TABLE IF EXISTS cells_t",
                &format!(
                    "CREATE TABLE cells_t (id INT PRIMARY KEY, name VARCHAR(20), sealed {bytes})"
                ),
                &format!("INSERT INTO cells_t VALUES {rows}"),
            ] {
                aside.rows(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
            }
        }
        let mut database = built.database;
        let opened = Arc::new(Opened { is_postgres });
        database.features.push(Arc::new(Teller {
            around: Arc::new(Around),
            stored: Turn(Arc::new(Around)),
            opened,
        }));
        let pools = built.units.into_iter().map(|unit| {
            let options = Options { min: 0, max: 4, ..Options::default() };
            Pool::new(unit.name, unit.connector, Arc::clone(&runtime), options)
        });
        let live = Arc::new(LiveDatabase::new(database, pools.collect()));
        let engine = Engine::new(runtime);
        let settings = Settings { transaction_type: kind, ..Settings::default() };
        engine.publish(Snapshot { databases: vec![live], settings });
        Some(engine)
    }
}

const FAMILIES: [Family; 3] = [Family::Postgres, Family::MariaDb, Family::MySql];

/// A client, and the columns of its last rows.
struct Client {
    session: Session,
    columns: Option<Columns>,
}

impl Client {
    fn of(engine: &Engine) -> Self {
        let login = Login { database: Some("shop".into()), ..Login::default() };
        Self { session: engine.open(login).unwrap(), columns: None }
    }

    /// A reply's rows by their values; what is copied, as text.
    async fn request(&mut self, request: Request) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        if let Some(whole) = self.session.answer(request).await? {
            self.columns = whole.columns.or(self.columns.take());
            whole.rows.into_iter().for_each(|rows| self.show(&Event::Rows(rows), &mut lines));
            return Ok(lines);
        }
        while let Some(event) = self.session.next().await? {
            self.show(&event, &mut lines);
        }
        Ok(lines)
    }

    fn show(&mut self, event: &Event, lines: &mut Vec<String>) {
        match event {
            Event::Columns(columns) => self.columns = Some(columns.clone()),
            Event::CopyData(data) => lines.push(String::from_utf8_lossy(data).into_owned()),
            Event::Rows(rows) => {
                let columns = self.columns.as_ref().unwrap();
                let mut fields = Vec::new();
                rows.for_each(columns, |body| {
                    columns.codec.fields(&columns.list, body, &mut fields)?;
                    let values = columns.list.iter().zip(&fields).map(|(column, field)| {
                        let raw = field.clone().map(|range| &body[range]);
                        Ok(match columns.codec.value(column, raw)? {
                            Value::Null => "-".to_owned(),
                            Value::Int(number) => number.to_string(),
                            Value::Text(text) => text,
                            other => format!("{other:?}"),
                        })
                    });
                    lines.push(values.collect::<Result<Vec<_>>>()?.join(" "));
                    Ok(())
                })
                .unwrap();
            }
            _ => {}
        }
    }

    async fn query(&mut self, sql: &str) -> Result<Vec<String>> {
        self.request(Request::Query(sql.into())).await
    }

    async fn prepare(&mut self, sql: &str) -> Arc<Prepared> {
        self.session.prepare(sql.into(), Vec::new()).await.unwrap()
    }

    /// The rows of a prepared statement in this form, so many at a time.
    async fn execute(&mut self, sql: &str, format: Format, limit: Option<u32>) -> Vec<String> {
        let prepared = self.prepare(sql).await;
        let execute = Execute {
            prepared,
            parameters: Vec::new(),
            result_formats: vec![format],
            limit,
            cursor: limit.map(|_| CursorId(1)),
            pipeline: Pipeline::Alone,
        };
        let mut lines = self.request(Request::Execute(execute)).await.unwrap();
        let mut more = limit.is_some();
        while more {
            let fetch = Request::Fetch { cursor: CursorId(1), limit };
            let fetched = self.request(fetch).await.unwrap_or_default();
            more = !fetched.is_empty();
            lines.extend(fetched);
        }
        lines
    }
}

/// Queries, and what a client is told.
const QUERIES: [(&str, &[&str]); 12] = [
    ("SELECT id, name, sealed FROM cells_t WHERE id = 2", &["2 cd two"]),
    ("SELECT sealed, name FROM cells_t WHERE id = 4", &["- -"]),
    ("SELECT * FROM cells_t WHERE id IN (1, 3) ORDER BY id", &["1 ab one", "3 ef three"]),
    (
        "SELECT id, name, sealed FROM cells_t ORDER BY id",
        &["1 ab one", "2 cd two", "3 ef three", "4 - -", "5 ab five"],
    ),
    ("SELECT name FROM cells_t WHERE id < 4 ORDER BY id DESC LIMIT 2", &["ef", "cd"]),
    // As they are stored, `ba` comes before `dc`, and so does `ab` before `cd`; `fe` stands behind both.
    ("SELECT DISTINCT name FROM cells_t WHERE id <> 4 ORDER BY name", &["ab", "cd", "ef"]),
    (
        "SELECT name, COUNT(*) FROM cells_t WHERE id <> 4 GROUP BY name ORDER BY name",
        &["ab 2", "cd 1", "ef 1"],
    ),
    // Rows of two shards meet on one.
    (
        "SELECT a.name, b.sealed FROM cells_t a JOIN cells_t b ON b.id = a.id + 1 WHERE a.id < 3 ORDER BY a.id",
        &["ab two", "cd three"],
    ),
    (
        "SELECT a.name, b.sealed FROM cells_t a JOIN cells_t b ON b.id = a.id + 1 WHERE a.name = 'ab' ORDER BY a.id",
        &["ab two"],
    ),
    ("SELECT id, name FROM cells_t WHERE name = 'ab' ORDER BY id", &["1 ab", "5 ab"]),
    ("SELECT name FROM cells_t WHERE id = 1 AND name = 'ba'", &[]),
    ("SELECT 'ba' AS name, id FROM cells_t WHERE id = 1", &["ba 1"]),
];

#[test]
fn rows_in_the_servers_own_forms_are_turned() {
    let _alone = alone();
    for family in FAMILIES {
        block_on(async {
            let Some(engine) = family.engine(TransactionType::Xa).await else { return };
            let mut client = Client::of(&engine);
            for (sql, expected) in QUERIES {
                // From the third on by a template, if it has one.
                for _ in 0..4 {
                    let told = client.query(sql).await;
                    assert_eq!(told.unwrap_or_else(|e| panic!("{sql}: {e}")), expected, "{sql}");
                }
                for format in [Format::Text, Format::Binary] {
                    for limit in [None, Some(1), Some(2)] {
                        client.query("BEGIN").await.unwrap();
                        let told = client.execute(sql, format, limit).await;
                        assert_eq!(told, expected, "{family:?} {sql} {format:?} {limit:?}");
                        client.query("COMMIT").await.unwrap();
                        if limit.is_none() {
                            assert_eq!(client.execute(sql, format, limit).await, expected, "{sql}");
                        }
                    }
                }
                let prepared = client.prepare(sql).await;
                let described = client.session.describe(&prepared).await.unwrap().columns.unwrap();
                let kinds =
                    |columns: &Columns| columns.list.iter().map(|c| c.kind).collect::<Vec<_>>();
                assert_eq!(kinds(&described), kinds(client.columns.as_ref().unwrap()), "{sql}");
            }
        });
    }
}

#[test]
fn rows_of_changes_are_turned_in_every_type_of_transaction() {
    let _alone = alone();
    for family in [Family::Postgres, Family::MariaDb] {
        for kind in [TransactionType::Local, TransactionType::Xa, TransactionType::Base] {
            block_on(async {
                let Some(engine) = family.engine(kind).await else { return };
                let mut client = Client::of(&engine);
                for (sql, expected) in [
                    (
                        "DELETE FROM cells_t WHERE id = 2 RETURNING id, name, sealed",
                        &["2 cd two"][..],
                    ),
                    (
                        "INSERT INTO cells_t (id, name, sealed) VALUES (6, 'gh', 'x'), (7, 'hi', NULL) RETURNING name, sealed",
                        &["gh x", "hi -"],
                    ),
                ] {
                    let told =
                        client.query(sql).await.unwrap_or_else(|e| panic!("{kind:?} {sql}: {e}"));
                    assert_eq!(told, expected, "{family:?} {kind:?} {sql}");
                }
                let mut told =
                    client.query("DELETE FROM cells_t WHERE id < 4 RETURNING name").await.unwrap();
                told.sort();
                assert_eq!(told, ["ab", "ef"], "{family:?} {kind:?}");
            });
        }
    }
}

#[test]
fn a_copy_tells_what_a_query_tells() {
    let _alone = alone();
    block_on(async {
        let Some(engine) = Family::Postgres.engine(TransactionType::Xa).await else { return };
        let mut client = Client::of(&engine);
        let one = "SELECT id, name, sealed FROM cells_t WHERE id = 2";
        let all = "SELECT id, name, sealed FROM cells_t WHERE id <> 5 ORDER BY id";
        let some = "SELECT name FROM cells_t WHERE id IN (1, 2)";
        for (sql, expected) in [
            (format!("COPY ({one}) TO STDOUT"), "2\tcd\ttwo\n"),
            (
                format!("COPY ({all}) TO STDOUT (FORMAT csv, HEADER)"),
                "id,name,sealed\n1,ab,one\n2,cd,two\n3,ef,three\n4,,\n",
            ),
        ] {
            let told = client.query(&sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
            assert_eq!(told.concat(), expected, "{sql}");
        }
        let mut told = client.query(&format!("COPY ({some}) TO STDOUT")).await.unwrap();
        told.sort();
        assert_eq!(told, ["ab\n", "cd\n"]);
        let binary =
            client.query(&format!("COPY ({one}) TO STDOUT (FORMAT binary)")).await.unwrap();
        assert!(binary.concat().contains("\0\0\0\u{2}cd\0\0\0\u{3}two"), "{binary:?}");
        let lines = ["1\tab\tone\n", "2\tcd\ttwo\n", "3\tef\tthree\n", "4\t\\N\t\\N\n"];
        for sql in ["COPY cells_t TO STDOUT", "COPY cells_t (id, name, sealed) TO STDOUT"] {
            let mut told = client.query(sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
            told.sort();
            assert_eq!(told[..4], lines, "{sql}");
            assert_eq!(told.len(), 5, "{sql}");
        }
        let sealed = client.query("COPY cells_t (sealed) TO STDOUT (FORMAT binary)").await.unwrap();
        assert!(sealed.concat().contains("\0\u{1}\0\0\0\u{5}three"), "{sealed:?}");
        assert_eq!(client.query("COPY cells_t (id) TO STDOUT").await.unwrap().len(), 5);
    });
}

#[test]
fn steps_store_what_their_reads_have_told() {
    let _alone = alone();
    for family in FAMILIES {
        block_on(async {
            let Some(engine) = family.engine(TransactionType::Xa).await else { return };
            let mut client = Client::of(&engine);
            client
                .query(
                    "INSERT INTO cells_t (id, name) SELECT id + 11, name FROM cells_t WHERE id < 3",
                )
                .await
                .unwrap();
            let told = client.query("SELECT id, name FROM cells_t WHERE id > 5 ORDER BY id").await;
            assert_eq!(told.unwrap(), ["12 ab", "13 cd"], "{family:?}");
            // As the units have it, by a condition that the room leaves alone.
            let stored = client
                .query("SELECT id FROM cells_t WHERE name IN ('ba', 'dc') AND id > 5 ORDER BY id")
                .await;
            assert_eq!(stored.unwrap(), ["12", "13"], "{family:?}");
            for sql in [
                "UPDATE cells_t SET id = 20 WHERE id = 1",
                "INSERT INTO cells_t (id, sealed) SELECT id + 31, sealed FROM cells_t",
            ] {
                let error = client.query(sql).await.unwrap_err();
                assert!(
                    matches!(error.kind(), ErrorKind::Refused { .. }),
                    "{family:?} {sql}: {error}"
                );
            }
            let told =
                client.query("SELECT id, name, sealed FROM cells_t WHERE id = 1 OR id > 19").await;
            assert_eq!(told.unwrap(), ["1 ab one"], "{family:?}");
        });
    }
}
