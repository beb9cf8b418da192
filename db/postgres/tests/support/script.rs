//! A server without an engine: users, and sessions that answer from a script.
#![allow(dead_code, reason = "each test program uses a part")]

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::BytesMut;
use pando_kernel::error::ErrorKind;
use pando_kernel::runtime::SharedRuntime;
use pando_kernel::session::{
    Credential, Doorway, Key, Login, Session, Settings, State, TransactionState,
};
use pando_kernel::{
    Cell, Channel, Column, Columns, Completion, CopyForm, CopyInput, CursorId, Description, Error,
    Event, Format, Kind, Native, NeutralCodec, Parameter, Prepared, Request, Result, RowCodec,
    Rows, ServerError, Value, Whole,
};
use pando_postgres::dialect::SYNTAX;
use pando_postgres::row::DataRows;
use pando_postgres::types::{FAMILY, oid};
use tokio::sync::watch;

/// What the doorway has seen.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) requests: Vec<String>,
    pub(crate) logins: Vec<Login>,
    pub(crate) cancelled: Vec<Key>,
}

#[derive(Debug)]
pub(crate) struct TestDoor {
    pub(crate) seen: Arc<Mutex<Seen>>,
    pub(crate) users: HashMap<String, Credential>,
    pub(crate) settings: Settings,
    cancel: Arc<watch::Sender<u32>>,
    stop: Arc<watch::Sender<bool>>,
}

/// A door whose sessions answer from a script.
pub(crate) fn door() -> Arc<TestDoor> {
    Arc::new(TestDoor::new())
}

impl TestDoor {
    pub(crate) fn new() -> TestDoor {
        let user = |password: &str, method: &str| Credential::of_password(password, method);
        let users =
            [("ann", user("secret", "")), ("mad", user("secret", "MD5")), ("free", user("", ""))];
        TestDoor {
            seen: Arc::default(),
            users: users.map(|(name, user)| (name.to_owned(), user)).into(),
            settings: Settings {
                tls: None,
                login_timeout: Duration::from_secs(60),
                idle_timeout: Duration::from_secs(600),
                max_message: 1 << 20,
                flush_bytes: 8 << 10,
            },
            cancel: Arc::new(watch::channel(0).0),
            stop: Arc::new(watch::channel(false).0),
        }
    }

    pub(crate) fn stop(&self) {
        self.stop.send_replace(true);
    }
}

impl Doorway for TestDoor {
    type Session = Script;

    fn credential(&self, user: &str, _host: &str, _over: &Channel) -> Credential {
        self.users.get(user).cloned().unwrap_or_else(|| Credential::of_nobody(""))
    }

    fn open(&self, login: Login) -> Result<Script> {
        if login.database.as_deref() == Some("nowhere") {
            return Err(ErrorKind::UnknownDatabase("nowhere".into()).into());
        }
        self.seen.lock().unwrap().logins.push(login);
        Ok(Script {
            seen: Arc::clone(&self.seen),
            cancel: self.cancel.subscribe(),
            events: VecDeque::new(),
            statements: pando_kernel::Statements::default(),
            cursors: HashMap::new(),
            transaction: TransactionState::Idle,
            copying: false,
            hanging: false,
        })
    }

    fn cancel(&self, key: Key) {
        self.seen.lock().unwrap().cancelled.push(key);
        self.cancel.send_modify(|count| *count += 1);
    }

    fn settings(&self) -> Settings {
        self.settings.clone()
    }

    fn runtime(&self) -> SharedRuntime {
        super::runtime()
    }

    async fn stopping(&self, _: Key) {
        let mut stop = self.stop.subscribe();
        let _ = stop.wait_for(|stop| *stop).await;
    }
}

/// A session that plays what the statement's first word says.
#[derive(Debug)]
pub(crate) struct Script {
    seen: Arc<Mutex<Seen>>,
    cancel: watch::Receiver<u32>,
    events: VecDeque<Result<Event>>,
    /// Rows that are left, and rows there were.
    cursors: HashMap<CursorId, (u32, u32)>,
    transaction: TransactionState,
    copying: bool,
    hanging: bool,
    statements: pando_kernel::Statements,
}

pub(crate) fn server_error(sqlstate: &str, message: &str) -> Error {
    Error::new(ErrorKind::Server(Box::new(ServerError {
        sqlstate: sqlstate.into(),
        message: message.into(),
        severity: "ERROR".into(),
        ..ServerError::default()
    })))
}

fn int_column(format: Format) -> Column {
    let native =
        Native { family: FAMILY, type_id: oid::INT4, length: 4, modifier: -1, ..Native::default() };
    Column { format, native, ..Column::computed("n", Kind::Int) }
}

fn int_columns(format: Format) -> Columns {
    Columns { list: [int_column(format)].into(), codec: Arc::new(DataRows) }
}

fn int_rows(format: Format, numbers: std::ops::Range<u32>) -> Rows {
    let count = numbers.len() as u32;
    let mut out = BytesMut::new();
    for number in numbers {
        let value = Value::Int(number.into());
        DataRows.write(&[int_column(format)], &[Cell::Value(&value)], &mut out).unwrap();
    }
    Rows { bytes: out.freeze(), count }
}

