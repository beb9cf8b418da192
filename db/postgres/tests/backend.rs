//! The backend against a real PostgreSQL.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests only"
)]

mod support;

use pando_kernel::request::UNNUMBERED;
use pando_kernel::session::TransactionState;
use pando_kernel::{Connector, CopyInput, Event, Execution, Format, Native, Parameter, Value};
use pando_postgres::PostgresConnector;
use pando_postgres::types::{FAMILY, oid};
use support::{connect, copied, held, next, options, reply, rows, run, runtime, state, text};

/// With types that are known, though not by number, so that it is kept.
fn prepared(sql: &str, parameters: Vec<Parameter>) -> Execution {
    Execution::Prepared {
        sql: sql.into(),
        types: vec![UNNUMBERED; parameters.len()].into(),
        parameters,
        formats: Vec::new(),
        era: 0,
    }
}

fn aside(sql: &str) -> Execution {
    Execution::Aside(sql.into())
}

fn raw(type_id: u32, format: Format, bytes: &'static [u8]) -> Parameter {
    Parameter {
        value: Value::Null,
        native: Native { family: FAMILY, type_id, ..Native::default() },
        format,
        raw: Some(bytes.into()),
    }
}

fn int(number: i64) -> Parameter {
    Parameter::made(Value::Int(number))
}

#[tokio::test]
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
async fn a_text_gives_columns_rows_and_its_tag() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    let sql = "SELECT 1 AS a, 'x'::text AS b, NULL::int AS c, 1.50::numeric, true";
    let events = run(&mut *backend, text(sql)).await.unwrap();
    let number = Value::Decimal("1.50".parse().unwrap());
    let row = vec![Value::Int(1), Value::Text("x".into()), Value::Null, number, Value::Bool(true)];
    assert_eq!(rows(&events), [row]);
    let Event::Columns(columns) = &events[0] else { panic!("{events:?}") };
    assert_eq!(columns.list[0].name, "a");
    let complete = events.iter().find_map(|event| match event {
        Event::Complete(complete) => Some((&*complete.tag, complete.affected)),
        _ => None,
    });
    assert_eq!(complete, Some(("SELECT", Some(1))));
}

#[tokio::test]
async fn an_error_leaves_the_connection_usable() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    let error = run(&mut *backend, text("SELECT nothing")).await.unwrap_err();
    assert_eq!(state(&error), "42703");
    let error = run(&mut *backend, prepared("SELECT $1::int", vec![])).await.unwrap_err();
    assert_eq!(state(&error), "08P01");
    assert!(backend.condition().usable);
    assert!(run(&mut *backend, text("SELECT 1")).await.is_ok());
}

#[tokio::test]
async fn executions_started_together_answer_in_order_whatever_fails() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    for sql in ["SELECT $1::int", "SELECT nothing", "SELECT $1::int", "SELECT $1::int + 1"] {
        backend.start(prepared(sql, vec![int(7); usize::from(sql.contains('$'))])).unwrap();
    }
    backend.start(text("SELECT 'last'")).unwrap();
    assert_eq!(backend.condition().outstanding, 5);
    assert_eq!(rows(&reply(&mut *backend).await.unwrap()), [[Value::Int(7)]]);
    assert_eq!(state(&reply(&mut *backend).await.unwrap_err()), "42703");
    assert_eq!(rows(&reply(&mut *backend).await.unwrap()), [[Value::Int(7)]]);
    assert_eq!(rows(&reply(&mut *backend).await.unwrap()), [[Value::Int(8)]]);
    assert_eq!(rows(&reply(&mut *backend).await.unwrap()), [[Value::Text("last".into())]]);
    assert_eq!(backend.condition().outstanding, 0);
}

