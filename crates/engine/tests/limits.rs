//! Statements that wait for their turn, hold something until they end, run too long, or meet an open circuit.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod by_name;

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use pando_engine::{Admits, Engine, LiveDatabase, Session, Settings, Snapshot};
use pando_fake::{
    FakeDialect, FakeRuntime, Reply, STANDARD, Unit, poll_once, server_error, table_column,
};
use pando_kernel::circuit;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{CopyForm, Event};
use pando_kernel::feature::{
    Admission, Context, Database, Deadline, Entry, Feature, Footprint, Lends, Permit, Permits,
    Room, RowLimit, Waiting,
};
use pando_kernel::request::{Execute, Pipeline, Request};
use pando_kernel::route::UnitName;
use pando_kernel::session::{Login, Session as _};
use pando_kernel::{Completion, Format, Kind, Value};
use pando_pool::{Options, Pool};

use by_name::ByName;

const ZERO: &str = "SELECT id FROM zero_t";
const ONE: &str = "SELECT id FROM one_t";
const ALL: &str = "UPDATE all_t SET id = 1";
const SECOND: Duration = Duration::from_secs(1);

/// Lets one statement after the other run, a second each at most; a write is not limited.
#[derive(Debug, Default)]
struct OneByOne {
    gate: Arc<Gate>,
    is_timed: bool,
    /// What it warns each statement of.
    warning: Option<&'static str>,
}

#[derive(Debug, Default)]
struct Gate {
    inside: AtomicU64,
    most_inside: AtomicU64,
    overran: AtomicU64,
    wakers: Mutex<Vec<Waker>>,
}

impl Gate {
    fn enter(self: &Arc<Self>, permits: &mut Permits) -> bool {
        let is_in = self.inside.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if is_in {
            permits.hold(Permit::of(Arc::clone(self) as _));
        }
        self.most_inside.fetch_max(self.inside.load(Ordering::SeqCst), Ordering::SeqCst);
        is_in
    }
}

impl Lends for Gate {
    fn comes_back(&self) {
        self.inside.fetch_sub(1, Ordering::SeqCst);
        std::mem::take(&mut *self.wakers.lock().unwrap()).into_iter().for_each(Waker::wake);
    }

    fn overran(&self) {
        self.overran.fetch_add(1, Ordering::SeqCst);
    }
}

/// Until then at most.
struct Turn(Arc<Gate>, Instant);

impl Waiting for Turn {
    fn poll_turn(
        &mut self,
        now: Instant,
        permits: &mut Permits,
        task: &std::task::Context<'_>,
    ) -> Poll<Result<()>> {
        if self.0.enter(permits) {
            return Poll::Ready(Ok(()));
        }
        if now >= self.1 {
            return Poll::Ready(Err(ErrorKind::Limited("too long".into()).into()));
        }
        self.0.wakers.lock().unwrap().push(task.waker().clone());
        Poll::Pending
    }

    fn ask_again(&self) -> Instant {
        self.1
    }
}

impl Room for OneByOne {
    fn name(&self) -> &'static str {
        "one by one"
    }
}

impl Feature for OneByOne {
    fn admission(&self) -> Option<&dyn Admission> {
        Some(self)
    }
}

impl Admission for OneByOne {
    fn admit(
        &self,
        _: &Context<'_>,
        footprint: &Footprint<'_>,
        permits: &mut Permits,
    ) -> Result<Entry> {
        if footprint.writes {
            return Ok(Entry::Now);
        }
        if self.is_timed {
            let (at, by) = (footprint.now + SECOND, Arc::clone(&self.gate) as _);
            permits.end_at(Deadline { at, told: "it ran too long".into(), by });
            let by = Arc::clone(&self.gate) as _;
            permits.tell_at_most(RowLimit { most: 2, told: "too many rows".into(), by });
        }
        if self.gate.enter(permits) {
            return Ok(Entry::Now);
        }
        Ok(Entry::Later(Box::new(Turn(Arc::clone(&self.gate), footprint.now + SECOND))))
    }

    fn warnings(&self, _: &Context<'_>, _: &Footprint<'_>) -> Vec<String> {
        self.warning.into_iter().map(str::to_owned).collect()
    }

    fn circuit(&self, unit: &UnitName) -> Option<circuit::Settings> {
        (**unit == *"ds_1").then_some(circuit::Settings {
            window: SECOND * 10,
            least: 2,
            failed_percent: 50,
            slow_percent: 0,
            slow: SECOND,
            open: SECOND,
            probes: 1,
        })
    }
}

struct House {
    runtime: FakeRuntime,
    engine: Engine,
    units: [Unit; 2],
    gate: Arc<Gate>,
}

