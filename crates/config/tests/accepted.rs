//! Files of every generation of ShardingSphere that must load, and what they must mean.

use std::path::PathBuf;
use std::time::Duration;

use pando_config::global::{Level, Mode, Privilege, Protocol, TransactionType};
use pando_config::rules::{StrategyKind, TransactionalRead};
use pando_config::{Configuration, Errors, File, Tls, load_with, parse_folder, parse_one};

fn load(name: &str) -> Result<Configuration, Errors> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/accepted").join(name);
    load_with(&path, &|_| None)
}

#[test]
fn the_benchmarks_read_write_splitting_loads_in_both_forms() {
    for (name, database) in
        [("proxy-readwrite", "readwrite_splitting_db"), ("jdbc/readwrite.yaml", "logic_db")]
    {
        let configuration = load(name).expect(name);
        let [only] = configuration.databases.as_slice() else { panic!("one database: {name}") };
        assert_eq!(only.name.value, database);
        let names: Vec<&str> = only.storage_units.iter().map(|unit| unit.name.as_str()).collect();
        assert_eq!(names, ["write_ds", "read_ds_0", "read_ds_1"]);
        for unit in &only.storage_units {
            assert_eq!(unit.username, "root");
            assert_eq!(unit.password, None);
            assert_eq!(unit.connection.tls, Tls::Disabled);
            assert_eq!((unit.pool.min, unit.pool.max), (1, 50));
            assert_eq!(unit.pool.max_lifetime, Some(Duration::from_secs(1800)));
            assert_eq!(unit.url.database, format!("demo_{}", unit.name.value));
        }
        let readwrite = only.rules.readwrite.as_ref().expect("a rule");
        let group = readwrite.groups.get("pr_ds").expect("a group");
        assert_eq!(group.write.value, "write_ds");
        let read: Vec<&str> = group.read.iter().map(|name| name.as_str()).collect();
        assert_eq!(read, ["read_ds_0", "read_ds_1"]);
        assert_eq!(group.transactional_read, TransactionalRead::Primary);
    }
}

#[test]
fn the_benchmarks_sharding_loads_behind_the_proxy() {
    let configuration = load("proxy-sharding").expect("proxy-sharding");
    let sharding = configuration.databases[0].rules.sharding.as_ref().expect("a rule");
    assert_eq!(sharding.tables.names().collect::<Vec<_>>(), ["t_order", "t_order_item"]);
    let table = sharding.tables.get("t_order").expect("a table");
    assert_eq!(
        table.actual_data_nodes.as_ref().map(|nodes| nodes.as_str()),
        Some("ds_${0..1}.t_order_${0..1}")
    );
    assert_eq!(sharding.binding_tables[0].tables, ["t_order", "t_order_item"]);
    let strategy = sharding.default_table_strategy.as_ref().expect("a default");
    assert_eq!(strategy.kind, StrategyKind::None);
    let snowflake = sharding.key_generators.get("snowflake").expect("a generator");
    assert_eq!(snowflake.props.get("worker-id").map(|id| id.as_str()), Some("123"));
    assert!(configuration.warnings.is_empty());
}

#[test]
fn the_benchmarks_sharding_loads_inside_the_application() {
    let configuration = load("jdbc/sharding.yaml").expect("jdbc/sharding.yaml");
    let rules = &configuration.databases[0].rules;
    let broadcast = rules.broadcast.as_ref().expect("moved out of the sharding rule");
    assert_eq!(broadcast.tables[0].value, "t_address");
    let warnings: Vec<String> =
        configuration.warnings.iter().map(|warning| warning.at.to_string()).collect();
    assert_eq!(
        warnings,
        [
            "sharding.yaml:4:3: mode.repository",
            "sharding.yaml:38:7: rules[0].!SHARDING.broadcastTables[0]"
        ]
    );
}

