//! What distributed transactions need of a database family: two-phase commit on a connection, prepared branches, and the ledger of decisions that a
//! storage unit keeps.

use std::fmt::{self, Debug};
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result, ServerError};
use crate::value::Value;

/// How a transaction over several storage units ends (`ShardingSphere` ICDE 2022, section IV.B).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum TransactionType {
    /// One phase: each unit commits by itself.
    #[default]
    Local,
    /// Two phases: all units commit, or none.
    Xa,
    /// Each statement commits by itself and can be undone from images of the rows it changed.
    Base,
}

impl fmt::Display for TransactionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Local => "LOCAL",
            Self::Xa => "XA",
            Self::Base => "BASE",
        })
    }
}

impl FromStr for TransactionType {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        match word.to_ascii_uppercase().as_str() {
            "LOCAL" => Ok(Self::Local),
            "XA" => Ok(Self::Xa),
            "BASE" => Ok(Self::Base),
            _ => {
                let message = format!("`transaction_type` is LOCAL, XA or BASE, not `{word}`");
                Err(ErrorKind::Variable(message).into())
            }
        }
    }
}

/// An isolation level at which a transaction sees one state of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isolation {
    /// Repeatable read.
    RepeatableRead,
    /// Serializable.
    Serializable,
}

/// Whom a table lock keeps out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    /// Who writes there.
    Writers,
    /// Who writes there or locks it.
    Everybody,
}

/// What becomes of a table lock that is not to be had at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// It is waited for.
    Waits,
    /// It fails.
    Fails,
}

impl Isolation {
    /// Reads a level's name in any spelling of its vendors (`REPEATABLE READ`, `'repeatable-read'`, …); `None` for lower levels.
    pub fn read(name: &str) -> Option<Self> {
        let letters: String = name.chars().filter(char::is_ascii_alphabetic).collect();
        match letters.to_ascii_uppercase().as_str() {
            "REPEATABLEREAD" => Some(Self::RepeatableRead),
            "SERIALIZABLE" => Some(Self::Serializable),
            _ => None,
        }
    }
}

/// One storage unit's part of a distributed transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Branch<'a> {
    /// Names the transaction: at most 64 octets of letters, digits and `-`.
    pub global: &'a str,
    /// Names the part in it: at most 64 octets of letters, digits and `-`.
    pub part: &'a str,
}

/// What a part's name tells: its number in the transaction, and the process or thread numbers of its connection and of the deciding unit's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Counts from 0.
    pub number: usize,
    /// Of the connection that works for it.
    pub connection: u64,
    /// Of the connection that decides.
    pub decider: u64,
}

impl Part {
    /// Reads a part's name.
    pub fn read(name: &str) -> Option<Self> {
        let mut parts = name.split('-');
        let (number, connection, decider) = (parts.next()?, parts.next()?, parts.next()?);
        let number = number.parse().ok()?;
        Some(Self { number, connection: connection.parse().ok()?, decider: decider.parse().ok()? })
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.number, self.connection, self.decider)
    }
}

/// A prepared branch that a storage unit tells of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InDoubt {
    /// As [`Branch::global`].
    pub global: String,
    /// As [`Branch::part`].
    pub part: String,
    /// Whole seconds since it was prepared, where the server knows.
    pub seconds: Option<u64>,
}

/// What was decided on a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Its branches commit.
    Commit,
    /// Its branches roll back.
    Abort,
}

/// How a storage unit stands towards distributed transactions, as [`TwoPhase::standing_query`] tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It can take part.
    Able,
    /// It takes no writes, so it has nothing to commit.
    ReadOnly,
}

