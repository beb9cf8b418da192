//! Connections to real SQLite databases, through the kernel's traits only.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "test support functions"
)]

use std::future::poll_fn;
use std::sync::Arc;

use pando_fake::{FakeRuntime, poll_once};
use pando_kernel::dialect::{CLIENT_LANGUAGE, TransactionVerb};
use pando_kernel::session::TransactionState;
use pando_kernel::{
    Backend, Columns, Completion, Connector, ErrorKind, Event, Execution, Kind, Parameter, Result,
    Value,
};
use pando_pool::{Options, Pool};
use pando_sqlite::{SqliteConnector, connector};

struct Scene {
    runtime: FakeRuntime,
    connector: Arc<SqliteConnector>,
}

/// Everything one reply told.
#[derive(Debug, Default)]
struct Reply {
    columns: Vec<(String, Kind)>,
    rows: Vec<Vec<Value>>,
    completion: Option<Completion>,
    empty: bool,
}

fn memory() -> Scene {
    at(":memory:")
}

fn at(path: &str) -> Scene {
    Scene { runtime: FakeRuntime::new(), connector: Arc::new(connector(path)) }
}

impl Scene {
    fn connect(&self) -> Box<dyn Backend> {
        self.runtime.block_on(self.connector.connect(&self.runtime.handle())).unwrap()
    }

    fn event(&self, backend: &mut dyn Backend) -> Result<Event> {
        self.runtime.block_on(poll_fn(|cx| backend.poll_event(cx)))
    }

    fn reply(&self, backend: &mut dyn Backend) -> Result<Reply> {
        let (mut reply, mut columns) = (Reply::default(), None);
        loop {
            match self.event(backend)? {
                Event::Columns(list) => {
                    let named = list.list.iter().map(|c| (c.name.clone(), c.kind));
                    reply.columns = named.collect();
                    columns = Some(list);
                }
                Event::Rows(rows) => read(columns.as_ref().unwrap(), &rows, &mut reply.rows),
                Event::Complete(completion) => reply.completion = Some(completion),
                Event::Empty => reply.empty = true,
                Event::Done => return Ok(reply),
                other => panic!("{other:?}"),
            }
        }
    }

    fn run(&self, backend: &mut dyn Backend, sql: &str) -> Result<Reply> {
        backend.start(Execution::Text(sql.into()))?;
        self.reply(backend)
    }

    fn prepared(&self, backend: &mut dyn Backend, sql: &str, values: &[Value]) -> Result<Reply> {
        backend.start(Execution::Prepared {
            sql: sql.into(),
            types: Default::default(),
            parameters: values.iter().cloned().map(Parameter::made).collect(),
            formats: Vec::new(),
            era: 0,
        })?;
        self.reply(backend)
    }
}

fn read(columns: &Columns, rows: &pando_kernel::Rows, out: &mut Vec<Vec<Value>>) {
    let before = out.len();
    rows.for_each(columns, |body| {
        let mut fields = Vec::new();
        columns.codec.fields(&columns.list, body, &mut fields)?;
        let row = fields.iter().zip(columns.list.iter());
        let row = row.map(|(field, column)| {
            columns.codec.value(column, field.clone().map(|range| &body[range]))
        });
        out.push(row.collect::<Result<_>>()?);
        Ok(())
    })
    .unwrap();
    assert_eq!(out.len() - before, rows.count as usize);
}

