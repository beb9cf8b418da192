//! Images of rows: every column cast to text of its own, so that text and binary results hold the same bytes.

use pando_kernel::dialect::TableColumn;
use pando_kernel::relation::Relations;
use pando_kernel::undo::{Form, Images, Telling, Undo, UndoTables};
use pando_kernel::{Error, ErrorKind, Kind, Result};

use super::{MySql, text_literal};

/// Under this mode every value that stands in a table can be written again, and under this zone every moment is one only.
const BEFORE: &[&str] = &[
    "SET @pando_sql_mode = @@SESSION.sql_mode, @pando_time_zone = @@SESSION.time_zone, SESSION time_zone = '+00:00', \
     SESSION sql_mode = 'STRICT_ALL_TABLES,ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION'",
];
const AFTER: &[&str] =
    &["SET SESSION sql_mode = @pando_sql_mode, SESSION time_zone = @pando_time_zone"];

impl Images for MySql {
    fn telling(&self) -> Telling {
        Telling::Reading
    }

    fn check(&self, variables: &[(String, String)]) -> Result<()> {
        Relations::check(self, variables)?;
        let loose = |(name, value): &&(String, String)| {
            name == "foreign_key_checks"
                && !matches!(value.to_ascii_lowercase().as_str(), "1" | "on" | "default")
        };
        match variables.iter().find(loose) {
            None => Ok(()),
            Some((name, value)) => Err(Error::unsupported(
                30001,
                format!("with `{name}` = {value} a BASE transaction could not be taken back"),
                "use a LOCAL or XA transaction",
            )),
        }
    }

    fn facts_query(&self, schema: Option<&str>, table: &str) -> String {
        let database = schema.map_or_else(|| "DATABASE()".to_owned(), text_literal);
        let own = format!("TABLE_SCHEMA = {database} AND TABLE_NAME = {}", text_literal(table));
        let name = text_literal(table);
        let columns = |what: &str, condition: &str| {
            format!(
                "SELECT '{what}', COLUMN_NAME, '' FROM information_schema.COLUMNS WHERE {own} AND ({condition})"
            )
        };
        // A part of a column is told beside its whole, as the index is then no proof of equality.
        let index = |what: &str, column: &str, condition: &str| {
            format!(
                "SELECT {what}, {column}, INDEX_NAME FROM information_schema.STATISTICS WHERE {own} AND NON_UNIQUE = 0 AND ({condition})"
            )
        };
        [
            format!(
                "SELECT 'table', TABLE_NAME, '{}' FROM information_schema.TABLES WHERE {own}",
                schema.unwrap_or("").replace('\'', "''").replace('\\', "\\\\")
            ),
            index(
                "IF(INDEX_NAME = 'PRIMARY', 'primary', 'unique')",
                "COALESCE(COLUMN_NAME, '')",
                "TRUE",
            ),
            index("'part'", "COALESCE(COLUMN_NAME, '')", "SUB_PART IS NOT NULL"),
            columns(
                "computed",
                "EXTRA LIKE '%VIRTUAL%' OR EXTRA LIKE '%STORED GENERATED%' OR EXTRA LIKE '%PERSISTENT%'",
            ),
            columns("stamped", "EXTRA LIKE '%on update%'"),
            format!(
                "SELECT 'reference', TABLE_NAME, DELETE_RULE FROM information_schema.REFERENTIAL_CONSTRAINTS \
                 WHERE UNIQUE_CONSTRAINT_SCHEMA = {database} AND REFERENCED_TABLE_NAME = {name} \
                 AND (DELETE_RULE NOT IN ('RESTRICT', 'NO ACTION') OR UPDATE_RULE NOT IN ('RESTRICT', 'NO ACTION'))"
            ),
            format!(
                "SELECT 'trigger', TRIGGER_NAME, '' FROM information_schema.TRIGGERS \
                 WHERE EVENT_OBJECT_SCHEMA = {database} AND EVENT_OBJECT_TABLE = {name}"
            ),
            format!(
                "SELECT 'refused', CONCAT('its engine ', COALESCE(ENGINE, 'of a view'), ' has no transactions'), '' \
                 FROM information_schema.TABLES WHERE {own} AND COALESCE(ENGINE NOT IN \
                 (SELECT ENGINE FROM information_schema.ENGINES WHERE TRANSACTIONS = 'YES'), TRUE)"
            ),
        ]
        .join(" UNION ALL ")
    }

    fn form(&self, column: &TableColumn) -> Result<Form> {
        let type_name = column.type_name.to_ascii_lowercase();
        let base = type_name.split(['(', ' ']).next().unwrap_or("");
        Ok(match (base, column.kind) {
            ("bit" | "enum" | "set", _) => Form::Coded,
            ("timestamp", _) => Form::Moment,
            ("char", _) => Form::Padded,
            (
                "geometry" | "point" | "linestring" | "polygon" | "multipoint" | "multilinestring"
                | "multipolygon" | "geometrycollection" | "geomcollection" | "vector",
                _,
            )
            | (_, Kind::Bytes) => Form::Octets,
            (_, Kind::Float) => Form::Float,
            (_, Kind::Int | Kind::UInt | Kind::Decimal | Kind::Bool) => Form::Number,
            (_, Kind::Date | Kind::Time | Kind::Timestamp | Kind::TimestampTz) => Form::Temporal,
            (_, Kind::Text | Kind::Other) => Form::Plain,
        })
    }

