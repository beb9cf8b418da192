//! Plays `admitted.case`: statements, what they meet, and what the rules say of them.

#![allow(clippy::unwrap_used, reason = "test support functions")]

use std::sync::Arc;

use pando_audit::ROOM;
use pando_config::{File, Problem, parse_one};
use pando_fake::room::{self, Known, Scene};
use pando_kernel::feature::{Context, Database, Feature, Footprint};
use pando_kernel::{Around, Shortcut, States};

const RULES: &str = "
  rules:
    no_delete_of_all: {condition: \"kind in ['DELETE', 'UPDATE'] && !has_where\", message: say which rows}
    no_star: {condition: \"star_tables.contains('t_order')\", allowHintDisable: false}
    few_units: {condition: '${units > 2 || shards > 4}', action: error}
    short: {condition: \"kind == 'SELECT' && limit > 1000\"}
    bulk: {condition: \"rows > 2 && user != 'loader'\"}
    own: {condition: \"kind == 'UPDATE' && (tables.contains('t_own') || tables.contains('e'))\"}
    wide: {condition: \"has_star\", action: WARNING, message: list them}
    wrong: {condition: \"tables.contains('t_wrong') && tables.first().toLong() > 1\"}
";

fn built(section: &str) -> Result<Arc<dyn Feature>, Vec<Problem>> {
    let text = format!(
        "databaseName: shop\ndataSources:\n  ds: {{url: 'jdbc:mysql://a/x', username: u}}\nrules:\n- !AUDIT{section}"
    );
    let file = File { name: "shop.yaml", text: &text };
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
    (ROOM.build)(&rules, &around).map(Option::unwrap)
}

#[test]
fn statements_are_held_against_the_rules() {
    let scene = |_: &[&str]| Scene { room: built(RULES).unwrap(), known: Known::default() };
    let wrong = room::play(include_str!("admitted.case"), scene).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn refused(section: &str, expected: &str) {
    let problems = built(section).unwrap_err();
    let found = problems.iter().any(|problem| problem.message.contains(expected));
    assert!(found, "{expected}: {problems:?}");
}

#[test]
fn a_rule_that_cannot_be_read_is_refused() {
    let rule = |text: &str| format!("\n  rules:\n    one: {{{text}}}\n");
    refused(&rule("condition: 'has_were'"), "did you mean `has_where`?");
    refused(&rule("condition: 'units'"), "expected true or false, found a number");
    refused(&rule("condition: 'kind == 1'"), "expected a text, found a number");
    refused(&rule("condition: 'has_star', action: LOG"), "`action` is `ERROR` or `WARNING`");
    refused(&rule("action: ERROR"), "condition");
}

/// What the rules say of a statement besides refusing it, and whether others of its shape are the same to them.
fn said(text: &str) -> (Vec<String>, bool) {
    let room = built(RULES).unwrap();
    let database = Database {
        name: "shop".to_owned(),
        units: Vec::new(),
        features: vec![Arc::clone(&room)],
        dialect: Arc::new(pando_fake::FakeDialect::default()),
    };
    let stmt = pando_sql::parse(text, database.dialect.syntax()).unwrap();
    let session = pando_kernel::feature::SessionView::default();
    let ctx = Context {
        database: &database,
        catalog: &Known::default(),
        dialect: &*database.dialect,
        parameters: None,
        session: &session,
        source: &pando_fake::Still,
    };
    let now = std::time::Instant::now();
    let footprint = Footprint { stmt: &stmt, writes: false, units: &[], shards: 0, now };
    let warnings = room.admission().unwrap().warnings(&ctx, &footprint);
    (warnings, matches!(room.shortcut(&ctx, &stmt), Shortcut::Idle))
}

#[test]
fn a_warning_lets_the_statement_run() {
    let warned = vec!["the audit rule `wide` warns of this statement: list them".to_owned()];
    assert_eq!(said("SELECT * FROM t_item"), (warned, true));
    assert_eq!(said("SELECT id FROM t_item"), (vec![], true));
    // Another number may be behind the same LIMIT.
    assert_eq!(said("SELECT id FROM t_item LIMIT 5"), (vec![], false));
    let off = "/* SHARDINGSPHERE_HINT: DISABLE_AUDIT_NAMES=x wide */ SELECT * FROM t_item";
    assert_eq!(said(off).0, Vec::<String>::new());
}
