//! The one error of the workspace: what happened, on whose side, and whether trying again may help.

use std::fmt;

/// Result with the workspace's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Whose fault or domain it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The client sent something wrong, or went away.
    Client,
    /// Pando itself: planning, merging, configuration.
    Engine,
    /// A storage unit answered with an error or could not be reached.
    Unit,
}

/// An error a database server sent, as it sent it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerError {
    /// The vendor's number; 0 where the vendor has none.
    pub number: u32,
    /// SQLSTATE, five characters.
    pub sqlstate: String,
    /// The message.
    pub message: String,
    /// Severity as sent (`ERROR`, `FATAL`, `NOTICE`, …); empty where the vendor has none.
    pub severity: String,
    /// Further fields by their protocol letter (detail, hint, position, constraint, …), in the order sent.
    pub fields: Vec<(u8, String)>,
}

impl ServerError {
    /// Whether the server, or the user's share of it, has as many connections as it may have: 53300 of PostgreSQL (`max_connections`, `CONNECTION LIMIT`),
    /// `ER_CON_COUNT_ERROR`, `ER_TOO_MANY_USER_CONNECTIONS` and `ER_USER_LIMIT_REACHED` of MySQL.
    pub fn is_of_a_full_server(&self) -> bool {
        self.sqlstate == "53300" || matches!(self.number, 1040 | 1203 | 1226)
    }
}

/// Why a statement is refused: what planning goes by, and nothing else. The number beside it is only what a client reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// Somebody says no: a rule, an auditor, a lock on the cluster, an operator. It is not answered in another way either.
    Forbidden,
    /// There is no such thing here, or no right way to do it: nothing else is tried.
    Unsupported,
    /// What several units answer cannot be merged or compared to make one answer.
    Unmerged,
    /// Rows cannot be carried from one unit to another as they are; other rows of the statement may be.
    Uncarried,
    /// It needs together what stands on several shards, units or copies, and none of them has all of it.
    SpansShards,
    /// It changes a sharding column, so that rows would have to move to another shard.
    MovesRow,
    /// It changes the first rows only, and each of several shards or copies would choose its own.
    LimitedChange,
    /// It leaves a column to be counted, which each of several shards would do by itself.
    Uncounted,
    /// It calls what takes or frees a lock of the session, which is done before the rest of it.
    TakesLock,
    /// What is stored of a column does not answer it as the column's values would: these may, once they are told.
    StoredOtherwise,
}

impl Because {
    /// Whether rows that are brought together first may still give the answer.
    pub fn is_of_several(self) -> bool {
        match self {
            Self::Unmerged | Self::Uncarried | Self::SpansShards => true,
            Self::Forbidden
            | Self::Unsupported
            | Self::MovesRow
            | Self::LimitedChange
            | Self::Uncounted
            | Self::TakesLock
            | Self::StoredOtherwise => false,
        }
    }
}

/// What is wrong with a sharding value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unroutable {
    /// It cannot be read as what the algorithm takes. In a condition that says nothing about the shard.
    OtherType,
    /// It is NULL, which stands on no shard.
    Null,
    /// It is missing or leads to no data node; or no key can be made.
    NoPlace,
}

