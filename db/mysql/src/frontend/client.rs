//! The command loop of one client.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use pando_kernel::runtime::Idle;
use pando_kernel::session::{Doorway, Session, Settings, State};
use pando_kernel::{Error, ErrorKind, Request};

use super::Door;
use super::charset::Charsets;
use super::end::End;
use super::login::{Entered, Facts};
use super::reply::Form;
use super::statements::Statements;
use super::wait::{Next, next};
use super::wire::Wire;
use crate::codec::{Capabilities, Command};
use crate::dialect::{IDLE, latin1_collation};
use crate::error::ClientError;
use crate::types::FAMILY;

/// One client and its session.
pub(super) struct Client<D: Doorway> {
    pub(super) door: Door<D>,
    pub(super) settings: Settings,
    pub(super) wire: Wire,
    pub(super) session: D::Session,
    pub(super) facts: Facts,
    pub(super) statements: Statements,
    /// The client may send several statements in one text.
    pub(super) several: bool,
    /// The text under way has more to it than white space: a comment alone is no error, nothing at all is.
    pub(super) says_something: bool,
    /// What the client was last told about the session.
    pub(super) told: Told,
}

/// What a client knows of its session.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) autocommit: bool,
    pub(super) database: Option<String>,
}

impl Told {
    fn of(state: State<'_>) -> Self {
        Self { autocommit: state.autocommit, database: state.database.map(str::to_owned) }
    }

    /// The client has been told how the session stands.
    pub(super) fn update(&mut self, state: State<'_>) {
        if self.database.as_deref() != state.database {
            self.database = state.database.map(str::to_owned);
        }
        self.autocommit = state.autocommit;
    }
}

impl<D: Doorway> Client<D> {
    pub(super) fn new(door: Door<D>, entered: Entered<D::Session>, settings: Settings) -> Self {
        let Entered { wire, session, facts } = entered;
        Self {
            several: facts.capabilities.has(Capabilities::MULTI_STATEMENTS),
            told: Told::of(session.state()),
            says_something: false,
            statements: Statements::new(settings.max_message),
            door,
            settings,
            wire,
            session,
            facts,
        }
    }

    /// Ends the session and gives the connection away.
    pub(super) fn into_wire(self) -> (Wire, Facts) {
        (self.wire, self.facts)
    }

    /// Serves commands until one side ends it.
    pub(super) async fn serve(&mut self) -> End {
        let doorway = Arc::clone(&self.door.doorway);
        let mut stopping = pin!(doorway.stopping(self.session.key()));
        let mut idle = Idle::new(doorway.runtime(), self.settings.idle_timeout);
        loop {
            self.wire.input.expect(0);
            idle.limit(self.may_be_idle());
            let packet = match next(&mut self.wire, &mut idle, stopping.as_mut()).await {
                Ok(Next::Packet(packet)) => packet,
                Ok(Next::Refused) => {
                    return self.wire.last_words(&ClientError::of(&ErrorKind::Shutdown)).await;
                }
                Ok(Next::Idle) => return self.send_away().await,
                Ok(Next::Stopping) => {
                    return self.last_words(&ClientError::of(&ErrorKind::Shutdown)).await;
                }
                Err(end) => return end,
            };
            if let Err(end) = self.obey(packet.payload).await {
                return end;
            }
            if let Err(end) = self.wire.flush().await {
                return end;
            }
        }
    }

    /// How long the client may be idle: what is configured, or what it has set, if that is less.
    fn may_be_idle(&self) -> Duration {
        let mut told = self.session.state().told.iter();
        let own = told.find(|(name, _)| name == IDLE).and_then(|(_, seconds)| seconds.parse().ok());
        own.map_or(self.settings.idle_timeout, |seconds| {
            Duration::from_secs(seconds).min(self.settings.idle_timeout)
        })
    }

    /// The client was idle for too long. MariaDB closes the connection without a word.
    async fn send_away(&mut self) -> End {
        let database = self.session.state().database;
        let version = self.door.doorway.server_version(FAMILY, database);
        if version.is_some_and(|version| version.contains("MariaDB")) {
            return End::Told("it was idle for too long".to_owned());
        }
        self.last_words(&too_long()).await
    }

    /// Good-bye of our own accord: the client is not waiting for an answer, so it counts from 0.
    async fn last_words(&mut self, error: &ClientError<'_>) -> End {
        self.wire.output.restart(0);
        self.wire.last_words(error).await
    }

