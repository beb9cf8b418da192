//! The joint between a door (the wire protocol towards a client) and the engine.

use std::fmt::Debug;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::channel::Channel;
use crate::dialect::Dialect;
use crate::error::Result;
use crate::event::{Description, Event, Whole};
use crate::notifications::Notification;
use crate::request::{Prepared, Request};
use crate::runtime::{BoxFuture, SharedRuntime, TlsAcceptor, within};
use crate::statements::Statements;

/// One client's conversation, as its door sees it. A door sends one request, pulls its reply to the end, then sends the next.
/// Pulling is what moves the reply: a door that stops pulling stops the storage units from sending.
pub trait Session: Send {
    /// Starts a request. What is left of an earlier reply is dropped first.
    ///
    /// # Errors
    /// The reply is over; the session goes on unless the error is `Shutdown` or `Internal`.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the session usable only for being dropped.
    fn run(&mut self, request: Request) -> impl Future<Output = Result<()>> + Send;

    /// Starts a request as [`Session::run`] does, and gives its reply, end and all, if it comes in one piece. `None` says nothing of the reply: it is to be pulled
    /// with [`Session::next`].
    ///
    /// # Errors
    /// As [`Session::run`] and [`Session::next`].
    ///
    /// # Cancel safety
    /// As [`Session::run`].
    fn answer(&mut self, request: Request) -> impl Future<Output = Result<Option<Whole>>> + Send {
        async { self.run(request).await.map(|()| None) }
    }

    /// The next piece of the reply; `None` at its end.
    ///
    /// # Errors
    /// As [`Session::run`].
    fn next(&mut self) -> impl Future<Output = Result<Option<Event>>> + Send;

    /// What [`Session::next`] would give at once, because it has come together with the piece before: cheaper than asking for it. `None` says nothing of
    /// the reply: ask `next`, which gives the same pieces in the same order to doors that never look here.
    fn ahead(&mut self) -> Option<Result<Option<Event>>> {
        None
    }

    /// Completes when a storage unit has refused the copy under way before its data has come to an end: the next [`Request::Copy`] then fails with what it
    /// said. Never, where nobody would know.
    ///
    /// # Cancel safety
    /// May be dropped: nothing is lost.
    fn refused(&mut self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }

    /// Parses one statement for later execution. `declared` holds parameter types as far as the client gave them.
    ///
    /// # Errors
    /// `Syntax`, `Refused`, or `TransactionFailed`.
    fn prepare(
        &mut self,
        sql: Arc<str>,
        declared: Vec<u32>,
    ) -> impl Future<Output = Result<Arc<Prepared>>> + Send;

    /// What a prepared statement takes and returns, asking a storage unit when needed.
    ///
    /// # Errors
    /// The unit's own error, when the statement is wrong.
    fn describe(
        &mut self,
        prepared: &Arc<Prepared>,
    ) -> impl Future<Output = Result<Description>> + Send;

    /// Its prepared statements that have names. A door that prepares under names keeps them here, so that PREPARE, EXECUTE and DEALLOCATE know them.
    fn statements(&mut self) -> &mut Statements;

    /// Where the session stands, for status bytes and flags.
    fn state(&self) -> State<'_>;

    /// Parameters (name, value) that are others than the client knows, each told once. For doors that tell them between
    /// statements; empty in nearly all cases.
    fn changed_parameters(&mut self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// What others have told over channels since it was asked last, for doors whose client is idle; ready when there is
    /// something. Never inside a transaction.
    ///
    /// # Errors
    /// The session is to end: it cannot be known what its channels were told, or too much of it waits.
    fn poll_notified(&mut self, _cx: &mut Context<'_>) -> Poll<Result<Vec<Notification>>> {
        Poll::Pending
    }

    /// The same at the end of a request, waiting for nothing but what has been told before: a client that asks anything
    /// hears of all that was committed by then.
    ///
    /// # Errors
    /// As [`Session::poll_notified`].
    ///
    /// # Cancel safety
    /// May be dropped: nothing is lost.
    fn notified(&mut self) -> impl Future<Output = Result<Vec<Notification>>> + Send {
        async { Ok(Vec::new()) }
    }

    /// Number and secret of this session, for cancel requests.
    fn key(&self) -> Key;
}

/// Where a session stands. Borrows from it: doors ask several times in each reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State<'a> {
    /// Transaction status.
    pub transaction: TransactionState,
    /// Statements outside BEGIN commit by themselves.
    pub autocommit: bool,
    /// The current logical database.
    pub database: Option<&'a str>,
    /// What the client has set that is its door's business: see [`Variables::told`](crate::dialect::Variables::told).
    pub told: &'a [(String, String)],
}

/// Transaction status of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TransactionState {
    /// Outside a transaction.
    #[default]
    Idle,
    /// Inside one.
    Open,
    /// Inside one that failed: only its end is accepted.
    Failed,
}

/// Number and secret of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// Process-wide unique while the session lives; what KILL and `pg_backend_pid()` speak of.
    pub id: u32,
    /// Known to its client only.
    pub secret: u32,
}

