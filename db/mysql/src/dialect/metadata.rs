//! Reading the catalogue.

use pando_kernel::Effects;
use pando_kernel::dialect::{Language, Metadata, TableColumn};
use pando_kernel::health::Health;
use pando_kernel::temporary::Kept;
use pando_kernel::views::ViewTexts;
use pando_kernel::{Error, Kind, Presentation, Result, Value};
use pando_sql::ast::DefineAction;

use super::MySql;
use super::variables::ALL;
use crate::guard::words::LEDGER;

/// The connection's own user as the privilege tables write users.
const OWN: &str = "CONCAT(QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', 1)), '@', QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)))";

/// The key of a table under a name that needs none, and MariaDB's system versioning.
/// <https://dev.mysql.com/doc/refman/8.0/en/create-index.html#create-index-unique>, <https://mariadb.com/kb/en/system-versioned-tables/>
const HIDDEN: [&str; 3] = ["_rowid", "row_start", "row_end"];

/// What is in every default that asks what time it is, in lower case.
const CLOCK: [&str; 7] =
    ["current_", "now(", "localtime", "curdate", "curtime", "utc_", "unix_timestamp"];

/// What the type of a column is followed by that MariaDB takes for JSON: its JSON is a text with a check, and says so in
/// results as long as it has this check.
///
/// Source: <https://mariadb.com/kb/en/json-data-type/>
pub(super) const JSON: &str = " json";

/// What servers write by the clock when rows of a column's table are written.
fn timed(default: &str, extra: &str, has_triggers: &Value) -> Option<Box<str>> {
    let default = default.to_ascii_lowercase();
    let asks = |word: &&str| default.contains(*word);
    if CLOCK.iter().any(asks) {
        return Some(default.into());
    }
    let is_set = matches!(has_triggers, Value::Int(1) | Value::UInt(1));
    match extra.contains("on update") {
        true => Some("ON UPDATE".into()),
        false => is_set.then(|| "TRIGGER".into()),
    }
}

/// Seconds east of Greenwich of a server's zone whose clocks nobody turns.
/// <https://dev.mysql.com/doc/refman/8.0/en/time-zone-support.html>
fn zone_of(name: &str) -> Option<i64> {
    if ["utc", "gmt", "etc/utc", "etc/gmt"].contains(&name.to_ascii_lowercase().as_str()) {
        return Some(0);
    }
    let (sign, rest) = match name.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let (hours, minutes): (u8, u8) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours < 15 && minutes < 60).then(|| sign * (i64::from(hours) * 3600 + i64::from(minutes) * 60))
}