    async fn obey(&mut self, payload: Bytes) -> Result<(), End> {
        let command = match Command::decode(&payload, self.facts.capabilities) {
            Ok(command) => command,
            Err(fault) => {
                let error = ClientError::new(1835, b"HY000", fault.to_string());
                return Err(self.wire.last_words(&error).await);
            }
        };
        self.door.counters.questions.fetch_add(1, Ordering::Relaxed);
        match command {
            Command::Quit => Err(End::Quit),
            Command::Query(query) => self.query(query.text).await,
            Command::Execute(head) => self.execute(&payload, head).await,
            Command::Prepare(text) => self.prepare(text).await,
            Command::Fetch { statement, rows } => self.fetch(statement, rows).await,
            Command::Close(statement) => self.close(statement).await,
            Command::Reset(statement) => self.reset_statement(statement).await,
            Command::SendLongData { statement, parameter, data } => {
                self.statements.long_data(statement, parameter, data);
                Ok(())
            }
            Command::InitDb(name) => match self.wire.charsets.client.read(name) {
                Some(name) => self.run(Request::Use(name.into_owned()), Form::Text).await,
                None => self.fail(&unknown_database(name)),
            },
            Command::FieldList { table, pattern } => self.field_list(table, pattern).await,
            Command::ProcessKill(id) => {
                self.run(Request::Query(format!("KILL {id}").into()), Form::Text).await
            }
            Command::ResetConnection => {
                self.statements.clear();
                self.several = self.facts.capabilities.has(Capabilities::MULTI_STATEMENTS);
                Box::pin(self.reset()).await
            }
            Command::ChangeUser(_) => Err(End::ChangeUser(payload.clone())),
            Command::ProcessInfo => {
                self.run(Request::Query("SHOW PROCESSLIST".into()), Form::Text).await
            }
            Command::Debug => {
                tracing::debug!("a client asks for what is going on");
                self.end_of_rows(0);
                Ok(())
            }
            Command::SetOption(option) => self.set_option(option),
            Command::Statistics => self.statistics(),
            Command::Ping => self.ok(),
            Command::Unknown(_) => self.fail(&ClientError::new(1047, b"08S01", "Unknown command")),
        }
    }

    /// Begins anew as behind the login; what the client speaks is still what its library knows.
    async fn reset(&mut self) -> Result<(), End> {
        self.wire.charsets = Charsets::default();
        let Some(collation) = latin1_collation(self.facts.collation) else {
            return self.run(Request::Reset, Form::Text).await;
        };
        if let Err(error) = self.run_quietly(Request::Reset).await {
            return self.fail_with(error).await;
        }
        let names = format!("SET NAMES latin1 COLLATE {collation}");
        self.run(Request::Query(names.into()), Form::Text).await
    }

    pub(super) async fn run_quietly(&mut self, request: Request) -> Result<(), Error> {
        self.session.run(request).await?;
        while self.session.next().await?.is_some() {}
        Ok(())
    }

    /// Answers with an error and goes on.
    pub(super) fn fail(&mut self, error: &ClientError<'_>) -> Result<(), End> {
        self.wire.error(error);
        Ok(())
    }

    /// Answers with the session's error; some end the connection.
    pub(super) async fn fail_with(&mut self, error: Error) -> Result<(), End> {
        let told = ClientError::of(error.kind());
        let ends = matches!(
            error.kind(),
            ErrorKind::Shutdown | ErrorKind::Internal(_) | ErrorKind::Closed
        );
        if !ends {
            return self.fail(&told);
        }
        tracing::debug!(%error, "a session ends with an error");
        Err(self.wire.last_words(&told).await)
    }

    fn set_option(&mut self, option: u16) -> Result<(), End> {
        match option {
            0 => self.several = true,
            1 => self.several = false,
            _ => return self.fail(&ClientError::new(1047, b"08S01", "Unknown command")),
        }
        self.end_of_rows(0);
        Ok(())
    }

    fn statistics(&mut self) -> Result<(), End> {
        let counters = &self.door.counters;
        let now = self.door.doorway.runtime().now();
        let uptime = now.saturating_duration_since(counters.opened).as_secs();
        let questions = counters.questions.load(Ordering::Relaxed);
        let text = format!(
            "Uptime: {uptime}  Threads: {}  Questions: {questions}  Slow queries: 0  Opens: 0  \
             Flush tables: 0  Open tables: 0  Queries per second avg: {:.3}",
            counters.clients.load(Ordering::Relaxed),
            questions as f64 / uptime.max(1) as f64
        );
        self.wire.output.payload(text.as_bytes());
        Ok(())
    }
}

/// `ER_CLIENT_INTERACTION_TIMEOUT`.
fn too_long() -> ClientError<'static> {
    ClientError::new(
        4031,
        b"HY000",
        "The client was disconnected by the server because of inactivity. See wait_timeout and \
         interactive_timeout for configuring this behavior.",
    )
}

fn unknown_database(name: &[u8]) -> ClientError<'static> {
    let name = String::from_utf8_lossy(name);
    ClientError::new(1049, b"42000", format!("Unknown database '{name}'"))
}
