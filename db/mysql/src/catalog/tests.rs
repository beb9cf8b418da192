//! What each kind of text becomes for a unit.

#![expect(clippy::wildcard_enum_match_arm, reason = "whatever else comes is a failure")]

use std::collections::HashMap;
use std::sync::Arc;

use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::Catalog;
use pando_kernel::route::UnitName;
use pando_kernel::{ErrorKind, Kind};
use pando_sql::ast::Kind as StatementKind;

use pando_kernel::presentation::{Retold, Shown, Telling};

use super::*;
use crate::dialect::SYNTAX;

/// Tables of `information_schema` with a few of their columns.
#[derive(Debug)]
struct Few;

const COLUMNS: &[(&str, &[&str])] = &[
    ("information_schema.TABLES", &["TABLE_SCHEMA", "TABLE_NAME"]),
    ("information_schema.SCHEMATA", &["SCHEMA_NAME"]),
    ("information_schema.KEY_COLUMN_USAGE", &["CONSTRAINT_NAME", "REFERENCED_TABLE_NAME"]),
    ("information_schema.CHECK_CONSTRAINTS", &["CONSTRAINT_SCHEMA", "CONSTRAINT_NAME"]),
    ("information_schema.VIEWS", &[]),
];

impl Catalog for Few {
    fn columns(&self, table: &str) -> Option<Arc<Vec<TableColumn>>> {
        let (_, columns) = COLUMNS.iter().find(|(name, _)| *name == table)?;
        let column = |name: &&str| TableColumn {
            name: (*name).to_owned(),
            kind: Kind::Text,
            type_name: "varchar(64)".to_owned(),
            collation: String::new(),
            collate: String::new(),
            zone: None,
            primary_key: false,
            auto_increment: false,
            nullable: true,
            invisible: false,
            attribute: Default::default(),
            timed: None,
        };
        Some(Arc::new(columns.iter().map(column).collect()))
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        None
    }
}

fn shown(actual: &str, logic: &str, hidden: bool) -> Shown {
    Shown { actual: actual.into(), logic: logic.into(), hidden }
}

fn facts(database: Option<&str>) -> Facts {
    Facts {
        database: database.map(str::to_owned),
        databases: Arc::from(["shop".to_owned(), "other".to_owned()]),
        user: "app".into(),
        ..Facts::default()
    }
}

/// The text for unit `number`, which shows `t_0` as `t` and hides `t_1`.
fn presented(text: &str, number: usize) -> String {
    let tables = [shown("t_0", "t", false), shown("t_1", "t", true)];
    let facts = facts(Some("shop"));
    let view = View {
        database: "shop",
        facts: &facts,
        number,
        tables: &tables,
        columns: &[],
        numbers: None,
        catalog: &Few,
    };
    let stmt = pando_sql::parse(text, &SYNTAX).unwrap();
    match MySql.present(&stmt, &view).unwrap() {
        Presented::Edits(edits) => edits.apply(text),
        Presented::Needs(need) => format!("{need:?}"),
    }
}

#[test]
fn a_table_of_the_catalogue_becomes_a_sub_query() {
    let sub_query = "(SELECT CASE WHEN x.`TABLE_SCHEMA` = DATABASE() THEN 'shop' ELSE x.`TABLE_SCHEMA` END AS `TABLE_SCHEMA`, \
         CASE x.`TABLE_NAME` WHEN 't_0' THEN 't' ELSE x.`TABLE_NAME` END AS `TABLE_NAME` FROM information_schema.TABLES x \
         WHERE x.TABLE_SCHEMA = DATABASE() AND x.TABLE_NAME NOT IN ('t_1', 'pando_counter', 'pando_decision', 'pando_row_lock', 'pando_undo', 'pando_unit')";
    let vendors =
        " OR x.TABLE_SCHEMA IN ('information_schema', 'mysql', 'performance_schema', 'sys')";
    for (text, number, expected) in [
        (
            "SELECT Tables.table_name FROM Information_Schema.Tables",
            0,
            format!("SELECT Tables.table_name FROM {sub_query}{vendors}) AS `Tables`"),
        ),
        (
            "SELECT * FROM `information_schema`.`tables` AS x",
            1,
            format!("SELECT * FROM {sub_query}) AS x"),
        ),
        (
            "SELECT information_schema.TABLES.TABLE_NAME FROM information_schema.TABLES",
            1,
            format!("SELECT TABLES.TABLE_NAME FROM {sub_query}) AS `TABLES`"),
        ),
        (
            "SELECT DISTINCT table_name FROM information_schema.tables t",
            1,
            format!(
                "SELECT DISTINCT table_name AS `TABLE_NAME` FROM {sub_query} LIMIT 18446744073709551615) t"
            ),
        ),
    ] {
        assert_eq!(presented(text, number), expected);
    }
}

