//! Numbers of MariaDB's sequences. <https://mariadb.com/kb/en/sequence-functions/>

use pando_kernel::counters::Counters;
use pando_kernel::error::Result;
use pando_kernel::sequences::{Draw, Sequences, Stands};

use super::MySql;

impl Sequences for MySql {
    fn next(&self, sequence: &str, count: usize) -> Draw {
        let mut text = format!("SELECT NEXTVAL({sequence})");
        if count > 1 {
            text.push_str(" FROM (SELECT 1");
            text.push_str(&" UNION ALL SELECT 1".repeat(count - 1));
            text.push_str(") pando_rows");
        }
        Draw { query: text, afresh: None }
    }

    /// A BIGINT that may be NULL is shown; a cast has the type that the number's digits need.
    fn number(&self, number: i64, stands: Stands) -> String {
        match stands {
            Stands::Inside => number.to_string(),
            Stands::Shown => format!("(CASE WHEN 1 THEN {number} WHEN 0 THEN {} END)", i64::MAX),
        }
    }

    fn counters(&self) -> Option<&dyn Counters> {
        Some(self)
    }

    fn untold(&self, _sequence: Option<&str>) -> Result<String> {
        Ok(format!("(CASE WHEN 0 THEN {} END)", i64::MAX))
    }
}
