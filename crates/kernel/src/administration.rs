//! Configuration by statements: what a session hands on, and what comes back.

use std::fmt::Debug;

use pando_sql::Syntax;

use crate::error::Result;
use crate::runtime::BoxFuture;
use crate::two_phase::{TransactionType, Verdict};

/// Who changes and shows the configuration when a client asks for it. A session asks [`Administration::takes`] about every statement it has not met before.
pub trait Administration: Send + Sync + Debug {
    /// Whether a statement is DistSQL, right or wrong. Statements of SQL are told apart by their first letters. PREVIEW and CREATE, DROP and USE of a
    /// database are SQL: sessions know them.
    fn takes(&self, text: &str, syntax: &Syntax) -> bool;

    /// The labels of the rows that answer a statement; `None` when it has no rows.
    ///
    /// # Errors
    /// `Syntax` when it cannot be read.
    fn labels(&self, caller: &Caller, text: &str) -> Result<Option<Vec<String>>>;

    /// Whether definitions can be run now: where other instances serve the same tables, they must be told.
    ///
    /// # Errors
    /// `Server`, with the reason.
    fn may_define(&self, _database: &str) -> Result<()> {
        Ok(())
    }

    /// Tells other instances that tables of a database may have another form now; `None` where there are none. Done when all can know it.
    fn defined<'a>(&'a self, _database: &str) -> Option<BoxFuture<'a, ()>> {
        None
    }

    /// Carries out what a client orders. A change that is told to be done is stored, and this instance serves it.
    ///
    /// # Errors
    /// `Syntax`, `Refused`, `AccessDenied`, `UnknownDatabase`, `Server` with the code of what is wrong. Nothing has changed then.
    ///
    /// # Cancel safety
    /// May be dropped at any await; a change is then made wholly, or not at all.
    fn carry_out<'a>(
        &'a self,
        caller: &'a Caller,
        order: Order<'a>,
    ) -> BoxFuture<'a, Result<Answer>>;
}

/// Who asks, and from where.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    /// The user.
    pub user: String,
    /// The current logical database.
    pub database: Option<String>,
    /// The databases the user may see; `None` means every one.
    pub databases: Option<Vec<String>>,
    /// Whether the user may change the configuration.
    pub is_administrator: bool,
    /// The family of the door's language.
    pub family: &'static str,
    /// Whether a transaction is open: nothing is changed then.
    pub in_transaction: bool,
}

/// What is ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order<'a> {
    /// A statement that [`Administration::takes`].
    Statement(&'a str),
    /// CREATE DATABASE.
    CreateDatabase {
        /// Its name.
        name: &'a str,
        /// What to do when it is there.
        present: Unless,
    },
    /// DROP DATABASE.
    DropDatabase {
        /// Its name.
        name: &'a str,
        /// What to do when it is missing.
        missing: Unless,
    },
}

/// Whether a statement minds that it has nothing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unless {
    /// It fails.
    Fails,
    /// IF EXISTS or IF NOT EXISTS: it succeeds.
    Passes,
}

/// What comes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It is done; the text names the verb, such as `CREATE SHARDING TABLE RULE`.
    Done(String),
    /// Rows, all of text; absent is NULL.
    Rows {
        /// As [`Administration::labels`] says.
        labels: Vec<String>,
        /// One value for each label.
        rows: Vec<Vec<Option<String>>>,
    },
    /// The session does it itself.
    Errand(Errand),
}

/// What only a session can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Errand {
    /// PARSE: the kind of a statement and its tree.
    Parse(String),
    /// FORMAT: a statement in a standard form.
    Format(String),
    /// REFRESH TABLE METADATA: what is known of the current database's tables is read anew.
    ForgetTables,
    /// SET VARIABLE transaction_type: how the session's next transactions end.
    ChooseTransactionType(TransactionType),
    /// SHOW VARIABLE transaction_type.
    ShowTransactionType,
    /// SHOW IN DOUBT TRANSACTIONS: branches that are prepared and not ended.
    ShowInDoubt,
    /// SHOW TRANSACTION STATUS: how transactions over several units have ended so far.
    ShowTransactionStatus,
    /// RESOLVE IN DOUBT TRANSACTION: its branches are ended by hand.
    Resolve {
        /// The transaction.
        global: String,
        /// How.
        verdict: Verdict,
    },
    /// SHOW TABLE METADATA: columns and indexes of these tables of a database, the current one when it is absent.
    ShowTables {
        /// The database.
        database: Option<String>,
        /// The tables, as written.
        tables: Vec<String>,
    },
}