fn sqlstate(error: &pando_kernel::Error) -> &str {
    match error.kind() {
        ErrorKind::Server(sent) => &sent.sqlstate,
        other => panic!("{other:?}"),
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// Numbers without end.
const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";

#[test]
fn rows_have_the_kinds_their_columns_declare() {
    let scene = memory();
    let mut one = scene.connect();
    let create = "CREATE TABLE t (id BIGINT PRIMARY KEY, price DECIMAL(10,2), born TIMESTAMP, ok BOOLEAN, note VARCHAR(9), raw BLOB)";
    scene.run(one.as_mut(), create).unwrap();
    let insert = "INSERT INTO t VALUES (1, 1.5, '2026-01-31 13:45:00', TRUE, 'é', X'00FF'), (2, NULL, NULL, NULL, NULL, NULL)";
    let reply = scene.run(one.as_mut(), insert).unwrap();
    assert_eq!(reply.completion.unwrap().affected, Some(2));
    let reply =
        scene.run(one.as_mut(), "SELECT *, count(*) OVER () AS n FROM t ORDER BY id").unwrap();
    let kinds: Vec<Kind> = reply.columns.iter().map(|(_, kind)| *kind).collect();
    let expected =
        [Kind::Int, Kind::Decimal, Kind::Timestamp, Kind::Bool, Kind::Text, Kind::Bytes, Kind::Int];
    assert_eq!(kinds, expected);
    assert_eq!(
        reply.rows[0],
        [
            Value::Int(1),
            Value::Decimal("1.50".parse().unwrap()),
            text("2026-01-31 13:45:00"),
            Value::Bool(true),
            text("é"),
            Value::Bytes(vec![0, 255].into()),
            Value::Int(2),
        ]
    );
    assert!(reply.rows[1][1..6].iter().all(Value::is_null));
    assert_eq!(reply.completion.unwrap().affected, Some(2));
}

#[test]
fn columns_are_announced_even_when_no_row_follows() {
    let scene = memory();
    let mut one = scene.connect();
    scene.run(one.as_mut(), "CREATE TABLE t (id INT)").unwrap();
    let reply = scene.run(one.as_mut(), "SELECT id, max(id) AS m FROM t GROUP BY id").unwrap();
    assert_eq!(reply.columns, [("id".to_owned(), Kind::Int), ("m".to_owned(), Kind::Int)]);
    assert!(reply.rows.is_empty());
}

#[test]
fn computed_columns_take_the_type_of_the_first_rows() {
    let scene = memory();
    let mut one = scene.connect();
    let sql = "SELECT column1 AS a, column2 AS b FROM (VALUES (NULL, 1), (1, 'x'), (1.5, 2))";
    let reply = scene.run(one.as_mut(), sql).unwrap();
    assert_eq!(reply.columns, [("a".to_owned(), Kind::Float), ("b".to_owned(), Kind::Other)]);
    assert_eq!(reply.rows[1], [Value::Float(1.0), text("x")]);
}

#[test]
fn parameters_bind_by_position_and_by_number() {
    let scene = memory();
    let mut one = scene.connect();
    let values = [Value::Int(1), text("b"), Value::Decimal("2.5".parse().unwrap())];
    let by_position = scene.prepared(one.as_mut(), "SELECT ?, ?, ?", &values).unwrap();
    assert_eq!(by_position.rows, [[Value::Int(1), text("b"), Value::Float(2.5)]]);
    let by_number = scene.prepared(one.as_mut(), "SELECT $2, $1, $2", &values[..2]).unwrap();
    assert_eq!(by_number.rows, [[text("b"), Value::Int(1), text("b")]]);
    let again =
        scene.prepared(one.as_mut(), "SELECT $2, $1, $2", &[Value::Null, text("x")]).unwrap();
    assert_eq!(again.rows, [[text("x"), Value::Null, text("x")]]);
    let missing = scene.prepared(one.as_mut(), "SELECT ?, ?", &values[..1]).unwrap_err();
    assert_eq!(sqlstate(&missing), "08P01");
    let large = scene.prepared(one.as_mut(), "SELECT ?", &[Value::UInt(u64::MAX)]).unwrap_err();
    assert!(matches!(large.kind(), ErrorKind::Value(_)));
    let unbound = scene.run(one.as_mut(), "SELECT @x").unwrap_err();
    assert_eq!(sqlstate(&unbound), "42601");
    assert!(one.condition().usable);
}

#[test]
fn describe_tells_parameters_and_columns_without_running() {
    let scene = memory();
    let mut one = scene.connect();
    scene.run(one.as_mut(), "CREATE TABLE t (id INT, name TEXT)").unwrap();
    let mut describe = |sql: &str| {
        one.start(Execution::Describe { sql: sql.into(), types: Default::default(), era: 0 })
            .unwrap();
        let Event::Described(description) = scene.event(one.as_mut()).unwrap() else { panic!() };
        assert!(matches!(scene.event(one.as_mut()).unwrap(), Event::Done));
        let kinds = description.columns.map(|c| c.list.iter().map(|c| c.kind).collect::<Vec<_>>());
        (description.parameters.len(), kinds)
    };
    let query = "SELECT name, id FROM t WHERE id = $2 AND name = $2";
    assert_eq!(describe(query), (2, Some(vec![Kind::Text, Kind::Int])));
    assert_eq!(describe("INSERT INTO t VALUES (?, ?)"), (2, None));
    assert_eq!(describe("DELETE FROM t RETURNING id"), (0, Some(vec![Kind::Int])));
}

#[test]
fn generated_keys_are_told_for_the_first_row() {
    let scene = memory();
    let mut one = scene.connect();
    let create = "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT); ";
    scene.run(one.as_mut(), create).unwrap();
    scene.run(one.as_mut(), "CREATE TABLE u (id VARCHAR(9) PRIMARY KEY)").unwrap();
    let mut key = |sql: &str| {
        let completion = scene.run(one.as_mut(), sql).unwrap().completion.unwrap();
        (completion.last_insert_id, completion.affected)
    };
    assert_eq!(key("INSERT INTO t (a) VALUES (7)"), (1, Some(1)));
    assert_eq!(key("INSERT INTO t (a) VALUES (7), (8), (9)"), (2, Some(3)));
    assert_eq!(key("INSERT INTO t (id, a) VALUES (40, 1), (20, 1)"), (40, Some(2)));
    assert_eq!(key("UPDATE t SET a = 0 WHERE id > 10"), (0, Some(2)));
    assert_eq!(key("INSERT INTO u VALUES ('x')"), (0, Some(1)));
    assert_eq!(key("DELETE FROM t"), (0, Some(6)));
    assert_eq!(key("CREATE INDEX i ON t (a)"), (0, None));
    assert_eq!(key("INSERT INTO t (a) SELECT 1 WHERE 0"), (0, Some(0)));
}

#[test]
fn errors_leave_the_connection_usable_and_the_next_execution_unharmed() {
    let scene = memory();
    let mut one = scene.connect();
    scene.run(one.as_mut(), "CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
    for sql in ["INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1)", "SELECT count(*) FROM t"] {
        one.start(Execution::Text(sql.into())).unwrap();
    }
    assert_eq!(one.condition().outstanding, 3);
    scene.reply(one.as_mut()).unwrap();
    assert_eq!(sqlstate(&scene.reply(one.as_mut()).unwrap_err()), "23505");
    assert_eq!(scene.reply(one.as_mut()).unwrap().rows, [[Value::Int(1)]]);
    assert_eq!(one.condition().outstanding, 0);
}

#[test]
fn an_error_in_the_middle_of_the_rows_ends_the_reply() {
    let scene = memory();
    let mut one = scene.connect();
    let sql = format!(
        "{ENDLESS} SELECT abs(CASE WHEN i < 2000 THEN i ELSE -9223372036854775808 END) FROM n"
    );
    assert_eq!(sqlstate(&scene.run(one.as_mut(), &sql).unwrap_err()), "22003");
    assert!(scene.run(one.as_mut(), "SELECT 1").is_ok());
}

#[test]
fn empty_and_meaningless_texts_succeed() {
    let scene = memory();
    let mut one = scene.connect();
    assert!(scene.run(one.as_mut(), " -- nothing\n;").unwrap().empty);
    assert!(scene.run(one.as_mut(), "SET NAMES utf8mb4").unwrap().completion.is_some());
    let several = scene.run(one.as_mut(), "SELECT 1; SELECT 2").unwrap_err();
    assert_eq!(sqlstate(&several), "42601");
}

#[test]
fn the_transaction_state_is_told_after_each_reply() {
    let scene = memory();
    let mut one = scene.connect();
    let mut state = |sql: &str| {
        scene.run(one.as_mut(), sql).unwrap();
        one.condition().transaction
    };
    assert_eq!(state("START TRANSACTION"), TransactionState::Open);
    assert_eq!(state("SAVEPOINT a"), TransactionState::Open);
    assert_eq!(state("RELEASE SAVEPOINT a"), TransactionState::Open);
    assert_eq!(state("COMMIT"), TransactionState::Idle);
}

#[test]
fn reset_rolls_back_and_drops_temporary_tables() {
    let scene = memory();
    let mut one = scene.connect();
    scene.run(one.as_mut(), "CREATE TABLE t (id INT)").unwrap();
    scene.run(one.as_mut(), "CREATE TEMPORARY TABLE \"te\"\"mp\" (id INT)").unwrap();
    scene.run(one.as_mut(), "BEGIN").unwrap();
    scene.run(one.as_mut(), "INSERT INTO t VALUES (1)").unwrap();
    one.start(Execution::Reset).unwrap();
    scene.reply(one.as_mut()).unwrap();
    assert_eq!(one.condition().transaction, TransactionState::Idle);
    assert_eq!(scene.run(one.as_mut(), "SELECT count(*) FROM t").unwrap().rows, [[Value::Int(0)]]);
    let gone = scene.run(one.as_mut(), "SELECT * FROM \"te\"\"mp\"").unwrap_err();
    assert_eq!(sqlstate(&gone), "42P01");
    one.start(Execution::Ping).unwrap();
    scene.reply(one.as_mut()).unwrap();
}

#[test]
fn a_reader_that_does_not_poll_stops_the_statement() {
    let scene = memory();
    let mut one = scene.connect();
    one.start(Execution::Text(format!("{ENDLESS} SELECT i FROM n").into())).unwrap();
    let mut seen = 0;
    for _ in 0..20 {
        if let Event::Rows(rows) = scene.event(one.as_mut()).unwrap() {
            assert!(rows.count <= 512);
            seen += rows.count;
        }
    }
    assert_eq!(seen, 19 * 512);
    // An endless statement that were not stopped would have filled the memory by now; dropping ends it.
    drop(one);
    assert!(scene.run(scene.connect().as_mut(), "SELECT 1").is_ok());
}

#[test]
fn large_values_make_small_chunks() {
    let scene = memory();
    let mut one = scene.connect();
    let sql = "SELECT printf('%.*c', 100000, 'x') FROM (VALUES (1), (2), (3))";
    one.start(Execution::Text(sql.into())).unwrap();
    let mut chunks = 0;
    loop {
        match scene.event(one.as_mut()).unwrap() {
            Event::Rows(rows) => {
                assert_eq!(rows.count, 1);
                chunks += 1;
            }
            Event::Done => break,
            _ => {}
        }
    }
    assert_eq!(chunks, 3);
}

#[test]
fn cancel_stops_a_statement_that_gives_no_rows() {
    let scene = memory();
    let mut one = scene.connect();
    one.start(Execution::Text(format!("{ENDLESS} SELECT count(*) FROM n").into())).unwrap();
    let token = one.token();
    let mut event = Box::pin(poll_fn(|cx| one.poll_event(cx)));
    assert!(poll_once(&mut event).is_pending());
    let handle = scene.runtime.handle();
    // A cancel that comes before the statement has started is for nobody, so it is repeated until it hits.
    let error = loop {
        scene.runtime.block_on(scene.connector.cancel(&handle, token)).unwrap();
        match poll_once(&mut event) {
            std::task::Poll::Ready(done) => break done.unwrap_err(),
            std::task::Poll::Pending => std::thread::yield_now(),
        }
    };
    assert_eq!(sqlstate(&error), "57014");
    drop(event);
    assert!(scene.run(one.as_mut(), "SELECT 1").is_ok());
    // Nothing runs now: a late cancel must not hit the next statement.
    scene.runtime.block_on(scene.connector.cancel(&handle, token)).unwrap();
    assert!(scene.run(one.as_mut(), "SELECT 1").is_ok());
}

#[test]
fn cancel_stops_a_statement_whose_reader_is_slow() {
    let scene = memory();
    let mut one = scene.connect();
    one.start(Execution::Text(format!("{ENDLESS} SELECT i FROM n").into())).unwrap();
    assert!(matches!(scene.event(one.as_mut()).unwrap(), Event::Columns(_)));
    let handle = scene.runtime.handle();
    scene.runtime.block_on(scene.connector.cancel(&handle, one.token())).unwrap();
    let error = loop {
        if let Err(error) = scene.event(one.as_mut()) {
            break error;
        }
    };
    assert_eq!(sqlstate(&error), "57014");
}

#[test]
fn connections_of_a_memory_database_see_the_same_tables_and_other_connectors_do_not() {
    let scene = memory();
    let (mut one, mut two) = (scene.connect(), scene.connect());
    scene.run(one.as_mut(), "CREATE TABLE t (id INT)").unwrap();
    scene.run(one.as_mut(), "INSERT INTO t VALUES (5)").unwrap();
    drop(one);
    assert_eq!(scene.run(two.as_mut(), "SELECT id FROM t").unwrap().rows, [[Value::Int(5)]]);
    let other = memory();
    assert!(other.run(other.connect().as_mut(), "SELECT id FROM t").is_err());
}

#[test]
fn a_file_keeps_its_data_and_checks_foreign_keys() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ds 0.db");
    let path = path.to_str().unwrap();
    {
        let scene = at(path);
        let mut one = scene.connect();
        assert_eq!(scene.run(one.as_mut(), "PRAGMA journal_mode").unwrap().rows, [[text("wal")]]);
        scene.run(one.as_mut(), "CREATE TABLE p (id INT PRIMARY KEY)").unwrap();
        scene.run(one.as_mut(), "CREATE TABLE c (p INT REFERENCES p(id))").unwrap();
        let orphan = scene.run(one.as_mut(), "INSERT INTO c VALUES (1)").unwrap_err();
        assert_eq!(sqlstate(&orphan), "23503");
        scene.run(one.as_mut(), "INSERT INTO p VALUES (1)").unwrap();
    }
    let again = at(&format!("jdbc:sqlite:{path}"));
    let rows = again.run(again.connect().as_mut(), "SELECT id FROM p").unwrap().rows;
    assert_eq!(rows, [[Value::Int(1)]]);
}

#[test]
fn a_database_that_cannot_be_opened_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let scene = at(folder.path().join("missing/ds.db").to_str().unwrap());
    let error =
        scene.runtime.block_on(scene.connector.connect(&scene.runtime.handle())).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unavailable { .. }), "{error:?}");
}

