//! Documents as people have them: every historic form is the same model.

use crate::common::{Outcome, around, environment, rooms, run};
use pando_config::File;
use pando_distsql::parse;
use pando_model::{Around, Difference, Kind, Model};

fn import(text: &str) -> Model {
    Model::default().import(text, &around()).unwrap_or_else(|refusal| panic!("{refusal}")).model
}

const UNITS: &str = "
databaseName: shop
dataSources:
  ds_0: {url: 'jdbc:mysql://10.0.0.1:3306/shop_0', username: root, password: root, maxPoolSize: 50}
  ds_1: {url: 'jdbc:mysql://10.0.0.1:3306/shop_1', username: root, password: root}
";

#[test]
fn an_export_of_shardingsphere_imports() {
    let text = format!(
        "{UNITS}rules:
- !SHARDING
  tables:
    t_order:
      actualDataNodes: ds_${{0..1}}.t_order_${{0..3}}
      logicTable: t_order
      databaseStrategy: {{standard: {{shardingColumn: user_id, shardingAlgorithmName: db_inline}}}}
      tableStrategy: {{standard: {{shardingColumn: order_id, shardingAlgorithmName: tb_inline}}}}
      keyGenerateStrategy: {{column: order_id, keyGeneratorName: snow}}
      auditStrategy: {{auditorNames: [need_key], allowHintDisable: true}}
    t_order_item:
      actualDataNodes: ds_${{0..1}}.t_order_item_${{0..3}}
      databaseStrategy: {{standard: {{shardingColumn: user_id, shardingAlgorithmName: db_inline}}}}
      tableStrategy: {{standard: {{shardingAlgorithmName: item_inline}}}}
  autoTables:
    t_log: {{actualDataSources: 'ds_${{0..1}}', shardingStrategy: {{standard: {{shardingColumn: id, shardingAlgorithmName: h4}}}}}}
  bindingTables: ['ref_a:t_order,t_order_item']
  defaultShardingColumn: order_id
  shardingAlgorithms:
    db_inline: {{type: INLINE, props: {{algorithm-expression: 'ds_${{user_id % 2}}'}}}}
    tb_inline: {{type: INLINE, props: {{algorithm-expression: 't_order_${{order_id % 4}}'}}}}
    item_inline: {{type: INLINE, props: {{algorithm-expression: 't_order_item_${{order_id % 4}}'}}}}
    h4: {{type: HASH_MOD, props: {{sharding-count: 4}}}}
  keyGenerators: {{snow: {{type: SNOWFLAKE, props: {{max-vibration-offset: 3}}}}}}
  auditors: {{need_key: {{type: DML_SHARDING_CONDITIONS}}}}
- !BROADCAST
  tables: [t_dict, t_address]
- !SINGLE
  tables: ['ds_0.t_conf', 'ds_1.public.t_x']
  defaultDataSource: ds_0
- !ENCRYPT
  tables:
    t_user: {{columns: {{phone: {{cipher: {{name: phone_cipher, encryptorName: aes}}, assistedQuery: {{name: phone_hash, encryptorName: md5}}}}}}}}
  encryptors:
    aes: {{type: AES, props: {{aes-key-value: k123, digest-algorithm-name: SHA-1}}}}
    md5: {{type: MD5, props: {{salt: s}}}}
- !MASK
  tables: {{t_user: {{columns: {{phone: {{maskAlgorithm: m}}}}}}}}
  maskAlgorithms: {{m: {{type: KEEP_FIRST_N_LAST_M, props: {{first-n: 3, last-m: 4, replace-char: '*'}}}}}}
- !SHADOW
  dataSources: {{sd: {{productionDataSourceName: ds_0, shadowDataSourceName: ds_1}}}}
  tables: {{t_order: {{dataSourceNames: [sd], shadowAlgorithmNames: [ins, hint]}}}}
  defaultShadowAlgorithmName: hint
  shadowAlgorithms:
    ins: {{type: VALUE_MATCH, props: {{operation: insert, column: is_test, value: '1'}}}}
    hint: {{type: SQL_HINT}}
"
    );
    let model = import(&text);
    assert_eq!(import(&model.yaml("shop").unwrap()), model);
    let Ok(Outcome::Shown(rows)) =
        run(&model, "SHOP", &parse("SHOW SHARDING TABLE NODES t_log").unwrap())
    else {
        panic!("the nodes of a table are rows")
    };
    assert_eq!(
        rows.rows[0][1].as_deref(),
        Some("ds_0.t_log_0, ds_1.t_log_1, ds_0.t_log_2, ds_1.t_log_3")
    );
}

