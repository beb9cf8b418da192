//! What lands where in a command. The printed text cannot tell: a printer and a builder may be wrong in the same way.
#![allow(
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests may panic like tests"
)]

use pando_distsql::command::{
    Address, Algorithm, AlgorithmUse, Change, Definition, Ignored, KeyOf, Layout, Members,
    Metadata, Missing, Name, Ral, Rdl, Removal, Rql, Scope, State, Strategy, Subject, Value,
};
use pando_distsql::{Command, parse};

fn command(text: &str) -> Command {
    parse(text).unwrap_or_else(|error| panic!("{text}\n{error}")).command
}

fn definition(text: &str) -> Definition {
    match command(text) {
        Command::Rdl(Rdl::Define { definition, .. }) => definition,
        other => panic!("{other:?}"),
    }
}

fn name(text: &str) -> Name {
    Name::new(text)
}

fn plain(kind: &str) -> Algorithm {
    Algorithm { kind: name(kind), properties: Vec::new() }
}

#[test]
fn a_storage_unit_has_its_parts_in_place() {
    let text = "REGISTER STORAGE UNIT IF NOT EXISTS `ds-0`(HOST='h', PORT=3307, DB='d', USER='u', PASSWORD='p', PROPERTIES('a'=1, 'b'=true)), ds_1(URL='x', USER=y), CHECK_PRIVILEGES=SELECT, XA";
    let Command::Rdl(Rdl::Define { change, definition }) = command(text) else { panic!() };
    assert_eq!(change, Change::CreateIfNotExists);
    let Definition::StorageUnits { units, privileges } = definition else { panic!() };
    assert_eq!(privileges, [name("SELECT"), name("XA")]);
    let [first, second] = &units[..] else { panic!("{units:?}") };
    assert_eq!(first.name, name("ds-0"));
    assert_eq!(first.name.place.0.of(text), "`ds-0`");
    let (host, database) = ("h".to_owned(), "d".to_owned());
    assert_eq!(first.address, Address::Parts { host, port: 3307, database });
    assert_eq!(first.user, "u");
    assert_eq!(first.password.as_ref().map(|secret| secret.reveal()), Some("p"));
    let properties: Vec<(&str, &str)> =
        first.properties.iter().map(|p| (p.key.as_str(), p.value.as_str())).collect();
    assert_eq!(properties, [("a", "1"), ("b", "true")]);
    assert_eq!((&second.address, &second.password), (&Address::Url("x".to_owned()), &None));
}

#[test]
fn a_removal_knows_what_it_ignores() {
    for (clause, ignored) in [
        ("", Ignored::None),
        ("IGNORE SINGLE TABLES", Ignored::Single),
        ("IGNORE BROADCAST TABLES", Ignored::Broadcast),
        ("IGNORE BROADCAST, SINGLE TABLES", Ignored::Both),
    ] {
        let removal = Removal::StorageUnits { units: vec![name("a")], ignored };
        let expected = Command::Rdl(Rdl::Drop { missing: Missing::Passes, removal });
        assert_eq!(command(&format!("UNREGISTER STORAGE UNIT IF EXISTS a {clause}")), expected);
    }
}