#[test]
fn writers_wait_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let scene = at(folder.path().join("ds.db").to_str().unwrap());
    let (mut one, mut two) = (scene.connect(), scene.connect());
    scene.run(one.as_mut(), "CREATE TABLE t (id INT)").unwrap();
    scene.run(one.as_mut(), "BEGIN").unwrap();
    scene.run(one.as_mut(), "INSERT INTO t VALUES (1)").unwrap();
    two.start(Execution::Text("INSERT INTO t VALUES (2)".into())).unwrap();
    let mut waiting = Box::pin(poll_fn(|cx| two.poll_event(cx)));
    assert!(poll_once(&mut waiting).is_pending());
    scene.run(one.as_mut(), "COMMIT").unwrap();
    assert!(matches!(scene.runtime.block_on(waiting).unwrap(), Event::Complete(_)));
}

#[test]
fn a_wait_for_a_lock_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let scene = at(folder.path().join("ds.db").to_str().unwrap());
    let (mut one, mut two) = (scene.connect(), scene.connect());
    scene.run(one.as_mut(), "CREATE TABLE t (id INT)").unwrap();
    scene.run(one.as_mut(), "BEGIN").unwrap();
    two.start(Execution::Text("INSERT INTO t VALUES (2)".into())).unwrap();
    let (token, handle) = (two.token(), scene.runtime.handle());
    let mut waiting = Box::pin(poll_fn(|cx| two.poll_event(cx)));
    let error = loop {
        match poll_once(&mut waiting) {
            std::task::Poll::Ready(done) => break done.unwrap_err(),
            std::task::Poll::Pending => std::thread::yield_now(),
        }
        scene.runtime.block_on(scene.connector.cancel(&handle, token)).unwrap();
    };
    assert_eq!(sqlstate(&error), "57014");
}

