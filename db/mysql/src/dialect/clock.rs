//! The time of MySQL and MariaDB, which clients may tell them: functions, defaults and triggers then go by it.
//! <https://dev.mysql.com/doc/refman/8.0/en/server-system-variables.html#sysvar_timestamp>

use pando_kernel::clock::{Asked, Behind, Clock, Moments, Timed};

use super::MySql;

const VARIABLE: &str = "timestamp";
const OF_STATEMENT: Timed = Timed { transaction: false, statement: true };

impl Clock for MySql {
    fn is_of_transactions(&self) -> bool {
        false
    }

    /// All but SYSDATE, which tells when it is called.
    /// <https://dev.mysql.com/doc/refman/8.0/en/date-and-time-functions.html#function_sysdate>
    fn asked(&self, word: &str, behind: Behind) -> Option<Asked> {
        let is_call = behind != Behind::Nothing;
        let asks = match word {
            "current_date" | "current_time" | "current_timestamp" | "localtime"
            | "localtimestamp" | "utc_date" | "utc_time" | "utc_timestamp" => true,
            "now" | "curdate" | "curtime" => is_call,
            "unix_timestamp" => behind == Behind::Empty,
            _ => false,
        };
        asks.then_some(Asked { timed: OF_STATEMENT, written: None })
    }

    fn by_servers(&self) -> Timed {
        OF_STATEMENT
    }

    fn told(&self, _timed: Timed, moments: Moments) -> Vec<String> {
        let (seconds, micros) = (moments.statement / 1_000_000, moments.statement % 1_000_000);
        vec![format!("SET {VARIABLE}={seconds}.{micros:06}")]
    }

    fn forgotten(&self) -> Option<&'static str> {
        Some("SET timestamp=DEFAULT")
    }

    fn variable(&self) -> Option<&'static str> {
        Some(VARIABLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_told_with_its_fraction() {
        let moments = Moments { transaction: 0, statement: 1_732_755_936_000_007 };
        assert_eq!(MySql.told(OF_STATEMENT, moments), ["SET timestamp=1732755936.000007"]);
    }

    #[test]
    fn conversions_and_columns_do_not_ask() {
        assert!(MySql.asked("unix_timestamp", Behind::Empty).is_some());
        for (word, behind) in
            [("unix_timestamp", Behind::More), ("now", Behind::Nothing), ("sysdate", Behind::Empty)]
        {
            assert_eq!(MySql.asked(word, behind), None, "{word}");
        }
    }
}
