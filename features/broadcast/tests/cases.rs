//! Runs `route.case`: a statement, the state it meets, and where it goes.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "test support functions")]

use std::collections::HashMap;
use std::sync::Arc;

use pando_broadcast::Broadcast;
use pando_config::{Placed, rules};
use pando_fake::{BACKTICK, FakeDialect};
use pando_kernel::Kind;
use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::{
    Catalog, Context, DataNode, Database, Feature, LogicTable, SessionView, Source, TableKind,
};
use pando_kernel::route::{Place, Route, Spread, Target, UnitName, Units};

#[derive(Debug, Default)]
struct Known {
    unread: bool,
}

impl Catalog for Known {
    fn columns(&self, table: &str) -> Option<Arc<Vec<TableColumn>>> {
        let column = |name: &str, kind: Kind, auto_increment: bool| TableColumn {
            name: name.into(),
            kind,
            type_name: String::new(),
            collation: String::new(),
            collate: String::new(),
            primary_key: name == "id",
            auto_increment,
            nullable: true,
            attribute: Default::default(),
        };
        let numbered = table == "t_region";
        let list = vec![column("id", Kind::Int, numbered), column("name", Kind::Text, false)];
        (!self.unread).then(|| Arc::new(list))
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        None
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
    let table = |name: &str| LogicTable {
        name: name.into(),
        kind: TableKind::Sharded,
        nodes: vec![node("ds_0", name), node("rw", name)],
        spread: String::new(),
        keys: Vec::new(),
    };
    vec![table("t_order"), table("t_item")]
}

fn room(alone: bool) -> Broadcast {
    let name = |text: &str| Placed::nowhere(text.to_owned());
    let section = rules::Broadcast {
        at: pando_config::At::default(),
        tables: ["t_dict", "T_Region"].map(name).to_vec(),
    };
    let places = [place("ds_0", &["ds_0"]), place("rw", &["w0", "r0"])];
    let count = if alone { 1 } else { 2 };
    Broadcast::new(Some(&section), &places[..count], &others()).unwrap()
}

fn outcome(sql: &str, state: &[&str]) -> String {
    let room = room(state.contains(&"alone"));
    let database = Database {
        name: "shop".into(),
        units: Vec::new(),
        features: Vec::new(),
        dialect: Arc::new(FakeDialect { syntax: &BACKTICK, ..FakeDialect::default() }),
    };
    let known = Known { unread: state.contains(&"unread") };
    let mut session = SessionView::default();
    for line in state {
        match line.split_once(' ') {
            Some(("ticket", number)) => session.ticket = number.parse().unwrap(),
            Some(("held", unit)) => session.held.push(unit.into()),
            _ => {}
        }
    }
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
        let spread = if state.contains(&"same") { Spread::Same } else { Spread::Gather };
        route = Route::Units(Units::new(targets, spread));
    }
    match room.route(&ctx, &stmt, &mut route) {
        Err(error) => format!("error {error}"),
        Ok(()) => match route {
            Route::Unclaimed => "unclaimed".to_owned(),
            Route::Needs(need) => format!("needs {need:?}"),
            Route::Units(units) => {
                let names: Vec<&str> = units.targets.iter().map(|target| &*target.unit).collect();
                let same = if units.spread == Spread::Same { " (same)" } else { "" };
                format!("{}{same}", names.join(" "))
            }
        },
    }
}

#[test]
fn every_copy_stays_the_same_and_every_row_comes_once() {
    let mut wrong = Vec::new();
    for block in include_str!("route.case").split("\n\n").filter(|block| !block.trim().is_empty()) {
        let lines: Vec<&str> = block.trim().lines().collect();
        let state: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("@ ")).collect();
        let (sql, expected) = block.trim().split_once("\n=> ").expect(block);
        let sql: Vec<&str> = sql.lines().filter(|line| !line.starts_with(['#', '@'])).collect();
        let actual = outcome(&sql.join("\n"), &state);
        let is_error = expected.starts_with("error");
        if (is_error && !actual.contains(&expected["error ".len()..]))
            || (is_error != actual.starts_with("error"))
            || (!is_error && actual != expected)
        {
            wrong.push(format!("{block}\n   but: {actual}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
