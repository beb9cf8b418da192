//! Which tables of the units are single tables.

use pando_config::File;
use pando_model::{Kind, Model, SingleTable};

use crate::common::{around, environment};

const UNITS: &str = "databaseName: shop
dataSources:
  a: {url: 'jdbc:mysql://h/a'}
  b: {url: 'jdbc:mysql://h/b'}
";

const GROUP: &str = "databaseName: shop
dataSources:
  w: {url: 'jdbc:mysql://h/w'}
  r: {url: 'jdbc:mysql://h/r'}
  b: {url: 'jdbc:mysql://h/b'}
";

/// `unit.table` of both kinds for the tables found.
fn check(text: &str, found: &[&str], served: &str, unloaded: &str) {
    let file = File { name: "database-shop.yaml", text };
    let model = Model::from_files(&[file], &environment).unwrap_or_else(|e| panic!("{e}"));
    let found: Vec<SingleTable> = found
        .iter()
        .map(|name| {
            let (unit, table) = name.split_once('.').unwrap();
            SingleTable { table: table.into(), unit: unit.into(), schema: None }
        })
        .collect();
    let singles = model.single_tables("SHOP", &found, &around()).unwrap();
    let shown = |tables: &[SingleTable]| {
        let names: Vec<String> =
            tables.iter().map(|table| format!("{}.{}", table.unit, table.table)).collect();
        names.join(" ")
    };
    assert_eq!(
        (shown(&singles.served), shown(&singles.unloaded)),
        (served.into(), unloaded.into())
    );
}

#[test]
fn a_table_that_stands_in_one_unit_is_served_whether_loaded_or_not() {
    let found = ["b.y", "a.X"];
    check(UNITS, &found, "a.X b.y", "a.X b.y");
    check(&format!("{UNITS}rules:\n- !SINGLE\n  tables: [a.x]\n"), &found, "a.X b.y", "b.y");
    check(&format!("{UNITS}rules:\n- !SINGLE\n  tables: ['*.*']\n"), &found, "a.X b.y", "");
}

#[test]
fn of_a_name_in_several_units_the_loaded_one_is_served() {
    let found = ["a.x", "b.x", "b.y"];
    check(UNITS, &found, "b.y", "a.x b.x b.y");
    check(&format!("{UNITS}rules:\n- !SINGLE\n  tables: [b.X]\n"), &found, "b.x b.y", "a.x b.y");
    check(&format!("{UNITS}rules:\n- !SINGLE\n  tables: ['b.*']\n"), &found, "b.x b.y", "a.x");
    check(&format!("{UNITS}rules:\n- !SINGLE\n  tables: ['*.*']\n"), &found, "b.y", "a.x b.x");
    check(&format!("{UNITS}rules:\n- !SINGLE\n  tables: ['b.*', a.x]\n"), &found, "a.x b.y", "b.x");
}

#[test]
fn a_unit_that_no_rule_has_put_to_work_takes_no_table_from_those_at_work() {
    let group = "rules:
- !READWRITE_SPLITTING
  dataSourceGroups: {rw: {writeDataSourceName: w, readDataSourceNames: [r]}}
";
    check(&format!("{GROUP}{group}"), &["w.x", "b.x", "b.y"], "rw.x b.y", "b.x rw.x b.y");
    let loaded = format!("{GROUP}{group}- !SINGLE\n  tables: [b.x]\n");
    check(&loaded, &["w.x", "b.x"], "b.x", "rw.x");
}

#[test]
fn tables_of_other_rules_are_none() {
    let rules = "rules:
- !SHARDING
  autoTables: {t: {actualDataSources: 'a,b', shardingStrategy: {standard: {shardingColumn: id, shardingAlgorithmName: m}}}}
  shardingAlgorithms: {m: {type: MOD, props: {sharding-count: 2}}}
- !BROADCAST
  tables: [dict]
";
    let found = ["a.T_0", "b.t_1", "b.t_0", "a.dict", "b.dict", "a.t", "a.x"];
    check(&format!("{UNITS}{rules}"), &found, "b.t_0 a.x", "b.t_0 a.x");
}

#[test]
fn a_group_has_the_tables_of_its_primary() {
    let rules = "rules:
- !READWRITE_SPLITTING
  dataSourceGroups: {rw: {writeDataSourceName: w, readDataSourceNames: [r]}}
";
    check(&format!("{GROUP}{rules}"), &["w.x", "r.x", "r.only", "b.y"], "rw.x b.y", "rw.x b.y");
}

#[test]
fn a_database_that_is_not_there_is_refused() {
    let refusal = Model::default().single_tables("shop", &[], &around()).unwrap_err();
    assert_eq!(refusal.kind, Kind::UnknownDatabase);
}