#[test]
fn columns_are_called_as_their_server_calls_them() {
    let facts = |version: &str| Facts { version: Some(version.into()), ..facts(Some("shop")) };
    for (version, text, expected) in [
        (
            "10.11.6-MariaDB-Pando-0.1.0",
            "SELECT Table_name, x FROM",
            "SELECT Table_name AS `Table_name`, x FROM",
        ),
        (
            "10.11.6-MariaDB-Pando-0.1.0",
            "SELECT DISTINCT table_name, table_name AS t FROM",
            "SELECT DISTINCT table_name AS `table_name`, table_name AS t FROM",
        ),
        ("10.11.6-MariaDB-Pando-0.1.0", "SELECT TABLE_NAME FROM", "SELECT TABLE_NAME FROM"),
        ("8.0.31-Pando-0.1.0", "SELECT table_name FROM", "SELECT table_name FROM"),
        (
            "8.0.31-Pando-0.1.0",
            "SELECT DISTINCT t.table_name FROM",
            "SELECT DISTINCT t.table_name AS `TABLE_NAME` FROM",
        ),
    ] {
        let facts = facts(version);
        let view = View {
            database: "shop",
            facts: &facts,
            number: 1,
            tables: &[],
            columns: &[],
            numbers: None,
            catalog: &Few,
        };
        let text = format!("{text} information_schema.tables t");
        let stmt = pando_sql::parse(&text, &SYNTAX).unwrap();
        let Presented::Edits(edits) = MySql.present(&stmt, &view).unwrap() else {
            panic!("{text}")
        };
        let shown = edits.apply(&text);
        assert_eq!(shown.split_once(" (SELECT").unwrap().0, expected);
    }
}

#[test]
fn databases_are_the_logical_ones() {
    let text = presented("SELECT * FROM information_schema.SCHEMATA", 0);
    assert!(text.contains("COALESCE(d.n, x.`SCHEMA_NAME`) AS `SCHEMA_NAME`"), "{text}");
    assert!(text.contains("LEFT JOIN (SELECT 'shop' AS n UNION ALL SELECT 'other' AS n) d"));
}

#[test]
fn constraints_lose_the_actual_table_s_name() {
    let text = presented("SELECT * FROM information_schema.key_column_usage", 1);
    let ending = "WHEN RIGHT(x.`CONSTRAINT_NAME`, 4) = '_t_0' THEN LEFT(x.`CONSTRAINT_NAME`, CHAR_LENGTH(x.`CONSTRAINT_NAME`) - 4)";
    assert!(text.contains(ending), "{text}");
    assert!(
        text.contains("CASE x.`REFERENCED_TABLE_NAME` WHEN 't_0' THEN 't' WHEN 't_1' THEN 't'")
    );
    let text = presented("SELECT * FROM information_schema.check_constraints", 1);
    let hidden = "NOT EXISTS (SELECT 1 FROM (SELECT 't_1' AS a UNION ALL SELECT 'pando_counter' AS a UNION ALL SELECT 'pando_decision' AS a UNION ALL ";
    assert!(text.contains(hidden), "{text}");
}