#[test]
fn the_global_sections_of_today_load() {
    let configuration = load("current").expect("current");
    let global = &configuration.global;
    assert!(
        matches!(&global.mode, Mode::Cluster(repository) if repository.kind.value == "ZooKeeper")
    );
    let users = &global.authority.users;
    assert_eq!((users[0].name.as_str(), users[0].password.reveal()), ("root", "root"));
    assert_eq!((users[1].host.as_str(), users[1].password.reveal()), ("10.0.0.1", "123456"));
    assert!(users[0].admin && !users[1].admin);
    let Privilege::DatabasePermitted(permissions) = &global.authority.privilege else {
        panic!("{:?}", global.authority.privilege)
    };
    assert_eq!((permissions[0].database.as_str(), permissions[1].user.as_str()), ("*", "app"));
    assert_eq!(global.transaction.default_type, TransactionType::Xa);
    assert!(global.sql_federation.enabled && global.global_clock.enabled);
    assert_eq!(global.props.default_port, 3308);
    let protocol = global.props.frontend_protocol.as_ref().map(|protocol| protocol.value);
    assert_eq!(protocol, Some(Protocol::Postgres));
    assert_eq!(global.props.frontend_ssl_versions, ["TLSv1.3"]);
    assert_eq!(configuration.warnings.len(), 3, "{:?}", configuration.warnings);
}

#[test]
fn the_sections_of_a_database_of_today_load() {
    let configuration = load("current").expect("current");
    let [shop] = configuration.databases.as_slice() else { panic!("one database") };
    let [first, second] = shop.storage_units.as_slice() else { panic!("two units") };
    assert_eq!((first.url.host.as_str(), first.connection.tls), ("::1", Tls::VerifyIdentity));
    assert_eq!(first.connection.other, [("tcpKeepAlive".to_owned(), "true".to_owned())]);
    assert_eq!((first.pool.min, first.pool.max, first.pool.idle_timeout), (0, 8, None));
    assert_eq!(second.username, "shop");
    assert_eq!(second.password.as_ref().map(|password| password.reveal()), Some("secret"));
    assert!(!format!("{second:?}").contains("Secret(secret"));

    let sharding = shop.rules.sharding.as_ref().expect("a rule");
    let key = sharding.tables.get("t_order").and_then(|table| table.key_generate.as_ref());
    assert_eq!(key.map(|key| key.column.as_str()), Some("order_id"));
    assert_eq!(sharding.key_sequences.len(), 1);
    assert_eq!(sharding.binding_tables[0].name.as_deref(), Some("ref_a"));
    let single = shop.rules.single.as_ref().expect("a rule");
    assert_eq!(single.tables.len(), 3);
    assert!(shop.rules.encrypt.is_some() && shop.rules.mask.is_some());
    let shadow = shop.rules.shadow.as_ref().expect("a rule");
    assert_eq!(shadow.at.line(), 71);
}

#[test]
fn files_of_older_releases_load_with_warnings() {
    let configuration = load("older").expect("older");
    let users = &configuration.global.authority.users;
    assert_eq!(users[1].name, "sharding");
    assert_eq!((users[1].host.as_str(), users[1].password.reveal()), ("%", "sharding:1"));
    assert_eq!(configuration.global.transaction.default_type, TransactionType::Base);
    let [split] = configuration.databases.as_slice() else { panic!("one database") };
    let groups = &split.rules.readwrite.as_ref().expect("a rule").groups;
    assert_eq!(groups.get("by_props").map(|group| group.read.len()), Some(2));
    assert_eq!(groups.get("by_strategy").map(|group| group.write.as_str()), Some("w"));
    let warnings: Vec<&str> =
        configuration.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(
        warnings,
        [
            "`sqlCommentParseEnabled` has no effect: hints in comments are always read",
            "`sqlStatementCache` has no effect: Pando has no cache of parsed statements",
            "`check-duplicate-table-enabled` has no effect: it was removed in ShardingSphere",
            "the file holds no configuration",
        ]
    );
}