fn neutral() -> (Columns, Rows) {
    let list = vec![Column::computed("a", Kind::Int), Column::computed("b", Kind::Text)];
    let mut out = BytesMut::new();
    let (one, text, null) = (Value::Int(1), Value::Text("x".into()), Value::Null);
    NeutralCodec.write(&list, &[Cell::Value(&one), Cell::Value(&text)], &mut out).unwrap();
    NeutralCodec.write(&list, &[Cell::Value(&null), Cell::Value(&text)], &mut out).unwrap();
    let columns = Columns { list: list.into(), codec: Arc::new(NeutralCodec) };
    (columns, Rows { bytes: out.freeze(), count: 2 })
}

fn complete(tag: &str, affected: Option<u64>, more: bool) -> Result<Event> {
    Ok(Event::Complete(Completion {
        tag: tag.to_owned().into(),
        affected,
        more,
        ..Completion::default()
    }))
}

impl Script {
    fn note(&self, what: impl Into<String>) {
        self.seen.lock().unwrap().requests.push(what.into());
    }

    /// Queues what a statement answers.
    fn play(&mut self, sql: &str, formats: &[Format], limit: Option<(u32, CursorId)>, more: bool) {
        let mut words = sql.split_whitespace();
        let word = words.next().unwrap_or_default().to_lowercase();
        let number: u32 = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
        let format = formats.first().copied().unwrap_or_default();
        match word.as_str() {
            "" => self.events.push_back(Ok(Event::Empty)),
            "rows" => {
                self.events.push_back(Ok(Event::Columns(int_columns(format))));
                self.rows(format, 0, number, limit);
            }
            "neutral" => {
                let (columns, rows) = neutral();
                self.events.extend([Ok(Event::Columns(columns)), Ok(Event::Rows(rows))]);
                self.events.push_back(complete("SELECT", Some(2), more));
            }
            "big" => {
                self.events.push_back(Ok(Event::Columns(int_columns(format))));
                for _ in 0..number {
                    self.events.push_back(Ok(Event::Rows(int_rows(format, 0..1000))));
                }
                self.events.push_back(complete("SELECT", Some(u64::from(number) * 1000), more));
            }
            "store" => self.events.push_back(complete("INSERT", Some(1), more)),
            "begin" => {
                self.transaction = TransactionState::Open;
                self.events.push_back(complete("BEGIN", None, more));
            }
            "commit" => {
                self.transaction = TransactionState::Idle;
                self.events.push_back(complete("COMMIT", None, more));
            }
            "fail" => {
                if self.transaction == TransactionState::Open {
                    self.transaction = TransactionState::Failed;
                }
                self.events.push_back(Err(server_error("42P01", "no such thing")));
            }
            "syntax" => {
                let at = sql.trim_start().find("syntax").unwrap_or(0) as u32;
                let kind = ErrorKind::Syntax { message: "near `syntax`".into(), at };
                self.events.push_back(Err(kind.into()));
            }
            "broken" => self.events.push_back(Err(Error::internal("broken"))),
            "warn" => {
                let notice = ServerError {
                    sqlstate: "01000".into(),
                    message: "careful".into(),
                    severity: "WARNING".into(),
                    ..ServerError::default()
                };
                let parameter =
                    Event::Parameter { name: "TimeZone".into(), value: "Asia/Tokyo".into() };
                self.events.extend([Ok(Event::Notice(Box::new(notice))), Ok(parameter)]);
                self.events.push_back(complete("SET", None, more));
            }
            "copyin" => {
                self.copying = true;
                let form = CopyForm { format: Format::Text, columns: vec![Format::Text] };
                self.events.push_back(Ok(Event::CopyIn(form)));
            }
            "copyout" => {
                let form = CopyForm { format: Format::Text, columns: vec![Format::Text] };
                self.events.push_back(Ok(Event::CopyOut(form)));
                self.events.push_back(Ok(Event::CopyData("1\n".into())));
                self.events.push_back(Ok(Event::CopyData("2\n".into())));
                self.events.push_back(complete("COPY", Some(2), more));
            }
            "hang" => self.hanging = true,
            other => self.events.push_back(complete(&other.to_uppercase(), None, more)),
        }
    }

    fn rows(&mut self, format: Format, from: u32, to: u32, limit: Option<(u32, CursorId)>) {
        self.rows_of(format, (from, to), to - from, limit);
    }

    /// Completes with all rows of the statement, as a session does.
    fn rows_of(
        &mut self,
        format: Format,
        (from, to): (u32, u32),
        all: u32,
        limit: Option<(u32, CursorId)>,
    ) {
        match limit {
            Some((limit, cursor)) if to - from >= limit && limit > 0 => {
                self.events.push_back(Ok(Event::Rows(int_rows(format, from..from + limit))));
                self.cursors.insert(cursor, (to - from - limit, all));
                self.events.push_back(Ok(Event::Suspended));
            }
            _ => {
                if from < to {
                    self.events.push_back(Ok(Event::Rows(int_rows(format, from..to))));
                }
                self.events.push_back(complete("SELECT", Some(u64::from(all)), false));
            }
        }
    }