#[test]
fn what_is_not_known_is_asked_for_and_what_is_not_there_is_left() {
    let need = presented("SELECT 1 FROM information_schema.columns", 0);
    assert_eq!(need, "Columns(\"information_schema.COLUMNS\")");
    for text in ["SELECT 1 FROM information_schema.views", "SELECT 1 FROM mysql.user, t"] {
        assert_eq!(presented(text, 0), text);
    }
}

fn restated(text: &str, database: Option<&str>) -> String {
    let stmt = pando_sql::parse(text, &SYNTAX).unwrap();
    let StatementKind::Show(show) = &stmt.kind else { panic!("{text} is no SHOW") };
    match MySql.restate(text, show, &facts(database)) {
        Ok(Some(text)) => text,
        Ok(None) => "as it is".into(),
        Err(error) => match error.kind() {
            ErrorKind::NoDatabase => "no database".into(),
            ErrorKind::UnknownDatabase(name) => format!("unknown {name}"),
            ErrorKind::Refused { .. } => "refused".into(),
            other => format!("{other:?}"),
        },
    }
}

#[test]
fn a_show_is_the_query_that_it_is() {
    for (text, expected) in [
        (
            "SHOW TABLES",
            "SELECT t.`Tables_in_shop` FROM (SELECT TABLE_NAME AS `Tables_in_shop` FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA = 'shop') AS t ORDER BY 1",
        ),
        (
            "SHOW FULL TABLES IN Shop LIKE 'a%'",
            "SELECT t.`Tables_in_shop (a%)`, t.`Table_type` FROM (SELECT TABLE_NAME AS `Tables_in_shop (a%)`, \
             TABLE_TYPE AS `Table_type` FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop') AS t \
             WHERE t.`Tables_in_shop (a%)` LIKE 'a%' ORDER BY 1",
        ),
        (
            "SHOW DATABASES WHERE `Database` <> 'mysql'",
            "SELECT t.`Database` FROM (SELECT SCHEMA_NAME AS `Database` FROM information_schema.SCHEMATA WHERE 1 = 1) AS t \
             WHERE `Database` <> 'mysql' ORDER BY 1",
        ),
        ("SHOW INDEX FROM t FROM shop", "SHOW INDEX FROM `t`"),
        ("SHOW FULL FIELDS FROM shop.t LIKE 'x'", "SHOW FULL FIELDS FROM `t` LIKE 'x'"),
        ("SHOW COLUMNS FROM tables FROM sys", "SHOW COLUMNS FROM `sys`.`tables`"),
        ("SHOW COLUMNS FROM t", "as it is"),
        (
            "SHOW TRIGGERS FROM shop LIKE 't%'",
            "SELECT t.`Trigger`, t.`Event`, t.`Table`, t.`Statement`, t.`Timing`, t.`Created`, t.`sql_mode`, t.`Definer`, \
             t.`character_set_client`, t.`collation_connection`, t.`Database Collation` FROM (SELECT TRIGGER_NAME AS \
             `Trigger`, EVENT_MANIPULATION AS `Event`, EVENT_OBJECT_TABLE AS `Table`, ACTION_STATEMENT AS `Statement`, \
             ACTION_TIMING AS `Timing`, CREATED AS `Created`, SQL_MODE AS `sql_mode`, DEFINER AS `Definer`, \
             CHARACTER_SET_CLIENT AS `character_set_client`, COLLATION_CONNECTION AS `collation_connection`, \
             DATABASE_COLLATION AS `Database Collation`, ACTION_ORDER AS action_order FROM information_schema.TRIGGERS \
             WHERE TRIGGER_SCHEMA = 'shop') AS t WHERE t.`Table` LIKE 't%' ORDER BY t.`Table`, t.`Event`, t.`Timing`, \
             t.action_order",
        ),
        ("SHOW CREATE TRIGGER other.tr", "refused"),
        ("SHOW CREATE TRIGGER `nothing` . tr", "unknown nothing"),
        ("SHOW CREATE TRIGGER sys.tr", "as it is"),
        ("SHOW TABLES FROM mysql", "as it is"),
        ("SHOW TABLES FROM other", "refused"),
        ("SHOW TABLES FROM nothing", "unknown nothing"),
        ("SHOW CREATE TABLE t", "as it is"),
        ("SHOW VARIABLES LIKE 'v%'", "as it is"),
        ("SHOW GRANTS FOR other", "refused"),
        ("SHOW GRANTS FOR 'other'@'%'", "refused"),
        ("SHOW GRANTS FOR `current_user`", "refused"),
    ] {
        assert_eq!(restated(text, Some("shop")), expected, "{text}");
    }
    assert_eq!(restated("SHOW TABLES", None), "no database");
    assert_eq!(restated("SHOW CREATE TRIGGER tr", None), "no database");
    let own = restated("SHOW CREATE TRIGGER shop.`t``r`", None);
    assert!(own.ends_with("TRIGGER_SCHEMA = 'shop' AND TRIGGER_NAME = 't`r'"), "{own}");
    assert!(restated("SHOW TABLES FROM shop", None).contains("Tables_in_shop"));
    let own = ["", " FOR CURRENT_USER", " FOR current_user()", " FOR app", " FOR 'app'@'%'"];
    for asked in own {
        let grants = restated(&format!("SHOW GRANTS{asked}"), Some("shop"));
        assert!(grants.contains("'GRANT ALL PRIVILEGES ON `shop`.* TO `app`@`%`'"), "{grants}");
    }
}

