//! Planning decides once which steps a statement takes, and gives their parts: start, Describe and PREVIEW get the same value.

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use pando_engine::plan::{Planned, Purpose, Steps, plan};
use pando_fake::{Still, table_column};
use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::{Catalog, Context, SessionView};
use pando_kernel::route::UnitName;
use pando_kernel::{Because, Kind, Result, Temporaries};

#[derive(Debug)]
struct Known;

impl Catalog for Known {
    fn columns(&self, _: &str) -> Option<Arc<Vec<TableColumn>>> {
        let key = TableColumn { primary_key: true, ..table_column("order_id", Kind::Int) };
        Some(Arc::new(vec![key, table_column("user_id", Kind::Int), table_column("n", Kind::Int)]))
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        Some(Arc::default())
    }
}

/// What planning makes of a statement in the layout of the cases, where the session has a temporary table `t_mine`.
fn planned(sql: &str, purpose: Purpose) -> Result<Planned> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("cases/layout");
    let configuration = pando_config::load(&folder).expect("the configuration loads");
    let database = configuration.databases.first().expect("a database");
    let built = pando_rooms::build(database, &folder).expect("the database builds").database;
    let stmt = pando_sql::parse(sql, built.dialect.syntax()).expect("the statement is read");
    let temporaries = Temporaries {
        unit: UnitName::from("ds_0"),
        database: built.name.clone(),
        has_database_in_front: true,
        names: vec!["t_mine".to_owned()],
        lost: Vec::new(),
    };
    let session =
        SessionView { temporaries: Some(Arc::new(temporaries)), ..SessionView::default() };
    let ctx = Context {
        database: &built,
        catalog: &Known,
        dialect: built.dialect.as_ref(),
        parameters: None,
        session: &session,
        source: &Still,
    };
    plan(&ctx, &stmt, purpose)
}

/// The steps of a statement, with why they are taken.
fn steps(sql: &str, purpose: Purpose) -> (&'static str, Option<Because>) {
    match planned(sql, purpose) {
        Ok(Planned::Steps(found)) => {
            let name = match &found.steps {
                Steps::InsertSelect(_) => "insert_select",
                Steps::MoveRows(_) => "move_rows",
                Steps::ChosenRows(_) => "chosen_rows",
                Steps::FirstRows(_) => "first_rows",
                Steps::ServerCalls(_) => "locks",
                Steps::LockedRows(_) => "locked_rows",
                Steps::TableOfQuery(_) => "table_of_query",
                Steps::TableLike(_) => "table_like",
                Steps::Refill(_) => "refill",
            };
            (name, found.refusal.refusal())
        }
        Ok(Planned::Run(_) | Planned::Assembly(_) | Planned::Needs(_)) => ("none", None),
        Err(refusal) => ("refused", refusal.refusal()),
    }
}

fn check(cases: &[(&str, &str, Because)], purpose: Purpose) {
    for (sql, name, because) in cases {
        assert_eq!(steps(sql, purpose), (*name, Some(*because)), "{sql} ({purpose:?})");
    }
}

#[test]
fn what_no_single_plan_answers_is_taken_apart_into_steps() {
    let cases = [
        (
            "INSERT INTO t_exact (user_id, n) SELECT order_id, n FROM t_order",
            "insert_select",
            Because::SpansShards,
        ),
        (
            "UPDATE t_order SET n = 1 WHERE order_id = (SELECT order_id FROM t_exact ORDER BY n LIMIT 1)",
            "chosen_rows",
            Because::SpansShards,
        ),
        (
            "CREATE TABLE t_new AS SELECT order_id FROM t_order",
            "table_of_query",
            Because::SpansShards,
        ),
    ];
    check(&cases, Purpose::Run);
    check(&cases, Purpose::Describe);
    let cases = [
        (
            "UPDATE t_order SET user_id = 2 WHERE user_id = 1 AND order_id = 1",
            "move_rows",
            Because::MovesRow,
        ),
        ("UPDATE t_order SET n = 1 ORDER BY n LIMIT 3", "first_rows", Because::LimitedChange),
        ("DELETE FROM t_order ORDER BY n LIMIT 3", "first_rows", Because::LimitedChange),
    ];
    check(&cases, Purpose::Run);
}

#[test]
fn locks_of_applications_are_taken_before_the_rest_of_their_statement() {
    let cases = [
        ("SELECT GET_LOCK('a', 1)", "locks", Because::TakesLock),
        ("DO GET_LOCK('a', 1), RELEASE_LOCK('b')", "locks", Because::TakesLock),
        ("DO GET_LOCK('a', 1), SLEEP(1)", "refused", Because::Unsupported),
        ("SELECT IF(n, GET_LOCK('a', 1), 0) FROM t_order", "refused", Because::Unsupported),
        ("SELECT GET_LOCK('a', 1), n FROM t_order", "refused", Because::Unsupported),
        ("UPDATE t_order SET n = GET_LOCK('a', 1)", "refused", Because::Unsupported),
    ];
    check(&cases, Purpose::Run);
}

#[test]
fn the_first_rows_of_several_shards_are_locked_in_turn() {
    let turn = "SELECT n FROM t_order ORDER BY n LIMIT 3 FOR UPDATE SKIP LOCKED";
    check(&[(turn, "locked_rows", Because::SpansShards)], Purpose::Run);
    let whole = [
        "SELECT n FROM t_order WHERE user_id = 1 AND order_id = 1 LIMIT 3 FOR UPDATE",
        "SELECT n FROM t_order ORDER BY n FOR UPDATE",
    ];
    for sql in whole {
        assert_eq!(steps(sql, Purpose::Run), ("none", None), "{sql}");
    }
}

#[test]
fn steps_that_cannot_be_taken_leave_the_refusal() {
    let cases = [
        // What comes of it is known for one statement only.
        ("DELETE FROM t_order LIMIT 3 RETURNING n", "refused", Because::LimitedChange),
        (
            "UPDATE t_order SET user_id = 2 WHERE user_id = 1 LIMIT 3",
            "refused",
            Because::Unsupported,
        ),
    ];
    check(&cases, Purpose::Run);
}

#[test]
fn rows_go_from_temporary_tables_to_others_and_back() {
    let cases = [
        (
            "INSERT INTO t_exact (user_id, n) SELECT user_id, n FROM t_mine",
            "insert_select",
            Because::SpansShards,
        ),
        (
            "INSERT INTO t_mine (user_id, n) SELECT user_id, n FROM t_exact",
            "insert_select",
            Because::SpansShards,
        ),
        (
            "UPDATE t_mine SET n = 1 WHERE n = (SELECT n FROM t_exact LIMIT 1)",
            "chosen_rows",
            Because::SpansShards,
        ),
    ];
    check(&cases, Purpose::Run);
    check(&cases, Purpose::Describe);
}
