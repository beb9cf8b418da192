//! Which names may have effects on connections: functions that are not the vendor's, and tables whose triggers, rules,
//! policies, columns, indexes or checks may run something.

mod body;

use std::sync::LazyLock;

use pando_kernel::effects::{Effectful, Effects, Graph, Leaves, Place, Space};
use pando_kernel::triggers::TriggerTexts;
use pando_kernel::value::Value;

pub(super) use self::body::{Language, UNCALLED, judged};
use super::Postgres;

/// The vendor's functions that change nothing of a session and run no statements that they are given as text, of all
/// versions; also types and words that look like calls. What is missing is taken for one that does, so a new version's
/// functions cost a reset until they are listed.
/// <https://www.postgresql.org/docs/current/functions.html>
static HARMLESS: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("tables/harmless.txt").lines().collect());

/// Functions of PostgreSQL's own that return sets; those that begin with `pg_` aside.
/// <https://www.postgresql.org/docs/current/functions-srf.html>
const GIVING_ROWS: &[&str] = &[
    "aclexplode",
    "generate_series",
    "generate_subscripts",
    "json_array_elements",
    "json_array_elements_text",
    "json_each",
    "json_each_text",
    "json_object_keys",
    "json_populate_recordset",
    "json_to_recordset",
    "jsonb_array_elements",
    "jsonb_array_elements_text",
    "jsonb_each",
    "jsonb_each_text",
    "jsonb_object_keys",
    "jsonb_path_query",
    "jsonb_path_query_tz",
    "jsonb_populate_recordset",
    "jsonb_to_recordset",
    "regexp_matches",
    "regexp_split_to_table",
    "string_to_table",
    "ts_debug",
    "ts_parse",
    "ts_stat",
    "ts_token_type",
    "txid_snapshot_xip",
    "unnest",
];

/// Functions of sequences, which nothing else says to be known.
pub(super) const OWN: [&str; 4] = ["currval", "lastval", "nextval", "setval"];