#[tokio::test]
async fn values_mean_the_same_in_both_formats() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    let sql = "SELECT -7::int2, 123456789012::int8, 1.5::float4, -0.25::float8, \
        12345.6789::numeric, 'NaN'::numeric = 'NaN', '\\x00ff'::bytea, '2026-01-31'::date, \
        '13:45:00.5'::time, '2026-01-31 13:45:00.5'::timestamp, '2026-01-31 13:45:00.5+00'::timestamptz, \
        'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, '{\"a\": 1}'::jsonb, '1 mon -2 days 03:04:05.5'::interval, \
        'héllo'::varchar(10), 42::oid, '05:06:07+02'::timetz, '0044-03-15'::date, -0.0001::numeric, 1e20::numeric";
    let with = |format| Execution::Prepared {
        sql: sql.into(),
        types: Default::default(),
        parameters: vec![],
        formats: vec![format],
        era: 0,
    };
    let as_text = rows(&run(&mut *backend, with(Format::Text)).await.unwrap());
    let as_binary = rows(&run(&mut *backend, with(Format::Binary)).await.unwrap());
    assert_eq!(as_text, as_binary);
    assert_eq!(as_text[0].len(), 20);
}

#[tokio::test]
async fn parameters_go_out_in_the_form_they_came_in() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    let parameters = vec![
        raw(oid::INT4, Format::Binary, &[0, 0, 1, 0]),
        raw(oid::TEXT, Format::Text, b"x"),
        Parameter::made(Value::Null),
        Parameter::made(Value::Bytes(vec![0, 255].into())),
        Parameter::made(Value::Decimal("1.50".parse().unwrap())),
    ];
    let execution = Execution::Prepared {
        sql: "SELECT $1, $2, $3::int, $4::bytea, $5::numeric".into(),
        types: [oid::INT4, oid::TEXT].into(),
        parameters,
        formats: vec![],
        era: 0,
    };
    let events = run(&mut *backend, execution).await.unwrap();
    let expected = [
        Value::Int(256),
        Value::Text("x".into()),
        Value::Null,
        Value::Bytes(vec![0, 255].into()),
        Value::Decimal("1.50".parse().unwrap()),
    ];
    assert_eq!(rows(&events), [expected]);
}

#[tokio::test]
async fn a_parameter_of_another_family_is_written_anew() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    let native = Native { family: "mysql", type_id: 8, ..Native::default() };
    let parameter = Parameter {
        value: Value::Int(5),
        native,
        format: Format::Binary,
        raw: Some(vec![5, 0, 0, 0, 0, 0, 0, 0].into()),
    };
    let events = run(&mut *backend, prepared("SELECT $1::int8", vec![parameter])).await.unwrap();
    assert_eq!(rows(&events), [[Value::Int(5)]]);
}

#[tokio::test]
async fn a_statement_with_open_types_is_kept_for_nobody() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    for (kind, sent, kept) in
        [("date", "2001-01-01", "2001-01-01"), ("text", "2001-01-01 12:34", "2001-01-01 12:34")]
    {
        let table = format!("DROP TABLE IF EXISTS t; CREATE TEMPORARY TABLE t (col {kind})");
        run(&mut *backend, text(&table)).await.unwrap();
        let open = Execution::Prepared {
            sql: "INSERT INTO t VALUES ($1) RETURNING col::text".into(),
            types: Default::default(),
            parameters: vec![Parameter::made(Value::Text(sent.into()))],
            formats: Vec::new(),
            era: 0,
        };
        for _ in 0..2 {
            let events = run(&mut *backend, open.clone()).await.unwrap();
            assert_eq!(rows(&events), [[Value::Text(kept.into())]], "{kind}");
        }
    }
}

#[tokio::test]
async fn the_server_holds_no_more_statements_than_the_bound() {
    let Some(mut options) = options() else { return };
    options.statements = 3;
    let mut backend = connect(options).await;
    for round in 0..3 {
        for number in 0..5 {
            let sql = format!("SELECT $1::int + {number}");
            let events = run(&mut *backend, prepared(&sql, vec![int(round)])).await.unwrap();
            assert_eq!(rows(&events), [[Value::Int(round + number)]]);
        }
    }
    assert_eq!(held(&mut *backend).await, 3);
}

