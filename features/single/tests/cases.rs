//! Runs `route.case`: a statement, the state it meets, and where it goes.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "test support functions")]

use std::collections::HashMap;
use std::sync::Arc;

use pando_config::{Placed, rules};
use pando_fake::{BACKTICK, FakeDialect};
use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::{
    Catalog, Context, DataNode, Database, Feature, LogicTable, SessionView, Source, TableKind,
};
use pando_kernel::route::{Place, Route, Spread, Target, UnitName, Units};
use pando_single::Single;

#[derive(Debug, Default)]
struct Known {
    tables: Option<HashMap<String, Vec<UnitName>>>,
}

impl Catalog for Known {
    fn columns(&self, _table: &str) -> Option<Arc<Vec<TableColumn>>> {
        None
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        self.tables.clone().map(Arc::new)
    }
}

#[derive(Debug)]
struct Still;

impl Source for Still {
    fn now_millis(&self) -> i64 {
        0
    }

    fn random(&self, buffer: &mut [u8]) {
        buffer.fill(0);
    }
}

fn place(name: &str, members: &[&str]) -> Place {
    Place { name: name.into(), members: members.iter().map(|unit| (*unit).into()).collect() }
}

fn others() -> Vec<LogicTable> {
    let node = |unit: &str, table: &str| DataNode { unit: unit.into(), table: table.into() };
    vec![
        LogicTable {
            name: "t_order".into(),
            kind: TableKind::Sharded,
            nodes: vec![node("ds_0", "t_order_0"), node("ds_1", "t_order_1")],
            spread: String::new(),
            keys: Vec::new(),
        },
        LogicTable {
            name: "t_dict".into(),
            kind: TableKind::Broadcast,
            nodes: vec![node("ds_0", "t_dict"), node("ds_1", "t_dict"), node("rw", "t_dict")],
            spread: String::new(),
            keys: Vec::new(),
        },
    ]
}

/// What the storage units hold; `r0` is a replica of the group `rw`.
fn found() -> HashMap<String, Vec<UnitName>> {
    let of = |name: &str, units: &[&str]| {
        (name.to_owned(), units.iter().map(|unit| UnitName::from(*unit)).collect())
    };
    HashMap::from([
        of("t_order_0", &["ds_0"]),
        of("t_order_1", &["ds_1"]),
        of("t_dict", &["ds_0", "ds_1", "w0", "r0"]),
        of("t_user", &["ds_0"]),
        of("t_role", &["ds_0"]),
        of("t_log", &["ds_1"]),
        of("t_twice", &["ds_0", "ds_1"]),
        of("t_chosen", &["ds_0", "ds_1"]),
        of("t_group", &["w0", "r0"]),
        of("t_replica", &["r0"]),
        of("t_copied", &["w0", "spare"]),
        of("t_left", &["ds_1", "spare"]),
        of("t_spare", &["spare"]),
    ])
}

fn room(alone: bool) -> Single {
    let name = |text: &str| Placed::nowhere(text.to_owned());
    let section = rules::Single {
        at: pando_config::At::default(),
        tables: ["ds_1.t_chosen", "ds_1.t_named", "ds_0.*"].map(name).to_vec(),
        default_data_source: Some(name("ds_1")),
    };
    let places = [
        place("ds_0", &["ds_0"]),
        place("ds_1", &["ds_1"]),
        place("rw", &["w0", "r0"]),
        place("spare", &["spare"]),
    ];
    if alone {
        return Single::new(None, &places[..1], &[]).unwrap();
    }
    Single::new(Some(&section), &places, &others()).unwrap()
}

fn outcome(sql: &str, state: &[&str]) -> String {
    let room = room(state.contains(&"alone"));
    let database = Database {
        name: "shop".into(),
        units: Vec::new(),
        features: Vec::new(),
        dialect: Arc::new(FakeDialect::default()),
    };
    let known = Known { tables: (!state.contains(&"unread")).then(found) };
    let session = SessionView::default();
    let ctx = Context {
        database: &database,
        catalog: &known,
        dialect: &*database.dialect,
        parameters: None,
        session: &session,
        source: &Still,
    };
    let stmt = pando_sql::parse(sql, &BACKTICK).unwrap();
    let mut route = Route::Unclaimed;
    if let Some(units) = state.iter().find_map(|line| line.strip_prefix("claimed ")) {
        let targets = units.split(' ').map(|unit| Target::whole(unit.into())).collect();
        route = Route::Units(Units::new(targets, Spread::Gather));
    }
    let routed = room.check(&ctx, &stmt).and_then(|()| room.route(&ctx, &stmt, &mut route));
    match routed {
        Err(error) => format!("error {error}"),
        Ok(()) => match route {
            Route::Unclaimed => "unclaimed".to_owned(),
            Route::Needs(need) => format!("needs {need:?}"),
            Route::Units(units) => {
                let names: Vec<&str> = units.targets.iter().map(|target| &*target.unit).collect();
                names.join(" ")
            }
        },
    }
}

#[test]
fn statements_go_where_their_tables_stand() {
    let mut wrong = Vec::new();
    for block in include_str!("route.case").split("\n\n").filter(|block| !block.trim().is_empty()) {
        let lines: Vec<&str> = block.trim().lines().collect();
        let state: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("@ ")).collect();
        let (sql, expected) = block.trim().split_once("\n=> ").expect(block);
        let sql: Vec<&str> = sql.lines().filter(|line| !line.starts_with(['#', '@'])).collect();
        let actual = outcome(&sql.join("\n"), &state);
        if !actual.starts_with(expected) {
            wrong.push(format!("{block}\n   but: {actual}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