#[test]
fn historic_forms_are_the_same_model() {
    let same = |old: &str, new: &str| {
        assert_eq!(import(&format!("{UNITS}{old}")), import(&format!("{UNITS}{new}")), "{old}");
    };
    same(
        "rules:\n- !SHARDING\n  broadcastTables: t_a, t_b\n",
        "rules:\n- !BROADCAST\n  tables: [t_a, t_b]\n",
    );
    let new = "rules:\n- !READWRITE_SPLITTING\n  dataSourceGroups:\n    rw: {writeDataSourceName: ds_0, readDataSourceNames: [ds_1], loadBalancerName: lb}\n  loadBalancers: {lb: {type: RANDOM}}\n";
    for group in [
        "{staticStrategy: {writeDataSourceName: ds_0, readDataSourceNames: ds_1}, loadBalancerName: lb}",
        "{type: Static, props: {write-data-source-name: ds_0, read-data-source-names: ds_1}, loadBalancerName: lb}",
        "{writeDataSourceName: ds_0, readDataSourceNames: 'ds_1', loadBalancerName: lb}",
    ] {
        let old = format!(
            "rules:\n- !READWRITE_SPLITTING\n  dataSources:\n    rw: {group}\n  loadBalancers: {{lb: {{type: RANDOM}}}}\n"
        );
        same(&old, new);
    }
    same("rules:\n- !MASK {}\n- !SHARDING\n  tables: {}\n", "");
}

#[test]
fn the_order_of_storage_units_stays() {
    let model = import(
        "databaseName: s\ndataSources:\n  b: {url: 'jdbc:mysql://h/b'}\n  a: {url: 'jdbc:mysql://h/a'}\n",
    );
    let (read, _) = model.read("s", &environment).unwrap();
    let names: Vec<&str> = read.storage_units.iter().map(|unit| unit.name.as_str()).collect();
    assert_eq!(names, ["b", "a"]);
}

#[test]
fn only_an_empty_database_gives_way_to_an_import() {
    let full = import(UNITS);
    assert_eq!(full.import(UNITS, &around()).unwrap_err().kind, Kind::DatabaseExists);
    let empty = Model::default().create_database("shop").unwrap().model;
    let change = empty.import(UNITS, &around()).unwrap();
    assert_eq!(change.model, full);
    assert_eq!((change.checks.len(), change.tasks.len()), (2, 3));
    assert_eq!(empty.create_database("SHOP").unwrap_err().kind, Kind::DatabaseExists);
    let dropped = full.drop_database("Shop").unwrap();
    assert_eq!((dropped.model, dropped.tasks.len()), (Model::default(), 2));
    assert_eq!(full.drop_database("other").unwrap_err().kind, Kind::UnknownDatabase);
    assert_eq!(full.create_database("").unwrap_err().kind, Kind::InvalidDocument);
    assert_eq!(full.create_database("Information_Schema").unwrap_err().kind, Kind::InvalidDocument);
}

#[test]
fn errors_of_an_import_have_no_password() {
    let refused = |text: &str| Model::default().import(text, &around()).unwrap_err();
    let text = "databaseName: s\ndataSources:\n  a: {url: 'jdbc:mysql://me:hush@h/%zz', username: [hush], password: hush}\n";
    let refusal = refused(text);
    assert_eq!(refusal.kind, Kind::InvalidDocument);
    assert!(
        !refusal.message.contains("hush") && refusal.message.contains("dataSources.a"),
        "{refusal}"
    );
    let refusal = refused("databaseName: s\npassword: \"hush\n");
    assert!(!refusal.message.contains("hush"), "{refusal}");
    assert_eq!(refused("# nothing\n").kind, Kind::InvalidDocument);
}

#[test]
fn a_folder_becomes_a_model_without_its_mode() {
    let global = "mode: {type: Standalone}\nauthority:\n  users: ['root@%:secret', {user: app, password: '$${PASSWORD}'}]\nprops: {sql-show: true}\n";
    let old = "rules:\n- !AUTHORITY\n  users:\n  - root@%:secret\n  - {user: app, password: '$${PASSWORD}'}\nprops:\n  sql-show: true\n";
    let model = |global: &str| {
        let files = [
            File { name: "server.yaml", text: global },
            File { name: "config-shop.yaml", text: UNITS },
        ];
        Model::from_files(&files, &environment).unwrap()
    };
    assert_eq!(model(global), model(old));
    let text = model(global).global_yaml();
    assert!(!text.contains("mode") && text.contains("$${PASSWORD}"), "{text}");
    let (read, _) = model(global).read_global(&environment).unwrap();
    assert_eq!(read.authority.users[1].password.reveal(), "from-the-environment");
}