    fn copy(&mut self, input: CopyInput) -> Result<()> {
        match input {
            CopyInput::Data(data) => {
                self.note(format!("data {}", String::from_utf8_lossy(&data)));
                if &data[..] == b"bad\n" {
                    self.copying = false;
                    return Err(server_error("22P02", "bad data"));
                }
            }
            CopyInput::Done => {
                self.copying = false;
                self.note("done");
                self.events.push_back(complete("COPY", Some(1), false));
            }
            CopyInput::Fail(reason) => {
                self.copying = false;
                self.note(format!("fail {reason}"));
                return Err(server_error("57014", "COPY from stdin failed"));
            }
        }
        Ok(())
    }
}

fn shown(parameters: &[Parameter]) -> String {
    let list: Vec<String> =
        parameters.iter().map(|parameter| format!("{:?}", parameter.value)).collect();
    list.join(", ")
}

impl Session for Script {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a filter: every other variant is not what is looked for"
    )]
    async fn run(&mut self, request: Request) -> Result<()> {
        if let Request::Copy(input) = request {
            return self.copy(input);
        }
        self.events.clear();
        match request {
            Request::Query(text) => {
                self.note(format!("query {text}"));
                let spans = pando_sql::split(&text, &SYNTAX).unwrap();
                if spans.is_empty() {
                    self.play("", &[], None, false);
                }
                for (index, span) in spans.iter().enumerate() {
                    self.play(span.of(&text), &[], None, index + 1 < spans.len());
                    if matches!(self.events.back(), Some(Err(_))) {
                        break;
                    }
                }
            }
            Request::Execute(run) => {
                let parameters = shown(&run.parameters);
                self.note(format!(
                    "execute {} ({parameters}) {:?}",
                    run.prepared.sql, run.pipeline
                ));
                let limit = run.limit.zip(run.cursor);
                self.play(&run.prepared.sql.clone(), &run.result_formats, limit, false);
            }
            Request::Fetch { cursor, limit } => {
                self.note(format!("fetch {} {limit:?}", cursor.0));
                let (left, all) = self.cursors.remove(&cursor).expect("a known cursor");
                let limit = limit.map(|limit| (limit, cursor));
                self.rows_of(Format::Text, (0, left), all, limit);
            }
            Request::CloseCursor(cursor) => {
                self.cursors.remove(&cursor);
                self.note(format!("close {}", cursor.0));
            }
            Request::Sync => self.note("sync"),
            Request::Fail => self.note("fail"),
            other => panic!("unexpected {other:?}"),
        }
        Ok(())
    }

    /// Short replies come in one piece, as from the engine.
    async fn answer(&mut self, request: Request) -> Result<Option<Whole>> {
        self.run(request).await?;
        let mut whole = Whole { columns: None, rows: None, completion: Completion::default() };
        for (at, event) in self.events.iter().enumerate() {
            match event {
                Ok(Event::Columns(columns)) if at == 0 => whole.columns = Some(columns.clone()),
                Ok(Event::Rows(rows)) if at == 1 => whole.rows = Some(rows.clone()),
                Ok(Event::Complete(done)) if at + 1 == self.events.len() => {
                    whole.completion = done.clone();
                    self.events.clear();
                    return Ok(Some(whole));
                }
                _ => break,
            }
        }
        Ok(None)
    }

    async fn next(&mut self) -> Result<Option<Event>> {
        if std::mem::take(&mut self.hanging) {
            self.cancel.changed().await.expect("the door lives");
            return Err(ErrorKind::Cancelled.into());
        }
        self.events.pop_front().transpose()
    }

    async fn prepare(&mut self, sql: Arc<str>, declared: Vec<u32>) -> Result<Arc<Prepared>> {
        self.note(format!("prepare {sql} {declared:?}"));
        if sql.starts_with("syntax") {
            return Err(ErrorKind::Syntax { message: "near `syntax`".into(), at: 0 }.into());
        }
        let statement = pando_sql::parse(&sql, &SYNTAX).expect("test statements parse");
        Ok(Arc::new(Prepared::new(sql, statement, declared)))
    }

    async fn describe(&mut self, prepared: &Arc<Prepared>) -> Result<Description> {
        self.note(format!("describe {}", prepared.sql));
        if prepared.sql.starts_with("fail") {
            return Err(server_error("42P01", "no such thing"));
        }
        let native = Native { family: FAMILY, type_id: oid::INT4, ..Native::default() };
        let rows = prepared.sql.starts_with("rows");
        let description = Description {
            parameters: vec![native; prepared.statement.parameters as usize],
            columns: rows.then(|| int_columns(Format::Text)),
        };
        Ok(prepared.description.get_or_init(|| description).clone())
    }

    fn statements(&mut self) -> &mut pando_kernel::Statements {
        &mut self.statements
    }

    fn state(&self) -> State<'_> {
        State { transaction: self.transaction, autocommit: true, database: None, told: &[] }
    }

    fn key(&self) -> Key {
        Key { id: 7, secret: 0x0102_0304 }
    }
}