fn house(is_timed: bool) -> House {
    house_of(OneByOne { is_timed, ..OneByOne::default() }, false)
}

fn house_of(room: OneByOne, counts_warnings: bool) -> House {
    let dialect = FakeDialect {
        syntax: &STANDARD,
        error_fails_transaction: !counts_warnings,
        counts_warnings,
        ..FakeDialect::default()
    };
    let runtime = FakeRuntime::new();
    let units = [0, 1].map(|n| Unit::with_dialect(&format!("ds_{n}"), dialect));
    for unit in &units {
        unit.otherwise(Reply::affected(1));
        for table in ["all_t", "zero_t", "one_t"] {
            unit.table(table, vec![table_column("id", Kind::Int)]);
        }
        for sql in [ZERO, ONE] {
            unit.reply(sql, Reply::rows(&[("id", Kind::Int)], vec![vec![Value::Int(7)]]));
        }
    }
    let pools = [0, 1].map(|n: usize| {
        let options = Options { min: 0, max: 5, ..Options::default() };
        let name = UnitName::from(format!("ds_{n}"));
        Pool::new(name, units[n].connector(), runtime.handle(), options)
    });
    let gate = Arc::clone(&room.gate);
    let database = Database {
        name: "shop".into(),
        units: vec!["ds_0".into(), "ds_1".into()],
        features: vec![Arc::new(room), Arc::new(ByName)],
        dialect: Arc::new(dialect),
    };
    let engine = Engine::new(runtime.handle());
    let live = Arc::new(LiveDatabase::new(database, pools.into()));
    engine.publish(Snapshot { databases: vec![live], settings: Settings::default() });
    let house = House { runtime, engine, units, gate };
    // What planning looks up once is known from here on.
    let mut session = house.session();
    for sql in [ZERO, ONE, ALL] {
        house.run(&mut session, sql).unwrap();
    }
    for unit in &house.units {
        unit.forget();
    }
    house
}

impl House {
    fn session(&self) -> Session {
        let login = Login { database: Some("shop".into()), ..Login::default() };
        self.engine.open(login).unwrap()
    }

    fn run(&self, session: &mut Session, sql: &str) -> Result<()> {
        self.runtime.block_on(ask(session, sql))
    }

    fn inside(&self) -> u64 {
        self.gate.inside.load(Ordering::SeqCst)
    }

    /// Two failures in a row open the second unit's circuit.
    fn breaks(&self, session: &mut Session) {
        self.units[1].reply("UPDATE one_t SET id = 9", Reply::Error(server_error("57P01", "no")));
        for _ in 0..8 {
            self.run(session, "UPDATE one_t SET id = 9").unwrap_err();
        }
        for unit in &self.units {
            unit.forget();
        }
    }
}

type Asking<'a> = Pin<Box<dyn Future<Output = Result<()>> + 'a>>;

/// Runs a text to its end.
fn ask<'a>(session: &'a mut Session, sql: &str) -> Asking<'a> {
    let request = Request::Query(sql.into());
    Box::pin(async move {
        session.run(request).await?;
        while session.next().await?.is_some() {}
        Ok(())
    })
}

fn told(asking: &mut Asking<'_>) -> Option<Error> {
    match poll_once(asking) {
        Poll::Ready(told) => Some(told.unwrap_err()),
        Poll::Pending => None,
    }
}

#[test]
fn a_statement_waits_until_another_has_ended_and_nothing_is_sent_for_it_before() {
    let house = house(false);
    let (mut first, mut second) = (house.session(), house.session());
    house.units[0].silent(true);
    let mut running = ask(&mut first, ZERO);
    assert!(poll_once(&mut running).is_pending());
    let mut waiting = ask(&mut second, ONE);
    assert!(poll_once(&mut waiting).is_pending());
    assert!(house.units[1].statements().is_empty());
    house.units[0].silent(false);
    house.runtime.block_on(running).unwrap();
    house.runtime.block_on(waiting).unwrap();
    assert_eq!(house.units[1].statements(), [ONE]);
    assert_eq!((house.inside(), house.gate.most_inside.load(Ordering::SeqCst)), (0, 1));
}

#[test]
fn what_a_statement_holds_comes_back_however_it_ends() {
    let house = house(false);
    let mut session = house.session();
    // The second of a text asks when the first is over.
    house.run(&mut session, &format!("{ZERO}; {ONE}; {ZERO}")).unwrap();
    assert_eq!(house.inside(), 0);
    house.units[0].reply_once(ZERO, Reply::Error(server_error("22012", "division by zero")));
    house.run(&mut session, ZERO).unwrap_err();
    assert_eq!(house.inside(), 0);
    house.units[0].silent(true);
    let mut running = ask(&mut session, ZERO);
    assert!(poll_once(&mut running).is_pending());
    assert_eq!(house.inside(), 1);
    drop(running);
    drop(session);
    assert_eq!(house.inside(), 0);
}

