//! Images of rows: each as the text of a row value, which every type's own output function writes.
//! <https://www.postgresql.org/docs/current/rowtypes.html#ROWTYPES-IO-SYNTAX>

use pando_kernel::dialect::{Language, TableColumn};
use pando_kernel::relation::Relations;
use pando_kernel::undo::{Form, Images, Telling, Undo, UndoTables};
use pando_kernel::{Error, ErrorKind, Result};

use super::transfer::obstacles;
use super::{Postgres, text_literal};

/// How PostgreSQL lets one write that a variable is off.
const FALSE: &[&str] = &["off", "false", "no", "0"];
/// Variables under which dates and intervals are written so that any session reads them alike, by what their values begin with.
const STYLES: &[(&str, &[&str])] =
    &[("datestyle", &["iso"]), ("intervalstyle", &["postgres"]), ("bytea_output", &["hex"])];

/// Whether the text of an attribute's type hangs on its session: names that the search path shortens, and moments and amounts of money inside of another
/// type. By themselves these two have forms of their own. <https://www.postgresql.org/docs/current/catalog-pg-type.html>
const VARIES: &str = "EXISTS (WITH RECURSIVE part (oid, is_whole) AS (SELECT a.atttypid, true UNION SELECT next.oid, false FROM part \
    JOIN pg_catalog.pg_type t ON t.oid = part.oid CROSS JOIN LATERAL (SELECT t.typbasetype WHERE t.typtype = 'd' \
    UNION ALL SELECT t.typelem WHERE t.typelem <> 0 \
    UNION ALL SELECT f.atttypid FROM pg_catalog.pg_attribute f WHERE f.attrelid = t.typrelid AND f.attnum > 0 AND NOT f.attisdropped \
    UNION ALL SELECT r.rngsubtype FROM pg_catalog.pg_range r WHERE r.rngtypid = t.oid) AS next (oid)) \
    SELECT FROM part JOIN pg_catalog.pg_type t ON t.oid = part.oid WHERE t.typnamespace = 'pg_catalog'::regnamespace \
    AND (t.typname LIKE 'reg%' OR t.typname LIKE 'tstz%' OR t.typname IN ('timestamptz', 'money') AND NOT part.is_whole))";

impl Images for Postgres {
    fn telling(&self) -> Telling {
        Telling::Returning
    }

    fn check(&self, variables: &[(String, String)]) -> Result<()> {
        Relations::check(self, variables)?;
        for (name, value) in variables {
            let value = value.trim().trim_matches('\'').to_ascii_lowercase();
            if name.eq_ignore_ascii_case("synchronous_commit") && FALSE.contains(&value.as_str()) {
                return Err(Error::unsupported(
                    30001,
                    "with `synchronous_commit` = off a crash could take back one unit's part of a BASE transaction alone",
                    "use `local` or `on` in BASE transactions",
                ));
            }
            let known = STYLES.iter().find(|(style, _)| name.eq_ignore_ascii_case(style));
            let reads = known.is_none_or(|(_, styles)| {
                let is_it = |style: &&str| {
                    value.strip_prefix(*style).is_some_and(|rest| !rest.starts_with('_'))
                };
                value == "default" || styles.iter().any(is_it)
            });
            if !reads {
                return Err(Error::unsupported(
                    30001,
                    format!("with `{name}` = {value} images of rows would be ambiguous"),
                    "use ISO dates and PostgreSQL's intervals in BASE transactions",
                ));
            }
        }
        Ok(())
    }

    fn facts_query(&self, schema: Option<&str>, table: &str) -> String {
        let find = |name: &str| {
            let name = match schema {
                Some(schema) => format!("{}.{}", self.quote(schema), self.quote(name)),
                None => self.quote(name),
            };
            format!("to_regclass({})", text_literal(&name))
        };
        let table = format!("coalesce({}, {})", find(table), find(&table.to_lowercase()));
        let obstacles = obstacles(&table);
        let own = format!("FROM pg_catalog.pg_class c WHERE c.oid = {table}");
        let reason = |condition: &str, why: &str| {
            format!(" UNION ALL SELECT 'refused', '{why}', '' {own} AND ({condition})")
        };
        let inherits = "c.relkind = 'r' AND EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhparent = c.oid)";
        format!(
            "{obstacles} UNION ALL SELECT 'table', c.relname::text, n.nspname::text FROM pg_catalog.pg_class c \
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = {table} \
             UNION ALL SELECT CASE WHEN i.indisprimary THEN 'primary' ELSE 'unique' END, coalesce(a.attname::text, ''), i.indexrelid::text \
             FROM pg_catalog.pg_index i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (number, place) \
             LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number AND k.number > 0 \
             WHERE i.indrelid = {table} AND i.indisunique AND k.place <= i.indnkeyatts \
             UNION ALL SELECT 'refused', 'column `' || a.attname || '` of type ' || format_type(a.atttypid, a.atttypmod) || \
             ' reads differently in other sessions', '' FROM pg_catalog.pg_attribute a \
             WHERE a.attrelid = {table} AND a.attnum > 0 AND NOT a.attisdropped AND coalesce(to_jsonb(a)->>'attgenerated', '') = '' AND {VARIES}{}{}{}{}",
            reason("c.relkind NOT IN ('r', 'p')", "it is no table"),
            reason(
                "c.relispartition",
                "it is a partition, and would be held under another name than through its table"
            ),
            reason(inherits, "other tables inherit from it"),
            reason("c.relrowsecurity", "it has row-level security"),
        )
    }

