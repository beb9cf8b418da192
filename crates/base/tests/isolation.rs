//! Global transactions beside each other and beside others: locks, dirty rows, what recovery finds.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::wildcard_enum_match_arm,
    reason = "tests only"
)]

mod support;

use std::time::Duration;

use pando_base::{Undone, Unit};
use pando_kernel::{ErrorKind, Event, Value};

use support::{Family, Server, decode, run, servers};

const SETUP: &[&str] = &[
    "CREATE TABLE a (id INT PRIMARY KEY, u INT UNIQUE, x INT)",
    "INSERT INTO a VALUES (1, 10, 1), (2, 20, 2)",
];
const ALL: &str = "SELECT id, u, x FROM a ORDER BY id";

async fn fresh() -> Vec<Server> {
    let servers = servers().await;
    for server in &servers {
        server.direct(SETUP).await;
    }
    servers
}

fn is_held(server: &Server, error: &pando_kernel::Error, holder: &str) {
    let ErrorKind::Server(told) = error.kind() else { panic!("{}: {error}", server.name) };
    let sqlstate = if server.family == Family::Postgres { "55P03" } else { "HY000" };
    assert_eq!((told.number, told.sqlstate.as_str()), (1205, sqlstate), "{error}");
    assert!(told.message.contains(&format!("`{holder}`")), "{error}");
}

#[test]
fn a_row_that_another_transaction_holds_is_refused_after_a_while() {
    run(async {
        for server in fresh().await {
            server.run("g1", 1, "UPDATE a SET x = 5 WHERE id = 1").await.unwrap();
            let others = [
                "UPDATE a SET x = 6",
                "DELETE FROM a WHERE id = 1",
                "SELECT x FROM a WHERE id = 1 FOR UPDATE",
                "UPDATE a SET id = 3 WHERE id = 1",
            ];
            for sql in others {
                let error = server.run("g2", 1, sql).await.unwrap_err();
                is_held(&server, &error, "g1");
            }
            server.run("g2", 1, "UPDATE a SET x = 6 WHERE id = 2").await.unwrap();
            server.run("g1", 2, "UPDATE a SET x = x + 1 WHERE id = 1").await.unwrap();
            server.commit("g1").await.unwrap();
            server.run("g2", 2, "UPDATE a SET x = x * 10 WHERE id = 1").await.unwrap();
            server.commit("g2").await.unwrap();
            let rows = server.rows("SELECT x FROM a ORDER BY id").await;
            assert_eq!(rows, [[Value::Int(60)], [Value::Int(6)]]);
            assert_eq!(server.left().await, (0, 0));
            server.drop_database().await;
        }
    });
}

#[test]
fn whoever_waits_goes_on_when_the_row_is_let_go() {
    run(async {
        for server in fresh().await {
            server.run("g1", 1, "UPDATE a SET x = 5 WHERE id = 1").await.unwrap();
            let waits = server.run("g2", 1, "UPDATE a SET x = x + 1 WHERE id = 1");
            let frees = async {
                tokio::time::sleep(Duration::from_millis(50)).await;
                server.rollback("g1", 0).await.unwrap()
            };
            let (waited, freed) = tokio::join!(waits, frees);
            waited.unwrap();
            assert_eq!(freed, Undone::Clean);
            assert_eq!(server.rows("SELECT x FROM a WHERE id = 1").await, [[Value::Int(2)]]);
            server.commit("g2").await.unwrap();
            server.drop_database().await;
        }
    });
}

#[test]
fn who_asks_for_a_row_by_its_key_waits_for_whoever_has_deleted_it() {
    run(async {
        for server in fresh().await {
            server.run("g1", 1, "DELETE FROM a WHERE id = 1").await.unwrap();
            for sql in [
                "DELETE FROM a WHERE id = 1",
                "UPDATE a SET x = 6 WHERE (1 = id) AND x > 0",
                "SELECT x FROM a WHERE id = 1 FOR UPDATE",
            ] {
                let error = server.run("g2", 1, sql).await.unwrap_err();
                is_held(&server, &error, "g1");
            }
            // Nobody holds these, or the statement asks for more than one.
            server.run("g2", 1, "DELETE FROM a WHERE id = 7").await.unwrap();
            server.run("g2", 1, "DELETE FROM a WHERE id = 1 OR id = 7").await.unwrap();
            server.run("g1", 2, "INSERT INTO a VALUES (1, 11, 3)").await.unwrap();
            server.commit("g1").await.unwrap();
            server.run("g2", 2, "DELETE FROM a WHERE id = 1").await.unwrap();
            server.run("g2", 3, "INSERT INTO a VALUES (1, 12, 4)").await.unwrap();
            server.commit("g2").await.unwrap();
            assert_eq!(server.rows("SELECT u FROM a WHERE id = 1").await, [[Value::Int(12)]]);
            server.drop_database().await;
        }
    });
}