/// Rows of four texts: what it is, and what of the others it needs. Numbers up to 16383 are those of what every server
/// is made with.
///
/// - `sql`, `plpgsql`: a routine's number, name and source, which can be read; `opaque`: the same, and its
///   rights or what its defaults call are not judged.
/// - `atomic`: one of parsed statements; `extension`: one of those that are known neither to prepare statements nor to
///   define anything; `call`: one that may do whatever it likes. Number and name.
/// - `vendor`: a name that one of the vendor's functions has as well.
/// - `name`: the number and name of one that can also be called as if it were a column (`row.function`).
/// - `all`: a routine that runs and stands in no statement: those of operators, casts and ranges. A user's operator may
///   run one of the vendor's, too (`write calls` of 0). Those in C are the work of an administrator, and of extensions.
/// - `read runs`: a relation, or 0 for any, and the routine that it may run when it is read, nothing where that is not
///   known: foreign tables, views, policies and virtual columns.
/// - `read calls`: a relation, or 0 for any, and a function of the vendor's that is called when it is read.
/// - `read leads`: a view, and what it reads; a whole, and its parts.
/// - `write runs`, `write calls`, `write leads`: the same when it is written: triggers that are no key's, and their
///   conditions, rules, defaults, checks, indexes; parts and their whole, keys that cascade.
/// - `table`: a relation and its name, of those that may turn out to run something.
///
/// Sources longer than 16 KiB are not judged, nor what is beyond 512 KiB of them, the shortest first, nor those that
/// may have no form in UTF-8.
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
 UNION ALL SELECT tgrelid, 'write', tgqual::pg_catalog.text FROM pg_catalog.pg_trigger WHERE tgqual IS NOT NULL
 UNION ALL SELECT partrelid, 'write', partexprs::pg_catalog.text FROM pg_catalog.pg_partitioned_table WHERE partexprs IS NOT NULL
 UNION ALL SELECT ev_class, CASE WHEN rulename OPERATOR(pg_catalog.=) '_RETURN' THEN 'read' ELSE 'write' END, ev_action::pg_catalog.text FROM pg_catalog.pg_rewrite WHERE ev_class OPERATOR(pg_catalog.>=) 16384
), called (relation, access, kind, function) AS (
 SELECT DISTINCT tree.relation, tree.access, found.part[1], found.part[2]::pg_catalog.oid FROM tree
 CROSS JOIN LATERAL pg_catalog.regexp_matches(tree.text, ':(funcid|opfuncid|aggfnoid|winfnoid|hashfuncid|negfuncid) ([0-9]+)', 'g') AS found (part)
 WHERE tree.relation OPERATOR(pg_catalog.=) 0 OR tree.relation OPERATOR(pg_catalog.>=) 16384
), routine AS (
 SELECT p.oid, p.proname::pg_catalog.text AS name, l.lanname, p.prosrc AS source, p.prosecdef, pg_catalog.octet_length(p.prosrc) AS size,
  coalesce(p.proargdefaults::pg_catalog.text, '') OPERATOR(pg_catalog.~) ':(funcid|opfuncid|aggfnoid|winfnoid|hashfuncid|negfuncid) [1-9]' AS calls,
  coalesce(e.extname IN ('btree_gin', 'btree_gist', 'citext', 'cube', 'earthdistance', 'fuzzystrmatch', 'hstore', 'intarray', 'isn', 'ltree', 'pg_stat_statements',
   'pg_trgm', 'pgcrypto', 'seg', 'unaccent', 'uuid-ossp', 'vector'), false) AS known,
  p.pronargs, p.pronargdefaults, p.proargtypes
 FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid OPERATOR(pg_catalog.=) p.prolang
  LEFT JOIN pg_catalog.pg_depend d ON d.classid OPERATOR(pg_catalog.=) 1255 AND d.objid OPERATOR(pg_catalog.=) p.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'
  LEFT JOIN pg_catalog.pg_extension e ON e.oid OPERATOR(pg_catalog.=) d.refobjid
 WHERE p.oid OPERATOR(pg_catalog.>=) 16384
), judged AS (
 SELECT r.oid, r.name, r.source, CASE WHEN r.known THEN 'extension' WHEN r.lanname NOT IN ('sql', 'plpgsql') THEN 'call'
  WHEN r.lanname OPERATOR(pg_catalog.=) 'sql' AND r.source OPERATOR(pg_catalog.=) '' THEN 'atomic'
  WHEN r.size OPERATOR(pg_catalog.>) 16384 OR pg_catalog.sum(CASE WHEN r.known OR r.lanname NOT IN ('sql', 'plpgsql') THEN 0 ELSE r.size END)
    OVER (ORDER BY r.size, r.oid) OPERATOR(pg_catalog.>) 524288
   OR pg_catalog.getdatabaseencoding() NOT IN ('UTF8', 'LATIN1') AND r.source OPERATOR(pg_catalog.~) '[^[:ascii:]]' THEN 'call'
  WHEN r.prosecdef OR r.calls THEN 'opaque' ELSE r.lanname::pg_catalog.text END AS kind
 FROM routine r
), fact (kind, a, b) AS (
 SELECT 'vendor', NULL::pg_catalog.text, r.name FROM routine r WHERE EXISTS (SELECT FROM pg_catalog.pg_proc v
  WHERE v.oid OPERATOR(pg_catalog.<) 16384 AND v.proname::pg_catalog.text OPERATOR(pg_catalog.=) r.name)
 UNION SELECT 'name', r.oid::pg_catalog.text, r.name FROM routine r JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) r.proargtypes[0]
  WHERE (r.pronargs OPERATOR(pg_catalog.-) r.pronargdefaults) OPERATOR(pg_catalog.<=) 1 AND t.typtype IN ('c', 'p')
 UNION SELECT 'all', p.oid::pg_catalog.text, NULL FROM (
   SELECT oprcode::pg_catalog.oid FROM pg_catalog.pg_operator UNION SELECT castfunc FROM pg_catalog.pg_cast
   UNION SELECT rngsubdiff::pg_catalog.oid FROM pg_catalog.pg_range UNION SELECT rngcanonical::pg_catalog.oid FROM pg_catalog.pg_range) AS used (function)
  JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) used.function
  WHERE p.oid OPERATOR(pg_catalog.>=) 16384 AND p.prolang NOT IN (12, 13)
 UNION SELECT 'write calls', '0', p.proname::pg_catalog.text FROM pg_catalog.pg_operator o
  JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) o.oprcode
  WHERE o.oid OPERATOR(pg_catalog.>=) 16384 AND p.oid OPERATOR(pg_catalog.<) 16384
 UNION SELECT CASE WHEN p.oid OPERATOR(pg_catalog.<) 16384 THEN 'write calls' ELSE 'write runs' END, tgrelid::pg_catalog.text,
  CASE WHEN p.oid OPERATOR(pg_catalog.<) 16384 THEN p.proname::pg_catalog.text ELSE p.oid::pg_catalog.text END
  FROM pg_catalog.pg_trigger JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) tgfoid WHERE NOT tgisinternal
 UNION SELECT 'write runs', ev_class::pg_catalog.text, NULL FROM pg_catalog.pg_rewrite
  WHERE ev_class OPERATOR(pg_catalog.>=) 16384 AND rulename OPERATOR(pg_catalog.<>) '_RETURN'
 UNION SELECT 'read runs', oid::pg_catalog.text, NULL FROM pg_catalog.pg_class WHERE relkind OPERATOR(pg_catalog.=) 'f'
 UNION SELECT c.access OPERATOR(pg_catalog.||) CASE WHEN c.function OPERATOR(pg_catalog.<) 16384 THEN ' calls' ELSE ' runs' END, c.relation::pg_catalog.text,
  CASE WHEN c.function OPERATOR(pg_catalog.<) 16384 THEN p.proname::pg_catalog.text ELSE c.function::pg_catalog.text END
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
SELECT kind, a, b, NULL FROM fact
UNION ALL SELECT kind, oid::pg_catalog.text, name, CASE WHEN kind IN ('sql', 'plpgsql', 'opaque') THEN source END FROM judged
UNION ALL SELECT 'table', c.oid::pg_catalog.text, c.relname::pg_catalog.text, NULL FROM pg_catalog.pg_class c
 WHERE c.oid::pg_catalog.text IN (SELECT a FROM fact WHERE kind NOT IN ('vendor', 'name', 'all'))";

