//! PostgreSQL's functions of time. A server cannot be told the time, so that they are written as what the session keeps
//! of it on each connection: the text of a statement stays the same whenever it runs, and is prepared once.
//! <https://www.postgresql.org/docs/current/functions-datetime.html#FUNCTIONS-DATETIME-CURRENT>

use pando_kernel::clock::{Asked, Behind, Clock, Moments, Timed};

use super::Postgres;
use crate::types::temporal::moment;

/// The settings that hold the moments. Nobody but Pando sets them; what is left of them on a connection is overwritten
/// before it is read.
/// <https://www.postgresql.org/docs/current/runtime-config-custom.html>
const TRANSACTION: &str = "pando.transaction_began";
const STATEMENT: &str = "pando.statement_began";

/// The most digits of a second's fraction that servers keep.
const DIGITS: u8 = 6;

impl Clock for Postgres {
    fn is_of_transactions(&self) -> bool {
        true
    }

    fn asked(&self, word: &str, behind: Behind) -> Option<Asked> {
        let of_transaction = Timed { transaction: true, statement: false };
        let began = |setting: &str, as_type: &str| {
            format!("CAST(pg_catalog.current_setting('{setting}') AS {as_type})")
        };
        let digits = match behind {
            Behind::Digits(digits) if digits <= DIGITS => format!("({digits})"),
            Behind::Digits(_) | Behind::Nothing | Behind::Empty | Behind::More => String::new(),
        };
        let is_call = behind == Behind::Empty;
        let is_keyword = behind == Behind::Nothing || !digits.is_empty();
        let turned = |as_type: &str| {
            let whole = began(TRANSACTION, "timestamptz");
            format!("CAST({whole} AS {as_type}{digits})")
        };
        let written = match word {
            "now" | "transaction_timestamp" if is_call => began(TRANSACTION, "timestamptz"),
            "statement_timestamp" if is_call => {
                let timed = Timed { transaction: false, statement: true };
                let written = Some(began(STATEMENT, "timestamptz"));
                return Some(Asked { timed, written });
            }
            "current_timestamp" if is_keyword => {
                began(TRANSACTION, &format!("timestamptz{digits}"))
            }
            "current_date" if behind == Behind::Nothing => turned("date"),
            "current_time" if is_keyword => turned("timetz"),
            "localtime" if is_keyword => turned("time"),
            "localtimestamp" if is_keyword => turned("timestamp"),
            _ => return None,
        };
        Some(Asked { timed: of_transaction, written: Some(written) })
    }

    /// Defaults are written out; triggers read their server's own clock.
    fn by_servers(&self) -> Timed {
        Timed::default()
    }

    fn told(&self, timed: Timed, moments: Moments) -> Vec<String> {
        let asked = [
            (timed.transaction, TRANSACTION, moments.transaction),
            (timed.statement, STATEMENT, moments.statement),
        ];
        let asked = asked.into_iter().filter(|(is_asked, ..)| *is_asked);
        asked.map(|(_, setting, at)| format!("SET {setting} TO '{}'", moment(at))).collect()
    }

    fn forgotten(&self) -> Option<&'static str> {
        None
    }

    fn variable(&self) -> Option<&'static str> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(word: &str, behind: Behind) -> Option<String> {
        Postgres.asked(word, behind).and_then(|asked| asked.written)
    }

    #[test]
    fn words_are_written_as_what_the_connection_is_told() {
        let now = "CAST(pg_catalog.current_setting('pando.transaction_began') AS timestamptz)";
        assert_eq!(written("now", Behind::Empty).as_deref(), Some(now));
        let date = format!("CAST({now} AS date)");
        assert_eq!(written("current_date", Behind::Nothing), Some(date));
        let local = format!("CAST({now} AS timestamp(3))");
        assert_eq!(written("localtimestamp", Behind::Digits(3)), Some(local));
    }

    #[test]
    fn what_is_no_time_of_a_transaction_stays() {
        for (word, behind) in [
            ("now", Behind::Nothing),
            ("now", Behind::More),
            ("clock_timestamp", Behind::Empty),
            ("current_date", Behind::Empty),
            ("localtime", Behind::Digits(7)),
        ] {
            assert_eq!(Postgres.asked(word, behind), None, "{word}");
        }
    }

    #[test]
    fn a_connection_is_told_what_is_asked_for() {
        let timed = Timed { transaction: true, statement: false };
        let moments = Moments { transaction: 1_732_755_936_000_007, statement: 0 };
        let told = ["SET pando.transaction_began TO '2024-11-28 01:05:36.000007+00'"];
        assert_eq!(Postgres.told(timed, moments), told);
    }
}