/// What happened. Closed on purpose: `db/*/error.rs` maps each to its vendor's code and SQLSTATE, and only this reaches a client.
#[derive(Debug, Clone, PartialEq)]
pub enum ErrorKind {
    /// The statement cannot be parsed.
    Syntax {
        /// What was found and what was expected.
        message: String,
        /// Byte position in the statement.
        at: u32,
    },
    /// The statement is understood, but its answer across shards could not be promised to be right.
    Refused {
        /// Why, for whoever may answer it in another way.
        because: Because,
        /// `ShardingSphere`'s vendor code of the same refusal, or 30001.
        code: u32,
        /// Why, in words.
        reason: String,
        /// What to do instead; may be empty.
        instead: String,
    },
    /// No such logical database.
    UnknownDatabase(String),
    /// No database is chosen.
    NoDatabase,
    /// No such logic table.
    UnknownTable(String),
    /// DROP names what nobody has.
    NothingToDrop {
        /// `table`, `view`.
        what: &'static str,
        /// Those that do not exist, as written; never empty.
        names: Vec<String>,
    },
    /// No such column.
    UnknownColumn(String),
    /// A table of that name exists.
    TableExists(String),
    /// No such prepared statement or portal.
    UnknownStatement(String),
    /// A prepared statement or cursor of that name exists.
    StatementExists(String),
    /// No such session variable, or a value it cannot take.
    Variable(String),
    /// A parameter or literal cannot be read as the type it must have.
    Value(String),
    /// A number or a moment lies beyond what its column's type holds.
    OutOfRange(String),
    /// A text is no date or time.
    Moment {
        /// It has the form of one, of a day or an hour that there is not.
        has_form: bool,
        /// Which it is.
        message: String,
    },
    /// A text is longer than its column's type lets it be.
    TooLong(String),
    /// LIMIT or OFFSET, named here, counts below zero.
    NegativeCount(&'static str),
    /// A sharding value is missing, null or routes nowhere.
    ShardingValue {
        /// Which of these it is.
        is: Unroutable,
        /// `ShardingSphere`'s vendor code (20020, 20051, …).
        code: u32,
        /// What is wrong with it.
        message: String,
    },
    /// The user has no right to the database.
    AccessDenied(String),
    /// Too many sessions.
    TooManyConnections,
    /// The peer broke the wire protocol; the session ends.
    Protocol(String),
    /// A message, statement or result is larger than its bound.
    TooLarge(String),
    /// A statement is nested more deeply, or longer as a chain or in pieces, than is read.
    TooComplex(String),
    /// A storage unit's own error, passed on with its code and text.
    Server(Box<ServerError>),
    /// A storage unit cannot be reached, or its connection broke.
    Unavailable {
        /// The storage unit.
        unit: String,
        /// What went wrong.
        message: String,
    },
    /// No connection to a storage unit became free in time.
    Timeout(String),
    /// A function of a module of the user's own has failed, said that it cannot, or come to a bound.
    Algorithm(String),
    /// A limit that somebody has set lets no more statements through for now. Nothing was sent.
    Limited(String),
    /// The statement was ended, as it ran for longer than a limit lets it.
    Overran(String),
    /// A storage unit's server answers, and lets no further connection in.
    Full {
        /// The storage unit.
        unit: String,
        /// What it says.
        message: String,
    },
    /// The merge or a buffer would need more memory than its limit.
    Memory(String),
    /// The statement was cancelled by its user.
    Cancelled,
    /// The session was killed, or the server is stopping.
    Shutdown,
    /// The transaction failed earlier; only its end is accepted.
    TransactionFailed,
    /// The statement may not run in this transaction state.
    TransactionState(String),
    /// The configuration is wrong.
    Configuration(String),
    /// The client closed its connection.
    Closed,
    /// An invariant of ours does not hold. Closes one session, never the process.
    Internal(String),
}

/// An error with its side and its cause.
#[derive(Debug)]
pub struct Error {
    kind: Box<ErrorKind>,
    side: Side,
    retry: bool,
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of this kind; side and retry follow from the kind.
    pub fn new(kind: ErrorKind) -> Self {
        let (side, retry) = place(&kind);
        Self { kind: Box::new(kind), side, retry, cause: None }
    }

    /// A refusal for this reason, with `ShardingSphere`'s code, words for the reason, and what to do instead.
    pub fn refused(
        because: Because,
        code: u32,
        reason: impl Into<String>,
        instead: impl Into<String>,
    ) -> Self {
        let (reason, instead) = (reason.into(), instead.into());
        Self::new(ErrorKind::Refused { because, code, reason, instead })
    }

    /// [`Error::refused`] because of [`Because::Forbidden`].
    pub fn forbidden(code: u32, reason: impl Into<String>, instead: impl Into<String>) -> Self {
        Self::refused(Because::Forbidden, code, reason, instead)
    }

    /// [`Error::refused`] because of [`Because::Unsupported`].
    pub fn unsupported(code: u32, reason: impl Into<String>, instead: impl Into<String>) -> Self {
        Self::refused(Because::Unsupported, code, reason, instead)
    }

    /// [`Error::refused`] because of [`Because::StoredOtherwise`].
    pub fn stored_otherwise(
        code: u32,
        reason: impl Into<String>,
        instead: impl Into<String>,
    ) -> Self {
        Self::refused(Because::StoredOtherwise, code, reason, instead)
    }

    /// [`Error::refused`] because of [`Because::Unmerged`].
    pub fn unmerged(code: u32, reason: impl Into<String>, instead: impl Into<String>) -> Self {
        Self::refused(Because::Unmerged, code, reason, instead)
    }

    /// [`Error::refused`] because of [`Because::Uncarried`].
    pub fn uncarried(code: u32, reason: impl Into<String>, instead: impl Into<String>) -> Self {
        Self::refused(Because::Uncarried, code, reason, instead)
    }

    /// [`Error::refused`] because of [`Because::SpansShards`].
    pub fn spans_shards(code: u32, reason: impl Into<String>, instead: impl Into<String>) -> Self {
        Self::refused(Because::SpansShards, code, reason, instead)
    }

    /// [`Error::refused`] because of [`Because::Uncounted`].
    pub fn uncounted(code: u32, reason: impl Into<String>, instead: impl Into<String>) -> Self {
        Self::refused(Because::Uncounted, code, reason, instead)
    }

    /// [`Error::refused`] because of [`Because::MovesRow`].
    pub fn moves_row(code: u32, reason: impl Into<String>, instead: impl Into<String>) -> Self {
        Self::refused(Because::MovesRow, code, reason, instead)
    }

    /// [`Error::refused`] because of [`Because::LimitedChange`].
    pub fn limited_change(
        code: u32,
        reason: impl Into<String>,
        instead: impl Into<String>,
    ) -> Self {
        Self::refused(Because::LimitedChange, code, reason, instead)
    }

    /// A protocol violation of the peer.
    pub fn protocol(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Protocol(message.into()))
    }