#[tokio::test]
async fn a_statement_is_prepared_once_and_answers_with_columns_each_time() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    for _ in 0..3 {
        let events =
            run(&mut *backend, prepared("SELECT $1::int AS n", vec![int(1)])).await.unwrap();
        let Event::Columns(columns) = &events[0] else { panic!("{events:?}") };
        assert_eq!(columns.list[0].name, "n");
    }
    assert_eq!(held(&mut *backend).await, 1);
}

#[tokio::test]
async fn statements_the_server_forgot_are_prepared_again() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    let ask = || prepared("SELECT $1::int", vec![int(1)]);
    run(&mut *backend, ask()).await.unwrap();
    run(&mut *backend, text("DEALLOCATE ALL")).await.unwrap();
    assert!(run(&mut *backend, ask()).await.is_ok());
    // Behind our back, by name.
    run(&mut *backend, text("DEALLOCATE pando_2")).await.unwrap();
    assert_eq!(rows(&run(&mut *backend, ask()).await.unwrap()), [[Value::Int(1)]]);
}

#[tokio::test]
async fn a_changed_table_is_seen_by_prepared_statements() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    run(&mut *backend, text("CREATE TEMP TABLE changing (a int)")).await.unwrap();
    run(&mut *backend, text("INSERT INTO changing VALUES (1)")).await.unwrap();
    let ask = || prepared("SELECT * FROM changing", vec![]);
    assert_eq!(rows(&run(&mut *backend, ask()).await.unwrap())[0].len(), 1);
    run(&mut *backend, text("ALTER TABLE changing ADD b int DEFAULT 2")).await.unwrap();
    assert_eq!(rows(&run(&mut *backend, ask()).await.unwrap()), [[Value::Int(1), Value::Int(2)]]);
}

#[tokio::test]
async fn a_type_that_was_made_anew_is_seen_by_prepared_statements() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    let sql = "SELECT $1::pg_temp.mood::text";
    let ask = || prepared(sql, vec![Parameter::made(Value::Text("good".into()))]);
    for _ in 0..2 {
        run(&mut *backend, text("CREATE TYPE pg_temp.mood AS ENUM ('good')")).await.unwrap();
        let describe = Execution::Describe { sql: sql.into(), types: Default::default(), era: 0 };
        run(&mut *backend, describe).await.unwrap();
        let events = run(&mut *backend, ask()).await.unwrap();
        assert_eq!(rows(&events), [[Value::Text("good".into())]]);
        run(&mut *backend, text("DROP TYPE pg_temp.mood")).await.unwrap();
    }
}

#[tokio::test]
async fn a_failed_preparation_is_not_remembered() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    let ask = || prepared("SELECT * FROM pg_temp.later", vec![]);
    assert!(run(&mut *backend, ask()).await.is_err());
    run(&mut *backend, text("CREATE TEMP TABLE later AS SELECT 1 AS a")).await.unwrap();
    assert_eq!(rows(&run(&mut *backend, ask()).await.unwrap()), [[Value::Int(1)]]);
}

#[tokio::test]
async fn a_description_tells_parameters_and_columns() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    let describe =
        |sql: &str| Execution::Describe { sql: sql.into(), types: Default::default(), era: 0 };
    for _ in 0..2 {
        let events =
            run(&mut *backend, describe("SELECT $1::int AS a, $2::text AS b")).await.unwrap();
        let [Event::Described(description), Event::Done] = &events[..] else {
            panic!("{events:?}")
        };
        let types: Vec<u32> = description.parameters.iter().map(|native| native.type_id).collect();
        assert_eq!(types, [oid::INT4, oid::TEXT]);
        assert_eq!(description.columns.as_ref().unwrap().list[1].name, "b");
    }
    let events = run(&mut *backend, describe("DELETE FROM pg_class WHERE false")).await.unwrap();
    let Event::Described(description) = &events[0] else { panic!("{events:?}") };
    assert!(description.columns.is_none());
}

