//! A global transaction over two storage units: whatever fails at whichever step, both end alike, and nothing stays behind once somebody has looked.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::wildcard_enum_match_arm,
    reason = "tests only"
)]

mod support;

use std::sync::Arc;

use pando_base::{Field, Global};
use pando_kernel::{Error, Result, Value};
use pando_transaction::{Coordinator, Ready};

use support::faulty::{FAULTS, Fault};
use support::{Family, Server, run, runtime, servers};

const SETUP: &[&str] =
    &["CREATE TABLE m (id INT PRIMARY KEY, x INT)", "INSERT INTO m VALUES (1, 100)"];
const ALL: &str = "SELECT id, x FROM m ORDER BY id";

/// Two units of one family: the first decides.
struct Pair {
    units: [Server; 2],
    field: Field,
    identity: Arc<str>,
}

async fn pairs() -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (first, mut second) in servers().await.into_iter().zip(servers().await) {
        second.rename("ds_1");
        for unit in [&first, &second] {
            unit.direct(SETUP).await;
            unit.prepare().await;
        }
        let identity = Ready::decider(first.pool.connector(), &runtime()).await.unwrap();
        let field = Field {
            is_awaited: false,
            pools: vec![first.pool.clone(), second.pool.clone()],
            coordinator: Arc::new(Coordinator::new(runtime(), "test")),
            runtime: runtime(),
        };
        pairs.push(Pair { units: [first, second], field, identity });
    }
    pairs
}

impl Pair {
    /// Moves ten from the first unit to the second, and does not end the transaction.
    async fn moved(&self) -> Global {
        let now = self.field.runtime.now();
        let mut global = Global::begin(&self.field, "ds_0".into(), &self.identity);
        for (unit, sql) in
            self.units.iter().zip(["UPDATE m SET x = x - 10", "UPDATE m SET x = x + 10"])
        {
            let (number, _) = global.next(unit.pool.unit(), now).unwrap();
            let told = unit.run(global.id().as_str(), number, sql).await.unwrap();
            assert!(told.logged);
            global.logged(unit.pool.unit(), number);
        }
        global
    }

    async fn state(&self) -> [i64; 2] {
        let mut state = [0; 2];
        for (unit, slot) in self.units.iter().zip(&mut state) {
            let rows = unit.rows(ALL).await;
            let [_, Value::Int(x)] = rows[0][..] else { panic!("{rows:?}") };
            *slot = x;
        }
        state
    }

    /// Makes the time of every transaction be over, and lets somebody look.
    async fn recover(&self) {
        for unit in &self.units {
            let undo = unit.undo_table();
            unit.direct(&[&format!("UPDATE {undo} SET deadline = deadline - 120000")]).await;
        }
        self.field.recover().await;
    }

    async fn left(&self) -> (usize, usize) {
        let (a, b) = (self.units[0].left().await, self.units[1].left().await);
        (a.0 + b.0, a.1 + b.1)
    }

    async fn end(self) {
        let [first, second] = self.units;
        drop(self.field);
        first.drop_database().await;
        second.drop_database().await;
    }
}

