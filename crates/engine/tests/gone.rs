//! What is gone is told to nobody as done, over two scripted units: parts that are lost behind their answers, settings that were refused unseen, and
//! statements that are cancelled at their very end.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod by_name;

use std::sync::Arc;

use pando_engine::{Engine, LiveDatabase, Session, Settings, Snapshot};
use pando_fake::{BACKTICK, FakeDialect, FakeRuntime, Reply, STANDARD, Unit, server_error};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::feature::Database;
use pando_kernel::request::{CursorId, Execute, Pipeline, Request};
use pando_kernel::route::UnitName;
use pando_kernel::session::{Login, Session as _, TransactionState};
use pando_kernel::{Kind, Value};
use pando_pool::{Options, Pool};

use by_name::ByName;

/// How errors behave.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manners {
    Postgres,
    MySql,
}

/// Two scripted units and a session.
struct House {
    runtime: FakeRuntime,
    engine: Engine,
    units: [Unit; 2],
    pools: [Pool; 2],
    session: Session,
}

fn house(manners: Manners) -> House {
    let fails = manners == Manners::Postgres;
    let syntax = if fails { &STANDARD } else { &BACKTICK };
    let dialect = FakeDialect {
        syntax,
        error_fails_transaction: fails,
        transfers: true,
        ..FakeDialect::default()
    };
    let runtime = FakeRuntime::new();
    let units = [0, 1].map(|n| Unit::with_dialect(&format!("ds_{n}"), dialect));
    let pools = [0, 1].map(|n: usize| {
        units[n].otherwise(Reply::affected(1));
        let options = Options { min: 0, max: 2, ..Options::default() };
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
    let live = Arc::new(LiveDatabase::new(database, pools.clone().into()));
    engine.publish(Snapshot { databases: vec![live], settings: Settings::default() });
    let login = Login { database: Some("shop".into()), ..Login::default() };
    let session = engine.open(login).unwrap();
    House { runtime, engine, units, pools, session }
}

impl House {
    /// The tags of what was done.
    fn ask(&mut self, request: Request) -> Result<Vec<String>> {
        let session = &mut self.session;
        self.runtime.block_on(async {
            session.run(request).await?;
            let mut tags = Vec::new();
            while let Some(event) = session.next().await? {
                if let Event::Complete(done) = event {
                    tags.push(format!("{} {}", done.tag, done.affected.unwrap_or(0)));
                }
            }
            Ok(tags)
        })
    }

    fn ok(&mut self, sql: &str) -> Vec<String> {
        self.ask(Request::Query(sql.into())).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    fn fails(&mut self, sql: &str) -> Error {
        self.ask(Request::Query(sql.into())).expect_err(sql)
    }

    /// A statement of a pipeline to which more belong; a limit leaves the rest of its rows to a cursor.
    fn piped(&mut self, sql: &str, limit: Option<u32>) -> Request {
        let prepared = self.session.prepare(sql.into(), Vec::new());
        Request::Execute(Execute {
            prepared: self.runtime.block_on(prepared).unwrap(),
            parameters: Vec::new(),
            result_formats: Vec::new(),
            limit,
            cursor: limit.map(|_| CursorId(7)),
            pipeline: Pipeline::More,
        })
    }

    /// The first unit is lost at the moment at which the second answers this.
    fn loses_the_first_at(&self, sql: &'static str) {
        let pool = self.pools[0].clone();
        let answer = move |_: &str, _: &[Value]| {
            pool.condemn("another server has taken its place");
            Reply::affected(1)
        };
        self.units[1].when(move |text| text == sql, answer);
    }

    /// The session is cancelled at the moment at which the second unit answers what begins so.
    fn is_cancelled_at(&self, verb: &'static str) {
        let (engine, key) = (self.engine.clone(), self.session.key());
        let answer = move |_: &str, _: &[Value]| {
            engine.cancel(key);
            Reply::affected(1)
        };
        self.units[1].when(move |text| text.starts_with(verb), answer);
    }

    /// What both units received since the last look.
    fn sent(&self) -> [Vec<String>; 2] {
        let sent = [0, 1].map(|n: usize| self.units[n].statements());
        self.units.iter().for_each(|unit| {
            unit.forget();
        });
        sent
    }
}

fn is_aborted(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Server(e) if e.sqlstate == "40001")
}

fn ids(list: &[i64]) -> Reply {
    Reply::rows(&[("id", Kind::Int)], list.iter().map(|id| vec![Value::Int(*id)]).collect())
}

#[test]
fn a_statement_whose_unit_is_lost_behind_its_answer_is_not_done() {
    let mut house = house(Manners::Postgres);
    house.ok("BEGIN");
    house.loses_the_first_at("UPDATE all_t SET a = 1");
    let error = house.fails("UPDATE all_t SET a = 1");
    assert!(is_aborted(&error), "{error}");
    assert_eq!(house.session.state().transaction, TransactionState::Failed);
    assert_eq!(house.ok("COMMIT"), ["ROLLBACK 0"]);
    let [_, one] = house.sent();
    assert_eq!(one, ["BEGIN", "UPDATE all_t SET a = 1", "ROLLBACK"]);
}

#[test]
fn a_statement_of_its_own_whose_unit_is_lost_behind_its_answer_is_not_done() {
    for manners in [Manners::Postgres, Manners::MySql] {
        let mut house = house(manners);
        house.loses_the_first_at("UPDATE all_t SET a = 1");
        let error = house.fails("UPDATE all_t SET a = 1");
        assert!(is_aborted(&error), "{error}");
        assert_eq!(house.session.state().transaction, TransactionState::Idle);
        let [_, one] = house.sent();
        assert_eq!(one, ["BEGIN", "UPDATE all_t SET a = 1", "ROLLBACK"]);
    }
}

#[test]
fn a_pipeline_that_commits_nothing_says_so_at_its_end() {
    let mut house = house(Manners::Postgres);
    house.units[0].reply("SELECT id FROM zero_t", ids(&[1, 2, 3, 4, 5]));
    let update = house.piped("UPDATE one_t SET a = 1", None);
    assert_eq!(house.ask(update).unwrap(), ["UPDATE 1"]);
    let select = house.piped("SELECT id FROM zero_t", Some(2));
    house.ask(select).unwrap();
    house.pools[0].condemn("another server has taken its place");
    let error = house.ask(Request::Sync).unwrap_err();
    assert!(is_aborted(&error), "{error}");
    assert_eq!(house.session.state().transaction, TransactionState::Idle);
    let [_, one] = house.sent();
    assert_eq!(one, ["BEGIN", "UPDATE one_t SET a = 1", "ROLLBACK"]);
}

/// A session with a setting that the second unit refuses once. Result: what puts it on.
fn with_a_refused_setting() -> (House, String) {
    let mut house = house(Manners::MySql);
    house.ok("SET sort_buffer_size = 1000");
    let setting = house.sent()[0].pop().expect("the first unit has judged it");
    house.units[1].reply_once(&setting, Reply::Error(server_error("42000", "not here")));
    (house, setting)
}

#[test]
fn a_setting_that_was_refused_in_a_reply_nobody_reads_is_put_on_again() {
    let (mut house, setting) = with_a_refused_setting();
    let select = house.piped("SELECT id FROM one_t", None);
    house.runtime.block_on(house.session.run(select)).unwrap();
    house.ok("SELECT id FROM one_t");
    let [_, one] = house.sent();
    assert_eq!(one, [setting.as_str(), "RESET", &setting, "SELECT id FROM one_t"]);
}

#[test]
fn a_setting_that_was_refused_before_its_statement_could_not_start_is_put_on_again() {
    let (mut house, setting) = with_a_refused_setting();
    let select = house.piped("SELECT id FROM one_t WHERE id = ?", None);
    house.ask(select).expect_err("its parameter is missing");
    house.ok("SELECT id FROM one_t");
    let [_, one] = house.sent();
    assert_eq!(one, [setting.as_str(), "RESET", &setting, "SELECT id FROM one_t"]);
}

const LIMITED: &str = "UPDATE all_t SET a = 1 ORDER BY id LIMIT 2";

/// A house in which a statement runs in steps: it reads two keys and changes their rows.
fn in_steps() -> House {
    let house = house(Manners::MySql);
    for (unit, list) in house.units.iter().zip([[1, 3], [2, 4]]) {
        let mut key = pando_fake::table_column("id", Kind::Int);
        key.primary_key = true;
        unit.table("all_t", vec![key, pando_fake::table_column("a", Kind::Int)]);
        unit.when(|sql| sql.starts_with("SELECT"), move |_, _| ids(&list));
    }
    house
}

/// What undoes something or keeps it, of all that was sent.
fn ends(sent: &[String]) -> Vec<&str> {
    let ends = |sql: &&str| ["RO", "RE", "CO"].iter().any(|verb| sql.starts_with(verb));
    sent.iter().map(String::as_str).filter(ends).collect()
}

#[test]
fn steps_that_are_cancelled_at_their_end_are_taken_back() {
    let back = ["ROLLBACK TO SAVEPOINT `pando_steps`", "RELEASE SAVEPOINT `pando_steps`", "COMMIT"];
    let mut house = in_steps();
    house.is_cancelled_at("UPDATE");
    house.ok("BEGIN");
    let error = house.fails(LIMITED);
    assert!(matches!(error.kind(), ErrorKind::Cancelled), "{error}");
    assert_eq!(house.session.state().transaction, TransactionState::Open);
    house.ok("COMMIT");
    for sent in house.sent() {
        assert!(sent.iter().any(|sql| sql.starts_with("UPDATE all_t")), "{sent:?}");
        assert_eq!(ends(&sent), back, "{sent:?}");
    }
}

#[test]
fn steps_of_their_own_that_are_cancelled_at_their_end_are_taken_back() {
    let mut house = in_steps();
    house.is_cancelled_at("UPDATE");
    let error = house.fails(LIMITED);
    assert!(matches!(error.kind(), ErrorKind::Cancelled), "{error}");
    assert_eq!(house.session.state().transaction, TransactionState::Idle);
    for sent in house.sent() {
        assert!(sent.iter().any(|sql| sql.starts_with("UPDATE all_t")), "{sent:?}");
        assert_eq!(ends(&sent), ["ROLLBACK"], "{sent:?}");
    }
}
