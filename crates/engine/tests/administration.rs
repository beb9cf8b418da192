//! Configuration by statements, seen from a session: what is handed on, what comes back, and what works where nothing is stored yet.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking"
)]

mod house;

use std::sync::Arc;

use house::{House, Manners, TABLES, house, is_without_units};
use pando_fake::Reply;
use pando_kernel::administration::{Answer, Errand, Unless};
use pando_kernel::error::{Error, ErrorKind};
use pando_kernel::request::{Execute, Pipeline, Request};
use pando_kernel::session::{Session as _, TransactionState};
use pando_kernel::{Kind, Value};

fn rows(labels: &[&str], row: &[Option<&str>]) -> Answer {
    Answer::Rows {
        labels: labels.iter().map(|label| (*label).to_owned()).collect(),
        rows: vec![row.iter().map(|field| field.map(str::to_owned)).collect()],
    }
}

#[test]
fn statements_about_the_configuration_are_handed_on() {
    let mut house = house(Manners::Postgres, &["shop"]);
    house.answers("SHOW TREES", rows(&["tree", "age"], &[Some("quaking aspen"), None]));
    house.answers("PLANT TREE oak", Answer::Done("PLANT TREE".into()));
    assert_eq!(house.ok("SHOW TREES;"), ["Text(\"quaking aspen\") Null", "SHOW 1"]);
    assert_eq!(house.ok("PLANT TREE oak"), ["PLANT TREE 0"]);
    assert!(house.sent().is_empty());
    let calls = house.calls();
    assert_eq!(calls[0].0, "SHOW TREES");
    let caller = &calls[1].1;
    assert_eq!((caller.user.as_str(), caller.database.as_deref()), ("ann", Some("shop")));
    assert!(caller.is_administrator && !caller.in_transaction);
    assert!(caller.databases.is_none());
    assert_eq!(caller.family, "fake");
}

#[test]
fn of_a_statement_about_the_configuration_there_is_nothing_to_preview() {
    let mut house = house(Manners::Postgres, &["shop"]);
    house.answers("SHOW TREES", rows(&["tree"], &[None]));
    let error = house.fails("PREVIEW SHOW TREES");
    assert!(matches!(error.kind(), ErrorKind::Refused { code: 30001, .. }), "{error}");
    assert!(house.calls().is_empty());
}

#[test]
fn without_anybody_who_administers_they_are_sql() {
    let mut house = House::ungoverned(Manners::MySql, &["shop"]);
    house.ok("SHOW TREES");
    house.ok("CREATE DATABASE x");
    assert_eq!(house.sent(), ["SHOW TREES", "CREATE DATABASE x"]);
}

#[test]
fn an_error_comes_as_it_is_and_fails_a_transaction() {
    let mut house = house(Manners::Postgres, &["shop"]);
    house.ok("BEGIN");
    let error = house.fails("PLANT TREE fir");
    assert!(matches!(error.kind(), ErrorKind::Refused { code: 1, .. }), "{error}");
    assert!(house.calls()[0].1.in_transaction);
    assert_eq!(house.session.state().transaction, TransactionState::Failed);
    let error = house.fails("SHOW TREES");
    assert!(matches!(error.kind(), ErrorKind::TransactionFailed), "{error}");
    assert!(matches!(
        house.prepare("SHOW TREES").unwrap_err().kind(),
        ErrorKind::TransactionFailed
    ));
    assert_eq!(house.calls().len(), 1);
    house.ok("ROLLBACK");
    house.answers("SHOW TREES", rows(&["tree"], &[Some("ash")]));
    house.ok("SHOW TREES");
    assert!(!house.calls()[1].1.in_transaction);
}

