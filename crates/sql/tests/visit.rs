//! Which tables a statement names, and what stands in front of its columns.
#![allow(clippy::panic, reason = "helpers of tests may panic like tests")]

mod common;

use common::{COLONS, COMMAS};
use pando_sql::ast::Statement;
use pando_sql::visit::{Refers, column_owners, exprs, tables, written};
use pando_sql::{Edits, Syntax, parse};

fn statement(text: &str, syntax: &Syntax) -> Statement {
    parse(text, syntax).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn check_tables(syntax: &Syntax, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let statement = statement(text, syntax);
        let found: Vec<&str> = tables(&statement.kind)
            .iter()
            .map(|found| found.name.span.of(&statement.text))
            .collect();
        assert_eq!(found.join(" "), *expected, "{text}");
    }
}

#[test]
fn tables_that_a_statement_changes_are_told_from_those_it_reads() {
    for (syntax, text, expected) in [
        (&COLONS, "SELECT * FROM a FOR UPDATE", ""),
        (&COLONS, "WITH x AS (DELETE FROM a USING b RETURNING *) SELECT * FROM x", "a"),
        (&COLONS, "INSERT INTO s.a SELECT * FROM b", "a"),
        (&COLONS, "UPDATE a SET v = b.v FROM b", "a"),
        (&COLONS, "EXPLAIN DELETE FROM a", ""),
        (&COLONS, "EXPLAIN ANALYZE DELETE FROM a", "a"),
        (&COLONS, "COPY a FROM STDIN", "a"),
        (&COLONS, "COPY a TO STDOUT", ""),
        (&COLONS, "TRUNCATE a, b", "a b"),
        (&COLONS, "LOCK TABLE a", "a"),
        (&COMMAS, "UPDATE a x JOIN b y ON x.i = y.i SET y.v = 1", "b"),
        (&COMMAS, "UPDATE a x JOIN b y ON x.i = y.i SET v = 1", "a b"),
        (&COMMAS, "DELETE x FROM a x JOIN b y ON x.i = y.i", "a"),
        (&COMMAS, "REPLACE INTO a VALUES (1)", "a"),
    ] {
        let found = written(&statement(text, syntax).kind).join(" ");
        assert_eq!(found, expected, "{text}");
    }
}

/// `=` the table itself, `~` an alias, `?` nothing known.
fn check_owners(syntax: &Syntax, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let statement = statement(text, syntax);
        let found: Vec<String> = column_owners(&statement.kind)
            .iter()
            .map(|owner| {
                let refers = match owner.refers {
                    Refers::Table(name) => format!("={}", name.span.of(text)),
                    Refers::Alias => "~".to_owned(),
                    Refers::Unknown => "?".to_owned(),
                };
                format!("{}{refers}", owner.span.of(text))
            })
            .collect();
        assert_eq!(found.join(" "), *expected, "{text}");
    }
}

#[test]
fn tables_are_found_wherever_a_query_names_them() {
    check_tables(
        &COLONS,
        &[
            ("SELECT 1", ""),
            ("SELECT * FROM a, s.b x JOIN \"C\" ON true", "a s.b \"C\""),
            (
                "SELECT (SELECT 1 FROM a), EXISTS (SELECT 1 FROM b) FROM c WHERE d IN (SELECT e FROM f) AND g = ANY (SELECT h FROM i)",
                "a b c f i",
            ),
            (
                "SELECT * FROM (SELECT * FROM a) x, LATERAL (SELECT * FROM b) y, f((SELECT 1 FROM c)) z",
                "a b c",
            ),
            ("SELECT 1 FROM a UNION SELECT 1 FROM b EXCEPT (TABLE c)", "a b c"),
            ("SELECT 1 FROM a ORDER BY (SELECT 1 FROM b) LIMIT (SELECT 1 FROM c)", "a b c"),
            (
                "SELECT sum(x) FILTER (WHERE y IN (SELECT 1 FROM b)) OVER (ORDER BY (SELECT 1 FROM c)) FROM a",
                "b c a",
            ),
            ("SELECT CASE WHEN a IN (SELECT 1 FROM t) THEN ARRAY(SELECT 1 FROM u) END", "t u"),
            (
                "SELECT * FROM a JOIN b ON a.x = (SELECT max(x) FROM c) WINDOW w AS (ORDER BY (SELECT 1 FROM d))",
                "a b c d",
            ),
            ("VALUES ((SELECT 1 FROM a))", "a"),
            ("SELECT 1 GROUP BY (SELECT 1 FROM a) HAVING EXISTS (SELECT 1 FROM b)", "a b"),
        ],
    );
}

