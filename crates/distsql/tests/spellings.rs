//! The old and the current spelling of one thing are one command.
#![allow(clippy::panic, reason = "helpers of tests may panic like tests")]

use pando_distsql::parse;

#[test]
fn old_and_current_spellings_are_the_same_command() {
    for (old, current) in [
        (
            "ADD RESOURCE ds_0(HOST=127.0.0.1, PORT=3306, DB=shop_0, USER=root, PASSWORD=root)",
            "REGISTER STORAGE UNIT ds_0(HOST='127.0.0.1', PORT=3306, DB='shop_0', USER='root', PASSWORD='root')",
        ),
        (
            "ALTER RESOURCE ds_0(URL=\"jdbc:mysql://h/d\", USER=root)",
            "ALTER STORAGE UNIT ds_0(URL='jdbc:mysql://h/d', USER='root')",
        ),
        (
            "DROP RESOURCE a, b IGNORE SINGLE TABLES",
            "UNREGISTER STORAGE UNIT a, b ignore single tables",
        ),
        (
            "CREATE SHARDING TABLE RULE t(RESOURCES(a,b),SHARDING_COLUMN=c,TYPE(NAME=hash_mod,PROPERTIES(\"sharding-count\"=4)),GENERATED_KEY(COLUMN=k,TYPE(NAME=snowflake,PROPERTIES(\"worker-id\"=1))))",
            "CREATE SHARDING TABLE RULE t(STORAGE_UNITS(a,b),SHARDING_COLUMN=c,TYPE(NAME='hash_mod',PROPERTIES('sharding-count'='4')),KEY_GENERATE_STRATEGY(COLUMN=k,TYPE(NAME='snowflake',PROPERTIES('worker-id'='1'))))",
        ),
        (
            "ALTER SHARDING TABLE RULE t(DATANODES(ds_0.t_0, ds_0.t_1), TABLE_STRATEGY(TYPE=standard, SHARDING_COLUMN=c, SHARDING_ALGORITHM=x), GENERATED_KEY(COLUMN=k, GENERATED_KEY_ALGORITHM=snow))",
            "ALTER SHARDING TABLE RULE t(DATANODES('ds_0.t_0', 'ds_0.t_1'), TABLE_STRATEGY(TYPE='standard', SHARDING_COLUMN=c, SHARDING_ALGORITHM=x), KEY_GENERATE_STRATEGY(COLUMN=k, GENERATOR=snow))",
        ),
        ("CREATE SHARDING BROADCAST TABLE RULES (a, b)", "CREATE BROADCAST TABLE RULE a, b"),
        (
            "CREATE DEFAULT SINGLE TABLE RULE RESOURCE = a",
            "SET DEFAULT SINGLE TABLE STORAGE UNIT = a",
        ),
        ("DROP DEFAULT SINGLE TABLE RULE", "SET DEFAULT SINGLE TABLE STORAGE UNIT = RANDOM"),
        (
            "CREATE READWRITE_SPLITTING RULE g(WRITE_RESOURCE=w, READ_RESOURCES(r0, r1), TYPE(NAME=random))",
            "CREATE READWRITE_SPLITTING RULE g(WRITE_STORAGE_UNIT=w, READ_STORAGE_UNITS(r0, r1), TYPE(NAME='random'))",
        ),
        (
            "CREATE ENCRYPT RULE t(COLUMNS((NAME=a, CIPHER=b, TYPE(NAME=AES))))",
            "CREATE ENCRYPT RULE t(COLUMNS((NAME=a, CIPHER=b, ENCRYPT_ALGORITHM(TYPE(NAME='AES')))))",
        ),
        ("SHOW SCHEMA RESOURCES FROM d", "SHOW STORAGE UNITS FROM d"),
        ("SHOW UNUSED RESOURCES", "SHOW STORAGE UNITS WHERE USAGE_COUNT = 0"),
        ("SHOW RULES USED RESOURCE a", "SHOW RULES USED STORAGE UNIT a"),
        ("SHOW SHARDING BINDING TABLE RULES", "SHOW SHARDING TABLE REFERENCE RULES"),
        ("SHOW SINGLE TABLE RULES", "SHOW DEFAULT SINGLE TABLE STORAGE UNIT"),
        ("SET VARIABLE transaction_type = XA", "SET DIST VARIABLE transaction_type = 'XA'"),
        ("SHOW VARIABLE sql_show", "SHOW DIST VARIABLE WHERE NAME = sql_show"),
        ("SHOW ALL VARIABLES", "SHOW DIST VARIABLES"),
        ("SHOW INSTANCE LIST", "SHOW COMPUTE NODES"),
        ("SHOW INSTANCE MODE", "SHOW COMPUTE NODE MODE"),
        ("DISABLE INSTANCE IP=10.0.0.1, PORT=3307", "DISABLE COMPUTE NODE '10.0.0.1@3307'"),
        ("RELABEL INSTANCE n WITH a", "RELABEL COMPUTE NODE 'n' WITH a"),
        ("SHOW READWRITE_SPLITTING READ RESOURCES", "SHOW STATUS FROM READWRITE_SPLITTING RULES"),
        (
            "EXPORT SCHEMA CONFIG FROM d, FILE='f'",
            "EXPORT DATABASE CONFIGURATION FROM d TO FILE 'f'",
        ),
        ("IMPORT SCHEMA CONFIG FILE='f'", "IMPORT DATABASE CONFIGURATION FROM FILE 'f'"),
        ("SHOW SHARDING ALGORITHM IMPLEMENTATIONS", "SHOW SHARDING ALGORITHM PLUGINS"),
        ("LOCK CLUSTER WITH WRITE", "LOCK CLUSTER WITH LOCK_STRATEGY(TYPE(NAME='WRITE'))"),
    ] {
        let read = |text| parse(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        let (old, current) = (read(old), read(current));
        assert_eq!(old.command, current.command);
        assert_eq!(old.entry.columns, current.entry.columns);
    }
}

/// Section V of the paper prints three; of the first, both verbs.
#[test]
fn the_statements_of_the_paper_are_read_as_printed() {
    for text in [
        "CREATE SHARDING TABLE RULE t_user_h (\n  RESOURCES(ds0, ds1), SHARDING_COLUMN=uid,\n  TYPE(NAME=hash_mod,\n  PROPERTIES(\"sharding-count\"=2));",
        "ALTER SHARDING TABLE RULE t_user_h (\n  RESOURCES(ds0, ds1), SHARDING_COLUMN=uid,\n  TYPE(NAME=hash_mod,\n  PROPERTIES(\"sharding-count\"=2));",
        "SHOW SHARDING TABLE RULES;",
        "SET VARIABLE transaction_type = LOCAL;",
        "SET VARIABLE transaction_type = XA;",
        "SET VARIABLE transaction_type = BASE;",
    ] {
        parse(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    }
    let two = "CREATE SHARDING TABLE RULE a(RESOURCES(x), SHARDING_COLUMN=u, TYPE(NAME=mod), b(RESOURCES(x), SHARDING_COLUMN=u, TYPE(NAME=mod))";
    assert!(parse(two).is_err(), "only the last parenthesis of a single rule may be missing");
}
