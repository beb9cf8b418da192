//! Counters of sharded tables' `AUTO_INCREMENT` columns, in the table `pando_counter` of the storage unit that has a
//! table's first shard. Times are the server's own, in UTC.
//! <https://dev.mysql.com/doc/refman/8.0/en/innodb-auto-increment-handling.html>

use std::time::Duration;

use pando_kernel::counters::{CLOSED, Change, Counters, LEASE, Seen, Terms};
use pando_kernel::dialect::Language;
use pando_kernel::error::{Error, Result};
use pando_kernel::value::Value;

use super::MySql;

fn literal(counter: &str) -> String {
    MySql.literal(&Value::Text(counter.to_owned()))
}

/// How long a time of the row is ahead, in microseconds.
fn ahead(column: &str) -> String {
    format!("GREATEST(0, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), {column}))")
}

fn from_now(time: Duration) -> String {
    format!("UTC_TIMESTAMP(6) + INTERVAL {} MICROSECOND", time.as_micros())
}

fn number(value: &Value) -> Result<u64> {
    let number = match value {
        Value::UInt(number) => Some(*number),
        Value::Int(number) => u64::try_from(*number).ok(),
        Value::Text(text) => text.parse().ok(),
        Value::Null | Value::Bool(_) | Value::Float(_) | Value::Decimal(_) | Value::Bytes(_) => {
            None
        }
    };
    number.ok_or_else(|| Error::internal("a counter's row has another form"))
}

impl Counters for MySql {
    fn setup(&self) -> &'static str {
        "CREATE TABLE IF NOT EXISTS pando_counter (\
         name VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PRIMARY KEY, next BIGINT UNSIGNED NOT NULL, \
         holder VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '', \
         leased DATETIME(6) NOT NULL DEFAULT '2000-01-01', known DATETIME(6) NOT NULL DEFAULT '2000-01-01', \
         closed DATETIME(6) NOT NULL DEFAULT '2000-01-01') ENGINE = InnoDB"
    }

    fn look(&self, counter: &str) -> String {
        format!(
            "SELECT next, holder, {}, {}, {} FROM pando_counter WHERE name = {}",
            ahead("leased"),
            ahead("known"),
            ahead("closed"),
            literal(counter)
        )
    }

    fn read(&self, row: &[Value]) -> Result<Seen> {
        let [next, Value::Text(holder), leased, known, closed] = row else {
            return Err(Error::internal("a counter's row has another form"));
        };
        Ok(Seen {
            next: number(next)?,
            holder: holder.clone(),
            leased: Duration::from_micros(number(leased)?),
            known: Duration::from_micros(number(known)?),
            closed: Duration::from_micros(number(closed)?),
        })
    }

    /// The server sets columns from left to right, and each sees what those before it have become: `holder` goes by the
    /// old `known`.
    fn change(&self, counter: &str, change: Change<'_>) -> String {
        let name = literal(counter);
        match change {
            Change::Reaches(next) => format!(
                "INSERT INTO pando_counter (name, next) VALUES ({name}, {next}) \
                 ON DUPLICATE KEY UPDATE next = GREATEST(next, {next})"
            ),
            Change::Gives { seen, to, holder, terms } => {
                let (leased, only) = match terms {
                    Terms::Used => (String::new(), String::new()),
                    Terms::Leased => (leased(), " AND closed <= UTC_TIMESTAMP(6)".to_owned()),
                    Terms::Renewed => {
                        let own =
                            format!(" AND closed <= UTC_TIMESTAMP(6) AND holder = '{holder}'");
                        (leased(), own)
                    }
                };
                format!(
                    "UPDATE pando_counter SET holder = IF(known <= UTC_TIMESTAMP(6) OR holder = '{holder}', '{holder}', '*'), \
                     known = GREATEST(known, {}){leased}, next = {to} WHERE name = {name} AND next = {seen}{only}",
                    from_now(LEASE)
                )
            }
            Change::Closes => format!(
                "UPDATE pando_counter SET closed = {} WHERE name = {name}",
                from_now(CLOSED)
            ),
            Change::Goes => format!("DELETE FROM pando_counter WHERE name = {name}"),
        }
    }

    /// The server's statistics, which `information_schema` shows, may be of yesterday.
    fn own(&self, table: &str) -> String {
        format!("SHOW CREATE TABLE {}", self.quote(table))
    }

    fn told(&self, definition: &str, next: u64) -> String {
        let Some((columns, options)) = definition.split_once("\n) ") else {
            return definition.to_owned();
        };
        let (before, behind) = match options.split_once(OPTION) {
            Some((before, said)) => {
                let digits = said.bytes().take_while(u8::is_ascii_digit).count();
                (before, said.get(digits..).unwrap_or_default())
            }
            // Behind the engine, which comes first.
            None => options.split_at(options.find(' ').unwrap_or(options.len())),
        };
        match next {
            // Servers do not say that a table begins.
            0 | 1 => format!("{columns}\n) {before}{behind}"),
            next => format!("{columns}\n) {before}{OPTION}{next}{behind}"),
        }
    }

    fn read_own(&self, row: &[Value]) -> Result<u64> {
        let [_, Value::Text(text)] = row else {
            return Err(Error::internal("a table's definition has another form"));
        };
        // Behind the columns, whose comments may say anything, but not on a line of their own.
        let options = text.split_once("\n) ").map_or("", |(_, options)| options);
        let said = options.split_once(OPTION).map_or("", |(_, said)| said);
        let digits = said.bytes().take_while(u8::is_ascii_digit).count();
        Ok(said.get(..digits).and_then(|digits| digits.parse().ok()).unwrap_or(1))
    }
}

/// What stands before a definition's next number.
const OPTION: &str = " AUTO_INCREMENT=";

fn leased() -> String {
    format!(", leased = GREATEST(leased, {})", from_now(LEASE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_tells_another_number() {
        let text = |option: &str| {
            format!(
                "CREATE TABLE `t` (\n  `v` int COMMENT ' AUTO_INCREMENT=7'\n) ENGINE=InnoDB{option} DEFAULT CHARSET=utf8mb4"
            )
        };
        for (option, next, expected) in [
            (" AUTO_INCREMENT=42", 100, " AUTO_INCREMENT=100"),
            ("", 100, " AUTO_INCREMENT=100"),
            (" AUTO_INCREMENT=42", 1, ""),
            ("", 1, ""),
        ] {
            assert_eq!(MySql.told(&text(option), next), text(expected));
        }
    }

    fn own(definition: &str) -> u64 {
        MySql.read_own(&[Value::Text("t".into()), Value::Text(definition.into())]).unwrap()
    }

    #[test]
    fn a_table_says_where_its_counter_stands() {
        let fresh = "CREATE TABLE `t` (\n  `id` int NOT NULL AUTO_INCREMENT\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4";
        assert_eq!(own(fresh), 1);
        let used = "CREATE TABLE `t` (\n  `id` int NOT NULL AUTO_INCREMENT,\n  `v` int COMMENT ' AUTO_INCREMENT=7'\n) ENGINE=InnoDB AUTO_INCREMENT=42 DEFAULT CHARSET=utf8mb4";
        assert_eq!(own(used), 42);
    }

    #[test]
    fn a_row_is_read_as_it_is_asked_for() {
        let row = [
            Value::UInt(7),
            Value::Text("a".into()),
            Value::Int(1_500_000),
            Value::Int(0),
            Value::Int(3),
        ];
        let seen = MySql.read(&row).unwrap();
        assert_eq!((seen.next, &*seen.holder, seen.leased.as_millis()), (7, "a", 1500));
        assert!(MySql.read(&row[..4]).is_err());
    }
}