#[test]
fn strategies_of_unit_and_table_are_not_mixed_up() {
    let text = "CREATE SHARDING TABLE RULE t(DATANODES('n0', 'n1'), DATABASE_STRATEGY(TYPE=complex, SHARDING_COLUMNS=a, b, SHARDING_ALGORITHM=x), TABLE_STRATEGY(TYPE=hint, SHARDING_ALGORITHM(TYPE(NAME=y))), KEY_GENERATE_STRATEGY(COLUMN=k, TYPE(NAME=z)), AUDIT_STRATEGY(TYPE(NAME=q), ALLOW_HINT_DISABLE=false))";
    let Definition::ShardingTables(rules) = definition(text) else { panic!() };
    let database = Strategy::Complex {
        columns: vec![name("a"), name("b")],
        algorithm: AlgorithmUse::Named(name("x")),
    };
    let table = Strategy::Hint { algorithm: AlgorithmUse::Inline(plain("y")) };
    let layout = Layout::Standard {
        data_nodes: vec![name("n0"), name("n1")],
        database: Some(database),
        table: Some(table),
    };
    assert_eq!(rules[0].layout, layout);
    let key = rules[0].key.as_ref().expect("a key strategy");
    assert_eq!((&key.column, &key.generator), (&name("k"), &AlgorithmUse::Inline(plain("z"))));
    let audit = rules[0].audit.as_ref().expect("an audit strategy");
    assert_eq!((audit.auditors.as_slice(), audit.allow_hint_disable), (&[plain("q")][..], false));

    let text = "CREATE DEFAULT SHARDING DATABASE STRATEGY (TYPE=none)";
    assert_eq!(definition(text), Definition::DefaultStrategy(Scope::Database, Strategy::None));
}

#[test]
fn a_key_generate_strategy_fills_a_column_or_a_sequence() {
    let text = "CREATE SHARDING KEY GENERATE STRATEGY s(TABLE=t, COLUMN=c, GENERATOR=g)";
    let Definition::KeyGenerateStrategy(rule) = definition(text) else { panic!() };
    assert_eq!(rule.of, KeyOf::Column { table: name("t"), column: name("c") });
    assert_eq!((rule.name, rule.generator), (name("s"), AlgorithmUse::Named(name("g"))));
}

#[test]
fn columns_of_an_encrypt_rule_are_not_mixed_up() {
    let text = "CREATE ENCRYPT RULE t(COLUMNS((NAME=n, PLAIN=p, CIPHER=c, ASSISTED_QUERY=a, LIKE_QUERY_COLUMN=l, ENCRYPT_ALGORITHM(TYPE(NAME=e)), ASSISTED_QUERY_ALGORITHM(TYPE(NAME=ae)), LIKE_QUERY_ALGORITHM(TYPE(NAME=le)))), QUERY_WITH_CIPHER_COLUMN=false)";
    let Definition::Encrypt(rules) = definition(text) else { panic!() };
    assert_eq!(rules[0].query_with_cipher, Some(false));
    let column = &rules[0].columns[0];
    let columns = [Some(&column.name), column.plain.as_ref(), Some(&column.cipher)];
    assert_eq!(columns, [Some(&name("n")), Some(&name("p")), Some(&name("c"))]);
    let columns = [column.assisted.as_ref(), column.like.as_ref()];
    assert_eq!(columns, [Some(&name("a")), Some(&name("l"))]);
    assert_eq!(column.encryptor, plain("e"));
    assert_eq!(column.assisted_encryptor, Some(plain("ae")));
    assert_eq!(column.like_encryptor, Some(plain("le")));
}

#[test]
fn groups_and_shadows_know_who_is_who() {
    let text = "CREATE READWRITE_SPLITTING RULE g(WRITE_STORAGE_UNIT=w, READ_STORAGE_UNITS(r0, r1), TRANSACTIONAL_READ_QUERY_STRATEGY='FIXED', TYPE(NAME=random))";
    let Definition::ReadwriteSplitting(rules) = definition(text) else { panic!() };
    let reads = vec![name("r0"), name("r1")];
    assert_eq!(rules[0].members, Members::Static { write: name("w"), reads });
    assert_eq!(rules[0].transactional_reads, Some(name("FIXED")));
    assert_eq!(rules[0].balancer, Some(plain("random")));

    let text = "CREATE SHADOW RULE r(SOURCE=live, SHADOW=dark, t(TYPE(NAME=a), TYPE(NAME=b)))";
    let Definition::Shadow(rules) = definition(text) else { panic!() };
    assert_eq!((&rules[0].source, &rules[0].shadow), (&name("live"), &name("dark")));
    assert_eq!(rules[0].tables[0].algorithms, [plain("a"), plain("b")]);
}

