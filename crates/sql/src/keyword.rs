//! The words the grammar looks at. A word is looked up once, by hash; after that the parser compares small numbers.

/// Declares the list once and derives the enum and the table from it.
macro_rules! keywords {
    ($($name:ident)*) => {
        /// A word of the grammar. Most of them are also fine identifiers.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u16)]
        // The variants are spelled like the words they stand for.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        pub(crate) enum Keyword { NO_KEYWORD, $($name),* }

        const ALL: &[(&str, Keyword)] = &[$((stringify!($name), Keyword::$name)),*];
    };
}

keywords! {
    ABORT ACCESS ACTION ADD AFTER AGAINST ALL ALTER ALWAYS ANALYSE ANALYZE AND ANY ARRAY AS ASC ASYMMETRIC AT ATOMIC ATTACH
    AUTHORIZATION AUTO_INCREMENT BEFORE BEGIN BETWEEN BIGSERIAL BINARY BINLOG BIT BOTH BY
    CACHE CALL CASCADE CASE CAST CHAIN CHANGE CHAR CHARACTER CHARACTERISTICS CHARSET CHECK CHECKPOINT CHECKSUM CLASS CLONE CLOSE CLUSTER COLLATE
    COLLATION COLUMN COLUMNS COMMENT COMMIT CONCURRENTLY CONFIGURATION CONFLICT CONNECTION CONSTRAINT CONSTRAINTS CONVERSION CONVERT COPY COUNT CREATE CROSS CSV CUBE CURRVAL
    CURRENT CURRENT_CATALOG CURRENT_DATE CURRENT_ROLE CURRENT_SCHEMA CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURSOR CYCLE
    DATA DATABASE DATABASES DATE DAY DAY_HOUR DAY_MICROSECOND DAY_MINUTE DAY_SECOND DEALLOCATE DEC DECIMAL DECLARE DEFAULT DEFERRABLE DEFINER
    DELAYED DELETE DELIMITER DESC DESCRIBE DETACH DICTIONARY DISCARD DISTINCT DISTINCTROW DIV DO DOMAIN DOUBLE DROP DUAL DUMPFILE DUPLICATE
    EACH ELSE ELSEIF EMPTY ENCLOSED ENCODING END ENUM ESCAPE ESCAPED EVENT EXCEPT EXCLUDE EXECUTE EXISTS EXPLAIN EXTENDED EXTENSION EXTERNAL EXTRACT
    FALSE FAMILY FETCH FIELDS FILTER FIRST FLUSH FOR FORCE FOREIGN FORMAT FROM FREEZE FULL FULLTEXT FUNCTION
    GENERATED GET GLOBAL GRANT GRANTS GROUP GROUPING GROUP_CONCAT GROUPS
    HANDLER HARD HAVING HEADER HELP HIGH_PRIORITY HOLD HOUR HOUR_MICROSECOND HOUR_MINUTE HOUR_SECOND
    IDENTITY IF IGNORE ILIKE IMMEDIATE IMPORT IN INDEX INDEXES INFILE INHERITS INNER INSERT INSTALL INSTANCE INTERSECT INTERVAL INTO IS ISNULL
    JOIN JSON JSON_ARRAY JSON_ARRAYAGG JSON_EXISTS JSON_OBJECT JSON_OBJECTAGG JSON_QUERY JSON_SCALAR JSON_SERIALIZE JSON_TABLE JSON_VALUE
    KEY KEYS KILL
    LANGUAGE LAST LASTVAL LATERAL LEADING LEFT LIKE LIMIT LINES LISTEN LOAD LOCAL LOCALTIME LOCALTIMESTAMP LOCK LOCKED LOGS LOOP LOW_PRIORITY
    MASTER MATCH MATCHED MATERIALIZED MEMBER MERGE METHOD MICROSECOND MINUS MINUTE MINUTE_MICROSECOND MINUTE_SECOND MOD MODE MODIFY MONTH MOVE
    NAMES NATIONAL NATURAL NCHAR NEXT NEXTVAL NO NOT NOTHING NOTIFY NOTNULL NOWAIT NULL NULLS NUMERIC
    OF OFFLINE OFFSET OJ ON ONLINE ONLY OPEN OPERATOR OPTIMIZE OPTION OPTIONALLY OR ORDER ORDINALITY OTHERS OUTER OUTFILE OVER OVERLAPS OVERLAY OVERRIDING OWNED
    PARSER PARTITION PARTITIONS PASSWORD PERSIST PERSIST_ONLY PLACING PLANS POLICY POSITION PRECEDING PRECISION PREPARE PREPARED PREVIEW PREVIOUS PRIMARY PRIOR PROCEDURAL
    PROCEDURE PROCESSLIST PROGRAM PUBLICATION PURGE
    QUARTER QUERY QUICK QUOTE
    RANGE READ REASSIGN RECURSIVE REFERENCES REFRESH REGEXP REINDEX RELEASE RENAME REPAIR REPEAT REPEATABLE REPLACE RESET RESIGNAL RESOURCE RESPECT
    RESTART RETURN RETURNING REVOKE RIGHT RLIKE ROLE ROLLBACK ROLLUP ROUTINE ROW ROWS RULE
    SAVEPOINT SCHEMA SCHEMAS SEARCH SECOND SECOND_MICROSECOND SECURITY SELECT SEPARATOR SEQUENCE SEQUENCES SERIAL SERVER SESSION SESSION_USER SET SETOF SETS SETVAL SHARE SHOW
    SHUTDOWN SIGNAL SIMILAR SIMPLE SKIP SMALLSERIAL SNAPSHOT SOFT SOME SOUNDS SPATIAL SQL_BIG_RESULT SQL_BUFFER_RESULT SQL_CACHE
    SQL_CALC_FOUND_ROWS SQL_NO_CACHE SQL_SMALL_RESULT STABLE START STARTING STATEMENT STATISTICS STATUS STDIN STDOUT STOP STORED STRAIGHT_JOIN SUBSCRIPTION
    SUBSTR SUBSTRING SYMMETRIC SYSTEM_TIME SYSTEM_USER
    TABLE TABLES TABLESAMPLE TABLESPACE TEMP TEMPORARY TERMINATED TEXT THEN TIES TIME TIMESTAMP TIMESTAMPADD TIMESTAMPDIFF TIMETZ TO TRAILING TRANSACTION TRANSFORM TREAT
    TRIGGER TRIM TRUE TRUNCATE TYPE
    UESCAPE UNBOUNDED UNDO UNINSTALL UNION UNIQUE UNKNOWN UNLISTEN UNLOCK UNLOGGED UNSIGNED UNTIL UPDATE USE USER USING UTC_DATE UTC_TIME UTC_TIMESTAMP
    VACUUM VALUE VALUES VARIABLES VARIADIC VARYING VERBOSE VIEW VIRTUAL
    WAIT WARNINGS WEEK WHEN WHERE WHILE WINDOW WITH WITHIN WITHOUT WORK WRAPPER WRITE
    XA XMLELEMENT XMLEXISTS XMLFOREST XMLPARSE XMLPI XMLROOT XMLSERIALIZE XMLTABLE XOR
    YEAR YEAR_MONTH
    ZONE
}