/// Who of those in the rows may run what.
#[derive(Default)]
struct Found(Graph);

impl Found {
    fn row(&mut self, kind: &str, a: &str, b: &str, c: &str) {
        match kind {
            "sql" | "plpgsql" | "opaque" | "atomic" | "extension" | "call" => {
                let call = self.0.at(Space::Call, &b.to_lowercase());
                let routine = self.0.at(Space::Routine, a);
                self.0.leads(call, routine);
                self.routine(routine, kind, c);
            }
            "vendor" if is_harmless(b) => {}
            "vendor" => {
                let call = self.0.at(Space::Call, &b.to_lowercase());
                self.0.runs_any(call);
            }
            "name" => {
                let name = self.0.at(Space::Name, &b.to_lowercase());
                let routine = self.0.at(Space::Routine, a);
                self.0.leads(name, routine);
            }
            "all" => {
                let all = self.0.at(Space::All, "");
                let routine = self.0.at(Space::Routine, a);
                self.0.leads(all, routine);
            }
            "table" => {
                let (name, written) = (b.to_lowercase(), self.relation(Space::Write, a));
                let (read, name) = (self.relation(Space::Read, a), self.0.at(Space::Name, &name));
                self.0.leads(name, read);
                let name = self.0.at(Space::Written, &b.to_lowercase());
                self.0.leads(name, written);
            }
            _ => self.relations(kind, a, b),
        }
    }

    fn routine(&mut self, routine: Place, kind: &str, source: &str) {
        match kind {
            "sql" | "plpgsql" | "opaque" => {
                let language = match kind {
                    "sql" => Language::Sql,
                    "plpgsql" => Language::PlPgSql,
                    _ => Language::Other,
                };
                let (leaves, text) = judged(language, source);
                self.0.leaves(routine, leaves);
                self.0.says(routine, text);
            }
            "atomic" => self.0.runs_any(routine),
            "extension" => self.0.leaves(routine, Leaves::State),
            _ => self.0.leaves(routine, Leaves::Definitions),
        }
    }

