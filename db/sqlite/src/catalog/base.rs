//! What SQLite's own catalogue tells, in logic names: common table expressions on which the other vendors' relations are built.
//! <https://www.sqlite.org/schematab.html>, <https://www.sqlite.org/pragma.html#pragma_table_xinfo>

use std::fmt::Write as _;

use pando_kernel::presentation::Shown;

use crate::literal::text_literal;
use crate::tongue::Tongue;

/// Numbers below this one belong to what comes with a server.
const FIRST: u64 = 16_384;

/// Numbers of unit n start so many times n higher, so that no two units show the same one.
pub(super) const STEP: u64 = 1 << 26;

/// The numbers of primary keys without an index of their own, from the table's.
pub(super) const KEY_STEP: u64 = 1 << 24;

/// Name and arguments of the first of the expressions; what has it in its text is a question about the catalogue.
pub(crate) const MARK: &str = "pando_shown(a, l, h)";

/// Everything but the first expression. `x.*` keeps the pragmas' own column names, some of which are words of SQL, out of the text.
const REST: &str = "\
pando_master(id, kind, actual, owner, text, logic) AS (SELECT m.rowid, m.type, m.name, m.tbl_name, m.sql, coalesce(s.l, m.tbl_name) \
 FROM sqlite_master AS m LEFT JOIN pando_shown AS s ON s.a = m.tbl_name COLLATE NOCASE \
 WHERE m.type IN ('table', 'view', 'index') AND m.tbl_name NOT LIKE 'sqlite#_%' ESCAPE '#' AND coalesce(s.h, 0) = 0), \
pando_tables(oid, kind, actual, name, text, keys, auto) AS (SELECT m.id + {first}, CASE m.kind WHEN 'view' THEN 'v' ELSE 'r' END, m.actual, m.logic, m.text, \
 (SELECT count(*) FROM pragma_table_xinfo(m.actual) AS k WHERE k.pk > 0), instr(upper(m.text), 'AUTOINCREMENT') > 0 \
 FROM pando_master AS m WHERE m.kind IN ('table', 'view')), \
pando_columns(oid, tname, tkind, keys, auto, cid, name, type, nn, dflt, pk, hidden) AS (SELECT t.oid, t.name, t.kind, t.keys, t.auto, c.* \
 FROM pando_tables AS t CROSS JOIN pragma_table_xinfo(t.actual) AS c), \
pando_indexes(oid, table_oid, tname, name, seq, iname, uniq, origin, partial, text) AS (SELECT m.id + {first}, t.oid, t.name, {index}, l.*, m.text \
 FROM pando_tables AS t CROSS JOIN pragma_index_list(t.actual) AS l CROSS JOIN pando_master AS m WHERE m.kind = 'index' AND m.actual = l.name \
 UNION ALL SELECT t.oid + {keystep}, t.oid, t.name, {primary}, 0, NULL, 1, 'pk', 0, NULL FROM pando_tables AS t \
 WHERE t.kind = 'r' AND t.keys > 0 AND NOT EXISTS (SELECT 1 FROM pragma_index_list(t.actual) AS l CROSS JOIN pando_master AS m \
 WHERE l.origin = 'pk' AND m.kind = 'index' AND m.actual = l.name)), \
pando_keys(oid, table_oid, tname, iname, seq, cid, name, down, coll, part) AS (SELECT i.oid, i.table_oid, i.tname, i.name, x.* \
 FROM pando_indexes AS i CROSS JOIN pragma_index_xinfo(i.iname) AS x \
 UNION ALL SELECT i.oid, i.table_oid, i.tname, i.name, c.pk - 1, c.cid, c.name, 0, 'BINARY', 1 \
 FROM pando_indexes AS i CROSS JOIN pando_columns AS c WHERE i.iname IS NULL AND c.oid = i.table_oid AND c.pk > 0), \
pando_foreign(table_oid, tname, id, seq, target, own, other, updated, deleted, matched) AS (SELECT t.oid, t.name, f.* \
 FROM pando_tables AS t CROSS JOIN pragma_foreign_key_list(t.actual) AS f), \
pando_references(oid, table_oid, tname, id, seq, target, own, other, updated, deleted) AS (SELECT f.table_oid + {fkstep} + f.id * 1048576, f.table_oid, f.tname, f.id, f.seq, \
 coalesce((SELECT s.l FROM pando_shown AS s WHERE s.a = f.target COLLATE NOCASE), f.target), f.own, \
 coalesce(f.other, (SELECT k.name FROM pragma_table_xinfo(f.target) AS k WHERE k.pk = f.seq + 1)), f.updated, f.deleted FROM pando_foreign AS f)";

