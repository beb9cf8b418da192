//! Metadata: read anew, carried from one place to another; the lock, plugins.

use crate::build::{
    administer, import_metadata, lock_cluster, refresh_table, show_plugins, timeout,
};
use crate::command::{Metadata, Ral};
use crate::entry::{Age, Category, Entry};

pub(super) static METADATA: &[Entry] = &[
    Entry {
        name: "REFRESH DATABASE METADATA",
        category: Category::Ral,
        age: Age::Current,
        syntax: "[FORCE] REFRESH DATABASE METADATA [database]",
        columns: &[],
        help: "Reads the configuration from the repository again.",
        examples: &["REFRESH DATABASE METADATA", "FORCE REFRESH DATABASE METADATA shop"],
        wrong: &[(
            "REFRESH DATABASE shop",
            "unexpected `shop`, expected `METADATA` at line 1, column 18",
        )],
        build: |p| {
            administer(Ral::Metadata(Metadata::RefreshDatabase {
                force: p.has("FORCE"),
                database: p.maybe_name("database"),
            }))
        },
    },
    Entry {
        name: "REFRESH TABLE METADATA",
        category: Category::Ral,
        age: Age::Both,
        syntax: "REFRESH TABLE METADATA [table] [FROM (STORAGE UNIT | RESOURCE) unit [SCHEMA schema]]",
        columns: &[],
        help: "Reads tables' columns from the storage units again.",
        examples: &[
            "REFRESH TABLE METADATA",
            "REFRESH TABLE METADATA t_order",
            "REFRESH TABLE METADATA t_order FROM STORAGE UNIT ds_1 SCHEMA db_schema",
            "REFRESH TABLE METADATA FROM RESOURCE ds_1",
        ],
        wrong: &[(
            "REFRESH TABLE METADATA t_order FROM ds_1",
            "unexpected `ds_1`, expected `RESOURCE` or `STORAGE` at line 1, column 37",
        )],
        build: refresh_table,
    },
    Entry {
        name: "SHOW TABLE METADATA",
        category: Category::Ral,
        age: Age::Both,
        syntax: "SHOW TABLE METADATA table ... [FROM database]",
        columns: &["schema_name", "table_name", "type", "name"],
        help: "The columns and indexes of tables.",
        examples: &["SHOW TABLE METADATA t_order, t_order_item FROM shop"],
        wrong: &[(
            "SHOW TABLE METADATA",
            "unexpected end of the statement, expected a table at line 1, column 20",
        )],
        build: |p| {
            administer(Ral::Metadata(Metadata::ShowTable {
                tables: p.names("table"),
                database: p.maybe_name("database"),
            }))
        },
    },
    Entry {
        name: "EXPORT DATABASE CONFIGURATION",
        category: Category::Ral,
        age: Age::Current,
        syntax: "EXPORT DATABASE CONFIGURATION [FROM database] [TO FILE file]",
        columns: &["result"],
        help: "One database as YAML, into a new file below the folder of `pando serve --files` where one is named.",
        examples: &[
            "EXPORT DATABASE CONFIGURATION",
            "EXPORT DATABASE CONFIGURATION FROM shop TO FILE '/tmp/shop.yaml'",
        ],
        wrong: &[(
            "EXPORT DATABASE CONFIGURATION TO /tmp/shop.yaml",
            "unexpected `/`, expected `FILE` at line 1, column 34",
        )],
        build: |p| {
            administer(Ral::Metadata(Metadata::ExportDatabase {
                database: p.maybe_name("database"),
                file: p.maybe_text("file"),
            }))
        },
    },
    Entry {
        name: "EXPORT SCHEMA CONFIG",
        category: Category::Ral,
        age: Age::Old,
        syntax: "EXPORT (SCHEMA | DATABASE) CONFIG [FROM database] [',' FILE '=' file]",
        columns: &["result"],
        help: "The older spelling of EXPORT DATABASE CONFIGURATION.",
        examples: &[
            r#"EXPORT SCHEMA CONFIG FROM shop, FILE="/tmp/shop.yaml""#,
            "EXPORT DATABASE CONFIG",
        ],
        wrong: &[(
            "EXPORT SCHEMA",
            "unexpected end of the statement, expected `CONFIG` at line 1, column 14",
        )],
        build: |p| {
            administer(Ral::Metadata(Metadata::ExportDatabase {
                database: p.maybe_name("database"),
                file: p.maybe_text("file"),
            }))
        },
    },
    Entry {
        name: "IMPORT DATABASE CONFIGURATION",
        category: Category::Ral,
        age: Age::Current,
        syntax: "IMPORT DATABASE CONFIGURATION FROM FILE file",
        columns: &[],
        help: "One database from a YAML file below the folder of `pando serve --files`.",
        examples: &["IMPORT DATABASE CONFIGURATION FROM FILE '/tmp/shop.yaml'"],
        wrong: &[(
            "IMPORT DATABASE CONFIGURATION FROM FILE /tmp/shop.yaml",
            "unexpected `/`, expected a file name in quotes at line 1, column 41",
        )],
        build: |p| administer(Ral::Metadata(Metadata::ImportDatabase { file: p.text_of("file")? })),
    },
    Entry {
        name: "IMPORT SCHEMA CONFIG",
        category: Category::Ral,
        age: Age::Old,
        syntax: "IMPORT (SCHEMA | DATABASE) CONFIG FILE '=' file",
        columns: &[],
        help: "The older spelling of IMPORT DATABASE CONFIGURATION.",
        examples: &["IMPORT SCHEMA CONFIG FILE='/tmp/shop.yaml'"],
        wrong: &[(
            "IMPORT SCHEMA CONFIG",
            "unexpected end of the statement, expected `FILE` at line 1, column 21",
        )],
        build: |p| administer(Ral::Metadata(Metadata::ImportDatabase { file: p.text_of("file")? })),
    },
    Entry {
        name: "EXPORT METADATA",
        category: Category::Ral,
        age: Age::Current,
        syntax: "EXPORT METADATA [TO FILE file]",
        columns: &["id", "create_time", "cluster_info"],
        help: "Everything, as one text, into a new file below the folder of `pando serve --files` where one is named.",
        examples: &["EXPORT METADATA", "EXPORT METADATA TO FILE '/tmp/all.json'"],
        wrong: &[(
            "EXPORT META DATA",
            "unexpected `META`, expected `DATABASE`, `METADATA`, `SCHEMA` or `STORAGE` at line 1, column 8",
        )],
        build: |p| administer(Ral::Metadata(Metadata::Export { file: p.maybe_text("file") })),
    },
    Entry {
        name: "IMPORT METADATA",
        category: Category::Ral,
        age: Age::Current,
        syntax: "IMPORT METADATA (metadata | FROM FILE file)",
        columns: &[],
        help: "Everything back from what EXPORT METADATA gave: the text, or a file below the folder of `pando serve --files`.",
        examples: &[
            "IMPORT METADATA FROM FILE '/tmp/all.json'",
            "IMPORT METADATA 'eyJtZXRhX2RhdGEiOnt9fQ=='",
        ],
        wrong: &[(
            "IMPORT METADATA",
            "unexpected end of the statement, expected `FROM` or metadata in quotes at line 1, column 16",
        )],
        build: import_metadata,
    },
    Entry {
        name: "EXPORT STORAGE NODES",
        category: Category::Ral,
        age: Age::Current,
        syntax: "EXPORT STORAGE NODES [FROM database] [TO FILE file]",
        columns: &["id", "create_time", "storage_nodes"],
        help: "The addresses of storage units as JSON, with passwords, into a new file below the folder of `pando serve --files` where one is named.",
        examples: &["EXPORT STORAGE NODES FROM shop TO FILE '/tmp/nodes.json'"],
        wrong: &[(
            "EXPORT STORAGE NODES shop",
            "unexpected `shop`, expected `FROM`, `TO` or the end at line 1, column 22",
        )],
        build: |p| {
            administer(Ral::Metadata(Metadata::ExportStorageNodes {
                database: p.maybe_name("database"),
                file: p.maybe_text("file"),
            }))
        },
    },
    Entry {
        name: "CONVERT YAML CONFIGURATION",
        category: Category::Ral,
        age: Age::Current,
        syntax: "CONVERT YAML CONFIGURATION FROM FILE file",
        columns: &["dist_sql"],
        help: "A YAML file below the folder of `pando serve --files` as DistSQL; nothing changes.",
        examples: &["CONVERT YAML CONFIGURATION FROM FILE '/tmp/shop.yaml'"],
        wrong: &[(
            "CONVERT YAML CONFIGURATION",
            "unexpected end of the statement, expected `FROM` at line 1, column 27",
        )],
        build: |p| administer(Ral::Metadata(Metadata::ConvertYaml { file: p.text_of("file")? })),
    },
    Entry {
        name: "LOCK CLUSTER",
        category: Category::Ral,
        age: Age::Current,
        syntax: "LOCK CLUSTER WITH (LOCK_STRATEGY '(' algorithm ')' | lockType) [TIMEOUT timeout]",
        columns: &[],
        help: "Stops writing, or all work, on every instance; waits so many milliseconds for it.",
        examples: &[
            "LOCK CLUSTER WITH LOCK_STRATEGY(TYPE(NAME='WRITE'))",
            "LOCK CLUSTER WITH READ_WRITE TIMEOUT 2000",
        ],
        wrong: &[
            (
                "LOCK CLUSTER",
                "unexpected end of the statement, expected `WITH` at line 1, column 13",
            ),
            (
                "LOCK CLUSTER WITH RAED",
                "unknown lock `RAED` (known: WRITE, READ_WRITE) at line 1, column 19",
            ),
        ],
        build: lock_cluster,
    },
    Entry {
        name: "UNLOCK CLUSTER",
        category: Category::Ral,
        age: Age::Current,
        syntax: "UNLOCK CLUSTER [TIMEOUT timeout]",
        columns: &[],
        help: "Ends LOCK CLUSTER.",
        examples: &["UNLOCK CLUSTER", "UNLOCK CLUSTER TIMEOUT 2000"],
        wrong: &[(
            "UNLOCK CLUSTER 2000",
            "unexpected `2000`, expected `TIMEOUT` or the end at line 1, column 16",
        )],
        build: |p| administer(Ral::UnlockCluster { timeout: timeout(p)? }),
    },
    Entry {
        name: "SHOW PLUGINS OF",
        category: Category::Ral,
        age: Age::Current,
        syntax: "SHOW PLUGINS OF interface",
        columns: &["type", "type_aliases", "description"],
        help: "The kinds of something, by the name of its Java interface.",
        examples: &["SHOW PLUGINS OF 'org.apache.shardingsphere.sharding.spi.ShardingAlgorithm'"],
        wrong: &[(
            "SHOW PLUGINS OF sharding",
            "unexpected `sharding`, expected an interface in quotes at line 1, column 17",
        )],
        build: show_plugins,
    },
    Entry {
        name: "SHOW ALGORITHM PLUGINS",
        category: Category::Ral,
        age: Age::Current,
        syntax: "SHOW (SHARDING | ENCRYPT | MASK | SHADOW | KEY GENERATE | LOAD BALANCE) ALGORITHM PLUGINS",
        columns: &["type", "type_aliases", "description"],
        help: "The kinds of algorithms of a feature.",
        examples: &[
            "SHOW SHARDING ALGORITHM PLUGINS",
            "SHOW KEY GENERATE ALGORITHM PLUGINS",
            "SHOW LOAD BALANCE ALGORITHM PLUGINS",
        ],
        wrong: &[(
            "SHOW MASK ALGORITHM",
            "unexpected end of the statement, expected `IMPLEMENTATIONS` or `PLUGINS` at line 1, column 20",
        )],
        build: show_plugins,
    },
    Entry {
        name: "SHOW IMPLEMENTATIONS",
        category: Category::Ral,
        age: Age::Old,
        syntax: "SHOW IMPLEMENTATIONS OF interface | SHOW (SHARDING | ENCRYPT | MASK | SHADOW | KEY GENERATE) ALGORITHM IMPLEMENTATIONS | SHOW READ QUERY LOAD BALANCE ALGORITHM (IMPLEMENTATIONS | PLUGINS)",
        columns: &["type", "type_aliases", "description"],
        help: "The older spelling of SHOW PLUGINS OF and SHOW … ALGORITHM PLUGINS.",
        examples: &[
            "SHOW IMPLEMENTATIONS OF 'org.apache.shardingsphere.sharding.spi.ShardingAlgorithm'",
            "SHOW SHARDING ALGORITHM IMPLEMENTATIONS",
            "SHOW READ QUERY LOAD BALANCE ALGORITHM PLUGINS",
        ],
        wrong: &[(
            "SHOW ALGORITHM IMPLEMENTATIONS",
            "unexpected `ALGORITHM`, expected `ALL`, `AUTHORITY`, `BROADCAST`, `COMPUTE`, `DATABASE`, `DB_DISCOVERY`, `DEFAULT`, `DIFFERENCES`, `DIST`, `ENCRYPT`, `FULL`, `GLOBAL` or another word at line 1, column 6",
        )],
        build: show_plugins,
    },
];
