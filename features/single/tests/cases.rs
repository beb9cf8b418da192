//! Plays `route.case`: a statement, the state it meets, and where it goes.

#![allow(clippy::unwrap_used, reason = "test support functions")]

use pando_config::{Placed, Rules, rules};
use pando_fake::room::{self, Known, Scene, place};
use pando_kernel::feature::{DataNode, LogicTable, TableKind};
use pando_kernel::{Around, States};
use pando_single::ROOM;

fn others() -> Vec<LogicTable> {
    let node = |unit: &str, table: &str| DataNode { unit: unit.into(), table: table.into() };
    let table = |name: &str, kind: TableKind, nodes: Vec<DataNode>| LogicTable {
        name: name.into(),
        kind,
        nodes,
        spread: String::new(),
        keys: Vec::new(),
    };
    let parts = vec![node("ds_0", "t_order_0"), node("ds_1", "t_order_1")];
    let copies = ["ds_0", "ds_1", "rw"].map(|unit| node(unit, "t_dict")).to_vec();
    vec![table("t_order", TableKind::Sharded, parts), table("t_dict", TableKind::Broadcast, copies)]
}

/// What the storage units hold; `r0` is a replica of the group `rw`.
fn found() -> Known {
    Known::of(&[
        ("t_order_0", &["ds_0"]),
        ("t_order_1", &["ds_1"]),
        ("t_dict", &["ds_0", "ds_1", "w0", "r0"]),
        ("t_user", &["ds_0"]),
        ("t_role", &["ds_0"]),
        ("t_log", &["ds_1"]),
        ("t_twice", &["ds_0", "ds_1"]),
        ("t_chosen", &["ds_0", "ds_1"]),
        ("t_group", &["w0", "r0"]),
        ("t_replica", &["r0"]),
        ("t_copied", &["w0", "spare"]),
        ("t_left", &["ds_1", "spare"]),
        ("t_spare", &["spare"]),
    ])
}

fn section() -> rules::Single {
    let name = |text: &str| Placed::nowhere(text.to_owned());
    rules::Single {
        at: pando_config::At::default(),
        tables: ["ds_1.t_chosen", "ds_1.t_named", "ds_0.*"].map(name).to_vec(),
        default_data_source: Some(name("ds_1")),
    }
}

/// `alone`: a database of one storage unit without rules; `unread`: nothing is known of the storage units' tables.
fn scene(state: &[&str]) -> Scene {
    let places = [
        place("ds_0", &["ds_0"]),
        place("ds_1", &["ds_1"]),
        place("rw", &["w0", "r0"]),
        place("spare", &["spare"]),
    ];
    let (is_alone, is_unread) = (state.contains(&"alone"), state.contains(&"unread"));
    let others = if is_alone { Vec::new() } else { others() };
    let rules = Rules { single: (!is_alone).then(section), ..Rules::default() };
    let places = if is_alone { &places[..1] } else { &places[..] };
    let around = Around {
        units: &[],
        places,
        others: &others,
        states: &States::default(),
        fold: pando_sql::Fold::Keep,
        modules: &pando_kernel::NoModules,
    };
    let room = (ROOM.build)(&rules, &around).unwrap().unwrap();
    Scene { room, known: if is_unread { Known::default() } else { found() } }
}

#[test]
fn statements_go_where_their_tables_stand() {
    let wrong = room::play(include_str!("route.case"), scene).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
