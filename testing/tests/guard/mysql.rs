//! MySQL and MariaDB.

use std::sync::Arc;

use pando_mysql::MySql;

use crate::house::{ALL, House, Product, Who, check_texts};

/// `{t}` is where a table is named.
const TABLES: &[&str] = &[
    "SELECT * FROM {t}",
    "SELECT a.id FROM {t} AS a WHERE a.id = 1 FOR UPDATE",
    "SELECT (SELECT MAX(id) FROM {t})",
    "SELECT id FROM items WHERE id IN (SELECT id FROM {t})",
    "SELECT id FROM items WHERE EXISTS (SELECT 1 FROM {t})",
    "SELECT i.id FROM items i JOIN {t} x ON x.id = i.id",
    "SELECT i.id FROM items i LEFT JOIN (items j JOIN {t} x ON x.id = j.id) ON j.id = i.id",
    "SELECT i.id FROM items i, {t}",
    "SELECT id FROM items GROUP BY (SELECT MAX(id) FROM {t})",
    "SELECT id FROM items ORDER BY (SELECT MAX(id) FROM {t})",
    "SELECT CASE WHEN (SELECT 1 FROM {t}) THEN 1 END",
    "SELECT SUM(id) OVER (ORDER BY (SELECT MAX(id) FROM {t})) FROM items",
    "WITH c AS (SELECT * FROM {t}) SELECT * FROM c",
    "SELECT 1 UNION SELECT id FROM {t}",
    "SELECT * FROM (SELECT * FROM {t}) AS d",
    "TABLE {t}",
    "INSERT INTO {t} (id) VALUES (1)",
    "INSERT INTO {t} SELECT 1",
    "INSERT INTO items (id) SELECT id FROM {t}",
    "INSERT INTO items (id) VALUES ((SELECT MAX(id) FROM {t}))",
    "INSERT INTO items (id) VALUES (1) ON DUPLICATE KEY UPDATE id = (SELECT MAX(id) FROM {t})",
    "REPLACE INTO {t} (id) VALUES (1)",
    "UPDATE {t} SET id = 1",
    "UPDATE items, {t} x SET items.id = x.id",
    "UPDATE items SET id = (SELECT MAX(id) FROM {t})",
    "DELETE FROM {t}",
    "DELETE FROM items WHERE id = (SELECT MAX(id) FROM {t})",
    "DELETE a FROM items a, {t} b WHERE a.id = b.id",
    "TRUNCATE {t}",
    "TRUNCATE TABLE {t}",
    "DROP TABLE {t}",
    "DROP TABLE IF EXISTS {t}",
    "DROP TABLE items, {t}",
    "ALTER TABLE {t} ADD COLUMN c INT",
    "ALTER TABLE items RENAME TO {t}",
    "RENAME TABLE items TO {t}",
    "RENAME TABLE {t} TO items",
    "CREATE TABLE {t} (id INT)",
    "CREATE TABLE copy LIKE {t}",
    "CREATE TABLE copy SELECT * FROM {t}",
    "CREATE TABLE copy AS SELECT * FROM {t}",
    "CREATE TABLE copy (id INT, FOREIGN KEY (id) REFERENCES {t} (id))",
    "CREATE TABLE copy (id INT) ENGINE = MERGE UNION = ({t})",
    "CREATE INDEX i ON {t} (id)",
    "DROP INDEX i ON {t}",
    "CREATE VIEW v AS SELECT * FROM {t}",
    "CREATE VIEW {t} AS SELECT 1",
    "ALTER VIEW v AS SELECT * FROM {t}",
    "DROP VIEW {t}",
    "CREATE TRIGGER tr BEFORE INSERT ON {t} FOR EACH ROW SET NEW.id = 1",
    "CREATE TRIGGER tr BEFORE INSERT ON items FOR EACH ROW INSERT INTO {t} VALUES (NEW.id)",
    "CREATE TRIGGER tr BEFORE INSERT ON items FOR EACH ROW BEGIN DELETE FROM {t}; END",
    "CREATE PROCEDURE p() SELECT * FROM {t}",
    "CREATE PROCEDURE p() BEGIN IF 1 THEN UPDATE {t} SET id = 1; END IF; END",
    "CREATE PROCEDURE p() BEGIN DECLARE c CURSOR FOR SELECT * FROM {t}; END",
    "CREATE PROCEDURE p() BEGIN DROP TABLE {t}; END",
    "CREATE PROCEDURE p() BEGIN PREPARE s FROM 'SELECT * FROM {t}'; EXECUTE s; END",
    "CREATE FUNCTION f() RETURNS INT RETURN (SELECT MAX(id) FROM {t})",
    "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM {t}",
    "LOCK TABLES {t} WRITE",
    "CHECK TABLE {t}",
    "ANALYZE TABLE {t}",
    "OPTIMIZE TABLE {t}",
    "REPAIR TABLE {t}",
    "CHECKSUM TABLE {t}",
    "FLUSH TABLES {t}",
    "HANDLER {t} OPEN",
    "DESCRIBE {t}",
    "EXPLAIN SELECT * FROM {t}",
    "EXPLAIN UPDATE {t} SET id = 1",
    "SHOW COLUMNS FROM {t}",
    "SHOW INDEX FROM {t}",
    "SHOW CREATE TABLE {t}",
    "LOAD DATA LOCAL INFILE 'f' INTO TABLE {t}",
    "SET @a = (SELECT MAX(id) FROM {t})",
    "DO (SELECT MAX(id) FROM {t})",
    "PREPARE s FROM 'SELECT * FROM {t}'",
    "EXECUTE IMMEDIATE 'SELECT * FROM {t}'",
    "BEGIN NOT ATOMIC SELECT * FROM {t}; END",
    "BEGIN NOT ATOMIC EXECUTE IMMEDIATE 'DROP TABLE {t}'; END",
    "SELECT NEXT VALUE FOR {t}",
    "SELECT NEXTVAL({t})",
    "CREATE SEQUENCE {t}",
    "DROP SEQUENCE {t}",
];

