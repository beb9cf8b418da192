//! Statements that are run a second time on a mirror: compared, bounded, whole transactions, and nobody waits for it.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod by_name;

use std::sync::Arc;
use std::time::Duration;

use pando_engine::{Engine, LiveDatabase, Session, Settings, Snapshot};
use pando_fake::{FakeDialect, FakeRuntime, Reply, STANDARD, Unit, server_error, table_column};
use pando_kernel::error::Result;
use pando_kernel::feature::{Database, Feature, Room};
use pando_kernel::mirror::{self, Compared, Copies, Counts, Report, Sampled};
use pando_kernel::request::Request;
use pando_kernel::route::UnitName;
use pando_kernel::session::{Login, Session as _};
use pando_kernel::{Kind, Value};
use pando_pool::{Options, Pool};

use by_name::ByName;

const READ: &str = "SELECT id FROM zero_t WHERE id = 7";
const WRITE: &str = "UPDATE zero_t SET id = 8";
const TIME: Duration = Duration::from_secs(2);

#[derive(Debug)]
struct Mirrored(Vec<mirror::Settings>);

impl Room for Mirrored {
    fn name(&self) -> &'static str {
        "mirrored"
    }

    fn mirrors(&self) -> Vec<mirror::Settings> {
        self.0.clone()
    }
}

impl Feature for Mirrored {}

fn settings() -> mirror::Settings {
    mirror::Settings {
        rule: "m".into(),
        source: "ds_0".into(),
        mirror: "next".into(),
        tables: Vec::new(),
        per_million: 1_000_000,
        sampled: Sampled::Transaction,
        copies: Copies::Reads,
        compares: Compared::Rows,
        connections: 1,
        queue: 3,
        queue_bytes: 1 << 20,
        time: TIME,
    }
}

fn everything() -> mirror::Settings {
    mirror::Settings { copies: Copies::Everything, queue: 10, ..settings() }
}

struct House {
    runtime: FakeRuntime,
    engine: Engine,
    mirror: Unit,
    pools: Vec<Pool>,
}

fn rows(value: i64) -> Reply {
    Reply::rows(&[("id", Kind::Int)], vec![vec![Value::Int(value)]])
}

fn dialect() -> FakeDialect {
    FakeDialect { syntax: &STANDARD, has_effects: true, ..FakeDialect::default() }
}

fn house(settings: mirror::Settings) -> House {
    let runtime = FakeRuntime::new();
    let units = ["ds_0", "ds_1", "next"].map(|name| Unit::with_dialect(name, dialect()));
    for unit in &units {
        unit.otherwise(Reply::affected(1));
        for table in ["zero_t", "one_t", "all_t"] {
            unit.table(table, vec![table_column("id", Kind::Int)]);
        }
        unit.reply(READ, rows(7));
    }
    let pools = ["ds_0", "ds_1", "next"].iter().zip(&units).map(|(name, unit)| {
        let options = Options { min: 0, max: 5, ..Options::default() };
        Pool::new(UnitName::from(*name), unit.connector(), runtime.handle(), options)
    });
    let pools = pools.collect();
    let [_, _, mirror] = units;
    let engine = Engine::new(runtime.handle());
    let house = House { runtime, engine, mirror, pools };
    house.publish(vec![settings]);
    // What planning looks up once is known from here on.
    let mut session = house.session();
    house.run(&mut session, READ).unwrap();
    house.run(&mut session, WRITE).unwrap();
    house.runtime.run();
    house.mirror.forget();
    house
}

impl House {
    fn publish(&self, settings: Vec<mirror::Settings>) {
        let database = Database {
            name: "shop".into(),
            units: vec!["ds_0".into(), "ds_1".into()],
            features: vec![Arc::new(Mirrored(settings)), Arc::new(ByName)],
            dialect: Arc::new(dialect()),
        };
        let live = Arc::new(LiveDatabase::new(database, self.pools.clone()));
        self.engine.publish(Snapshot { databases: vec![live], settings: Settings::default() });
    }

