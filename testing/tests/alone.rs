//! Sessions of both doors where there is no storage unit: what clients and drivers ask first is answered, everything else is refused.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;

use pando_engine::{Engine, LiveDatabase, Session, Settings, Snapshot};
use pando_fake::FakeRuntime;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::feature::Database;
use pando_kernel::request::Request;
use pando_kernel::session::{Login, Session as _};
use pando_kernel::{Columns, Dialect, Kind, Value};
use pando_mysql::dialect::MySql;
use pando_postgres::dialect::Postgres;

struct Client {
    runtime: FakeRuntime,
    session: Session,
}

fn dialect(family: &str) -> Arc<dyn Dialect> {
    match family {
        "mysql" => Arc::new(MySql),
        _ => Arc::new(Postgres),
    }
}

/// An engine with these databases, which have no storage units, and a client of this door.
fn client(family: &'static str, databases: &[&str], database: Option<&str>) -> Result<Client> {
    let runtime = FakeRuntime::new();
    let engine = Engine::new(runtime.handle());
    let databases = databases.iter().map(|name| {
        let database = Database {
            name: (*name).to_owned(),
            units: Vec::new(),
            features: Vec::new(),
            // Whatever it says: without units it speaks the door's.
            dialect: dialect("mysql"),
        };
        Arc::new(LiveDatabase::new(database, Vec::new()))
    });
    engine.publish(Snapshot { databases: databases.collect(), settings: Settings::default() });
    let session = engine.open(Login {
        user: "ann".into(),
        host: "10.0.0.1".into(),
        database: database.map(str::to_owned),
        family,
        language: Some(dialect(family)),
        ..Login::default()
    })?;
    Ok(Client { runtime, session })
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Text(text) => text.clone(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

impl Client {
    /// The labels, then each row, fields parted by `|`; completions by their tags.
    fn ask(&mut self, sql: &str) -> Result<Vec<String>> {
        let session = &mut self.session;
        self.runtime.block_on(async {
            session.run(Request::Query(sql.into())).await?;
            let (mut lines, mut columns): (_, Option<Columns>) = (Vec::new(), None);
            while let Some(event) = session.next().await? {
                match event {
                    Event::Columns(found) => {
                        let labels: Vec<&str> =
                            found.list.iter().map(|column| column.name.as_str()).collect();
                        lines.push(labels.join("|"));
                        columns = Some(found);
                    }
                    Event::Rows(rows) => {
                        let columns = columns.as_ref().unwrap();
                        let mut fields = Vec::new();
                        rows.for_each(columns, |body| {
                            columns.codec.fields(&columns.list, body, &mut fields)?;
                            let values = columns.list.iter().zip(&fields).map(|(column, field)| {
                                let raw = field.clone().map(|range| &body[range]);
                                columns.codec.value(column, raw).map(|value| text(&value))
                            });
                            lines.push(values.collect::<Result<Vec<_>>>()?.join("|"));
                            Ok(())
                        })?;
                    }
                    Event::Complete(done) if columns.is_none() => lines.push(done.tag.into_owned()),
                    Event::Parameter { name, value } => lines.push(format!("{name}={value}")),
                    _ => {}
                }
            }
            let changed = session.changed_parameters();
            lines.extend(changed.into_iter().map(|(name, value)| format!("{name}={value}")));
            Ok(lines)
        })
    }

    fn check(&mut self, sql: &str, expected: &[&str]) {
        let lines = self.ask(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert_eq!(lines, expected, "{sql}");
    }

    fn refused(&mut self, sql: &str) {
        let error = self.ask(sql).expect_err(sql);
        assert!(is_without_units(&error), "{sql}: {error}");
    }
}

fn is_without_units(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Refused { code: 10101, .. })
}

#[test]
fn clients_of_mysql_get_in_and_are_answered() {
    let mut client = client("mysql", &["shop", "bank"], Some("shop")).unwrap();
    for (sql, expected) in [
        ("select @@version_comment limit 1", &["@@version_comment", "Pando"][..]),
        (
            "SELECT @@max_allowed_packet,@@system_time_zone,@@time_zone,@@auto_increment_increment",
            &[
                "@@max_allowed_packet|@@system_time_zone|@@time_zone|@@auto_increment_increment",
                "67108864|UTC|SYSTEM|1",
            ],
        ),
        (
            "/* mysql-connector-j-8.0.33 */SELECT  @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS character_set_client, @@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results, @@character_set_server AS character_set_server, @@collation_server AS collation_server, @@collation_connection AS collation_connection, @@init_connect AS init_connect, @@interactive_timeout AS interactive_timeout, @@license AS license, @@lower_case_table_names AS lower_case_table_names, @@max_allowed_packet AS max_allowed_packet, @@net_write_timeout AS net_write_timeout, @@performance_schema AS performance_schema, @@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, @@time_zone AS time_zone, @@transaction_isolation AS transaction_isolation, @@wait_timeout AS wait_timeout",
            &[
                "auto_increment_increment|character_set_client|character_set_connection|character_set_results|character_set_server|collation_server|collation_connection|init_connect|interactive_timeout|license|lower_case_table_names|max_allowed_packet|net_write_timeout|performance_schema|sql_mode|system_time_zone|time_zone|transaction_isolation|wait_timeout",
                "1|utf8mb4|utf8mb4|utf8mb4|utf8mb4|utf8mb4_0900_ai_ci|utf8mb4_0900_ai_ci||28800|Apache-2.0|0|67108864|60|0|ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION|UTC|SYSTEM|REPEATABLE-READ|28800",
            ],
        ),
        ("SET autocommit=0, sql_mode='STRICT_TRANS_TABLES'", &["SET"]),
        (
            "SET NAMES utf8mb4",
            &[
                "character_set_client=utf8mb4",
                "character_set_connection=utf8mb4",
                "character_set_results=utf8mb4",
                "SET",
            ],
        ),
        (
            "SELECT @@autocommit, @@session.sql_mode",
            &["@@autocommit|@@session.sql_mode", "0|STRICT_TRANS_TABLES"],
        ),
        ("set session transaction isolation level read committed", &["SET"]),
        ("set sql_mode=concat(@@sql_mode,',NO_ZERO_DATE')", &["SET"]),
        (
            "SHOW VARIABLES WHERE Variable_name in ('sql_mode', 'autocommit') OR Variable_name = 'tx_isolation'",
            &[
                "Variable_name|Value",
                "autocommit|OFF",
                "sql_mode|STRICT_TRANS_TABLES,NO_ZERO_DATE",
                "tx_isolation|READ-COMMITTED",
            ],
        ),
        (
            "SHOW VARIABLES LIKE 'lower\\_case\\_%'",
            &["Variable_name|Value", "lower_case_table_names|0"],
        ),
        ("SELECT DATABASE(), USER(), 1", &["DATABASE()|USER()|1", "shop|ann@10.0.0.1|1"]),
        ("SELECT 'xy', 2 + 3 AS n, NULL FROM DUAL", &["xy|n|NULL", "xy|5|NULL"]),
        ("SHOW DATABASES", &["Database", "bank", "information_schema", "shop"]),
        ("SHOW DATABASES LIKE 'B%'", &["Database (B%)", "bank"]),
        ("SHOW TABLES", &["Tables_in_shop"]),
        ("SHOW FULL TABLES", &["Tables_in_shop|Table_type"]),
        ("SHOW WARNINGS", &["Level|Code|Message"]),
        ("SET @a = 'b'", &["SET"]),
        ("PREPARE p FROM 'SELECT @a'", &["PREPARE"]),
        ("EXECUTE p", &["@a", "b"]),
        ("DEALLOCATE PREPARE p", &["DEALLOCATE"]),
        ("BEGIN", &["BEGIN"]),
        ("SAVEPOINT s", &["SAVEPOINT"]),
        ("COMMIT", &["COMMIT"]),
        ("USE bank", &["USE"]),
        ("SELECT DATABASE()", &["DATABASE()", "bank"]),
    ] {
        client.check(sql, expected);
    }
    for sql in [
        "SELECT * FROM t",
        "INSERT INTO t VALUES (1)",
        "CREATE TABLE t (a int)",
        "SELECT NOW()",
        "SELECT @@nobody_knows",
        "SELECT COUNT(*) FROM information_schema.tables",
        "LOAD DATA LOCAL INFILE 'x' INTO TABLE t",
        "LOCK TABLES t READ",
        "CREATE DATABASE x",
        "ANALYZE TABLE t",
        "SELECT 1 FOR UPDATE",
    ] {
        client.refused(sql);
    }
}

#[test]
fn clients_of_postgres_get_in_and_are_answered() {
    let mut client = client("postgres", &["shop"], Some("shop")).unwrap();
    let version = concat!("PostgreSQL 15.0 (Pando ", env!("CARGO_PKG_VERSION"), ")");
    for (sql, expected) in [
        ("SELECT version()", &["version", version][..]),
        ("select pg_catalog.version()", &["version", version]),
        ("SELECT current_schema()", &["current_schema", "public"]),
        ("SHOW server_version", &["server_version", "15.0 (Pando)"]),
        ("show standard_conforming_strings", &["standard_conforming_strings", "on"]),
        ("SHOW TRANSACTION ISOLATION LEVEL", &["transaction_isolation", "read committed"]),
        ("BEGIN ISOLATION LEVEL SERIALIZABLE", &["BEGIN"]),
        ("show transaction isolation level", &["transaction_isolation", "serializable"]),
        ("COMMIT", &["COMMIT"]),
        ("SET TIME ZONE 'Europe/Berlin'", &["SET", "TimeZone=Europe/Berlin"]),
        ("SHOW timezone", &["TimeZone", "Europe/Berlin"]),
        ("SET extra_float_digits = 3", &["SET"]),
        ("SELECT current_setting('extra_float_digits')", &["current_setting", "3"]),
        ("SELECT set_config('search_path', 'a, b', false)", &["set_config", "a, b"]),
        ("SHOW search_path", &["search_path", "a, b"]),
        (
            "SELECT 1, 'x', current_user, current_database()",
            &["?column?|?column?|current_user|current_database", "1|x|ann|shop"],
        ),
        ("SELECT 'a' || 'b' AS c, 1 = 1, NULL::text", &["c|?column?|text", "ab|Bool(true)|NULL"]),
        ("SELECT pg_is_in_recovery()", &["pg_is_in_recovery", "Bool(false)"]),
        (
            "SELECT datname FROM pg_database WHERE datname <> 'x' ORDER BY 1",
            &["datname", "postgres", "shop"],
        ),
        (
            "SELECT d.datname as \"Name\", pg_catalog.pg_get_userbyid(d.datdba) as \"Owner\", pg_catalog.pg_encoding_to_char(d.encoding) as \"Encoding\", CASE d.datlocprovider WHEN 'c' THEN 'libc' WHEN 'i' THEN 'icu' END AS \"Locale Provider\", pg_catalog.array_to_string(d.datacl, E'\\n') AS \"Access privileges\" FROM pg_catalog.pg_database d ORDER BY 1",
            &[
                "Name|Owner|Encoding|Locale Provider|Access privileges",
                "postgres|ann|UTF8|libc|NULL",
                "shop|ann|UTF8|libc|NULL",
            ],
        ),
        (
            "SELECT t.oid, typarray FROM pg_type t JOIN pg_namespace ns ON typnamespace = ns.oid WHERE typname in ('hstore', 'int4')",
            &["oid|typarray", "23|1007"],
        ),
        (
            "SELECT typname AS name, oid, typarray AS array_oid, oid::regtype::text AS regtype, typdelim AS delimiter FROM pg_type t WHERE t.oid = to_regtype('hstore') ORDER BY t.oid",
            &["name|oid|array_oid|regtype|delimiter"],
        ),
        ("PREPARE q AS SELECT $1 || 'x' AS c", &["PREPARE"]),
        ("EXECUTE q('a')", &["c", "ax"]),
        ("PREPARE p AS SELECT 7", &["PREPARE"]),
        ("EXECUTE p", &["?column?", "7"]),
        ("RESET ALL", &["RESET", "TimeZone=Etc/UTC"]),
        ("SHOW extra_float_digits", &["extra_float_digits", "1"]),
        ("SELECT pg_advisory_unlock_all()", &["pg_advisory_unlock_all", ""]),
        ("CLOSE ALL", &["CLOSE CURSOR ALL"]),
        ("UNLISTEN *", &["UNLISTEN"]),
        ("DISCARD ALL", &["DISCARD ALL"]),
    ] {
        client.check(sql, expected);
    }
    for sql in [
        "SELECT * FROM t",
        "INSERT INTO t VALUES (1)",
        "CREATE TABLE t (a int)",
        "SELECT now()",
        "SELECT oid FROM pg_type JOIN pg_namespace ON true",
        "SELECT 1 FROM pg_type a, pg_type b, pg_type c",
        "SELECT typname FROM pg_type LEFT JOIN pg_namespace n ON typnamespace = n.oid",
        "SHOW nobody_knows",
        "SELECT count(*) FROM pg_class",
        "COPY t FROM STDIN",
        "COPY (SELECT 1) TO STDOUT",
        "VACUUM",
        "EXPLAIN SELECT 1",
        "PREVIEW SELECT 1",
        "LISTEN x",
    ] {
        client.refused(sql);
    }
    client.ask("BEGIN").unwrap();
    client.refused("DECLARE c CURSOR FOR SELECT 1");
    assert!(matches!(client.ask("SELECT 1").unwrap_err().kind(), ErrorKind::TransactionFailed));
}

#[test]
fn a_server_without_any_database_lets_clients_in() {
    let mut mysql = client("mysql", &[], None).unwrap();
    mysql.check("SELECT DATABASE()", &["DATABASE()", "NULL"]);
    mysql.check("SHOW DATABASES", &["Database", "information_schema"]);
    assert!(matches!(mysql.ask("SELECT * FROM t").unwrap_err().kind(), ErrorKind::NoDatabase));
    mysql.check("USE mysql", &["USE"]);
    let denied = mysql.ask("SELECT * FROM user").unwrap_err();
    assert!(matches!(denied.kind(), ErrorKind::AccessDenied(_)), "{denied}");
    let unknown = mysql.ask("USE shop").unwrap_err();
    assert!(matches!(unknown.kind(), ErrorKind::UnknownDatabase(_)), "{unknown}");
    let mut postgres = client("postgres", &[], Some("postgres")).unwrap();
    postgres.check("SELECT current_database()", &["current_database", "postgres"]);
    let refusal = postgres.ask("CREATE TABLE t (a int)").unwrap_err();
    assert!(refusal.to_string().contains("CREATE DATABASE"), "{refusal}");
    assert!(client("postgres", &["shop"], Some("bank")).is_err());
}

#[test]
fn answers_do_not_grow_without_bound() {
    let mut client = client("mysql", &["shop"], Some("shop")).unwrap();
    client.ask(&format!("SET @a = '{}'", "x".repeat(1 << 20))).unwrap();
    assert_eq!(client.ask("SELECT CONCAT(@a, @a)").unwrap()[1].len(), 2 << 20);
    client.refused(&format!("SELECT CONCAT({})", vec!["@a"; 20].join(", ")));
    client.refused(&format!("SELECT {}", vec!["@a"; 20].join(", ")));
    client.refused(&vec!["SELECT @a"; 20].join(" UNION ALL "));
    client.refused("SELECT @a FROM information_schema.session_variables");
    client
        .refused("SELECT 1 FROM (SELECT @a AS a) AS x, information_schema.session_variables AS y");
}

#[test]
fn a_prepared_answer_is_described() {
    let mut client = client("postgres", &["shop"], Some("shop")).unwrap();
    let session = &mut client.session;
    let described = client.runtime.block_on(async {
        let prepared = session.prepare("SELECT 1 AS a, 'x' AS b".into(), Vec::new()).await.unwrap();
        session.describe(&prepared).await.unwrap()
    });
    let kinds: Vec<_> =
        described.columns.unwrap().list.iter().map(|c| (c.name.clone(), c.kind)).collect();
    assert_eq!(kinds, [("a".to_owned(), Kind::Int), ("b".to_owned(), Kind::Text)]);
}
