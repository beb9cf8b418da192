//! Statements. What they answer is what the server answers to them on a table without the room.

/// Which families have the statement.
#[derive(Debug, Clone, Copy)]
pub(crate) enum In {
    Both,
    Postgres,
    MariaDb,
}

use In::{Both, MariaDb, Postgres};

/// Queries.
pub(crate) const QUERIES: &[(In, &str)] = &[
    // The select list, on one shard and on both.
    (Both, "SELECT id, secret FROM room_t WHERE id = 1"),
    (Both, "SELECT secret FROM room_t"),
    (Both, "SELECT id, secret, note FROM room_t ORDER BY id"),
    (Both, "SELECT secret AS s, id AS secret FROM room_t WHERE id = 2"),
    (Both, "SELECT t.secret, t.note FROM room_t t WHERE t.id IN (1, 2) ORDER BY t.id"),
    (Both, "SELECT (secret) FROM room_t WHERE id = 3"),
    (Both, "SELECT secret, secret FROM room_t WHERE id = 3"),
    (Both, "SELECT id FROM room_t ORDER BY id DESC LIMIT 2"),
    (Both, "SELECT secret FROM room_t ORDER BY id DESC LIMIT 2"),
    (Both, "SELECT DISTINCT secret FROM room_t WHERE id = 1"),
    // Stars.
    (Both, "SELECT * FROM room_t WHERE id = 1"),
    (Both, "SELECT * FROM room_t"),
    (Both, "SELECT * FROM room_t ORDER BY id"),
    (Both, "SELECT t.*, t.secret AS again FROM room_t t WHERE id = 2"),
    (Both, "SELECT 1 AS one, t.* FROM room_t t ORDER BY t.id LIMIT 3"),
    // Conditions.
    (Both, "SELECT id FROM room_t WHERE secret = 'ab'"),
    (Both, "SELECT id FROM room_t WHERE secret = 'ba'"),
    (Both, "SELECT id, secret FROM room_t WHERE 'cd' = secret AND id = 2"),
    (Both, "SELECT id, secret FROM room_t WHERE secret <> 'ab' ORDER BY id"),
    (Both, "SELECT id, note FROM room_t WHERE secret = 'ab' AND note = 'one' OR note = 'ab'"),
    (Both, "SELECT id FROM room_t WHERE secret IN ('ab', 'ef')"),
    (Both, "SELECT id FROM room_t WHERE secret NOT IN ('ab', 'ef') ORDER BY id"),
    (Both, "SELECT id FROM room_t WHERE id IN (1, 3) AND secret IN ('ab', 'cd', 'ba')"),
    (Both, "SELECT id FROM room_t WHERE secret IS NULL"),
    (Both, "SELECT id, secret FROM room_t WHERE secret IS NOT NULL ORDER BY id"),
    (Postgres, "SELECT id FROM room_t WHERE secret IS NOT DISTINCT FROM 'cd'"),
    (MariaDb, "SELECT id FROM room_t WHERE secret <=> 'cd'"),
    (MariaDb, "SELECT id, SECRET FROM room_t WHERE Secret = 'cd'"),
    (Postgres, "SELECT id, SECRET FROM room_t WHERE \"secret\" = 'cd'"),
    // Joins.
    (
        Both,
        "SELECT t.id, u.secret FROM room_t t JOIN room_u u ON u.id = t.id AND u.secret = t.secret",
    ),
    (Both, "SELECT t.id, u.note FROM room_t t JOIN room_u u ON u.id = t.id WHERE u.secret = 'ab'"),
    (Both, "SELECT t.*, u.* FROM room_t t JOIN room_u u ON u.id = t.id WHERE t.id = 1"),
    (
        Both,
        "SELECT t.id FROM room_t t LEFT JOIN room_u u ON u.id = t.id AND u.secret = 'cd' ORDER BY t.id",
    ),
    // Sub-queries and common table expressions.
    (Both, "SELECT d.secret FROM (SELECT secret, id FROM room_t WHERE id = 1) d"),
    (Both, "SELECT d.secret FROM (SELECT * FROM room_t WHERE id = 1) d WHERE d.secret = 'ab'"),
    (Both, "SELECT * FROM (SELECT * FROM room_t WHERE id = 1) d"),
    (
        Both,
        "SELECT id FROM room_t t WHERE t.id = 1 AND EXISTS (SELECT 1 FROM room_u u WHERE u.id = 1 AND u.secret = t.secret)",
    ),
    (
        Both,
        "SELECT id FROM room_t WHERE id = 1 AND secret IN (SELECT secret FROM room_u WHERE id = 1)",
    ),
    (
        Both,
        "WITH c AS (SELECT id, secret FROM room_t WHERE id = 1) SELECT secret FROM c WHERE secret = 'ab'",
    ),
    (Both, "SELECT secret FROM room_t WHERE id = 1 UNION SELECT secret FROM room_t WHERE id = 3"),
    (
        Both,
        "SELECT secret FROM room_t WHERE id = 1 UNION ALL SELECT secret FROM room_u WHERE id = 1",
    ),
    // Groups and aggregates.
    (Both, "SELECT secret, COUNT(*) AS n FROM room_t WHERE id = 1 GROUP BY secret"),
    (Both, "SELECT COUNT(secret) FROM room_t"),
    (Both, "SELECT COUNT(DISTINCT secret) AS n FROM room_t WHERE id = 1"),
    (Both, "SELECT COUNT(*) AS n FROM room_t WHERE secret = 'ab'"),
    (Both, "SELECT note FROM room_t WHERE id = 1 GROUP BY note HAVING COUNT(secret) > 0"),
    (Both, "SELECT COUNT(*) AS n, SUM(id) AS s FROM room_t WHERE secret IS NOT NULL"),
    (Both, "SELECT note, COUNT(secret) AS n FROM room_t GROUP BY note"),
    // Over several shards: what is stored meets.
    (Both, "SELECT DISTINCT secret FROM room_t"),
    (Both, "SELECT DISTINCT secret, note FROM room_t ORDER BY note"),
    (Both, "SELECT secret, COUNT(*) AS n FROM room_t GROUP BY secret"),
    (Both, "SELECT secret AS s, MAX(id) AS m FROM room_t GROUP BY secret ORDER BY m"),
    (Both, "SELECT COUNT(*) AS n FROM room_t GROUP BY secret ORDER BY n"),
    (Both, "SELECT COUNT(DISTINCT secret) AS n FROM room_t"),
    (Both, "SELECT note, COUNT(DISTINCT secret) AS n FROM room_t GROUP BY note ORDER BY note"),
    (Both, "SELECT secret, COUNT(*) AS n FROM room_t GROUP BY secret HAVING COUNT(*) > 1"),
    (Both, "SELECT secret FROM room_t GROUP BY secret HAVING secret = 'ab'"),
    (Both, "SELECT secret FROM room_t GROUP BY secret HAVING secret <> 'ab' OR COUNT(*) > 1"),
    (Both, "SELECT note, COUNT(*) + 1 AS n FROM room_t WHERE secret <> 'ab' GROUP BY note"),
    (Both, "SELECT COUNT(*) + COUNT(secret) AS n FROM room_t WHERE secret IN ('ab', 'cd')"),
    (Both, "SELECT t.id AS a, u.id AS b FROM room_t t JOIN room_u u ON u.secret = t.secret"),
    (
        Both,
        "SELECT t.secret, u.secret AS b, u.id FROM room_t t JOIN room_u u ON u.secret = t.secret WHERE t.secret = 'ab' AND u.id > 1",
    ),
    (
        Both,
        "SELECT t.*, u.secret AS other FROM room_t t LEFT JOIN room_u u ON u.id = t.id + 1 AND u.secret <> t.secret",
    ),
    (Both, "SELECT t.secret FROM room_t t JOIN room_u u ON u.id = t.id + 1 WHERE t.id < 3"),
    (
        Both,
        "SELECT t.id AS a, u.id AS b FROM room_t t JOIN room_u u ON u.secret = t.secret WHERE t.secret IN ('ab', 'cd')",
    ),
    (Both, "SELECT id FROM room_t WHERE secret IN (SELECT secret FROM room_u WHERE id > 3)"),
    (
        Both,
        "SELECT id FROM room_t t WHERE NOT EXISTS (SELECT 1 FROM room_u u WHERE u.secret = t.secret AND u.id <> t.id)",
    ),
    (Both, "SELECT secret FROM room_t UNION SELECT secret FROM room_u WHERE id < 3"),
    (Both, "SELECT secret FROM room_t UNION ALL SELECT secret FROM room_u"),
    (Both, "SELECT secret, id FROM room_t UNION ALL SELECT secret, id FROM room_u ORDER BY id"),
    (
        Both,
        "SELECT d.secret, d.n FROM (SELECT secret, COUNT(*) AS n FROM room_t GROUP BY secret) d",
    ),
    (Both, "WITH c AS (SELECT secret FROM room_t WHERE secret = 'ab') SELECT COUNT(*) AS n FROM c"),
    (Both, "SELECT (SELECT COUNT(*) FROM room_u WHERE secret = 'ab') AS n, id FROM room_t"),
    (Both, "SELECT DISTINCT * FROM room_t"),
    (Both, "SELECT secret, ROW_NUMBER() OVER (PARTITION BY note ORDER BY id) AS r FROM room_t"),
    (Both, "SELECT id, secret, note FROM room_t WHERE note > 'a' ORDER BY 1 LIMIT 3"),
    (Both, "SELECT * FROM room_t ORDER BY 1 DESC"),
    // Other forms.
    (Postgres, "TABLE room_t"),
    (Both, "SELECT id, secret FROM room_t WHERE secret = 'ab' FOR UPDATE"),
    (Both, "SELECT CASE WHEN secret = 'ab' THEN 'y' ELSE 'n' END AS c FROM room_t WHERE id = 1"),
    (Both, "SELECT id, secret = 'ab' AS same FROM room_t WHERE id = 3"),
    (Postgres, "SELECT id FROM room_t WHERE NOT (secret = 'ab') ORDER BY id"),
    // Without the column.
    (Both, "SELECT note FROM room_t WHERE note = 'ab'"),
    (Both, "SELECT COUNT(*) FROM room_t"),
    (Both, "SELECT 'secret' AS x, id FROM room_t WHERE id = 1"),
];