#[test]
fn a_freed_unique_value_is_held_until_nobody_can_want_it_back() {
    run(async {
        for server in fresh().await {
            server.run("g1", 1, "DELETE FROM a WHERE id = 1").await.unwrap();
            let error = server.run("g2", 1, "INSERT INTO a VALUES (3, 10, 3)").await.unwrap_err();
            is_held(&server, &error, "g1");
            let error = server.run("g2", 1, "INSERT INTO a VALUES (1, 11, 3)").await.unwrap_err();
            is_held(&server, &error, "g1");
            assert_eq!(server.rollback("g1", 0).await.unwrap(), Undone::Clean);
            assert_eq!(server.rows(ALL).await.len(), 2);
            server.drop_database().await;
        }
    });
}

#[test]
fn rows_that_somebody_else_changed_are_reported_and_left_alone() {
    run(async {
        for server in fresh().await {
            server.run("g", 1, "UPDATE a SET x = 5").await.unwrap();
            server.run("g", 2, "INSERT INTO a VALUES (3, 30, 3)").await.unwrap();
            server.direct(&["UPDATE a SET x = 6 WHERE id = 2"]).await;
            let now = server.rows(ALL).await;
            let Undone::Dirty(rows) = server.rollback("g", 0).await.unwrap() else {
                panic!("clean")
            };
            assert_eq!(rows.len(), 1, "{rows:?}");
            assert!(rows[0].contains("id = 2"), "{rows:?}");
            assert_eq!(server.rows(ALL).await, now, "nothing is restored");
            assert_eq!(server.left().await, (2, 6), "everything is kept");
            let mut connection = server.pool.take().await.unwrap();
            let mut unit = Unit::of(&mut connection, server.dialect.as_ref()).unwrap();
            let open = unit.open().await.unwrap();
            assert_eq!(open[0].dirty.as_deref(), Some(rows[0].as_str()));
            drop(connection);
            // Put right by hand, it is taken back.
            server.direct(&["UPDATE a SET x = 5 WHERE id = 2"]).await;
            assert_eq!(server.rollback("g", 0).await.unwrap(), Undone::Clean);
            let rows = server.rows("SELECT x FROM a ORDER BY id").await;
            assert_eq!(rows, [[Value::Int(1)], [Value::Int(2)]]);
            assert_eq!(server.left().await, (0, 0));
            server.drop_database().await;
        }
    });
}

#[test]
fn a_person_may_keep_what_could_not_be_taken_back() {
    run(async {
        for server in fresh().await {
            server.run("g", 1, "DELETE FROM a WHERE id = 1").await.unwrap();
            server.direct(&["INSERT INTO a VALUES (3, 10, 7)"]).await;
            // The unique value is taken: the server itself refuses the row.
            assert!(matches!(server.rollback("g", 0).await.unwrap(), Undone::Dirty(_)));
            let mut connection = server.pool.take().await.unwrap();
            let mut unit = Unit::of(&mut connection, server.dialect.as_ref()).unwrap();
            unit.accept("g").await.unwrap();
            assert!(unit.open().await.unwrap().is_empty());
            drop(connection);
            assert_eq!(server.left().await, (0, 0));
            assert_eq!(
                server.rows("SELECT id FROM a ORDER BY id").await,
                [[Value::Int(2)], [Value::Int(3)]]
            );
            server.drop_database().await;
        }
    });
}

#[test]
fn rows_that_were_put_back_by_hand_need_nothing() {
    run(async {
        for server in fresh().await {
            let before = server.rows(ALL).await;
            server.run("g", 1, "UPDATE a SET x = 5 WHERE id = 1").await.unwrap();
            server.run("g", 2, "DELETE FROM a WHERE id = 2").await.unwrap();
            server.run("g", 3, "INSERT INTO a VALUES (3, 30, 3)").await.unwrap();
            server
                .direct(&[
                    "UPDATE a SET x = 1 WHERE id = 1",
                    "INSERT INTO a VALUES (2, 20, 2)",
                    "DELETE FROM a WHERE id = 3",
                ])
                .await;
            assert_eq!(server.rollback("g", 0).await.unwrap(), Undone::Clean, "{}", server.name);
            assert_eq!(server.rows(ALL).await, before);
            assert_eq!(server.left().await, (0, 0));
            server.drop_database().await;
        }
    });
}

