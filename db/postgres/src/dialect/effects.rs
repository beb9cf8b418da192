//! Which names may have effects on connections: functions that are not the vendor's, and tables whose triggers, rules, policies, columns, indexes or checks may run something.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use pando_kernel::effects::{Effectful, Effects};
use pando_kernel::value::Value;

use super::Postgres;

/// The vendor's functions that change nothing of a session and run no statements that they are given as text, of all versions; also types and words that look like calls. What
/// is missing is taken for one that does, so a new version's functions cost a reset until they are listed.
/// <https://www.postgresql.org/docs/current/functions.html>
static HARMLESS: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("tables/harmless.txt").lines().collect());

/// Rows of three texts. Numbers up to 16383 are those of what every server is made with.
///
/// - `call`: a function that is none of the vendor's; `name`: one that can also be called as if it were a column (`row.function`).
/// - `prepares`: there is a function that may prepare statements, drop prepared ones or seed random(), as the words for it stand in its source or it runs texts that it makes; or one in a
///   language other than SQL and PL/pgSQL, but for those of extensions that are known for not doing so. A statement's keyword cannot be written otherwise.
/// - `all`: what runs a user's function and stands in no statement: operators, casts and ranges. A user's operator may run one of the vendor's, too (`write calls` of 0). Those in C are the work of an administrator, and of extensions.
/// - `read runs`: a relation, or 0 for any, that may run anything when it is read: foreign tables, views, policies and virtual columns that call such a function.
/// - `read calls`: a relation, or 0 for any, and a function of the vendor's that is called when it is read.
/// - `read leads`: a view, and what it reads; a whole, and its parts.
/// - `write runs`, `write calls`, `write leads`: the same when it is written: triggers that are no key's, rules, defaults, checks, indexes; parts and their whole, keys that cascade.
/// - `table`: a relation and its name, of those that may turn out to run something.
///
/// <https://www.postgresql.org/docs/current/catalogs.html>
const QUERY: &str = "\
WITH tree (relation, access, text) AS (
 SELECT adrelid, CASE WHEN a.attgenerated OPERATOR(pg_catalog.=) 'v' THEN 'read' ELSE 'write' END, adbin::pg_catalog.text FROM pg_catalog.pg_attrdef d
  JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) d.adrelid AND a.attnum OPERATOR(pg_catalog.=) d.adnum
 UNION ALL SELECT conrelid, 'write', conbin::pg_catalog.text FROM pg_catalog.pg_constraint WHERE conbin IS NOT NULL
 UNION ALL SELECT 0, 'write', typdefaultbin::pg_catalog.text FROM pg_catalog.pg_type WHERE typdefaultbin IS NOT NULL
 UNION ALL SELECT indrelid, 'write', indexprs::pg_catalog.text FROM pg_catalog.pg_index WHERE indexprs IS NOT NULL
 UNION ALL SELECT indrelid, 'write', indpred::pg_catalog.text FROM pg_catalog.pg_index WHERE indpred IS NOT NULL
 UNION ALL SELECT polrelid, 'read', polqual::pg_catalog.text FROM pg_catalog.pg_policy WHERE polqual IS NOT NULL
 UNION ALL SELECT polrelid, 'write', polwithcheck::pg_catalog.text FROM pg_catalog.pg_policy WHERE polwithcheck IS NOT NULL
 UNION ALL SELECT partrelid, 'write', partexprs::pg_catalog.text FROM pg_catalog.pg_partitioned_table WHERE partexprs IS NOT NULL
 UNION ALL SELECT ev_class, CASE WHEN rulename OPERATOR(pg_catalog.=) '_RETURN' THEN 'read' ELSE 'write' END, ev_action::pg_catalog.text FROM pg_catalog.pg_rewrite WHERE ev_class OPERATOR(pg_catalog.>=) 16384
), called (relation, access, kind, function) AS (
 SELECT DISTINCT tree.relation, tree.access, found.part[1], found.part[2]::pg_catalog.oid FROM tree
 CROSS JOIN LATERAL pg_catalog.regexp_matches(tree.text, ':(funcid|opfuncid|aggfnoid|winfnoid|hashfuncid|negfuncid) ([0-9]+)', 'g') AS found (part)
 WHERE tree.relation OPERATOR(pg_catalog.=) 0 OR tree.relation OPERATOR(pg_catalog.>=) 16384
), fact (kind, a, b) AS (
 SELECT 'call', proname::pg_catalog.text, NULL::pg_catalog.text FROM pg_catalog.pg_proc WHERE oid OPERATOR(pg_catalog.>=) 16384
 UNION SELECT 'name', p.proname::pg_catalog.text, NULL FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) p.proargtypes[0]
  WHERE p.oid OPERATOR(pg_catalog.>=) 16384 AND (p.pronargs OPERATOR(pg_catalog.-) p.pronargdefaults) OPERATOR(pg_catalog.<=) 1 AND t.typtype IN ('c', 'p')
 UNION SELECT 'prepares', NULL, NULL FROM pg_catalog.pg_proc p LEFT JOIN pg_catalog.pg_depend d
   ON d.classid OPERATOR(pg_catalog.=) 1255 AND d.objid OPERATOR(pg_catalog.=) p.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'
  LEFT JOIN pg_catalog.pg_extension e ON e.oid OPERATOR(pg_catalog.=) d.refobjid JOIN pg_catalog.pg_language l ON l.oid OPERATOR(pg_catalog.=) p.prolang
  WHERE p.oid OPERATOR(pg_catalog.>=) 16384 AND NOT coalesce(e.extname IN ('btree_gin', 'btree_gist', 'citext', 'cube', 'earthdistance', 'fuzzystrmatch', 'hstore',
   'intarray', 'isn', 'ltree', 'pg_stat_statements', 'pg_trgm', 'pgcrypto', 'seg', 'unaccent', 'uuid-ossp', 'vector'), false)
  AND (l.lanname NOT IN ('sql', 'plpgsql') OR p.prosrc OPERATOR(pg_catalog.~*) 'execute|prepare|deallocate|discard|seed')
 UNION SELECT 'all', NULL, NULL FROM (
   SELECT oprcode::pg_catalog.oid FROM pg_catalog.pg_operator UNION SELECT castfunc FROM pg_catalog.pg_cast
   UNION SELECT rngsubdiff::pg_catalog.oid FROM pg_catalog.pg_range UNION SELECT rngcanonical::pg_catalog.oid FROM pg_catalog.pg_range) AS used (function)
  JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) used.function
  WHERE p.oid OPERATOR(pg_catalog.>=) 16384 AND p.prolang NOT IN (12, 13)
 UNION SELECT 'write calls', '0', p.proname::pg_catalog.text FROM pg_catalog.pg_operator o
  JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) o.oprcode
  WHERE o.oid OPERATOR(pg_catalog.>=) 16384 AND p.oid OPERATOR(pg_catalog.<) 16384
 UNION SELECT 'write runs', tgrelid::pg_catalog.text, NULL FROM pg_catalog.pg_trigger WHERE NOT tgisinternal
 UNION SELECT 'write runs', ev_class::pg_catalog.text, NULL FROM pg_catalog.pg_rewrite
  WHERE ev_class OPERATOR(pg_catalog.>=) 16384 AND rulename OPERATOR(pg_catalog.<>) '_RETURN'
 UNION SELECT 'read runs', oid::pg_catalog.text, NULL FROM pg_catalog.pg_class WHERE relkind OPERATOR(pg_catalog.=) 'f'
 UNION SELECT c.access OPERATOR(pg_catalog.||) CASE WHEN c.function OPERATOR(pg_catalog.<) 16384 THEN ' calls' ELSE ' runs' END, c.relation::pg_catalog.text,
  CASE WHEN c.function OPERATOR(pg_catalog.<) 16384 THEN p.proname::pg_catalog.text END
  FROM called c LEFT JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) c.function
  WHERE c.function OPERATOR(pg_catalog.<>) 0 AND NOT (c.kind IN ('opfuncid', 'hashfuncid', 'negfuncid')
   AND (c.function OPERATOR(pg_catalog.<) 16384 OR p.prolang IN (12, 13)))
 UNION SELECT 'read leads', inhparent::pg_catalog.text, inhrelid::pg_catalog.text FROM pg_catalog.pg_inherits
 UNION SELECT 'write leads', inhparent::pg_catalog.text, inhrelid::pg_catalog.text FROM pg_catalog.pg_inherits
 UNION SELECT 'write leads', inhrelid::pg_catalog.text, inhparent::pg_catalog.text FROM pg_catalog.pg_inherits
 UNION SELECT 'write leads', confrelid::pg_catalog.text, conrelid::pg_catalog.text FROM pg_catalog.pg_constraint
  WHERE contype OPERATOR(pg_catalog.=) 'f' AND (confdeltype IN ('c', 'n', 'd') OR confupdtype IN ('c', 'n', 'd'))
 UNION SELECT 'read leads', r.ev_class::pg_catalog.text, d.refobjid::pg_catalog.text FROM pg_catalog.pg_depend d
  JOIN pg_catalog.pg_rewrite r ON r.oid OPERATOR(pg_catalog.=) d.objid
  WHERE d.classid OPERATOR(pg_catalog.=) 2618 AND d.refclassid OPERATOR(pg_catalog.=) 1259 AND d.refobjid OPERATOR(pg_catalog.>=) 16384
)
SELECT kind, a, b FROM fact
UNION ALL SELECT 'table', c.oid::pg_catalog.text, c.relname::pg_catalog.text FROM pg_catalog.pg_class c
 WHERE c.oid::pg_catalog.text IN (SELECT a FROM fact WHERE kind NOT IN ('call', 'name', 'all', 'prepares'))";

