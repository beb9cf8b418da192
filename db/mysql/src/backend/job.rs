//! What one execution is doing.

use std::sync::Arc;

use pando_kernel::{Column, Error, Parameter};

use super::describe::Definitions;
use super::old_names::{with_old_names, with_values};
use super::reset::Reset;
use super::statements::Statement;

/// An execution and how far it has come.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) stage: Stage,
    /// It has been given a second try after the server forgot its statement.
    pub(super) retried: bool,
    /// The sequence number its reply begins with: above 1 when its command took several frames.
    pub(super) answered_from: u8,
}

#[derive(Debug)]
pub(super) enum Work {
    Text(Arc<str>),
    Prepared {
        sql: Arc<str>,
        parameters: Vec<Parameter>,
    },
    /// The text, and what may run in its stead with the same answer.
    Lifted {
        text: Arc<str>,
        sql: Arc<str>,
        parameters: Vec<Parameter>,
    },
    Describe {
        sql: Arc<str>,
    },
    Reset,
    Ping,
}

impl Work {
    /// Puts older names of variables into the statement; false when it has none of them.
    pub(super) fn use_old_names(&mut self) -> bool {
        match self {
            Self::Text(sql) | Self::Prepared { sql, .. } | Self::Describe { sql } => {
                replaced(sql, with_old_names(sql))
            }
            Self::Lifted { .. } | Self::Reset | Self::Ping => false,
        }
    }

    /// Puts an upsert into its older form; false when it is none.
    pub(super) fn use_values(&mut self) -> bool {
        match self {
            Self::Text(sql) | Self::Prepared { sql, .. } | Self::Describe { sql } => {
                replaced(sql, with_values(sql))
            }
            Self::Lifted { .. } | Self::Reset | Self::Ping => false,
        }
    }
}

fn replaced(sql: &mut Arc<str>, other: Option<String>) -> bool {
    let Some(other) = other else { return false };
    *sql = other.into();
    true
}

/// What the next packet of the reply is.
#[derive(Debug)]
pub(super) enum Stage {
    /// Nothing was written yet.
    Queued,
    /// The first packet of a result.
    Answer,
    /// A column definition, of which so many are still to come.
    Columns { list: Vec<Column>, left: u64 },
    /// The EOF between column definitions and rows.
    ColumnsEnd { told: Option<Arc<[Column]>>, untold: bool },
    /// A row or the end of rows, in the form of texts where columns are given here.
    Rows { count: u64, told: Option<Arc<[Column]>> },
    /// A row or the end of rows that cannot be told in the form of texts: the text is to run then.
    Untold,
    /// Nothing: the server waits for a file's content, of which it has `begun` to get some.
    File { begun: bool },
    /// The answer to a prepare.
    PrepareAnswer,
    /// A definition of a parameter or column of a prepared statement, or an EOF after them.
    Definitions(Definitions),
    /// Nothing: the description is at hand.
    Described(Statement),
    /// An answer to one of the commands of a reset.
    Reset(Reset),
    /// The answer to a ping.
    Pong,
    /// The answer to a ping after this error inside a transaction. Servers roll whole transactions back at some errors (a lock wait timeout under
    /// `innodb_rollback_on_timeout`, a full lock table, a record changed under `innodb_snapshot_isolation`), and an ERR packet has no status to tell it.
    Standing(Error),
    /// Nothing: it failed before it was sent.
    Failed(Option<Error>),
}

impl Default for Job {
    fn default() -> Self {
        Self::new(Work::Ping)
    }
}

impl Job {
    pub(super) fn new(work: Work) -> Self {
        Self { work, stage: Stage::Queued, retried: false, answered_from: 1 }
    }

    /// Whether nothing may be written behind this job's first command until its answer is there.
    pub(super) fn holds_line(&self) -> bool {
        match (&self.work, &self.stage) {
            (Work::Text(sql), _) => may_ask_for_file(sql) || may_need_old_names(sql),
            (_, Stage::PrepareAnswer) => true,
            // The text may have to run yet.
            (Work::Reset | Work::Lifted { .. }, _) => true,
            (Work::Prepared { .. } | Work::Describe { .. } | Work::Ping, _) => false,
        }
    }
}

/// Whether the statement is a SET that may have to be said again with older names: what is written behind it would come first then.
fn may_need_old_names(sql: &str) -> bool {
    let word = sql.trim_start().get(..4);
    word.is_some_and(|word| word.eq_ignore_ascii_case("set ")) && with_old_names(sql).is_some()
}

/// Whether the statement may be a LOAD DATA LOCAL: then bytes written behind it would be read as the file.
pub(super) fn may_ask_for_file(sql: &str) -> bool {
    let mut rest = sql.trim_start();
    loop {
        if rest.starts_with("/*!") || rest.starts_with("/*M!") {
            return true;
        }
        let comment_end = if rest.starts_with("/*") {
            rest.find("*/").map(|at| at + 2)
        } else if rest.starts_with('#') || rest.starts_with("--") {
            rest.find('\n').map(|at| at + 1)
        } else {
            break;
        };
        match comment_end.and_then(|end| rest.get(end..)) {
            Some(behind) => rest = behind.trim_start(),
            None => return false,
        }
    }
    rest.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("load"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_may_ask_for_a_file_are_recognised() {
        for sql in [
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t",
            "  load xml local infile 'x' into table t",
            "/* c */ -- d\n# e\n load data",
            "/*!50000 LOAD DATA LOCAL */",
        ] {
            assert!(may_ask_for_file(sql), "{sql}");
        }
        for sql in ["SELECT 1", "", "/* open", "-- LOAD", "lo", "INSERT INTO load_t VALUES (1)"] {
            assert!(!may_ask_for_file(sql), "{sql}");
        }
    }

    #[test]
    fn only_a_set_of_renamed_variables_may_have_to_be_said_again() {
        assert!(may_need_old_names("SET NAMES x, SESSION transaction_isolation = 'SERIALIZABLE'"));
        for sql in ["SET NAMES x", "SELECT @@transaction_isolation", "", "SE"] {
            assert!(!may_need_old_names(sql), "{sql}");
        }
    }
}
