//! How PostgreSQL tells views.

use std::fmt::Write as _;

use pando_kernel::Value;
use pando_kernel::dialect::Language;
use pando_kernel::error::{Error, ErrorKind};
use pando_kernel::views::{Refill, ViewTexts, Waits};

use super::Postgres;

/// What the own query of a materialized view over several storage units is called in the one that it is made with.
pub(crate) const OWN_QUERY: &str = "pando_query";
/// The setting that has the rows for it.
const ROWS: &str = "pando.rows";

impl ViewTexts for Postgres {
    /// Definitions name tables and all else with their schemas, whatever the search path: it is another while they are
    /// told. They are sorted to be told all before it is put back. To tell one its tables are locked, and whoever
    /// changes one of these in an open transaction is waited for.
    fn query(&self, waits: Waits) -> String {
        let waits = match waits {
            Waits::Briefly => "'200ms'",
            Waits::AsSet => "s.waits",
        };
        format!(
            "WITH s AS (SELECT pg_catalog.current_setting('search_path') AS path, \
             pg_catalog.current_setting('lock_timeout') AS waits, \
             coalesce(pg_catalog.current_schema(), 'public')::text AS home), \
             v AS (SELECT n.nspname::text AS schema, c.relname::text AS name, \
             pg_catalog.pg_get_viewdef(c.oid) AS text, \
             coalesce(pg_catalog.array_to_string(c.reloptions, ',') ~ 'check_option=', false) AS checks, \
             pg_catalog.pg_relation_is_updatable(c.oid, true) & 28 <> 0 AS takes, c.relkind = 'm' AS filled FROM \
             (SELECT pg_catalog.set_config('search_path', 'pg_catalog', true) AS path, \
             pg_catalog.set_config('lock_timeout', {waits}, true) AS waits FROM s) p \
             CROSS JOIN pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE c.relkind IN ('v', 'm') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' AND p.path <> '' AND p.waits <> '' \
             ORDER BY 1, 2, 3), \
             b AS (SELECT s.home, pg_catalog.set_config('search_path', s.path, true) AS path, \
             pg_catalog.set_config('lock_timeout', s.waits, true) AS waits \
             FROM s, (SELECT pg_catalog.count(*) FROM v) n) \
             SELECT v.schema, v.name, 0, v.text, v.checks, v.takes, b.home, v.filled FROM b LEFT JOIN v ON NOT v.filled \
             OR v.text ~ '\\) {OWN_QUERY}\\s+WHERE false\\s+UNION ALL\\s' ORDER BY 1, 2"
        )
    }

    /// That of a materialized view over several storage units stands in the first FROM.
    fn written(&self, definition: &str) -> String {
        let own = || {
            let (_, rest) = definition.split_once("FROM ( ")?;
            let (own, rest) = rest.rsplit_once(&format!(") {OWN_QUERY}\n"))?;
            rest.trim_start().starts_with("WHERE false").then(|| own.to_owned())
        };
        own().unwrap_or_else(|| definition.to_owned())
    }

    fn refill(&self) -> Option<&dyn Refill> {
        Some(self)
    }

    fn is_being_changed(&self, error: &Error) -> bool {
        matches!(error.kind(), ErrorKind::Server(said) if said.sqlstate == "55P03")
    }
}

/// Rows travel in a setting of the transaction, as an array of arrays of texts in JSON, and are read back by the types'
/// own input functions. The view's own query is never run there, and keeps what it is over from being dropped.
/// <https://www.postgresql.org/docs/current/functions-json.html>
impl Refill for Postgres {
    fn query(&self, own: &str, columns: &[String], types: &[String]) -> String {
        let cells: Vec<String> = columns
            .iter()
            .zip(types)
            .enumerate()
            .map(|(at, (name, kind))| format!("(r.value ->> {at})::{kind} AS {name}"))
            .collect();
        format!(
            "SELECT * FROM ({own}) AS {OWN_QUERY} WHERE false UNION ALL SELECT {} FROM \
             pg_catalog.json_array_elements(NULLIF(pg_catalog.current_setting('{ROWS}', true), '')::pg_catalog.json) AS r(value)",
            cells.join(", ")
        )
    }

    fn push(&self, rows: &mut String, fields: &[Option<&str>]) {
        if rows.is_empty() {
            rows.push('[');
        } else {
            rows.pop();
            rows.push(',');
        }
        for (at, field) in fields.iter().enumerate() {
            rows.push(if at == 0 { '[' } else { ',' });
            match field {
                None => rows.push_str("null"),
                Some(text) => push_string(rows, text),
            }
        }
        rows.push_str(if fields.is_empty() { "[]]" } else { "]]" });
    }

    fn given(&self, rows: &str) -> String {
        let rows = self.literal(&Value::Text(rows.to_owned()));
        format!("SELECT pg_catalog.set_config('{ROWS}', {rows}, true)")
    }
}

/// A string of JSON.
fn push_string(text: &mut String, value: &str) {
    text.push('"');
    for c in value.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(text, "\\u{:04x}", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_of_a_materialized_view_is_found_in_the_one_it_is_made_with() {
        let told = " SELECT pando_query.a\n   FROM ( SELECT t_0.a\n           FROM t_0) pando_query\n  WHERE false\nUNION ALL\n SELECT (r.value ->> 0) AS a\n   FROM x r(value);";
        assert_eq!(Postgres.written(told), "SELECT t_0.a\n           FROM t_0");
        assert_eq!(Postgres.written(" SELECT 1;"), " SELECT 1;");
    }

    #[test]
    fn rows_are_strings_of_json() {
        let mut rows = String::new();
        Postgres.push(&mut rows, &[Some("a\"\\\n\u{7f}ü"), None]);
        Postgres.push(&mut rows, &[Some(""), Some("{1,2}")]);
        assert_eq!(rows, "[[\"a\\\"\\\\\\u000a\\u007fü\",null],[\"\",\"{1,2}\"]]");
    }
}