/// Two-phase commit towards one storage unit. Texts are sent in order on one connection; each has its own reply.
pub trait TwoPhase: Send + Sync + Debug {
    /// Opens a branch, with the modes of [`crate::dialect::TransactionVerb::Begin`].
    fn begin(&self, branch: &Branch<'_>, modes: &[String]) -> Vec<String>;

    /// Commits a branch that was not prepared.
    fn commit(&self, branch: &Branch<'_>) -> Vec<String>;

    /// Rolls back a branch that was not prepared. Only the last text's reply counts.
    fn rollback(&self, branch: &Branch<'_>) -> Vec<String>;

    /// Prepares a branch.
    fn prepare(&self, branch: &Branch<'_>) -> Vec<String>;

    /// Whether a reply to the last text of [`TwoPhase::prepare`] tells that the branch was rolled back instead.
    fn refused(&self, _tag: &str) -> bool {
        false
    }

    /// Commits a prepared branch.
    fn commit_prepared(&self, branch: &Branch<'_>) -> String;

    /// Rolls back a prepared branch.
    fn rollback_prepared(&self, branch: &Branch<'_>) -> String;

    /// Whether an error of the last two tells that there is no such branch here, or that another connection still owns it.
    fn is_gone(&self, error: &ServerError) -> bool;

    /// Ends a connection, by its process or thread number, that has recorded a decision on a transaction and not committed it.
    fn evict_decider(&self, global: &str, connection: u64) -> String;

    /// Ends the connection, by its process or thread number, that may still own a branch it has prepared; `None` where none ever does.
    fn evict_owner(&self, _connection: u64) -> Option<String> {
        None
    }

    /// A query with one boolean: whether the open transaction has written anything; `None` where servers cannot tell.
    fn wrote_query(&self) -> Option<&'static str> {
        None
    }

    /// A query that fixes what the open transaction sees from now on, or, where its level locks what it reads instead, makes it one whose locks outlive a return to a
    /// savepoint that is set after it.
    fn snapshot_query(&self) -> &'static str;

    /// Locks tables (names as SQL text, at least one) until the open transaction ends, against those who write there, or also against those who lock
    /// them so themselves. `None` where SERIALIZABLE locks what is read anyway.
    fn lock_tables(
        &self,
        _tables: &[&str],
        _against: Against,
        _patience: Patience,
    ) -> Option<String> {
        None
    }

    /// A query with one text: which transactions of the server have ended; `None` where [`TwoPhase::lock_tables`] locks nothing.
    fn ended_query(&self) -> Option<&'static str> {
        None
    }

    /// A query with one boolean: whether another transaction of the server has committed a change since [`TwoPhase::ended_query`] gave this text.
    fn committed_query(&self, _ended: &str) -> Option<String> {
        None
    }

    /// A query whose rows tell of the prepared branches of this database, foreign ones among them.
    fn prepared_query(&self) -> &'static str;

    /// Reads a row of [`TwoPhase::prepared_query`]; `None` when somebody else made the branch.
    fn read_prepared(&self, row: &[Value]) -> Option<InDoubt>;

    /// Whether a transaction sees the state of its first query, while its changes find what is there by then: those
    /// need no snapshot.
    fn sees_when_it_reads(&self) -> bool {
        false
    }

    /// A query with one row that [`TwoPhase::read_standing`] reads, whose last column is the level, as a text, that
    /// transactions have where nobody names one: the
    /// login's, whatever the session has set. Its error tells that a right is missing.
    fn standing_query(&self) -> &'static str;

    /// Reads the answer to [`TwoPhase::standing_query`].
    ///
    /// # Errors
    /// `Refused`, with what has to be set on the server.
    fn read_standing(&self, row: &[Value]) -> Result<Standing>;

    /// The ledger.
    fn ledger(&self) -> &dyn Ledger;
}

/// The ledger of a storage unit: who it is, and which transactions it decided on. A decision to commit is a row that the deciding unit commits together
/// with its own part, so it is as durable as that, and readable by all.
pub trait Ledger: Send + Sync + Debug {
    /// A query whose single row is (ledger is there).
    fn present_query(&self) -> &'static str;

    /// Makes the ledger; does nothing when it is there. May fail when two make it at once: then it is there.
    fn setup(&self) -> Vec<String>;

    /// A query whose single row is (identity of the unit, the place it is asked at). Both texts.
    fn identity_query(&self) -> &'static str;

    /// Writes, in the deciding unit's own part, that the transaction commits. Fails when it was decided otherwise.
    fn record(&self, global: &str) -> String;

    /// Decides to abort unless the decision is made. Waits for who is about to make it; fails after about a second.
    fn fence(&self, global: &str) -> Vec<String>;

    /// A query whose row, if any, is (verdict: `commit` or `abort`).
    fn verdict_query(&self, global: &str) -> String;

    /// Forgets decisions.
    fn forget(&self, globals: &[&str]) -> String;

    /// A query whose rows are (global) of old decisions, at most a thousand: those to abort, which are made again where they are missed, after an hour;
    /// those to commit, on which images of a BASE transaction may still wait, after 30 days.
    fn stale_query(&self) -> &'static str;

    /// Keeps everybody from recording decisions, once those that are being recorded are committed, until [`Ledger::open`]. Fails after about two
    /// seconds. The server itself ends it after 15 seconds of silence, when whoever did it is lost.
    fn close(&self) -> &'static [&'static str];

    /// Ends [`Ledger::close`].
    fn open(&self) -> &'static [&'static str];

    /// Waits, in a part that commits without a decision, while the ledger is closed.
    fn heed(&self) -> &'static str;

    /// A query whose rows are (global) of those transactions among these that were decided to commit.
    fn decided_query(&self, globals: &[&str]) -> String;
}

/// Reads [`Ledger::verdict_query`]'s answer.
pub fn verdict(rows: &[Vec<Value>]) -> Option<Verdict> {
    let Value::Text(word) = rows.first()?.first()? else { return None };
    Some(if word == "commit" { Verdict::Commit } else { Verdict::Abort })
}
