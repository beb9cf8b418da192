//! Circuit breaking: when a storage unit is spared statements, and what is told of that.

use std::time::Duration;

use crate::error::{Error, ErrorKind};
use crate::route::UnitName;

/// When a storage unit's circuit opens, and how it closes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// How far back statements count.
    pub window: Duration,
    /// So many statements must have been sent within the window before it may open. At least 1.
    pub least: u32,
    /// It opens when so many in a hundred have failed; 0: never because of that.
    pub failed_percent: u32,
    /// It opens when so many in a hundred were slow; 0: never because of that.
    pub slow_percent: u32,
    /// A statement is slow whose answer has not begun within so long; one that is not answered yet, too.
    pub slow: Duration,
    /// How long it stays open before statements are let through on trial.
    pub open: Duration,
    /// So many statements are let through on trial, and all of them must succeed. At least 1.
    pub probes: u32,
}

/// How a circuit stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Statements are sent.
    Closed,
    /// Statements fail at once.
    Open,
    /// Some are sent on trial.
    HalfOpen,
}

impl State {
    /// As SHOW tells it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Closed => "CLOSED",
            Self::Open => "OPEN",
            Self::HalfOpen => "HALF_OPEN",
        }
    }
}

/// How the circuit of a storage unit stands, and what it has counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The storage unit.
    pub unit: UnitName,
    /// How it stands.
    pub state: State,
    /// Statements within the window.
    pub statements: u64,
    /// Those among them that have failed.
    pub failed: u64,
    /// Those among them that were slow, or are.
    pub slow: u64,
    /// How often it has opened.
    pub opened: u64,
    /// Statements that were not sent, as it was open.
    pub refused: u64,
}

/// Whether an error tells that a storage unit does not work: it cannot be reached, its server went away or is stopping,
/// has no room for a further connection, or does not answer. What a server says of a statement is none of these.
pub fn is_failure(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Unavailable { .. }
        | ErrorKind::Timeout(_)
        | ErrorKind::Full { .. }
        | ErrorKind::Protocol(_) => true,
        // 53: resources, but not those of one statement (53400); 57P01 to 57P03: shutdown, crash, cannot connect now;
        // 58: the server's own system, but not a file that a statement names (58P01); 08: no connection, or none left.
        // https://www.postgresql.org/docs/current/errcodes-appendix.html
        // 1040, 1203, 1226: full; 1053: shutdown; 1037, 1041: out of memory; 1021: disk full.
        // https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html
        ErrorKind::Server(told) => {
            let states = [
                "53000", "53100", "53200", "53300", "57P01", "57P02", "57P03", "58000", "58030",
                "08000", "08001", "08003", "08004", "08006",
            ];
            states.contains(&told.sqlstate.as_str())
                || matches!(told.number, 1021 | 1037 | 1040 | 1041 | 1053 | 1203 | 1226)
        }
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
        | ErrorKind::NegativeCount(_)
        | ErrorKind::ShardingValue { .. }
        | ErrorKind::AccessDenied(_)
        | ErrorKind::TooManyConnections
        | ErrorKind::Algorithm(_)
        | ErrorKind::Limited(_)
        | ErrorKind::Overran(_)
        | ErrorKind::TooLarge(_)
        | ErrorKind::TooComplex(_)
        | ErrorKind::Memory(_)
        | ErrorKind::Cancelled
        | ErrorKind::Shutdown
        | ErrorKind::TransactionFailed
        | ErrorKind::TransactionState(_)
        | ErrorKind::Configuration(_)
        | ErrorKind::Closed
        | ErrorKind::OutOfRange(_)
        | ErrorKind::Moment { .. }
        | ErrorKind::TooLong(_)
        | ErrorKind::Internal(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::error::ServerError;

    use super::*;

    #[test]
    fn only_what_tells_of_the_server_itself_is_a_failure() {
        let server = |number: u32, sqlstate: &str| {
            let told = ServerError { number, sqlstate: sqlstate.into(), ..ServerError::default() };
            is_failure(&ErrorKind::Server(Box::new(told)).into())
        };
        for (number, sqlstate) in [
            (0, "53300"),
            (0, "57P01"),
            (0, "58030"),
            (0, "08006"),
            (1040, "08004"),
            (1053, "08S01"),
        ] {
            assert!(server(number, sqlstate), "{number} {sqlstate}");
        }
        for (number, sqlstate) in [
            (0, "42601"),
            (0, "23505"),
            (0, "40001"),
            (0, "57014"),
            (0, "58P01"),
            (0, "53400"),
            (0, "57P04"),
            (0, "57P05"),
            (0, "08P01"),
            (1153, "08S01"),
            (1062, "23000"),
            (1064, "42000"),
            (1205, "HY000"),
        ] {
            assert!(!server(number, sqlstate), "{number} {sqlstate}");
        }
        let unavailable = ErrorKind::Unavailable { unit: "a".into(), message: "gone".into() };
        assert!(is_failure(&unavailable.into()));
        assert!(!is_failure(&ErrorKind::Cancelled.into()));
    }
}