#[test]
fn names_of_common_table_expressions_are_no_tables_in_their_scope() {
    check_tables(
        &COLONS,
        &[
            ("WITH a AS (SELECT * FROM b) SELECT * FROM a, c", "b c"),
            ("WITH a AS (SELECT * FROM a) SELECT * FROM a", "a"),
            ("WITH RECURSIVE a AS (SELECT * FROM b UNION SELECT * FROM a) SELECT * FROM a", "b"),
            ("WITH a AS (SELECT 1), b AS (SELECT * FROM a) SELECT * FROM b, s.a", "s.a"),
            ("SELECT * FROM (WITH a AS (SELECT 1) SELECT * FROM a) x, a", "a"),
            (
                "WITH a AS (DELETE FROM t RETURNING *), b AS (INSERT INTO u SELECT * FROM a RETURNING *) SELECT * FROM b",
                "t u",
            ),
            ("WITH a AS (SELECT 1) INSERT INTO a SELECT * FROM a", "a"),
            ("WITH a AS (SELECT 1) UPDATE t SET x = 1 FROM a", "t"),
            ("WITH a AS (SELECT 1) DELETE FROM t USING a, b", "t b"),
            ("SELECT (WITH a AS (SELECT 1 FROM b) SELECT * FROM a), (SELECT 1 FROM a)", "b a"),
        ],
    );
}

#[test]
fn tables_are_found_in_statements_that_change_rows() {
    check_tables(
        &COMMAS,
        &[
            (
                "INSERT INTO a SELECT * FROM b ON DUPLICATE KEY UPDATE c = (SELECT 1 FROM d)",
                "a b d",
            ),
            ("INSERT INTO a VALUES ((SELECT 1 FROM b))", "a b"),
            ("REPLACE INTO s.a SET b = (SELECT 1 FROM c)", "s.a c"),
            (
                "UPDATE a, b JOIN c ON a.x = c.x SET a.y = (SELECT 1 FROM d) WHERE EXISTS (SELECT 1 FROM e)",
                "a b c d e",
            ),
            ("DELETE FROM a WHERE b IN (SELECT c FROM d)", "a d"),
            ("DELETE a, c FROM a JOIN b AS c ON a.x = c.x", "a a b"),
            ("DELETE FROM x USING a AS x JOIN b", "a b"),
            ("DELETE x FROM s.a x", "s.a"),
            ("LOAD DATA INFILE 'f' INTO TABLE a SET b = (SELECT 1 FROM c)", "a c"),
        ],
    );
    check_tables(
        &COLONS,
        &[
            (
                "INSERT INTO a AS x VALUES (1) ON CONFLICT (b) DO UPDATE SET c = (SELECT 1 FROM d) WHERE EXISTS (SELECT 1 FROM e) RETURNING (SELECT 1 FROM f)",
                "a d e f",
            ),
            (
                "UPDATE a SET (b, c) = (SELECT 1, 2 FROM d) FROM e RETURNING (SELECT 1 FROM f)",
                "a d e f",
            ),
            ("DELETE FROM a USING b, c WHERE a.x = b.x", "a b c"),
            ("MERGE INTO a USING b ON true WHEN MATCHED THEN DELETE", "a b"),
            ("COPY a FROM STDIN", "a"),
            ("COPY (SELECT * FROM a) TO STDOUT", "a"),
        ],
    );
}

#[test]
fn tables_are_found_in_definitions_and_utilities() {
    check_tables(
        &COMMAS,
        &[
            ("CREATE TABLE a (b INT, FOREIGN KEY (b) REFERENCES c (d))", "a c"),
            ("CREATE TABLE a LIKE b", "a b"),
            ("CREATE TABLE a AS SELECT * FROM b", "a b"),
            ("CREATE VIEW a AS SELECT * FROM b", "a b"),
            ("CREATE INDEX i ON a (b)", "a"),
            ("DROP INDEX i ON a", "a"),
            ("DROP TABLE a, b", "a b"),
            ("ALTER TABLE a RENAME TO b", "a b"),
            ("ALTER TABLE a EXCHANGE PARTITION p WITH TABLE b", "a b"),
            ("RENAME TABLE a TO b, c TO d", "a c b d"),
            ("TRUNCATE a", "a"),
            ("CREATE TRIGGER x BEFORE INSERT ON a FOR EACH ROW SET @b = 1", "a"),
            ("CREATE DATABASE d", ""),
            ("LOCK TABLES a READ, b WRITE", "a b"),
            ("SHOW CREATE TABLE a", "a"),
            ("SHOW INDEX FROM a", "a"),
            ("DESCRIBE a", "a"),
            ("EXPLAIN SELECT * FROM a", "a"),
            ("ANALYZE TABLE a, b", "a b"),
            ("SET @x = (SELECT 1 FROM a)", "a"),
            ("DO (SELECT 1 FROM a)", ""),
        ],
    );
    check_tables(
        &COLONS,
        &[
            ("DROP INDEX i", ""),
            ("COMMENT ON TABLE a IS 'x'", "a"),
            ("COMMENT ON COLUMN s.a.b IS 'x'", "s.a"),
            ("DECLARE c CURSOR FOR SELECT * FROM a", "a"),
            ("EXPLAIN ANALYZE DELETE FROM a", "a"),
            ("VACUUM a, b", "a b"),
            ("GRANT SELECT ON a TO b", "a"),
            ("EXECUTE p ((SELECT 1 FROM a))", "a"),
        ],
    );
}

