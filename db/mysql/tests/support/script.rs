//! A server without an engine: users, settings, and sessions that answer from a script.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use bytes::BytesMut;
use pando_kernel::error::Result;
use pando_kernel::runtime::{Address, BoxFuture, Runtime, SharedRuntime, Stream, TlsAcceptor};
use pando_kernel::session::{
    Credential, Doorway, Key, Login, Proof, Session, Settings, State, TransactionState,
};
use pando_kernel::{
    Cell, Channel, ClientTls, Column, Columns, Completion, CopyInput, CursorId, Description, Error,
    ErrorKind, Event, Execute, Kind, Native, NeutralCodec, Prepared, Request, Rows, Secured,
    ServerError, Value,
};
use pando_mysql::Door;
use pando_mysql::dialect::SYNTAX;
use tokio::io::DuplexStream;
use tokio::sync::watch;

use super::Tokio;

/// The server the doors open onto.
#[derive(Debug)]
pub struct House {
    pub settings: Settings,
    pub stop: watch::Sender<bool>,
    /// Rows pulled out of all sessions.
    pub pulled: AtomicUsize,
    /// What sessions were asked for besides the script.
    pub seen: Mutex<Vec<String>>,
    pub found_rows: Mutex<Vec<bool>>,
    /// What the servers behind call themselves, once that is known.
    pub version: OnceLock<String>,
}

impl House {
    pub fn new() -> Arc<Self> {
        Self::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut Settings)) -> Arc<Self> {
        let mut settings = Settings {
            tls: None,
            login_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(60),
            max_message: 64 << 20,
            flush_bytes: 16 << 10,
        };
        change(&mut settings);
        Arc::new(Self {
            settings,
            stop: watch::Sender::new(false),
            pulled: AtomicUsize::new(0),
            seen: Mutex::default(),
            found_rows: Mutex::default(),
            version: OnceLock::new(),
        })
    }

    /// A client's end of a connection to a new door.
    pub fn enter(self: &Arc<Self>, buffer: usize) -> DuplexStream {
        let (client, server) = tokio::io::duplex(buffer);
        let door = Door::new(Arc::clone(self));
        tokio::spawn(async move { door.serve(Box::new(server), "10.0.0.9".into()).await });
        client
    }

    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

impl Doorway for House {
    type Session = Script;

    fn credential(&self, user: &str, _host: &str, over: &Channel) -> Credential {
        let (password, method) = match user {
            "native" => ("secret", "NATIVE"),
            "sha2" => ("secret", "CACHING_SHA2"),
            "any" | "full" | "down" => ("secret", ""),
            "open" => ("", ""),
            "certified" if over.is_secured => {
                return Credential { proof: Proof::Given, method: String::new() };
            }
            "veteran" => return Credential::of_nobody("NATIVE"),
            _ => return Credential::of_nobody(""),
        };
        Credential::of_password(password, method)
    }

    fn announce(&self) -> u32 {
        77
    }

    fn server_version(&self, _family: &str, _database: Option<&str>) -> Option<String> {
        self.version.get().cloned()
    }

    fn open(&self, login: Login) -> Result<Script> {
        self.found_rows.lock().unwrap().push(login.found_rows);
        match (login.user.as_str(), login.database.as_deref()) {
            ("full", _) => Err(ErrorKind::TooManyConnections.into()),
            (_, Some("nowhere")) => Err(ErrorKind::UnknownDatabase("nowhere".into()).into()),
            _ => Ok(Script::new(login)),
        }
    }

    fn cancel(&self, _key: Key) {
        self.seen.lock().unwrap().push("cancel".into());
    }

    fn settings(&self) -> Settings {
        self.settings.clone()
    }

    fn runtime(&self) -> SharedRuntime {
        Arc::new(Tokio)
    }

    async fn stopping(&self, _: Key) {
        let mut stop = self.stop.subscribe();
        let _ = stop.wait_for(|stop| *stop).await;
    }
}

/// A runtime whose connections lead to the doors of a house.
#[derive(Debug)]
pub struct Inside(pub Arc<House>);

impl Runtime for Inside {
    fn connect<'a>(&'a self, _address: &'a Address) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async { Ok(Box::new(self.0.enter(64 << 10)) as Box<dyn Stream>) })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        tokio::spawn(task);
    }

    fn secure<'a>(
        &'a self,
        stream: Box<dyn Stream>,
        _host: &'a str,
        _tls: &'a ClientTls,
    ) -> BoxFuture<'a, io::Result<Secured>> {
        let channel = Channel { is_secured: true, ..Channel::default() };
        Box::pin(async { Ok(Secured { stream, channel }) })
    }
}

/// TLS that changes nothing: what matters here is what happens before and after it.
#[derive(Debug)]
pub struct Clear;

impl TlsAcceptor for Clear {
    fn accept(&self, stream: Box<dyn Stream>) -> BoxFuture<'static, io::Result<Secured>> {
        let channel = Channel { is_secured: true, ..Channel::default() };
        Box::pin(async { Ok(Secured { stream, channel }) })
    }
}

