//! A runtime seam over tokio, real servers by their ports, and a relay that can be cut or made to swallow everything.
#![allow(dead_code, reason = "each test program uses a part")]

use std::future::poll_fn;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pando_health::{Observation, Probed, Prober, Seen, Settings, Tell};
use pando_kernel::health::Vitals;
use pando_kernel::runtime::{Address, BoxFuture, Runtime, SharedRuntime, Stream};
use pando_kernel::{Connector, Event, Execution};
use pando_mysql::MySqlConnector;
use pando_postgres::PostgresConnector;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

#[derive(Debug)]
pub(crate) struct Tokio;

impl Runtime for Tokio {
    fn connect<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let Address::Tcp(host, port) = address else {
                return Err(io::ErrorKind::Unsupported.into());
            };
            let stream = TcpStream::connect((host.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(stream) as Box<dyn Stream>)
        })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        tokio::spawn(task);
    }
}

pub(crate) fn runtime() -> SharedRuntime {
    Arc::new(Tokio)
}

/// Runs a test on one thread, for at most three minutes.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let limit = Duration::from_secs(180);
    runtime.block_on(async { tokio::time::timeout(limit, test).await }).unwrap();
}

/// The port of a server, or `None` with a visible line when there is none.
pub(crate) fn port(name: &str) -> Option<u16> {
    let port = std::env::var(name).ok().and_then(|port| port.parse().ok());
    if port.is_none() {
        println!("skipped: {name} is not set");
    }
    port
}

pub(crate) struct Login<'a> {
    pub(crate) user: &'a str,
    pub(crate) password: &'a str,
    pub(crate) database: &'a str,
}

pub(crate) const TEST: Login<'static> = Login { user: "test", password: "test", database: "test" };

pub(crate) fn postgres(port: u16, login: &Login<'_>) -> Arc<dyn Connector> {
    let address = Address::Tcp("127.0.0.1".into(), port);
    let Login { user, password, database } = *login;
    let options = pando_postgres::Options::new("ds_0", address, user, password, database);
    Arc::new(PostgresConnector::new(options))
}

pub(crate) fn mysql(port: u16, login: &Login<'_>) -> Arc<dyn Connector> {
    let address = Address::Tcp("127.0.0.1".into(), port);
    let mut settings = pando_mysql::Options::new("ds_0", address);
    settings.user = login.user.into();
    settings.password = login.password.into();
    settings.database = login.database.into();
    Arc::new(MySqlConnector::new(settings))
}

/// Runs statements one after the other.
pub(crate) async fn execute(connector: &Arc<dyn Connector>, statements: &[&str]) {
    let mut backend = connector.connect(&runtime()).await.unwrap();
    for sql in statements {
        backend.start(Execution::Text((*sql).into())).unwrap();
        while !matches!(poll_fn(|cx| backend.poll_event(cx)).await.unwrap(), Event::Done) {}
    }
}

/// A prober of one unit and what it tells.
pub(crate) struct Watched {
    _prober: Prober,
    told: mpsc::UnboundedReceiver<Observation>,
}

impl Watched {
    pub(crate) fn new(connector: Arc<dyn Connector>) -> Self {
        let (into, told) = mpsc::unbounded_channel();
        let tell: Tell = Arc::new(move |observation| drop(into.send(observation)));
        let settings = Settings {
            interval: Duration::from_millis(100),
            timeout: Duration::from_millis(1500),
            ..Settings::default()
        };
        let units = vec![Probed { unit: "ds_0".into(), connector }];
        Self { _prober: Prober::start(&runtime(), settings, units, &tell), told }
    }

    /// Waits for the next answer.
    pub(crate) async fn answer(&mut self) -> Vitals {
        loop {
            if let Seen::Answers(vitals) = self.told.recv().await.unwrap().seen {
                return *vitals;
            }
        }
    }

    /// Waits for the next failure.
    pub(crate) async fn silence(&mut self) -> String {
        loop {
            if let Seen::Silent(why) = self.told.recv().await.unwrap().seen {
                return why;
            }
        }
    }
}

/// What a relay does with what passes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Mode {
    Pass,
    /// Connections end, and new ones as soon as they come.
    Cut,
    /// Connections stay, and nothing comes through.
    Swallow,
}

/// Stands between a connector and a server.
pub(crate) struct Relay {
    pub(crate) port: u16,
    mode: watch::Sender<Mode>,
    clients: Arc<Mutex<usize>>,
}

impl Relay {
    pub(crate) async fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (mode, watched) = watch::channel(Mode::Pass);
        let clients = Arc::new(Mutex::new(0));
        let count = Arc::clone(&clients);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if *watched.borrow() == Mode::Cut {
                    continue;
                }
                *count.lock().unwrap() += 1;
                let server = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
                let (client, server) = (client.into_split(), server.into_split());
                tokio::spawn(pass(client.0, server.1, watched.clone()));
                tokio::spawn(pass(server.0, client.1, watched.clone()));
            }
        });
        Self { port, mode, clients }
    }

    pub(crate) fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }

    /// Connections that came through so far.
    pub(crate) fn clients(&self) -> usize {
        *self.clients.lock().unwrap()
    }
}

async fn pass(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut mode: watch::Receiver<Mode>,
) {
    let mut buffer = [0; 4096];
    loop {
        tokio::select! {
            changed = mode.changed() => {
                if changed.is_err() || *mode.borrow() == Mode::Cut {
                    return;
                }
            }
            read = from.read(&mut buffer) => match read {
                Ok(count) if count > 0 => {
                    if *mode.borrow() == Mode::Pass && to.write_all(&buffer[..count]).await.is_err() {
                        return;
                    }
                }
                _ => return,
            },
        }
    }
}