/// What PostgreSQL's relations have in common: every relation, every constraint, and the definitions' texts. Their columns have names nobody else uses
/// where expressions of the client's stand beside them.
const POSTGRES: &str = ", \
pando_classes(oid, name, kind, am, atts, indexed, checks) AS (SELECT t.oid, t.name, t.kind, CASE t.kind WHEN 'r' THEN 2 ELSE 0 END, \
 (SELECT count(*) FROM pando_columns AS c WHERE c.oid = t.oid), EXISTS (SELECT 1 FROM pando_indexes AS i WHERE i.table_oid = t.oid), 0 FROM pando_tables AS t \
 UNION ALL SELECT i.oid, i.name, 'i', 403, (SELECT count(*) FROM pando_keys AS k WHERE k.oid = i.oid AND k.part = 1), 0, 0 FROM pando_indexes AS i), \
pando_constraints(oid, name, kind, table_oid, index_oid, target_oid, target, id, updated, deleted, keys, others) AS (\
 SELECT i.oid + 8388608, i.name, CASE i.origin WHEN 'pk' THEN 'p' ELSE 'u' END, i.table_oid, i.oid, 0, NULL, NULL, ' ', ' ', \
 (SELECT concat('{', group_concat(k.cid + 1, ','), '}') FROM (SELECT * FROM pando_keys ORDER BY seq) AS k WHERE k.oid = i.oid AND k.part = 1), NULL \
 FROM pando_indexes AS i WHERE i.origin IN ('pk', 'u') \
 UNION ALL SELECT f.oid, concat(f.tname, '_', group_concat(f.own, '_'), '_fkey'), 'f', f.table_oid, \
 coalesce((SELECT i.oid FROM pando_indexes AS i WHERE i.tname = f.target AND i.origin = 'pk'), 0), \
 coalesce((SELECT t.oid FROM pando_tables AS t WHERE t.name = f.target), 0), f.target, f.id, pando_action(f.updated), pando_action(f.deleted), \
 concat('{', group_concat((SELECT c.cid + 1 FROM pando_columns AS c WHERE c.oid = f.table_oid AND c.name = f.own COLLATE NOCASE), ','), '}'), \
 concat('{', group_concat((SELECT c.cid + 1 FROM pando_columns AS c WHERE c.tname = f.target AND c.name = f.other COLLATE NOCASE), ','), '}') \
 FROM (SELECT * FROM pando_references ORDER BY seq) AS f GROUP BY f.table_oid, f.id), \
pando_names(pando_k, pando_t) AS (SELECT c.oid, c.name FROM pando_classes AS c), \
pando_definitions(pando_k, pando_n, pando_t) AS (\
 SELECT i.oid, 0, concat('CREATE ', CASE WHEN i.uniq THEN 'UNIQUE ' END, 'INDEX ', pando_ident(i.name), ' ON public.', pando_ident(i.tname), ' USING btree (', \
 (SELECT group_concat(concat(coalesce(pando_ident(k.name), '(expression)'), CASE WHEN k.down THEN ' DESC' END), ', ') FROM (SELECT * FROM pando_keys ORDER BY seq) AS k WHERE k.oid = i.oid AND k.part = 1), \
 ')', CASE WHEN i.partial THEN concat(' WHERE ', pando_predicate(i.text)) END) FROM pando_indexes AS i \
 UNION ALL SELECT k.oid, k.seq + 1, coalesce(pando_ident(k.name), '(expression)') FROM pando_keys AS k WHERE k.part = 1 \
 UNION ALL SELECT i.oid + 8388608, 0, concat(CASE i.origin WHEN 'pk' THEN 'PRIMARY KEY (' ELSE 'UNIQUE (' END, \
 (SELECT group_concat(pando_ident(k.name), ', ') FROM (SELECT * FROM pando_keys ORDER BY seq) AS k WHERE k.oid = i.oid AND k.part = 1), ')') FROM pando_indexes AS i WHERE i.origin IN ('pk', 'u') \
 UNION ALL SELECT f.oid, 0, concat('FOREIGN KEY (', group_concat(pando_ident(f.own), ', '), ') REFERENCES ', pando_ident(f.target), '(', group_concat(pando_ident(f.other), ', '), ')', \
 CASE WHEN f.updated <> 'NO ACTION' THEN concat(' ON UPDATE ', f.updated) END, CASE WHEN f.deleted <> 'NO ACTION' THEN concat(' ON DELETE ', f.deleted) END) \
 FROM (SELECT * FROM pando_references ORDER BY seq) AS f GROUP BY f.table_oid, f.id \
 UNION ALL SELECT t.oid, 0, pando_query(t.text) FROM pando_tables AS t WHERE t.kind = 'v')";