#[test]
fn groups_of_one_expression_are_as_many_as_its_names() {
    let text = "databaseName: shop
rules:
- !READWRITE_SPLITTING
  dataSourceGroups:
    rw_${0..1}: {writeDataSourceName: \"w_${0..1}\", readDataSourceNames: [\"r_${0..1}_a\", \"<LITERAL>x,y\"]}
    \"<LITERAL>solo\": {writeDataSourceName: w, readDataSourceNames: [\"$->{'r'}\"]}
";
    let file = File { name: "database-shop.yaml", text };
    let parsed = parse_one(file, &|_: &str| None).expect("a database");
    let [database] = parsed.databases.as_slice() else { panic!("one database") };
    let groups = &database.rules.readwrite.as_ref().expect("a rule").groups;
    let found: Vec<String> = groups
        .iter()
        .map(|(name, group)| {
            let reads: Vec<&str> = group.read.iter().map(|read| read.as_str()).collect();
            format!("{} {} {}", name.value, group.write.value, reads.join(","))
        })
        .collect();
    assert_eq!(found, ["rw_0 w_0 r_0_a,x", "rw_1 w_1 r_1_a,y", "solo w r"]);
}

#[test]
fn absent_sections_have_the_defaults_of_shardingsphere() {
    let global = load("proxy-sharding").expect("proxy-sharding").global;
    let root = &global.authority.users[0];
    assert_eq!((root.name.as_str(), root.password.reveal(), root.admin), ("root", "root", true));
    assert_eq!(global.mode, Mode::Standalone(None));
    assert_eq!(global.props.default_port, 3307);
    assert_eq!(global.transaction.default_type, TransactionType::Local);
}

#[test]
fn what_is_required_of_users_is_read_and_a_certificate_that_is_the_proof_names_its_user() {
    let text = "authority:\n  users:\n    - {user: a}\n    - {user: b, require: ssl}\n    - {user: c, requireIssuer: /CN=ca}\n    \
                - {user: d, authenticationMethodName: m}\n    - {user: e, authenticationMethodName: m, requireSubject: /CN=x}\n    \
                - {user: f, require: VERIFY_FULL, requireSubject: /CN=x}\n  authenticators: {m: {type: certificate}}\n";
    let files = [File { name: "global.yaml", text }];
    let authority = parse_folder(&files, &|_| None).expect("valid").global.authority;
    let required: Vec<Level> =
        authority.users.iter().map(|user| authority.required(user).level).collect();
    use Level::{Certificate, NamedCertificate, Nothing, Tls};
    assert_eq!(
        required,
        [Nothing, Tls, Certificate, NamedCertificate, Certificate, NamedCertificate]
    );
    let issuer = authority.users[2].require.issuer.as_ref();
    assert_eq!(issuer.map(|issuer| issuer.value.as_str()), Some("/CN=ca"));
}

/// The properties of which a file with this text is told that they have no effect.
fn idle(props: &str) -> Vec<String> {
    let files = [File { name: "global.yaml", text: &format!("props:\n{props}") }];
    let configuration = match parse_folder(&files, &|_| None) {
        Ok(configuration) => configuration,
        Err(errors) => return vec![errors.to_string()],
    };
    let told = configuration.warnings.iter().filter(|told| told.message.contains("no effect"));
    told.map(|told| told.at.to_string().rsplit('.').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn properties_without_effect_are_told_once_each() {
    let given = "  sql-simple: true
  executor-size: 8
  max-union-size-per-datasource: 10
  check-table-metadata-enabled: true
  load-table-metadata-batch-size: 1000
  proxy-frontend-flush-threshold: 128
  proxy-backend-query-fetch-size: 100
  cdc-server-port: 33071
  agent-plugins-enabled: true
  persist-schemas-to-repository-enabled: true
  groovy-inline-expression-parsing-cache-max-size: 1000
  proxy-meta-data-collector-enabled: true
  proxy-meta-data-collector-cron: 0 0/1 * * * ?
  system-schema-metadata-assembly-enabled: false
  instance-connection-enabled: true
";
    let keys: Vec<&str> =
        given.lines().map(|line| line.trim().split(':').next().unwrap_or_default()).collect();
    let told = idle(given);
    assert_eq!(told, keys);
    let anyway = "  sql-show: true
  sql-simple: false
  kernel-executor-size: 0
  check-table-metadata-enabled: false
  proxy-backend-query-fetch-size: -1
  agent-plugins-enabled: false
  proxy-frontend-executor-size: 2
  proxy-frontend-ssl-cipher: TLS_AES_128_GCM_SHA256
  cdc-server-port:
";
    assert!(idle(anyway).is_empty(), "{:?}", idle(anyway));
}
