//! Everything as one text, and back: our own exports, and those of every ShardingSphere that has the statement.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pando_config::File;
use pando_model::{Check, Kind, Model};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{around, environment};

/// As 5.4 and 5.5 write them: unquoted, without the first word's indent, keys in the order of their classes.
const SHARDED: &str = "databaseName: sharding_db
dataSources:
  ds_0:
    password: hush
    url: jdbc:mysql://127.0.0.1:3306/demo_ds_0?serverTimezone=UTC&useSSL=false
    username: root
    minPoolSize: 1
    connectionTimeoutMilliseconds: 30000
    maxLifetimeMilliseconds: 2100000
    readOnly: false
    idleTimeoutMilliseconds: 60000
    maxPoolSize: 50
  ds_1:
    password:\u{20}
    url: jdbc:mysql://127.0.0.1:3307/demo_ds_1
    username: root
    minPoolSize: 1
    maxPoolSize: 50
rules:
- !SHARDING
  defaultDatabaseStrategy:
    standard:
      shardingAlgorithmName: ds_inline
      shardingColumn: order_id
  defaultTableStrategy:
    none: ''
  keyGenerateStrategies:
    t_order_order_id:
      keyGenerateColumn: order_id
      keyGenerateType: column
      keyGeneratorName: snowflake
      logicTable: t_order
  keyGenerators:
    snowflake:
      type: SNOWFLAKE
  shardingAlgorithms:
    ds_inline:
      props:
        algorithm-expression: ds_${order_id % 2}
      type: INLINE
  tables:
    t_order:
      actualDataNodes: ds_${0..1}.t_order
      logicTable: t_order
- !SINGLE
  tables:
  - '*.*'
";

const RULES: &str = "rules:
- !AUTHORITY
  privilege:
    type: ALL_PERMITTED
  users:
  - admin: true
    authenticationMethodName: ''
    password: root
    user: root@%
- !GLOBAL_CLOCK
  enabled: false
  provider: local
  type: TSO
- !SQL_FEDERATION
  allQueryUseSQLFederation: false
  executionPlanCache:
    initialCapacity: 2000
    maximumSize: 65535
  sqlFederationEnabled: false
- !SQL_PARSER
  parseTreeCache:
    initialCapacity: 128
    maximumSize: 1024
  sqlStatementCache:
    initialCapacity: 2000
    maximumSize: 65535
- !SQL_TRANSLATOR
  useOriginalSQLWhenTranslatingFailed: true
- !TRANSACTION
  defaultType: LOCAL
";

const PROPS: &str = "props:\n  sql-show: true\n  proxy-frontend-flush-threshold: 128\n";

fn export(databases: &[(&str, &str)], rules: &str, props: &str) -> String {
    let databases: serde_json::Map<String, Value> =
        databases.iter().map(|(name, text)| ((*name).to_owned(), json!(text))).collect();
    json!({ "meta_data": { "databases": databases, "props": props, "rules": rules } }).to_string()
}

fn imported(text: &str) -> Model {
    let changes = Model::default().import_metadata(text, &around());
    let changes = changes.unwrap_or_else(|refusal| panic!("{refusal}"));
    changes.last().map_or_else(Model::default, |change| change.model.clone())
}

fn refused(text: &str) -> String {
    let Err(refusal) = Model::default().import_metadata(text, &around()) else { panic!("{text}") };
    assert!(!refusal.message.contains("hush"), "{refusal}");
    assert_eq!(refusal.kind, Kind::InvalidDocument, "{refusal}");
    refusal.message
}

#[test]
fn an_export_of_shardingsphere_5_5_imports() {
    let text = export(&[("sharding_db", SHARDED)], RULES, PROPS);
    let changes = Model::default().import_metadata(&text, &around()).unwrap();
    let model = &changes[1].model;
    assert_eq!(changes[0].database, None);
    assert_eq!(changes[1].database.as_deref(), Some("sharding_db"));
    let connects = |check: &&Check| matches!(check, Check::Connects { .. });
    assert_eq!(changes[1].checks.iter().filter(connects).count(), 2);
    // Of tables that may be there already, rows must be where the rules look.
    assert!(changes[1].checks.len() > 2);
    let (global, _) = model.read_global(&environment).unwrap();
    assert_eq!(global.authority.users[0].name, "root");
    let (read, _) = model.read("sharding_db", &environment).unwrap();
    assert_eq!(read.rules.single.unwrap().tables.len(), 1);
    // What the statement answers to a client is the same in Base64, which clients break into lines.
    let encoded = STANDARD.encode(&text);
    let broken: Vec<String> =
        encoded.as_bytes().chunks(76).map(|line| String::from_utf8_lossy(line).into()).collect();
    assert_eq!(&imported(&broken.join("\r\n")), model);
    assert_eq!(&imported(encoded.trim_end_matches('=')), model);
}