/// The expressions of the unit of this place, separated by commas.
pub(super) fn text(tables: &[Shown], unit: usize, tongue: Tongue) -> String {
    let mut text = shown(tables);
    let first = FIRST + STEP * unit as u64;
    let (index, primary) = match tongue {
        Tongue::Postgres => (
            "CASE l.origin WHEN 'pk' THEN concat(t.name, '_pkey') WHEN 'u' THEN concat(t.name, '_', \
             (SELECT group_concat(k.name, '_') FROM pragma_index_info(l.name) AS k), '_key') ELSE pando_part(l.name, t.actual, t.name, concat(t.name, '_')) END",
            "concat(t.name, '_pkey')",
        ),
        Tongue::MySql | Tongue::Any => (
            "CASE l.origin WHEN 'pk' THEN 'PRIMARY' WHEN 'u' THEN (SELECT k.name FROM pragma_index_info(l.name) AS k WHERE k.seqno = 0) \
             ELSE pando_part(l.name, t.actual, t.name, '') END",
            "'PRIMARY'",
        ),
    };
    let rest = REST
        .replace("{first}", &first.to_string())
        .replace("{keystep}", &KEY_STEP.to_string())
        .replace("{fkstep}", &(KEY_STEP * 2).to_string())
        .replace("{index}", index)
        .replace("{primary}", primary);
    // Writing to a string does not fail.
    let _ = write!(text, ", {rest}");
    if tongue == Tongue::Postgres {
        text.push_str(POSTGRES);
    }
    text
}

/// Actual tables that are not simply shown under their own names: actual name, logic name, whether hidden.
fn shown(tables: &[Shown]) -> String {
    let mut known: Vec<String> = Vec::new();
    let mut rows: Vec<String> = Vec::new();
    for shown in tables {
        let actual = shown.actual.to_lowercase();
        if known.contains(&actual) {
            continue;
        }
        rows.push(format!(
            "({}, {}, {})",
            text_literal(&shown.actual),
            text_literal(&shown.logic),
            i32::from(shown.hidden)
        ));
        known.push(actual);
    }
    if rows.is_empty() {
        rows.push("(NULL, NULL, 1)".to_owned());
    }
    format!("{MARK} AS (VALUES {})", rows.join(", "))
}