impl Metadata for MySql {
    fn hidden_columns(&self) -> &'static [&'static str] {
        &HIDDEN
    }

    // Inside a transaction its own connection is asked, whose session may limit the rows of all queries that say no limit.
    fn columns_query(&self, schema: Option<&str>, table: &str) -> String {
        let schema = schema.map_or_else(
            || "DATABASE()".to_owned(),
            |schema| self.literal(&Value::Text(schema.to_owned())),
        );
        let table = self.literal(&Value::Text(table.to_owned()));
        let is_json = format!(
            "EXISTS (SELECT 1 FROM information_schema.CHECK_CONSTRAINTS c WHERE c.CONSTRAINT_SCHEMA = {schema} AND \
             c.TABLE_NAME = {table} AND c.CONSTRAINT_NAME = COLUMN_NAME AND \
             c.CHECK_CLAUSE = CONCAT('json_valid(`', COLUMN_NAME, '`)'))"
        );
        format!(
            "SELECT COLUMN_NAME, DATA_TYPE, CONCAT(COLUMN_TYPE /*M!100502 , IF({is_json}, '{JSON}', '') */), COLLATION_NAME, COLUMN_KEY, EXTRA, \
             IS_NULLABLE, COALESCE(COLUMN_DEFAULT, ''), EXISTS (SELECT 1 FROM information_schema.TRIGGERS g \
             WHERE g.EVENT_OBJECT_SCHEMA = {schema} AND g.EVENT_OBJECT_TABLE = {table}), \
             (SELECT t.TABLE_COLLATION FROM information_schema.TABLES t WHERE t.TABLE_SCHEMA = {schema} AND \
             t.TABLE_NAME = {table}), IF(@@GLOBAL.time_zone = 'SYSTEM', @@GLOBAL.system_time_zone, @@GLOBAL.time_zone) \
             FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = {schema} AND \
             TABLE_NAME = {table} ORDER BY ORDINAL_POSITION LIMIT {ALL}"
        )
    }

    fn read_column(&self, row: &[Value]) -> Result<TableColumn> {
        let [
            name,
            data_type,
            column_type,
            collation,
            key,
            extra,
            nullable,
            default,
            has_triggers,
            own,
            zone,
        ] = row
        else {
            return Err(Error::internal("a catalogue row of MySQL has eleven fields"));
        };
        let named = |value: &Value| if value.is_null() { Ok(String::new()) } else { text(value) };
        let (collation, own) = (named(collation)?, named(own)?);
        let extra = text(extra)?.to_ascii_lowercase();
        let column_type = text(column_type)?;
        Ok(TableColumn {
            name: text(name)?,
            kind: kind_of(&text(data_type)?.to_ascii_lowercase(), &column_type),
            type_name: column_type,
            collate: if collation == own { String::new() } else { collation.clone() },
            collation,
            zone: zone_of(&named(zone)?),
            primary_key: text(key)? == "PRI",
            auto_increment: extra.contains("auto_increment"),
            nullable: text(nullable)? == "YES",
            invisible: extra.contains("invisible"),
            attribute: Default::default(),
            timed: timed(&text(default)?, &extra, has_triggers),
        })
    }

    fn health(&self) -> Option<&dyn Health> {
        Some(self)
    }

    fn presentation(&self) -> Option<&dyn Presentation> {
        Some(self)
    }

    fn names_query(&self) -> Option<String> {
        Some(format!(
            "SELECT TABLE_NAME, INDEX_NAME, 'index' FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() \
             UNION SELECT TABLE_NAME, CONSTRAINT_NAME, 'constraint' FROM information_schema.TABLE_CONSTRAINTS \
             WHERE TABLE_SCHEMA = DATABASE() UNION ALL SELECT EVENT_OBJECT_TABLE, TRIGGER_NAME, 'trigger' \
             FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE() LIMIT {ALL}"
        ))
    }

    fn privilege_query(&self, privilege: &str) -> Option<String> {
        let word = privilege.to_ascii_uppercase();
        match word.as_str() {
            "NONE" => Some("SELECT 1".to_owned()),
            // MariaDB asks for nothing; MySQL 8 for this where branches of others are to be found again.
            "XA" => Some(format!(
                "SELECT VERSION() LIKE '%MariaDB%' OR EXISTS (SELECT 1 FROM information_schema.USER_PRIVILEGES \
                 WHERE PRIVILEGE_TYPE IN ('XA_RECOVER_ADMIN', 'SUPER') AND GRANTEE = {OWN})"
            )),
            "SELECT" | "INSERT" | "UPDATE" | "DELETE" | "CREATE" | "DROP" | "ALTER" | "INDEX" => {
                Some(format!(
                    "SELECT EXISTS (SELECT 1 FROM (SELECT GRANTEE, PRIVILEGE_TYPE FROM information_schema.USER_PRIVILEGES \
                     UNION ALL SELECT GRANTEE, PRIVILEGE_TYPE FROM information_schema.SCHEMA_PRIVILEGES \
                     WHERE DATABASE() LIKE TABLE_SCHEMA) p WHERE PRIVILEGE_TYPE = '{word}' AND GRANTEE = {OWN})"
                ))
            }
            _ => None,
        }
    }

    fn settled_queries(&self, columns: &str, table: &str, most: usize) -> Vec<String> {
        // A locking read sees rows that are not committed yet, and waits for them.
        vec![
            "SET SESSION innodb_lock_wait_timeout = 2".to_owned(),
            format!("SELECT {columns} FROM {table} LIMIT {most} LOCK IN SHARE MODE"),
        ]
    }

    fn effects(&self) -> Option<&dyn Effects> {
        Some(self)
    }

    fn temporaries(&self) -> Option<Kept> {
        Some(Kept::Noted)
    }

    fn views(&self) -> Option<&dyn ViewTexts> {
        Some(self)
    }

    fn tables_query(&self) -> String {
        format!(
            "SELECT NULL, TABLE_NAME, TABLE_TYPE = 'SEQUENCE' FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() \
             AND TABLE_NAME NOT IN ('{}') \
             ORDER BY TABLE_NAME LIMIT {ALL}",
            LEDGER.join("', '")
        )
    }

    /// Triggers: an index is always named together with its table.
    fn indexes_query(&self) -> Option<String> {
        Some(
            "SELECT TRIGGER_NAME, EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()"
                .into(),
        )
    }

    fn indexes_of(&self, table: &str) -> Option<(String, &'static str)> {
        Some((format!("SHOW INDEX FROM {}", self.quote(table)), "Key_name"))
    }

    fn index_names_are_global(&self) -> bool {
        false
    }

    fn reports_given_keys(&self) -> bool {
        true
    }

    fn definitions_commit(&self) -> bool {
        true
    }

    /// <https://dev.mysql.com/doc/refman/8.4/en/drop-table.html>; TRUNCATE takes one table.
    fn lists_tables(&self, action: DefineAction) -> bool {
        action == DefineAction::Drop
    }

    /// MariaDB does; MySQL looks first since 8.0.
    fn drops_the_others(&self, version: &str) -> bool {
        version.contains("MariaDB")
    }
}

