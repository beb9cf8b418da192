//! PostgreSQL.

use std::sync::Arc;

use pando_postgres::Postgres;

use crate::house::{ALL, House, Product, Who, check_texts};

/// `{t}` is where a table is named.
const TABLES: &[&str] = &[
    "SELECT * FROM {t}",
    "SELECT a.id FROM ONLY {t} AS a WHERE a.id = 1 FOR UPDATE",
    "SELECT (SELECT max(id) FROM {t})",
    "SELECT id FROM items WHERE id IN (SELECT id FROM {t})",
    "SELECT id FROM items WHERE EXISTS (SELECT FROM {t})",
    "SELECT i.id FROM items i JOIN {t} x ON x.id = i.id",
    "SELECT i.id FROM items i LEFT JOIN (items j JOIN {t} x ON x.id = j.id) ON j.id = i.id",
    "SELECT i.id FROM items i, LATERAL (SELECT * FROM {t}) l",
    "SELECT id FROM items ORDER BY (SELECT max(id) FROM {t})",
    "SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM {t})) FROM items",
    "SELECT sum(id) OVER (ORDER BY (SELECT max(id) FROM {t})) FROM items",
    "SELECT ARRAY(SELECT id FROM {t})",
    "WITH c AS (SELECT * FROM {t}) SELECT * FROM c",
    "WITH c AS (DELETE FROM {t} RETURNING *) SELECT * FROM c",
    "SELECT 1 UNION SELECT id FROM {t}",
    "TABLE {t}",
    "SELECT 1 INTO {t}",
    "INSERT INTO {t} (id) VALUES (1)",
    "INSERT INTO items (id) SELECT id FROM {t}",
    "INSERT INTO items (id) VALUES ((SELECT max(id) FROM {t}))",
    "INSERT INTO items (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET id = (SELECT max(id) FROM {t})",
    "INSERT INTO items (id) VALUES (1) RETURNING (SELECT max(id) FROM {t})",
    "UPDATE {t} SET id = 1",
    "UPDATE items SET id = 1 FROM {t} x WHERE x.id = items.id",
    "DELETE FROM {t}",
    "DELETE FROM items USING {t} x WHERE x.id = items.id",
    "MERGE INTO {t} USING items i ON i.id = 1 WHEN MATCHED THEN DELETE",
    "MERGE INTO items i USING {t} x ON i.id = x.id WHEN MATCHED THEN DELETE",
    "TRUNCATE {t}",
    "DROP TABLE {t}",
    "DROP TABLE IF EXISTS items, {t} CASCADE",
    "ALTER TABLE {t} ADD COLUMN c int",
    "ALTER TABLE items INHERIT {t}",
    "ALTER TABLE items ATTACH PARTITION {t} DEFAULT",
    "CREATE TABLE {t} (id int)",
    "CREATE TABLE copy (LIKE {t})",
    "CREATE TABLE copy () INHERITS ({t})",
    "CREATE TABLE copy PARTITION OF {t} DEFAULT",
    "CREATE TABLE copy AS SELECT * FROM {t}",
    "CREATE TABLE copy AS TABLE {t}",
    "CREATE TABLE copy (id int REFERENCES {t} (id))",
    "CREATE TABLE copy OF {t}",
    "CREATE INDEX i ON {t} (id)",
    "CREATE VIEW v AS SELECT * FROM {t}",
    "CREATE MATERIALIZED VIEW v AS SELECT * FROM {t}",
    "REFRESH MATERIALIZED VIEW {t}",
    "CREATE RULE r AS ON INSERT TO items DO ALSO DELETE FROM {t}",
    "CREATE RULE r AS ON INSERT TO {t} DO INSTEAD NOTHING",
    "CREATE TRIGGER tr BEFORE INSERT ON {t} FOR EACH ROW EXECUTE FUNCTION f()",
    "CREATE POLICY p ON {t} USING (true)",
    "CREATE POLICY p ON items USING (EXISTS (SELECT FROM {t}))",
    "CREATE PUBLICATION p FOR TABLE {t}",
    "CREATE STATISTICS s ON a, b FROM {t}",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT max(id) FROM {t}'",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT max(id) FROM {t} $$",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT max(id) FROM {t}; END",
    "CREATE FUNCTION f() RETURNS int RETURN (SELECT max(id) FROM {t})",
    "CREATE PROCEDURE p() LANGUAGE plpgsql AS $b$ BEGIN DELETE FROM {t}; END $b$",
    "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $b$ BEGIN EXECUTE 'DROP TABLE {t}'; RETURN NEW; END $b$",
    "DO $$ BEGIN DELETE FROM {t}; END $$",
    "DO 'BEGIN LOCK TABLE {t}; END'",
    "DO $$ BEGIN EXECUTE $q$ DROP TABLE {t} $q$; END $$",
    "LOCK TABLE {t}",
    "LOCK TABLE items, {t} IN SHARE MODE",
    "VACUUM {t}",
    "ANALYZE {t}",
    "CLUSTER {t}",
    "REINDEX TABLE {t}",
    "COMMENT ON TABLE {t} IS 'x'",
    "COMMENT ON COLUMN {t}.id IS 'x'",
    "SECURITY LABEL ON TABLE {t} IS 'x'",
    "GRANT SELECT ON {t} TO u",
    "REVOKE ALL ON TABLE items, {t} FROM u",
    "COPY {t} TO STDOUT",
    "COPY {t} FROM STDIN",
    "COPY (SELECT * FROM {t}) TO STDOUT",
    "EXPLAIN SELECT * FROM {t}",
    "EXPLAIN ANALYZE DELETE FROM {t}",
    "DECLARE c CURSOR WITH HOLD FOR SELECT * FROM {t}",
    "PREPARE s AS SELECT * FROM {t}",
    "SELECT query_to_xml('SELECT * FROM {t}', true, false, '')",
    "SELECT * FROM ts_stat('SELECT v FROM {t}')",
];