/// Questions about the catalogue.
pub(crate) const CATALOGUE: &[(In, &str)] = &[
    (
        Postgres,
        "SELECT pg_get_indexdef(i.indexrelid, 2, true) FROM pg_index i WHERE i.indrelid = 'room_t'::regclass AND i.indnatts = 2",
    ),
    (MariaDb, "SHOW FULL COLUMNS FROM room_t"),
    (MariaDb, "SHOW COLUMNS FROM room_t LIKE 'se%'"),
    (MariaDb, "DESCRIBE room_t"),
    (MariaDb, "SHOW CREATE TABLE room_t"),
    (
        Postgres,
        "SELECT column_name, data_type, ordinal_position FROM information_schema.columns WHERE table_name IN ('room_t', 'room_u') ORDER BY table_name, ordinal_position",
    ),
    (
        Postgres,
        "SELECT table_name FROM information_schema.columns WHERE column_name = 'secret' AND table_name IN ('room_t', 'room_u') ORDER BY 1",
    ),
    (
        Postgres,
        "SELECT count(*) AS n FROM information_schema.columns WHERE column_name LIKE 'secret\\_%' AND table_name IN ('room_t', 'room_u')",
    ),
    (
        Postgres,
        "SELECT a.attname, a.attnum FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE c.relname = 'room_t' AND a.attnum > 0 ORDER BY a.attnum",
    ),
    (
        Postgres,
        "SELECT attname FROM pg_catalog.pg_attribute WHERE attrelid = 'room_u'::regclass AND attnum > 0 ORDER BY attnum",
    ),
    (
        Postgres,
        "SELECT a.attname FROM pg_class i JOIN pg_index x ON x.indexrelid = i.oid JOIN pg_class t ON t.oid = x.indrelid JOIN pg_attribute a ON a.attrelid = i.oid WHERE t.relname = 'room_t' AND NOT x.indisprimary ORDER BY a.attnum",
    ),
    (
        Postgres,
        "SELECT column_name FROM information_schema.key_column_usage WHERE table_name = 'room_t' AND position_in_unique_constraint IS NULL ORDER BY constraint_name, ordinal_position",
    ),
    (
        MariaDb,
        "SELECT COLUMN_NAME, COLUMN_TYPE, ORDINAL_POSITION FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('room_t', 'room_u') ORDER BY TABLE_NAME, ORDINAL_POSITION",
    ),
    (
        MariaDb,
        "SELECT TABLE_NAME FROM information_schema.columns WHERE COLUMN_NAME = 'secret' AND TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('room_t', 'room_u') ORDER BY 1",
    ),
    (
        MariaDb,
        "SELECT SEQ_IN_INDEX, COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'room_t' AND INDEX_NAME <> 'PRIMARY' ORDER BY 1",
    ),
    (
        MariaDb,
        "SELECT COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'room_u' ORDER BY CONSTRAINT_NAME, ORDINAL_POSITION",
    ),
];

