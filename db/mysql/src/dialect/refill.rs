//! How rows of MySQL's and MariaDB's tables are stored otherwise while clients go on.

use pando_kernel::dialect::Language;
use pando_kernel::error::{Error, ErrorKind};
use pando_kernel::table::TableColumn;
use pando_kernel::{Nulls, RefillDefinitions, RefillWords};

use super::{MySql, text_literal};

/// <https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html>: `ER_LOCK_WAIT_TIMEOUT`, `ER_LOCK_DEADLOCK`.
const BUSY: [u32; 2] = [1205, 1213];

impl RefillWords for MySql {
    fn settings(&self) -> &'static [&'static str] {
        &[
            "SET SESSION innodb_lock_wait_timeout = 1",
            "SET SESSION lock_wait_timeout = 1",
            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "SET SESSION sql_mode = 'STRICT_ALL_TABLES'",
        ]
    }

    /// A transaction keeps the metadata lock of a table that it has used to its end.
    /// <https://dev.mysql.com/doc/refman/8.0/en/metadata-locking.html>
    fn fence(&self, table: &str) -> Vec<String> {
        vec![format!("LOCK TABLES {table} WRITE"), "UNLOCK TABLES".to_owned()]
    }

    /// `ON UPDATE CURRENT_TIMESTAMP`.
    fn is_moved(&self, column: &TableColumn) -> bool {
        column.timed.is_some()
    }

    fn is_busy(&self, error: &Error) -> bool {
        matches!(error.kind(), ErrorKind::Server(error) if BUSY.contains(&error.number))
    }
}

impl RefillDefinitions for MySql {
    fn unseen_changes(&self, _: Option<&str>, name: &str, columns: &[String]) -> String {
        let (name, columns) = (text_literal(name), self.texts(columns));
        format!(
            "SELECT CONCAT('trigger `', TRIGGER_NAME, '`') FROM information_schema.TRIGGERS \
             WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = {name} \
             UNION ALL SELECT CONCAT('the default of column `', COLUMN_NAME, '`') FROM information_schema.COLUMNS \
             WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {name} AND COLUMN_NAME IN ({columns}) \
             AND (COLUMN_DEFAULT <> 'NULL' OR EXTRA LIKE '%GENERATED%' OR EXTRA LIKE '%on update%' OR EXTRA LIKE '%auto_increment%') \
             UNION ALL SELECT CONCAT('foreign key `', CONSTRAINT_NAME, '`') FROM information_schema.KEY_COLUMN_USAGE \
             WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {name} AND COLUMN_NAME IN ({columns}) \
             AND REFERENCED_TABLE_NAME IS NOT NULL \
             UNION ALL SELECT CONCAT('view `', TABLE_NAME, '`') FROM information_schema.VIEWS \
             WHERE TABLE_SCHEMA = DATABASE() AND INSTR(VIEW_DEFINITION, CONCAT('`', {name}, '`')) > 0"
        )
    }

    fn dependents(&self, _: Option<&str>, name: &str, columns: &[String]) -> String {
        let (name, columns) = (text_literal(name), self.texts(columns));
        format!(
            "SELECT DISTINCT CONCAT('index `', INDEX_NAME, '`') FROM information_schema.STATISTICS \
             WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {name} AND COLUMN_NAME IN ({columns})"
        )
    }

    fn nullable(&self, table: &str, column: &TableColumn, takes: Nulls) -> String {
        let (name, kind) = (self.quote(&column.name), &column.type_name);
        let collate = match column.collation.as_str() {
            "" => String::new(),
            collation => format!(" COLLATE {collation}"),
        };
        let nulls = match takes {
            Nulls::Taken => "NULL",
            Nulls::Refused => "NOT NULL",
        };
        format!("ALTER TABLE {table} MODIFY COLUMN {name} {kind}{collate} {nulls}")
    }
}

impl MySql {
    fn texts(&self, list: &[String]) -> String {
        list.iter().map(|one| text_literal(one)).collect::<Vec<_>>().join(", ")
    }
}
