//! Plays `route.case`: a statement, what it meets, and in which environment it ends.

#![allow(clippy::unwrap_used, reason = "test support functions")]

use pando_config::{File, Problem, parse_one};
use pando_fake::room::{self, Known, Scene, place};
use pando_fake::table_column;
use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::Feature;
use pando_kernel::route::UnitName;
use pando_kernel::{Around, Kind, States};
use pando_shadow::ROOM;
use std::sync::Arc;

const TABLES: &str = "
  dataSources:
    sd: {productionDataSourceName: ds, shadowDataSourceName: ds_s}
    sd_1: {productionDataSourceName: rw, shadowDataSourceName: ds_s1}
  tables:
    t_order: {dataSourceNames: [sd, sd_1], shadowAlgorithmNames: [i, u, d, s]}
    t_item: {dataSourceNames: [sd], shadowAlgorithmNames: [i, s, mail]}
    t_hint: {dataSourceNames: [sd, sd_1], shadowAlgorithmNames: [hint]}
    t_range: {dataSourceNames: [sd], shadowAlgorithmNames: [ei, eu, es, em]}
    t_both: {dataSourceNames: [sd], shadowAlgorithmNames: [hint, i, s]}
  shadowAlgorithms:
    i: {type: VALUE_MATCH, props: {operation: insert, column: user_id, value: '13'}}
    u: {type: VALUE_MATCH, props: {operation: update, column: user_id, value: '13'}}
    d: {type: VALUE_MATCH, props: {operation: delete, column: user_id, value: '13'}}
    s: {type: VALUE_MATCH, props: {operation: select, column: user_id, value: '13'}}
    mail: {type: REGEX_MATCH, props: {operation: select, column: mail, regex: 'test.*'}}
    ei: {type: EXPRESSION, props: {operation: insert, column: user_id, expression: 'value >= 9000', value-type: number}}
    eu: {type: EXPRESSION, props: {operation: update, column: user_id, expression: 'value >= 9000', value-type: number}}
    es: {type: EXPRESSION, props: {operation: select, column: user_id, expression: '10 / (value - 7) < 0 || value >= 9000', value-type: number}}
    em: {type: EXPRESSION, props: {operation: insert, column: mail, expression: \"value.endsWith('@test')\"}}
    hint: {type: SQL_HINT}
";

fn built(section: &str) -> Result<Arc<dyn Feature>, Vec<Problem>> {
    let text = format!(
        "databaseName: shop\ndataSources:\n  ds: {{url: 'jdbc:mysql://a/x', username: u}}\nrules:\n- !SHADOW{section}"
    );
    let file = File { name: "shop.yaml", text: &text };
    let rules = parse_one(file, &|_| None).unwrap().databases.remove(0).rules;
    let units = ["ds", "ds_s", "w", "r", "ds_s1", "ds_2"].map(UnitName::from);
    let single = |name: &UnitName| place(name, &[name]);
    let mut places: Vec<_> =
        ["ds", "ds_s", "ds_s1", "ds_2"].map(UnitName::from).iter().map(single).collect();
    places.push(place("rw", &["w", "r"]));
    let states = States::default();
    let fold = pando_sql::Fold::Keep;
    let around = Around {
        units: &units,
        places: &places,
        others: &[],
        states: &states,
        fold,
        modules: &pando_kernel::NoModules,
    };
    (ROOM.build)(&rules, &around).map(Option::unwrap)
}

fn columns(_: &str) -> Vec<TableColumn> {
    ["id", "user_id", "mail"].iter().map(|name| table_column(name, Kind::Text)).collect()
}

fn scene(state: &[&str]) -> Scene {
    let default = "  defaultShadowAlgorithmName: hint\n";
    let section = match state.contains(&"default") {
        true => format!("{TABLES}{default}"),
        false => TABLES.to_owned(),
    };
    let columns: fn(&str) -> Vec<TableColumn> = columns;
    let columns = Some(columns).filter(|_| !state.contains(&"unread"));
    Scene { room: built(&section).unwrap(), known: Known { columns, tables: None } }
}

#[test]
fn no_row_crosses() {
    let wrong = room::play(include_str!("route.case"), scene).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_pair_has_one_name_and_its_shadow_is_no_place() {
    let groups = built(TABLES).unwrap().groups();
    let shown = |places: &[pando_kernel::route::Place]| -> Vec<String> {
        places.iter().map(|place| format!("{}: {}", place.name, place.members.join(" "))).collect()
    };
    assert_eq!(shown(&groups.places), ["sd: ds", "sd_1: w r"]);
    assert_eq!(shown(&groups.shadows), ["ds_s: ds_s", "ds_s1: ds_s1"]);
    assert_eq!(groups.followers, Vec::<UnitName>::new());
}

fn refused(section: &str, expected: &str) {
    let problems = built(section).unwrap_err();
    let found = problems.iter().any(|problem| problem.message.contains(expected));
    assert!(found, "{expected}: {problems:?}");
}

#[test]
fn a_rule_that_contradicts_itself_is_refused() {
    let pairs = |list: &str| format!("\n  dataSources: {{{list}}}\n");
    let pair = |production: &str, shadow: &str| {
        pairs(&format!(
            "sd: {{productionDataSourceName: {production}, shadowDataSourceName: {shadow}}}"
        ))
    };
    refused(&pair("ds_9", "ds_s"), "storage unit `ds_9` is not defined");
    refused(&pair("ds", "ds"), "`ds` stands in two shadow data sources, or twice in one");
    refused(&pair("w", "ds_s"), "`w` is in the group `rw`: name the group");
    refused(&pair("'ds_${0}'", "ds_s"), "inline expression");
    let wrong = "ds_2: {productionDataSourceName: ds, shadowDataSourceName: ds_s}";
    refused(&pairs(wrong), "`ds_2` is the name of a storage unit already");
    let right = pair("ds", "ds_s");
    let tables = |list: &str| format!("{right}  tables: {{{list}}}\n");
    refused(&tables("t: {dataSourceNames: [sd]}"), "no algorithm says");
    refused(&tables("t: {shadowAlgorithmNames: []}"), "names no shadow data source");
    let value = "{type: VALUE_MATCH, props: {operation: insert, column: c, value: x}}";
    let default =
        format!("{right}  defaultShadowAlgorithmName: v\n  shadowAlgorithms: {{v: {value}}}\n");
    refused(&default, "looks at a hint");
}