#[test]
fn other_files_cannot_be_reached() {
    let folder = tempfile::tempdir().unwrap();
    let scene = memory();
    let mut one = scene.connect();
    let path = folder.path().join("other.db");
    let attach = format!("ATTACH DATABASE '{}' AS other", path.display());
    assert_eq!(sqlstate(&scene.run(one.as_mut(), &attach).unwrap_err()), "42501");
    let copy = format!("VACUUM INTO '{}'", path.display());
    assert!(scene.run(one.as_mut(), &copy).is_err());
    assert!(!path.exists());
    scene.run(one.as_mut(), "VACUUM").unwrap();
}

#[test]
fn a_client_reads_some_pragmas_and_sets_none() {
    let scene = memory();
    let mut one = scene.connect();
    for text in [
        "PRAGMA hard_heap_limit = 1",
        "PRAGMA soft_heap_limit = 1",
        "PRAGMA hard_heap_limit(1)",
        "pragma main.journal_mode = DELETE",
        "PRAGMA writable_schema = ON",
        "PRAGMA foreign_keys = OFF",
        "PRAGMA query_only = 1",
        "PRAGMA user_version = 7",
        "SELECT * FROM pragma_hard_heap_limit(1)",
        "PRAGMA temp_store_directory = '/tmp'",
        "PRAGMA optimize",
    ] {
        assert!(scene.run(one.as_mut(), text).is_err(), "{text}");
    }
    scene.run(one.as_mut(), "CREATE TABLE t (id INT)").unwrap();
    for text in
        ["PRAGMA foreign_keys", "PRAGMA table_info(t)", "SELECT name FROM pragma_table_info('t')"]
    {
        assert_eq!(scene.run(one.as_mut(), text).unwrap().rows.len(), 1, "{text}");
    }
}

