//! The table of the README: every step, every fault, what comes of it. Played on real servers.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::wildcard_enum_match_arm,
    reason = "tests only"
)]

mod support;

use pando_base::{Call, Undone};
use pando_kernel::request::Parameter;
use pando_kernel::{Result, Value};

use support::faulty::{FAULTS, Fault};
use support::{Family, Server, run, servers};

const SETUP: &[&str] = &[
    "CREATE TABLE f (id INT PRIMARY KEY, u INT UNIQUE, x INT)",
    "INSERT INTO f VALUES (1, 10, 0), (2, 20, 0), (3, 30, 0)",
    "CREATE TABLE decision (id VARCHAR(64) PRIMARY KEY, verdict INT)",
];
const ALL: &str = "SELECT id, u, x FROM f ORDER BY id";

/// Plays a fault at one step of some work, and tells what it came to; `None` when the coordinator was gone.
async fn play<T>(
    server: &Server,
    (step, fault): (&str, Fault),
    work: impl Future<Output = Result<T>>,
) -> Option<Result<T>> {
    server.plot.at(step, fault);
    let ended = tokio::select! {
        biased;
        () = server.plot.gone() => None,
        ended = work => Some(ended),
    };
    assert!(server.plot.end(), "{}: nothing begins with `{step}`", server.name);
    let gone = matches!(fault, Fault::GoneBefore | Fault::GoneAfter);
    assert_eq!(ended.is_none(), gone, "{}: {step} {fault:?}", server.name);
    ended
}

/// Waits until the server has seen that a connection is gone, and rolled back what was open on it.
async fn settle(server: &Server) {
    let mut connection = server.pool.take().await.unwrap();
    for sql in ["BEGIN", ALL_LOCKED, "COMMIT"] {
        support::ask(&mut connection, sql).await.unwrap();
    }
}

const ALL_LOCKED: &str = "SELECT id FROM f FOR UPDATE";

fn is_after(fault: Fault) -> bool {
    matches!(fault, Fault::LostAfter | Fault::GoneAfter)
}

/// Steps of a change up to its local commit.
fn steps_of_change(family: Family) -> &'static [&'static str] {
    match family {
        Family::Postgres => &[
            "BEGIN ISOLATION LEVEL REPEATABLE READ",
            "INSERT INTO pando.row_lock",
            "INSERT INTO pando.undo",
            "COMMIT",
        ],
        Family::MySql => &[
            "SET SESSION autocommit = 0",
            "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            "START TRANSACTION",
            "SELECT CAST(f.`id`",
            "UPDATE f",
            "SELECT CAST(`f`.`id`",
            "INSERT INTO pando_row_lock",
            "SELECT global_id",
            "INSERT INTO pando_undo",
            "COMMIT",
        ],
    }
}

fn steps_of_rollback(family: Family) -> &'static [&'static str] {
    match family {
        Family::Postgres => &[
            "BEGIN ISOLATION LEVEL READ COMMITTED",
            "SET LOCAL datestyle",
            "SELECT statement_no",
            "SELECT ROW(",
            "UPDATE \"public\".\"f\"",
            "INSERT INTO \"public\".\"f\"",
            "DELETE FROM \"public\".\"f\"",
            "DELETE FROM pando.undo",
            "DELETE FROM pando.row_lock",
            "COMMIT",
        ],
        Family::MySql => &[
            "SET SESSION autocommit = 0",
            "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "START TRANSACTION",
            "SET @pando_sql_mode",
            "SELECT statement_no",
            "SELECT CAST(`id`",
            "UPDATE `f`",
            "INSERT INTO `f`",
            "DELETE FROM `f`",
            "DELETE FROM pando_undo",
            "DELETE FROM pando_row_lock",
            "COMMIT",
        ],
    }
}

/// Nothing is changed, logged or held, and the rows may be changed by somebody else.
async fn check_untouched(server: &Server, before: &[Vec<Value>], what: &str) {
    settle(server).await;
    assert_eq!(server.rows(ALL).await, before, "{what}");
    assert_eq!(server.left().await, (0, 0), "{what}");
    server
        .run("other", 1, "UPDATE f SET x = 5")
        .await
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(server.rollback("other", 0).await.unwrap(), Undone::Clean, "{what}");
}

