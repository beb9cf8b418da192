//! How PostgreSQL tells views.

use pando_kernel::error::{Error, ErrorKind};
use pando_kernel::views::{ViewTexts, Waits};

use super::Postgres;

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
             pg_catalog.pg_relation_is_updatable(c.oid, true) & 28 <> 0 AS takes FROM \
             (SELECT pg_catalog.set_config('search_path', 'pg_catalog', true) AS path, \
             pg_catalog.set_config('lock_timeout', {waits}, true) AS waits FROM s) p \
             CROSS JOIN pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE c.relkind = 'v' AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' AND p.path <> '' AND p.waits <> '' \
             ORDER BY 1, 2, 3), \
             b AS (SELECT s.home, pg_catalog.set_config('search_path', s.path, true) AS path, \
             pg_catalog.set_config('lock_timeout', s.waits, true) AS waits \
             FROM s, (SELECT pg_catalog.count(*) FROM v) n) \
             SELECT v.schema, v.name, 0, v.text, v.checks, v.takes, b.home FROM b LEFT JOIN v ON true ORDER BY 1, 2"
        )
    }

    fn is_being_changed(&self, error: &Error) -> bool {
        matches!(error.kind(), ErrorKind::Server(said) if said.sqlstate == "55P03")
    }
}
