//! The scripted unit behaves as its script says, and as the kernel's `Backend` contract says.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "test support functions")]

use std::future::poll_fn;

use bytes::Bytes;
use pando_fake::{FakeDialect, FakeRuntime, Reply, Unit, server_error, table_column};
use pando_kernel::dialect::{Language, Metadata};
use pando_kernel::session::TransactionState;
use pando_kernel::{
    Backend, CopyForm, CopyInput, Error, ErrorKind, Event, Execution, Format, Kind, Result, Value,
};

fn connect(runtime: &FakeRuntime, unit: &Unit) -> Box<dyn Backend> {
    let handle = runtime.handle();
    let connector = unit.connector();
    runtime.block_on(connector.connect(&handle)).unwrap()
}

fn reply(runtime: &FakeRuntime, backend: &mut dyn Backend) -> Result<Vec<Event>> {
    runtime.block_on(async {
        let mut events = Vec::new();
        loop {
            match poll_fn(|cx| backend.poll_event(cx)).await? {
                Event::Done => return Ok(events),
                event => events.push(event),
            }
        }
    })
}

fn run(runtime: &FakeRuntime, backend: &mut dyn Backend, sql: &str) -> Result<Vec<Event>> {
    backend.start(Execution::Text(sql.into())).unwrap();
    reply(runtime, backend)
}

fn numbers(count: i64) -> Reply {
    Reply::rows(&[("n", Kind::Int)], (0..count).map(|n| vec![Value::Int(n)]).collect())
}

#[test]
fn rows_come_in_chunks_and_only_when_pulled() {
    let (runtime, unit) = (FakeRuntime::new(), Unit::new("ds_0"));
    unit.reply("SELECT n", numbers(5));
    let mut backend = connect(&runtime, &unit);
    backend.start(Execution::Text("SELECT n".into())).unwrap();
    for _ in 0..2 {
        runtime.block_on(poll_fn(|cx| backend.poll_event(cx))).unwrap();
    }
    assert_eq!(unit.rows_sent(), 2);
    let rest = reply(&runtime, backend.as_mut()).unwrap();
    let counts: Vec<u32> = rest
        .iter()
        .filter_map(|event| if let Event::Rows(rows) = event { Some(rows.count) } else { None })
        .collect();
    assert_eq!(counts, [2, 1]);
}

#[test]
fn executions_answer_in_the_order_started_and_errors_do_not_stop_the_next() {
    let (runtime, unit) = (FakeRuntime::new(), Unit::new("ds_0"));
    unit.reply("bad", Reply::Error(server_error("42000", "no"))).reply("good", Reply::affected(3));
    let mut backend = connect(&runtime, &unit);
    for sql in ["bad", "good"] {
        backend.start(Execution::Text(sql.into())).unwrap();
    }
    assert_eq!(backend.condition().outstanding, 2);
    assert!(reply(&runtime, backend.as_mut()).is_err());
    let events = reply(&runtime, backend.as_mut()).unwrap();
    assert!(matches!(&events[..], [Event::Complete(done)] if done.affected == Some(3)));
    assert_eq!(backend.condition().outstanding, 0);
    assert_eq!(unit.statements(), ["bad", "good"]);
}

#[test]
fn an_unscripted_text_is_an_error() {
    let (runtime, unit) = (FakeRuntime::new(), Unit::new("ds_0"));
    let mut backend = connect(&runtime, &unit);
    assert!(run(&runtime, backend.as_mut(), "SELECT 1").is_err());
    assert!(run(&runtime, backend.as_mut(), "COMMIT").is_ok());
}

#[test]
fn one_time_replies_are_used_up_in_order() {
    let (runtime, unit) = (FakeRuntime::new(), Unit::new("ds_0"));
    unit.reply("x", Reply::affected(9))
        .reply_once("x", Reply::affected(1))
        .reply_once("x", Reply::affected(2));
    let mut backend = connect(&runtime, &unit);
    let seen: Vec<Option<u64>> = (0..3)
        .map(|_| match &run(&runtime, backend.as_mut(), "x").unwrap()[..] {
            [Event::Complete(done)] => done.affected,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(seen, [Some(1), Some(2), Some(9)]);
}

#[test]
fn the_transaction_state_follows_the_verbs_and_fails_where_the_dialect_says_so() {
    let dialect = FakeDialect { error_fails_transaction: true, ..FakeDialect::default() };
    let (runtime, unit) = (FakeRuntime::new(), Unit::with_dialect("ds_0", dialect));
    let mut backend = connect(&runtime, &unit);
    run(&runtime, backend.as_mut(), "BEGIN").unwrap();
    assert_eq!(backend.condition().transaction, TransactionState::Open);
    assert!(run(&runtime, backend.as_mut(), "wrong").is_err());
    assert_eq!(backend.condition().transaction, TransactionState::Failed);
    run(&runtime, backend.as_mut(), "ROLLBACK").unwrap();
    assert_eq!(backend.condition().transaction, TransactionState::Idle);
}

#[test]
fn a_hanging_statement_ends_by_cancel() {
    let (runtime, unit) = (FakeRuntime::new(), Unit::new("ds_0"));
    unit.reply("hang", Reply::Hang);
    let mut backend = connect(&runtime, &unit);
    backend.start(Execution::Text("hang".into())).unwrap();
    let mut event = Box::pin(async { poll_fn(|cx| backend.poll_event(cx)).await });
    assert!(pando_fake::poll_once(&mut event).is_pending());
    let (connector, handle) = (unit.connector(), runtime.handle());
    let token = pando_kernel::CancelToken { id: 1, secret: 0 };
    runtime.block_on(connector.cancel(&handle, token)).unwrap();
    let error = runtime.block_on(event).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Server(sent) if sent.sqlstate == "57014"));
    assert!(backend.condition().usable);
}