    fn form(&self, column: &TableColumn) -> Result<Form> {
        let name = column.type_name.as_str();
        Ok(match name {
            "money" => Form::Money,
            _ if name.starts_with("timestamp") && name.ends_with("with time zone") => Form::Moment,
            _ => Form::Plain,
        })
    }

    fn read(&self, form: Form, column: &str) -> String {
        match form {
            Form::Money => format!("{column}::pg_catalog.numeric"),
            // Whoever restores it may stand in another time zone.
            Form::Moment => format!("pg_catalog.timezone('UTC', {column})"),
            Form::Plain
            | Form::Padded
            | Form::Number
            | Form::Float
            | Form::Coded
            | Form::Temporal
            | Form::Octets => column.to_owned(),
        }
    }

    fn write(&self, form: Form, text: &str) -> Result<String> {
        if text.contains('\0') {
            return Err(Error::new(ErrorKind::Value("an image holds a zero byte".into())));
        }
        let literal = text_literal(text);
        Ok(match form {
            Form::Money => format!("{literal}::pg_catalog.numeric::pg_catalog.money"),
            Form::Moment => format!("pg_catalog.timezone('UTC', {literal}::pg_catalog.timestamp)"),
            Form::Plain
            | Form::Padded
            | Form::Number
            | Form::Float
            | Form::Coded
            | Form::Temporal
            | Form::Octets => literal,
        })
    }
}

impl Undo for Postgres {
    fn tables(&self) -> UndoTables {
        UndoTables { undo: "pando.undo", lock: "pando.row_lock" }
    }

    fn present_query(&self) -> &'static str {
        "SELECT (to_regclass('pando.undo') IS NOT NULL AND to_regclass('pando.row_lock') IS NOT NULL)::int"
    }

    fn definitions(&self) -> Vec<String> {
        let lock = "CREATE TABLE IF NOT EXISTS pando.row_lock (table_name text COLLATE \"C\" NOT NULL, key_text text COLLATE \"C\" NOT NULL, \
                    global_id text COLLATE \"C\" NOT NULL, PRIMARY KEY (table_name, key_text))";
        let undo = "CREATE TABLE IF NOT EXISTS pando.undo (global_id text COLLATE \"C\" NOT NULL, statement_no bigint NOT NULL, \
                    part_no bigint NOT NULL, decider text NOT NULL, deadline bigint NOT NULL, state text NOT NULL DEFAULT 'open', \
                    note text NOT NULL DEFAULT '', image text NOT NULL, PRIMARY KEY (global_id, statement_no, part_no))";
        // Rows are claimed before images are written: where the one table is missing, so may be the other, and never the other way round.
        [
            "CREATE SCHEMA IF NOT EXISTS pando",
            undo,
            lock,
            "CREATE INDEX IF NOT EXISTS row_lock_global ON pando.row_lock (global_id)",
        ]
        .map(str::to_owned)
        .into()
    }

    /// A lock that another global transaction holds would lose its holder, which its column forbids.
    fn claim(&self, rows: &str) -> String {
        format!(
            "INSERT INTO pando.row_lock AS held (table_name, key_text, global_id) VALUES {rows} \
             ON CONFLICT (table_name, key_text) DO UPDATE SET global_id = NULL WHERE held.global_id <> excluded.global_id"
        )
    }

    fn claim_fails(&self) -> bool {
        true
    }

    fn guard(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    fn now(&self) -> &'static str {
        "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    }

    fn around(&self) -> (&'static [&'static str], &'static [&'static str]) {
        // All of them end with the transaction.
        (
            &[
                "SET LOCAL datestyle = 'ISO'",
                "SET LOCAL intervalstyle = 'postgres'",
                "SET LOCAL extra_float_digits = 1",
                "SET LOCAL bytea_output = 'hex'",
                "SET LOCAL lock_timeout = '10s'",
                "SET CONSTRAINTS ALL DEFERRED",
            ],
            &[],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_that_images_or_decisions_do_not_bear_are_refused() {
        let check = |name: &str, value: &str| {
            Images::check(&Postgres, &[(name.to_owned(), value.to_owned())]).is_ok()
        };
        assert!(check("datestyle", "'ISO, DMY'") && check("DateStyle", "iso"));
        assert!(!check("datestyle", "'German'") && !check("intervalstyle", "sql_standard"));
        assert!(!check("extra_float_digits", "0"));
        assert!(check("application_name", "'German'"));
        assert!(!check("synchronous_commit", "off") && check("synchronous_commit", "'local'"));
    }

    #[test]
    fn values_are_written_as_their_own_type_reads_them() {
        let write = |form, text: &str| Images::write(&Postgres, form, text).unwrap();
        assert_eq!(write(Form::Plain, "it's"), "'it''s'");
        assert_eq!(write(Form::Money, "1.50"), "'1.50'::pg_catalog.numeric::pg_catalog.money");
        assert!(Images::write(&Postgres, Form::Plain, "a\0b").is_err());
    }
}