const SLOTS: usize = 2048;
const LONGEST: usize = 19;

const fn hash(word: &[u8]) -> usize {
    let mut value: u32 = 0x811c_9dc5;
    let mut i = 0;
    while i < word.len() {
        value = (value ^ (word[i] & 0xdf) as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    ((value ^ (value >> 13)) as usize) & (SLOTS - 1)
}

/// Index into [`ALL`] plus one; 0 is an empty slot.
static TABLE: [u16; SLOTS] = build();

const fn build() -> [u16; SLOTS] {
    let mut table = [0u16; SLOTS];
    let mut i = 0;
    while i < ALL.len() {
        let mut slot = hash(ALL[i].0.as_bytes());
        while table[slot] != 0 {
            slot = (slot + 1) & (SLOTS - 1);
        }
        table[slot] = (i + 1) as u16;
        i += 1;
    }
    table
}

impl Keyword {
    /// The keyword a word spells, without regard to case.
    pub(crate) fn of(word: &str) -> Self {
        if word.len() > LONGEST {
            return Self::NO_KEYWORD;
        }
        let mut slot = hash(word.as_bytes());
        loop {
            let index = TABLE[slot] as usize;
            if index == 0 {
                return Self::NO_KEYWORD;
            }
            let (name, keyword) = ALL[index - 1];
            if name.eq_ignore_ascii_case(word) {
                return keyword;
            }
            slot = (slot + 1) & (SLOTS - 1);
        }
    }

    /// It cannot name a column, a table or an alias in either language (`BY` can in PostgreSQL) when it is not quoted.
    pub(crate) fn is_reserved(self) -> bool {
        use Keyword::*;
        matches!(
            self,
            ALL | AND
                | AS
                | ASC
                | BETWEEN
                | BY
                | CASE
                | CHECK
                | COLLATE
                | CONSTRAINT
                | CREATE
                | CROSS
                | DEFAULT
                | DESC
                | DISTINCT
                | ELSE
                | EXCEPT
                | EXISTS
                | FALSE
                | FETCH
                | FOR
                | FOREIGN
                | FROM
                | GRANT
                | GROUP
                | HAVING
                | IN
                | INNER
                | INTERSECT
                | INTO
                | IS
                | JOIN
                | LATERAL
                | LEFT
                | LIKE
                | LIMIT
                | NATURAL
                | NOT
                | NULL
                | ON
                | OR
                | ORDER
                | PRIMARY
                | REFERENCES
                | RIGHT
                | SELECT
                | TABLE
                | THEN
                | TO
                | TRUE
                | UNION
                | UNIQUE
                | USING
                | WHEN
                | WHERE
                | WINDOW
                | WITH
        )
    }

    /// A unit of time behind INTERVAL.
    pub(crate) fn is_time_unit(self) -> bool {
        use Keyword::*;
        matches!(
            self,
            MICROSECOND
                | SECOND
                | MINUTE
                | HOUR
                | DAY
                | WEEK
                | MONTH
                | QUARTER
                | YEAR
                | SECOND_MICROSECOND
                | MINUTE_MICROSECOND
                | MINUTE_SECOND
                | HOUR_MICROSECOND
                | HOUR_SECOND
                | HOUR_MINUTE
                | DAY_MICROSECOND
                | DAY_SECOND
                | DAY_MINUTE
                | DAY_HOUR
                | YEAR_MONTH
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_is_found_in_any_case() {
        for (name, keyword) in ALL {
            assert!(name.len() <= LONGEST, "{name}");
            assert_eq!(Keyword::of(name), *keyword);
            assert_eq!(Keyword::of(&name.to_lowercase()), *keyword);
        }
        assert_eq!(Keyword::of("t_order"), Keyword::NO_KEYWORD);
        assert_eq!(Keyword::of(""), Keyword::NO_KEYWORD);
    }
}
