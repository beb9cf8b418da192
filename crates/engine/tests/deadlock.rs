//! Deadlocks over two scripted units: who is told what, and when.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod by_name;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use pando_engine::{Engine, LiveDatabase, Session, Settings, Snapshot};
use pando_fake::{
    BACKTICK, FakeDialect, FakeRuntime, Reply, STANDARD, Unit, WHO_ARE_YOU, WHO_WAITS, poll_once,
};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::Database;
use pando_kernel::request::Request;
use pando_kernel::route::UnitName;
use pando_kernel::session::{Login, Session as _, TransactionState};
use pando_kernel::{Kind, ServerError, Value};
use pando_pool::{Options, Pool};

use by_name::ByName;

/// How errors behave.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manners {
    Postgres,
    MySql,
}

/// Two units and two sessions. On each unit the first connection made is that of the session that came there first.
struct House {
    runtime: FakeRuntime,
    engine: Engine,
    units: [Unit; 2],
    sessions: [Session; 2],
}

fn house(manners: Manners, connections: usize) -> House {
    let fails = manners == Manners::Postgres;
    let syntax = if fails { &STANDARD } else { &BACKTICK };
    let dialect = FakeDialect { syntax, error_fails_transaction: fails, ..FakeDialect::default() };
    let runtime = FakeRuntime::new();
    let units = [0, 1].map(|n| Unit::with_dialect(&format!("ds_{n}"), dialect));
    for (unit, name) in units.iter().zip(["server a", "server b"]) {
        unit.otherwise(Reply::affected(1));
        let row = vec![vec![Value::Text(name.into())]];
        unit.reply(WHO_ARE_YOU, Reply::rows(&[("name", Kind::Text)], row));
        waits(unit, &[]);
    }
    let pools = [0, 1].map(|n: usize| {
        let options = Options { min: 0, max: connections, ..Options::default() };
        let name = UnitName::from(format!("ds_{n}"));
        Pool::new(name, units[n].connector(), runtime.handle(), options)
    });
    let database = Database {
        name: "shop".into(),
        units: vec!["ds_0".into(), "ds_1".into()],
        features: vec![Arc::new(ByName)],
        dialect: Arc::new(dialect),
    };
    let engine = Engine::new(runtime.handle());
    let live = Arc::new(LiveDatabase::new(database, pools.into()));
    engine.publish(Snapshot { databases: vec![live], settings: Settings::default() });
    let login = || Login { database: Some("shop".into()), ..Login::default() };
    let sessions = [0, 1].map(|_| engine.open(login()).unwrap());
    House { runtime, engine, units, sessions }
}

/// From here on a unit tells these waits.
fn waits(unit: &Unit, list: &[(i64, i64)]) {
    let rows = list.iter().map(|(waiter, blocker)| vec![Value::Int(*waiter), Value::Int(*blocker)]);
    let columns = [("waiter", Kind::Int), ("blocker", Kind::Int)];
    unit.reply(WHO_WAITS, Reply::rows(&columns, rows.collect()));
}

type Asking<'a> = Pin<Box<dyn Future<Output = Result<()>> + 'a>>;

fn ask<'a>(session: &'a mut Session, sql: &str) -> Asking<'a> {
    let request = Request::Query(sql.into());
    Box::pin(async move {
        session.run(request).await?;
        while session.next().await?.is_some() {}
        Ok(())
    })
}

fn ok(runtime: &FakeRuntime, session: &mut Session, sql: &str) {
    runtime.block_on(ask(session, sql)).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

fn code(error: &Error) -> Option<&ServerError> {
    if let ErrorKind::Server(own) = error.kind() { Some(own) } else { None }
}

/// Both sessions have a row of one unit, and the first more of them.
fn hold_one_each(house: &mut House) {
    let House { runtime, sessions: [first, second], .. } = house;
    for sql in ["BEGIN", "UPDATE zero_t SET a = 1", "UPDATE zero_t SET a = 2"] {
        ok(runtime, first, sql);
    }
    for sql in ["BEGIN", "SAVEPOINT s", "UPDATE one_t SET a = 1"] {
        ok(runtime, second, sql);
    }
}

/// Time goes by in the steps of who looks; whether it was answered in time.
fn passes(runtime: &FakeRuntime, time: Duration, asking: &mut Asking<'_>) -> Option<Result<()>> {
    let mut left = time;
    while !left.is_zero() {
        runtime.advance(Duration::from_millis(20));
        left = left.saturating_sub(Duration::from_millis(20));
        if let Poll::Ready(result) = poll_once(asking) {
            return Some(result);
        }
        runtime.run();
    }
    None
}

/// The first waits on the second unit for the second, which waits on the first unit for the first.
fn closed(house: &mut House) -> (Option<Result<()>>, Option<Result<()>>) {
    let House { runtime, units, sessions: [first, second], .. } = house;
    units[1].reply("UPDATE one_t SET a = 5", Reply::Hang);
    units[0].reply("UPDATE zero_t SET a = 5", Reply::Hang);
    waits(&units[1], &[(2, 1)]);
    waits(&units[0], &[(2, 1)]);
    let mut waiting = ask(first, "UPDATE one_t SET a = 5");
    assert!(poll_once(&mut waiting).is_pending());
    let mut closing = ask(second, "UPDATE zero_t SET a = 5");
    assert!(poll_once(&mut closing).is_pending());
    let second = passes(runtime, Duration::from_millis(700), &mut closing);
    let first = match poll_once(&mut waiting) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    };
    (first, second)
}