#[test]
fn who_waits_too_long_is_told_to_try_again_and_his_transaction_stands_where_errors_do_not_end_it() {
    let house = house(false);
    let (mut first, mut second) = (house.session(), house.session());
    house.units[0].silent(true);
    let mut running = ask(&mut first, ZERO);
    assert!(poll_once(&mut running).is_pending());
    let mut waiting = ask(&mut second, ONE);
    assert!(told(&mut waiting).is_none());
    house.runtime.advance(SECOND);
    let error = told(&mut waiting).unwrap();
    assert!(matches!(error.kind(), ErrorKind::Limited(_)) && error.may_retry(), "{error}");
}

#[test]
fn who_waits_can_be_cancelled() {
    let house = house(false);
    let (mut first, mut second) = (house.session(), house.session());
    house.units[0].silent(true);
    let mut running = ask(&mut first, ZERO);
    assert!(poll_once(&mut running).is_pending());
    let key = second.key();
    let mut waiting = ask(&mut second, ONE);
    assert!(told(&mut waiting).is_none());
    house.engine.cancel(key);
    assert!(matches!(told(&mut waiting).unwrap().kind(), ErrorKind::Cancelled));
    drop(waiting);
    house.units[0].silent(false);
    house.runtime.block_on(running).unwrap();
    house.run(&mut second, ONE).unwrap();
}

#[test]
fn what_runs_too_long_is_cancelled_on_its_unit_and_its_client_is_told_why() {
    let house = house(true);
    let mut session = house.session();
    let settled = || {
        (0..9).for_each(|_| house.runtime.advance(SECOND));
        house.runtime.tasks()
    };
    let tasks = settled();
    house.units[0].reply_once(ZERO, Reply::Hang);
    let mut running = ask(&mut session, ZERO);
    assert!(told(&mut running).is_none());
    house.runtime.advance(SECOND * 9 / 10);
    assert!(told(&mut running).is_none());
    for _ in 0..3 {
        house.runtime.advance(SECOND / 10);
    }
    let error = house.runtime.block_on(running).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Overran(told) if told == "it ran too long"),
        "{error}"
    );
    assert_eq!(house.gate.overran.load(Ordering::SeqCst), 1);
    assert!(!house.units[0].cancels().is_empty());
    house.run(&mut session, ZERO).unwrap();
    assert!(house.runtime.tasks() > tasks);
    // Nobody looks any more when nothing has a time.
    assert_eq!(settled(), tasks);
}

#[test]
fn what_has_too_many_rows_is_ended_whether_its_reply_comes_whole_or_in_pieces() {
    let house = house(true);
    let mut session = house.session();
    let rows = |count: i64| {
        Reply::rows(&[("id", Kind::Int)], (0..count).map(|id| vec![Value::Int(id)]).collect())
    };
    for answers_whole in [false, true] {
        if answers_whole {
            house.units[0].answers_whole();
        }
        house.units[0].reply(ZERO, rows(2));
        house.run(&mut session, ZERO).unwrap();
        house.units[0].reply(ZERO, rows(3));
        let error = house.run(&mut session, ZERO).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Overran(told) if told == "too many rows"));
        let told: Result<()> = house.runtime.block_on(async {
            if session.answer(Request::Query(ZERO.into())).await?.is_none() {
                while session.next().await?.is_some() {}
            }
            Ok(())
        });
        assert!(matches!(told.unwrap_err().kind(), ErrorKind::Overran(_)));
    }
    assert_eq!(house.gate.overran.load(Ordering::SeqCst), 4);
}