#[test]
fn a_fault_in_a_change_leaves_all_of_it_or_nothing() {
    run(async {
        for server in servers().await {
            server.direct(SETUP).await;
            server.prepare().await;
            let before = server.rows(ALL).await;
            for step in steps_of_change(server.family) {
                for fault in FAULTS {
                    let what = format!("{}: {fault:?} at {step}", server.name);
                    let sql = "UPDATE f SET x = x + 1 WHERE id < 3";
                    let ended = play(&server, (step, fault), server.run("g", 1, sql)).await;
                    assert!(ended.is_none_or(|ended| ended.is_err()), "{what}");
                    settle(&server).await;
                    let is_committed = *step == "COMMIT" && is_after(fault);
                    assert_eq!(server.left().await.0, usize::from(is_committed), "{what}");
                    assert_eq!(server.rows(ALL).await != before, is_committed, "{what}");
                    assert_eq!(server.rollback("g", 0).await.unwrap(), Undone::Clean, "{what}");
                    check_untouched(&server, &before, &what).await;
                }
            }
            server.drop_database().await;
        }
    });
}

#[test]
fn a_fault_in_a_prepared_change_leaves_all_of_it_or_nothing() {
    run(async {
        for server in servers().await {
            server.direct(SETUP).await;
            server.prepare().await;
            let before = server.rows(ALL).await;
            let (sql, steps): (&str, &[&str]) = match server.family {
                Family::Postgres => (
                    "DELETE FROM f WHERE id = $1",
                    &["BEGIN", "DELETE FROM f", "INSERT INTO pando.undo"],
                ),
                Family::MySql => (
                    "DELETE FROM f WHERE id = ?",
                    &[
                        "START TRANSACTION",
                        "SELECT CAST(f.",
                        "DELETE FROM f",
                        "INSERT INTO pando_undo",
                    ],
                ),
            };
            let parameters = vec![Parameter::made(Value::Int(2))];
            let call = Call { prepared: true, parameters, ..Call::default() };
            for step in steps {
                for fault in FAULTS {
                    let what = format!("{}: {fault:?} at {step}", server.name);
                    let ended =
                        play(&server, (step, fault), server.call("g", 1, (sql, &call))).await;
                    assert!(ended.is_none_or(|ended| ended.is_err()), "{what}");
                    settle(&server).await;
                    assert_eq!(server.rollback("g", 0).await.unwrap(), Undone::Clean, "{what}");
                    check_untouched(&server, &before, &what).await;
                }
            }
            let reply = server.call("g", 1, (sql, &call)).await.unwrap();
            assert_eq!(reply.completion.affected, Some(1), "{}", server.name);
            assert_eq!(server.rollback("g", 0).await.unwrap(), Undone::Clean);
            assert_eq!(server.rows(ALL).await, before);
            server.drop_database().await;
        }
    });
}

#[test]
fn a_fault_in_an_upsert_leaves_all_of_it_or_nothing() {
    run(async {
        for server in servers().await {
            server.direct(SETUP).await;
            server.prepare().await;
            let before = server.rows(ALL).await;
            let (sql, steps): (&str, &[&str]) = match server.family {
                Family::Postgres => (
                    "INSERT INTO f VALUES (1, 10, 7), (4, 40, 7) ON CONFLICT (id) DO UPDATE SET x = 7",
                    &["BEGIN", "INSERT INTO pando.row_lock", "COMMIT"],
                ),
                Family::MySql => (
                    "INSERT INTO f VALUES (1, 10, 7), (4, 40, 7) ON DUPLICATE KEY UPDATE x = 7",
                    &[
                        "START TRANSACTION",
                        "SELECT CAST(`f`.`id`",
                        "INSERT INTO f",
                        "INSERT INTO pando_row_lock",
                        "COMMIT",
                    ],
                ),
            };
            for step in steps {
                for fault in FAULTS {
                    let what = format!("{}: {fault:?} at {step}", server.name);
                    let ended = play(&server, (step, fault), server.run("g", 1, sql)).await;
                    assert!(ended.is_none_or(|ended| ended.is_err()), "{what}");
                    settle(&server).await;
                    assert_eq!(server.rollback("g", 0).await.unwrap(), Undone::Clean, "{what}");
                    check_untouched(&server, &before, &what).await;
                }
            }
            server.drop_database().await;
        }
    });
}