#[test]
fn who_wrote_least_is_told_of_the_deadlock_and_rolled_back_everywhere() {
    for (manners, expected, after) in [
        (Manners::Postgres, "40P01", TransactionState::Failed),
        (Manners::MySql, "40001", TransactionState::Idle),
    ] {
        let mut house = house(manners, 4);
        hold_one_each(&mut house);
        let (first, second) = closed(&mut house);
        assert!(first.is_none(), "who wrote more goes on waiting");
        let error = second.expect("the deadlock is broken").unwrap_err();
        assert_eq!(code(&error).unwrap().sqlstate, expected);
        for unit in &house.units {
            let sent = unit.statements();
            assert_eq!(sent.iter().filter(|text| *text == "ROLLBACK").count(), 1, "{sent:?}");
        }
        let House { runtime, engine, units, sessions: [_, second] } = &mut house;
        assert_eq!(engine.broken_deadlocks(), 1);
        assert_eq!(second.state().transaction, after);
        units.iter().for_each(|unit| waits(unit, &[]));
        if manners == Manners::Postgres {
            for sql in ["SELECT a FROM one_t", "ROLLBACK TO SAVEPOINT s", "SAVEPOINT t"] {
                let error = runtime.block_on(ask(second, sql)).unwrap_err();
                assert!(matches!(error.kind(), ErrorKind::TransactionFailed), "{sql}: {error}");
            }
            ok(runtime, second, "ROLLBACK");
        } else {
            let gone = runtime.block_on(ask(second, "ROLLBACK TO SAVEPOINT s")).unwrap_err();
            assert_eq!(code(&gone).unwrap().number, 1305);
        }
        ok(runtime, second, "UPDATE one_t SET a = 7");
        assert_eq!(second.state().transaction, TransactionState::Idle);
    }
}

#[test]
fn waits_that_are_no_cycle_are_left_alone_and_nobody_looks_for_ever() {
    let mut house = house(Manners::Postgres, 4);
    hold_one_each(&mut house);
    let House { runtime, units, sessions: [first, second], engine } = &mut house;
    // Those of the pools.
    let tasks = runtime.tasks();
    ok(runtime, second, "UPDATE zero_t SET a = 3");
    assert_eq!(runtime.tasks(), tasks + 1);
    units[1].reply("UPDATE one_t SET a = 5", Reply::Hang);
    waits(&units[1], &[(2, 1)]);
    let mut waiting = ask(first, "UPDATE one_t SET a = 5");
    assert!(poll_once(&mut waiting).is_pending());
    assert!(passes(runtime, Duration::from_secs(10), &mut waiting).is_none());
    assert_eq!(engine.broken_deadlocks(), 0);
    let asked = |unit: &Unit| unit.statements().iter().filter(|text| *text == WHO_WAITS).count();
    assert!(asked(&units[1]) > 20);
    assert_eq!(asked(&units[0]), 0, "nobody waits there");
    drop(waiting);
    drop(std::mem::replace(first, engine.open(Login::default()).unwrap()));
    ok(runtime, second, "COMMIT");
    for _ in 0..500 {
        runtime.advance(Duration::from_millis(100));
    }
    let before = units[1].statements().len();
    runtime.advance(Duration::from_secs(60));
    assert_eq!((units[1].statements().len(), runtime.tasks()), (before, tasks));
}