#[test]
fn a_copy_to_the_client_tells_no_more_rows_than_a_query_would() {
    const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
    const NULL: &[u8] = b"\0\x01\xff\xff\xff\xff";
    const END: &[u8] = b"\xff\xff";
    let lines = |count: usize| vec![b"7\n".to_vec(); count];
    let headed = |count: usize| [vec![b"id\n".to_vec()], lines(count)].concat();
    let binary = |count: usize| {
        let mut tuples = vec![NULL.to_vec(); count];
        tuples.push(END.to_vec());
        tuples[0] = [HEADER, &tuples[0]].concat();
        tuples
    };
    let copied = |pieces: Vec<Vec<u8>>| {
        let form = CopyForm { format: Format::Text, columns: vec![Format::Text] };
        let data = pieces.into_iter().map(|piece| Event::CopyData(piece.into()));
        let events = [Event::CopyOut(form)].into_iter().chain(data);
        Reply::Events(events.chain([Event::Complete(Completion::default())]).collect())
    };
    type Pieces<'a> = &'a dyn Fn(usize) -> Vec<Vec<u8>>;
    let forms: [(&str, Pieces<'_>); 4] = [
        ("", &lines),
        (" WITH (FORMAT csv, HEADER)", &headed),
        (" WITH (FORMAT text, HEADER false)", &lines),
        (" WITH (FORMAT binary)", &binary),
    ];
    let house = house(true);
    let mut session = house.session();
    let mut ran = |sql: &str, rows: [usize; 2], of: Pieces<'_>| {
        for (unit, rows) in house.units.iter().zip(rows) {
            unit.reply(sql, copied(of(rows)));
        }
        house.run(&mut session, sql)
    };
    for (options, of) in forms {
        let one = format!("COPY zero_t TO STDOUT{options}");
        let all = format!("COPY all_t (id) TO STDOUT{options}");
        for (sql, few, many) in
            [(&one, [0, 0], [3, 0]), (&one, [2, 0], [3, 0]), (&all, [1, 1], [1, 2])]
        {
            ran(sql, few, of).unwrap_or_else(|error| panic!("{sql}: {error}"));
            let error = ran(sql, many, of).expect_err(sql);
            assert!(matches!(error.kind(), ErrorKind::Overran(told) if told == "too many rows"));
        }
    }
    assert_eq!(house.gate.overran.load(Ordering::SeqCst), 12);
}

#[test]
fn a_rooms_warning_is_counted_whether_a_reply_comes_whole_or_in_pieces() {
    let room = OneByOne { warning: Some("mind the gap"), ..OneByOne::default() };
    let house = house_of(room, true);
    let mut session = house.session();
    for answers_whole in [false, true] {
        if answers_whole {
            house.units[0].answers_whole();
        }
        let counted: Result<(bool, u16)> = house.runtime.block_on(async {
            let execute = Request::Execute(Execute {
                prepared: session.prepare(ZERO.into(), Vec::new()).await?,
                parameters: Vec::new(),
                result_formats: Vec::new(),
                limit: None,
                cursor: None,
                pipeline: Pipeline::Alone,
            });
            if let Some(whole) = session.answer(execute).await? {
                return Ok((true, whole.completion.warnings));
            }
            let mut warnings = 0;
            while let Some(event) = session.next().await? {
                if let Event::Complete(done) = event {
                    warnings += done.warnings;
                }
            }
            Ok((false, warnings))
        });
        assert_eq!(counted.unwrap(), (answers_whole, 1));
    }
}

#[test]
fn an_open_circuit_refuses_what_needs_the_unit_and_nothing_is_sent_to_others() {
    let house = house(false);
    let mut session = house.session();
    house.breaks(&mut session);
    for sql in [ALL, ONE] {
        let error = house.run(&mut session, sql).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unavailable { unit, .. } if unit == "ds_1"));
    }
    assert!(house.units.iter().all(|unit| unit.statements().is_empty()));
    house.run(&mut session, ZERO).unwrap();
    house.runtime.advance(SECOND);
    house.run(&mut session, ONE).unwrap();
    house.run(&mut session, ALL).unwrap();
}

#[test]
fn a_transaction_that_stands_on_the_unit_goes_on_to_its_end() {
    let house = house(false);
    let (mut session, mut other) = (house.session(), house.session());
    for sql in ["BEGIN", "UPDATE one_t SET id = 2"] {
        house.run(&mut session, sql).unwrap();
    }
    house.breaks(&mut other);
    for sql in ["UPDATE one_t SET id = 3", "COMMIT"] {
        house.run(&mut session, sql).unwrap();
    }
    assert_eq!(house.units[1].statements(), ["UPDATE one_t SET id = 3", "COMMIT"]);
}

#[test]
fn an_instance_out_of_work_refuses_every_statement_with_shardingspheres_code() {
    let house = house(false);
    let mut session = house.session();
    for name in ["BEGIN", "UPDATE one_t SET id = 2"] {
        house.run(&mut session, name).unwrap();
    }
    for (admits, code) in [(Admits::OutOfWork, 13010), (Admits::Nothing, 17020)] {
        let databases = house.engine.snapshot().databases.clone();
        let settings = Settings { admits, ..Settings::default() };
        house.engine.publish(Snapshot { databases, settings });
        let error = house.run(&mut house.session(), ZERO).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Refused { code: own, .. } if *own == code));
    }
    house.run(&mut session, "COMMIT").unwrap();
}
