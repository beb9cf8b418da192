//! A storage unit that falls silent must not cost the others their connections.

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
use pando_fake::{FakeDialect, FakeRuntime, Reply, STANDARD, Unit, poll_once, table_column};
use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::feature::Database;
use pando_kernel::request::Request;
use pando_kernel::route::UnitName;
use pando_kernel::session::{Login, Session as _};
use pando_kernel::{Kind, Value};
use pando_pool::{Options, Pool};

use by_name::ByName;

/// Asks both units.
const BOTH: &str = "SELECT id FROM all_t ORDER BY id";
/// Asks the first.
const FIRST: &str = "SELECT id FROM zero_t";

/// Two units with one connection each, and three sessions.
struct House {
    runtime: FakeRuntime,
    engine: Engine,
    units: [Unit; 2],
    sessions: [Session; 3],
}

fn house() -> House {
    let dialect =
        FakeDialect { syntax: &STANDARD, error_fails_transaction: true, ..FakeDialect::default() };
    let runtime = FakeRuntime::new();
    let units = [0, 1].map(|n| Unit::with_dialect(&format!("ds_{n}"), dialect));
    for (n, unit) in units.iter().enumerate() {
        unit.otherwise(Reply::affected(1));
        unit.table("all_t", vec![table_column("id", Kind::Int)]);
        unit.reply(BOTH, ids((0..3).map(|id| 2 * id + n)));
    }
    units[0].reply(FIRST, ids(7..8));
    let pools = [0, 1].map(|n: usize| {
        let options = Options { min: 0, max: 1, ..Options::default() };
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
    let mut sessions = [0, 1, 2].map(|_| engine.open(login()).unwrap());
    // What planning looks up once is known from here on.
    runtime.block_on(ask(&mut sessions[0], BOTH)).unwrap();
    House { runtime, engine, units, sessions }
}

fn ids(list: impl Iterator<Item = usize>) -> Reply {
    let row = |id| vec![Value::Int(i64::try_from(id).unwrap())];
    Reply::rows(&[("id", Kind::Int)], list.map(row).collect())
}

type Asking<'a> = Pin<Box<dyn Future<Output = Result<Vec<i64>>> + 'a>>;

/// The whole numbers a statement answers with.
fn ask<'a>(session: &'a mut Session, sql: &str) -> Asking<'a> {
    let request = Request::Query(sql.into());
    Box::pin(async move {
        session.run(request).await?;
        let (mut columns, mut numbers, mut fields) = (None, Vec::new(), Vec::new());
        while let Some(event) = session.next().await? {
            if let Event::Columns(found) = event {
                columns = Some(found);
            } else if let (Event::Rows(rows), Some(columns)) = (&event, &columns) {
                rows.for_each(columns, |body| {
                    columns.codec.fields(&columns.list, body, &mut fields)?;
                    let raw = fields[0].clone().map(|range| &body[range]);
                    let Value::Int(number) = columns.codec.value(&columns.list[0], raw)? else {
                        panic!("not a whole number");
                    };
                    numbers.push(number);
                    Ok(())
                })?;
            }
        }
        Ok(numbers)
    })
}

fn answer(asking: &mut Asking<'_>) -> Option<Result<Vec<i64>>> {
    match poll_once(asking) {
        Poll::Ready(answer) => Some(answer),
        Poll::Pending => None,
    }
}