/// A session that answers from a script.
#[derive(Debug)]
pub struct Script {
    transaction: TransactionState,
    autocommit: bool,
    database: Option<String>,
    id: u32,
    events: VecDeque<Result<Event>>,
    cursor: Option<(CursorId, i64)>,
    file: Vec<u8>,
    hangs: bool,
    told: Vec<(String, String)>,
    statements: pando_kernel::Statements,
}

const NUMBERS: i64 = 5;

fn columns(names: &[(&str, Kind)]) -> Columns {
    let list = names.iter().map(|(name, kind)| Column::computed(*name, *kind)).collect();
    Columns { list, codec: Arc::new(NeutralCodec) }
}

fn rows(columns: &Columns, rows: &[Vec<Value>]) -> Event {
    let mut out = BytesMut::new();
    for row in rows {
        let cells: Vec<_> = row.iter().map(Cell::Value).collect();
        columns.codec.write(&columns.list, &cells, &mut out).unwrap();
    }
    Event::Rows(Rows { bytes: out.freeze(), count: rows.len() as u32 })
}

fn complete(affected: u64) -> Event {
    Event::Complete(Completion { affected: Some(affected), ..Completion::default() })
}

fn kind_of(value: &Value) -> Kind {
    match value {
        Value::Int(_) => Kind::Int,
        Value::UInt(_) => Kind::UInt,
        Value::Float(_) => Kind::Float,
        Value::Decimal(_) => Kind::Decimal,
        Value::Bytes(_) => Kind::Bytes,
        Value::Bool(_) => Kind::Bool,
        Value::Null | Value::Text(_) => Kind::Text,
    }
}

impl Script {
    fn new(login: Login) -> Self {
        Self {
            transaction: TransactionState::Idle,
            statements: pando_kernel::Statements::default(),
            autocommit: true,
            database: login.database,
            id: login.id,
            events: VecDeque::new(),
            cursor: None,
            file: Vec::new(),
            hangs: false,
            told: Vec::new(),
        }
    }

    fn push(&mut self, event: Event) {
        self.events.push_back(Ok(event));
    }

    fn statement(&mut self, sql: &str) {
        let (word, rest) = sql.split_once(' ').unwrap_or((sql, ""));
        match word {
            "SELECT" => {
                let columns = columns(&[("text", Kind::Text), ("n", Kind::Int)]);
                let row = vec![Value::Text(rest.to_owned()), Value::Int(rest.len() as i64)];
                let event = rows(&columns, &[row]);
                self.push(Event::Columns(columns));
                self.push(event);
                self.push(complete(1));
            }
            "ROWS" => {
                let columns = columns(&[("x", Kind::Text)]);
                let count: usize = rest.parse().unwrap();
                let row = vec![Value::Text("x".repeat(1000))];
                let event = rows(&columns, &[row]);
                self.push(Event::Columns(columns));
                for _ in 0..count {
                    self.push(event.clone());
                }
                self.push(complete(count as u64));
            }
            "UPDATE" => self.push(Event::Complete(Completion {
                affected: Some(3),
                last_insert_id: 9,
                warnings: 2,
                info: "Rows matched: 3  Changed: 3  Warnings: 2".into(),
                ..Completion::default()
            })),
            "SET" if rest.starts_with("wait_timeout = ") => {
                let (name, seconds) = rest.split_once(" = ").unwrap();
                self.told = vec![(name.to_owned(), seconds.to_owned())];
                self.push(complete(0));
            }
            "SET" => {
                self.autocommit = rest != "autocommit=0";
                let (name, value) = ("time_zone".into(), "+01:00".into());
                self.push(Event::Parameter { name, value });
                self.push(complete(0));
            }
            "BEGIN" => {
                self.transaction = TransactionState::Open;
                self.push(complete(0));
            }
            "LOAD" => self.push(Event::SendFile("data.csv".into())),
            "FAIL" => self.events.push_back(Err(ErrorKind::Server(Box::new(ServerError {
                number: 1062,
                sqlstate: "23000".into(),
                message: "Duplicate entry".into(),
                ..ServerError::default()
            }))
            .into())),
            "STOP" => self.events.push_back(Err(ErrorKind::Shutdown.into())),
            "EMPTY" => self.push(Event::Empty),
            "HANG" => self.hangs = true,
            "NOTHING" => {}
            _ => {
                let message = format!("near '{sql}'");
                let error: Error = ErrorKind::Syntax { message, at: 0 }.into();
                self.events.push_back(Err(error));
            }
        }
    }

    fn query(&mut self, text: &str) {
        let statements: Vec<_> = text.split(';').map(str::trim).filter(|s| !s.is_empty()).collect();
        if statements.is_empty() {
            self.push(Event::Empty);
        }
        for (index, sql) in statements.iter().enumerate() {
            self.statement(sql);
            if let Some(Ok(Event::Complete(completion))) = self.events.back_mut() {
                completion.more = index + 1 < statements.len();
            }
        }
    }

