//! A rule that is changed without a word loses no row: what is not to be empty is found where it was.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pando_distsql::parse;
use pando_kernel::Value;
use pando_kernel::feature::DataNode;
use pando_model::{Check, Model};
use pando_sharding::{Domain, Rule};
use proptest::prelude::*;

use crate::common::{Outcome, environment, run};

fn units() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["ds_0, ds_1", "ds_0, ds_1", "ds_1, ds_0", "ds_0"])
}

/// AutoTables of one algorithm, whose properties differ a little.
fn auto(kind: &'static str) -> BoxedStrategy<String> {
    let props: BoxedStrategy<String> = match kind {
        "mod" | "hash_mod" => (1..4u8).prop_map(|n| format!(r#""sharding-count"="{n}""#)).boxed(),
        "volume_range" => {
            let upper = prop::sample::select(vec![10, 20, 24, 25, 29, 30, 45]);
            let volume = prop::sample::select(vec![10, 10, 10, 20]);
            (upper, volume)
                .prop_map(|(upper, volume)| {
                    format!(r#""range-lower"="0", "range-upper"="{upper}", "sharding-volume"="{volume}""#)
                })
                .boxed()
        }
        "boundary_range" => prop::collection::vec(0..6i32, 1..4)
            .prop_map(|bounds| {
                let bounds: Vec<String> = bounds.iter().map(|b| (b * 10).to_string()).collect();
                format!(r#""sharding-ranges"="{}""#, bounds.join(","))
            })
            .boxed(),
        _ => {
            let upper =
                prop::sample::select(vec!["01-01 00:00:30", "01-01 00:00:35", "01-01 00:01:00"]);
            (upper, prop::sample::select(vec![10, 10, 10, 7]))
                .prop_map(|(upper, seconds)| {
                    format!(
                        r#""datetime-lower"="2026-01-01 00:00:00", "datetime-upper"="2026-{upper}", "sharding-seconds"="{seconds}""#
                    )
                })
                .boxed()
        }
    };
    let column = prop::sample::select(vec!["id", "id", "id", "other"]);
    (units(), column, props)
        .prop_map(move |(units, column, props)| {
            format!(
                r#"t(STORAGE_UNITS({units}), SHARDING_COLUMN={column}, TYPE(NAME="{kind}", PROPERTIES({props})))"#
            )
        })
        .boxed()
}

/// Data nodes with an algorithm that names them, and one that counts them.
fn standard() -> BoxedStrategy<String> {
    let nodes = prop::sample::select(vec![
        "ds_0.t_${0..1}",
        "ds_0.t_${0..2}",
        "ds_${0..1}.t_${0..2}",
        "ds_1.t_2,ds_0.t_${0..1}",
        "ds_0.t_${[1, 0]}",
        "ds_0.t_${1..2}",
    ]);
    let algorithm = prop::sample::select(vec![
        r#"TYPE(NAME="inline", PROPERTIES("algorithm-expression"="t_${id % 2}"))"#,
        r#"TYPE(NAME="inline", PROPERTIES("algorithm-expression"="t_${id % 3}"))"#,
        r#"TYPE(NAME="mod", PROPERTIES("sharding-count"="2"))"#,
    ]);
    let database = prop::sample::select(vec![
        "",
        r#", DATABASE_STRATEGY(TYPE="standard", SHARDING_COLUMN=id, SHARDING_ALGORITHM(TYPE(NAME="inline", PROPERTIES("algorithm-expression"="ds_${id.intdiv(7) % 2}"))))"#,
    ]);
    (nodes, algorithm, database)
        .prop_map(|(nodes, algorithm, database)| {
            format!(
                r#"t(DATANODES("{nodes}"){database}, TABLE_STRATEGY(TYPE="standard", SHARDING_COLUMN=id, SHARDING_ALGORITHM({algorithm})))"#
            )
        })
        .boxed()
}

/// Two rules of one sort.
fn pair() -> impl Strategy<Value = (String, String)> {
    let kinds = ["mod", "hash_mod", "volume_range", "boundary_range", "auto_interval"];
    let mut pairs: Vec<BoxedStrategy<(String, String)>> =
        kinds.into_iter().map(|kind| (auto(kind), auto(kind)).boxed()).collect();
    pairs.push((standard(), standard()).boxed());
    pairs.push((standard(), auto("mod")).boxed());
    prop::strategy::Union::new(pairs)
}

fn rule(model: &Model) -> Rule {
    let (read, _) = model.read("shop", &environment).unwrap();
    let units: Vec<Arc<str>> =
        read.storage_units.iter().map(|unit| unit.name.as_str().into()).collect();
    Rule::new(read.rules.sharding.as_ref().unwrap(), &units).unwrap()
}

/// Where a row is looked for by a value of its sharding column.
fn places(rule: &Rule, value: &Value) -> Option<BTreeSet<DataNode>> {
    let table = rule.table("t")?;
    let key = table.keys().first()?;
    let domain = |column: &str| match column == key {
        true => Domain::equal(value.clone()),
        false => Domain::Any,
    };
    let nodes = table.route(&domain, &[]).ok()?;
    nodes.into_iter().map(|number| table.node(number).ok().cloned()).collect()
}

static FOUND: AtomicUsize = AtomicUsize::new(0);
static ELSEWHERE: AtomicUsize = AtomicUsize::new(0);

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    fn rows_are_found_where_they_were((old, new) in pair()) {
        let mut model = Model::default().create_database("shop").unwrap().model;
        let units = "REGISTER STORAGE UNIT ds_0(URL='jdbc:mysql://h/a', USER=u), ds_1(URL='jdbc:mysql://h/b', USER=u)";
        for text in [units.to_owned(), format!("CREATE SHARDING TABLE RULE {old}")] {
            let Ok(Outcome::Changed(change)) = run(&model, "shop", &parse(&text).unwrap()) else { return Ok(()) };
            model = change.model;
        }
        let alter = format!("ALTER SHARDING TABLE RULE {new}");
        let Ok(Outcome::Changed(change)) = run(&model, "shop", &parse(&alter).unwrap()) else { return Ok(()) };
        let empty: BTreeSet<&DataNode> = change.checks.iter().flat_map(|check| match check {
            Check::IsEmpty { nodes, .. } => nodes.iter().collect::<Vec<_>>(),
            Check::Connects { .. } | Check::HasNoSingleTable { .. } | Check::HasTable { .. } => Vec::new(),
            Check::IsPlaced { .. } | Check::IsWhole { .. } | Check::IsAlike { .. } => Vec::new(),
            Check::IsCarried { .. } | Check::IsCopy { .. } => Vec::new(),
        }).collect();
        let (before, after) = (rule(&model), rule(&change.model));
        let is_time = old.contains("auto_interval");
        for i in -30..90i64 {
            let value = match is_time {
                true if i < 0 => Value::Text(format!("2025-12-31 23:59:{:02}", 60 + i)),
                true => Value::Text(format!("2026-01-01 00:{:02}:{:02}", i / 60, i % 60)),
                false => Value::Int(i),
            };
            let Some(place) = places(&before, &value).filter(|places| places.len() == 1) else { continue };
            let place = place.first().unwrap();
            let now = places(&after, &value);
            // Another column's value is anything.
            let keys = |rule: &Rule| rule.table("t").map(|table| table.keys().to_vec());
            let is_found = keys(&before) == keys(&after) && now.as_ref().is_some_and(|now| now.contains(place));
            if is_found {
                FOUND.fetch_add(1, Ordering::Relaxed);
            } else {
                ELSEWHERE.fetch_add(1, Ordering::Relaxed);
                prop_assert!(empty.contains(place), "{value:?} was in {place:?}, and is looked for in {now:?}\n{old}\n{new}");
            }
        }
    }
}

#[test]
fn no_row_is_lost_to_view_without_a_check() {
    rows_are_found_where_they_were();
    let (found, elsewhere) = (FOUND.load(Ordering::Relaxed), ELSEWHERE.load(Ordering::Relaxed));
    assert!(found > 1000 && elsewhere > 1000, "{found} {elsewhere}: too few to say anything");
}