#[test]
fn broken_connections_are_unusable_and_new_ones_are_not() {
    let (runtime, unit) = (FakeRuntime::new(), Unit::new("ds_0"));
    let mut old = connect(&runtime, &unit);
    unit.disconnect_all();
    let mut new = connect(&runtime, &unit);
    let error = run(&runtime, old.as_mut(), "COMMIT").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unavailable { unit, .. } if unit == "ds_0"));
    assert!(!old.condition().usable);
    run(&runtime, new.as_mut(), "COMMIT").unwrap();
    drop(old);
    assert_eq!(unit.connections().open, 1);
    assert_eq!(unit.connections().opened, 2);
}

#[test]
fn copy_data_is_recorded_and_the_reply_waits_for_its_end() {
    let (runtime, unit) = (FakeRuntime::new(), Unit::new("ds_0"));
    let form = CopyForm { format: Format::Text, columns: vec![] };
    let done = pando_kernel::Completion { affected: Some(2), ..Default::default() };
    unit.reply("COPY", Reply::Events(vec![Event::CopyIn(form), Event::Complete(done)]));
    let mut backend = connect(&runtime, &unit);
    backend.start(Execution::Text("COPY".into())).unwrap();
    let first = runtime.block_on(poll_fn(|cx| backend.poll_event(cx))).unwrap();
    assert!(matches!(first, Event::CopyIn(_)));
    backend.copy(CopyInput::Data(Bytes::from_static(b"a\nb\n"))).unwrap();
    backend.copy(CopyInput::Done).unwrap();
    assert!(matches!(&reply(&runtime, backend.as_mut()).unwrap()[..], [Event::Complete(_)]));
    assert_eq!(unit.copied(), b"a\nb\n");
    assert!(backend.copy(CopyInput::Done).is_err());
}

#[test]
fn declared_tables_can_be_read_back_through_the_catalogue() {
    let (runtime, unit) = (FakeRuntime::new(), Unit::new("ds_0"));
    unit.table("t_0", vec![table_column("id", Kind::Int), table_column("name", Kind::Text)]);
    let mut backend = connect(&runtime, &unit);
    let dialect = FakeDialect::default();
    let events = run(&runtime, backend.as_mut(), &dialect.columns_query(None, "t_0")).unwrap();
    let mut names = Vec::new();
    let mut columns = None;
    for event in &events {
        match event {
            Event::Columns(list) => columns = Some(list.clone()),
            Event::Rows(rows) => {
                let columns = columns.as_ref().unwrap();
                rows.for_each(columns, |body| {
                    let mut fields = Vec::new();
                    columns.codec.fields(&columns.list, body, &mut fields)?;
                    let row: Vec<Value> = fields
                        .iter()
                        .zip(columns.list.iter())
                        .map(|(field, column)| {
                            columns.codec.value(column, field.clone().map(|range| &body[range]))
                        })
                        .collect::<Result<_>>()?;
                    let column = dialect.read_column(&row)?;
                    names.push((column.name, column.kind));
                    Ok::<(), Error>(())
                })
                .unwrap();
            }
            _ => {}
        }
    }
    assert_eq!(names, [("id".to_owned(), Kind::Int), ("name".to_owned(), Kind::Text)]);
    assert_eq!(dialect.quote("a\"b"), "\"a\"\"b\"");
}

#[test]
fn time_stands_still_until_it_is_advanced() {
    use std::time::Duration;
    let runtime = FakeRuntime::new();
    let (handle, before) = (runtime.handle(), runtime.handle().now());
    let mut sleep = handle.sleep(Duration::from_secs(5));
    runtime.advance(Duration::from_secs(4));
    assert!(pando_fake::poll_once(&mut sleep).is_pending());
    runtime.advance(Duration::from_secs(1));
    assert!(pando_fake::poll_once(&mut sleep).is_ready());
    assert_eq!(handle.now() - before, Duration::from_secs(5));
}

#[test]
fn background_tasks_run_while_another_future_is_waited_for() {
    let runtime = FakeRuntime::new();
    let handle = runtime.handle();
    let sender = std::sync::Arc::new(std::sync::Mutex::new(None));
    let shared = sender.clone();
    handle.spawn(Box::pin(async move {
        *shared.lock().unwrap() = Some(7);
    }));
    let seen = runtime.block_on(poll_fn(|cx| {
        cx.waker().wake_by_ref();
        sender.lock().unwrap().map_or(std::task::Poll::Pending, std::task::Poll::Ready)
    }));
    assert_eq!(seen, 7);
    assert_eq!(runtime.tasks(), 0);
}
