//! The rules of the other features.

use crate::build::{
    algorithm_use, define, discovery_rule, drop_named, drop_removal, each, encrypt_rule, heartbeat,
    mask_rule, named_algorithm, readwrite_rule, shadow_rule,
};
use crate::command::{Definition, Removal, Thing};
use crate::entry::{Age, Category, Entry};

pub(super) static FEATURES: &[Entry] = &[
    Entry {
        name: "CREATE READWRITE_SPLITTING RULE",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "CREATE READWRITE_SPLITTING RULE [ifNotExists] readwriteRule ...",
        columns: &[],
        help: "Puts a primary and its replicas under one name; with AUTO_AWARE_RESOURCE (up to 5.3), those of a discovery rule, which this version of Pando refuses.",
        examples: &[
            r#"CREATE READWRITE_SPLITTING RULE ms_group_0(WRITE_STORAGE_UNIT=write_ds, READ_STORAGE_UNITS(read_ds_0, read_ds_1), TYPE(NAME="random"))"#,
            r#"CREATE READWRITE_SPLITTING RULE IF NOT EXISTS g(WRITE_STORAGE_UNIT=w, READ_STORAGE_UNITS(r0, r1), TRANSACTIONAL_READ_QUERY_STRATEGY='PRIMARY', TYPE(NAME="weight", PROPERTIES("r0"=2, "r1"=1)))"#,
            "CREATE READWRITE_SPLITTING RULE ms_group_1(AUTO_AWARE_RESOURCE=group_0, WRITE_DATA_SOURCE_QUERY_ENABLED=true, TYPE(NAME=random, PROPERTIES(read_weight='2:1')))",
        ],
        wrong: &[(
            "CREATE READWRITE_SPLITTING RULE g(WRITE_STORAGE_UNIT=w, READ_STORAGE_UNIT(r0))",
            "unexpected `READ_STORAGE_UNIT`, expected `READ_STORAGE_UNITS`; did you mean `READ_STORAGE_UNITS`? at line 1, column 57",
        )],
        build: |p| {
            define(p, Definition::ReadwriteSplitting(each(p, "readwriteRule", readwrite_rule)?))
        },
    },
    Entry {
        name: "ALTER READWRITE_SPLITTING RULE",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "ALTER READWRITE_SPLITTING RULE readwriteRule ...",
        columns: &[],
        help: "Replaces read-write splitting groups.",
        examples: &[
            "ALTER READWRITE_SPLITTING RULE g(WRITE_STORAGE_UNIT=w, READ_STORAGE_UNITS(r0))",
        ],
        wrong: &[(
            "ALTER READWRITE_SPLITTING RULE g(READ_STORAGE_UNITS(r0))",
            "unexpected `READ_STORAGE_UNITS`, expected `AUTO_AWARE_RESOURCE`, `WRITE_RESOURCE` or `WRITE_STORAGE_UNIT`; did you mean `WRITE_STORAGE_UNIT`? at line 1, column 34",
        )],
        build: |p| {
            define(p, Definition::ReadwriteSplitting(each(p, "readwriteRule", readwrite_rule)?))
        },
    },
    Entry {
        name: "DROP READWRITE_SPLITTING RULE",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "DROP READWRITE_SPLITTING RULE [ifExists] group ...",
        columns: &[],
        help: "Forgets read-write splitting groups.",
        examples: &["DROP READWRITE_SPLITTING RULE g, h"],
        wrong: &[(
            "DROP READWRITE_SPLITTING g",
            "unexpected `g`, expected `RULE` at line 1, column 26",
        )],
        build: |p| drop_named(p, Thing::ReadwriteSplitting, "group"),
    },
    Entry {
        name: "CREATE READWRITE_SPLITTING RULE (5.0)",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "CREATE READWRITE_SPLITTING RULE [ifNotExists] oldReadwriteRule ...",
        columns: &[],
        help: "The older spelling of CREATE READWRITE_SPLITTING RULE, with WRITE_RESOURCE and READ_RESOURCES.",
        examples: &[
            "CREATE READWRITE_SPLITTING RULE ms_group_0(WRITE_RESOURCE=write_ds, READ_RESOURCES(read_ds_0, read_ds_1), TYPE(NAME=random))",
        ],
        wrong: &[(
            "CREATE READWRITE_SPLITTING RULE g(WRITE_RESOURCE=w, READ_RESOURCES())",
            "unexpected `)`, expected a storage unit at line 1, column 68",
        )],
        build: |p| {
            define(p, Definition::ReadwriteSplitting(each(p, "oldReadwriteRule", readwrite_rule)?))
        },
    },
    Entry {
        name: "ALTER READWRITE_SPLITTING RULE (5.0)",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "ALTER READWRITE_SPLITTING RULE oldReadwriteRule ...",
        columns: &[],
        help: "The older spelling of ALTER READWRITE_SPLITTING RULE, with WRITE_RESOURCE and READ_RESOURCES.",
        examples: &[
            "ALTER READWRITE_SPLITTING RULE g(WRITE_RESOURCE=w, READ_RESOURCES(r0, r1, r2))",
        ],
        wrong: &[(
            "ALTER READWRITE_SPLITTING RULE g(WRITE_RESOURCE=w)",
            "unexpected `)`, expected `,` at line 1, column 50",
        )],
        build: |p| {
            define(p, Definition::ReadwriteSplitting(each(p, "oldReadwriteRule", readwrite_rule)?))
        },
    },
    Entry {
        name: "CREATE ENCRYPT RULE",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "CREATE ENCRYPT RULE [ifNotExists] encryptRule ...",
        columns: &[],
        help: "Keeps columns of tables encrypted.",
        examples: &[
            "CREATE ENCRYPT RULE t_encrypt(COLUMNS((NAME=user_id, CIPHER=user_cipher, ASSISTED_QUERY=user_hash, LIKE_QUERY=user_like, ENCRYPT_ALGORITHM(TYPE(NAME='AES', PROPERTIES('aes-key-value'='123456abc'))), ASSISTED_QUERY_ALGORITHM(TYPE(NAME='MD5')), LIKE_QUERY_ALGORITHM(TYPE(NAME='CHAR_DIGEST_LIKE'))), (NAME=order_id, DATA_TYPE='BIGINT', CIPHER=order_cipher, ENCRYPT_ALGORITHM(TYPE(NAME='AES')))))",
            "CREATE ENCRYPT RULE t_encrypt(COLUMNS((NAME=user_id, PLAIN=user_plain, CIPHER=user_cipher, TYPE(NAME=AES, PROPERTIES('aes-key-value'='123456abc')))), QUERY_WITH_CIPHER_COLUMN=false)",
        ],
        wrong: &[(
            "CREATE ENCRYPT RULE t(COLUMNS((NAME=a, ENCRYPT_ALGORITHM(TYPE(NAME='AES')))))",
            "unexpected `ENCRYPT_ALGORITHM`, expected `CIPHER`, `DATA_TYPE` or `PLAIN` at line 1, column 40",
        )],
        build: |p| define(p, Definition::Encrypt(each(p, "encryptRule", encrypt_rule)?)),
    },
    Entry {
        name: "ALTER ENCRYPT RULE",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "ALTER ENCRYPT RULE encryptRule ...",
        columns: &[],
        help: "Replaces the encrypt rules of tables.",
        examples: &[
            "ALTER ENCRYPT RULE t_encrypt(COLUMNS((NAME=user_id, CIPHER=user_cipher, ASSISTED_QUERY_COLUMN=user_hash, ENCRYPT_ALGORITHM(TYPE(NAME='AES')), ASSISTED_QUERY_ALGORITHM(TYPE(NAME='MD5')))))",
        ],
        wrong: &[(
            "ALTER ENCRYPT RULE t(COLUMNS(NAME=a, CIPHER=b, ENCRYPT_ALGORITHM(TYPE(NAME='AES'))))",
            "unexpected `NAME`, expected `(` at line 1, column 30",
        )],
        build: |p| define(p, Definition::Encrypt(each(p, "encryptRule", encrypt_rule)?)),
    },
    Entry {
        name: "DROP ENCRYPT RULE",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "DROP ENCRYPT RULE [ifExists] table ...",
        columns: &[],
        help: "Forgets the encrypt rules of tables.",
        examples: &["DROP ENCRYPT RULE IF EXISTS t_encrypt, t_encrypt_2"],
        wrong: &[(
            "DROP ENCRYPTED RULE t",
            "unexpected `ENCRYPTED`, expected `BROADCAST`, `DB_DISCOVERY`, `DEFAULT`, `ENCRYPT`, `MASK`, `READWRITE_SPLITTING`, `RESOURCE`, `SHADOW` or `SHARDING`; did you mean `ENCRYPT`? at line 1, column 6",
        )],
        build: |p| drop_named(p, Thing::Encrypt, "table"),
    },
    Entry {
        name: "CREATE MASK RULE",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "CREATE MASK [TABLE] RULE [ifNotExists] maskRule ...",
        columns: &[],
        help: "Hides columns of tables in results.",
        examples: &[
            r#"CREATE MASK RULE t_mask(COLUMNS((NAME=phone, TYPE(NAME="MASK_FROM_X_TO_Y", PROPERTIES("from-x"=1, "to-y"=2, "replace-char"="*"))), (NAME=address, TYPE(NAME="MD5"))))"#,
            r#"CREATE MASK TABLE RULE IF NOT EXISTS t(COLUMNS((NAME=a, TYPE(NAME="MD5"), UNMASKED_USERS(audit, root), ALLOW_CONDITIONS=false)))"#,
        ],
        wrong: &[(
            "CREATE MASK RULE t_mask(COLUMNS(phone))",
            "unexpected `phone`, expected `(` at line 1, column 33",
        )],
        build: |p| define(p, Definition::Mask(each(p, "maskRule", mask_rule)?)),
    },
    Entry {
        name: "ALTER MASK RULE",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "ALTER MASK [TABLE] RULE maskRule ...",
        columns: &[],
        help: "Replaces the mask rules of tables.",
        examples: &[r#"ALTER MASK RULE t_mask(COLUMNS((NAME=phone, TYPE(NAME="MD5"))))"#],
        wrong: &[(
            r#"ALTER MASK RULE t_mask(COLUMN((NAME=phone, TYPE(NAME="MD5"))))"#,
            "unexpected `COLUMN`, expected `COLUMNS`; did you mean `COLUMNS`? at line 1, column 24",
        )],
        build: |p| define(p, Definition::Mask(each(p, "maskRule", mask_rule)?)),
    },
    Entry {
        name: "DROP MASK RULE",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "DROP MASK [TABLE] RULE [ifExists] table ...",
        columns: &[],
        help: "Forgets the mask rules of tables.",
        examples: &["DROP MASK RULE t_mask"],
        wrong: &[(
            "DROP MASK RULE IF EXIST t_mask",
            "unexpected `EXIST`, expected `EXISTS`; did you mean `EXISTS`? at line 1, column 19",
        )],
        build: |p| drop_named(p, Thing::Mask, "table"),
    },
    Entry {
        name: "CREATE SHADOW RULE",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "CREATE SHADOW RULE [ifNotExists] shadowRule ...",
        columns: &[],
        help: "Sends some statements to a shadow unit instead.",
        examples: &[
            r#"CREATE SHADOW RULE shadow_rule(SOURCE=demo_ds, SHADOW=demo_ds_shadow, t_order(TYPE(NAME="SQL_HINT"), TYPE(NAME="REGEX_MATCH", PROPERTIES("operation"="insert", "column"="user_id", "regex"='[1]'))), t_order_item(TYPE(NAME="VALUE_MATCH", PROPERTIES("operation"="insert", "column"="user_id", "value"='1'))))"#,
        ],
        wrong: &[(
            "CREATE SHADOW RULE r(SOURCE=ds, SHADOW=ds_s)",
            "unexpected `)`, expected `,` at line 1, column 44",
        )],
        build: |p| define(p, Definition::Shadow(each(p, "shadowRule", shadow_rule)?)),
    },
    Entry {
        name: "ALTER SHADOW RULE",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "ALTER SHADOW RULE shadowRule ...",
        columns: &[],
        help: "Replaces shadow rules.",
        examples: &[
            r#"ALTER SHADOW RULE r(SOURCE=ds, SHADOW=ds_s, t_order(TYPE(NAME="SQL_HINT")))"#,
        ],
        wrong: &[(
            r#"ALTER SHADOW RULE r(SHADOW=ds_s, SOURCE=ds, t_order(TYPE(NAME="SQL_HINT")))"#,
            "unexpected `SHADOW`, expected `SOURCE` at line 1, column 21",
        )],
        build: |p| define(p, Definition::Shadow(each(p, "shadowRule", shadow_rule)?)),
    },
    Entry {
        name: "DROP SHADOW RULE",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "DROP SHADOW RULE [ifExists] rule ...",
        columns: &[],
        help: "Forgets shadow rules.",
        examples: &["DROP SHADOW RULE IF EXISTS shadow_rule"],
        wrong: &[(
            "DROP SHADOW RULE",
            "unexpected end of the statement, expected `IF` or a rule at line 1, column 17",
        )],
        build: |p| drop_named(p, Thing::Shadow, "rule"),
    },
    Entry {
        name: "CREATE DEFAULT SHADOW ALGORITHM",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "CREATE DEFAULT SHADOW ALGORITHM [ifNotExists] (algorithm | NAME '=' algorithmName)",
        columns: &[],
        help: "Says which statements of shadowed tables go to the shadow unit where a rule does not.",
        examples: &[
            r#"CREATE DEFAULT SHADOW ALGORITHM TYPE(NAME="SQL_HINT")"#,
            "CREATE DEFAULT SHADOW ALGORITHM NAME = simple_hint_algorithm",
        ],
        wrong: &[(
            "CREATE DEFAULT SHADOW ALGORITHM",
            "unexpected end of the statement, expected `IF`, `NAME` or `TYPE` at line 1, column 32",
        )],
        build: |p| define(p, Definition::DefaultShadowAlgorithm(algorithm_use(p)?)),
    },
    Entry {
        name: "ALTER DEFAULT SHADOW ALGORITHM",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "ALTER DEFAULT SHADOW ALGORITHM (algorithm | NAME '=' algorithmName)",
        columns: &[],
        help: "Replaces the default shadow algorithm.",
        examples: &[
            r#"ALTER DEFAULT SHADOW ALGORITHM TYPE(NAME="SQL_HINT", PROPERTIES("shadow"="false"))"#,
        ],
        wrong: &[(
            r#"ALTER DEFAULT SHADOW ALGORITHM TYPE="SQL_HINT""#,
            "unexpected `=`, expected `(` at line 1, column 36",
        )],
        build: |p| define(p, Definition::DefaultShadowAlgorithm(algorithm_use(p)?)),
    },
    Entry {
        name: "DROP DEFAULT SHADOW ALGORITHM",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "DROP DEFAULT SHADOW ALGORITHM [ifExists]",
        columns: &[],
        help: "Forgets the default shadow algorithm.",
        examples: &["DROP DEFAULT SHADOW ALGORITHM IF EXISTS"],
        wrong: &[(
            "DROP DEFAULT SHADOW",
            "unexpected end of the statement, expected `ALGORITHM` at line 1, column 20",
        )],
        build: |p| drop_removal(p, Removal::DefaultShadowAlgorithm),
    },
    Entry {
        name: "DROP SHADOW ALGORITHM",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "DROP SHADOW ALGORITHM [ifExists] algorithmName ...",
        columns: &[],
        help: "Forgets shadow algorithms that no rule uses.",
        examples: &["DROP SHADOW ALGORITHM shadow_rule_t_order_sql_hint"],
        wrong: &[(
            "DROP SHADOW ALGORITHM a,",
            "unexpected end of the statement, expected an algorithm's name at line 1, column 25",
        )],
        build: |p| drop_named(p, Thing::ShadowAlgorithm, "algorithmName"),
    },
    Entry {
        name: "CREATE DB_DISCOVERY RULE",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "CREATE DB_DISCOVERY RULE [ifNotExists] discoveryRule ...",
        columns: &[],
        help: "Finds out which of several storage units is the primary. Refused by this version of Pando.",
        examples: &[
            "CREATE DB_DISCOVERY RULE ha_group_0(STORAGE_UNITS(ds_0, ds_1, ds_2), TYPE(NAME='MySQL.MGR', PROPERTIES('group-name'='92504d5b-6dec')), HEARTBEAT(PROPERTIES('keep-alive-cron'='0/5 * * * * ?')))",
            "CREATE DB_DISCOVERY RULE ha_group_1(RESOURCES(ds_0, ds_1), TYPE=ha_group_1_mgr, HEARTBEAT=ha_group_1_heartbeat)",
        ],
        wrong: &[(
            "CREATE DB_DISCOVERY RULE g(RESOURCES(ds_0), TYPE=mgr)",
            "unexpected `)`, expected `,` at line 1, column 53",
        )],
        build: |p| define(p, Definition::Discovery(each(p, "discoveryRule", discovery_rule)?)),
    },
    Entry {
        name: "ALTER DB_DISCOVERY RULE",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "ALTER DB_DISCOVERY RULE discoveryRule ...",
        columns: &[],
        help: "Replaces discovery rules. Refused by this version of Pando.",
        examples: &["ALTER DB_DISCOVERY RULE g(RESOURCES(ds_0, ds_1), TYPE=mgr, HEARTBEAT=beat)"],
        wrong: &[(
            "ALTER DB_DISCOVERY RULE g(TYPE=mgr, HEARTBEAT=beat)",
            "unexpected `TYPE`, expected `RESOURCES` or `STORAGE_UNITS` at line 1, column 27",
        )],
        build: |p| define(p, Definition::Discovery(each(p, "discoveryRule", discovery_rule)?)),
    },
    Entry {
        name: "DROP DB_DISCOVERY RULE",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "DROP DB_DISCOVERY RULE [ifExists] group ...",
        columns: &[],
        help: "Forgets discovery rules. Refused by this version of Pando.",
        examples: &["DROP DB_DISCOVERY RULE ha_group_0"],
        wrong: &[(
            "DROP DB_DISCOVERY ha_group_0",
            "unexpected `ha_group_0`, expected `HEARTBEAT`, `RULE` or `TYPE` at line 1, column 19",
        )],
        build: |p| drop_named(p, Thing::Discovery, "group"),
    },
    Entry {
        name: "CREATE DB_DISCOVERY TYPE",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "CREATE DB_DISCOVERY TYPE [ifNotExists] namedAlgorithm ...",
        columns: &[],
        help: "Makes ways of finding the primary that rules can use by name. Refused by this version of Pando.",
        examples: &[
            "CREATE DB_DISCOVERY TYPE mgr(TYPE(NAME='MySQL.MGR', PROPERTIES('group-name'='92504d5b-6dec')))",
        ],
        wrong: &[(
            "CREATE DB_DISCOVERY TYPE mgr()",
            "unexpected `)`, expected `TYPE` at line 1, column 30",
        )],
        build: |p| {
            define(p, Definition::DiscoveryTypes(each(p, "namedAlgorithm", named_algorithm)?))
        },
    },
    Entry {
        name: "ALTER DB_DISCOVERY TYPE",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "ALTER DB_DISCOVERY TYPE namedAlgorithm ...",
        columns: &[],
        help: "Replaces discovery types. Refused by this version of Pando.",
        examples: &["ALTER DB_DISCOVERY TYPE mgr(TYPE(NAME='MySQL.MGR'))"],
        wrong: &[(
            "ALTER DB_DISCOVERY TYPE mgr",
            "unexpected end of the statement, expected `(` at line 1, column 28",
        )],
        build: |p| {
            define(p, Definition::DiscoveryTypes(each(p, "namedAlgorithm", named_algorithm)?))
        },
    },
    Entry {
        name: "DROP DB_DISCOVERY TYPE",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "DROP DB_DISCOVERY TYPE [ifExists] algorithmName ...",
        columns: &[],
        help: "Forgets discovery types that no rule uses. Refused by this version of Pando.",
        examples: &["DROP DB_DISCOVERY TYPE mgr"],
        wrong: &[(
            "DROP DB_DISCOVERY TYPES mgr",
            "unexpected `TYPES`, expected `HEARTBEAT`, `RULE` or `TYPE`; did you mean `TYPE`? at line 1, column 19",
        )],
        build: |p| drop_named(p, Thing::DiscoveryType, "algorithmName"),
    },
    Entry {
        name: "CREATE DB_DISCOVERY HEARTBEAT",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "CREATE DB_DISCOVERY HEARTBEAT [ifNotExists] heartbeat ...",
        columns: &[],
        help: "Makes heartbeats that discovery rules can use by name. Refused by this version of Pando.",
        examples: &[
            "CREATE DB_DISCOVERY HEARTBEAT beat(PROPERTIES('keep-alive-cron'='0/5 * * * * ?'))",
        ],
        wrong: &[(
            "CREATE DB_DISCOVERY HEARTBEAT beat('keep-alive-cron'='0/5 * * * * ?')",
            "unexpected text in quotes, expected `PROPERTIES` at line 1, column 36",
        )],
        build: |p| define(p, Definition::DiscoveryHeartbeats(each(p, "heartbeat", heartbeat)?)),
    },
    Entry {
        name: "ALTER DB_DISCOVERY HEARTBEAT",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "ALTER DB_DISCOVERY HEARTBEAT heartbeat ...",
        columns: &[],
        help: "Replaces heartbeats. Refused by this version of Pando.",
        examples: &[
            "ALTER DB_DISCOVERY HEARTBEAT beat(PROPERTIES('keep-alive-cron'='0/10 * * * * ?'))",
        ],
        wrong: &[(
            "ALTER DB_DISCOVERY HEARTBEAT beat",
            "unexpected end of the statement, expected `(` at line 1, column 34",
        )],
        build: |p| define(p, Definition::DiscoveryHeartbeats(each(p, "heartbeat", heartbeat)?)),
    },
    Entry {
        name: "DROP DB_DISCOVERY HEARTBEAT",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "DROP DB_DISCOVERY HEARTBEAT [ifExists] heartbeatName ...",
        columns: &[],
        help: "Forgets heartbeats that no rule uses. Refused by this version of Pando.",
        examples: &["DROP DB_DISCOVERY HEARTBEAT IF EXISTS beat"],
        wrong: &[(
            "DROP DB_DISCOVERY HEARTBEET beat",
            "unexpected `HEARTBEET`, expected `HEARTBEAT`, `RULE` or `TYPE`; did you mean `HEARTBEAT`? at line 1, column 19",
        )],
        build: |p| drop_named(p, Thing::DiscoveryHeartbeat, "heartbeatName"),
    },
];