    fn read(&self, form: Form, column: &str) -> String {
        match form {
            Form::Plain | Form::Money => column.to_owned(),
            Form::Number | Form::Temporal => format!("CAST({column} AS CHAR)"),
            // Whether padding is shown is a matter of the session's mode.
            Form::Padded => format!("TRIM(TRAILING ' ' FROM {column})"),
            Form::Coded => format!("CAST({column} + 0 AS CHAR)"),
            // As text a FLOAT is cut to six digits.
            Form::Float => format!("CAST({column} * 1e0 AS CHAR)"),
            // What is longer than a packet becomes NULL.
            Form::Octets => {
                format!("COALESCE(HEX({column}), IF({column} IS NULL, NULL, 'too long'))")
            }
            Form::Moment => format!("CAST(UNIX_TIMESTAMP({column}) AS CHAR)"),
        }
    }

    fn write(&self, form: Form, text: &str) -> Result<String> {
        let wrong =
            || Error::new(ErrorKind::Value("an image holds a value of another form".into()));
        let is_number = || {
            let known =
                |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e');
            !text.is_empty() && text.bytes().all(known)
        };
        match form {
            Form::Plain | Form::Padded | Form::Temporal | Form::Money => Ok(text_literal(text)),
            Form::Number | Form::Coded if is_number() => Ok(text.to_owned()),
            // Without an exponent it would be a decimal, whose zero has no sign.
            Form::Float if is_number() => {
                Ok(if text.contains('e') { text.to_owned() } else { format!("{text}e0") })
            }
            Form::Moment if is_number() && text.bytes().all(|byte| matches!(byte, b'0' | b'.')) => {
                Ok("'0000-00-00 00:00:00'".to_owned())
            }
            Form::Moment if is_number() => Ok(format!("FROM_UNIXTIME({text})")),
            Form::Octets if text.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                Ok(format!("X'{text}'"))
            }
            Form::Number | Form::Coded | Form::Float | Form::Moment | Form::Octets => Err(wrong()),
        }
    }
}

impl Undo for MySql {
    fn tables(&self) -> UndoTables {
        UndoTables { undo: "pando_undo", lock: "pando_row_lock" }
    }

    fn present_query(&self) -> &'static str {
        "SELECT COUNT(*) = 2 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('pando_undo', 'pando_row_lock')"
    }

    fn definitions(&self) -> Vec<String> {
        let id = "global_id VARBINARY(64) NOT NULL";
        // Rows are claimed before images are written: where the one table is missing, so may be the other, and never the other way round.
        [
            format!(
                "CREATE TABLE IF NOT EXISTS pando_undo ({id}, statement_no BIGINT NOT NULL, part_no BIGINT NOT NULL, \
                 decider VARCHAR(255) NOT NULL, deadline BIGINT NOT NULL, state VARCHAR(16) NOT NULL DEFAULT 'open', note TEXT NOT NULL, \
                 image LONGTEXT NOT NULL, PRIMARY KEY (global_id, statement_no, part_no)) \
                 ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
            ),
            format!(
                "CREATE TABLE IF NOT EXISTS pando_row_lock (table_name VARBINARY(200) NOT NULL, key_text VARBINARY(200) NOT NULL, {id}, \
                 PRIMARY KEY (table_name, key_text), KEY row_lock_global (global_id)) ENGINE=InnoDB"
            ),
        ]
        .into()
    }

    fn claim(&self, rows: &str) -> String {
        format!(
            "INSERT INTO pando_row_lock (table_name, key_text, global_id) VALUES {rows} ON DUPLICATE KEY UPDATE key_text = VALUES(key_text)"
        )
    }

    fn claim_fails(&self) -> bool {
        false
    }

    fn guard(&self) -> Option<(&'static str, &'static str)> {
        Some(("SET SESSION autocommit = 0", "SET SESSION autocommit = 1"))
    }

    fn now(&self) -> &'static str {
        // NOW() is what the session says it is.
        "CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED)"
    }

    fn around(&self) -> (&'static [&'static str], &'static [&'static str]) {
        (BEFORE, AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_in_the_form_they_were_read() {
        let check = |form, text: &str, expected: &str| {
            assert_eq!(Images::write(&MySql, form, text).unwrap(), expected);
        };
        check(Form::Plain, "it's\0", "'it''s\\0'");
        check(Form::Number, "-1.50", "-1.50");
        check(Form::Float, "-0", "-0e0");
        check(Form::Octets, "00FF", "X'00FF'");
        check(Form::Moment, "1729992600.123456", "FROM_UNIXTIME(1729992600.123456)");
        check(Form::Moment, "0.000000", "'0000-00-00 00:00:00'");
        for (form, text) in [
            (Form::Number, "1) OR (1"),
            (Form::Octets, "0'"),
            (Form::Moment, ""),
            (Form::Float, ""),
        ] {
            assert!(Images::write(&MySql, form, text).is_err(), "{form:?} {text}");
        }
    }

    #[test]
    fn sessions_whose_changes_could_not_be_taken_back_are_refused() {
        let check = |name: &str, value: &str| {
            Images::check(&MySql, &[(name.to_owned(), value.to_owned())]).is_ok()
        };
        assert!(!check("foreign_key_checks", "0") && check("foreign_key_checks", "1"));
        assert!(!check("names", "latin1") && check("names", "utf8mb4"));
    }
}