#[test]
fn rows_of_a_show_are_told_in_logic_names() {
    let tables = [shown("t_0", "t", false), shown("t_1", "t", true)];
    let show = |text: &str| match pando_sql::parse(text, &SYNTAX).unwrap().kind {
        StatementKind::Show(show) => *show,
        other => panic!("{other:?}"),
    };
    for (text, label, field, expected) in [
        ("SHOW CREATE TABLE t", "Table", "t_0", Some("t")),
        ("SHOW CREATE TABLE t", "Create Table", "CREATE TABLE `t_0` (", Some("CREATE TABLE `t` (")),
        ("SHOW CREATE VIEW t", "View", "t_0", Some("t")),
        (
            "SHOW CREATE VIEW t",
            "Create View",
            "CREATE VIEW `t_0` AS select `t_0`.`t_0` AS `t_0`,'`t_0`' from `t_0` `x`",
            Some("CREATE VIEW `t` AS select `t`.`t_0` AS `t_0`,'`t_0`' from `t` `x`"),
        ),
        ("SHOW INDEX FROM t", "Table", "t_0", Some("t")),
        ("SHOW KEYS FROM t", "Key_name", "fk_t_0", Some("fk")),
        ("SHOW KEYS FROM t", "Key_name", "PRIMARY", None),
        ("SHOW INDEX FROM t", "Column_name", "t_0", None),
        ("SHOW STATUS", "Table", "t_0", None),
    ] {
        let facts = Facts::default();
        let telling = Telling { tables: &tables, columns: &[], facts: &facts };
        let told = MySql.retell(&show(text), label, field, &telling);
        assert_eq!(told.as_deref(), expected, "{text}: {label}");
    }
}

#[test]
fn the_database_s_name_is_told_from_the_vendors() {
    let part = |text: &str| {
        let stmt = pando_sql::parse(&format!("SELECT 1 FROM {text}"), &SYNTAX).unwrap();
        let tables = visit::tables(&stmt.kind);
        MySql.database_part(&tables[0].name.parts).map(|part| part.value.clone())
    };
    assert_eq!(part("Shop.t").as_deref(), Some("Shop"));
    assert_eq!(part("t"), None);
    assert_eq!(part("INFORMATION_SCHEMA.tables"), None);
}
