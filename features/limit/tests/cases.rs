//! Plays `limit.case`: what has been admitted before, and whether a statement is.

#![allow(clippy::unwrap_used, clippy::panic, reason = "test support functions")]

mod scene;

use std::sync::Arc;

use pando_fake::room::{self, Known, Scene};
use pando_kernel::Feature;
use pando_kernel::feature::Permits;

use scene::{Ask, ask, built};

const STATEMENT: &str = "SELECT v FROM t WHERE id = 1";

/// The fields of the rule that a case asks for.
fn rule(state: &[&str]) -> String {
    let mut fields = vec![match state.contains(&"rate") {
        true => "statementsPerSecond: 1, burst: 2".to_owned(),
        false => "concurrency: 2".to_owned(),
    }];
    for line in state {
        fields.extend(match *line {
            "impatient" => Some("waitMilliseconds: 0".to_owned()),
            "short queue" => Some("queue: 1".to_owned()),
            "for bob" => Some("users: [bob]".to_owned()),
            "for ds_1" => Some("storageUnits: [ds_1]".to_owned()),
            "each user" => Some("countedBy: USER".to_owned()),
            "each unit" => Some("countedBy: STORAGE_UNIT".to_owned()),
            "each statement" => Some("countedBy: STATEMENT".to_owned()),
            "statement" => Some(format!("statement: '{STATEMENT}'")),
            _ => None,
        });
    }
    format!("limits:\n    two: {{{}}}", fields.join(", "))
}

/// What has been admitted before, `used 2 by bob`, `used 2 on ds_0`, `used 2 of SELECT …`, and has not ended but where it is
/// said so.
fn use_up(room: &dyn Feature, state: &[&str]) {
    let Some(used) = state.iter().find_map(|line| line.strip_prefix("used ")) else { return };
    let (count, of) = used.split_once(' ').unwrap_or((used, ""));
    let mut asked = Ask::default();
    match of.split_once(' ') {
        Some(("by", user)) => asked.user = user,
        Some(("on", unit)) => asked.units = vec![unit],
        Some(("of", sql)) => asked.sql = sql,
        _ => {}
    }
    for _ in 0..count.parse().unwrap() {
        let mut permits = Permits::default();
        let entry = ask(room, &asked, &mut permits);
        if !state.contains(&"ended") {
            // As long as the test lasts.
            std::mem::forget((permits, entry));
        }
    }
}

fn scene(state: &[&str]) -> Scene {
    let room = built(&rule(state)).unwrap();
    use_up(&*room, state);
    Scene { room: Arc::clone(&room), known: Known { columns: None, tables: None } }
}

#[test]
fn a_statement_runs_or_waits_or_is_told_to_try_again() {
    let wrong = room::play(include_str!("limit.case"), scene).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
