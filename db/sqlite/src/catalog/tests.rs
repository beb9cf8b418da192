//! Questions as clients put them, over a file with actual tables.

use std::collections::HashMap;
use std::sync::Arc;

use pando_kernel::dialect::{Facts, Language, Metadata, TableColumn};
use pando_kernel::feature::Catalog;
use pando_kernel::presentation::{Asked, Presented, Shown, Telling, View};
use pando_kernel::route::UnitName;
use pando_kernel::{ErrorKind, Result};
use pando_sql::ast::Kind;
use rusqlite::types::Value;

use crate::compat::{Translation, translate};
use crate::dialect::SqliteDialect;
use crate::tongue::Tongue;

const TABLES: &str = "\
CREATE TABLE t_order_0 (order_id BIGINT PRIMARY KEY, user_id INT NOT NULL, status VARCHAR(20) DEFAULT 'x');
CREATE INDEX i_user_t_order_0 ON t_order_0(user_id);
CREATE TABLE t_order_1 (order_id BIGINT PRIMARY KEY, user_id INT NOT NULL, status VARCHAR(20) DEFAULT 'x');
CREATE TABLE t_one (id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT UNIQUE, b BOOLEAN);
CREATE TABLE t_child (id INT PRIMARY KEY, one BIGINT REFERENCES t_one(id) ON DELETE CASCADE);
CREATE VIEW v AS SELECT id FROM t_one;";

#[derive(Debug)]
struct Unread;

impl Catalog for Unread {
    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        None
    }

    fn columns(&self, _table: &str) -> Option<Arc<Vec<TableColumn>>> {
        None
    }

    fn indexes(&self) -> Option<Arc<HashMap<String, String>>> {
        None
    }
}

fn shown() -> Vec<Shown> {
    let one =
        |actual: &str, hidden| Shown { actual: actual.into(), logic: "t_order".into(), hidden };
    vec![one("t_order_0", false), one("t_order_1", true)]
}

fn facts() -> Facts {
    let databases = Arc::from(["shop".to_owned(), "other".to_owned()]);
    Facts {
        database: Some("shop".into()),
        databases,
        user: "me".into(),
        autocommit: true,
        settings: Arc::from([("wait_timeout".to_owned(), "77".to_owned())]),
        ..Facts::default()
    }
}

fn dialect(tongue: Tongue) -> SqliteDialect {
    SqliteDialect::speaking(tongue)
}

/// The text one storage unit gets.
fn presented(sql: &str, tongue: Tongue) -> Result<String> {
    let dialect = dialect(tongue);
    let presentation = dialect.presentation().unwrap();
    let mut stmt = pando_sql::parse(sql, dialect.syntax()).unwrap();
    if let Kind::Show(show) = &stmt.kind
        && let Some(text) = presentation.restate(&stmt.text, show, &facts())?
    {
        stmt = pando_sql::parse(&text, dialect.syntax()).unwrap();
    }
    let (facts, tables) = (facts(), shown());
    let view = View {
        database: "shop",
        facts: &facts,
        number: 0,
        tables: &tables,
        columns: &[],
        numbers: None,
        catalog: &Unread,
    };
    match presentation.present(&stmt, &view)? {
        Presented::Edits(edits) => Ok(edits.apply(&stmt.text)),
        Presented::Needs(need) => panic!("{need:?}"),
    }
}

