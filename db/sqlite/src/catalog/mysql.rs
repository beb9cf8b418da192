//! The relations of MySQL's `information_schema` and `performance_schema` that are shown, and what each column holds.
//! <https://dev.mysql.com/doc/refman/8.0/en/information-schema.html>

use pando_kernel::presentation::Holding::{self, Shared, Tables};

use super::relation::Relation;

const fn of(
    name: &'static str,
    holding: Holding,
    from: &'static str,
    columns: &'static str,
) -> Relation {
    Relation { schema: "information_schema", name, holding, columns, from }
}

/// A relation of things that SQLite has none of.
const fn none(name: &'static str, columns: &'static str) -> Relation {
    of(name, Shared, "", columns)
}

const SETTINGS: &str = "(SELECT j.value ->> 0 AS name, j.value ->> 1 AS setting FROM json_each({variables}) AS j) AS v";
const SETTINGS_COLUMNS: &str = "VARIABLE_NAME:t=v.name ; VARIABLE_VALUE:t=v.setting";

pub(super) const RELATIONS: &[Relation] = &[
    of(
        "tables",
        Tables,
        "pando_tables AS t",
        "TABLE_CATALOG:t='def' ; TABLE_SCHEMA:t={database} ; TABLE_NAME:t=t.name ; TABLE_TYPE:t=CASE t.kind WHEN 'v' THEN 'VIEW' ELSE 'BASE TABLE' END
        ENGINE:t=CASE t.kind WHEN 'r' THEN 'SQLite' END ; VERSION:i=CASE t.kind WHEN 'r' THEN 10 END ; ROW_FORMAT:t=CASE t.kind WHEN 'r' THEN 'Dynamic' END
        TABLE_ROWS:i ; AVG_ROW_LENGTH:i ; DATA_LENGTH:i ; MAX_DATA_LENGTH:i ; INDEX_LENGTH:i ; DATA_FREE:i ; AUTO_INCREMENT:i ; CREATE_TIME:t ; UPDATE_TIME:t
        CHECK_TIME:t ; TABLE_COLLATION:t=CASE t.kind WHEN 'r' THEN 'utf8mb4_bin' END ; CHECKSUM:i ; CREATE_OPTIONS:t='' ; TABLE_COMMENT:t=CASE t.kind WHEN 'v' THEN 'VIEW' ELSE '' END",
    ),
    of(
        "columns",
        Tables,
        "(SELECT *, pando_mysql(type, pk > 0 AND keys = 1) AS whole FROM pando_columns WHERE hidden <> 1) AS c",
        "TABLE_CATALOG:t='def' ; TABLE_SCHEMA:t={database} ; TABLE_NAME:t=c.tname ; COLUMN_NAME:t=c.name ; ORDINAL_POSITION:i=c.cid + 1
        COLUMN_DEFAULT:t=pando_default(c.dflt) ; IS_NULLABLE:t=CASE WHEN c.nn OR c.pk > 0 THEN 'NO' ELSE 'YES' END ; DATA_TYPE:t=pando_base(c.whole)
        CHARACTER_MAXIMUM_LENGTH:i=pando_characters(c.whole) ; CHARACTER_OCTET_LENGTH:i=pando_characters(c.whole) * 4 ; NUMERIC_PRECISION:i=pando_digits(c.whole)
        NUMERIC_SCALE:i=pando_fraction(c.whole) ; DATETIME_PRECISION:i=CASE WHEN pando_base(c.whole) IN ('datetime', 'timestamp', 'time') THEN 0 END
        CHARACTER_SET_NAME:t=CASE WHEN pando_is_text(c.whole) THEN 'utf8mb4' END ; COLLATION_NAME:t=CASE WHEN pando_is_text(c.whole) THEN 'utf8mb4_bin' END
        COLUMN_TYPE:t=c.whole
        COLUMN_KEY:t=CASE WHEN c.pk > 0 THEN 'PRI' ELSE coalesce((SELECT CASE WHEN i.uniq AND (SELECT count(*) FROM pando_keys AS o WHERE o.oid = i.oid AND o.part = 1) = 1 THEN 'UNI' ELSE 'MUL' END FROM pando_keys AS k CROSS JOIN pando_indexes AS i WHERE i.oid = k.oid AND k.table_oid = c.oid AND k.cid = c.cid AND k.part = 1 AND k.seq = 0 ORDER BY i.uniq DESC LIMIT 1), '') END
        EXTRA:t=CASE WHEN c.auto AND c.pk > 0 THEN 'auto_increment' WHEN c.hidden = 2 THEN 'VIRTUAL GENERATED' WHEN c.hidden = 3 THEN 'STORED GENERATED' ELSE '' END
        PRIVILEGES:t='select,insert,update,references' ; COLUMN_COMMENT:t='' ; GENERATION_EXPRESSION:t='' ; SRS_ID:i",
    ),
    of(
        "statistics",
        Tables,
        "pando_indexes AS i CROSS JOIN pando_keys AS k WHERE k.oid = i.oid AND k.part = 1",
        "TABLE_CATALOG:t='def' ; TABLE_SCHEMA:t={database} ; TABLE_NAME:t=i.tname ; NON_UNIQUE:i=NOT i.uniq ; INDEX_SCHEMA:t={database} ; INDEX_NAME:t=i.name
        SEQ_IN_INDEX:i=k.seq + 1 ; COLUMN_NAME:t=k.name ; COLLATION:t=CASE WHEN k.down THEN 'D' ELSE 'A' END ; CARDINALITY:i ; SUB_PART:i ; PACKED:t
        NULLABLE:t=coalesce((SELECT CASE WHEN c.nn OR c.pk > 0 THEN '' ELSE 'YES' END FROM pando_columns AS c WHERE c.oid = k.table_oid AND c.cid = k.cid), 'YES')
        INDEX_TYPE:t='BTREE' ; COMMENT:t='' ; INDEX_COMMENT:t='' ; IS_VISIBLE:t='YES' ; EXPRESSION:t",
    ),
    of(
        "key_column_usage",
        Tables,
        "(SELECT i.name AS con, i.tname AS tname, k.name AS col, k.seq AS seq, NULL AS target, NULL AS other FROM pando_indexes AS i CROSS JOIN pando_keys AS k \
         WHERE k.oid = i.oid AND k.part = 1 AND i.uniq UNION ALL \
         SELECT concat(f.tname, '_ibfk_', f.id + 1), f.tname, f.own, f.seq, f.target, f.other FROM pando_references AS f) AS u",
        "CONSTRAINT_CATALOG:t='def' ; CONSTRAINT_SCHEMA:t={database} ; CONSTRAINT_NAME:t=u.con ; TABLE_CATALOG:t='def' ; TABLE_SCHEMA:t={database} ; TABLE_NAME:t=u.tname
        COLUMN_NAME:t=u.col ; ORDINAL_POSITION:i=u.seq + 1 ; POSITION_IN_UNIQUE_CONSTRAINT:i=CASE WHEN u.target IS NOT NULL THEN u.seq + 1 END
        REFERENCED_TABLE_SCHEMA:t=CASE WHEN u.target IS NOT NULL THEN {database} END ; REFERENCED_TABLE_NAME:t=u.target ; REFERENCED_COLUMN_NAME:t=u.other",
    ),
    of(
        "table_constraints",
        Tables,
        "(SELECT i.name AS con, i.tname AS tname, CASE i.origin WHEN 'pk' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END AS kind FROM pando_indexes AS i WHERE i.uniq UNION ALL \
         SELECT DISTINCT concat(f.tname, '_ibfk_', f.id + 1), f.tname, 'FOREIGN KEY' FROM pando_references AS f) AS c",
        "CONSTRAINT_CATALOG:t='def' ; CONSTRAINT_SCHEMA:t={database} ; CONSTRAINT_NAME:t=c.con ; TABLE_SCHEMA:t={database} ; TABLE_NAME:t=c.tname
        CONSTRAINT_TYPE:t=c.kind ; ENFORCED:t='YES'",
    ),
    of(
        "referential_constraints",
        Tables,
        "pando_references AS f WHERE f.seq = 0",
        "CONSTRAINT_CATALOG:t='def' ; CONSTRAINT_SCHEMA:t={database} ; CONSTRAINT_NAME:t=concat(f.tname, '_ibfk_', f.id + 1) ; UNIQUE_CONSTRAINT_CATALOG:t='def'
        UNIQUE_CONSTRAINT_SCHEMA:t={database} ; UNIQUE_CONSTRAINT_NAME:t='PRIMARY' ; MATCH_OPTION:t='NONE' ; UPDATE_RULE:t=f.updated ; DELETE_RULE:t=f.deleted
        TABLE_NAME:t=f.tname ; REFERENCED_TABLE_NAME:t=f.target",
    ),
    of(
        "views",
        Tables,
        "pando_tables AS t WHERE t.kind = 'v'",
        "TABLE_CATALOG:t='def' ; TABLE_SCHEMA:t={database} ; TABLE_NAME:t=t.name ; VIEW_DEFINITION:t=pando_query(t.text) ; CHECK_OPTION:t='NONE' ; IS_UPDATABLE:t='NO'
        DEFINER:t=concat({user}, '@%') ; SECURITY_TYPE:t='INVOKER' ; CHARACTER_SET_CLIENT:t='utf8mb4' ; COLLATION_CONNECTION:t='utf8mb4_bin'",
    ),
    of(
        "schemata",
        Shared,
        "(SELECT column2 AS name FROM (VALUES {databases}) UNION ALL SELECT 'information_schema') AS d",
        "CATALOG_NAME:t='def' ; SCHEMA_NAME:t=d.name ; DEFAULT_CHARACTER_SET_NAME:t='utf8mb4' ; DEFAULT_COLLATION_NAME:t='utf8mb4_bin' ; SQL_PATH:t ; DEFAULT_ENCRYPTION:t='NO'",
    ),
    of(
        "engines",
        Shared,
        "(SELECT 1 AS one) AS e",
        "ENGINE:t='SQLite' ; SUPPORT:t='DEFAULT' ; COMMENT:t='Embedded storage units' ; TRANSACTIONS:t='YES' ; XA:t='NO' ; SAVEPOINTS:t='YES'",
    ),
    of(
        "character_sets",
        Shared,
        "(SELECT 'utf8mb4' AS name, 'utf8mb4_bin' AS coll, 4 AS size UNION ALL SELECT 'binary', 'binary', 1) AS c",
        "CHARACTER_SET_NAME:t=c.name ; DEFAULT_COLLATE_NAME:t=c.coll ; DESCRIPTION:t='' ; MAXLEN:i=c.size",
    ),
    of(
        "collations",
        Shared,
        "(SELECT 'utf8mb4_bin' AS name, 'utf8mb4' AS cs, 46 AS id, 'Yes' AS usual UNION ALL SELECT 'utf8mb4_general_ci', 'utf8mb4', 45, '' UNION ALL SELECT 'binary', 'binary', 63, 'Yes') AS c",
        "COLLATION_NAME:t=c.name ; CHARACTER_SET_NAME:t=c.cs ; ID:i=c.id ; IS_DEFAULT:t=c.usual ; IS_COMPILED:t='Yes' ; SORTLEN:i=1 ; PAD_ATTRIBUTE:t='NO PAD'",
    ),
    of("session_variables", Shared, SETTINGS, SETTINGS_COLUMNS),
    of("global_variables", Shared, SETTINGS, SETTINGS_COLUMNS),
    Relation { schema: "performance_schema", name: "session_variables", holding: Shared, columns: SETTINGS_COLUMNS, from: SETTINGS },
    Relation { schema: "performance_schema", name: "global_variables", holding: Shared, columns: SETTINGS_COLUMNS, from: SETTINGS },
    none("session_status", "VARIABLE_NAME:t ; VARIABLE_VALUE:t"),
    none("global_status", "VARIABLE_NAME:t ; VARIABLE_VALUE:t"),
    none("keywords", "WORD:t ; RESERVED:i"),
    none("routines", "SPECIFIC_NAME:t ; ROUTINE_CATALOG:t ; ROUTINE_SCHEMA:t ; ROUTINE_NAME:t ; ROUTINE_TYPE:t ; DATA_TYPE:t ; DTD_IDENTIFIER:t ; ROUTINE_DEFINITION:t
        IS_DETERMINISTIC:t ; SQL_DATA_ACCESS:t ; SECURITY_TYPE:t ; CREATED:t ; LAST_ALTERED:t ; ROUTINE_COMMENT:t ; DEFINER:t ; CHARACTER_SET_CLIENT:t ; COLLATION_CONNECTION:t ; DATABASE_COLLATION:t"),
    none("parameters", "SPECIFIC_CATALOG:t ; SPECIFIC_SCHEMA:t ; SPECIFIC_NAME:t ; ORDINAL_POSITION:i ; PARAMETER_MODE:t ; PARAMETER_NAME:t ; DATA_TYPE:t ; CHARACTER_MAXIMUM_LENGTH:i
        CHARACTER_OCTET_LENGTH:i ; NUMERIC_PRECISION:i ; NUMERIC_SCALE:i ; DATETIME_PRECISION:i ; DTD_IDENTIFIER:t ; ROUTINE_TYPE:t"),
    none("triggers", "TRIGGER_CATALOG:t ; TRIGGER_SCHEMA:t ; TRIGGER_NAME:t ; EVENT_MANIPULATION:t ; EVENT_OBJECT_SCHEMA:t ; EVENT_OBJECT_TABLE:t ; ACTION_STATEMENT:t ; ACTION_TIMING:t
        CREATED:t ; SQL_MODE:t ; DEFINER:t ; CHARACTER_SET_CLIENT:t ; COLLATION_CONNECTION:t ; DATABASE_COLLATION:t"),
    none("events", "EVENT_CATALOG:t ; EVENT_SCHEMA:t ; EVENT_NAME:t ; DEFINER:t ; TIME_ZONE:t ; EVENT_DEFINITION:t ; EVENT_TYPE:t ; STATUS:t"),
    none("check_constraints", "CONSTRAINT_CATALOG:t ; CONSTRAINT_SCHEMA:t ; CONSTRAINT_NAME:t ; CHECK_CLAUSE:t"),
    none("partitions", "TABLE_CATALOG:t ; TABLE_SCHEMA:t ; TABLE_NAME:t ; PARTITION_NAME:t ; PARTITION_METHOD:t ; PARTITION_EXPRESSION:t ; PARTITION_DESCRIPTION:t ; TABLE_ROWS:i"),
    none("table_privileges", "GRANTEE:t ; TABLE_CATALOG:t ; TABLE_SCHEMA:t ; TABLE_NAME:t ; PRIVILEGE_TYPE:t ; IS_GRANTABLE:t"),
    none("column_privileges", "GRANTEE:t ; TABLE_CATALOG:t ; TABLE_SCHEMA:t ; TABLE_NAME:t ; COLUMN_NAME:t ; PRIVILEGE_TYPE:t ; IS_GRANTABLE:t"),
    none("files", "FILE_ID:i ; FILE_NAME:t ; FILE_TYPE:t ; TABLESPACE_NAME:t ; LOGFILE_GROUP_NAME:t ; ENGINE:t ; EXTRA:t"),
    none("plugins", "PLUGIN_NAME:t ; PLUGIN_VERSION:t ; PLUGIN_STATUS:t ; PLUGIN_TYPE:t ; PLUGIN_LIBRARY:t ; PLUGIN_LICENSE:t"),
];
