//! How the functions of time in a statement are given one value on all the servers that it runs on.

use std::fmt::Debug;

/// When a statement and its transaction began, in microseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moments {
    /// The transaction; the statement itself where it stands alone.
    pub transaction: i64,
    /// The statement.
    pub statement: i64,
}

/// Which of the two a statement asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timed {
    /// When its transaction began.
    pub transaction: bool,
    /// When it began itself.
    pub statement: bool,
}

impl Timed {
    /// Whether it asks for either.
    pub fn is_any(self) -> bool {
        self.transaction || self.statement
    }

    /// What either of two asks for.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            transaction: self.transaction || other.transaction,
            statement: self.statement || other.statement,
        }
    }
}

/// What stands behind a word of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    /// No parenthesis.
    Nothing,
    /// `()`.
    Empty,
    /// A number alone in parentheses: so many digits of a second's fraction.
    Digits(u8),
    /// Anything else in parentheses.
    More,
}

/// A word that asks for the time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// What it asks for.
    pub timed: Timed,
    /// What is written in its place; `None` where it stays, because servers can be told the time for their own function.
    pub written: Option<String>,
}

/// How servers of a family are told what time it is, so that what runs on several of them sees one.
pub trait Clock: Send + Sync + Debug {
    /// Whether all statements of a transaction see one time.
    fn is_of_transactions(&self) -> bool;

    /// What a word (unquoted, in lower case) asks for; `None` where its value may differ within a statement anyway, or
    /// is no time.
    fn asked(&self, word: &str, behind: Behind) -> Option<Asked>;

    /// What is asked for by whatever servers do by themselves with a row that is written: defaults, triggers.
    fn by_servers(&self) -> Timed;

    /// The statements that tell a connection these moments, as far as asked for.
    fn told(&self, timed: Timed, moments: Moments) -> Vec<String>;

    /// The statement that gives a connection its own clock back; `None` where what it was told concerns nobody else.
    fn forgotten(&self) -> Option<&'static str>;

    /// The session variable (in lower case) by which clients tell servers the time themselves.
    fn variable(&self) -> Option<&'static str>;
}
