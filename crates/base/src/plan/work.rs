//! What is run for a statement.

use crate::lock::Keys;
use crate::text::Text;

/// What is run, and how its images come about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Work {
    /// The statement tells its images itself.
    Returning {
        /// The statement with more columns.
        text: Text,
        /// Which columns it has at its end.
        told: Told,
        /// The client gets the other columns.
        has_result: bool,
        /// A row told as it was may be another than the one that was changed: the statement came in where somebody had just taken it away.
        may_miss: bool,
    },
    /// The rows are read under lock, the statement is bound to them by their keys, and they are read again.
    Rows {
        /// The query for the rows as they are, and behind them the new values of key columns.
        before: Text,
        /// The statement up to where its condition begins, and behind it.
        change: (Text, Text),
        /// What the table is called in it.
        owner: String,
        /// Key columns (by their place in the key) that get new values.
        moved: Vec<usize>,
        /// The rows are gone afterwards.
        deletes: bool,
    },
    /// Rows come in, perhaps in the place of others.
    Insert {
        /// The query for rows that may be in the way, with an open parenthesis at its end; none when such a row is an error.
        before: Option<Text>,
        /// The statement.
        change: Text,
        /// How the rows are found afterwards.
        after: After,
        /// What its count of rows says.
        counted: Counted,
        /// How many rows it gives.
        rows: u64,
    },
    /// A query that locks rows, with their keys at its end.
    Locking {
        /// The query.
        text: Text,
        /// How many columns are at its end.
        more: usize,
        /// What they hold.
        keys: Keys,
    },
}

/// Images at the end of a result, each of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// The rows as they are now.
    After,
    /// The rows as they were.
    Before,
    /// As they are now; as they were, NULL for those that are new.
    AfterAndBefore,
}

/// How rows that came in are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum After {
    /// By a query with an open parenthesis at its end.
    Query(Text),
    /// By the keys that the server has generated, for the column with this name, by a query up to its condition.
    Generated {
        /// The query.
        query: String,
        /// The column as it is written in the query.
        column: String,
    },
}

/// What a server counts for a row that comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    /// One, always.
    Inserted,
    /// One; nothing for a row that gives way to another.
    Ignored,
    /// One; two for a row that changes another; nothing when it changes none of its values.
    Updated,
    /// One, and one more for every row that gave way.
    Replaced,
}
