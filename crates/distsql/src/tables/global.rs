//! Rules of the whole server.

use crate::build::{
    administer, alter_clock, alter_federation, alter_parser, alter_transaction, alter_translator,
};
use crate::command::{GlobalRule, Ral};
use crate::entry::{Age, Category, Entry};

pub(super) static GLOBAL: &[Entry] = &[
    Entry {
        name: "SHOW AUTHORITY RULE",
        category: Category::Ral,
        age: Age::Both,
        syntax: "SHOW AUTHORITY RULE",
        columns: &["users", "provider", "props"],
        help: "The authority rule.",
        examples: &["SHOW AUTHORITY RULE"],
        wrong: &[(
            "SHOW AUTHORITY RULES",
            "unexpected `RULES`, expected `RULE`; did you mean `RULE`? at line 1, column 16",
        )],
        build: |_| administer(Ral::ShowGlobalRule(GlobalRule::Authority)),
    },
    Entry {
        name: "SHOW TRANSACTION RULE",
        category: Category::Ral,
        age: Age::Both,
        syntax: "SHOW TRANSACTION RULE",
        columns: &["default_type", "provider_type", "props"],
        help: "The transaction rule.",
        examples: &["SHOW TRANSACTION RULE"],
        wrong: &[(
            "SHOW TRANSACTION RULES",
            "unexpected `RULES`, expected `RULE` or `STATUS`; did you mean `RULE`? at line 1, column 18",
        )],
        build: |_| administer(Ral::ShowGlobalRule(GlobalRule::Transaction)),
    },
    Entry {
        name: "SHOW SQL_PARSER RULE",
        category: Category::Ral,
        age: Age::Both,
        syntax: "SHOW SQL_PARSER RULE",
        columns: &["parse_tree_cache", "sql_statement_cache"],
        help: "The parser rule.",
        examples: &["SHOW SQL_PARSER RULE"],
        wrong: &[(
            "SHOW SQL_PARSER RULES",
            "unexpected `RULES`, expected `RULE`; did you mean `RULE`? at line 1, column 17",
        )],
        build: |_| administer(Ral::ShowGlobalRule(GlobalRule::Parser)),
    },
    Entry {
        name: "SHOW SQL_FEDERATION RULE",
        category: Category::Ral,
        age: Age::Current,
        syntax: "SHOW SQL_FEDERATION RULE",
        columns: &[
            "sql_federation_enabled",
            "all_query_use_sql_federation",
            "execution_plan_cache",
        ],
        help: "The federation rule.",
        examples: &["SHOW SQL_FEDERATION RULE"],
        wrong: &[(
            "SHOW SQL_FEDERATION RULES",
            "unexpected `RULES`, expected `RULE`; did you mean `RULE`? at line 1, column 21",
        )],
        build: |_| administer(Ral::ShowGlobalRule(GlobalRule::Federation)),
    },
    Entry {
        name: "SHOW SQL_TRANSLATOR RULE",
        category: Category::Ral,
        age: Age::Current,
        syntax: "SHOW SQL_TRANSLATOR RULE",
        columns: &["type", "props", "use_original_sql_when_translating_failed"],
        help: "The translator rule.",
        examples: &["SHOW SQL_TRANSLATOR RULE"],
        wrong: &[(
            "SHOW SQL_TRANSLATOR RULES",
            "unexpected `RULES`, expected `RULE`; did you mean `RULE`? at line 1, column 21",
        )],
        build: |_| administer(Ral::ShowGlobalRule(GlobalRule::Translator)),
    },
    Entry {
        name: "SHOW GLOBAL CLOCK RULE",
        category: Category::Ral,
        age: Age::Current,
        syntax: "SHOW GLOBAL CLOCK RULE",
        columns: &["type", "provider", "enable", "props"],
        help: "The global clock rule.",
        examples: &["SHOW GLOBAL CLOCK RULE"],
        wrong: &[(
            "SHOW GLOBAL CLOCK RULES",
            "unexpected `RULES`, expected `RULE`; did you mean `RULE`? at line 1, column 19",
        )],
        build: |_| administer(Ral::ShowGlobalRule(GlobalRule::Clock)),
    },
    Entry {
        name: "ALTER TRANSACTION RULE",
        category: Category::Ral,
        age: Age::Both,
        syntax: "ALTER TRANSACTION RULE '(' DEFAULT '=' typeName [',' algorithm] ')'",
        columns: &[],
        help: "Sets the transaction type of every session that has not chosen its own.",
        examples: &[
            r#"ALTER TRANSACTION RULE(DEFAULT="XA", TYPE(NAME="Narayana", PROPERTIES("host"="127.0.0.1")))"#,
            "ALTER TRANSACTION RULE(DEFAULT=LOCAL)",
        ],
        wrong: &[(
            "ALTER TRANSACTION RULE(XA)",
            "unexpected `XA`, expected `DEFAULT` at line 1, column 24",
        )],
        build: alter_transaction,
    },
    Entry {
        name: "ALTER SQL_PARSER RULE",
        category: Category::Ral,
        age: Age::Both,
        syntax: "ALTER SQL_PARSER RULE '(' (parseTreeCache [',' statementCache] | statementCache [',' parseTreeCache]) ')'",
        columns: &[],
        help: "Sets the sizes of the parser's caches.",
        examples: &[
            "ALTER SQL_PARSER RULE(PARSE_TREE_CACHE(INITIAL_CAPACITY=128, MAXIMUM_SIZE=1024), SQL_STATEMENT_CACHE(MAXIMUM_SIZE=65535))",
            "ALTER SQL_PARSER RULE(SQL_STATEMENT_CACHE(INITIAL_CAPACITY=10))",
        ],
        wrong: &[
            (
                "ALTER SQL_PARSER RULE()",
                "unexpected `)`, expected `PARSE_TREE_CACHE` or `SQL_STATEMENT_CACHE` at line 1, column 23",
            ),
            (
                "ALTER SQL_PARSER RULE(PARSE_TREE_CACHE(MAXIMUM_SIZE=99999999999))",
                "`99999999999` is too large, expected at most 4294967295 at line 1, column 53",
            ),
        ],
        build: alter_parser,
    },
    Entry {
        name: "ALTER SQL_FEDERATION RULE",
        category: Category::Ral,
        age: Age::Current,
        syntax: "ALTER SQL_FEDERATION RULE '(' SQL_FEDERATION_ENABLED '=' enabled [',' ALL_QUERY_USE_SQL_FEDERATION '=' allQueries] [',' planCache] ')'",
        columns: &[],
        help: "Says whether what cannot be merged is answered by other means. Pando always does so itself, and refuses TRUE.",
        examples: &[
            "ALTER SQL_FEDERATION RULE(SQL_FEDERATION_ENABLED=TRUE, ALL_QUERY_USE_SQL_FEDERATION=FALSE, EXECUTION_PLAN_CACHE(INITIAL_CAPACITY=2000, MAXIMUM_SIZE=65535))",
        ],
        wrong: &[(
            "ALTER SQL_FEDERATION RULE(SQL_FEDERATION_ENABLED=yes)",
            "unexpected `yes`, expected `TRUE` or `FALSE` at line 1, column 50",
        )],
        build: alter_federation,
    },
    Entry {
        name: "ALTER SQL_TRANSLATOR RULE",
        category: Category::Ral,
        age: Age::Current,
        syntax: "ALTER SQL_TRANSLATOR RULE '(' algorithm [',' USE_ORIGINAL_SQL_WHEN_TRANSLATING_FAILED '=' boolean] ')'",
        columns: &[],
        help: "Says who translates between the languages of vendors. This version of Pando has NATIVE only, which leaves statements as they are.",
        examples: &[
            "ALTER SQL_TRANSLATOR RULE(TYPE(NAME='NATIVE', PROPERTIES('key'='value')), USE_ORIGINAL_SQL_WHEN_TRANSLATING_FAILED=TRUE)",
        ],
        wrong: &[(
            "ALTER SQL_TRANSLATOR RULE(NATIVE)",
            "unexpected `NATIVE`, expected `TYPE` at line 1, column 27",
        )],
        build: alter_translator,
    },
    Entry {
        name: "ALTER GLOBAL CLOCK RULE",
        category: Category::Ral,
        age: Age::Current,
        syntax: "ALTER GLOBAL CLOCK RULE '(' TYPE '=' typeName ',' PROVIDER '=' provider ',' ENABLED '=' enabled [',' properties] ')'",
        columns: &[],
        help: "Sets the clock of snapshots, of which this version of Pando has none: ENABLED=TRUE is refused.",
        examples: &[
            "ALTER GLOBAL CLOCK RULE(TYPE='TSO', PROVIDER='local', ENABLED=TRUE, PROPERTIES('a'='b'))",
        ],
        wrong: &[(
            "ALTER GLOBAL CLOCK RULE(TYPE='TSO', ENABLED=TRUE)",
            "unexpected `ENABLED`, expected `PROVIDER` at line 1, column 37",
        )],
        build: alter_clock,
    },
];
