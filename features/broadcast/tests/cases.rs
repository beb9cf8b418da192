//! Plays `route.case`: a statement, the state it meets, and where it goes.

#![allow(clippy::unwrap_used, reason = "test support functions")]

use pando_broadcast::ROOM;
use pando_config::{Placed, Rules, rules};
use pando_fake::room::{self, Known, Scene, place};
use pando_fake::table_column;
use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::{DataNode, LogicTable, TableKind};
use pando_kernel::{Around, Kind, States};

/// Those of every table; `t_region` numbers its rows by itself.
fn columns(table: &str) -> Vec<TableColumn> {
    let id = TableColumn {
        zone: None,
        primary_key: true,
        auto_increment: table == "t_region",
        ..table_column("id", Kind::Int)
    };
    vec![id, table_column("name", Kind::Text)]
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

/// `alone`: a database of one storage unit; `unread`: nothing is known of columns.
fn scene(state: &[&str]) -> Scene {
    let name = |text: &str| Placed::nowhere(text.to_owned());
    let section = rules::Broadcast {
        at: pando_config::At::default(),
        tables: ["t_dict", "T_Region"].map(name).to_vec(),
    };
    let rules = Rules { broadcast: Some(section), ..Rules::default() };
    let places = [place("ds_0", &["ds_0"]), place("rw", &["w0", "r0"])];
    let places = if state.contains(&"alone") { &places[..1] } else { &places[..] };
    let states = States::default();
    let around = Around {
        units: &[],
        places,
        others: &others(),
        states: &states,
        fold: pando_sql::Fold::Keep,
        modules: &pando_kernel::NoModules,
    };
    let room = (ROOM.build)(&rules, &around).unwrap().unwrap();
    let columns: fn(&str) -> Vec<TableColumn> = columns;
    let columns = (!state.contains(&"unread")).then_some(columns);
    Scene { room, known: Known { columns, tables: None } }
}

#[test]
fn every_copy_stays_the_same_and_every_row_comes_once() {
    let wrong = room::play(include_str!("route.case"), scene).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