/// 5.4 has the rules that came and went, no `admin` and no database's rules; a snapshot is told beside the metadata.
#[test]
fn an_export_of_shardingsphere_5_4_imports() {
    let rules = "rules:
- !AUTHORITY
  privilege:
    type: ALL_PERMITTED
  users:
  - authenticationMethodName: ''
    password: root
    user: root@%
- !LOGGING
  loggers:
  - loggerName: ShardingSphere-SQL
    additivity: true
    level: INFO
    props:
      enable: false
- !SQL_PARSER
  parseTreeCache:
    initialCapacity: 128
    maximumSize: 1024
  sqlCommentParseEnabled: false
  sqlStatementCache:
    initialCapacity: 2000
    maximumSize: 65535
- !TRAFFIC
  trafficStrategies: {}
";
    let database = "databaseName: empty_rules\ndataSources:\n  ds_0:\n    password: root\n    url: jdbc:postgresql://127.0.0.1:5432/d\n    username: root\nrules:\n";
    let text = format!(
        r#"{{"meta_data":{},"snapshot_info":{{"csn":"100","create_time":"2023-07-05 10:00:00"}}}}"#,
        json!({ "databases": { "empty_rules": database, "bare": "databaseName: bare\n" }, "props": "", "rules": rules })
    );
    let model = imported(&text);
    assert_eq!(model.databases().collect::<Vec<_>>(), ["bare", "empty_rules"]);
    assert!(!model.global_yaml().contains("trafficStrategies"), "{}", model.global_yaml());
    let (global, _) = model.read_global(&environment).unwrap();
    assert!(global.authority.users[0].admin, "it was the administrator");
}

/// EXPORT SCHEMA CONFIG and EXPORT DATABASE CONFIG of 5.0 to 5.3, which are documents of one database.
#[test]
fn exports_of_one_database_from_5_0_on_import() {
    let units = "dataSources:
  ds_0:
    password: root
    connectionTimeoutMilliseconds: 30000
    idleTimeoutMilliseconds: 60000
    maxLifetimeMilliseconds: 1800000
    maxPoolSize: 50
    minPoolSize: 1
    url: jdbc:mysql://127.0.0.1:3306/demo_ds_0
    username: root
  ds_1:
    password: root
    url: jdbc:mysql://127.0.0.1:3306/demo_ds_1
    username: root
";
    let old = "rules:
- !SHARDING
  autoTables:
    t_auto:
      actualDataSources: ds_0,ds_1
      logicTable: t_auto
      shardingStrategy:
        standard:
          shardingAlgorithmName: t_auto_hash_mod
          shardingColumn: id
  bindingTables:
  - t_order,t_item
  broadcastTables:
  - t_dict
  defaultDatabaseStrategy:
    none: ''
  scalingAlgorithms_: {}
  shardingAlgorithms:
    t_auto_hash_mod:
      props:
        sharding-count: '4'
      type: hash_mod
    order_inline:
      props:
        algorithm-expression: t_order_${id % 2}
      type: INLINE
    item_inline:
      props:
        algorithm-expression: t_item_${id % 2}
      type: INLINE
  tables:
    t_order:
      actualDataNodes: ds_0.t_order_${0..1}
      logicTable: t_order
      tableStrategy:
        standard:
          shardingAlgorithmName: order_inline
          shardingColumn: id
    t_item:
      actualDataNodes: ds_0.t_item_${0..1}
      logicTable: t_item
      tableStrategy:
        standard:
          shardingAlgorithmName: item_inline
          shardingColumn: id
"
    .replace("  scalingAlgorithms_: {}\n", "");
    let readwrite = "rules:
- !READWRITE_SPLITTING
  dataSources:
    rw:
      loadBalancerName: random
      staticStrategy:
        readDataSourceNames:
        - ds_1
        writeDataSourceName: ds_0
  loadBalancers:
    random:
      type: RANDOM
";
    for (name, rules) in
        [("schemaName", old.as_str()), ("databaseName", &old), ("databaseName", readwrite)]
    {
        let text = format!("{name}: old_db\n{units}{rules}");
        let change = Model::default().import(&text, &around());
        let model = change.unwrap_or_else(|refusal| panic!("{refusal}\n{text}")).model;
        assert_eq!(imported(&model.metadata()), model);
    }
}

