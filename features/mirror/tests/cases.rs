//! Plays `mirror.case`, and reads rules.

#![allow(clippy::unwrap_used, reason = "test support functions")]

use std::sync::Arc;
use std::time::Duration;

use pando_config::{File, parse_one};
use pando_fake::room::{self, Known, Scene};
use pando_kernel::mirror::{Compared, Copies, Sampled, Settings};
use pando_kernel::{Around, Feature, States, UnitName};
use pando_mirror::ROOM;

/// The room of these rules.
///
/// # Errors
/// Every problem, a line each.
fn built(mirrors: &str) -> Result<Arc<dyn Feature>, String> {
    let text = format!(
        "databaseName: shop
dataSources:
  ds_0: {{url: 'jdbc:mysql://a/x', username: u}}
rules:
- !MIRROR
  mirrors:
    {mirrors}
"
    );
    let file = File { name: "shop.yaml", text: &text };
    let parsed = parse_one(file, &|_| None).map_err(|errors| errors.to_string())?;
    let units = ["ds_0", "ds_1", "next"].map(UnitName::from);
    let (states, fold) = (States::default(), pando_sql::Fold::Keep);
    let around = Around {
        units: &units,
        places: &[],
        others: &[],
        states: &states,
        fold,
        modules: &pando_kernel::NoModules,
    };
    let built = (ROOM.build)(&parsed.databases[0].rules, &around);
    built.map(Option::unwrap).map_err(|problems| {
        let lines = problems.iter().map(ToString::to_string);
        lines.collect::<Vec<_>>().join("\n")
    })
}

fn one(rule: &str) -> Settings {
    built(&format!("own: {{{rule}}}")).unwrap().mirrors().remove(0)
}

#[test]
fn statements_go_where_they_would_go_without_it() {
    let scene = |_: &[&str]| {
        let room = built("own: {source: ds_0, mirror: next}").unwrap();
        Scene { room, known: Known { columns: None, tables: None } }
    };
    let wrong = room::play(include_str!("mirror.case"), scene).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_rule_that_says_nothing_more_copies_all_reads_by_four_connections() {
    let settings = one("source: ds_0, mirror: next");
    let expected = Settings {
        rule: "own".into(),
        source: "ds_0".into(),
        mirror: "next".into(),
        tables: Vec::new(),
        per_million: 1_000_000,
        sampled: Sampled::Transaction,
        copies: Copies::Reads,
        compares: Compared::Rows,
        connections: 4,
        queue: 1_000,
        queue_bytes: 16 << 20,
        time: Duration::from_secs(10),
    };
    assert_eq!(settings, expected);
}

#[test]
fn what_a_rule_says_is_read() {
    let settings = one(
        "source: ds_0, mirror: next, tables: [T], share: 0.025, sampledBy: session, copies: all, \
         compares: ORDERED_ROWS, queue: 7, queueBytes: 1000, runMilliseconds: 50",
    );
    assert_eq!((settings.per_million, settings.sampled), (25_000, Sampled::Session));
    assert_eq!((settings.copies, settings.connections), (Copies::Everything, 1));
    assert_eq!((settings.queue, settings.queue_bytes), (7, 1_000));
    assert_eq!(settings.tables, ["t", "T"]);
    assert_eq!(settings.compares, Compared::OrderedRows);
    assert_eq!(settings.time, Duration::from_millis(50));
}

#[test]
fn what_contradicts_is_refused() {
    let check = |mirrors: &str, expected: &str| {
        let told = built(mirrors).map(drop).unwrap_err();
        assert!(told.contains(expected), "{mirrors}: {told}");
    };
    check("own: {source: ds_0}", "`mirror` is required");
    check("own: {source: ds_0, mirror: ds_0}", "the same storage unit");
    check("own: {source: ds_0, mirror: nxt}", "no storage unit `nxt`");
    check("own: {source: ds_0, mirror: next, share: 0}", "is no share");
    check("own: {source: ds_0, mirror: next, share: 1.5}", "is no share");
    check("own: {source: ds_0, mirror: next, share: much}", "is no share");
    check("own: {source: ds_0, mirror: next, copies: WRITES}", "none of READS, ALL");
    check("own: {source: ds_0, mirror: next, copies: ALL, connections: 2}", "must be 1");
    let chain = "own: {source: ds_0, mirror: ds_1}\n    more: {source: ds_1, mirror: next}";
    check(chain, "copies are not copied");
}