    fn session(&self) -> Session {
        let login = Login { database: Some("shop".into()), ..Login::default() };
        self.engine.open(login).unwrap()
    }

    fn run(&self, session: &mut Session, sql: &str) -> Result<()> {
        self.runtime.block_on(async {
            session.run(Request::Query(sql.into())).await?;
            while session.next().await?.is_some() {}
            Ok(())
        })
    }

    fn report(&self) -> Report {
        self.runtime.run();
        let snapshot = self.engine.snapshot();
        snapshot.database("shop").unwrap().mirrored().remove(0)
    }

    /// What was counted since `before`.
    fn more(&self, before: Counts) -> Counts {
        let now = self.report().counts;
        Counts {
            copied: now.copied - before.copied,
            waiting: now.waiting,
            equal: now.equal - before.equal,
            different: now.different - before.different,
            failed: now.failed - before.failed,
            dropped: now.dropped - before.dropped,
            passed_over: now.passed_over - before.passed_over,
        }
    }
}

#[test]
fn equal_answers_are_equal_and_others_are_told_without_a_value() {
    let house = house(settings());
    let (mut session, before) = (house.session(), house.report().counts);
    house.run(&mut session, READ).unwrap();
    house.run(&mut session, "SELECT id FROM one_t").unwrap();
    house.run(&mut session, WRITE).unwrap();
    assert_eq!(house.more(before), Counts { copied: 1, equal: 1, ..Counts::default() });
    assert_eq!(house.mirror.statements(), [READ]);
    house.mirror.reply_once(READ, rows(9));
    house.mirror.reply_once(READ, Reply::Error(server_error("42P01", "no zero_t with 7")));
    house.run(&mut session, READ).unwrap();
    house.run(&mut session, READ).unwrap();
    let report = house.report();
    assert_eq!(report.counts.different, 2);
    let what: Vec<&str> = report.differences.iter().map(|one| one.what).collect();
    assert_eq!(what, ["rows", "error"]);
    assert_eq!(report.differences[1].mirror, "error 42P01");
    for one in &report.differences {
        assert_eq!(one.statement, "SELECT id FROM zero_t WHERE id = ?");
        assert!(!format!("{one:?}").contains("with 7"));
    }
}

#[test]
fn a_mirror_that_is_silent_costs_its_queue_and_nobody_waits() {
    let house = house(settings());
    let (mut session, before) = (house.session(), house.report().counts);
    house.mirror.silent(true);
    for _ in 0..10 {
        house.run(&mut session, READ).unwrap();
        house.runtime.run();
    }
    let expected = Counts { copied: 3, waiting: 3, dropped: 7, ..Counts::default() };
    assert_eq!(house.more(before), expected);
    // Each of them in its time, and a pause behind.
    for _ in 0..3 {
        house.runtime.advance(TIME);
        house.runtime.advance(Duration::from_millis(500));
    }
    assert_eq!(
        house.more(before),
        Counts { copied: 3, failed: 3, dropped: 7, ..Counts::default() }
    );
    house.mirror.silent(false);
    house.runtime.advance(TIME * 10);
    house.run(&mut session, READ).unwrap();
    let found = house.more(before);
    assert_eq!((found.copied, found.equal, found.failed), (4, 1, 3), "{found:?}");
}

#[test]
fn a_long_statement_has_no_room_among_few_bytes() {
    let house = house(mirror::Settings { queue_bytes: 400, ..settings() });
    let (mut session, before) = (house.session(), house.report().counts);
    house.run(&mut session, READ).unwrap();
    house
        .run(&mut session, &format!("SELECT id FROM zero_t WHERE id <> '{}'", "x".repeat(400)))
        .unwrap();
    let expected = Counts { copied: 1, equal: 1, dropped: 1, ..Counts::default() };
    assert_eq!(house.more(before), expected);
}