#[test]
fn a_server_that_tells_a_cycle_once_is_not_believed() {
    let mut house = house(Manners::Postgres, 4);
    hold_one_each(&mut house);
    let House { runtime, units, sessions: [first, second], engine } = &mut house;
    units[1].reply("UPDATE one_t SET a = 5", Reply::Hang);
    units[0].reply("UPDATE zero_t SET a = 5", Reply::Hang);
    waits(&units[1], &[(2, 1)]);
    let cell = |number| Value::Int(number);
    let once = vec![vec![cell(2), cell(1)]];
    units[0].reply_once(WHO_WAITS, Reply::rows(&[("a", Kind::Int), ("b", Kind::Int)], once));
    let mut waiting = ask(first, "UPDATE one_t SET a = 5");
    assert!(poll_once(&mut waiting).is_pending());
    let mut closing = ask(second, "UPDATE zero_t SET a = 5");
    assert!(poll_once(&mut closing).is_pending());
    assert!(passes(runtime, Duration::from_secs(3), &mut closing).is_none());
    assert!(poll_once(&mut waiting).is_pending());
    assert_eq!(engine.broken_deadlocks(), 0);
}

#[test]
fn a_server_that_was_late_once_is_asked_again_soon() {
    let mut house = house(Manners::Postgres, 4);
    hold_one_each(&mut house);
    let House { runtime, units, sessions: [first, second], .. } = &mut house;
    units[1].reply("UPDATE one_t SET a = 5", Reply::Hang);
    units[0].reply("UPDATE zero_t SET a = 5", Reply::Hang);
    units[1].reply_once(WHO_WAITS, Reply::Hang);
    for unit in units.iter() {
        waits(unit, &[(2, 1)]);
    }
    let mut waiting = ask(first, "UPDATE one_t SET a = 5");
    assert!(poll_once(&mut waiting).is_pending());
    let mut closing = ask(second, "UPDATE zero_t SET a = 5");
    assert!(poll_once(&mut closing).is_pending());
    let error = passes(runtime, Duration::from_secs(3), &mut closing).unwrap().unwrap_err();
    assert_eq!(code(&error).unwrap().sqlstate, "40P01");
    assert!(poll_once(&mut waiting).is_pending());
}

#[test]
fn full_pools_are_a_deadlock_when_all_who_have_their_connections_wait() {
    let mut house = house(Manners::Postgres, 1);
    hold_one_each(&mut house);
    let House { runtime, sessions: [first, second], .. } = &mut house;
    let mut waiting = ask(first, "SELECT a FROM one_t");
    assert!(poll_once(&mut waiting).is_pending());
    let mut closing = ask(second, "SELECT a FROM zero_t");
    assert!(poll_once(&mut closing).is_pending());
    let error = passes(runtime, Duration::from_secs(1), &mut closing).unwrap().unwrap_err();
    assert_eq!(code(&error).unwrap().sqlstate, "40P01");
    drop(closing);
    let went_on = match poll_once(&mut waiting) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => passes(runtime, Duration::from_secs(1), &mut waiting),
    };
    went_on.expect("the connection is free").unwrap();
}

#[test]
fn who_has_a_pools_connection_may_wait_for_a_lock_where_nobody_else_does() {
    let mut house = house(Manners::Postgres, 2);
    let third = Login { database: Some("shop".into()), ..Login::default() };
    let mut third = house.engine.open(third).unwrap();
    hold_one_each(&mut house);
    let House { runtime, units, sessions: [first, second], .. } = &mut house;
    units[1].reply("UPDATE one_t SET a = 9", Reply::Hang);
    units[0].reply("UPDATE zero_t SET a = 5", Reply::Hang);
    // The third has one connection only, and waits for the second.
    ok(runtime, &mut third, "BEGIN");
    let mut beside = ask(&mut third, "UPDATE one_t SET a = 9");
    assert!(poll_once(&mut beside).is_pending());
    waits(&units[1], &[(2, 1)]);
    let mut waiting = ask(first, "SELECT a FROM one_t");
    assert!(poll_once(&mut waiting).is_pending());
    let mut closing = ask(second, "UPDATE zero_t SET a = 5");
    assert!(poll_once(&mut closing).is_pending());
    assert!(passes(runtime, Duration::from_millis(500), &mut closing).is_none());
    waits(&units[0], &[(2, 1)]);
    let error = passes(runtime, Duration::from_secs(2), &mut closing).unwrap().unwrap_err();
    assert_eq!(code(&error).unwrap().sqlstate, "40P01");
    assert!(poll_once(&mut beside).is_pending());
}