#[test]
fn a_session_finds_its_connection_as_it_left_it() {
    run(async {
        for server in fresh().await {
            if server.family == Family::Postgres {
                server.drop_database().await;
                continue;
            }
            let mut connection = server.pool.take().await.unwrap();
            let asked = "SELECT @@sql_mode, @@time_zone, @@autocommit, @@tx_isolation";
            let asked = if server.name.starts_with("MYSQL") {
                asked.replace("@@tx_isolation", "@@transaction_isolation")
            } else {
                asked.to_owned()
            };
            let before = support::ask(&mut connection, &asked).await.unwrap();
            let call = pando_base::Call::default();
            server.call_on(&mut connection, ("g", 1), ("UPDATE a SET x = 5", &call)).await.unwrap();
            server
                .call_on(&mut connection, ("g", 2), ("UPDATE a SET nothing = 5", &call))
                .await
                .unwrap_err();
            let mut unit = Unit::of(&mut connection, server.dialect.as_ref()).unwrap();
            unit.rollback("g", 2).await.unwrap();
            unit.rollback("g", 0).await.unwrap();
            assert_eq!(support::ask(&mut connection, &asked).await.unwrap(), before);
            drop(connection);
            server.drop_database().await;
        }
    });
}

#[test]
fn the_client_sees_its_own_columns_only() {
    run(async {
        for server in fresh().await {
            let statements: &[&str] = match server.family {
                Family::Postgres => &[
                    "UPDATE a SET x = x + 1 RETURNING x, id",
                    "SELECT x, id FROM a ORDER BY id FOR UPDATE",
                ],
                Family::MySql => &["SELECT x, id FROM a ORDER BY id FOR UPDATE"],
            };
            for sql in statements {
                let reply = server.run("g", 1, sql).await.unwrap();
                let mut rows = Vec::new();
                let mut columns = None;
                for event in &reply.events {
                    match event {
                        Event::Columns(told) => columns = Some(told),
                        Event::Rows(told) => decode(columns.unwrap(), told, &mut rows),
                        _ => {}
                    }
                }
                assert_eq!((columns.unwrap().list.len(), rows.len()), (2, 2), "{sql}");
                assert!(rows.iter().all(|row| row.len() == 2 && row[1] != Value::Null));
                assert!(matches!(reply.events.last(), Some(Event::Complete(_))));
                server.rollback("g", 0).await.unwrap();
            }
            let plain = server.run("g", 1, "UPDATE a SET x = 7 WHERE id = 1").await.unwrap();
            assert_eq!(plain.completion.affected, Some(1));
            assert_eq!(plain.events.len(), 1, "{:?}", plain.events);
            server.commit("g").await.unwrap();
            server.drop_database().await;
        }
    });
}

#[test]
fn an_error_points_into_the_clients_statement() {
    run(async {
        for server in fresh().await {
            if server.family == Family::Postgres {
                let error = server.run("g", 1, "UPDATE a SET nothing = 1").await.unwrap_err();
                let ErrorKind::Server(told) = error.kind() else { panic!("{error}") };
                let place = told.fields.iter().find(|(field, _)| *field == b'P');
                assert_eq!(place, Some(&(b'P', "14".to_owned())));
            }
            server.drop_database().await;
        }
    });
}

#[test]
fn a_failing_statement_takes_nothing_but_itself_back() {
    run(async {
        for server in fresh().await {
            server.run("g", 1, "UPDATE a SET x = 5 WHERE id = 1").await.unwrap();
            let error = server
                .run("g", 2, "INSERT INTO a VALUES (3, 30, 3), (4, 20, 4)")
                .await
                .unwrap_err();
            assert!(error.to_string().to_lowercase().contains("duplicate"), "{error}");
            assert_eq!(
                server.rows("SELECT x FROM a ORDER BY id").await,
                [[Value::Int(5)], [Value::Int(2)]]
            );
            assert_eq!(server.left().await, (1, 2));
            server.commit("g").await.unwrap();
            server.drop_database().await;
        }
    });
}