#[test]
fn no_value_is_longer_than_may_be_held() {
    let scene = memory();
    let mut one = scene.connect();
    for text in [
        "SELECT length(zeroblob(1000000000))",
        "SELECT length(randomblob(900000000))",
        "SELECT length(printf('%1000000000d', 1))",
        "SELECT length(hex(zeroblob(60000000)))",
        "SELECT length(replace(hex(zeroblob(1000000)), '0', hex(zeroblob(1000))))",
    ] {
        assert!(scene.run(one.as_mut(), text).is_err(), "{text}");
    }
    let fits = scene.run(one.as_mut(), "SELECT length(zeroblob(60000000))").unwrap();
    assert_eq!(fits.rows, [[Value::Int(60_000_000)]]);
}

#[test]
fn a_definition_made_of_several_statements_happens_as_a_whole_or_not_at_all() {
    let scene = memory();
    let mut one = scene.connect();
    let create = "CREATE TABLE t (a INT, b INT, KEY i (a), KEY i (b)) ENGINE=InnoDB";
    assert!(scene.run(one.as_mut(), create).is_err());
    assert_eq!(one.condition().transaction, TransactionState::Idle);
    scene
        .run(one.as_mut(), "CREATE TABLE t (a INT, b INT, KEY i (a), KEY j (b)) ENGINE=InnoDB")
        .unwrap();
    let count = "SELECT count(*) FROM sqlite_master WHERE type = 'index'";
    assert_eq!(scene.run(one.as_mut(), count).unwrap().rows, [[Value::Int(2)]]);
}