#[test]
fn what_is_exported_comes_back() {
    let files = [
        File {
            name: "global.yaml",
            text: "authority:\n  users:\n  - {user: root@%, password: hush}\nprops: {sql-show: true}\n",
        },
        File { name: "database-a.yaml", text: SHARDED },
        File { name: "database-b.yaml", text: "databaseName: \"b \\\" \\u00e9\"\n" },
    ];
    let model = Model::from_files(&files, &environment).unwrap();
    assert_eq!(imported(&model.metadata()), model);
    assert_eq!(imported(&model.metadata_base64()), model);
    assert_eq!(imported(&Model::default().metadata()), Model::default());
    // Once more is once too often; but what is there under other names stays.
    let again = model.import_metadata(&model.metadata(), &around()).unwrap_err();
    assert_eq!(again.kind, Kind::DatabaseExists);
    let other = Model::default().create_database("other").unwrap().model;
    let changes = other.import_metadata(&model.metadata(), &around()).unwrap();
    assert_eq!(changes.last().unwrap().model.databases().count(), 3);
}

#[test]
fn rules_that_are_not_in_it_stay() {
    let old = "authority:\n  users:\n  - {user: me, password: x}\nprops: {sql-show: true}\n";
    let model =
        Model::from_files(&[File { name: "global.yaml", text: old }], &environment).unwrap();
    let text = export(&[], "rules:\n- !TRANSACTION\n  defaultType: LOCAL\n", "");
    let changes = model.import_metadata(&text, &around()).unwrap();
    let global = changes[0].model.global_yaml();
    assert!(global.contains("user: me") && global.contains("LOCAL") && global.contains("sql-show"));
    assert!(model.import_metadata(&export(&[], "", ""), &around()).unwrap().is_empty());
}

#[test]
fn what_is_no_metadata_is_refused_with_its_place() {
    for (text, why) in [
        ("", "not valid JSON"),
        ("{", "not valid JSON at line 1"),
        ("bm90aGluZw==", "not valid JSON"),
        ("hush!", "neither JSON nor Base64"),
        ("{}", "with `meta_data` in it"),
        (r#"{"meta_data":{"tables":{}}}"#, "`meta_data` has `tables`"),
        (r#"{"meta_data":{"databases":[]}}"#, "an object of texts"),
        (r#"{"meta_data":{"databases":{"a":1}}}"#, "`a` in the metadata is no text"),
        (r#"{"meta_data":{"databases":{"a":"databaseName: b"}}}"#, "calls it `b`"),
        (
            r#"{"meta_data":{"databases":{"a":"dataSources: {x: {url: 'jdbc:mysql://me:hush@h/%zz'}}"}}}"#,
            "database `a`: dataSources.x",
        ),
        (
            r#"{"meta_data":{"databases":{"a":"password: \"hush"}}}"#,
            "database `a`: the document is not valid YAML at line 1",
        ),
        (
            r#"{"meta_data":{"rules":"rules:\n- !SHARDING {tables: {t: {}}}"}}"#,
            "a global rule `SHARDING`",
        ),
        (
            r#"{"meta_data":{"rules":"rules:\n- !TRAFFIC {trafficStrategies: {a: {b: c}}}"}}"#,
            "a global rule `TRAFFIC`",
        ),
        (r#"{"meta_data":{"rules":"mode: {}"}}"#, "a key `mode`"),
        (r#"{"meta_data":{"props":"props: {sql-shwo: true}"}}"#, "sql-shwo"),
    ] {
        let message = refused(text);
        assert!(message.contains(why), "{text}\n{message}");
    }
    let deep = format!("{}1{}", r#"{"meta_data":"#.repeat(100_000), "}".repeat(100_000));
    refused(&deep);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    fn any_text_is_metadata_or_refused(text in "\\PC*|\\{\"meta_data\":\\{\"(databases|rules|props)\":[\\[\\]{}\":a-z!\\-\\n]{0,40}") {
        let _ = Model::default().import_metadata(&text, &around());
    }
}

#[test]
fn no_text_makes_the_import_panic() {
    any_text_is_metadata_or_refused();
}

#[test]
fn storage_nodes_are_the_servers_once_each() {
    let text = SHARDED.replace("127.0.0.1:3307", "127.0.0.1:3306");
    let model = Model::default().import(&text, &around()).unwrap().model;
    let model = model.create_database("empty").unwrap().model;
    let nodes = model.storage_nodes(None, &around()).unwrap();
    let node = json!({ "ip": "127.0.0.1", "port": "3306", "username": "root", "password": "hush", "database": "demo_ds_0" });
    let found: Value = serde_json::from_str(&nodes).unwrap();
    assert_eq!(found, json!({ "storage_nodes": { "sharding_db": [node] } }));
    let of_empty = model.storage_nodes(Some("EMPTY"), &around()).unwrap();
    assert_eq!(of_empty, r#"{"storage_nodes":{"empty":[]}}"#);
    let missing = model.storage_nodes(Some("x"), &around()).unwrap_err();
    assert_eq!(missing.kind, Kind::UnknownDatabase);
}