#[tokio::test]
async fn the_transaction_status_follows_the_server() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    run(&mut *backend, text("BEGIN")).await.unwrap();
    assert_eq!(backend.condition().transaction, TransactionState::Open);
    run(&mut *backend, text("SELECT nothing")).await.unwrap_err();
    assert_eq!(backend.condition().transaction, TransactionState::Failed);
    run(&mut *backend, Execution::Reset).await.unwrap();
    assert_eq!(backend.condition().transaction, TransactionState::Idle);
}

#[tokio::test]
async fn what_only_has_to_succeed_travels_with_the_next_execution() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    for next in [prepared("SELECT $1::int", vec![int(1)]), text("SELECT 1"), Execution::Ping] {
        backend.start(aside("BEGIN")).unwrap();
        backend.start(aside("SAVEPOINT a")).unwrap();
        backend.start(next).unwrap();
        assert!(matches!(reply(&mut *backend).await.unwrap()[..], [Event::Done]));
        assert!(matches!(reply(&mut *backend).await.unwrap()[..], [Event::Done]));
        reply(&mut *backend).await.unwrap();
        assert_eq!(backend.condition().transaction, TransactionState::Open);
        run(&mut *backend, text("RELEASE a")).await.unwrap();
        run(&mut *backend, aside("ROLLBACK")).await.unwrap();
        assert_eq!(backend.condition().transaction, TransactionState::Idle);
    }
    backend.start(aside("")).unwrap();
    backend.start(text("SELECT 1")).unwrap();
    assert!(reply(&mut *backend).await.is_ok());
    assert_eq!(rows(&reply(&mut *backend).await.unwrap()), [[Value::Int(1)]]);
    run(&mut *backend, aside("BEGIN")).await.unwrap();
    assert_eq!(backend.condition().transaction, TransactionState::Open);
}

#[tokio::test]
async fn what_follows_a_failed_one_does_not_run() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    run(&mut *backend, text("CREATE TEMP TABLE t (a int)")).await.unwrap();
    let insert = || prepared("INSERT INTO t VALUES ($1::int)", vec![int(1)]);
    for _ in 0..2 {
        backend.start(aside("BEGIN ISOLATION LEVEL NONE")).unwrap();
        backend.start(aside("SAVEPOINT a")).unwrap();
        backend.start(insert()).unwrap();
        backend.start(text("SELECT count(*) FROM t")).unwrap();
        for _ in 0..3 {
            assert_eq!(state(&reply(&mut *backend).await.unwrap_err()), "42601");
        }
        assert_eq!(rows(&reply(&mut *backend).await.unwrap()), [[Value::Int(0)]]);
        assert_eq!(backend.condition().outstanding, 0);
        assert_eq!(backend.condition().transaction, TransactionState::Idle);
    }
    run(&mut *backend, insert()).await.unwrap();
    assert!(run(&mut *backend, aside("SELECT nothing")).await.is_err());
    backend.start(aside("BEGIN")).unwrap();
    assert!(backend.start(prepared("SELECT '\0'", vec![])).is_err(), "a zero byte");
    assert!(reply(&mut *backend).await.is_ok());
    assert_eq!(backend.condition().transaction, TransactionState::Open);
}

#[tokio::test]
async fn a_reset_forgets_everything_but_prepared_statements() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    run(&mut *backend, prepared("SELECT $1::int", vec![int(1)])).await.unwrap();
    run(&mut *backend, text("SET search_path TO pg_catalog; SET timezone TO 'Europe/Berlin'"))
        .await
        .unwrap();
    run(&mut *backend, text("CREATE TEMP TABLE leftover (a int)")).await.unwrap();
    run(&mut *backend, text("BEGIN")).await.unwrap();
    let events = run(&mut *backend, Execution::Reset).await.unwrap();
    assert!(matches!(events[..], [Event::Done]), "{events:?}");
    let sql = "SELECT current_setting('search_path'), current_setting('timezone'), \
        current_setting('datestyle'), to_regclass('pg_temp.leftover')::text";
    let expected = ["\"$user\", public", "Etc/UTC", "ISO, MDY"].map(|t| Value::Text(t.into()));
    let found = rows(&run(&mut *backend, text(sql)).await.unwrap());
    assert_eq!(found[0][..3], expected);
    assert_eq!(found[0][3], Value::Null);
    assert_eq!(held(&mut *backend).await, 1);
}