/// The rows, fields separated by `|`.
fn rows(sql: &str, tongue: Tongue) -> Vec<String> {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    crate::functions::register(&connection).unwrap();
    connection.execute_batch(TABLES).unwrap();
    let Translation::One(text, _) = translate(&presented(sql, tongue).unwrap(), tongue).unwrap()
    else {
        panic!("{sql}")
    };
    let mut statement = connection.prepare(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let width = statement.column_count();
    let rows = statement.query_map([], |row| {
        let fields: Vec<String> = (0..width)
            .map(|at| match row.get_unwrap(at) {
                Value::Null => String::new(),
                Value::Integer(number) => number.to_string(),
                Value::Real(number) => number.to_string(),
                Value::Text(text) => text,
                Value::Blob(bytes) => format!("{bytes:?}"),
            })
            .collect();
        Ok(fields.join("|"))
    });
    rows.unwrap().map(|row| row.unwrap()).collect()
}

fn check(tongue: Tongue, sql: &str, expected: &[&str]) {
    assert_eq!(rows(sql, tongue), expected, "{sql}");
}

#[test]
fn psql_lists_logic_tables_and_databases() {
    let pg = Tongue::Postgres;
    check(
        pg,
        "SELECT n.nspname, c.relname, CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' END, pg_catalog.pg_get_userbyid(c.relowner)
         FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
         WHERE c.relkind IN ('r','p','v','m','S','f','') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast'
         AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1,2",
        &["public|t_child|table|me", "public|t_one|table|me", "public|t_order|table|me", "public|v|view|me"],
    );
    check(
        pg,
        "SELECT d.datname, pg_catalog.array_to_string(d.datacl, E'\\n') FROM pg_catalog.pg_database d ORDER BY 1",
        &["other|", "postgres|", "shop|"],
    );
    check(
        pg,
        "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_name = 't_order' ORDER BY ordinal_position",
        &["t_order|order_id|bigint", "t_order|user_id|integer", "t_order|status|character varying"],
    );
}

#[test]
fn psql_describes_a_logic_table_by_the_number_it_was_shown() {
    let pg = Tongue::Postgres;
    let found = rows(
        "SELECT c.oid FROM pg_catalog.pg_class c WHERE c.relname OPERATOR(pg_catalog.~) '^(t_order)$' COLLATE pg_catalog.default",
        pg,
    );
    let [oid] = &found[..] else { panic!("{found:?}") };
    check(
        pg,
        &format!(
            "SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), \
          (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM pg_catalog.pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef) \
          FROM pg_catalog.pg_attribute a WHERE a.attrelid = '{oid}' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
        ),
        &["order_id|bigint|", "user_id|integer|", "status|character varying(20)|'x'"],
    );
    check(
        pg,
        &format!(
            "SELECT c2.relname, i.indisprimary, pg_catalog.pg_get_indexdef(i.indexrelid, 0, true), pg_catalog.pg_get_constraintdef(con.oid, true) \
          FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i \
          LEFT JOIN pg_catalog.pg_constraint con ON (conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p','u','x')) \
          WHERE c.oid = '{oid}' AND c.oid = i.indrelid AND i.indexrelid = c2.oid ORDER BY i.indisprimary DESC, c2.relname"
        ),
        &[
            "t_order_pkey|1|CREATE UNIQUE INDEX t_order_pkey ON public.t_order USING btree (order_id)|PRIMARY KEY (order_id)",
            "i_user|0|CREATE INDEX i_user ON public.t_order USING btree (user_id)|",
        ],
    );
}

#[test]
fn constraints_and_views_are_told_with_their_definitions() {
    let pg = Tongue::Postgres;
    check(
        pg,
        "SELECT conname, conrelid::pg_catalog.regclass, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f'",
        &["t_child_one_fkey|t_child|FOREIGN KEY (one) REFERENCES t_one(id) ON DELETE CASCADE"],
    );
    check(pg, "SELECT viewname, definition FROM pg_views", &["v|SELECT id FROM t_one"]);
    check(pg, "SELECT relname FROM pg_class WHERE oid = 't_order'::regclass", &["t_order"]);
}

#[test]
fn mysql_shows_logic_tables() {
    let my = Tongue::MySql;
    check(my, "SHOW TABLES", &["t_child", "t_one", "t_order", "v"]);
    check(my, "SHOW FULL TABLES LIKE 't\\_o%'", &["t_one|BASE TABLE", "t_order|BASE TABLE"]);
    check(my, "SHOW DATABASES", &["information_schema", "other", "shop"]);
    check(my, "SHOW VARIABLES LIKE 'autocommit'", &["autocommit|ON"]);
    check(my, "SHOW VARIABLES LIKE 'wait_timeout'", &["wait_timeout|77"]);
    check(
        my,
        "SELECT table_name, CASE table_type WHEN 'VIEW' THEN 'VIEW' ELSE 'TABLE' END AS table_type FROM information_schema.tables WHERE table_schema = 'shop' HAVING table_type IN ('VIEW', NULL) ORDER BY table_schema, table_name",
        &["v|VIEW"],
    );
    check(
        my,
        "SELECT table_name, column_name, column_type, column_key FROM information_schema.columns WHERE table_schema = 'shop' AND table_name = 't_order' ORDER BY ordinal_position",
        &["t_order|order_id|bigint|PRI", "t_order|user_id|int|MUL", "t_order|status|varchar(20)|"],
    );
}

#[test]
fn a_show_about_one_actual_table_is_answered_by_the_connection_and_retold() {
    let my = Tongue::MySql;
    check(
        my,
        "DESCRIBE t_order_0",
        &["order_id|bigint|NO|PRI||", "user_id|int|NO|MUL||", "status|varchar(20)|YES||x|"],
    );
    let text = rows("SHOW CREATE TABLE t_order_0", my).concat();
    assert!(text.contains("`user_id` int NOT NULL,\n"), "{text}");
    let dialect = dialect(my);
    let presentation = dialect.presentation().unwrap();
    let stmt = pando_sql::parse("SHOW CREATE TABLE t_order", dialect.syntax()).unwrap();
    let Kind::Show(show) = &stmt.kind else { panic!("{:?}", stmt.kind) };
    let (tables, facts) = (shown(), Facts::default());
    let telling = Telling { tables: &tables, columns: &[], facts: &facts };
    let told = presentation.retell(show, "Create Table", &text, &telling).unwrap();
    assert!(
        told.contains("CREATE TABLE `t_order` (\n") && told.contains("KEY `i_user` (`user_id`)"),
        "{told}"
    );
    assert!(!told.contains("t_order_0`"), "{told}");
}

#[test]
fn what_is_not_there_is_refused_with_the_reason() {
    for (sql, tongue) in [
        ("SELECT * FROM mysql.user", Tongue::MySql),
        ("SELECT * FROM pg_catalog.pg_stat_activity", Tongue::Postgres),
        ("SELECT * FROM information_schema.nope", Tongue::Postgres),
    ] {
        let error = presented(sql, tongue).unwrap_err();
        let ErrorKind::Refused { reason, .. } = error.kind() else { panic!("{error}") };
        assert!(reason.contains("SQLite"), "{reason}");
    }
    assert!(presented("SHOW nope", Tongue::Postgres).is_err());
    assert!(presented("SHOW GRANTS", Tongue::MySql).is_err());
}

#[test]
fn every_relation_can_be_read() {
    let all = super::postgres::RELATIONS.iter().chain(super::postgres::INFORMATION);
    for relation in all {
        rows(&format!("SELECT * FROM {}.{}", relation.schema, relation.name), Tongue::Postgres);
    }
    for relation in super::mysql::RELATIONS {
        rows(&format!("SELECT * FROM {}.{}", relation.schema, relation.name), Tongue::MySql);
    }
}

#[test]
fn a_number_leads_to_the_unit_that_shows_it() {
    let dialect = dialect(Tongue::Postgres);
    let asked = |sql: &str| {
        let stmt = pando_sql::parse(sql, dialect.syntax()).unwrap();
        dialect.presentation().unwrap().asked(&stmt, &[])
    };
    let number = super::base::STEP * 3 + 16_385;
    let sql = format!("SELECT * FROM pg_class WHERE oid = '{number}'");
    assert_eq!(asked(&sql), Asked::Number(3));
    assert_eq!(asked("SELECT * FROM pg_class WHERE oid = '16385'"), Asked::Anyone);
    assert_eq!(asked("SELECT 't'::regclass"), Asked::Table("t".into()));
}