#[test]
fn an_overdue_transaction_is_told_with_its_decider() {
    run(async {
        for server in fresh().await {
            server.run("late", 1, "UPDATE a SET x = 5 WHERE id = 1").await.unwrap();
            server.run("early", 1, "SELECT x FROM a WHERE id = 2 FOR UPDATE").await.unwrap();
            server
                .direct(&[&format!(
                    "UPDATE {} SET deadline = deadline - 120000 WHERE global_id = 'late'",
                    server.undo_table()
                )])
                .await;
            let mut connection = server.pool.take().await.unwrap();
            let open =
                Unit::of(&mut connection, server.dialect.as_ref()).unwrap().open().await.unwrap();
            let told: Vec<(&str, &str, bool, Option<&str>)> = open
                .iter()
                .map(|one| {
                    (
                        one.global.as_str(),
                        one.decider.as_str(),
                        one.is_overdue,
                        one.dirty.as_deref(),
                    )
                })
                .collect();
            assert_eq!(told, [("late", "ds_0", true, None), ("early", "ds_0", false, None)]);
            drop(connection);
            server.drop_database().await;
        }
    });
}

#[test]
fn a_unit_without_a_log_has_nothing_to_take_back() {
    run(async {
        for server in fresh().await {
            assert_eq!(server.rollback("g", 0).await.unwrap(), Undone::Clean);
            server.commit("g").await.unwrap();
            let mut connection = server.pool.take().await.unwrap();
            let mut unit = Unit::of(&mut connection, server.dialect.as_ref()).unwrap();
            assert!(unit.open().await.unwrap().is_empty());
            drop(connection);
            server.drop_database().await;
        }
    });
}

#[test]
fn a_statement_that_was_taken_back_alone_holds_no_row() {
    run(async {
        for server in fresh().await {
            server.run("g1", 1, "UPDATE a SET x = 5 WHERE id = 1").await.unwrap();
            assert_eq!(server.rollback("g1", 1).await.unwrap(), Undone::Clean);
            // Nobody would find the locks: whoever looks, looks for images.
            assert_eq!(server.left().await, (0, 0), "{}", server.name);
            server.drop_database().await;
        }
    });
}

#[test]
fn tables_whose_rows_have_no_images_are_refused() {
    run(async {
        for server in fresh().await {
            server.direct(&["CREATE TABLE keyless (x INT)", "CREATE TABLE child (id INT PRIMARY KEY, a INT, FOREIGN KEY (a) REFERENCES a (id) ON DELETE CASCADE)"]).await;
            let mut refused = vec![("keyless", "no primary key"), ("a", "depends on it")];
            match server.family {
                Family::Postgres => {
                    server
                        .direct(&[
                            "CREATE VIEW v AS SELECT * FROM child",
                            "CREATE TABLE base (id INT PRIMARY KEY)",
                            "CREATE TABLE heir () INHERITS (base)",
                            "CREATE RULE r AS ON DELETE TO heir DO INSTEAD NOTHING",
                            "CREATE DOMAIN moment AS timestamptz",
                            "CREATE TYPE price AS (what text, cost money)",
                            "CREATE TABLE d (id INT PRIMARY KEY, x moment)",
                            "CREATE TABLE many (id INT PRIMARY KEY, x timestamptz[])",
                            "CREATE TABLE span (id INT PRIMARY KEY, x tstzrange)",
                            "CREATE TABLE spans (id INT PRIMARY KEY, x tstzmultirange[])",
                            "CREATE TABLE priced (id INT PRIMARY KEY, x price)",
                            "CREATE TABLE named (id INT PRIMARY KEY, x regclass[])",
                            "CREATE TABLE cut (id INT PRIMARY KEY) PARTITION BY HASH (id)",
                            "CREATE TABLE cut0 PARTITION OF cut FOR VALUES WITH (MODULUS 1, REMAINDER 0)",
                            "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
                            "CREATE TRIGGER trg BEFORE UPDATE ON cut0 FOR EACH ROW EXECUTE FUNCTION f()",
                        ])
                        .await;
                    refused.extend([("v", "no table"), ("base", "inherit"), ("heir", "rule")]);
                    refused.extend([("cut0", "it is a partition"), ("cut", "trigger")]);
                    let vary = ["d", "many", "span", "spans", "priced", "named"];
                    refused.extend(vary.map(|table| (table, "reads differently")));
                }
                Family::MySql => {
                    server.direct(&["CREATE TABLE loose (id INT PRIMARY KEY) ENGINE=MyISAM", "CREATE TABLE marked (id INT PRIMARY KEY)", "CREATE TRIGGER trg BEFORE INSERT ON marked FOR EACH ROW SET NEW.id = 1"]).await;
                    refused.extend([("loose", "has no transactions"), ("marked", "trigger")]);
                }
            }
            for (table, why) in refused {
                let error = server.table(table).await.unwrap_err();
                assert!(error.to_string().contains(why), "{}: {table}: {error}", server.name);
            }
            assert!(matches!(
                server.table("nothing").await.unwrap_err().kind(),
                ErrorKind::UnknownTable(_)
            ));
            assert!(server.table("child").await.is_ok());
            server.drop_database().await;
        }
    });
}

