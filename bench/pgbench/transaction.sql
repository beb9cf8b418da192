\set id random(1, :rows)
BEGIN;
SELECT c FROM sbtest1 WHERE id = :id;
UPDATE sbtest1 SET k = k + 1 WHERE id = :id;
COMMIT;