#[test]
fn a_transaction_is_copied_whole_with_its_end() {
    let house = house(everything());
    let (mut session, before) = (house.session(), house.report().counts);
    for (end, copied) in [("COMMIT", 2), ("ROLLBACK", 4)] {
        for sql in ["BEGIN", READ, WRITE] {
            house.run(&mut session, sql).unwrap();
            assert_eq!(house.mirror.statements(), [""; 0]);
        }
        house.run(&mut session, end).unwrap();
        assert_eq!(house.more(before), Counts { copied, equal: copied, ..Counts::default() });
        assert_eq!(house.mirror.statements(), ["BEGIN", READ, WRITE, end]);
        house.mirror.forget();
    }
}

#[test]
fn without_changes_a_transaction_is_what_it_reads_before_its_first() {
    let house = house(settings());
    let (mut session, before) = (house.session(), house.report().counts);
    for sql in ["BEGIN", READ, READ, WRITE, READ, "COMMIT"] {
        house.run(&mut session, sql).unwrap();
    }
    assert_eq!(house.more(before), Counts { copied: 2, equal: 2, ..Counts::default() });
    assert_eq!(house.mirror.statements(), ["BEGIN", READ, READ, "COMMIT"]);
}

#[test]
fn a_transaction_that_is_undone_in_part_is_not_copied() {
    let house = house(everything());
    let (mut session, before) = (house.session(), house.report().counts);
    for sql in ["BEGIN", WRITE, "SAVEPOINT a", WRITE, "ROLLBACK TO SAVEPOINT a", "COMMIT"] {
        house.run(&mut session, sql).unwrap();
    }
    assert_eq!(house.more(before), Counts { passed_over: 2, ..Counts::default() });
    assert_eq!(house.mirror.statements(), [""; 0]);
}

#[test]
fn what_differs_each_time_is_passed_over() {
    let house = house(settings());
    let (mut session, before) = (house.session(), house.report().counts);
    for sql in ["SELECT id, random() FROM zero_t", "SELECT id FROM zero_t WHERE id = current_date"]
    {
        house.run(&mut session, sql).unwrap();
    }
    assert_eq!(house.more(before), Counts { passed_over: 2, ..Counts::default() });
}

#[test]
fn a_part_of_them_is_about_as_many_as_are_asked_for_and_a_table_is_one_of_the_rules() {
    let house = house(mirror::Settings {
        per_million: 200_000,
        queue: 1_000,
        tables: vec!["zero_t".into()],
        ..settings()
    });
    let (mut session, before) = (house.session(), house.report().counts);
    for _ in 0..500 {
        house.run(&mut session, READ).unwrap();
        house.run(&mut session, "SELECT id FROM zero_other").unwrap();
    }
    let found = house.more(before);
    assert!((60..140).contains(&found.copied) && found.equal == found.copied, "{found:?}");
}

#[test]
fn a_rule_that_is_dropped_takes_what_waits_with_it_and_one_altered_counts_on() {
    let house = house(settings());
    let mut session = house.session();
    house.run(&mut session, READ).unwrap();
    let before = house.report().counts;
    assert!(before.equal > 0);
    let (one, altered) = (house.runtime.tasks(), 3);
    house.publish(vec![mirror::Settings { connections: altered, ..settings() }]);
    assert_eq!(house.report().counts, before);
    assert_eq!(house.runtime.tasks(), one + altered - 1);
    house.run(&mut session, READ).unwrap();
    assert_eq!(house.more(before), Counts { copied: 1, equal: 1, ..Counts::default() });
    house.mirror.forget().silent(true);
    for _ in 0..3 {
        house.run(&mut session, READ).unwrap();
    }
    house.publish(Vec::new());
    house.run(&mut session, READ).unwrap();
    house.mirror.silent(false);
    house.runtime.advance(TIME * 10);
    house.run(&mut session, READ).unwrap();
    house.runtime.run();
    assert!(house.engine.snapshot().database("shop").unwrap().mirrored().is_empty());
    assert!(house.mirror.statements().iter().filter(|sql| *sql == READ).count() <= 3);
    drop(session);
    house.runtime.advance(TIME * 10);
    assert_eq!(house.runtime.tasks(), one - 1, "a worker is left");
}