#[test]
fn single_tables_know_unit_schema_and_table() {
    let text = "LOAD SINGLE TABLE u.t, u.s.t, u.*, u.s.*, *.*, *.*.*";
    let Command::Rdl(Rdl::LoadSingleTables(tables)) = command(text) else { panic!() };
    let texts = |name: &Option<Name>| name.as_ref().map(|name| name.text.clone());
    let found: Vec<_> = tables
        .iter()
        .map(|t| (texts(&t.unit), t.schema.as_ref().map(texts), texts(&t.table)))
        .collect();
    let some = |text: &str| Some(text.to_owned());
    let expected = [
        (some("u"), None, some("t")),
        (some("u"), Some(some("s")), some("t")),
        (some("u"), None, None),
        (some("u"), Some(some("s")), None),
        (None, None, None),
        (None, Some(None), None),
    ];
    assert_eq!(found, expected);
}

#[test]
fn questions_know_database_and_pattern() {
    let text = "SHOW UNLOADED SINGLE TABLES FROM d STORAGE UNIT u SCHEMA s";
    let subject = Subject::UnloadedSingleTables { unit: Some(name("u")), schema: Some(name("s")) };
    let expected = Rql { subject, database: Some(name("d")), like: None };
    assert_eq!(command(text), Command::Rql(expected));

    let subject = Subject::StorageUnits(Some(3));
    let like = Some("a%".to_owned());
    let expected = Rql { subject, database: Some(name("d")), like };
    let text = "SHOW STORAGE UNITS FROM d LIKE 'a%' WHERE USAGE_COUNT = 3";
    assert_eq!(command(text), Command::Rql(expected));
}

#[test]
fn variables_have_typed_values() {
    for (text, expected) in [
        ("XA", Value::Text("XA".to_owned())),
        ("'1'", Value::Text("1".to_owned())),
        ("1", Value::Number("1".to_owned())),
        ("-1", Value::Number("-1".to_owned())),
        ("1.2.3", Value::Text("1.2.3".to_owned())),
        ("10ms", Value::Text("10ms".to_owned())),
        ("False", Value::Boolean(false)),
        ("'true'", Value::Text("true".to_owned())),
    ] {
        let Command::Ral(Ral::SetVariable { value, .. }) =
            command(&format!("SET DIST VARIABLE x = {text}"))
        else {
            panic!()
        };
        assert_eq!(value, expected, "{text}");
    }
}

#[test]
fn administration_knows_what_it_is_about() {
    let text = "REFRESH TABLE METADATA t FROM STORAGE UNIT u SCHEMA s";
    let (table, unit, schema) = (Some(name("t")), Some(name("u")), Some(name("s")));
    let expected = Ral::Metadata(Metadata::RefreshTable { table, unit, schema });
    assert_eq!(command(text), Command::Ral(expected));

    let text = "ALTER READWRITE_SPLITTING RULE g DISABLE u FROM d";
    let Command::Ral(Ral::SetReadUnitState { unit, state }) = command(text) else { panic!() };
    assert_eq!(
        (unit.group, unit.unit, unit.database),
        (Some(name("g")), name("u"), Some(name("d")))
    );
    assert_eq!(state, State::Disabled);

    let text = "ALTER SQL_PARSER RULE(SQL_STATEMENT_CACHE(MAXIMUM_SIZE=2), PARSE_TREE_CACHE(INITIAL_CAPACITY=1))";
    let Command::Ral(Ral::AlterParserRule(rule)) = command(text) else { panic!() };
    let trees = rule.parse_trees.expect("the trees' cache");
    let statements = rule.statements.expect("the statements' cache");
    assert_eq!((trees.initial, trees.maximum), (Some(1), None));
    assert_eq!((statements.initial, statements.maximum), (None, Some(2)));
}