pub(super) fn text(value: &Value) -> Result<String> {
    match value {
        Value::Text(text) => Ok(text.clone()),
        Value::Bytes(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::UInt(_)
        | Value::Float(_)
        | Value::Decimal(_) => Err(Error::internal("a catalogue field of MySQL is text")),
    }
}

fn kind_of(data_type: &str, column_type: &str) -> Kind {
    match data_type {
        "tinyint" | "smallint" | "mediumint" | "int" | "integer" | "bigint" => {
            if column_type.to_ascii_lowercase().contains("unsigned") {
                Kind::UInt
            } else {
                Kind::Int
            }
        }
        "bit" | "year" => Kind::UInt,
        "decimal" | "numeric" => Kind::Decimal,
        "float" | "double" => Kind::Float,
        "date" => Kind::Date,
        "time" => Kind::Time,
        "datetime" | "timestamp" => Kind::Timestamp,
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" => Kind::Text,
        "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" => Kind::Bytes,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_that_is_an_offset_has_seconds() {
        for (name, expected) in [
            ("UTC", Some(0)),
            ("+00:00", Some(0)),
            ("+05:30", Some(19_800)),
            ("-03:00", Some(-10_800)),
            ("Europe/Berlin", None),
            ("CET", None),
            ("+5", None),
            ("", None),
        ] {
            assert_eq!(zone_of(name), expected, "{name}");
        }
    }

    #[test]
    fn a_catalogue_row_is_read() {
        let text = |text: &str| Value::Text(text.to_owned());
        let row = [
            text("id"),
            text("bigint"),
            text("bigint(20) unsigned"),
            Value::Null,
            text("PRI"),
            text("auto_increment"),
            text("NO"),
            text("current_timestamp()"),
            Value::Int(0),
            text("utf8mb4_general_ci"),
            text("+02:00"),
        ];
        let column = MySql.read_column(&row).unwrap();
        assert_eq!(column.zone, Some(7200));
        assert_eq!((column.kind, column.name.as_str()), (Kind::UInt, "id"));
        assert!(column.primary_key && column.auto_increment && !column.nullable);
        assert_eq!(column.timed.as_deref(), Some("current_timestamp()"));
        assert!(MySql.read_column(&row[1..]).is_err());
        for (own, expected) in [("utf8mb4_general_ci", "utf8mb4_bin"), ("utf8mb4_bin", "")] {
            let mut row = row.clone();
            (row[3], row[9]) = (text("utf8mb4_bin"), text(own));
            let column = MySql.read_column(&row).unwrap();
            assert_eq!(
                (column.collation.as_str(), column.collate.as_str()),
                ("utf8mb4_bin", expected)
            );
        }
        assert!(MySql.read_column(&[const { Value::Null }; 11]).is_err());
    }

    #[test]
    fn names_in_queries_are_quoted() {
        let query = MySql.columns_query(Some("a'b"), "t\\");
        assert!(query.contains("TABLE_SCHEMA = 'a''b' AND TABLE_NAME = 't\\\\'"));
        assert!(MySql.columns_query(None, "t").contains("TABLE_SCHEMA = DATABASE()"));
    }
}