    /// A broken invariant.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal(message.into()))
    }

    /// Adds what caused it; goes to the log, never to a client.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// What happened.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Why it was refused; none where it is no refusal.
    pub fn refusal(&self) -> Option<Because> {
        if let ErrorKind::Refused { because, .. } = *self.kind { Some(because) } else { None }
    }

    /// What a storage unit said, to be told in other words.
    pub fn server_mut(&mut self) -> Option<&mut ServerError> {
        if let ErrorKind::Server(told) = &mut *self.kind { Some(told) } else { None }
    }

    /// Whose domain it is.
    pub fn side(&self) -> Side {
        self.side
    }

    /// Whether the same request may succeed later.
    pub fn may_retry(&self) -> bool {
        self.retry
    }
}

fn place(kind: &ErrorKind) -> (Side, bool) {
    match kind {
        ErrorKind::Syntax { .. }
        | ErrorKind::Refused { .. }
        | ErrorKind::UnknownDatabase(_)
        | ErrorKind::NoDatabase
        | ErrorKind::UnknownTable(_)
        | ErrorKind::NothingToDrop { .. }
        | ErrorKind::UnknownColumn(_)
        | ErrorKind::TableExists(_)
        | ErrorKind::UnknownStatement(_)
        | ErrorKind::StatementExists(_)
        | ErrorKind::Variable(_)
        | ErrorKind::Value(_)
        | ErrorKind::OutOfRange(_)
        | ErrorKind::Moment { .. }
        | ErrorKind::TooLong(_)
        | ErrorKind::NegativeCount(_)
        | ErrorKind::ShardingValue { .. }
        | ErrorKind::AccessDenied(_)
        | ErrorKind::Protocol(_)
        | ErrorKind::TooLarge(_)
        | ErrorKind::TooComplex(_)
        | ErrorKind::Cancelled
        | ErrorKind::Overran(_)
        | ErrorKind::TransactionFailed
        | ErrorKind::TransactionState(_)
        | ErrorKind::Closed => (Side::Client, false),
        ErrorKind::TooManyConnections
        | ErrorKind::Timeout(_)
        | ErrorKind::Limited(_)
        | ErrorKind::Shutdown => (Side::Engine, true),
        ErrorKind::Memory(_)
        | ErrorKind::Algorithm(_)
        | ErrorKind::Configuration(_)
        | ErrorKind::Internal(_) => (Side::Engine, false),
        ErrorKind::Server(_) => (Side::Unit, false),
        ErrorKind::Unavailable { .. } | ErrorKind::Full { .. } => (Side::Unit, true),
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { message, .. } => write!(f, "syntax error: {message}"),
            Self::Refused { reason, instead, .. } if instead.is_empty() => write!(f, "{reason}"),
            Self::Refused { reason, instead, .. } => write!(f, "{reason}; {instead}"),
            Self::UnknownDatabase(name) => write!(f, "database `{name}` does not exist"),
            Self::NoDatabase => f.write_str("no database selected"),
            Self::UnknownTable(name) => write!(f, "table `{name}` does not exist"),
            Self::NothingToDrop { what, names } => {
                write!(f, "{what} `{}` does not exist", names.join("`, `"))
            }
            Self::UnknownColumn(name) => write!(f, "column `{name}` does not exist"),
            Self::TableExists(name) => write!(f, "table `{name}` already exists"),
            Self::UnknownStatement(name) => write!(f, "prepared statement `{name}` does not exist"),
            Self::StatementExists(name) => write!(f, "prepared statement `{name}` already exists"),
            Self::NegativeCount(clause) => write!(f, "{clause} must not be negative"),
            Self::Variable(message)
            | Self::Value(message)
            | Self::OutOfRange(message)
            | Self::Moment { message, .. }
            | Self::TooLong(message)
            | Self::ShardingValue { message, .. }
            | Self::AccessDenied(message)
            | Self::TransactionState(message)
            | Self::Configuration(message)
            | Self::Timeout(message)
            | Self::Algorithm(message)
            | Self::Limited(message)
            | Self::Overran(message)
            | Self::TooLarge(message)
            | Self::TooComplex(message)
            | Self::Memory(message) => f.write_str(message),
            Self::TooManyConnections => f.write_str("too many connections"),
            Self::Protocol(message) => write!(f, "protocol error: {message}"),
            Self::Server(error) => f.write_str(&error.message),
            Self::Unavailable { unit, message } => {
                write!(f, "storage unit `{unit}` is not available: {message}")
            }
            Self::Full { unit, message } => {
                write!(f, "storage unit `{unit}` lets no further connection in: {message}")
            }
            Self::Cancelled => f.write_str("canceling statement due to user request"),
            Self::Shutdown => f.write_str("the session is being closed by the server"),
            Self::TransactionFailed => f.write_str(
                "current transaction is aborted, commands ignored until end of transaction block",
            ),
            Self::Closed => f.write_str("the client closed the connection"),
            Self::Internal(message) => write!(f, "internal error: {message}"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|cause| &**cause as _)
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self::new(kind)
    }
}
