//! The whole line over scripted storage units: what a session sends, and what its client gets.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, and says what it skips"
)]

mod by_name;

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use pando_engine::{Engine, LiveDatabase, Session, Settings, Snapshot};
use pando_fake::{
    Connects, FakeDialect, FakeRuntime, Reply, STANDARD, Unit, poll_once, server_error,
};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::feature::Database;
use pando_kernel::request::{CursorId, Execute, Pipeline, Request};
use pando_kernel::route::UnitName;
use pando_kernel::session::{Login, Session as _, TransactionState};
use pando_kernel::{Columns, Completion, Kind, ServerError, Value};
use pando_pool::{Options, Pool};

use by_name::ByName;

/// Two scripted units and a session.
struct House {
    runtime: FakeRuntime,
    engine: Engine,
    units: [Unit; 2],
    session: Session,
    /// Of the last reply that had any: a fetch does not repeat them.
    columns: Option<Columns>,
}

/// Whether an error fails the whole transaction, as in PostgreSQL.
enum Manners {
    Postgres,
    MySql,
}

fn house(manners: &Manners) -> House {
    let fails = matches!(manners, Manners::Postgres);
    let dialect = || FakeDialect {
        syntax: if fails { &STANDARD } else { &pando_fake::BACKTICK },
        error_fails_transaction: fails,
        ..FakeDialect::default()
    };
    let runtime = FakeRuntime::new();
    let units = [0, 1].map(|n| Unit::with_dialect(&format!("ds_{n}"), dialect()));
    for unit in &units {
        unit.otherwise(Reply::affected(1));
    }
    let pools = [0, 1].map(|n| {
        let name = UnitName::from(format!("ds_{n}"));
        let options = Options { min: 0, max: 2, ..Options::default() };
        Pool::new(name, units[n].connector(), runtime.handle(), options)
    });
    let database = Database {
        name: "shop".into(),
        units: vec!["ds_0".into(), "ds_1".into()],
        features: vec![Arc::new(ByName)],
        dialect: Arc::new(dialect()),
    };
    let engine = Engine::new(runtime.handle());
    let live = Arc::new(LiveDatabase::new(database, pools.into()));
    engine.publish(Snapshot { databases: vec![live], settings: Settings::default() });
    let login = Login { database: Some("shop".into()), ..Login::default() };
    let session = engine.open(login).unwrap();
    House { runtime, engine, units, session, columns: None }
}

/// A reply as text: rows by their values, completions by tag and count.
#[expect(clippy::wildcard_enum_match_arm, reason = "a filter over syntax nodes")]
fn show(events: &[Event], columns: &mut Option<Columns>) -> Vec<String> {
    let mut lines = Vec::new();
    for event in events {
        match event {
            Event::Columns(found) => *columns = Some(found.clone()),
            Event::Rows(rows) => {
                let columns = columns.as_ref().unwrap();
                let mut fields = Vec::new();
                rows.for_each(columns, |body| {
                    columns.codec.fields(&columns.list, body, &mut fields)?;
                    let row: Vec<String> = columns
                        .list
                        .iter()
                        .zip(&fields)
                        .map(|(column, field)| {
                            let raw = field.clone().map(|range| &body[range]);
                            format!("{:?}", columns.codec.value(column, raw).unwrap())
                        })
                        .collect();
                    lines.push(row.join(" "));
                    Ok(())
                })
                .unwrap();
            }
            Event::Complete(done) => {
                lines.push(format!("{} {}", done.tag, done.affected.unwrap_or(0)));
            }
            Event::Suspended => lines.push("suspended".into()),
            Event::Notice(notice) => lines.push(notice.message.clone()),
            _ => {}
        }
    }
    lines
}

impl House {
    fn ask(&mut self, request: Request) -> Result<Vec<String>> {
        let (session, columns) = (&mut self.session, &mut self.columns);
        self.runtime.block_on(async {
            session.run(request).await?;
            let mut events = Vec::new();
            while let Some(event) = session.next().await? {
                events.push(event);
            }
            Ok(show(&events, columns))
        })
    }

    fn query(&mut self, sql: &str) -> Result<Vec<String>> {
        self.ask(Request::Query(sql.into()))
    }