#[test]
fn a_reply_that_has_come_frees_its_connection_while_another_is_waited_for() {
    let House { runtime, units, sessions: [first, second, _], .. } = &mut house();
    units[1].silent(true);
    let mut both = ask(first, BOTH);
    assert!(answer(&mut both).is_none());
    assert_eq!(answer(&mut ask(second, FIRST)).unwrap().unwrap(), [7]);
    units[1].silent(false);
    assert_eq!(runtime.block_on(both).unwrap(), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_cancel_does_not_reach_a_connection_that_has_gone_home() {
    let House { runtime, engine, units, sessions: [first, second, _] } = &mut house();
    units[1].silent(true);
    let key = first.key();
    let mut both = ask(first, BOTH);
    assert!(answer(&mut both).is_none());
    units[0].reply(FIRST, Reply::Hang);
    let mut other = ask(second, FIRST);
    assert!(answer(&mut other).is_none());
    engine.cancel(key);
    runtime.run();
    assert!(units[0].cancels().is_empty());
    assert_eq!(units[1].cancels().len(), 1);
    units[0].disconnect_all();
    assert!(answer(&mut other).unwrap().is_err());
    units[1].disconnect_all();
    assert!(answer(&mut both).unwrap().is_err());
}

#[test]
fn what_is_too_much_to_be_kept_stays_with_its_unit() {
    let House { runtime, units, sessions: [first, second, _], .. } = &mut house();
    units[0].reply(BOTH, ids((0..20_000).map(|id| 2 * id)));
    units[1].silent(true);
    let mut both = ask(first, BOTH);
    assert!(answer(&mut both).is_none());
    assert!(units[0].rows_sent() < 20_000, "all of it was read ahead");
    let mut other = ask(second, FIRST);
    assert!(answer(&mut other).is_none());
    units[1].silent(false);
    let rows = runtime.block_on(both).unwrap();
    assert_eq!(rows.len(), 20_003);
    assert!(rows.is_sorted());
    assert_eq!(runtime.block_on(other).unwrap(), [7]);
}

#[test]
fn a_unit_that_fails_behind_one_that_has_answered_fails_the_statement() {
    let House { runtime, units, sessions: [first, _, _], .. } = &mut house();
    units[1].silent(true);
    let mut both = ask(first, BOTH);
    assert!(answer(&mut both).is_none());
    units[1].disconnect_all();
    let error = answer(&mut both).unwrap().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unavailable { .. }), "{error}");
    drop(both);
    units[1].silent(false);
    assert_eq!(runtime.block_on(ask(first, BOTH)).unwrap(), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn who_waits_long_for_one_unit_leaves_the_others_their_connections() {
    let House { runtime, sessions: [first, second, third], .. } = &mut house();
    for sql in ["BEGIN", "UPDATE one_t SET a = 1"] {
        runtime.block_on(ask(third, sql)).unwrap();
    }
    let mut both = ask(first, BOTH);
    assert!(answer(&mut both).is_none());
    let mut other = ask(second, FIRST);
    assert!(answer(&mut other).is_none(), "a short wait keeps what it has");
    runtime.advance(Duration::from_secs(1));
    assert!(answer(&mut both).is_none());
    assert_eq!(answer(&mut other).unwrap().unwrap(), [7]);
    runtime.block_on(ask(third, "COMMIT")).unwrap();
    assert_eq!(runtime.block_on(both).unwrap(), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn each_unit_that_is_waited_for_long_is_waited_for_with_empty_hands() {
    let House { runtime, sessions: [first, second, third], .. } = &mut house();
    for sql in ["BEGIN", "UPDATE one_t SET a = 1"] {
        runtime.block_on(ask(third, sql)).unwrap();
    }
    let mut both = ask(first, BOTH);
    assert!(answer(&mut both).is_none());
    runtime.advance(Duration::from_secs(1));
    assert!(answer(&mut both).is_none());
    // Now the other one is not to be had.
    for sql in ["BEGIN", "UPDATE zero_t SET a = 1"] {
        runtime.block_on(ask(second, sql)).unwrap();
    }
    runtime.block_on(ask(third, "COMMIT")).unwrap();
    assert!(answer(&mut both).is_none());
    runtime.advance(Duration::from_secs(1));
    assert!(answer(&mut both).is_none());
    assert!(answer(&mut ask(third, "UPDATE one_t SET a = 2")).unwrap().is_ok());
    runtime.block_on(ask(second, "COMMIT")).unwrap();
    assert_eq!(runtime.block_on(both).unwrap(), [0, 1, 2, 3, 4, 5]);
}