#[test]
fn many_who_want_the_same_row_get_it_one_after_the_other() {
    run(async {
        for server in fresh().await {
            let one = async |number: usize| {
                let global = format!("g{number}");
                for _ in 0..200 {
                    match server.run(&global, 1, "UPDATE a SET x = x + 1 WHERE id = 1").await {
                        Ok(_) => break,
                        Err(error) => passes(&error),
                    }
                }
                if number.is_multiple_of(2) {
                    server.commit(&global).await.unwrap();
                } else {
                    assert_eq!(server.rollback(&global, 0).await.unwrap(), Undone::Clean);
                }
            };
            tokio::join!(one(0), one(1), one(2), one(3), one(4), one(5));
            assert_eq!(
                server.rows("SELECT x FROM a WHERE id = 1").await,
                [[Value::Int(4)]],
                "{}",
                server.name
            );
            assert_eq!(server.left().await, (0, 0));
            server.drop_database().await;
        }
    });
}

/// Held, or in each other's way for longer than anybody waits.
fn passes(error: &pando_kernel::Error) {
    let ErrorKind::Server(told) = error.kind() else { panic!("{error}") };
    assert!(told.number == 1205 || told.sqlstate == "40001", "{error}");
}

#[test]
fn an_upsert_of_a_row_that_is_taken_away_meanwhile_comes_in() {
    run(async {
        for server in fresh().await {
            if server.family != Family::Postgres {
                server.drop_database().await;
                continue;
            }
            server
                .direct(&[
                    "CREATE TABLE p (id INT PRIMARY KEY, x INT) PARTITION BY HASH (id)",
                    "CREATE TABLE p0 PARTITION OF p FOR VALUES WITH (MODULUS 1, REMAINDER 0)",
                    "INSERT INTO p VALUES (1, 7)",
                ])
                .await;
            for (table, global) in [("a", "g1"), ("p", "g2")] {
                upserts_beside_a_delete(&server, table, global).await;
            }
            server.drop_database().await;
        }
    });
}

/// The upsert has its snapshot and waits; the row goes; the upsert goes on.
async fn upserts_beside_a_delete(server: &Server, table: &str, global: &str) {
    let mut other = server.pool.take().await.unwrap();
    support::ask(&mut other, "SELECT pg_advisory_lock(5)").await.unwrap();
    let sql = format!(
        "INSERT INTO {table} (id, x) VALUES (1, length(pg_advisory_xact_lock(5)::text) + 7) ON CONFLICT (id) DO UPDATE SET x = excluded.x"
    );
    let upserts = server.run(global, 1, &sql);
    let takes = async {
        let waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        while support::ask(&mut other, waiting).await.unwrap() != [[Value::Int(1)]] {
            tokio::task::yield_now().await;
        }
        support::ask(&mut other, &format!("DELETE FROM {table} WHERE id = 1")).await.unwrap();
        support::ask(&mut other, "SELECT pg_advisory_unlock(5)").await.unwrap();
    };
    let (did, ()) = tokio::join!(upserts, takes);
    did.unwrap();
    let rows = format!("SELECT x FROM {table} WHERE id = 1");
    assert_eq!(server.rows(&rows).await, [[Value::Int(7)]]);
    assert_eq!(server.rollback(global, 0).await.unwrap(), Undone::Clean);
    assert!(server.rows(&rows).await.is_empty(), "{table}: a row that somebody deleted is back");
}
