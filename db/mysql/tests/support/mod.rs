//! What the tests share: a runtime seam over tokio, and a driver for one connection.
#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::wildcard_enum_match_arm,
    reason = "tests only, each file uses a part of it"
)]

pub mod door;
pub mod raw;
pub mod script;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use pando_kernel::backend::{Backend, Connector, Execution};
use pando_kernel::runtime::{Address, BoxFuture, Runtime, SharedRuntime, Stream};
use pando_kernel::{Columns, Completion, Error, Event, Rows, Value};
use pando_mysql::MySqlConnector;
use pando_mysql::Options;

#[derive(Debug)]
pub struct Tokio;

impl Runtime for Tokio {
    fn connect<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            match address {
                Address::Tcp(host, port) => {
                    let stream = tokio::net::TcpStream::connect((host.as_str(), *port)).await?;
                    stream.set_nodelay(true)?;
                    Ok(Box::new(stream) as Box<dyn Stream>)
                }
                Address::Unix(path) => {
                    let stream = tokio::net::UnixStream::connect(path).await?;
                    Ok(Box::new(stream) as Box<dyn Stream>)
                }
            }
        })
    }

    /// Tokio's own, which stands still while a test has paused it.
    fn now(&self) -> std::time::Instant {
        tokio::time::Instant::now().into_std()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        tokio::spawn(task);
    }
}

pub fn runtime() -> SharedRuntime {
    Arc::new(Tokio)
}

/// Runs a test on one thread, for at most a minute.
pub fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime
        .block_on(async { tokio::time::timeout(Duration::from_secs(60), test).await })
        .expect("the test takes longer than a minute");
}

/// Ports of the real servers the environment names; says so when there is none.
pub fn servers() -> Vec<(&'static str, u16)> {
    let mut found = Vec::new();
    for name in ["MARIADB1_PORT", "MYSQL1_PORT", "MYSQL57_PORT"] {
        match std::env::var(name).ok().and_then(|port| port.parse().ok()) {
            Some(port) => found.push((name, port)),
            None => println!("skipped: {name} is not set"),
        }
    }
    found
}

pub fn settings(port: u16) -> Options {
    let mut settings = Options::new("unit", Address::Tcp("127.0.0.1".into(), port));
    settings.user = "test".into();
    settings.password = "test".into();
    settings.database = "test".into();
    settings
}

pub async fn connect(settings: Options) -> Box<dyn Backend> {
    MySqlConnector::new(settings).connect(&runtime()).await.unwrap()
}

/// One statement's reply.
#[derive(Debug, Default)]
pub struct Reply {
    pub columns: Vec<String>,
    /// What MariaDB says of their types besides.
    pub extended: Vec<Box<[u8]>>,
    pub rows: Vec<Vec<Value>>,
    pub completions: Vec<Completion>,
    pub chunks: usize,
    pub parameters: Vec<(String, String)>,
    pub described: Option<pando_kernel::Description>,
}

impl Reply {
    fn take(&mut self, columns: &Columns, rows: &Rows) -> Result<(), Error> {
        self.chunks += 1;
        let (mut count, mut fields) = (0, Vec::new());
        rows.for_each(columns, |body| {
            count += 1;
            columns.codec.fields(&columns.list, body, &mut fields)?;
            let values = fields.iter().zip(columns.list.iter()).map(|(range, column)| {
                columns.codec.value(column, range.clone().map(|range| &body[range]))
            });
            self.rows.push(values.collect::<Result<_, _>>()?);
            Ok(())
        })?;
        assert_eq!(count, rows.count);
        Ok(())
    }
}

/// Reads one execution's reply in one piece; `None` when it does not come so.
pub async fn whole(backend: &mut dyn Backend) -> Result<Option<Reply>, Error> {
    let Some(whole) = std::future::poll_fn(|cx| backend.poll_whole(cx)).await? else {
        return Ok(None);
    };
    let mut reply = Reply { completions: vec![whole.completion], ..Reply::default() };
    if let Some(columns) = &whole.columns {
        reply.columns = columns.list.iter().map(|column| column.name.clone()).collect();
        whole.rows.iter().try_for_each(|rows| reply.take(columns, rows))?;
    }
    Ok(Some(reply))
}

pub async fn event(backend: &mut dyn Backend) -> Result<Event, Error> {
    std::future::poll_fn(|cx| backend.poll_event(cx)).await
}

/// Reads one execution's reply to its end.
pub async fn reply(backend: &mut dyn Backend) -> Result<Reply, Error> {
    let mut reply = Reply::default();
    let mut columns = None;
    loop {
        match event(backend).await? {
            Event::Columns(found) => {
                reply.columns = found.list.iter().map(|column| column.name.clone()).collect();
                reply.extended = found.list.iter().map(|column| column.extended.clone()).collect();
                columns = Some(found);
            }
            Event::Rows(rows) => reply.take(columns.as_ref().unwrap(), &rows)?,
            Event::Complete(completion) => reply.completions.push(completion),
            Event::Parameter { name, value } => reply.parameters.push((name, value)),
            Event::Described(described) => reply.described = Some(described),
            Event::Done => return Ok(reply),
            other => panic!("unexpected event {other:?}"),
        }
    }
}

pub async fn text(backend: &mut dyn Backend, sql: &str) -> Result<Reply, Error> {
    backend.start(Execution::Text(sql.into())).unwrap();
    reply(backend).await
}

pub fn prepared(sql: &str, values: &[Value]) -> Execution {
    Execution::Prepared {
        sql: sql.into(),
        types: Default::default(),
        parameters: values.iter().cloned().map(pando_kernel::Parameter::made).collect(),
        formats: vec![pando_kernel::Format::Binary],
        era: 0,
    }
}

pub async fn execute(
    backend: &mut dyn Backend,
    sql: &str,
    values: &[Value],
) -> Result<Reply, Error> {
    backend.start(prepared(sql, values)).unwrap();
    reply(backend).await
}

pub fn number(error: &Error) -> u32 {
    match error.kind() {
        pando_kernel::ErrorKind::Server(server) => server.number,
        other => panic!("no server's error: {other:?}"),
    }
}
