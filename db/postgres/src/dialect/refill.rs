//! How rows of PostgreSQL's tables are stored otherwise while clients go on.

use pando_kernel::dialect::Language;
use pando_kernel::error::{Error, ErrorKind};
use pando_kernel::table::TableColumn;
use pando_kernel::{Nulls, RefillDefinitions, RefillWords};

use super::{Postgres, text_literal};

/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>: `lock_not_available`, `deadlock_detected`,
/// `serialization_failure`.
const BUSY: [&str; 3] = ["55P03", "40P01", "40001"];

impl RefillWords for Postgres {
    fn settings(&self) -> &'static [&'static str] {
        &[
            "SET lock_timeout = '300ms'",
            "SET default_transaction_isolation = 'read committed'",
            "SET default_transaction_read_only = off",
            "SET statement_timeout = 0",
        ]
    }

    /// A transaction that has changed a table keeps a lock to its end that this one excludes; readers do not.
    /// <https://www.postgresql.org/docs/current/explicit-locking.html>
    fn fence(&self, table: &str) -> Vec<String> {
        let lock = format!("LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE");
        vec!["BEGIN".to_owned(), lock, "COMMIT".to_owned()]
    }

    fn is_moved(&self, _: &TableColumn) -> bool {
        false
    }

    fn is_busy(&self, error: &Error) -> bool {
        matches!(error.kind(), ErrorKind::Server(error) if BUSY.contains(&&*error.sqlstate))
    }
}

impl RefillDefinitions for Postgres {
    fn unseen_changes(&self, schema: Option<&str>, name: &str, columns: &[String]) -> String {
        let (table, columns) = (self.table(schema, name), self.texts(columns));
        format!(
            "SELECT 'trigger `' || tgname || '`' FROM pg_catalog.pg_trigger \
             WHERE tgrelid = {table} AND NOT tgisinternal \
             UNION ALL SELECT 'the default of column `' || attname || '`' FROM pg_catalog.pg_attribute \
             WHERE attrelid = {table} AND attname IN ({columns}) AND (atthasdef OR attidentity <> '') \
             UNION ALL SELECT pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid) \
             FROM pg_catalog.pg_depend AS d JOIN pg_catalog.pg_attribute AS a \
             ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid \
             WHERE d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = {table} \
             AND a.attname IN ({columns}) AND (d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass \
             OR EXISTS (SELECT FROM pg_catalog.pg_constraint AS c WHERE c.oid = d.objid AND c.contype = 'f' \
             AND d.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass AND c.conrelid = {table}))"
        )
    }

    fn dependents(&self, schema: Option<&str>, name: &str, columns: &[String]) -> String {
        let (table, columns) = (self.table(schema, name), self.texts(columns));
        format!(
            "SELECT DISTINCT pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid) \
             FROM pg_catalog.pg_depend AS d JOIN pg_catalog.pg_attribute AS a \
             ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid \
             WHERE d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = {table} \
             AND a.attname IN ({columns}) AND d.classid <> 'pg_catalog.pg_attrdef'::pg_catalog.regclass \
             AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint AS c \
             WHERE d.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass AND c.oid = d.objid AND c.contype = 'n')"
        )
    }

    fn nullable(&self, table: &str, column: &TableColumn, takes: Nulls) -> String {
        let name = self.quote(&column.name);
        let verb = match takes {
            Nulls::Taken => "DROP",
            Nulls::Refused => "SET",
        };
        format!("ALTER TABLE {table} ALTER COLUMN {name} {verb} NOT NULL")
    }
}

impl Postgres {
    fn texts(&self, list: &[String]) -> String {
        list.iter().map(|one| text_literal(one)).collect::<Vec<_>>().join(", ")
    }

    /// The number of a table.
    fn table(&self, schema: Option<&str>, name: &str) -> String {
        let owner = schema.map_or(String::new(), |schema| format!("{}.", self.quote(schema)));
        let name = text_literal(&format!("{owner}{}", self.quote(name)));
        format!("{name}::pg_catalog.regclass")
    }
}
