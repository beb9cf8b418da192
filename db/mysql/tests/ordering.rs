//! Weights that storage units compute compare as the server itself compares.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "tests only"
)]

mod support;

use pando_kernel::dialect::{Comparison, Metadata, Ordering};
use pando_kernel::{Kind, Value};
use pando_mysql::MySql;
use support::{connect, run, servers, settings, text};

/// Texts with trailing spaces, control characters around them, letter cases, accents and characters of every width.
const TEXTS: [&str; 22] = [
    "", " ", "a", "A", "a ", "a  b", "a\t", "a \tb", "a\n", "ab", "á", "b", "ß", "ss", "z", "é",
    "e", "日本", "日", "😀", "~", "aé",
];

const COLLATIONS: [&str; 10] = [
    "utf8mb4_general_ci",
    "utf8mb4_unicode_ci",
    "utf8mb4_bin",
    "utf8mb4_0900_ai_ci",
    "utf8mb4_0900_as_cs",
    "utf8mb4_0900_bin",
    "utf8mb4_nopad_bin",
    "utf8mb4_general_nopad_ci",
    "utf8mb4_uca1400_ai_ci",
    "utf8mb4_unicode_520_ci",
];

fn weights(value: &Value) -> Vec<u8> {
    match value {
        Value::Bytes(bytes) => bytes.to_vec(),
        Value::Text(text) => text.clone().into_bytes(),
        other => panic!("weights are octets: {other:?}"),
    }
}

/// Checks every pair of texts in a column of this type: the weights' order against the server's own.
async fn check(port: u16, column_type: &str, known: bool) {
    let mut backend = connect(settings(port)).await;
    let create = format!("CREATE TEMPORARY TABLE t (n INT, s {column_type})");
    if text(&mut *backend, &create).await.is_err() {
        // This server does not have the collation.
        return;
    }
    text(&mut *backend, &create.replace("TABLE t ", "TABLE u ")).await.unwrap();
    for table in ["t", "u"] {
        for (n, value) in TEXTS.iter().enumerate() {
            let insert = format!("INSERT INTO {table} VALUES ({n}, '{value}')");
            text(&mut *backend, &insert).await.unwrap();
        }
    }
    let collation = column_type.split_whitespace().last().unwrap().to_owned();
    let info = pando_kernel::dialect::TableColumn {
        name: "s".into(),
        kind: Kind::Text,
        type_name: column_type.split_whitespace().next().unwrap().into(),
        collation,
        collate: String::new(),
        zone: None,
        primary_key: false,
        auto_increment: false,
        nullable: true,
        invisible: false,
        attribute: Default::default(),
        timed: None,
    };
    let derive = match MySql.comparison("s", known.then_some(&info)) {
        Comparison::Derive(derive) | Comparison::ByResult { derive: Some(derive) } => derive,
        other => panic!("text has weights: {other:?}"),
    };
    let query = format!("SELECT {derive} FROM t ORDER BY n");
    let found = text(&mut *backend, &query).await.unwrap().rows;
    let found: Vec<_> = found.iter().map(|row| weights(&row[0])).collect();
    let query = "SELECT t.n, u.n, (t.s > u.s) - (t.s < u.s) FROM t, u";
    for row in text(&mut *backend, query).await.unwrap().rows {
        let [Value::Int(left), Value::Int(right), Value::Int(order)] = row[..] else {
            panic!("three numbers: {row:?}");
        };
        let (left, right) = (left as usize, right as usize);
        let ours = found[left].cmp(&found[right]) as i64;
        assert_eq!(ours, order, "{column_type}: {:?} {:?}", TEXTS[left], TEXTS[right]);
    }
}

#[test]
fn weights_compare_as_the_server_compares() {
    for (_, port) in servers() {
        run(async {
            for collation in COLLATIONS {
                for column in ["VARCHAR(20)", "TEXT"] {
                    let column_type = format!("{column} CHARACTER SET utf8mb4 COLLATE {collation}");
                    check(port, &column_type, true).await;
                    check(port, &column_type, false).await;
                }
            }
        });
    }
}

#[test]
fn the_catalogue_tells_columns_and_tables() {
    for (_, port) in servers() {
        run(async {
            let mut backend = connect(settings(port)).await;
            text(&mut *backend, "DROP TABLE IF EXISTS pando_catalogue").await.unwrap();
            let create = "CREATE TABLE pando_catalogue (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, \
                name VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL, at DATETIME NULL)";
            text(&mut *backend, create).await.unwrap();
            let query = MySql.columns_query(None, "pando_catalogue");
            let rows = text(&mut *backend, &query).await.unwrap().rows;
            let columns: Vec<_> = rows.iter().map(|row| MySql.read_column(row).unwrap()).collect();
            assert_eq!(columns.len(), 3);
            assert_eq!((columns[0].kind, columns[1].kind), (Kind::UInt, Kind::Text));
            assert!(columns[0].primary_key && columns[0].auto_increment);
            assert_eq!(columns[1].collation, "utf8mb4_general_ci");
            assert!(columns[2].nullable && !columns[1].nullable);
            let tables = text(&mut *backend, &MySql.tables_query()).await.unwrap().rows;
            assert!(tables.iter().any(|row| row[1] == Value::Text("pando_catalogue".into())));
            text(&mut *backend, "DROP TABLE pando_catalogue").await.unwrap();
        });
    }
}
