//! What the tests stand on: a runtime seam over tokio, and the address of a real server.
#![allow(dead_code, reason = "each test program uses a part")]

pub(crate) mod raw;
pub(crate) mod script;
pub(crate) mod stream;

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pando_kernel::runtime::{Address, BoxFuture, Runtime, SharedRuntime, Stream};
use pando_kernel::{Backend, Columns, Connector, Error, Event, Execution, Result, Value};
use pando_postgres::{Options, PostgresConnector};

#[derive(Debug)]
pub(crate) struct TestRuntime;

impl Runtime for TestRuntime {
    fn connect<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let Address::Tcp(host, port) = address else {
                return Err(io::ErrorKind::Unsupported.into());
            };
            let stream = tokio::net::TcpStream::connect((host.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(stream) as Box<dyn Stream>)
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn now(&self) -> std::time::Instant {
        tokio::time::Instant::now().into_std()
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        tokio::spawn(task);
    }
}

pub(crate) fn runtime() -> SharedRuntime {
    Arc::new(TestRuntime)
}

/// Options for the real server, or `None` with a visible line when there is none.
pub(crate) fn options() -> Option<Options> {
    let Some(port) = std::env::var("PG1_PORT").ok().and_then(|port| port.parse().ok()) else {
        println!("skipped: PG1_PORT is not set");
        return None;
    };
    let address = Address::Tcp("127.0.0.1".into(), port);
    Some(Options::new("ds_0", address, "test", "test", "test"))
}

pub(crate) async fn connect(options: Options) -> Box<dyn Backend> {
    PostgresConnector::new(options).connect(&runtime()).await.unwrap()
}

pub(crate) async fn next(backend: &mut dyn Backend) -> Result<Event> {
    poll_fn(|cx| backend.poll_event(cx)).await
}

/// The whole of the oldest reply, with `Done` at its end.
pub(crate) async fn reply(backend: &mut dyn Backend) -> Result<Vec<Event>> {
    let mut events = Vec::new();
    loop {
        let event = next(backend).await?;
        let done = matches!(event, Event::Done);
        events.push(event);
        if done {
            return Ok(events);
        }
    }
}

pub(crate) async fn run(backend: &mut dyn Backend, execution: Execution) -> Result<Vec<Event>> {
    backend.start(execution)?;
    reply(backend).await
}

pub(crate) fn text(sql: &str) -> Execution {
    Execution::Text(sql.into())
}

/// All rows of a reply, decoded.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
pub(crate) fn rows(events: &[Event]) -> Vec<Vec<Value>> {
    let mut columns: Option<&Columns> = None;
    let mut all = Vec::new();
    for event in events {
        match event {
            Event::Columns(found) => columns = Some(found),
            Event::Rows(rows) => {
                let columns = columns.expect("columns come before rows");
                let mut fields = Vec::new();
                rows.for_each(columns, |body| {
                    columns.codec.fields(&columns.list, body, &mut fields)?;
                    let row: Result<Vec<Value>> = columns
                        .list
                        .iter()
                        .zip(&fields)
                        .map(|(column, field)| {
                            let bytes = field.clone().map(|range| &body[range]);
                            columns.codec.value(column, bytes)
                        })
                        .collect();
                    all.push(row?);
                    Ok(())
                })
                .unwrap();
            }
            _ => {}
        }
    }
    all
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
pub(crate) fn copied(events: &[Event]) -> Bytes {
    let parts = events.iter().filter_map(|event| match event {
        Event::CopyData(data) => Some(&data[..]),
        _ => None,
    });
    Bytes::from(parts.collect::<Vec<_>>().concat())
}

/// The SQLSTATE of a server's error.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a filter: every other variant is not what is looked for"
)]
pub(crate) fn state(error: &Error) -> &str {
    match error.kind() {
        pando_kernel::ErrorKind::Server(error) => &error.sqlstate,
        other => panic!("no error of the server: {other}"),
    }
}

/// How many statements the server keeps prepared for Pando on this connection.
pub(crate) async fn held(backend: &mut dyn Backend) -> i64 {
    let sql = "SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'pando%'";
    match rows(&run(backend, text(sql)).await.unwrap())[..] {
        [ref row] => match row[..] {
            [Value::Int(count)] => count,
            _ => panic!("{row:?}"),
        },
        _ => panic!("one row"),
    }
}