/// Plays a fault on one unit while `work` goes on; `None` when the coordinator was gone.
async fn play(
    unit: &Server,
    (step, fault): (&str, Fault),
    work: impl Future<Output = Result<()>>,
) -> Option<Result<()>> {
    unit.plot.at(step, fault);
    let ended = tokio::select! {
        biased;
        () = unit.plot.gone() => None,
        ended = work => Some(ended),
    };
    // What is done in the background may still have to come.
    for _ in 0..200 {
        if unit.plot.happened() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert!(unit.plot.end(), "{}: nothing begins with `{step}`", unit.name);
    ended
}

#[test]
fn whatever_fails_in_a_commit_both_units_end_alike() {
    run(async {
        for pair in pairs().await {
            let family = pair.units[0].family;
            let decider: &[&str] = match family {
                Family::Postgres => &["BEGIN ISOLATION LEVEL READ COMMITTED"],
                Family::MySql => &[
                    "START TRANSACTION",
                    "INSERT INTO pando_decision",
                    "DELETE FROM pando_undo",
                    "COMMIT",
                ],
            };
            let release = format!("DELETE FROM {}", pair.units[1].lock_table());
            let clean = match family {
                Family::Postgres => "BEGIN ISOLATION LEVEL READ COMMITTED".to_owned(),
                Family::MySql => format!("DELETE FROM {}", pair.units[1].undo_table()),
            };
            let other = [release.as_str(), clean.as_str()];
            let steps = decider.iter().map(|step| (0, *step)).chain(other.map(|step| (1, step)));
            for (at, step) in steps {
                for fault in FAULTS {
                    // What goes on in the background does not lose its coordinator alone.
                    let gone = matches!(fault, Fault::GoneBefore | Fault::GoneAfter);
                    if gone && step == clean {
                        continue;
                    }
                    let what = format!("{}: {fault:?} at {step} on ds_{at}", pair.units[0].name);
                    let before = pair.state().await;
                    let global = pair.moved().await;
                    let ended =
                        play(&pair.units[at], (step, fault), global.commit(&pair.field)).await;
                    drop(global);
                    pair.recover().await;
                    let after = pair.state().await;
                    assert_eq!(after[0] + after[1], before[0] + before[1], "{what}: {after:?}");
                    let is_committed = after != before;
                    match ended {
                        Some(Ok(())) => assert!(is_committed, "{what}: it is told to be committed"),
                        Some(Err(error)) => assert!(!is_committed, "{what}: {error}"),
                        None => {}
                    }
                    assert!(at == 0 || is_committed, "{what}: it was decided");
                    assert_eq!(pair.left().await, (0, 0), "{what}: nothing is left");
                }
            }
            pair.end().await;
        }
    });
}

#[test]
fn a_transaction_whose_coordinator_is_gone_is_taken_back_by_whoever_looks() {
    run(async {
        for pair in pairs().await {
            let before = pair.state().await;
            let global = pair.moved().await;
            assert_ne!(pair.state().await, before);
            pair.field.recover().await;
            assert_ne!(pair.state().await, before, "its time is not over");
            pair.recover().await;
            assert_eq!(pair.state().await, before);
            assert_eq!(pair.left().await, (0, 0));
            // It comes back, and learns what was decided.
            let error: Error = global.commit(&pair.field).await.unwrap_err();
            assert!(error.to_string().len() > 1);
            assert_eq!(pair.state().await, before);
            pair.end().await;
        }
    });
}

#[test]
fn a_transaction_that_cannot_be_decided_holds_up_no_other() {
    run(async {
        for mut pair in pairs().await {
            pair.units[1].direct(&["INSERT INTO m VALUES (2, 100)"]).await;
            pair.field.pools.push(pair.units[0].away("ds_2"));
            let now = pair.field.runtime.now();
            let undo = pair.units[1].undo_table();
            // The one whose decider is away comes first.
            for (id, decider, identity) in [(1, "ds_2", "somebody"), (2, "ds_0", &*pair.identity)] {
                let mut global = Global::begin(&pair.field, decider.into(), identity);
                let (number, _) = global.next(pair.units[1].pool.unit(), now).unwrap();
                let name = global.id().as_str();
                let change = format!("UPDATE m SET x = x + 10 WHERE id = {id}");
                pair.units[1].run(name, number, &change).await.unwrap();
                let decides = format!(
                    "UPDATE {undo} SET decider = '{decider}', deadline = deadline + {id} WHERE global_id = '{name}'"
                );
                pair.units[1].direct(&[&decides]).await;
            }
            pair.recover().await;
            let rows = pair.units[1].rows("SELECT x FROM m ORDER BY id").await.concat();
            assert_eq!(rows, [Value::Int(110), Value::Int(100)]);
            pair.end().await;
        }
    });
}

#[test]
fn whoever_has_the_identity_decides_whatever_its_name() {
    run(async {
        for pair in pairs().await {
            let now = pair.field.runtime.now();
            let mut global = Global::begin(&pair.field, "ds_9".into(), &pair.identity);
            let (number, _) = global.next(pair.units[1].pool.unit(), now).unwrap();
            let name = global.id().as_str();
            pair.units[1].run(name, number, "UPDATE m SET x = x + 10").await.unwrap();
            let undo = pair.units[1].undo_table();
            pair.units[1].direct(&[&format!("UPDATE {undo} SET decider = 'ds_9'")]).await;
            pair.recover().await;
            let rows = pair.units[1].rows("SELECT x FROM m").await.concat();
            assert_eq!(rows, [Value::Int(100)]);
            assert_eq!(pair.units[1].left().await, (0, 0));
            pair.end().await;
        }
    });
}

#[test]
fn a_commit_that_finds_its_ledger_gone_takes_everything_back_and_says_so() {
    run(async {
        for pair in pairs().await {
            let before = pair.state().await;
            let global = pair.moved().await;
            let ledger = pair.units[0].undo_table().replace("undo", "decision");
            pair.units[0].direct(&[&format!("DROP TABLE {ledger}")]).await;
            let error = global.commit(&pair.field).await.unwrap_err();
            assert!(error.to_string().contains("own tables were removed"), "{error}");
            assert_eq!(pair.state().await, before);
            assert_eq!(pair.left().await, (0, 0));
            pair.end().await;
        }
    });
}

#[test]
fn a_rollback_that_finds_its_images_gone_says_so() {
    run(async {
        for pair in pairs().await {
            for is_made_anew in [false, true] {
                let global = pair.moved().await;
                let after = pair.state().await;
                let undo = pair.units[1].undo_table();
                let gone = if is_made_anew { "DELETE FROM" } else { "DROP TABLE" };
                pair.units[1].direct(&[&format!("{gone} {undo}")]).await;
                let error = global.rollback(&pair.field, 0).await.unwrap_err();
                assert!(error.to_string().contains("and the undo log with them"), "{error}");
                let state = pair.state().await;
                assert_eq!(state, [after[0] + 10, after[1]], "one unit has its images");
            }
            pair.end().await;
        }
    });
}

#[test]
fn a_person_ends_what_nobody_can_decide_any_more() {
    run(async {
        use pando_kernel::two_phase::Verdict;
        for pair in pairs().await {
            let ledger = pair.units[0].undo_table().replace("undo", "unit");
            for (verdict, expected) in [(Verdict::Abort, [100, 100]), (Verdict::Commit, [90, 110])]
            {
                let global = pair.moved().await;
                // Its ledger was removed, and made anew.
                pair.units[0].direct(&[&format!("UPDATE {ledger} SET identity = 'new'")]).await;
                pair.recover().await;
                assert_eq!(pair.state().await, [90, 110], "nobody may decide");
                let id = global.id().as_str();
                // One that does not answer may be who decides.
                assert!(pair.field.resolve(id, verdict, None).await.is_err());
                let everybody = pair.field.identities().await.unwrap();
                let parts = pair.field.resolve(id, verdict, Some(&everybody)).await.unwrap();
                assert_eq!(parts, 2);
                assert_eq!((pair.state().await, pair.left().await), (expected, (0, 0)));
            }
            pair.end().await;
        }
    });
}

#[test]
fn a_transaction_that_takes_too_long_runs_nothing_more() {
    run(async {
        for pair in pairs().await {
            let mut global = Global::begin(&pair.field, "ds_0".into(), &pair.identity);
            let later = pair.field.runtime.now() + pando_base::LIMIT;
            let error = global.next(pair.units[0].pool.unit(), later).unwrap_err();
            assert!(error.to_string().contains("longer than 60 s"), "{error}");
            pair.end().await;
        }
    });
}

#[test]
fn a_unit_that_could_not_be_taken_back_is_resolved_by_a_person() {
    run(async {
        use pando_kernel::two_phase::Verdict;
        for pair in pairs().await {
            for verdict in [Verdict::Commit, Verdict::Abort] {
                let global = pair.moved().await;
                let id = global.id().as_str().to_owned();
                pair.units[1].direct(&["UPDATE m SET x = x + 1000"]).await;
                let error = global.rollback(&pair.field, 0).await.unwrap_err();
                assert!(error.to_string().contains("ds_1"), "{error}");
                pair.recover().await;
                let left = pair.field.left().await;
                assert_eq!((left.len(), &*left[0].0, left[0].1.global.as_str()), (1, "ds_1", &*id));
                if verdict == Verdict::Abort {
                    assert!(pair.field.resolve(&id, verdict, None).await.is_err(), "it still is");
                    pair.units[1].direct(&["UPDATE m SET x = x - 1000"]).await;
                }
                assert_eq!(pair.field.resolve(&id, verdict, None).await.unwrap(), 1);
                assert_eq!(pair.left().await, (0, 0));
                assert_eq!(
                    pair.state().await,
                    [100, if verdict == Verdict::Commit { 1110 } else { 100 }]
                );
                pair.units[1].direct(&["UPDATE m SET x = 100"]).await;
            }
            pair.end().await;
        }
    });
}