/// Changes, run with several `{n}` one after the other. Behind each the units hold what was stored without the room.
pub(crate) const CHANGES: &[(In, &str)] = &[
    (Both, "INSERT INTO room_t (id, secret, note) VALUES ({n}, 'n{n}', 'note')"),
    (Both, "INSERT INTO room_u (note, secret, id) VALUES ('note', 'n{n}', {n})"),
    (Both, "UPDATE room_t SET secret = 'up{n}' WHERE id = {n}"),
    (Both, "UPDATE room_t SET secret = 'again{n}', note = 'x' WHERE id = {n} AND secret = 'up{n}'"),
    (Both, "UPDATE room_t SET note = 'all{n}' WHERE secret IN ('again{n}', 'ab')"),
    (Both, "UPDATE room_t SET secret = 'both{n}' WHERE note = 'three'"),
    (Both, "UPDATE room_t SET secret = NULL WHERE id = {n}"),
    (Both, "UPDATE room_t SET secret = DEFAULT WHERE id = 3"),
    (Both, "DELETE FROM room_t WHERE id = {n} AND secret IS NULL"),
    (Both, "INSERT INTO room_t VALUES ({n}, 'p{n}', 'note')"),
    (Both, "DELETE FROM room_t WHERE secret = 'p{n}'"),
    (
        Both,
        "INSERT INTO room_t (id, secret) VALUES ({n}, 'm{n}'), (1{n}, NULL), (2{n}, DEFAULT), (3{n}, 'w{n}')",
    ),
    (Both, "DELETE FROM room_t WHERE id IN ({n}, 1{n}, 2{n}, 3{n})"),
    (Both, "INSERT INTO room_t VALUES ({n}, 'a{n}', 'x'), (1{n}, 'b{n}', 'y')"),
    (Both, "INSERT INTO room_t (id, note) VALUES (4{n}, 'secret')"),
    (
        Postgres,
        "INSERT INTO room_t (id, secret) VALUES ({n}, 'c{n}') ON CONFLICT (id) DO UPDATE SET secret = excluded.secret",
    ),
    (
        Postgres,
        "INSERT INTO room_t (id, secret) VALUES ({n}, 'd{n}') ON CONFLICT (id) DO UPDATE SET secret = 'e{n}' WHERE room_t.secret = 'c{n}'",
    ),
    (
        Postgres,
        "INSERT INTO room_t (id, secret) VALUES ({n}, 'e{n}') ON CONFLICT (id, secret) DO NOTHING",
    ),
    (
        MariaDb,
        "INSERT INTO room_t (id, secret) VALUES ({n}, 'c{n}') ON DUPLICATE KEY UPDATE secret = VALUES(secret)",
    ),
    (
        MariaDb,
        "INSERT INTO room_t (id, secret) VALUES ({n}, 'd{n}') ON DUPLICATE KEY UPDATE secret = 'e{n}'",
    ),
    (MariaDb, "REPLACE INTO room_t (id, secret, note) VALUES ({n}, 'r{n}', 'z')"),
    (MariaDb, "INSERT INTO room_t SET id = 5{n}, secret = 'set{n}'"),
    (
        Postgres,
        "UPDATE room_t AS t SET secret = u.secret FROM room_u u WHERE u.id = t.id AND t.id = 1 AND u.id = 1",
    ),
    (
        MariaDb,
        "UPDATE room_t t JOIN room_u u ON u.id = t.id SET t.secret = u.secret WHERE t.id = 1 AND u.id = 1",
    ),
    (Postgres, "UPDATE room_t SET (note, secret) = ('n', 't{n}') WHERE id = 2"),
    (
        Postgres,
        "DELETE FROM room_t USING room_u u WHERE u.id = room_t.id AND u.secret = room_t.secret AND room_t.id = 6",
    ),
    // What changes return.
    (Both, "INSERT INTO room_t (id, secret) VALUES (6{n}, 'x{n}') RETURNING id, secret"),
    (Both, "INSERT INTO room_t (id, secret) VALUES (7{n}, 'y{n}'), (80{n}, 'z{n}') RETURNING *"),
    (Postgres, "UPDATE room_t SET secret = 'v{n}' WHERE id = 6{n} RETURNING secret AS s, id"),
    (Postgres, "UPDATE room_t SET note = 'v{n}' WHERE secret = 'y{n}' RETURNING *"),
    (Both, "DELETE FROM room_t WHERE id = 7{n} RETURNING secret, note"),
    (Both, "DELETE FROM room_t WHERE secret = 'z{n}' RETURNING *"),
    // Rows of a query, stored where they stand.
    (Both, "DELETE FROM room_u WHERE id = {n}"),
    (Both, "INSERT INTO room_u SELECT * FROM room_t WHERE id = 6{n}"),
    // Rows of a query, stored elsewhere.
    (Both, "DELETE FROM room_u WHERE id IN (9{n}, 110{n})"),
    (
        Both,
        "INSERT INTO room_u (id, secret, note) SELECT id + 30, secret, note FROM room_t WHERE id = 6{n}",
    ),
    (Both, "INSERT INTO room_u SELECT 110{n}, secret, note FROM room_t WHERE id = 1"),
    (
        Both,
        "INSERT INTO room_u (secret, id) SELECT 'q{n}', 1000 + COUNT(*) + {n} FROM room_t WHERE secret = 'ab'",
    ),
    // A row that moves.
    (Both, "INSERT INTO room_t VALUES (500{n}, 'mv{n}', 'moves')"),
    (Both, "UPDATE room_t SET id = id + 101 WHERE id = 500{n}"),
    (Both, "UPDATE room_t SET id = id - 101, secret = 'moved' WHERE secret = 'mv{n}'"),
    (Both, "DELETE FROM room_t WHERE secret = 'moved' AND note = 'moves'"),
    // Rows that a query chooses.
    (
        Both,
        "UPDATE room_t SET note = 'ch{n}' WHERE secret IN (SELECT secret FROM room_u WHERE id IN (1, 2))",
    ),
    (
        Both,
        "UPDATE room_t SET secret = 'ci{n}' WHERE note = 'ch{n}' AND EXISTS (SELECT 1 FROM room_u u WHERE u.secret = 'ab' AND u.id <> room_t.id)",
    ),
    (
        Postgres,
        "UPDATE room_t SET secret = u.secret FROM room_u u WHERE u.id = room_t.id + 1 AND room_t.secret = 'ci{n}' AND u.secret IN ('ab', 'cd', 'ef')",
    ),
    (
        MariaDb,
        "UPDATE room_t t JOIN room_u u ON u.id = t.id + 1 SET t.secret = u.secret WHERE t.secret = 'ci{n}' AND u.secret IN ('ab', 'cd', 'ef')",
    ),
    (Both, "DELETE FROM room_u WHERE secret IN (SELECT secret FROM room_t WHERE id = 6{n})"),
];

