//! What a disabled storage unit refuses, and what goes on without it.
#![allow(clippy::unwrap_used, reason = "test support functions")]

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use pando_config::{File, parse_one};
use pando_kernel::States;
use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::{Catalog, Context, SessionView, Source};
use pando_kernel::route::{Route, UnitName};
use pando_rooms::build_with_states;

#[derive(Debug)]
struct Nothing;

impl Catalog for Nothing {
    fn columns(&self, _table: &str) -> Option<Arc<Vec<TableColumn>>> {
        None
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        Some(Arc::default())
    }
}

impl Source for Nothing {
    fn now_millis(&self) -> i64 {
        0
    }

    fn random(&self, buffer: &mut [u8]) {
        buffer.fill(0);
    }
}

const SHOP: &str = "databaseName: shop
dataSources:
  ds_0: {url: 'jdbc:postgresql://a/x', username: u}
  ds_1: {url: 'jdbc:postgresql://b/x', username: u}
rules:
- !SINGLE
  tables: [ds_0.here, ds_1.there]
- !BROADCAST
  tables: [dict]
- !SHARDING
  tables:
    t:
      actualDataNodes: ds_${0..1}.t
      databaseStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: by_2}}
  shardingAlgorithms:
    by_2: {type: MOD, props: {sharding-count: 2}}
";

/// The targets, or the error, with `ds_1` out of work.
fn outcome(sql: &str, ticket: u64) -> String {
    met(sql, &SessionView { ticket, ..SessionView::default() })
}

/// The same in such a session.
fn met(sql: &str, session: &SessionView) -> String {
    let configuration = parse_one(File { name: "db.yaml", text: SHOP }, &|_| None).unwrap();
    let mut states = States::default();
    states.disabled.insert("ds_1".into());
    let built = build_with_states(&configuration.databases[0], Path::new("."), &states).unwrap();
    let dialect = Arc::clone(&built.database.dialect);
    let ctx = Context {
        database: &built.database,
        catalog: &Nothing,
        dialect: &*dialect,
        parameters: None,
        session,
        source: &Nothing,
    };
    let stmt = pando_sql::parse(sql, dialect.syntax()).unwrap();
    let mut route = Route::Unclaimed;
    for room in &built.database.features {
        let done = room.route(&ctx, &stmt, &mut route);
        if let Err(error) = done {
            return error.to_string();
        }
    }
    match route {
        Route::Units(units) => {
            let names: Vec<&str> = units.targets.iter().map(|target| &*target.unit).collect();
            names.join(" ")
        }
        Route::Unclaimed | Route::Needs(_) => "unclaimed".into(),
    }
}

#[test]
fn what_is_only_looked_at_is_looked_at_where_it_works() {
    let session = SessionView { describes: true, ..SessionView::default() };
    assert_eq!(met("SELECT 1 FROM t", &session), "ds_0");
    assert!(met("SELECT * FROM there", &session).contains("is disabled"));
    assert!(outcome("SELECT 1 FROM t", 0).contains("is disabled"));
}

#[test]
fn a_disabled_unit_refuses_what_needs_it_and_nothing_else() {
    let refused =
        "storage unit `ds_1` is disabled; `ENABLE STORAGE UNIT ds_1` puts it back to work";
    for (sql, expected) in [
        ("SELECT * FROM here", "ds_0"),
        ("SELECT * FROM there", refused),
        ("UPDATE there SET a = 1", refused),
        ("DELETE FROM dict", refused),
        ("SELECT * FROM dict", "ds_0"),
        ("CREATE TABLE another (a int)", refused),
        // The table may stand there.
        ("DROP TABLE IF EXISTS elsewhere", refused),
        ("SELECT nextval('s')", refused),
        ("SELECT 1", "unclaimed"),
    ] {
        for ticket in 0..2 {
            assert_eq!(outcome(sql, ticket), expected, "{sql}");
        }
    }
}
