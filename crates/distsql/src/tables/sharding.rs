//! Sharded and broadcast tables.

use crate::build::{
    default_strategy, define, drop_named, drop_removal, each, key_generate_rule, named_algorithm,
    reference, table_rule,
};
use crate::command::{Definition, Removal, Thing};
use crate::entry::{Age, Category, Entry};

pub(super) static SHARDING: &[Entry] = &[
    Entry {
        name: "CREATE SHARDING TABLE RULE",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "CREATE SHARDING TABLE RULE [ifNotExists] tableRule ...",
        columns: &[],
        help: "Shards tables: with STORAGE_UNITS an AutoTable, whose actual tables Pando names and places; with DATANODES by hand.",
        examples: &[
            r#"CREATE SHARDING TABLE RULE t_order(STORAGE_UNITS(ds_0, ds_1), SHARDING_COLUMN=order_id, TYPE(NAME="hash_mod", PROPERTIES("sharding-count"="4")))"#,
            r#"CREATE SHARDING TABLE RULE t_order_item(DATANODES("ds_${0..1}.t_order_item_${0..1}"), DATABASE_STRATEGY(TYPE="standard", SHARDING_COLUMN=user_id, SHARDING_ALGORITHM(TYPE(NAME="inline", PROPERTIES("algorithm-expression"="ds_${user_id % 2}")))), TABLE_STRATEGY(TYPE="standard", SHARDING_COLUMN=order_id, SHARDING_ALGORITHM(TYPE(NAME="inline", PROPERTIES("algorithm-expression"="t_order_item_${order_id % 2}")))), KEY_GENERATE_STRATEGY(COLUMN=item_id, TYPE(NAME="snowflake")), AUDIT_STRATEGY(TYPE(NAME="DML_SHARDING_CONDITIONS"), ALLOW_HINT_DISABLE=true))"#,
            r#"CREATE SHARDING TABLE RULE IF NOT EXISTS t_h(DATANODES("ds_0.t_h_${0..1}"), TABLE_STRATEGY(TYPE="hint", SHARDING_ALGORITHM(TYPE(NAME="HINT_INLINE")))), t_c(DATANODES("ds_${0..1}.t_c"), DATABASE_STRATEGY(TYPE="complex", SHARDING_COLUMNS=a, b, SHARDING_ALGORITHM=by_both), TABLE_STRATEGY(TYPE="none"))"#,
        ],
        wrong: &[
            (
                r#"CREATE SHARDING TABLE RULE t_order(STORAGE_UNIT(ds_0), SHARDING_COLUMN=id, TYPE(NAME="mod"))"#,
                "unexpected `STORAGE_UNIT`, expected `DATANODES`, `RESOURCES` or `STORAGE_UNITS`; did you mean `STORAGE_UNITS`? at line 1, column 36",
            ),
            (
                r#"CREATE SHARDING TABLE RULE t(STORAGE_UNITS(ds_0), SHARDING_COLUMN=id, TYPE(NAME="mod", PROPERTIES("sharding-count"=4, "sharding-count"=8)))"#,
                "property `sharding-count` is given twice at line 1, column 119",
            ),
            (
                r#"CREATE SHARDING TABLE RULE t(DATANODES("ds_0.t"), TABLE_STRATEGY(TYPE="standart", SHARDING_COLUMN=a, SHARDING_ALGORITHM=x))"#,
                "unknown strategy type `standart`; did you mean `STANDARD`? at line 1, column 71",
            ),
            (
                r#"CREATE SHARDING TABLE RULE t(DATANODES("ds_0.t"), TABLE_STRATEGY(TYPE="standard", SHARDING_ALGORITHM=x))"#,
                "a strategy of type `STANDARD` needs SHARDING_COLUMN with one column at line 1, column 66",
            ),
            (
                r#"CREATE SHARDING TABLE RULE t(STORAGE_UNITS(ds_0), SHARDING_COLUMN=id, TYPE(NAME="mod"))) extra"#,
                "unexpected `)`, expected `,` or the end at line 1, column 88",
            ),
        ],
        build: |p| define(p, Definition::ShardingTables(each(p, "tableRule", table_rule)?)),
    },
    Entry {
        name: "ALTER SHARDING TABLE RULE",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "ALTER SHARDING TABLE RULE tableRule ...",
        columns: &[],
        help: "Replaces the rules of sharded tables.",
        examples: &[
            r#"ALTER SHARDING TABLE RULE t_order_item(DATANODES("ds_${0..1}.t_order_item_${0..1}"), DATABASE_STRATEGY(TYPE="standard", SHARDING_COLUMN=user_id, SHARDING_ALGORITHM(TYPE(NAME="inline", PROPERTIES("algorithm-expression"="ds_${user_id % 2}")))), TABLE_STRATEGY(TYPE="standard", SHARDING_COLUMN=order_id, SHARDING_ALGORITHM(TYPE(NAME="inline", PROPERTIES("algorithm-expression"="t_order_item_${order_id % 2}")))), KEY_GENERATE_STRATEGY(COLUMN=item_id, TYPE(NAME="snowflake")), AUDIT_STRATEGY(TYPE(NAME="DML_SHARDING_CONDITIONS"), ALLOW_HINT_DISABLE=true))"#,
        ],
        wrong: &[(
            r#"ALTER SHARDING TABLE t_order(DATANODES("ds_0.t_order"))"#,
            "unexpected `t_order`, expected `REFERENCE` or `RULE` at line 1, column 22",
        )],
        build: |p| define(p, Definition::ShardingTables(each(p, "tableRule", table_rule)?)),
    },
    Entry {
        name: "DROP SHARDING TABLE RULE",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "DROP SHARDING TABLE RULE [ifExists] table ...",
        columns: &[],
        help: "Forgets the rules of sharded tables. Their actual tables stay where they are.",
        examples: &[
            "DROP SHARDING TABLE RULE t_order",
            "DROP SHARDING TABLE RULE IF EXISTS t_order, `t_order_item`",
        ],
        wrong: &[(
            "DROP SHARDING TABLE RULES t_order",
            "unexpected `RULES`, expected `REFERENCE` or `RULE`; did you mean `RULE`? at line 1, column 21",
        )],
        build: |p| drop_named(p, Thing::ShardingTable, "table"),
    },
    Entry {
        name: "CREATE SHARDING TABLE RULE (5.0)",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "CREATE SHARDING TABLE RULE [ifNotExists] ((oldTable ')') ... | oldTable)",
        columns: &[],
        help: "The older spelling of CREATE SHARDING TABLE RULE, with RESOURCES and GENERATED_KEY. The last parenthesis of a single rule may be missing, as in the paper.",
        examples: &[
            r#"CREATE SHARDING TABLE RULE t_user_h (RESOURCES(ds0, ds1), SHARDING_COLUMN=uid, TYPE(NAME=hash_mod, PROPERTIES("sharding-count"=2));"#,
            r#"CREATE SHARDING TABLE RULE t_order(RESOURCES(ds_0, ds_1), SHARDING_COLUMN=order_id, TYPE(NAME=hash_mod, PROPERTIES("sharding-count"=4)), GENERATED_KEY(COLUMN=another_id, TYPE(NAME=snowflake, PROPERTIES("worker-id"=123))))"#,
            r#"CREATE SHARDING TABLE RULE t_order_item(DATANODES("ds_${0..1}.t_order_item_${0..1}"), DATABASE_STRATEGY(TYPE=standard, SHARDING_COLUMN=user_id, SHARDING_ALGORITHM=database_inline), TABLE_STRATEGY(TYPE=standard, SHARDING_COLUMN=order_id, SHARDING_ALGORITHM=table_inline), GENERATED_KEY(COLUMN=another_id, GENERATED_KEY_ALGORITHM=snowflake_key_generator))"#,
        ],
        wrong: &[(
            "CREATE SHARDING TABLE RULE t(RESOURCES(ds_0), SHARDING_COLUMN=uid, TYPE(NAME=mod), GENERATED_KEYS(COLUMN=a, TYPE(NAME=uuid)))",
            "unexpected `GENERATED_KEYS`, expected `AUDIT_STRATEGY`, `GENERATED_KEY` or `KEY_GENERATE_STRATEGY`; did you mean `GENERATED_KEY`? at line 1, column 84",
        )],
        build: |p| define(p, Definition::ShardingTables(each(p, "oldTable", table_rule)?)),
    },
    Entry {
        name: "ALTER SHARDING TABLE RULE (5.0)",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "ALTER SHARDING TABLE RULE ((oldTable ')') ... | oldTable)",
        columns: &[],
        help: "The older spelling of ALTER SHARDING TABLE RULE, with RESOURCES and GENERATED_KEY.",
        examples: &[
            r#"ALTER SHARDING TABLE RULE t_user_h (RESOURCES(ds0, ds1), SHARDING_COLUMN=uid, TYPE(NAME=hash_mod, PROPERTIES("sharding-count"=2));"#,
        ],
        wrong: &[(
            "ALTER SHARDING TABLE RULE t(RESOURCES(), SHARDING_COLUMN=uid, TYPE(NAME=mod))",
            "unexpected `)`, expected a storage unit at line 1, column 39",
        )],
        build: |p| define(p, Definition::ShardingTables(each(p, "oldTable", table_rule)?)),
    },
    Entry {
        name: "CREATE SHARDING TABLE REFERENCE RULE",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "CREATE SHARDING TABLE REFERENCE RULE [ifNotExists] reference ...",
        columns: &[],
        help: "Says that tables are sharded alike, so that joins between them stay on one shard.",
        examples: &[
            "CREATE SHARDING TABLE REFERENCE RULE ref_0(t_order, t_order_item), ref_1(t_a, t_b)",
        ],
        wrong: &[(
            "CREATE SHARDING TABLE REFERENCE RULE (t_order, t_order_item)",
            "unexpected `(`, expected `IF` or a rule at line 1, column 38",
        )],
        build: |p| define(p, Definition::References(each(p, "reference", reference)?)),
    },
    Entry {
        name: "ALTER SHARDING TABLE REFERENCE RULE",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "ALTER SHARDING TABLE REFERENCE RULE reference ...",
        columns: &[],
        help: "Replaces the tables of references.",
        examples: &["ALTER SHARDING TABLE REFERENCE RULE ref_0(t_order, t_order_item)"],
        wrong: &[(
            "ALTER SHARDING TABLE REFERENCE RULE ref_0",
            "unexpected end of the statement, expected `(` at line 1, column 42",
        )],
        build: |p| define(p, Definition::References(each(p, "reference", reference)?)),
    },
    Entry {
        name: "DROP SHARDING TABLE REFERENCE RULE",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "DROP SHARDING TABLE REFERENCE RULE [ifExists] rule ...",
        columns: &[],
        help: "Forgets references.",
        examples: &["DROP SHARDING TABLE REFERENCE RULE IF EXISTS ref_0, ref_1"],
        wrong: &[(
            "DROP SHARDING TABLE REFERENCE ref_0",
            "unexpected `ref_0`, expected `RULE` at line 1, column 31",
        )],
        build: |p| drop_named(p, Thing::Reference, "rule"),
    },
    Entry {
        name: "CREATE SHARDING BINDING TABLE RULES",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "CREATE SHARDING BINDING TABLE RULES binding ...",
        columns: &[],
        help: "The older spelling of CREATE SHARDING TABLE REFERENCE RULE, without names.",
        examples: &["CREATE SHARDING BINDING TABLE RULES (t_order, t_order_item), (t_1, t_2)"],
        wrong: &[(
            "CREATE SHARDING BINDING TABLE RULES t_order, t_order_item",
            "unexpected `t_order`, expected `(` at line 1, column 37",
        )],
        build: |p| define(p, Definition::References(each(p, "binding", reference)?)),
    },
    Entry {
        name: "ALTER SHARDING BINDING TABLE RULES",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "ALTER SHARDING BINDING TABLE RULES binding ...",
        columns: &[],
        help: "Replaces all references.",
        examples: &["ALTER SHARDING BINDING TABLE RULES (t_order, t_order_item)"],
        wrong: &[(
            "ALTER SHARDING BINDING TABLE RULES ()",
            "unexpected `)`, expected a table at line 1, column 37",
        )],
        build: |p| define(p, Definition::References(each(p, "binding", reference)?)),
    },
    Entry {
        name: "DROP SHARDING BINDING TABLE RULES",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "DROP SHARDING BINDING TABLE RULES [ifExists] [binding ...]",
        columns: &[],
        help: "Forgets the references of these tables, or all.",
        examples: &[
            "DROP SHARDING BINDING TABLE RULES",
            "DROP SHARDING BINDING TABLE RULES (t_order, t_order_item)",
        ],
        wrong: &[(
            "DROP SHARDING BINDING TABLE RULES t_order",
            "unexpected `t_order`, expected `IF`, `(` or the end at line 1, column 35",
        )],
        build: |p| {
            drop_removal(
                p,
                Removal::References(p.all("binding").map(|found| found.names("table")).collect()),
            )
        },
    },
    Entry {
        name: "CREATE BROADCAST TABLE RULE",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "CREATE BROADCAST TABLE RULE [ifNotExists] table ...",
        columns: &[],
        help: "Keeps tables the same on every storage unit.",
        examples: &[
            "CREATE BROADCAST TABLE RULE t_dict, t_address",
            "CREATE BROADCAST TABLE RULE IF NOT EXISTS t_dict",
        ],
        wrong: &[(
            "CREATE BROADCAST TABLE t_dict",
            "unexpected `t_dict`, expected `RULE` at line 1, column 24",
        )],
        build: |p| define(p, Definition::BroadcastTables(p.names("table"))),
    },
    Entry {
        name: "DROP BROADCAST TABLE RULE",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "DROP BROADCAST TABLE RULE [ifExists] table ...",
        columns: &[],
        help: "Forgets broadcast tables. They stay where they are.",
        examples: &["DROP BROADCAST TABLE RULE IF EXISTS t_dict"],
        wrong: &[(
            "DROP BROADCAST TABLE RULE IF NOT EXISTS t_dict",
            "unexpected `NOT`, expected `EXISTS` at line 1, column 30",
        )],
        build: |p| drop_named(p, Thing::BroadcastTable, "table"),
    },
    Entry {
        name: "CREATE SHARDING BROADCAST TABLE RULES",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "CREATE SHARDING BROADCAST TABLE RULES '(' table ... ')'",
        columns: &[],
        help: "The older spelling of CREATE BROADCAST TABLE RULE.",
        examples: &["CREATE SHARDING BROADCAST TABLE RULES (t_dict, t_address)"],
        wrong: &[(
            "CREATE SHARDING BROADCAST TABLE RULES t_dict",
            "unexpected `t_dict`, expected `(` at line 1, column 39",
        )],
        build: |p| define(p, Definition::BroadcastTables(p.names("table"))),
    },
    Entry {
        name: "ALTER SHARDING BROADCAST TABLE RULES",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "ALTER SHARDING BROADCAST TABLE RULES '(' table ... ')'",
        columns: &[],
        help: "Replaces the whole list of broadcast tables.",
        examples: &["ALTER SHARDING BROADCAST TABLE RULES (t_dict)"],
        wrong: &[(
            "ALTER SHARDING BROADCAST TABLE RULES",
            "unexpected end of the statement, expected `(` at line 1, column 37",
        )],
        build: |p| define(p, Definition::BroadcastTables(p.names("table"))),
    },
    Entry {
        name: "DROP SHARDING BROADCAST TABLE RULES",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "DROP SHARDING BROADCAST TABLE RULES [ifExists]",
        columns: &[],
        help: "Forgets all broadcast tables.",
        examples: &["DROP SHARDING BROADCAST TABLE RULES"],
        wrong: &[(
            "DROP SHARDING BROADCAST TABLE RULES t_dict extra",
            "unexpected `t_dict`, expected `IF` or the end at line 1, column 37",
        )],
        build: |p| drop_removal(p, Removal::AllBroadcastTables),
    },
    Entry {
        name: "CREATE DEFAULT SHARDING STRATEGY",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "CREATE DEFAULT SHARDING (DATABASE | TABLE) STRATEGY [ifNotExists] '(' strategy ')'",
        columns: &[],
        help: "Gives a strategy to sharded tables that have none of their own.",
        examples: &[
            r#"CREATE DEFAULT SHARDING DATABASE STRATEGY (TYPE="standard", SHARDING_COLUMN=user_id, SHARDING_ALGORITHM(TYPE(NAME="inline", PROPERTIES("algorithm-expression"="ds_${user_id % 2}"))))"#,
            "CREATE DEFAULT SHARDING TABLE STRATEGY IF NOT EXISTS (TYPE=standard, SHARDING_COLUMN=order_id, SHARDING_ALGORITHM=table_inline)",
        ],
        wrong: &[
            (
                r#"CREATE DEFAULT SHARDING STRATEGY (TYPE="none")"#,
                "unexpected `STRATEGY`, expected `DATABASE` or `TABLE` at line 1, column 25",
            ),
            (
                r#"CREATE DEFAULT SHARDING TABLE STRATEGY (TYPE="none", SHARDING_COLUMN=a)"#,
                "a strategy of type `NONE` has neither column nor algorithm at line 1, column 41",
            ),
        ],
        build: default_strategy,
    },
    Entry {
        name: "ALTER DEFAULT SHARDING STRATEGY",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "ALTER DEFAULT SHARDING (DATABASE | TABLE) STRATEGY '(' strategy ')'",
        columns: &[],
        help: "Replaces a default strategy.",
        examples: &[r#"ALTER DEFAULT SHARDING TABLE STRATEGY (TYPE="none")"#],
        wrong: &[(
            r#"ALTER DEFAULT SHARDING TABLE STRATEGY IF EXISTS (TYPE="none")"#,
            "unexpected `IF`, expected `(` at line 1, column 39",
        )],
        build: default_strategy,
    },
    Entry {
        name: "DROP DEFAULT SHARDING STRATEGY",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "DROP DEFAULT SHARDING (DATABASE | TABLE) STRATEGY [ifExists]",
        columns: &[],
        help: "Forgets a default strategy.",
        examples: &[
            "DROP DEFAULT SHARDING DATABASE STRATEGY",
            "DROP DEFAULT SHARDING TABLE STRATEGY IF EXISTS",
        ],
        wrong: &[(
            "DROP DEFAULT SHARDING DATABASE",
            "unexpected end of the statement, expected `STRATEGY` at line 1, column 31",
        )],
        build: default_strategy,
    },
    Entry {
        name: "CREATE SHARDING ALGORITHM",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "CREATE SHARDING ALGORITHM [ifNotExists] namedAlgorithm ...",
        columns: &[],
        help: "Makes sharding algorithms that rules can use by name.",
        examples: &[
            r#"CREATE SHARDING ALGORITHM table_inline(TYPE(NAME="inline", PROPERTIES("k"="v")))"#,
        ],
        wrong: &[(
            r#"CREATE SHARDING ALGORITHM table_inline TYPE(NAME="inline")"#,
            "unexpected `TYPE`, expected `(` at line 1, column 40",
        )],
        build: |p| {
            define(p, Definition::ShardingAlgorithms(each(p, "namedAlgorithm", named_algorithm)?))
        },
    },
    Entry {
        name: "ALTER SHARDING ALGORITHM",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "ALTER SHARDING ALGORITHM namedAlgorithm ...",
        columns: &[],
        help: "Replaces sharding algorithms.",
        examples: &[r#"ALTER SHARDING ALGORITHM table_inline(TYPE(NAME="inline"))"#],
        wrong: &[(
            r#"ALTER SHARDING ALGORITHM table_inline(NAME="inline")"#,
            "unexpected `NAME`, expected `TYPE` at line 1, column 39",
        )],
        build: |p| {
            define(p, Definition::ShardingAlgorithms(each(p, "namedAlgorithm", named_algorithm)?))
        },
    },
    Entry {
        name: "DROP SHARDING ALGORITHM",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "DROP SHARDING ALGORITHM [ifExists] algorithmName ...",
        columns: &[],
        help: "Forgets sharding algorithms that no rule uses.",
        examples: &["DROP SHARDING ALGORITHM IF EXISTS table_inline, other"],
        wrong: &[(
            "DROP SHARDING ALGORITHM",
            "unexpected end of the statement, expected `IF` or an algorithm's name at line 1, column 24",
        )],
        build: |p| drop_named(p, Thing::ShardingAlgorithm, "algorithmName"),
    },
    Entry {
        name: "CREATE SHARDING KEY GENERATOR",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "CREATE SHARDING KEY GENERATOR [ifNotExists] namedAlgorithm ...",
        columns: &[],
        help: "Makes key generators that rules can use by name.",
        examples: &[
            r#"CREATE SHARDING KEY GENERATOR snow(TYPE(NAME="snowflake", PROPERTIES("k"="v")))"#,
        ],
        wrong: &[(
            r#"CREATE SHARDING KEY GENERATOR snow TYPE(NAME="snowflake")"#,
            "unexpected `TYPE`, expected `(` at line 1, column 36",
        )],
        build: |p| {
            define(p, Definition::KeyGenerators(each(p, "namedAlgorithm", named_algorithm)?))
        },
    },
    Entry {
        name: "ALTER SHARDING KEY GENERATOR",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "ALTER SHARDING KEY GENERATOR namedAlgorithm ...",
        columns: &[],
        help: "Replaces key generators.",
        examples: &[r#"ALTER SHARDING KEY GENERATOR snow(TYPE(NAME="snowflake"))"#],
        wrong: &[(
            r#"ALTER SHARDING KEY GENERATOR snow(NAME="snowflake")"#,
            "unexpected `NAME`, expected `TYPE` at line 1, column 35",
        )],
        build: |p| {
            define(p, Definition::KeyGenerators(each(p, "namedAlgorithm", named_algorithm)?))
        },
    },
    Entry {
        name: "DROP SHARDING KEY GENERATOR",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "DROP SHARDING KEY GENERATOR [ifExists] generator ...",
        columns: &[],
        help: "Forgets key generators that no rule uses.",
        examples: &["DROP SHARDING KEY GENERATOR IF EXISTS snow, other"],
        wrong: &[(
            "DROP SHARDING KEY GENERATOR",
            "unexpected end of the statement, expected `IF` or a key generator at line 1, column 28",
        )],
        build: |p| drop_named(p, Thing::KeyGenerator, "generator"),
    },
    Entry {
        name: "CREATE SHARDING AUDITOR",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "CREATE SHARDING AUDITOR [ifNotExists] namedAlgorithm ...",
        columns: &[],
        help: "Makes sharding auditors that rules can use by name.",
        examples: &[
            r#"CREATE SHARDING AUDITOR need_key(TYPE(NAME="DML_SHARDING_CONDITIONS", PROPERTIES("k"="v")))"#,
        ],
        wrong: &[(
            r#"CREATE SHARDING AUDITOR need_key TYPE(NAME="DML_SHARDING_CONDITIONS")"#,
            "unexpected `TYPE`, expected `(` at line 1, column 34",
        )],
        build: |p| define(p, Definition::Auditors(each(p, "namedAlgorithm", named_algorithm)?)),
    },
    Entry {
        name: "ALTER SHARDING AUDITOR",
        category: Category::Rdl,
        age: Age::Old,
        syntax: "ALTER SHARDING AUDITOR namedAlgorithm ...",
        columns: &[],
        help: "Replaces sharding auditors.",
        examples: &[r#"ALTER SHARDING AUDITOR need_key(TYPE(NAME="DML_SHARDING_CONDITIONS"))"#],
        wrong: &[(
            r#"ALTER SHARDING AUDITOR need_key(NAME="DML_SHARDING_CONDITIONS")"#,
            "unexpected `NAME`, expected `TYPE` at line 1, column 33",
        )],
        build: |p| define(p, Definition::Auditors(each(p, "namedAlgorithm", named_algorithm)?)),
    },
    Entry {
        name: "DROP SHARDING AUDITOR",
        category: Category::Rdl,
        age: Age::Both,
        syntax: "DROP SHARDING AUDITOR [ifExists] auditor ...",
        columns: &[],
        help: "Forgets sharding auditors that no rule uses.",
        examples: &["DROP SHARDING AUDITOR IF EXISTS need_key, other"],
        wrong: &[(
            "DROP SHARDING AUDITOR",
            "unexpected end of the statement, expected `IF` or an auditor at line 1, column 22",
        )],
        build: |p| drop_named(p, Thing::Auditor, "auditor"),
    },
    Entry {
        name: "CREATE SHARDING KEY GENERATE STRATEGY",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "CREATE SHARDING KEY GENERATE STRATEGY [ifNotExists] keyGenerateRule",
        columns: &[],
        help: "Lets a generator fill a column or a sequence.",
        examples: &[
            r#"CREATE SHARDING KEY GENERATE STRATEGY order_key(TABLE=t_order, COLUMN=order_id, TYPE(NAME="snowflake"))"#,
            r#"CREATE SHARDING KEY GENERATE STRATEGY IF NOT EXISTS order_seq_key(SEQUENCE="order_seq", GENERATOR=snow)"#,
        ],
        wrong: &[(
            "CREATE SHARDING KEY GENERATE STRATEGY order_key(COLUMN=order_id, GENERATOR=snow)",
            "unexpected `COLUMN`, expected `SEQUENCE` or `TABLE` at line 1, column 49",
        )],
        build: |p| {
            define(
                p,
                Definition::KeyGenerateStrategy(key_generate_rule(p.need("keyGenerateRule")?)?),
            )
        },
    },
    Entry {
        name: "ALTER SHARDING KEY GENERATE STRATEGY",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "ALTER SHARDING KEY GENERATE STRATEGY keyGenerateRule",
        columns: &[],
        help: "Replaces a key generate strategy.",
        examples: &[
            "ALTER SHARDING KEY GENERATE STRATEGY order_key(TABLE=t_order, COLUMN=order_id, GENERATOR=snow)",
        ],
        wrong: &[(
            "ALTER SHARDING KEY GENERATE STRATEGY order_key",
            "unexpected end of the statement, expected `(` at line 1, column 47",
        )],
        build: |p| {
            define(
                p,
                Definition::KeyGenerateStrategy(key_generate_rule(p.need("keyGenerateRule")?)?),
            )
        },
    },
    Entry {
        name: "DROP SHARDING KEY GENERATE STRATEGY",
        category: Category::Rdl,
        age: Age::Current,
        syntax: "DROP SHARDING KEY GENERATE STRATEGY [ifExists] rule ...",
        columns: &[],
        help: "Forgets key generate strategies.",
        examples: &["DROP SHARDING KEY GENERATE STRATEGY order_key"],
        wrong: &[(
            "DROP SHARDING KEY STRATEGY order_key",
            "unexpected `STRATEGY`, expected `GENERATE` or `GENERATOR` at line 1, column 19",
        )],
        build: |p| drop_named(p, Thing::KeyGenerateStrategy, "rule"),
    },
];