/// What is refused.
pub(crate) const REFUSED: &[(In, &str)] = &[
    (Both, "SELECT id FROM room_t ORDER BY secret"),
    (Both, "SELECT secret FROM room_t WHERE id = 1 ORDER BY 1"),
    (Both, "SELECT secret AS s FROM room_t ORDER BY s"),
    (Both, "SELECT secret, COUNT(*) FROM room_t GROUP BY secret ORDER BY secret"),
    (Both, "SELECT id FROM room_t WHERE secret LIKE 'a%'"),
    (Both, "SELECT id FROM room_t WHERE secret > 'a'"),
    (Both, "SELECT id FROM room_t WHERE secret BETWEEN 'a' AND 'b'"),
    (Both, "SELECT UPPER(secret) FROM room_t WHERE id = 1"),
    (Both, "SELECT CONCAT(secret, 'x') FROM room_t WHERE id = 1"),
    (Both, "SELECT MAX(secret) FROM room_t"),
    (Both, "SELECT id FROM room_t WHERE secret = UPPER('x')"),
    (Both, "SELECT id FROM room_t WHERE secret = note"),
    (Both, "SELECT id FROM room_t WHERE (secret, id) = ('ab', 1)"),
    (Both, "SELECT secret FROM room_t NATURAL JOIN room_u"),
    (Both, "SELECT u.id FROM room_t t JOIN room_u u USING (id, secret)"),
    (Both, "SELECT secret_stored FROM room_t WHERE id = 1"),
    (Both, "SELECT t.secret_stored FROM room_t t WHERE t.id = 1"),
    (Both, "UPDATE room_t SET secret = CONCAT(secret, 'x') WHERE id = 1"),
    (Both, "UPDATE room_t SET secret = note WHERE id = 1"),
    (Both, "UPDATE room_t SET note = secret WHERE id = 1"),
    (Both, "INSERT INTO room_t (id, secret) VALUES (99, UPPER('x'))"),
    (Both, "CREATE INDEX room_i ON room_t (secret)"),
    (Both, "ALTER TABLE room_t DROP COLUMN secret"),
    (Both, "CREATE VIEW room_v AS SELECT id FROM room_t"),
    (Postgres, "SELECT t FROM room_t t WHERE t.id = 1"),
    (Postgres, "SELECT DISTINCT ON (secret) id FROM room_t"),
    (Postgres, "SELECT DISTINCT ON (secret) id FROM room_t WHERE id = 1"),
    (Both, "SELECT id FROM room_t WHERE id = 1 ORDER BY secret"),
    (Both, "SELECT MIN(secret) FROM room_t WHERE id = 1"),
    (Both, "SELECT note, MAX(secret) AS m FROM room_t GROUP BY note"),
    (Both, "SELECT note FROM room_t GROUP BY note HAVING MIN(secret) = 'ab'"),
    (Both, "SELECT secret, COUNT(*) FROM room_t GROUP BY secret HAVING secret > 'ab'"),
    (Both, "SELECT t.id FROM room_t t JOIN room_u u ON u.secret < t.secret"),
    (Both, "SELECT secret FROM room_t UNION SELECT secret FROM room_u ORDER BY 1"),
    (Both, "SELECT secret FROM room_t UNION SELECT secret FROM room_u ORDER BY secret"),
    (Both, "SELECT secret FROM room_t UNION SELECT note FROM room_u"),
    (Both, "SELECT id, RANK() OVER (ORDER BY secret) AS r FROM room_t"),
    (Both, "SELECT id, COUNT(*) OVER (PARTITION BY secret) AS r FROM room_t"),
    (Both, "SELECT id FROM room_t WHERE secret > (SELECT secret FROM room_u WHERE id = 1)"),
    (Both, "SELECT id FROM room_t WHERE secret = (SELECT note FROM room_u WHERE id = 1)"),
    (Postgres, "SELECT indexdef FROM pg_indexes WHERE tablename = 'room_t'"),
    (Postgres, "SELECT attname, n_distinct FROM pg_stats WHERE tablename = 'room_t'"),
    (Postgres, "SELECT pg_get_ruledef(oid) FROM pg_rewrite WHERE ev_class = 'room_t'::regclass"),
    (Postgres, "SELECT has_column_privilege('room_t', 'secret_stored', 'SELECT')"),
    (MariaDb, "SELECT VIEW_DEFINITION FROM information_schema.VIEWS"),
    (MariaDb, "SELECT * FROM information_schema.INNODB_SYS_COLUMNS"),
    (MariaDb, "DESCRIBE room_t secret"),
    (Both, "CREATE TABLE room_copy AS SELECT id, secret FROM room_t"),
    (Both, "SELECT id FROM room_t WHERE id = 1 UNION ALL SELECT secret FROM room_t WHERE id = 1"),
    (Both, "SELECT secret FROM room_t WHERE id = 1 UNION ALL SELECT 'x'"),
    (Both, "SELECT ROW_NUMBER() OVER (ORDER BY secret) FROM room_t WHERE id = 1"),
    (Both, "DELETE FROM room_t WHERE secret < 'b'"),
    (Both, "WITH d AS (SELECT secret AS s FROM room_t WHERE id = 1) SELECT s FROM d ORDER BY s"),
    (MariaDb, "/* SHARDINGSPHERE_HINT: DATA_SOURCE_NAME=ds_0 */ SELECT secret FROM room_t"),
];