const OTHERS: &[&str] = &["hr.items", "`hr`.`items`", "HR . Items", "hr./**/items", "hr.`items`"];

const LEDGERS: &[&str] = &[
    "pando_unit",
    "`pando_decision`",
    "PANDO_UNDO",
    "shop.pando_row_lock",
    "`shop` . `Pando_Unit`",
];

/// Only administrators may.
const PRIVILEGED: &[&str] = &[
    "SELECT * FROM mysql.user",
    "SELECT * FROM `mysql`.`global_priv`",
    "SELECT id FROM items WHERE id IN (SELECT 1 FROM mysql.user)",
    "CREATE VIEW v AS SELECT * FROM mysql.user",
    "CREATE PROCEDURE p() SELECT * FROM mysql.db",
    "SELECT LOAD_FILE('/etc/passwd')",
    "SELECT 1 INTO OUTFILE '/tmp/x'",
    "SELECT 1 INTO DUMPFILE '/tmp/x'",
    "LOAD DATA INFILE '/etc/passwd' INTO TABLE items",
    "SET GLOBAL max_connections = 1",
    "SET @@global.max_connections = 1",
    "BEGIN NOT ATOMIC SET GLOBAL max_connections = 1; SELECT LOAD_FILE('x'); END",
    "SHUTDOWN",
    "INSTALL PLUGIN p SONAME 'x.so'",
    "CREATE FUNCTION f RETURNS INTEGER SONAME 'x.so'",
    "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x')",
    "CREATE TABLE far (id INT) ENGINE = FEDERATED CONNECTION = 'mysql://u@h/hr/items'",
    "CREATE TABLE far (id INT) DATA DIRECTORY = '/tmp'",
    "SHOW BINLOG EVENTS",
    "CREATE PROCEDURE p(t TEXT) BEGIN PREPARE s FROM @t; EXECUTE s; END",
    "CREATE PROCEDURE p(t TEXT) EXECUTE IMMEDIATE CONCAT('DROP TABLE ', t)",
    "CREATE USER u IDENTIFIED BY 'x'",
    "GRANT ALL ON *.* TO u",
    "GRANT SELECT ON hr.* TO u",
    "REVOKE ALL ON hr.* FROM u",
];

/// Users of some databases may not.
const WIDE: &[&str] = &[
    "SELECT * FROM performance_schema.events_statements_history",
    "SELECT * FROM information_schema.INNODB_TRX",
    "SELECT * FROM sys.statement_analysis",
    "SELECT hr.f(1)",
    "CALL hr.p()",
    "CREATE TRIGGER hr.tr BEFORE INSERT ON items FOR EACH ROW SET NEW.id = 1",
    "CREATE PROCEDURE hr.p() SELECT 1",
];

/// Nobody may.
const NEVER: &[&str] = &[
    "BEGIN NOT ATOMIC XA COMMIT 'pando-a-b-1'; END",
    "CREATE PROCEDURE p() BEGIN XA ROLLBACK 'pando-a-b-1'; END",
    "CREATE PROCEDURE p() BEGIN DROP DATABASE ds_0; END",
    "CALL sys.execute_prepared_stmt('DROP TABLE x')",
    "CREATE PROCEDURE p() BEGIN PREPARE s FROM 'DROP TABLE pando_unit'; EXECUTE s; END",
    "CREATE PROCEDURE p() EXECUTE IMMEDIATE CONCAT('DROP TABLE ', 'pando_unit')",
];

/// Everybody may.
const FREE: &[&str] = &[
    "SELECT items.id, items.* FROM items",
    "SELECT i.id FROM items AS i JOIN orders ON orders.id = i.id",
    "INSERT INTO items (id, name) VALUES (1, 'pando_unit')",
    "SELECT * FROM items WHERE name = 'hr.items' AND note = 'mysql.user'",
    "SELECT id FROM items WHERE name = 'pando_unit'",
    "SELECT name FROM mysql.time_zone_name",
    "SELECT * FROM performance_schema.session_variables",
    "CREATE TRIGGER tr BEFORE UPDATE ON items FOR EACH ROW SET NEW.id = OLD.id + 1",
    "CREATE PROCEDURE p() BEGIN SELECT i.id FROM items i WHERE i.id = 1; END",
    "CREATE PROCEDURE p(a INT) BEGIN DECLARE b INT; SET b = (SELECT MAX(items.id) FROM items); IF b > a THEN UPDATE items SET items.id = a; END IF; END",
    "CREATE TABLE t (id INT, connection VARCHAR(9) DEFAULT 'x', `data` TEXT, `import` INT)",
    "UPDATE items i SET i.id = 1 WHERE i.id = 2",
    "SET @a = 1",
    "SET NAMES utf8mb4",
    "SELECT CASE WHEN 1 THEN id ELSE id END FROM items",
];

fn house() -> House {
    House::new(Arc::new(MySql))
}

#[test]
fn no_statement_of_a_limited_user_reaches_another_database() {
    let product = Product {
        templates: TABLES,
        others: OTHERS,
        marks: &["hr.items"],
        own: "items",
        by: &[Who::Limited],
    };
    product.check(&mut house());
}

#[test]
fn no_statement_of_anybody_reaches_a_ledger() {
    let product = Product {
        templates: TABLES,
        others: LEDGERS,
        marks: &["pando_unit", "pando_counter", "pando_decision", "pando_undo", "pando_row_lock"],
        own: "items",
        by: &ALL,
    };
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