#[test]
fn a_prepared_one_is_described_by_its_labels() {
    let mut house = house(Manners::MySql, &["shop"]);
    house.answers("SHOW TREES", rows(&["tree"], &[Some("ash")]));
    house.answers("PLANT TREE oak", Answer::Done("PLANT TREE".into()));
    let prepared = house.prepare("SHOW TREES").unwrap();
    assert_eq!(prepared.statement.parameters, 0);
    let described = house.describe(&prepared);
    let names: Vec<_> =
        described.columns.unwrap().list.iter().map(|c| (c.name.clone(), c.kind)).collect();
    assert_eq!(names, [("tree".to_owned(), Kind::Text)]);
    let execute = Execute {
        prepared,
        parameters: Vec::new(),
        result_formats: Vec::new(),
        limit: None,
        cursor: None,
        pipeline: Pipeline::Alone,
    };
    for _ in 0..2 {
        let shown = house.ask(Request::Execute(execute.clone())).unwrap();
        assert_eq!(shown, ["Text(\"ash\")", "SHOW 1"]);
    }
    let prepared = house.prepare("PLANT TREE oak").unwrap();
    assert!(house.describe(&prepared).columns.is_none());
    house.ok("PREPARE p FROM 'SHOW TREES'");
    assert_eq!(house.ok("EXECUTE p"), ["Text(\"ash\")", "SHOW 1"]);
    assert_eq!(house.labels(), ["tree"]);
}

#[test]
fn a_statement_of_the_same_text_sees_what_the_one_before_changed() {
    for manners in [Manners::Postgres, Manners::MySql] {
        let mut house = house(manners, &["shop"]);
        house.ok("CREATE DATABASE bank; USE bank");
        assert_eq!(house.session.state().database, Some("bank"));
        let caller = &house.calls()[0].1;
        assert!(!caller.in_transaction, "several statements of a text are no BEGIN");
    }
}

#[test]
fn databases_are_made_and_dropped() {
    let mut house = house(Manners::MySql, &["shop"]);
    assert_eq!(house.ok("CREATE DATABASE `Bank`;"), ["CREATE DATABASE 1"]);
    assert_eq!(house.ok("CREATE SCHEMA IF NOT EXISTS bank"), ["CREATE DATABASE 1"]);
    assert_eq!(house.ok("DROP DATABASE bank"), ["DROP DATABASE 0"]);
    assert_eq!(house.ok("DROP DATABASE IF EXISTS bank"), ["DROP DATABASE 0"]);
    let told: Vec<String> = house.calls().into_iter().map(|(text, _)| text).collect();
    let [fails, passes] = [Unless::Fails, Unless::Passes];
    assert_eq!(
        told,
        [
            format!("create Bank {fails:?}"),
            format!("create bank {passes:?}"),
            format!("drop bank {fails:?}"),
            format!("drop bank {passes:?}"),
        ]
    );
    assert!(house.sent().is_empty());
    for text in [
        "CREATE DATABASE bank CHARACTER SET latin1",
        "CREATE DATABASE bank CHARACTER SET utf8mb4 COLLATE utf8_bin",
        "CREATE DATABASE bank ENCRYPTION 'Y'",
        "CREATE DATABASE bank DEFAULT",
        "CREATE DATABASE bank COLLATE",
        "CREATE DATABASE bank COMMENT 'x'",
        "DROP DATABASE bank CHARACTER SET utf8mb4",
        "CREATE DATABASE a.b",
        "DROP DATABASE a, b",
    ] {
        let refusal = house.fails(text);
        assert!(matches!(refusal.kind(), ErrorKind::Refused { .. }), "{text}: {refusal}");
    }
    assert_eq!(house.calls().len(), 4);
}

#[test]
fn databases_of_texts_as_they_are_spoken_are_made() {
    let mut house = house(Manners::MySql, &["shop"]);
    let texts = [
        "CREATE DATABASE bank CHARACTER SET utf8mb4",
        "CREATE DATABASE IF NOT EXISTS bank DEFAULT CHARSET = 'utf8mb4' DEFAULT COLLATE utf8mb4_bin;",
        "CREATE DATABASE bank DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci ENCRYPTION='N'",
        "CREATE SCHEMA bank COLLATE utf8mb4_general_ci",
    ];
    for text in texts {
        assert_eq!(house.ok(text), ["CREATE DATABASE 1"], "{text}");
    }
    assert_eq!(house.calls().len(), texts.len());
}