#[tokio::test]
async fn a_scrub_forgets_prepared_statements_too() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    for begins in [false, true] {
        run(&mut *backend, prepared("SELECT $1::int", vec![int(1)])).await.unwrap();
        let set =
            "SET search_path TO pg_catalog; PREPARE leftover AS SELECT 1; SELECT setseed(0.5)";
        run(&mut *backend, text(set)).await.unwrap();
        if begins {
            run(&mut *backend, text("BEGIN")).await.unwrap();
            run(&mut *backend, text("SELECT nothing")).await.unwrap_err();
        }
        let events = run(&mut *backend, Execution::Scrub).await.unwrap();
        assert!(matches!(events[..], [Event::Done]), "{events:?}");
        assert_eq!(backend.condition().transaction, TransactionState::Idle);
        assert_eq!(held(&mut *backend).await, 0);
        let sql = "SELECT current_setting('search_path')";
        let found = rows(&run(&mut *backend, text(sql)).await.unwrap());
        assert_eq!(found[0][0], Value::Text("\"$user\", public".into()));
        let one = run(&mut *backend, prepared("SELECT $1::int", vec![int(1)])).await.unwrap();
        assert_eq!(rows(&one), [[Value::Int(1)]]);
    }
}

#[tokio::test]
async fn a_sign_of_life_is_only_done() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    assert!(matches!(run(&mut *backend, Execution::Ping).await.unwrap()[..], [Event::Done]));
}

fn copy(sql: &str, extended: bool) -> Execution {
    if extended { prepared(sql, vec![]) } else { text(sql) }
}

/// Starts a copy and gives it this one piece of input.
async fn copy_piece(backend: &mut dyn pando_kernel::Backend, extended: bool, input: CopyInput) {
    backend.start(copy("COPY copied FROM STDIN", extended)).unwrap();
    assert!(matches!(next(backend).await.unwrap(), Event::CopyIn(_)));
    backend.copy(input).unwrap();
    std::future::poll_fn(|cx| backend.poll_flush(cx)).await.unwrap();
}

async fn copies(extended: bool) {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    run(&mut *backend, text("CREATE TEMP TABLE copied (a int, b text)")).await.unwrap();
    copy_piece(&mut *backend, extended, CopyInput::Data("1\tx\n2\ty\n".into())).await;
    backend.copy(CopyInput::Done).unwrap();
    let events = reply(&mut *backend).await.unwrap();
    let Event::Complete(complete) = &events[0] else { panic!("{events:?}") };
    assert_eq!((&*complete.tag, complete.affected), ("COPY", Some(2)));

    let given_up = CopyInput::Fail("no more".into());
    copy_piece(&mut *backend, extended, given_up).await;
    assert_eq!(state(&reply(&mut *backend).await.unwrap_err()), "57014");

    let disliked = CopyInput::Data("no number\tx\n".into());
    copy_piece(&mut *backend, extended, disliked).await;
    assert_eq!(state(&reply(&mut *backend).await.unwrap_err()), "22P02");
    assert!(backend.copy(CopyInput::Done).is_err());

    let out = run(&mut *backend, copy("COPY copied TO STDOUT", extended)).await.unwrap();
    assert!(matches!(out[0], Event::CopyOut(_)));
    assert_eq!(&copied(&out)[..], b"1\tx\n2\ty\n");
}