/// Queries of cursors.
pub(crate) const CURSORS: &[(In, &str)] = &[
    (Postgres, "SELECT secret FROM room_t WHERE id = 1"),
    (Postgres, "SELECT id, secret FROM room_t WHERE secret IN ('ab', 'cd') ORDER BY id"),
    (Postgres, "SELECT * FROM room_t ORDER BY id"),
];

/// Queries whose rows are copied.
pub(crate) const COPIES: &[(In, &str)] = &[
    (Postgres, "COPY (SELECT id, secret FROM room_t WHERE id = 2) TO STDOUT"),
    (
        Postgres,
        "COPY (SELECT id, secret FROM room_t WHERE secret = 'ab' ORDER BY id) TO STDOUT (FORMAT csv, HEADER)",
    ),
    (Postgres, "COPY (SELECT * FROM room_t WHERE id = 4) TO STDOUT (FORMAT csv)"),
    (Postgres, "COPY (SELECT secret FROM room_t) TO STDOUT"),
    (Postgres, "COPY room_t (id, note) TO STDOUT"),
];

/// The changes of one transaction, and what is read in it.
pub(crate) const TRANSACTION: [&str; 5] = [
    "INSERT INTO room_t (id, secret, note) VALUES (31, 'kl', 'x'), (32, NULL, 'y')",
    "UPDATE room_t SET secret = 'op' WHERE secret IN ('ab', 'cd')",
    "SELECT id, secret FROM room_t WHERE secret = 'op'",
    "DELETE FROM room_t WHERE secret = 'ef'",
    "SELECT * FROM room_t",
];