#[test]
fn dropping_the_current_database_leaves_none_or_is_refused() {
    let mut mysql = house(Manners::MySql, &["shop", "bank"]);
    mysql.ok("DROP DATABASE shop");
    assert_eq!(mysql.session.state().database, None);
    assert!(matches!(mysql.fails("SELECT * FROM t").kind(), ErrorKind::NoDatabase));
    mysql.ok("USE bank");
    let mut postgres = house(Manners::Postgres, &["shop"]);
    let error = postgres.fails("DROP DATABASE shop");
    assert!(matches!(error.kind(), ErrorKind::Server(e) if e.sqlstate == "55006"), "{error}");
    assert!(postgres.calls().is_empty());
}

#[test]
fn a_database_of_postgresql_is_dropped_by_force() {
    let mut house = house(Manners::Postgres, &["shop", "bank"]);
    for text in ["DROP DATABASE bank WITH (FORCE)", "DROP DATABASE IF EXISTS bank (force);"] {
        assert_eq!(house.ok(text), ["DROP DATABASE 0"], "{text}");
    }
    for text in ["DROP DATABASE bank WITH FORCE", "CREATE DATABASE other (FORCE)"] {
        let refusal = house.fails(text);
        assert!(matches!(refusal.kind(), ErrorKind::Refused { .. }), "{text}: {refusal}");
    }
}

#[test]
fn a_session_outlives_its_database() {
    let mut house = house(Manners::MySql, &["shop", "bank"]);
    house.ok("SELECT * FROM t");
    house.publish(&["bank"]);
    let error = house.fails("SELECT * FROM t");
    assert!(matches!(error.kind(), ErrorKind::UnknownDatabase(name) if name == "shop"), "{error}");
    assert!(matches!(house.fails("SELECT * FROM t").kind(), ErrorKind::NoDatabase));
    house.ok("USE bank");
    house.ok("SELECT * FROM t");
}

#[test]
fn a_session_outlives_its_storage_units() {
    for manners in [Manners::Postgres, Manners::MySql] {
        let mut house = house(manners, &["shop"]);
        house.ok("SET a = 1");
        house.ok("SELECT * FROM t");
        house.publish_without_units(&["shop"]);
        assert!(is_without_units(&house.fails("SELECT * FROM t")));
        house.ok("SET b = 2");
        house.ok("BEGIN");
        assert!(is_without_units(&house.fails("SELECT * FROM t")));
        house.ok("ROLLBACK");
        house.sent();
        house.publish(&["shop"]);
        house.ok("SELECT * FROM t");
        assert_eq!(house.sent(), ["SET a = 1, b = 2", "SELECT * FROM t"]);
    }
}

#[test]
fn an_open_transaction_keeps_the_units_it_has() {
    let mut house = house(Manners::MySql, &["shop"]);
    house.ok("BEGIN");
    house.ok("UPDATE t SET a = 1");
    house.publish(&["bank"]);
    house.ok("UPDATE t SET a = 2");
    house.ok("COMMIT");
    assert_eq!(house.sent(), ["BEGIN", "UPDATE t SET a = 1", "UPDATE t SET a = 2", "COMMIT"]);
    assert!(matches!(house.fails("SELECT 1").kind(), ErrorKind::UnknownDatabase(_)));
}

#[test]
fn a_transaction_does_not_touch_a_table_whose_rows_have_another_place_by_now() {
    let is_begun_before =
        |error: &Error| matches!(error.kind(), ErrorKind::Server(e) if e.sqlstate == "40001");
    let mut house = house(Manners::MySql, &[]);
    house.publish_spread("by a");
    house.ok("USE shop");
    for text in [
        "UPDATE t_spread SET a = 1",
        "SELECT a FROM t_spread",
        "INSERT INTO t_spread (a) VALUES (1)",
    ] {
        house.ok("BEGIN");
        house.ok(text);
        house.publish_spread("by a");
        house.ok(text);
        house.publish_spread("by b");
        let error = house.fails(text);
        assert!(is_begun_before(&error), "{error}");
        house.ok("UPDATE t SET a = 2");
        house.publish_spread("by a");
        house.ok(text);
        house.publish(&["shop"]);
        let error = house.fails(text);
        assert!(is_begun_before(&error), "{error}");
        house.ok("ROLLBACK");
        house.ok(text);
        house.publish_spread("by a");
        house.ok(text);
    }
}