    fn ok(&mut self, sql: &str) -> Vec<String> {
        self.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    fn fails(&mut self, sql: &str) -> Error {
        self.query(sql).expect_err(sql)
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

fn sent(zero: &[&str], one: &[&str]) -> [Vec<String>; 2] {
    [zero, one].map(|list| list.iter().map(|text| (*text).to_owned()).collect())
}

fn ids(list: &[i64]) -> Reply {
    Reply::rows(&[("id", Kind::Int)], list.iter().map(|id| vec![Value::Int(*id)]).collect())
}

#[test]
fn a_transaction_reaches_only_the_units_it_touches() {
    let mut house = house(&Manners::Postgres);
    house.ok("BEGIN");
    assert_eq!(house.sent(), sent(&[], &[]));
    house.ok("UPDATE one_t SET a = 1");
    house.ok("UPDATE one_t SET a = 2");
    house.ok("COMMIT");
    let one = ["BEGIN", "UPDATE one_t SET a = 1", "UPDATE one_t SET a = 2", "COMMIT"];
    assert_eq!(house.sent(), sent(&[], &one));
}

/// It might run itself again and again, until no stack is left.
#[test]
fn an_execute_of_an_execute_is_refused() {
    for manners in [Manners::Postgres, Manners::MySql] {
        let mut house = house(&manners);
        house.ok("PREPARE p FROM 'EXECUTE p'; PREPARE q FROM 'EXECUTE p'");
        for sql in ["EXECUTE p", "EXECUTE q"] {
            let error = house.fails(sql).to_string();
            assert!(error.contains("is itself an EXECUTE"), "{sql}: {error}");
        }
        assert_eq!(house.sent(), sent(&[], &[]));
    }
}

#[test]
fn savepoints_are_replayed_on_units_enlisted_later() {
    let mut house = house(&Manners::Postgres);
    house.ok("BEGIN");
    house.ok("SAVEPOINT s");
    house.ok("UPDATE zero_t SET a = 1");
    house.ok("ROLLBACK TO SAVEPOINT s");
    house.ok("ROLLBACK");
    let zero = [
        "BEGIN",
        "SAVEPOINT \"s\"",
        "UPDATE zero_t SET a = 1",
        "ROLLBACK TO SAVEPOINT \"s\"",
        "ROLLBACK",
    ];
    assert_eq!(house.sent(), sent(&zero, &[]));
}

#[test]
fn a_statement_that_writes_to_several_units_is_one_transaction() {
    let mut house = house(&Manners::MySql);
    assert_eq!(house.ok("UPDATE all_t SET a = 1"), ["UPDATE 2"]);
    let each = ["BEGIN", "UPDATE all_t SET a = 1", "COMMIT"];
    assert_eq!(house.sent(), sent(&each, &each));
    assert_eq!(house.session.state().transaction, TransactionState::Idle);
}

#[test]
fn a_failing_unit_undoes_the_statement_on_all() {
    let mut house = house(&Manners::Postgres);
    house.units[1]
        .reply("UPDATE all_t SET a = 1", Reply::Error(server_error("23505", "duplicate")));
    let error = house.fails("UPDATE all_t SET a = 1");
    assert!(matches!(error.kind(), ErrorKind::Server(e) if e.sqlstate == "23505"), "{error}");
    let each = ["BEGIN", "UPDATE all_t SET a = 1", "ROLLBACK"];
    assert_eq!(house.sent(), sent(&each, &each));
}

#[test]
fn nothing_that_would_stand_by_itself_is_sent_behind_a_begin_that_may_fail() {
    let sql = "UPDATE twice_t SET a = 1";
    let prepared = |house: &mut House| {
        let session = &mut house.session;
        let prepared = house.runtime.block_on(session.prepare(sql.into(), Vec::new())).unwrap();
        house.ask(Request::Execute(Execute {
            prepared,
            parameters: Vec::new(),
            result_formats: Vec::new(),
            limit: None,
            cursor: None,
            pipeline: Pipeline::Alone,
        }))
    };
    let mut failing = house(&Manners::Postgres);
    failing.units[0].reply("BEGIN", Reply::Error(server_error("57014", "cancelled")));
    failing.ok("BEGIN");
    assert!(prepared(&mut failing).is_err());
    let updates = failing.sent()[0].iter().filter(|sent| *sent == sql).count();
    assert_eq!(updates, 1, "the one that fails with its BEGIN");

    let mut house = house(&Manners::Postgres);
    house.ok("BEGIN");
    assert_eq!(prepared(&mut house).unwrap(), ["UPDATE 2"]);
    house.ok("COMMIT");
    assert_eq!(house.sent(), sent(&["BEGIN", sql, sql, "COMMIT"], &[]));
}

#[test]
fn inside_a_transaction_that_goes_on_only_the_statement_is_undone() {
    let mut house = house(&Manners::MySql);
    house.units[1]
        .reply("UPDATE all_t SET a = 1", Reply::Error(server_error("23000", "duplicate")));
    house.ok("BEGIN");
    house.fails("UPDATE all_t SET a = 1");
    assert_eq!(house.session.state().transaction, TransactionState::Open);
    house.ok("COMMIT");
    let each = [
        "BEGIN",
        "SAVEPOINT `pando_statement`",
        "UPDATE all_t SET a = 1",
        "ROLLBACK TO SAVEPOINT `pando_statement`",
        "COMMIT",
    ];
    assert_eq!(house.sent(), sent(&each, &each));
}

#[test]
fn a_failed_transaction_accepts_only_its_end() {
    let mut house = house(&Manners::Postgres);
    house.units[0]
        .reply("UPDATE zero_t SET a = 1", Reply::Error(server_error("22012", "division")));
    house.ok("BEGIN");
    house.fails("UPDATE zero_t SET a = 1");
    let error = house.fails("SELECT id FROM one_t");
    assert_eq!(*error.kind(), ErrorKind::TransactionFailed);
    assert_eq!(house.ok("COMMIT"), ["ROLLBACK 0"]);
    assert_eq!(house.sent(), sent(&["BEGIN", "UPDATE zero_t SET a = 1", "ROLLBACK"], &[]));
}

#[test]
fn several_statements_of_one_text_are_one_transaction_where_the_language_says_so() {
    let mut house = house(&Manners::Postgres);
    house.ok("UPDATE zero_t SET a = 1; UPDATE one_t SET a = 2");
    assert_eq!(
        house.sent(),
        sent(
            &["BEGIN", "UPDATE zero_t SET a = 1", "COMMIT"],
            &["BEGIN", "UPDATE one_t SET a = 2", "COMMIT"]
        )
    );
}

#[test]
fn statements_behind_a_commit_of_their_text_are_one_transaction() {
    let mut house = house(&Manners::Postgres);
    house.ok(
        "BEGIN; UPDATE zero_t SET a = 1; COMMIT; UPDATE one_t SET a = 2; UPDATE zero_t SET a = 3",
    );
    assert_eq!(
        house.sent(),
        sent(
            &[
                "BEGIN",
                "UPDATE zero_t SET a = 1",
                "COMMIT",
                "BEGIN",
                "UPDATE zero_t SET a = 3",
                "COMMIT"
            ],
            &["BEGIN", "UPDATE one_t SET a = 2", "COMMIT"]
        )
    );
}

#[test]
fn rows_of_two_units_are_merged_in_order_within_the_limit() {
    let mut house = house(&Manners::Postgres);
    let sql = "SELECT id FROM all_t ORDER BY id LIMIT 3";
    for (unit, list) in house.units.iter().zip([[1, 4, 5], [2, 3, 6]]) {
        unit.table("all_t", vec![pando_fake::table_column("id", Kind::Int)]);
        unit.reply(sql, ids(&list));
    }
    assert_eq!(house.ok(sql), ["Int(1)", "Int(2)", "Int(3)", "SELECT 3"]);
}

#[test]
fn a_session_variable_holds_on_the_next_connection() {
    let mut house = house(&Manners::MySql);
    house.ok("SET sort_buffer_size = 1000");
    house.sent();
    house.ok("UPDATE one_t SET a = 1");
    let [_, one] = house.sent();
    assert_eq!(one.len(), 2, "{one:?}");
    assert!(one[0].starts_with("SET") && one[0].contains("1000"), "{one:?}");
    house.ok("UPDATE one_t SET a = 2");
    assert_eq!(house.sent(), sent(&[], &["UPDATE one_t SET a = 2"]));
}

#[test]
fn what_was_prepared_when_pipes_were_or_is_refused_once_they_join_texts() {
    let sql = "UPDATE one_t SET a = b || 0";
    for modes in ["ANSI", "PIPES_AS_CONCAT"] {
        let mut house = house(&Manners::MySql);
        let prepare = house.session.prepare(sql.into(), Vec::new());
        let prepared = house.runtime.block_on(prepare).unwrap();
        let execute = || {
            Request::Execute(Execute {
                prepared: Arc::clone(&prepared),
                parameters: Vec::new(),
                result_formats: Vec::new(),
                limit: None,
                cursor: None,
                pipeline: Pipeline::Alone,
            })
        };
        house.ok(&format!("PREPARE s FROM '{sql}'"));
        house.ask(execute()).unwrap();
        house.ok("EXECUTE s");
        house.ok(&format!("SET sql_mode = '{modes}'"));
        house.sent();
        let is_refused = |error: &Error| {
            matches!(error.kind(), ErrorKind::Refused { .. }) && error.to_string().contains("`||`")
        };
        let errors = [house.ask(execute()).unwrap_err(), house.fails("EXECUTE s")];
        assert!(errors.iter().all(is_refused), "{modes}: {errors:?}");
        assert_eq!(house.sent(), sent(&[], &[]), "{modes}");
        house.ok(&format!("PREPARE s FROM '{sql}'"));
        house.ok("EXECUTE s");
        let [_, one] = house.sent();
        assert!(one.last().is_some_and(|sql| sql.contains("CONCAT(b, 0)")), "{modes}: {one:?}");
    }
}

#[test]
fn a_cursor_waits_for_its_client() {
    let mut house = house(&Manners::Postgres);
    house.units[0].reply("SELECT id FROM zero_t", ids(&[1, 2, 3, 4, 5]));
    house.ok("BEGIN");
    let session = &mut house.session;
    let prepared = house
        .runtime
        .block_on(async { session.prepare("SELECT id FROM zero_t".into(), Vec::new()).await })
        .unwrap();
    let execute = Request::Execute(Execute {
        prepared,
        parameters: Vec::new(),
        result_formats: Vec::new(),
        limit: Some(2),
        cursor: Some(CursorId(7)),
        pipeline: Pipeline::Alone,
    });
    assert_eq!(house.ask(execute).unwrap(), ["Int(1)", "Int(2)", "suspended"]);
    // The same connection is needed: the rest of the cursor is read into memory.
    assert_eq!(house.ok("UPDATE zero_t SET a = 1"), ["UPDATE 1"]);
    let fetch = |limit| Request::Fetch { cursor: CursorId(7), limit };
    assert_eq!(house.ask(fetch(Some(2))).unwrap(), ["Int(3)", "Int(4)", "suspended"]);
    assert_eq!(house.ask(fetch(None)).unwrap(), ["Int(5)", "SELECT 5"]);
    house.ok("COMMIT");
}

/// A transaction that has changed both units and has found the first two rows of a reply that ends in a deadlock.
fn with_a_victims_cursor() -> House {
    let mut house = house(&Manners::MySql);
    let rows = (1..=5).map(|id| vec![Value::Int(id)]).collect();
    let victim = Reply::Victim(vec![("id".into(), Kind::Int)], rows);
    house.units[0].rows_per_chunk(2).reply("SELECT id FROM zero_t", victim);
    house.ok("BEGIN");
    house.ok("UPDATE zero_t SET a = 1");
    house.ok("UPDATE one_t SET a = 1");
    let session = &mut house.session;
    let prepared = session.prepare("SELECT id FROM zero_t".into(), Vec::new());
    let execute = Request::Execute(Execute {
        prepared: house.runtime.block_on(prepared).unwrap(),
        parameters: Vec::new(),
        result_formats: Vec::new(),
        limit: Some(2),
        cursor: Some(CursorId(7)),
        pipeline: Pipeline::Alone,
    });
    assert_eq!(house.ask(execute).unwrap(), ["Int(1)", "Int(2)", "suspended"]);
    house.sent();
    house
}

#[test]
fn a_setting_that_one_unit_refuses_stays_on_no_connection() {
    let mut house = house(&Manners::MySql);
    house.ok("BEGIN");
    house.ok("UPDATE zero_t SET a = 1");
    house.ok("UPDATE one_t SET a = 1");
    house.sent();
    let refuse = |sql: &str| sql.starts_with("SET");
    house.units[1].when(refuse, |_, _| Reply::Error(server_error("42000", "not here")));
    house.fails("SET sort_buffer_size = 1000");
    house.ok("ROLLBACK");
    house.sent();
    house.ok("UPDATE zero_t SET a = 2");
    assert_eq!(house.sent(), sent(&["RESET", "UPDATE zero_t SET a = 2"], &[]));
}

fn is_a_victims(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Server(e) if e.number == 1213 && e.sqlstate == "40001")
}

#[test]
fn a_part_that_was_rolled_back_behind_a_closed_cursor_is_not_committed_around() {
    let mut house = with_a_victims_cursor();
    house.ask(Request::CloseCursor(CursorId(7))).unwrap();
    let error = house.fails("COMMIT");
    assert!(is_a_victims(&error), "{error}");
    assert_eq!(house.sent(), sent(&["ROLLBACK"], &["ROLLBACK"]));
}

#[test]
fn nothing_runs_by_itself_on_a_unit_whose_part_was_rolled_back() {
    let mut house = with_a_victims_cursor();
    house.ask(Request::CloseCursor(CursorId(7))).unwrap();
    let error = house.fails("UPDATE zero_t SET a = 2");
    assert!(is_a_victims(&error), "{error}");
    assert_eq!(house.sent(), sent(&["ROLLBACK"], &["ROLLBACK"]));
    assert_eq!(house.session.state().transaction, TransactionState::Idle);
}

#[test]
fn a_commit_whose_cursor_ends_the_transaction_says_so() {
    let mut house = with_a_victims_cursor();
    let error = house.fails("COMMIT");
    assert!(is_a_victims(&error), "{error}");
    assert_eq!(house.sent(), sent(&["ROLLBACK"], &["ROLLBACK"]));
    assert_eq!(house.session.state().transaction, TransactionState::Idle);
}

#[test]
fn a_refused_statement_is_sent_nowhere() {
    let mut house = house(&Manners::Postgres);
    for sql in [
        "SELECT id FROM all_t UNION SELECT id FROM all_t",
        "SELECT COUNT(DISTINCT id) FROM all_t",
        "SELECT SUM(id) + 1 FROM all_t",
        "SELECT id, COUNT(*) FROM all_t GROUP BY id HAVING COUNT(*) > 1",
        "SELECT id, ROW_NUMBER() OVER (ORDER BY id) FROM all_t",
        "UPDATE all_t SET a = 1 LIMIT 1",
    ] {
        let error = house.fails(sql);
        assert!(
            matches!(error.kind(), ErrorKind::Refused { .. } | ErrorKind::Syntax { .. }),
            "{sql}: {error}"
        );
    }
    assert_eq!(house.sent(), sent(&[], &[]));
}

#[test]
fn preview_shows_what_would_be_sent() {
    let mut house = house(&Manners::Postgres);
    let lines = house.ok("PREVIEW SELECT a FROM all_t");
    assert_eq!(
        lines,
        [
            "Text(\"ds_0\") Text(\"SELECT a FROM all_t\")",
            "Text(\"ds_1\") Text(\"SELECT a FROM all_t\")",
            "PREVIEW 2"
        ]
    );
    let hint = "/* SHARDINGSPHERE_HINT: DATA_SOURCE_NAME=ds_1 */";
    for (text, shown) in [
        (format!("{hint} PREVIEW SELECT a FROM part"), "SELECT a FROM part"),
        (format!("PREVIEW {hint} SELECT a FROM part"), "SELECT a FROM part"),
        ("PREVIEW DECLARE c CURSOR FOR SELECT a FROM one_t".to_owned(), "SELECT a FROM one_t"),
    ] {
        let lines = house.ok(&text);
        let [line, _] = &lines[..] else { panic!("{text}: {lines:?}") };
        assert!(line.ends_with(&format!("Text(\"{shown}\")")), "{text}: {line}");
    }
    assert_eq!(house.sent(), sent(&[], &[]));
}

/// Cancels a statement while it runs; `before` comes between its start and the cancel. Then `seconds` go by.
fn cancelled(house: &mut House, sql: &str, before: impl Fn(&[Unit; 2]), seconds: u64) -> Error {
    let House { runtime, engine, units, session, .. } = house;
    let key = session.key();
    let mut asking = Box::pin(async {
        session.run(Request::Query(sql.into())).await?;
        while session.next().await?.is_some() {}
        Ok::<_, Error>(())
    });
    assert!(poll_once(&mut asking).is_pending(), "{sql}");
    before(units);
    engine.cancel(key);
    runtime.run();
    if seconds > 0 {
        assert!(poll_once(&mut asking).is_pending(), "{sql}");
        runtime.advance(Duration::from_secs(seconds));
    }
    match poll_once(&mut asking) {
        Poll::Ready(Err(error)) => error,
        other => panic!("{sql}: {other:?}"),
    }
}

#[test]
fn a_unit_that_does_not_take_a_cancel_request_is_given_up() {
    let mut house = house(&Manners::MySql);
    house.units[0].reply("SELECT a FROM zero_t", Reply::Hang);
    let silent = |units: &[Unit; 2]| {
        units[0].connects(Connects::Hang);
    };
    let error = cancelled(&mut house, "SELECT a FROM zero_t", silent, 3);
    assert!(matches!(error.kind(), ErrorKind::Cancelled), "{error}");
    house.ok("UPDATE one_t SET a = 1");
    house.units[0].connects(Connects::Accept);
    house.ok("UPDATE zero_t SET a = 1");
    // In a transaction the connection is lost, and the transaction with it.
    house.ok("BEGIN");
    house.ok("UPDATE zero_t SET a = 1");
    cancelled(&mut house, "SELECT a FROM zero_t", silent, 3);
    let error = house.fails("COMMIT");
    assert!(matches!(error.kind(), ErrorKind::Server(e) if e.sqlstate == "40001"), "{error}");
}

#[test]
fn a_cancel_that_reached_its_unit_leaves_the_wait_to_it() {
    let mut house = house(&Manners::MySql);
    house.units[0].reply("SELECT a FROM zero_t", Reply::Hang);
    house.ok("BEGIN");
    let error = cancelled(&mut house, "SELECT a FROM zero_t", |_| (), 0);
    assert!(matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Cancelled), "{error}");
    // The connection lives, however long ago the cancel was.
    house.runtime.advance(Duration::from_secs(10));
    house.ok("UPDATE zero_t SET a = 1");
    house.ok("COMMIT");
}

#[test]
fn a_wait_for_a_connection_is_cancelled_at_once() {
    let mut house = house(&Manners::Postgres);
    house.units[1].connects(Connects::Hang);
    let error = cancelled(&mut house, "SELECT a FROM one_t", |_| (), 0);
    assert!(matches!(error.kind(), ErrorKind::Cancelled), "{error}");
    house.units[1].connects(Connects::Accept);
    house.ok("UPDATE one_t SET a = 1");
}

#[test]
fn what_units_say_beside_their_rows_reaches_the_client_within_bounds() {
    let mut house = house(&Manners::Postgres);
    let notice = |n: usize| {
        let message = format!("said {n}");
        Event::Notice(Box::new(ServerError { message, ..ServerError::default() }))
    };
    for unit in &house.units {
        let columns = Event::Columns(pando_fake::columns(&[("id", Kind::Int)]));
        let mut events = vec![columns];
        events.extend((0..5_000).map(notice));
        events.push(Event::Complete(Completion::default()));
        unit.table("all_t", vec![pando_fake::table_column("id", Kind::Int)]);
        unit.reply("SELECT id FROM all_t", Reply::Events(events));
    }
    let said = house.ok("SELECT id FROM all_t");
    assert_eq!(said.iter().filter(|line| line.starts_with("said")).count(), 2_000);
}

#[test]
fn a_unit_that_is_not_to_be_had_leaves_no_trace_on_the_others() {
    let mut house = house(&Manners::MySql);
    house.ok("BEGIN");
    house.units[1].connects(Connects::Refuse);
    house.fails("UPDATE all_t SET a = 1");
    house.ok("COMMIT");
    let [zero, _] = house.sent();
    assert!(!zero.iter().any(|sql| sql.starts_with("UPDATE")), "{zero:?}");
}

#[test]
fn a_transaction_whose_unit_is_known_to_be_lost_is_committed_nowhere() {
    for lost in [0, 1] {
        let mut house = house(&Manners::Postgres);
        house.ok("BEGIN");
        house.ok("UPDATE zero_t SET a = 1");
        house.ok("UPDATE one_t SET a = 1");
        house.units[lost].disconnect_all();
        let error = house.fails("COMMIT");
        assert!(matches!(error.kind(), ErrorKind::Server(e) if e.sqlstate == "40001"), "{error}");
        let sent = house.sent();
        assert!(!sent.iter().flatten().any(|sql| sql == "COMMIT"), "{sent:?}");
        assert_eq!(house.session.state().transaction, TransactionState::Idle);
    }
}

#[test]
fn a_commit_that_fails_on_one_unit_is_torn_only_where_something_was_written() {
    for (writes, said) in [(true, "is committed on 1 of 2 storage units"), (false, "lost")] {
        let mut house = house(&Manners::Postgres);
        house.ok("BEGIN");
        for table in ["zero_t", "one_t"] {
            house.ok(&match writes {
                true => format!("UPDATE {table} SET a = 1"),
                false => format!("SELECT a FROM {table}"),
            });
        }
        house.units[1].reply("COMMIT", Reply::Disconnect);
        let error = house.fails("COMMIT").to_string();
        assert_eq!(error.contains("storage units"), writes, "{error}");
        assert!(error.contains(said), "{error}");
        assert_eq!(house.session.state().transaction, TransactionState::Idle);
    }
}

/// The next piece and what came with it; `true` behind them when the reply is over.
fn together(house: &mut House) -> (Vec<String>, bool) {
    let (session, columns) = (&mut house.session, &mut house.columns);
    house.runtime.block_on(async {
        let mut events = Vec::new();
        let mut piece = Some(session.next().await);
        while let Some(got) = piece {
            match got.unwrap() {
                Some(event) => events.push(event),
                None => return (show(&events, columns), true),
            }
            piece = session.ahead();
        }
        (show(&events, columns), false)
    })
}

#[test]
fn a_door_finds_what_came_together_and_never_the_next_statement() {
    let mut house = house(&Manners::MySql);
    house.units[0].reply("SELECT id FROM zero_t", ids(&[1, 2]));
    house.units[1].reply("SELECT id FROM one_t", ids(&[3]));
    let text = "SELECT id FROM zero_t; SELECT id FROM one_t";
    let session = &mut house.session;
    house.runtime.block_on(async { session.run(Request::Query(text.into())).await.unwrap() });
    assert_eq!(
        together(&mut house),
        (vec!["Int(1)".into(), "Int(2)".into(), "SELECT 2".into()], false)
    );
    assert_eq!(house.sent(), sent(&["SELECT id FROM zero_t"], &[]));
    assert_eq!(together(&mut house), (vec!["Int(3)".into(), "SELECT 1".into()], true));
}

#[test]
fn what_came_ahead_is_forgotten_with_its_reply() {
    let mut house = house(&Manners::MySql);
    house.units[0].reply("SELECT id FROM zero_t", ids(&[1]));
    let session = &mut house.session;
    house.runtime.block_on(async {
        session.run(Request::Query("SELECT id FROM zero_t".into())).await.unwrap();
        assert!(matches!(session.next().await, Ok(Some(Event::Columns(_)))));
    });
    assert_eq!(house.ok("SELECT id FROM zero_t"), ["Int(1)", "SELECT 1"]);
}