/// A copy that fails before the server has looked at what comes behind the call: whether it passes over the Sync there cannot be seen.
async fn copies_that_fail_at_once(extended: bool) {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    run(&mut *backend, text("CREATE TEMP TABLE copied (a int, b text)")).await.unwrap();
    for n in 0..100 {
        backend.start(copy("COPY copied FROM STDIN (FREEZE)", extended)).unwrap();
        let Ok(first) = next(&mut *backend).await else { panic!("it does not begin") };
        assert!(matches!(first, Event::CopyIn(_)));
        if n % 3 > 0 {
            backend.copy(CopyInput::Data("1\tx\n".into())).unwrap();
            std::future::poll_fn(|cx| backend.poll_flush(cx)).await.unwrap();
        }
        if n % 3 > 1 {
            backend.copy(CopyInput::Done).unwrap();
        }
        assert_eq!(state(&reply(&mut *backend).await.unwrap_err()), "55000");
        let told = run(&mut *backend, text("SELECT 41 + 1")).await.unwrap();
        assert_eq!(rows(&told), [[Value::Int(42)]], "after copy {n}");
    }
}

#[tokio::test]
async fn what_follows_a_copy_that_fails_at_once_gets_its_own_answer() {
    copies_that_fail_at_once(false).await;
    copies_that_fail_at_once(true).await;
}

#[tokio::test]
async fn copies_go_both_ways_as_text() {
    copies(false).await;
}

#[tokio::test]
async fn copies_go_both_ways_prepared() {
    copies(true).await;
}

#[tokio::test]
async fn warnings_and_changed_settings_come_with_the_reply() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    let sql = "DO $$ BEGIN RAISE WARNING 'careful'; END $$";
    let events = run(&mut *backend, text(sql)).await.unwrap();
    let Event::Notice(notice) = &events[0] else { panic!("{events:?}") };
    assert_eq!((notice.severity.as_str(), notice.message.as_str()), ("WARNING", "careful"));
    let events = run(&mut *backend, text("SET application_name TO 'x'")).await.unwrap();
    assert!(events.iter().any(|event| matches!(event, Event::Parameter { name, value }
        if name == "application_name" && value == "x")));
}

#[tokio::test]
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
async fn a_large_result_arrives_whole_and_in_parts() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    let sql = "SELECT n, repeat('x', 1000) FROM generate_series(1, 20000) n";
    let events = run(&mut *backend, text(sql)).await.unwrap();
    let chunks: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Rows(rows) => Some(rows),
            _ => None,
        })
        .collect();
    assert!(chunks.len() > 10, "{} chunks", chunks.len());
    assert!(chunks.iter().all(|rows| rows.bytes.len() <= 1024 * 1024));
    assert_eq!(chunks.iter().map(|rows| rows.count).sum::<u32>(), 20_000);
    let last = rows(&events).pop().unwrap();
    assert_eq!(last[0], Value::Int(20_000));
}

#[tokio::test]
async fn a_row_larger_than_any_buffer_arrives() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    let events = run(&mut *backend, text("SELECT repeat('x', 5000000)")).await.unwrap();
    let Value::Text(text) = &rows(&events)[0][0] else { panic!("no text") };
    assert_eq!(text.len(), 5_000_000);
}

#[tokio::test]
async fn a_row_above_the_bound_ends_the_connection() {
    let Some(mut options) = options() else { return };
    options.max_frame = 100_000;
    let mut backend = connect(options).await;
    assert!(run(&mut *backend, text("SELECT repeat('x', 200000)")).await.is_err());
    assert!(!backend.condition().usable);
    assert_eq!(backend.condition().outstanding, 0);
}

#[tokio::test]
async fn a_running_statement_can_be_cancelled() {
    let Some(options) = options() else { return };
    let connector = PostgresConnector::new(options);
    let runtime = runtime();
    let mut backend = connector.connect(&runtime).await.unwrap();
    // Far more than the socket's buffers take: it cannot end before it is cancelled.
    backend.start(text("SELECT generate_series(1, 1000000000)")).unwrap();
    let token = backend.token();
    assert!(matches!(next(&mut *backend).await.unwrap(), Event::Columns(_)));
    connector.cancel(&runtime, token).await.unwrap();
    let error = loop {
        if let Err(error) = next(&mut *backend).await {
            break error;
        }
    };
    assert_eq!(state(&error), "57014");
    assert!(run(&mut *backend, text("SELECT 1")).await.is_ok());
}