#[test]
fn each_session_is_read_in_its_own_language_until_the_connection_is_reset() {
    let scene = memory();
    let mut one = scene.connect();
    let backslash = r#"SELECT 'it\'s', "x""#;
    assert!(scene.run(one.as_mut(), backslash).is_err());
    scene.run(one.as_mut(), "SET pando_client_language = 'mysql'").unwrap();
    for _ in 0..2 {
        let read = scene.prepared(one.as_mut(), backslash, &[]).unwrap();
        assert_eq!(read.rows, [[text("it's"), text("x")]]);
    }
    one.start(Execution::Reset).unwrap();
    scene.reply(one.as_mut()).unwrap();
    assert!(scene.prepared(one.as_mut(), backslash, &[]).is_err());
    scene.run(one.as_mut(), "SET pando_client_language = 'postgres'").unwrap();
    let read = scene.prepared(one.as_mut(), "SELECT $$it's$$, $1::int", &[text("7")]).unwrap();
    assert_eq!(read.rows, [[text("it's"), Value::Int(7)]]);
}

#[test]
fn the_dialects_own_texts_work_in_every_language() {
    let scene = memory();
    let mut one = scene.connect();
    for door in ["", "mysql", "postgres"] {
        let mut dialect = scene.connector.dialect();
        if let Some(spoken) = dialect.spoken_at(door) {
            dialect = spoken;
            let variables = [(CLIENT_LANGUAGE.to_owned(), format!("'{door}'"))];
            scene.run(one.as_mut(), &dialect.set_statement(&variables)).unwrap();
        }
        let name = format!("odd \\' \" ` {door}");
        let quoted = dialect.quote(&name);
        scene.run(one.as_mut(), &format!("CREATE TABLE {quoted} (id INT, note TEXT)")).unwrap();
        let value = text("it's \\ \"x\" \\' \0 é");
        let insert = format!("INSERT INTO {quoted} VALUES (1, {})", dialect.literal(&value));
        scene.run(one.as_mut(), &insert).unwrap();
        let read = scene.run(one.as_mut(), &format!("SELECT note FROM {quoted}")).unwrap();
        assert_eq!(read.rows, [[value]], "{door}");
        let tables = scene.run(one.as_mut(), &dialect.tables_query()).unwrap();
        assert!(tables.rows.contains(&vec![Value::Null, text(&name)]), "{door}");
        let columns = scene.run(one.as_mut(), &dialect.columns_query(None, &name)).unwrap();
        let columns: Vec<_> =
            columns.rows.iter().map(|row| dialect.read_column(row).unwrap()).collect();
        assert_eq!(columns.len(), 2);
        assert_eq!((columns[1].name.as_str(), columns[1].kind), ("note", Kind::Text));
        for verb in [
            TransactionVerb::Begin(&[]),
            TransactionVerb::Savepoint("a b"),
            TransactionVerb::RollbackTo("a b"),
            TransactionVerb::Release("a b"),
            TransactionVerb::Commit,
        ] {
            scene.run(one.as_mut(), &dialect.transaction(&verb).unwrap()).unwrap();
        }
        one.start(Execution::Reset).unwrap();
        scene.reply(one.as_mut()).unwrap();
    }
}