#[test]
fn after_a_fault_in_a_commit_it_is_finished_by_whoever_comes_next() {
    run(async {
        for server in servers().await {
            server.direct(SETUP).await;
            let steps = [
                format!("DELETE FROM {}", server.lock_table()),
                format!("DELETE FROM {}", server.undo_table()),
            ];
            for (number, step) in steps.iter().enumerate() {
                for fault in FAULTS {
                    let what = format!("{}: {fault:?} at {step}", server.name);
                    server.run("g", 1, "UPDATE f SET x = x + 1").await.unwrap();
                    let changed = server.rows(ALL).await;
                    let ended = play(&server, (step, fault), server.commit("g")).await;
                    assert!(ended.is_none_or(|ended| ended.is_err()), "{what}");
                    settle(&server).await;
                    if number == 1 {
                        assert_eq!(server.left().await.1, 0, "{what}: the rows are free");
                    }
                    server.commit("g").await.unwrap();
                    check_untouched(&server, &changed, &what).await;
                }
            }
            server.drop_database().await;
        }
    });
}

#[test]
fn a_fault_in_a_rollback_leaves_it_to_whoever_comes_next() {
    run(async {
        for server in servers().await {
            server.direct(SETUP).await;
            let before = server.rows(ALL).await;
            let statements = [
                "UPDATE f SET x = 9 WHERE id = 1",
                "DELETE FROM f WHERE id = 2",
                "INSERT INTO f VALUES (4, 40, 4)",
            ];
            for step in steps_of_rollback(server.family) {
                for fault in FAULTS {
                    let what = format!("{}: {fault:?} at {step}", server.name);
                    for (number, sql) in statements.iter().enumerate() {
                        server.run("g", number as u64 + 1, sql).await.unwrap();
                    }
                    let changed = server.rows(ALL).await;
                    let ended = play(&server, (step, fault), server.rollback("g", 0)).await;
                    settle(&server).await;
                    let is_done = *step == "COMMIT" && is_after(fault);
                    let now = server.rows(ALL).await;
                    assert_eq!(
                        &now,
                        if is_done { &before } else { &changed },
                        "{what}: all or nothing"
                    );
                    if let Some(ended) = ended {
                        // A server's error that could come again is for a person; one that says nothing of the rows is not.
                        let is_dirty = matches!(ended, Ok(Undone::Dirty(_)));
                        assert_eq!(is_dirty, fault == Fault::Error, "{what}");
                    }
                    assert_eq!(server.rollback("g", 0).await.unwrap(), Undone::Clean, "{what}");
                    check_untouched(&server, &before, &what).await;
                }
            }
            server.drop_database().await;
        }
    });
}

#[test]
fn the_commit_of_one_unit_happens_with_its_decision_or_not_at_all() {
    run(async {
        for server in servers().await {
            server.direct(SETUP).await;
            let before = server.rows(ALL).await;
            let decision = ["INSERT INTO decision VALUES ('g', 1)".to_owned()];
            let steps: &[&str] = match server.family {
                Family::Postgres => &["BEGIN"],
                Family::MySql => &[
                    "START TRANSACTION",
                    "INSERT INTO decision",
                    "DELETE FROM pando_undo",
                    "DELETE FROM pando_row_lock",
                    "COMMIT",
                ],
            };
            for step in steps {
                for fault in FAULTS {
                    let what = format!("{}: {fault:?} at {step}", server.name);
                    server.run("g", 1, "UPDATE f SET x = x + 1").await.unwrap();
                    let changed = server.rows(ALL).await;
                    let ended = play(&server, (step, fault), server.conclude("g", &decision)).await;
                    assert!(ended.is_none_or(|ended| ended.is_err()), "{what}");
                    settle(&server).await;
                    let last = *steps.last().unwrap();
                    let is_committed = *step == last && is_after(fault);
                    let decided = server.rows("SELECT id FROM decision").await.len();
                    assert_eq!(decided, usize::from(is_committed), "{what}");
                    assert_eq!(server.rollback("g", 0).await.unwrap(), Undone::Clean, "{what}");
                    let expected = if is_committed { &changed } else { &before };
                    assert_eq!(&server.rows(ALL).await, expected, "{what}");
                    server.direct(&["DELETE FROM decision", "UPDATE f SET x = 0"]).await;
                }
            }
            // Somebody has decided otherwise: nothing is concluded.
            server.run("g", 1, "UPDATE f SET x = x + 1").await.unwrap();
            server.direct(&["INSERT INTO decision VALUES ('g', 0)"]).await;
            assert!(server.conclude("g", &decision).await.is_err());
            assert_eq!(server.left().await, (1, 6));
            assert_eq!(server.rollback("g", 0).await.unwrap(), Undone::Clean);
            assert_eq!(server.rows(ALL).await, before);
            server.drop_database().await;
        }
    });
}