#[test]
fn owners_of_columns_are_resolved_in_the_innermost_scope() {
    check_owners(
        &COMMAS,
        &[
            ("SELECT t.a, t.* FROM t", "t=t t=t"),
            ("SELECT x.a, x.*, t.b FROM t AS x", "x~ x~ t?"),
            ("SELECT s.t.a, t.b FROM s.t", "s.t=s.t t=s.t"),
            ("SELECT s.t.a FROM t", "s.t=t"),
            (
                "SELECT a.x, b.x FROM a JOIN b ON a.y = b.y WHERE a.z = 1 GROUP BY a.g HAVING b.h ORDER BY a.o",
                "a=a b=b a=a b=b a=a a=a b=b a=a",
            ),
            (
                "SELECT t.a FROM u WHERE EXISTS (SELECT t.b FROM t WHERE t.c = u.d)",
                "t? t=t t=t u=u",
            ),
            ("SELECT t.a FROM t WHERE EXISTS (SELECT t.b FROM u AS t)", "t=t t~"),
            ("SELECT t.a FROM t AS u, t", "t=t"),
            ("SELECT d.a FROM (SELECT t.b FROM t) AS d", "d~ t=t"),
            ("WITH c AS (SELECT t.a FROM t) SELECT c.a FROM c", "t=t c~"),
            ("SELECT T.a FROM t", "T=t"),
            ("SELECT a FROM t UNION SELECT t.b FROM u ORDER BY t.c", "t? t?"),
            ("SELECT SUM(t.a) OVER (PARTITION BY t.b) FROM t", "t=t t=t"),
            (
                "INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE t.a = t.a + new.b",
                "t=t t=t new?",
            ),
            ("INSERT INTO t SELECT u.a FROM u ON DUPLICATE KEY UPDATE a = u.b", "u=u u=u"),
            ("UPDATE t, u AS v SET t.a = v.b WHERE t.c = v.c", "t=t v~ t=t v~"),
            ("DELETE t FROM t JOIN u ON t.a = u.a", "t=t u=u"),
            ("DELETE FROM t WHERE t.a = 1 ORDER BY t.b", "t=t t=t"),
            ("SELECT * FROM t FOR UPDATE OF t", "t=t"),
            ("SELECT * FROM t x FOR UPDATE OF x", "x~"),
        ],
    );
    check_owners(
        &COLONS,
        &[
            (
                "INSERT INTO t AS x VALUES (1) ON CONFLICT DO UPDATE SET a = excluded.a + x.a RETURNING x.*",
                "excluded? x~ x~",
            ),
            ("UPDATE t SET a = t.b FROM u WHERE t.c = u.c RETURNING t.*", "t=t t=t u=u t=t"),
            ("DELETE FROM t USING u x WHERE t.a = x.a", "t=t x~"),
            ("SELECT count(t.*), f(t.a) FROM t", "t=t t=t"),
            ("SELECT DISTINCT ON (t.a) t.b FROM t WINDOW w AS (ORDER BY t.c)", "t=t t=t t=t"),
            ("SELECT \"T\".a FROM \"T\"", "\"T\"=\"T\""),
        ],
    );
}

#[test]
fn an_edit_of_every_occurrence_renames_a_table() {
    let text = "SELECT t_order.id, o.* FROM t_order JOIN (SELECT t_order.x FROM t_order) o ON t_order.id = o.x WHERE t_order.a IN (SELECT t_order.a FROM u t_order)";
    let statement = statement(text, &COMMAS);
    let mut edits = Edits::default();
    for occurrence in tables(&statement.kind) {
        if occurrence.name.parts.iter().any(|part| part.value == "t_order") {
            edits.replace(occurrence.name.span, "t_order_1");
        }
    }
    for owner in column_owners(&statement.kind) {
        if matches!(owner.refers, Refers::Table(_)) {
            edits.replace(owner.span, "t_order_1");
        }
    }
    let expected = "SELECT t_order_1.id, o.* FROM t_order_1 JOIN (SELECT t_order_1.x FROM t_order_1) o ON t_order_1.id = o.x WHERE t_order_1.a IN (SELECT t_order.a FROM u t_order)";
    assert_eq!(edits.apply(text), expected);
}

#[test]
fn every_expression_is_seen_outer_ones_first() {
    let text = "SELECT a + 1 FROM t WHERE b IN (SELECT c FROM u WHERE d = 2) ORDER BY e";
    let statement = statement(text, &COMMAS);
    let mut seen = Vec::new();
    exprs(&statement.kind, &mut |expr| seen.push(expr.span.of(text)));
    let expected =
        ["a + 1", "a", "1", "b IN (SELECT c FROM u WHERE d = 2)", "b", "c", "d = 2", "d", "2", "e"];
    assert_eq!(seen, expected);
}