#[test]
fn a_pool_of_threads_and_connections_counts_right() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ds.db");
    for path in [file.to_str().unwrap(), ":memory:"] {
        let runtime = FakeRuntime::new();
        let options = Options { max: 3, ..Options::default() };
        let pool = Pool::new("ds_0", Arc::new(connector(path)), runtime.handle(), options);
        let run = |sql: &str| {
            let own = memory();
            let mut connection = runtime.block_on(pool.take()).unwrap();
            own.run(&mut *connection, sql).unwrap()
        };
        run("CREATE TABLE t (n INT)");
        run("INSERT INTO t VALUES (0)");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let own = memory();
                    for _ in 0..25 {
                        let mut connection = runtime.block_on(pool.take()).unwrap();
                        for sql in ["BEGIN", "SELECT n FROM t", "UPDATE t SET n = n + 1", "COMMIT"]
                        {
                            own.run(&mut *connection, sql).unwrap();
                        }
                    }
                });
            }
        });
        assert_eq!(run("SELECT n FROM t").rows, [[Value::Int(100)]], "{path}");
        assert!(pool.statistics().open <= 3);
    }
}

#[test]
fn several_connections_may_open_a_new_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..40 {
        let scene = at(folder.path().join(format!("{number}.db")).to_str().unwrap());
        let handle = scene.runtime.handle();
        let works = (0..6).map(|_| scene.connector.connect(&handle)).collect();
        let opened = scene.runtime.block_on(pando_kernel::runtime::all(works));
        assert_eq!(opened.unwrap().len(), 6, "file {number}");
    }
}