    fn execute(&mut self, execute: Execute) {
        let sql = &*execute.prepared.sql;
        if sql.contains("numbers") {
            let columns = columns(&[("n", Kind::Int)]);
            self.push(Event::Columns(columns));
            self.cursor = execute.cursor.map(|id| (id, 0));
            self.numbers(0, execute.limit);
            return;
        }
        if !sql.starts_with("SELECT") {
            self.push(complete(1));
            return;
        }
        let values: Vec<_> = execute.parameters.into_iter().map(|given| given.value).collect();
        let names: Vec<_> = values.iter().map(|value| ("p", kind_of(value))).collect();
        let columns = columns(&names);
        let event = rows(&columns, &[values]);
        self.push(Event::Columns(columns));
        self.push(event);
        self.push(complete(1));
    }

    fn numbers(&mut self, from: i64, limit: Option<u32>) {
        let to = limit.map_or(NUMBERS, |limit| from + i64::from(limit)).min(NUMBERS);
        let columns = columns(&[("n", Kind::Int)]);
        if to > from {
            let list: Vec<_> = (from..to).map(|n| vec![Value::Int(n)]).collect();
            let event = rows(&columns, &list);
            self.push(event);
        }
        let asked = limit.map_or(i64::MAX, |limit| from + i64::from(limit));
        if asked <= NUMBERS {
            self.cursor = self.cursor.map(|(id, _)| (id, to));
            self.push(Event::Suspended);
        } else {
            self.cursor = None;
            self.push(complete(to as u64));
        }
    }
}

thread_local! {
    /// The house whose test runs on this thread, for counting.
    pub static HOUSE: std::cell::RefCell<Option<Arc<House>>> = const { std::cell::RefCell::new(None) };
}

fn house(note: impl FnOnce(&House)) {
    HOUSE.with_borrow(|house| house.as_deref().map(note));
}

impl Session for Script {
    async fn run(&mut self, request: Request) -> Result<()> {
        if !matches!(request, Request::Copy(_)) {
            self.events.clear();
        }
        match request {
            Request::Query(text) => {
                house(|house| house.seen.lock().unwrap().push(text.to_string()));
                if &*text == "WAIT" {
                    std::future::pending::<()>().await;
                }
                self.query(&text);
            }
            Request::Execute(execute) => self.execute(execute),
            Request::Fetch { cursor, limit } => match self.cursor {
                Some((id, at)) if id == cursor => self.numbers(at, limit),
                _ => return Err(ErrorKind::UnknownStatement("cursor".into()).into()),
            },
            Request::CloseCursor(_) => self.cursor = None,
            Request::Copy(CopyInput::Data(data)) => {
                if data.starts_with(b"bad") {
                    return Err(ErrorKind::Value("a bad line".into()).into());
                }
                self.file.extend_from_slice(&data);
            }
            Request::Copy(CopyInput::Done) => {
                let length = self.file.len() as u64;
                self.push(complete(length));
            }
            Request::Copy(CopyInput::Fail(why)) => {
                self.events.push_back(Err(ErrorKind::Value(why).into()));
            }
            Request::Sync | Request::Fail => {}
            Request::Use(name) => {
                if name == "nowhere" {
                    return Err(ErrorKind::UnknownDatabase(name).into());
                }
                self.database = Some(name);
                self.push(complete(0));
            }
            Request::Reset => {
                self.transaction = TransactionState::Idle;
                self.push(complete(0));
            }
            Request::Fields { table } => {
                if table != "t" {
                    return Err(ErrorKind::UnknownTable(table).into());
                }
                self.push(Event::Columns(columns(&[("id", Kind::Int), ("name", Kind::Text)])));
                self.push(complete(0));
            }
        }
        Ok(())
    }

    async fn next(&mut self) -> Result<Option<Event>> {
        if self.hangs {
            std::future::pending::<()>().await;
        }
        let event = self.events.pop_front().transpose();
        if matches!(event, Ok(Some(Event::Rows(_)))) {
            house(|house| {
                house.pulled.fetch_add(1, Ordering::Relaxed);
            });
        }
        event
    }

    async fn prepare(&mut self, sql: Arc<str>, declared: Vec<u32>) -> Result<Arc<Prepared>> {
        let statement = pando_sql::parse(&sql, &SYNTAX)
            .map_err(|_| ErrorKind::Syntax { message: format!("near '{sql}'"), at: 0 })?;
        Ok(Arc::new(Prepared::new(sql, statement, declared)))
    }

    async fn describe(&mut self, prepared: &Arc<Prepared>) -> Result<Description> {
        let parameters = vec![Native::default(); prepared.sql.matches('?').count()];
        let columns = prepared.sql.starts_with("SELECT").then(|| columns(&[("p", Kind::Text)]));
        Ok(Description { parameters, columns })
    }

    fn statements(&mut self) -> &mut pando_kernel::Statements {
        &mut self.statements
    }

    fn state(&self) -> State<'_> {
        State {
            transaction: self.transaction,
            autocommit: self.autocommit,
            database: self.database.as_deref(),
            told: &self.told,
        }
    }

    fn key(&self) -> Key {
        Key { id: self.id, secret: 0 }
    }
}