#[tokio::test]
async fn a_killed_connection_gives_every_reply_its_error() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    backend.start(text("SELECT pg_terminate_backend(pg_backend_pid())")).unwrap();
    backend.start(text("SELECT 1")).unwrap();
    assert!(reply(&mut *backend).await.is_err());
    let error = reply(&mut *backend).await.unwrap_err();
    assert!(error.may_retry(), "{error}");
    assert!(!backend.condition().usable);
    assert_eq!(backend.condition().outstanding, 0);
    assert!(backend.start(text("SELECT 1")).is_err());
}

#[tokio::test]
async fn a_zero_byte_never_shortens_a_statement() {
    let Some(options) = options() else { return };
    let mut backend = connect(options).await;
    assert!(backend.start(text("DELETE FROM t\0 WHERE id = 1")).is_err());
    assert!(backend.start(prepared("DELETE FROM t\0 WHERE id = 1", vec![])).is_err());
    assert_eq!(backend.condition().outstanding, 0);
    assert!(run(&mut *backend, text("SELECT 1")).await.is_ok());
}

#[tokio::test]
async fn a_wrong_password_is_the_servers_error() {
    let Some(mut options) = options() else { return };
    options.password = "wrong".into();
    let error = PostgresConnector::new(options).connect(&runtime()).await.unwrap_err();
    assert_eq!(state(&error), "28P01");
}

#[tokio::test]
async fn other_authentication_methods_work_too() {
    let Some(options) = options() else { return };
    let mut backend = connect(options.clone()).await;
    let setup = "SET password_encryption TO 'md5'; DROP ROLE IF EXISTS pando_md5; \
        CREATE ROLE pando_md5 LOGIN PASSWORD 'm'";
    run(&mut *backend, text(setup)).await.unwrap();
    let mut md5 = options;
    (md5.user, md5.password) = ("pando_md5".into(), "m".into());
    // Where the server's rules ask for SCRAM an MD5 user cannot log in: the error must be clear.
    match PostgresConnector::new(md5).connect(&runtime()).await {
        Ok(mut md5) => drop(run(&mut *md5, text("SELECT 1")).await.unwrap()),
        Err(error) => assert_eq!(state(&error), "28P01"),
    }
    run(&mut *backend, text("DROP ROLE pando_md5")).await.unwrap();
}

#[tokio::test]
async fn the_catalogue_queries_are_understood() {
    use pando_kernel::dialect::{Dialect, TableColumn};
    let Some(options) = options() else { return };
    let mut backend = connect(options.clone()).await;
    let dialect: std::sync::Arc<dyn Dialect> = PostgresConnector::new(options).dialect();
    let sql = "CREATE TEMP TABLE described (id serial PRIMARY KEY, b bigint GENERATED ALWAYS AS IDENTITY, \
        name varchar(10) COLLATE \"C\" NOT NULL, other text, day date, code char(3), u uuid)";
    run(&mut *backend, text(sql)).await.unwrap();
    let query = dialect.columns_query(None, "Described");
    let found = rows(&run(&mut *backend, text(&query)).await.unwrap());
    let columns: Vec<TableColumn> =
        found.iter().map(|row| dialect.read_column(row).unwrap()).collect();
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["id", "b", "name", "other", "day", "code", "u"]);
    assert!(columns[0].primary_key && columns[0].auto_increment && !columns[0].nullable);
    assert!(columns[1].auto_increment && !columns[1].primary_key);
    assert_eq!(
        (columns[2].type_name.as_str(), columns[2].collation.as_str()),
        ("character varying(10)", "C")
    );
    assert!(!columns[3].collation.is_empty() && columns[3].nullable);
    let query = dialect.columns_query(None, "no_such_table");
    assert!(rows(&run(&mut *backend, text(&query)).await.unwrap()).is_empty());
    let query = dialect.tables_query();
    assert!(run(&mut *backend, text(&query)).await.is_ok());
}