    /// What is said of a relation that is read or written.
    fn relations(&mut self, kind: &str, a: &str, b: &str) {
        let space = match kind.split_once(' ') {
            Some(("read", _)) => Space::Read,
            Some(("write", _)) => Space::Write,
            // Whatever it says.
            Some(_) | None => {
                let all = self.0.at(Space::All, "");
                return self.0.leaves(all, Leaves::Definitions);
            }
        };
        let relation = self.relation(space, a);
        match kind.split_once(' ') {
            Some((_, "calls")) if is_harmless(b) => {}
            Some((_, "runs")) if !b.is_empty() => {
                let routine = self.0.at(Space::Routine, b);
                self.0.leads(relation, routine);
            }
            Some((_, "leads")) => {
                let other = self.relation(space, b);
                self.0.leads(relation, other);
                // A view's tables are written through it.
                let (from, to) = (self.relation(Space::Write, a), self.relation(Space::Write, b));
                self.0.leads(from, to);
            }
            _ => self.0.runs_any(relation),
        }
    }

    /// A relation; what is written is read as well. Number 0 stands for all.
    fn relation(&mut self, space: Space, number: &str) -> Place {
        let (read, write) = (self.0.at(Space::Read, number), self.0.at(Space::Write, number));
        self.0.leads(write, read);
        let place = if space == Space::Read { read } else { write };
        if number == "0" {
            let all = self.0.at(Space::All, "");
            self.0.leads(all, place);
        }
        place
    }
}

pub(super) fn is_harmless(function: &str) -> bool {
    HARMLESS.binary_search(&function).is_ok()
}

impl Effects for Postgres {
    fn query(&self) -> &'static str {
        QUERY
    }

    fn read(&self, rows: &[Vec<Value>]) -> Effectful {
        let mut found = Found::default();
        for row in rows {
            let said = |at: usize| match row.get(at) {
                Some(Value::Text(text)) => text.as_str(),
                _ => "",
            };
            found.row(said(0), said(1), said(2), said(3));
        }
        let mut effectful = found.0.solved(self);
        // Writing to it is SET.
        effectful.written.insert("pg_settings".to_owned(), Leaves::State);
        effectful
    }

    fn is_harmless(&self, function: &str) -> bool {
        is_harmless(function)
    }

    fn triggers(&self) -> Option<&dyn TriggerTexts> {
        Some(self)
    }

    /// What is not known to be a server's own may be a user's that returns a set.
    fn may_give_rows(&self, function: &str) -> bool {
        let is_known = self.is_harmless(function) || OWN.contains(&function);
        !is_known || function.starts_with("pg_") || GIVING_ROWS.contains(&function)
    }
}

#[cfg(test)]
mod tests {
    use Access::{Reads, Writes};
    use pando_kernel::effects::Access;

    use super::*;

