//! Numbers of MariaDB's sequences. <https://mariadb.com/kb/en/sequence-functions/>

use pando_kernel::error::Result;
use pando_kernel::sequences::Sequences;

use super::MySql;

impl Sequences for MySql {
    fn next(&self, sequence: &str, count: usize) -> String {
        let mut text = format!("SELECT NEXTVAL({sequence})");
        if count > 1 {
            text.push_str(" FROM (SELECT 1");
            text.push_str(&" UNION ALL SELECT 1".repeat(count - 1));
            text.push_str(") pando_rows");
        }
        text
    }

    fn number(&self, number: i64) -> String {
        number.to_string()
    }

    /// A BIGINT that may be NULL; a cast has the type that the number's digits need.
    fn shown(&self, number: i64) -> String {
        format!("(CASE WHEN 1 THEN {number} WHEN 0 THEN {} END)", i64::MAX)
    }

    fn untold(&self, _sequence: Option<&str>) -> Result<String> {
        Ok(format!("(CASE WHEN 0 THEN {} END)", i64::MAX))
    }
}