#[test]
fn errands_are_run_by_the_session() {
    let mut house = house(Manners::Postgres, &["shop"]);
    house.answers("EXPLORE", Answer::Errand(Errand::Parse("SELECT a FROM t_order".into())));
    let lines = house.ok("EXPLORE");
    assert!(lines[0].starts_with("Text(\"SelectStatement\") Text(\"Select("), "{lines:?}");
    let errand = Errand::Format("select a from t where b = 1".into());
    house.answers("PRUNE", Answer::Errand(errand));
    assert_eq!(house.ok("PRUNE")[0], "Text(\"SELECT a\\nFROM t\\nWHERE b = 1\")");
    house.answers("PRUNE", Answer::Errand(Errand::Format("select from where".into())));
    assert!(matches!(house.fails("PRUNE").kind(), ErrorKind::Syntax { .. }));
    let show = |database: Option<&str>| {
        let tables = vec!["T_order".to_owned()];
        Answer::Errand(Errand::ShowTables { database: database.map(str::to_owned), tables })
    };
    house.table("t_order", &["id", "name"]);
    house.answers("SURVEY", show(None));
    let expected = ["id", "name"].map(|column| {
        format!("Text(\"public\") Text(\"T_order\") Text(\"column\") Text(\"{column}\")")
    });
    assert_eq!(house.ok("SURVEY")[..2], expected);
    house.sent();
    house.ok("SURVEY");
    assert!(house.sent().is_empty(), "what is known is not read again");
    house.answers("FORGET", Answer::Errand(Errand::ForgetTables));
    assert_eq!(house.ok("FORGET"), ["REFRESH TABLE METADATA 0"]);
    house.ok("SURVEY");
    assert!(!house.sent().is_empty());
    house.answers("SURVEY", show(Some("nowhere")));
    assert!(matches!(house.fails("SURVEY").kind(), ErrorKind::UnknownDatabase(_)));
    assert_eq!(house.session.state().database, Some("shop"));
    house.publish_without_units(&["shop"]);
    house.answers("SURVEY", show(None));
    assert!(is_without_units(&house.fails("SURVEY")));
}

#[test]
fn the_tables_of_all_units_are_read_as_they_are_now() {
    let house = house(Manners::Postgres, &["shop"]);
    let text = |text: &str| Value::Text(text.into());
    let tables = vec![
        vec![text("public"), text("T_0"), Value::Bool(false)],
        vec![Value::Null, text("t_1"), Value::Bool(false)],
        vec![text("public"), text("t_id_seq"), Value::Bool(true)],
    ];
    let columns = [("schema", Kind::Text), ("name", Kind::Text), ("alike", Kind::Bool)];
    house.unit.reply(TABLES, Reply::rows(&columns, tables));
    let live = Arc::clone(house.engine.snapshot().database("shop").unwrap());
    let read = house.runtime.block_on(house.engine.read_tables(&live)).unwrap();
    let read: Vec<_> =
        read.iter().map(|t| (&*t.unit, t.schema.as_deref(), t.table.as_str())).collect();
    assert_eq!(read, [("ds_shop", Some("public"), "T_0"), ("ds_shop", None, "t_1")]);
}

#[test]
fn a_database_without_storage_units_says_so() {
    for manners in [Manners::Postgres, Manners::MySql] {
        let mut house = house(manners, &["empty_shop"]);
        house.answers("SHOW TREES", rows(&["tree"], &[Some("ash")]));
        house.ok("SHOW TREES");
        assert!(is_without_units(&house.fails("SELECT * FROM t")));
    }
}