const OTHERS: &[&str] =
    &["hr.items", "\"hr\".\"items\"", "HR . Items", "hr/**/.items", "U&\"h\\0072\".items"];

const LEDGERS: &[&str] = &[
    "pando.unit",
    "\"pando\".\"decision\"",
    "Pando . Undo",
    "pando/**/.row_lock",
    "U&\"p\\0061ndo\".unit",
    "shop.pando.unit",
];

/// Only administrators may.
const PRIVILEGED: &[&str] = &[
    "SELECT * FROM pg_authid",
    "SELECT * FROM pg_catalog.pg_shadow",
    "SELECT id FROM items WHERE EXISTS (SELECT FROM pg_user_mapping)",
    "CREATE VIEW v AS SELECT * FROM pg_authid",
    "CREATE FUNCTION f() RETURNS text LANGUAGE sql AS $$ SELECT rolpassword FROM pg_authid $$",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT * FROM pg_catalog.pg_ls_dir('/')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT lo_export(1, '/tmp/x')",
    "COPY items TO '/tmp/x'",
    "COPY items FROM PROGRAM 'id'",
    "COPY (SELECT 1) TO PROGRAM 'id'",
    "DO $$ BEGIN COPY items TO PROGRAM 'id'; END $$",
    "CREATE EXTENSION dblink",
    "CREATE EXTENSION IF NOT EXISTS postgres_fdw",
    "CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw",
    "CREATE USER MAPPING FOR u SERVER s",
    "CREATE FOREIGN TABLE f (id int) SERVER s",
    "CREATE SUBSCRIPTION s CONNECTION 'x' PUBLICATION p",
    "CREATE LANGUAGE plpython3u",
    "CREATE EVENT TRIGGER e ON ddl_command_start EXECUTE FUNCTION f()",
    "ALTER SYSTEM SET max_connections = 1",
    "CREATE TABLESPACE s LOCATION '/tmp'",
    "DO LANGUAGE plpython3u $$ import os $$",
    "DO $$ BEGIN EXECUTE 'DROP TABLE ' || 'x'; END $$",
    "CREATE FUNCTION f(t text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE format('DROP TABLE %I', t); END $$",
    "CREATE ROLE u LOGIN PASSWORD 'x'",
    "GRANT a TO b",
];

/// Users of some databases may not.
const WIDE: &[&str] = &[
    "SELECT * FROM pg_stat_activity",
    "SELECT * FROM pg_stats",
    "SET search_path = hr, public",
    "SET search_path TO 'hr'",
    "SELECT hr.f()",
    "SELECT nextval('hr.s')",
    "SELECT setval('\"hr\".s', 1)",
    "GRANT SELECT ON ALL TABLES IN SCHEMA public, hr TO u",
    "DROP SCHEMA hr CASCADE",
    "CREATE SEQUENCE hr.s",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql SET search_path = hr AS 'SELECT 1'",
];