/// What doors need of the server: users, sessions, cancel, TLS, limits. One for all doors.
pub trait Doorway: Send + Sync + 'static {
    /// The engine's session.
    type Session: Session;

    /// How a user who comes over this channel proves who he is. Whoever cannot be let in, because there is no such user or his channel lacks what he must
    /// have, gets a credential that no proof fits: the door plays the same exchange and refuses at its end.
    fn credential(&self, user: &str, host: &str, over: &Channel) -> Credential;

    /// Counts a client that has not logged in, for as long as the future lives. Ready when there are too many who came behind it, and it has to leave.
    fn knocks(&self, _since: Instant) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    /// A fresh session number, for doors that must tell it before the login (see [`Login::id`]); 0 means there is none to tell.
    fn announce(&self) -> u32 {
        0
    }

    /// The version of the family's servers behind a logical database, or behind all of the family's, as clients are to be told. `None` when it is not known (yet).
    fn server_version(&self, _family: &str, _database: Option<&str>) -> Option<String> {
        None
    }

    /// Opens a session for a user who has proved who he is.
    ///
    /// # Errors
    /// `UnknownDatabase`, `AccessDenied`, `TooManyConnections`, `Shutdown`.
    fn open(&self, login: Login) -> Result<Self::Session>;

    /// Cancels what the session runs now. A wrong key does nothing.
    fn cancel(&self, key: Key);

    /// Settings of the doors.
    fn settings(&self) -> Settings;

    /// The runtime seam.
    fn runtime(&self) -> SharedRuntime;

    /// Completes when the server stops or this session is killed: the door then lets the running statement end, says good-bye in its protocol and
    /// closes.
    fn stopping(&self, key: Key) -> impl Future<Output = ()> + Send;
}

/// Lets a client that is there `since` then log in: `None` when its time is over, or when it has to make room for others.
///
/// # Cancel safety
/// As safe as `login`, which is dropped where it does not end.
pub async fn entering<T>(
    doorway: &impl Doorway,
    since: Instant,
    limit: Duration,
    login: impl Future<Output = T>,
) -> Option<T> {
    let (mut login, mut leaves) = (pin!(login), doorway.knocks(since));
    let one = poll_fn(|cx| {
        if let Poll::Ready(done) = login.as_mut().poll(cx) {
            return Poll::Ready(Some(done));
        }
        leaves.as_mut().poll(cx).map(|()| None)
    });
    within(&*doorway.runtime(), limit, one).await.flatten()
}

/// Who is at the other end of a client's connection.
#[derive(Debug, Clone)]
pub struct Peer {
    /// The address without port, for messages and for users of one host.
    pub host: String,
    /// When the connection was accepted.
    pub since: Instant,
}

impl<T: Into<String>> From<T> for Peer {
    /// A client of this host that has just come.
    fn from(host: T) -> Self {
        Self { host: host.into(), since: Instant::now() }
    }
}

/// How a user proves who he is.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    /// What it takes.
    pub proof: Proof,
    /// Authentication method asked for in the configuration, upper-cased (`MD5`, `SCRAM_SHA_256`, `NATIVE`, `CACHING_SHA2`, …); empty is the door's default.
    pub method: String,
}

/// What it takes to be let in.
#[derive(Clone, PartialEq, Eq)]
pub enum Proof {
    /// This password, in plain; empty means none is needed.
    Password(String),
    /// Nothing more: the channel's certificate is the proof.
    Given,
    /// Nothing is enough.
    Impossible,
}

impl Credential {
    /// That of a user with this password.
    pub fn of_password(password: impl Into<String>, method: impl Into<String>) -> Self {
        Self { proof: Proof::Password(password.into()), method: method.into() }
    }

    /// That of somebody who is not let in.
    pub fn of_nobody(method: impl Into<String>) -> Self {
        Self { proof: Proof::Impossible, method: method.into() }
    }

    /// The password that has to be shown; `None` where none would do.
    pub fn password(&self) -> Option<&str> {
        match &self.proof {
            Proof::Password(password) => Some(password),
            Proof::Given | Proof::Impossible => None,
        }
    }
}

impl Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credential").field("method", &self.method).finish_non_exhaustive()
    }
}

/// Who opens a session, and with what.
#[derive(Debug, Clone, Default)]
pub struct Login {
    /// The user.
    pub user: String,
    /// The client's address, for messages.
    pub host: String,
    /// The logical database, when one was named.
    pub database: Option<String>,
    /// The databases the user may see; `None` means every one.
    pub databases: Option<Vec<String>>,
    /// Whether the user may change the configuration and see all of it.
    pub is_administrator: bool,
    /// The family of the door's language: `Language::family`.
    pub family: &'static str,
    /// The door's language: that of databases without storage units, and of a session that stands in none. `None` lets in where a database speaks only.
    pub language: Option<Arc<dyn Dialect>>,
    /// Session variables given at start-up (`application_name`, `client_encoding`, …): set as SET would.
    pub variables: Vec<(String, String)>,
    /// The client wants matched instead of changed rows counted.
    pub found_rows: bool,
    /// The number from [`Doorway::announce`] that the client was told and that the session must get; 0 lets the engine choose.
    pub id: u32,
}

/// Settings of the doors.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Secures accepted streams; `None` refuses TLS.
    pub tls: Option<Arc<dyn TlsAcceptor>>,
    /// Time for start-up and login.
    pub login_timeout: Duration,
    /// A session idle for so long is closed.
    pub idle_timeout: Duration,
    /// Largest message of a client, in bytes.
    pub max_message: usize,
    /// A reply is written out when so many bytes wait.
    pub flush_bytes: usize,
}