/// Relations that may run something.
#[derive(Debug, Default)]
struct Reached<'a> {
    run: HashSet<&'a str>,
    /// From the first one gets to the second.
    leads: Vec<(&'a str, &'a str)>,
}

impl Reached<'_> {
    /// Adds those from which one gets to one that does.
    fn follow(&mut self) {
        loop {
            let before = self.run.len();
            for (from, to) in &self.leads {
                if self.run.contains(to) {
                    self.run.insert(from);
                }
            }
            if self.run.len() == before {
                return;
            }
        }
    }
}

impl Effects for Postgres {
    fn query(&self) -> &'static str {
        QUERY
    }

    fn read(&self, rows: &[Vec<Value>]) -> Effectful {
        let mut effectful = Effectful::default();
        let (mut read, mut write, mut tables) =
            (Reached::default(), Reached::default(), HashMap::new());
        for row in rows {
            let said = |at: usize| match row.get(at) {
                Some(Value::Text(text)) => text.as_str(),
                _ => "",
            };
            let (kind, a, b) = (said(0), said(1), said(2));
            match kind {
                "prepares" => effectful.prepares = true,
                "call" => drop(effectful.calls.insert(a.to_lowercase())),
                "name" => drop(effectful.names.insert(a.to_lowercase())),
                "read calls" | "write calls" if self.is_harmless(b) => {}
                "read calls" | "read runs" => drop(read.run.insert(a)),
                "write calls" | "write runs" => drop(write.run.insert(a)),
                "read leads" => read.leads.push((a, b)),
                "write leads" => write.leads.push((a, b)),
                "table" => drop(tables.insert(a, b)),
                // Whatever else it says.
                _ => effectful.everything = true,
            }
        }
        read.follow();
        // What is written is read as well, and a view's tables are written through it.
        write.run.extend(&read.run);
        write.leads.extend(&read.leads);
        write.follow();
        effectful.everything |= write.run.contains("0");
        for (relation, name) in tables {
            if read.run.contains(relation) {
                effectful.names.insert(name.to_lowercase());
            } else if write.run.contains(relation) {
                effectful.written.insert(name.to_lowercase());
            }
        }
        // Writing to it is SET.
        effectful.written.insert("pg_settings".to_owned());
        effectful
    }

    fn is_harmless(&self, function: &str) -> bool {
        HARMLESS.binary_search(&function).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use pando_kernel::effects::Access;

    use super::*;

    fn read(rows: &[(&str, &str, &str)]) -> Effectful {
        let text = |text: &str| Value::Text(text.to_owned());
        let rows: Vec<Vec<Value>> =
            rows.iter().map(|(kind, a, b)| vec![text(kind), text(a), text(b)]).collect();
        Postgres.read(&rows)
    }

    #[test]
    fn the_list_is_sorted_and_has_none_that_runs_or_sets_anything() {
        assert!(HARMLESS.is_sorted());
        for one in [
            "set_config",
            "setseed",
            "query_to_xml",
            "table_to_xml",
            "cursor_to_xml",
            "ts_stat",
            "ts_rewrite",
            "dblink",
            "pg_advisory_lock",
            "lo_import",
            "pg_terminate_backend",
            "pg_reload_conf",
        ] {
            assert!(!Postgres.is_harmless(one), "{one}");
        }
        assert!(
            ["lower", "now", "count", "nextval", "coalesce"]
                .iter()
                .all(|one| Postgres.is_harmless(one))
        );
    }

    #[test]
    fn what_leads_to_a_trigger_may_run_it() {
        let found = read(&[
            ("table", "1", "whole"),
            ("table", "2", "part"),
            ("table", "3", "seen"),
            ("table", "4", "plain"),
            ("table", "5", "policed"),
            ("table", "6", "seen too"),
            ("write runs", "2", ""),
            ("write leads", "1", "2"),
            ("read leads", "3", "1"),
            ("read leads", "6", "5"),
            ("write calls", "4", "lower"),
            ("read runs", "5", ""),
        ]);
        let written = ["whole", "part", "seen"];
        assert!(written.iter().all(|one| found.has(one, Access::Writes)));
        assert!(!written.iter().any(|one| found.has(one, Access::Reads)));
        assert!(["policed", "seen too"].iter().all(|one| found.has(one, Access::Reads)));
        assert!(!found.has("plain", Access::Writes) && !found.everything);
    }

    #[test]
    fn a_domain_that_calls_something_may_be_anywhere() {
        assert!(read(&[("write calls", "0", "set_config")]).everything);
        assert!(!read(&[("write calls", "0", "lower")]).everything);
        assert!(read(&[("all", "", "")]).everything);
    }
}