#[test]
fn a_placeholder_that_cannot_be_filled_is_a_refusal() {
    let text = "REGISTER STORAGE UNIT ds_0(HOST='$${NOWHERE}', PORT=1, DB=a, USER=u)";
    let model = Model::default().create_database("shop").unwrap().model;
    let Err(refusal) = run(&model, "shop", &parse(text).unwrap()) else {
        panic!("it has no value")
    };
    assert!(refusal.message.contains("NOWHERE"), "{refusal}");
    let unset = Around { environment: &|_| None, rooms: &rooms, ..around() };
    let text =
        "databaseName: shop\ndataSources: {a: {url: 'jdbc:mysql://h/x', password: '$${PASSWORD}'}}";
    assert_eq!(Model::default().import(text, &unset).unwrap_err().kind, Kind::InvalidDocument);
}

#[test]
fn a_file_of_the_jdbc_driver_becomes_a_model() {
    let text = format!(
        "{}props: {{sql-show: true}}\nmode: {{type: Standalone}}\n",
        UNITS.replace("databaseName: shop\n", "")
    );
    let file = File { name: "jdbc.yaml", text: &text };
    let model = Model::from_file(file, &environment).unwrap();
    assert_eq!(model.databases().collect::<Vec<_>>(), ["logic_db"]);
    assert_eq!(model.global_yaml(), "props:\n  sql-show: true\n");
    assert_eq!(import(&model.yaml("logic_db").unwrap()).databases().count(), 1);
}

#[test]
fn what_could_not_be_read_again_is_refused() {
    let load = |name: &str| format!("LOAD SINGLE TABLE ds_0.{}", name.repeat(2_100_000));
    let long = format!("CREATE MASK RULE {}(COLUMNS((NAME=a, TYPE(NAME='MD5'))))", "t".repeat(600));
    let mut model = import(UNITS);
    if let Ok(Outcome::Changed(change)) = run(&model, "shop", &parse(&load("x")).unwrap()) {
        model = change.model;
    }
    for text in [long, load("y")] {
        let Err(refusal) = run(&model, "shop", &parse(&text).unwrap()) else { panic!("too large") };
        assert!(refusal.message.starts_with("the configuration would be too large"), "{refusal}");
    }
}

#[test]
fn a_database_is_found_by_its_name_wherever_that_comes_from() {
    let text = UNITS.replace("databaseName: shop", "schemaName: ' $${PASSWORD} '");
    let model = import(&text);
    assert_eq!(model.databases().collect::<Vec<_>>(), ["from-the-environment"]);
    let files = [File { name: "database-x.yaml", text: &text }];
    assert_eq!(Model::from_files(&files, &environment).unwrap(), model);
}

#[test]
fn two_models_are_told_apart_without_their_passwords() {
    let one = import(UNITS).create_database("other").unwrap().model;
    let again = import(UNITS).create_database("other").unwrap().model;
    assert_eq!((again.since(&one), again.checksum()), (Difference::default(), one.checksum()));
    let password = Model::import(
        &Model::default(),
        &UNITS.replace("password: root", "password: x"),
        &around(),
    );
    let password = password.unwrap().model;
    let difference = password.since(&one);
    assert_eq!((difference.changed, difference.gone), (vec!["shop".into()], vec!["other".into()]));
    assert_eq!(password.checksum(), import(UNITS).checksum());
    assert_ne!(password.checksum(), one.checksum());
    let Ok(Outcome::Changed(change)) =
        run(&one, "shop", &parse("SET DIST VARIABLE sql_show = TRUE").unwrap())
    else {
        panic!("a variable is set")
    };
    let difference = change.model.since(&one);
    assert!(difference.global && difference.changed.is_empty());
    assert_ne!(change.model.checksum(), one.checksum());
}

#[test]
fn a_wrong_document_is_told_by_its_place() {
    for (text, place) in [
        ("databaseName: shop\nhush: 1\n", Some((2, 1))),
        ("databaseName: shop\ndataSources:\n  ds_0: {url: \"hush\"}\n", Some((3, 15))),
        ("a: [1, 2\nb", Some((3, 1))),
        ("", None),
        ("databaseName: shop\n", None),
    ] {
        assert_eq!(pando_model::wrong_at(text, &environment), place, "{text}");
    }
}
