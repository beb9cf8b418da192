//! Plays `shown.case`: statements on tables with masked columns, and which cells are masked.

#![allow(clippy::unwrap_used, reason = "test support functions")]

use pando_config::{File, parse_one};
use pando_fake::room::{self, Known, Scene};
use pando_fake::table_column;
use pando_kernel::dialect::TableColumn;
use pando_kernel::{Around, Kind, States};
use pando_mask::ROOM;

const RULES: &str = "databaseName: shop
dataSources:
  ds_0: {url: 'jdbc:mysql://a/x', username: u}
rules:
- !MASK
  tables:
    t_user:
      columns:
        phone: {maskAlgorithm: ends}
        card: {maskAlgorithm: ends, allowConditions: false}
        mail: {maskAlgorithm: before}
        note: {maskAlgorithm: ends, unmaskedUsers: [admin]}
    t_copy:
      columns:
        phone: {maskAlgorithm: ends}
  maskAlgorithms:
    ends: {type: KEEP_FIRST_N_LAST_M, props: {first-n: 3, last-m: 4, replace-char: '*'}}
    before: {type: MASK_BEFORE_SPECIAL_CHARS, props: {special-chars: '@', replace-char: '*'}}
";

fn columns(table: &str) -> Vec<TableColumn> {
    let names: &[&str] = match table {
        "t_user" => &["id", "phone", "card", "mail", "note", "name"],
        "t_copy" => &["id", "phone", "name"],
        _ => &["id", "phone", "name"],
    };
    names.iter().map(|name| table_column(name, Kind::Text)).collect()
}

fn scene(_: &[&str]) -> Scene {
    let file = File { name: "shop.yaml", text: RULES };
    let rules = parse_one(file, &|_| None).unwrap().databases.remove(0).rules;
    let states = States::default();
    let fold = pando_sql::Fold::Keep;
    let around = Around {
        units: &[],
        places: &[],
        others: &[],
        states: &states,
        fold,
        modules: &pando_kernel::NoModules,
    };
    let room = (ROOM.build)(&rules, &around).unwrap().unwrap();
    let columns: fn(&str) -> Vec<TableColumn> = columns;
    Scene { room, known: Known { columns: Some(columns), tables: None } }
}

#[test]
fn a_client_sees_masks_or_nothing() {
    let wrong = room::play(include_str!("shown.case"), scene).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