    fn read(rows: &[(&str, &str, &str, &str)]) -> Effectful {
        let text = |text: &str| Value::Text(text.to_owned());
        let row = |(kind, a, b, c): &(&str, &str, &str, &str)| {
            vec![text(kind), text(a), text(b), text(c)]
        };
        let rows: Vec<Vec<Value>> = rows.iter().map(row).collect();
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

    /// Lower-case names, of functions with `()` behind them, and what they may leave.
    fn check(rows: &[(&str, &str, &str, &str)], expected: &[(&str, Access, Leaves)]) {
        let found = read(rows);
        for (name, access, leaves) in expected {
            let of = match name.strip_suffix("()") {
                Some(name) => found.calls.get(name).copied().unwrap_or(found.unknown),
                None => found.of_name(name, *access),
            };
            assert_eq!(of, *leaves, "{name}, {access:?}, of {found:?}");
        }
    }

    #[test]
    fn what_leads_to_a_trigger_may_run_it() {
        let state = Leaves::State;
        let mut expected = vec![
            ("policed", Reads, state),
            ("seen too", Reads, state),
            ("plain", Writes, Leaves::Nothing),
        ];
        for one in ["whole", "part", "seen"] {
            expected.extend([(one, Writes, state), (one, Reads, Leaves::Nothing)]);
        }
        let rows = [
            ("table", "1", "whole", ""),
            ("table", "2", "part", ""),
            ("table", "3", "seen", ""),
            ("table", "4", "plain", ""),
            ("table", "5", "policed", ""),
            ("table", "6", "seen too", ""),
            ("write runs", "2", "7", ""),
            ("write leads", "1", "2", ""),
            ("read leads", "3", "1", ""),
            ("read leads", "6", "5", ""),
            ("write calls", "4", "lower", ""),
            ("read runs", "5", "", ""),
            ("plpgsql", "7", "sets", "begin perform set_config('a', 'b', false); return new; end"),
        ];
        check(&rows, &expected);
    }

    #[test]
    fn a_trigger_that_only_changes_rows_leaves_nothing() {
        let rows = [
            ("table", "1", "t", ""),
            ("table", "2", "log", ""),
            ("table", "3", "deep", ""),
            ("write runs", "1", "7", ""),
            ("write runs", "2", "8", ""),
            ("write runs", "3", "9", ""),
            ("plpgsql", "7", "notes", "begin insert into log (a) values (new.a); return new; end"),
            ("plpgsql", "8", "stamps", "begin new.at := now(); return new; end"),
            ("plpgsql", "9", "locks", "begin perform pg_advisory_lock(1); return new; end"),
        ];
        let nothing = Leaves::Nothing;
        check(
            &rows,
            &[("t", Writes, nothing), ("log", Writes, nothing), ("notes()", Reads, nothing)],
        );
        check(&rows, &[("deep", Writes, Leaves::State), ("locks()", Reads, Leaves::State)]);
        // The table that it writes gets a trigger that leaves something.
        let mut rows = rows.to_vec();
        rows.push(("write leads", "2", "3", ""));
        check(&rows, &[("t", Writes, Leaves::State), ("t", Reads, nothing)]);
    }

    #[test]
    fn what_cannot_be_judged_leaves_what_it_could() {
        let rows = [
            ("opaque", "1", "owned", "begin return new; end"),
            ("atomic", "2", "parsed", ""),
            ("extension", "3", "similar", ""),
            ("sql", "4", "plain", "select lower('A')"),
            ("sql", "5", "lists", "select vendors(1)"),
            ("vendor", "", "pg_advisory_lock", ""),
            ("sql", "6", "pg_advisory_lock", "select 1"),
            ("vendor", "", "lower", ""),
            ("sql", "7", "lower", "select 1"),
        ];
        let (nothing, state) = (Leaves::Nothing, Leaves::State);
        check(&rows, &[("owned()", Reads, state), ("parsed()", Reads, state)]);
        check(&rows, &[("similar()", Reads, state), ("lists()", Reads, state)]);
        check(&rows, &[("plain()", Reads, nothing), ("lower()", Reads, nothing)]);
        check(&rows, &[("pg_advisory_lock()", Reads, state)]);
        let mut rows = rows.to_vec();
        rows.push(("call", "8", "in_c", ""));
        let worst = Leaves::Definitions;
        check(&rows, &[("lists()", Reads, worst), ("parsed()", Reads, worst)]);
        check(&rows, &[("owned()", Reads, state), ("plain()", Reads, nothing)]);
    }

    #[test]
    fn a_domain_that_calls_something_may_be_anywhere() {
        let all = |rows: &[(&str, &str, &str, &str)]| read(rows).everything;
        assert_eq!(all(&[("write calls", "0", "set_config", "")]), Leaves::State);
        assert_eq!(all(&[("write calls", "0", "lower", "")]), Leaves::Nothing);
        assert_eq!(all(&[("all", "7", "", "")]), Leaves::Definitions);
        let harmless = ("sql", "7", "adds", "select $1 + 1");
        assert_eq!(all(&[("all", "7", "", ""), harmless]), Leaves::Nothing);
        assert_eq!(all(&[("what is this", "", "", "")]), Leaves::Definitions);
    }
}