/// Nobody may.
const NEVER: &[&str] = &[
    "DROP SCHEMA pando CASCADE",
    "DROP SCHEMA IF EXISTS public, \"pando\"",
    "DROP SCHEMA U&\"p\\0061ndo\"",
    "DROP SCHEMA U&\"p!0061ndo\" UESCAPE '!'",
    "ALTER SCHEMA pando RENAME TO x",
    "CREATE SCHEMA pando",
    "GRANT ALL ON SCHEMA pando TO u",
    "GRANT SELECT ON ALL TABLES IN SCHEMA pando TO u",
    "COMMENT ON SCHEMA pando IS 'x'",
    "ALTER TABLE items SET SCHEMA pando",
    "SET search_path = pando",
    "SET search_path TO public, \"pando\"",
    "SELECT set_config('search_path', 'pando', false)",
    "ALTER ROLE u SET search_path = 'public, pando'",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql SET search_path = pando AS 'SELECT 1 FROM unit'",
    "DROP OWNED BY CURRENT_USER",
    "REASSIGN OWNED BY a TO b",
    "DO $$ BEGIN DROP SCHEMA pando CASCADE; END $$",
    "DO $$ BEGIN EXECUTE 'DROP SCHEMA pando CASCADE'; END $$",
    "DO $$ BEGIN EXECUTE 'DROP SCHEMA ' || 'pando'; PERFORM 'DROP SCHEMA pando'; END $$",
    "DO $$ BEGIN PERFORM set_config('search_path', 'pando', false); DELETE FROM unit; END $$",
    "UPDATE pg_class SET relname = 'x'",
    "DELETE FROM pg_catalog.pg_namespace WHERE nspname = 'x'",
    "INSERT INTO pg_catalog.pg_class SELECT 1",
    "SELECT database_to_xml(true, true, '')",
    "SELECT query_to_xml('SELECT * FROM pan' || 'do.unit', true, false, '')",
    "SELECT table_to_xml('pando.unit', true, false, '')",
    "SELECT schema_to_xml('pando', true, false, '')",
    "SELECT * FROM ts_stat(chr(1))",
];

/// Everybody may.
const FREE: &[&str] = &[
    "SELECT items.id, items.* FROM items",
    "SELECT pando.id FROM items AS pando",
    "SELECT i.id FROM public.items AS i",
    "INSERT INTO items (id, name) VALUES (1, 'pando.unit')",
    "INSERT INTO items (id, schema) VALUES (1, 'pando')",
    "SELECT * FROM items WHERE name = 'hr.items'",
    "SELECT 1 FROM pg_catalog.pg_class c WHERE c.relname = 'unit'",
    "SELECT to_regclass('pando.unit')",
    "SET search_path = public, pg_catalog",
    "SELECT pg_catalog.set_config('search_path', '', false)",
    "CREATE EXTENSION IF NOT EXISTS pgcrypto",
    "CREATE SCHEMA IF NOT EXISTS public",
    "GRANT SELECT ON items TO u",
    "COMMENT ON EXTENSION plpgsql IS 'x'",
    "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.at = now(); RETURN NEW; END $$",
    "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN FOR r IN SELECT i.id FROM items i LOOP UPDATE items SET id = r.id WHERE items.id = r.id; END LOOP; RETURN 1; END $$",
    "GRANT EXECUTE ON FUNCTION f() TO u",
    "DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_type WHERE typname = 'mood') THEN CREATE TYPE mood AS ENUM ('a'); END IF; END $$",
    "DO $$ BEGIN EXECUTE 'CREATE TYPE mood AS ENUM (''a'')'; END $$",
    "COPY items FROM STDIN",
    "SELECT nextval('items_id_seq')",
    "SELECT nextval('public.items_id_seq'::regclass)",
    "SELECT ts_rewrite('a'::tsquery, 'a'::tsquery, 'b'::tsquery)",
];

fn house() -> House {
    House::new(Arc::new(Postgres))
}

#[test]
fn no_statement_of_a_limited_user_reaches_another_schema() {
    let product = Product {
        templates: TABLES,
        others: OTHERS,
        marks: &["hr.items", "u&h\\0072.items"],
        own: "items",
        by: &[Who::Limited],
    };
    product.check(&mut house());
}

#[test]
fn no_statement_of_anybody_reaches_a_ledger() {
    let marks =
        ["pando.unit", "pando.decision", "pando.undo", "pando.row_lock", "u&p\\0061ndo.unit"];
    let product =
        Product { templates: TABLES, others: LEDGERS, marks: &marks, own: "items", by: &ALL };
    product.check(&mut house());
}

#[test]
fn what_belongs_to_servers_is_for_administrators() {
    let refused = [Who::Limited, Who::Plain];
    check_texts(&mut house(), PRIVILEGED, (&refused, &[Who::Administrator]));
}

#[test]
fn what_shows_or_opens_other_databases_is_not_for_limited_users() {
    check_texts(&mut house(), WIDE, (&[Who::Limited], &[Who::Plain, Who::Administrator]));
}

#[test]
fn some_things_are_for_nobody_and_most_for_everybody() {
    check_texts(&mut house(), NEVER, (&ALL, &[]));
    check_texts(&mut house(), FREE, (&[], &ALL));
}
