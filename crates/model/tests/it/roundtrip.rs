//! Every model that statements can make comes back from YAML and from entries, and answers as before.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{Outcome, around, environment, run};
use pando_config::File;
use pando_distsql::{Category, Statement, entries, parse};
use pando_model::{Conversion, Keeping, Key, Kind, Model, Write, difference};
use proptest::prelude::*;

/// Statements over few names, so that they meet each other.
fn statement() -> impl Strategy<Value = String> {
    let unit = || (0..4u8).prop_map(|n| format!("ds_{n}"));
    let table = || prop::sample::select(vec!["t_a", "t_b", "t_c", "T_A"]);
    let algorithm = || {
        (prop::sample::select(vec!["mod", "hash_mod", "MOD"]), 1..4u8).prop_map(|(kind, n)| {
            format!(r#"TYPE(NAME="{kind}", PROPERTIES("sharding-count"="{n}"))"#)
        })
    };
    let how = || prop::sample::select(vec!["CREATE", "CREATE", "ALTER"]);
    let exists = || prop::sample::select(vec!["", " IF EXISTS"]);
    let password = || {
        prop::sample::select(vec!["hush", "$${PASSWORD}", "a: b # c", "null", " x", "é\u{2028}"])
    };
    prop_oneof![
        4 => (unit(), password(), prop::sample::select(vec!["REGISTER", "ALTER"])).prop_map(|(unit, password, how)| format!(
            "{how} STORAGE UNIT {unit}(HOST='h', PORT=1, DB='{unit}', USER='u', PASSWORD='{password}')"
        )),
        1 => (unit(), exists()).prop_map(|(unit, exists)| format!("UNREGISTER STORAGE UNIT{exists} {unit} IGNORE SINGLE, BROADCAST TABLES")),
        4 => (how(), table(), unit(), unit(), algorithm()).prop_map(|(how, table, a, b, algorithm)| format!(
            "{how} SHARDING TABLE RULE {table}(STORAGE_UNITS({a}, {b}), SHARDING_COLUMN=id, {algorithm}, KEY_GENERATE_STRATEGY(COLUMN=id, TYPE(NAME='uuid')))"
        )),
        2 => (how(), table(), unit()).prop_map(|(how, table, unit)| format!(
            r#"{how} SHARDING TABLE RULE {table}(DATANODES("{unit}.{table}_${{0..1}}"), TABLE_STRATEGY(TYPE="standard", SHARDING_COLUMN=id, SHARDING_ALGORITHM(TYPE(NAME="inline", PROPERTIES("algorithm-expression"="{table}_${{id % 2}}")))), AUDIT_STRATEGY(TYPE(NAME="DML_SHARDING_CONDITIONS")))"#
        )),
        2 => (table(), exists()).prop_map(|(table, exists)| format!("DROP SHARDING TABLE RULE{exists} {table}")),
        2 => (how(), 0..2u8, table(), table()).prop_map(|(how, n, a, b)| format!("{how} SHARDING TABLE REFERENCE RULE ref_{n}({a}, {b})")),
        1 => (0..2u8).prop_map(|n| format!("DROP SHARDING TABLE REFERENCE RULE ref_{n}")),
        1 => (table(), table()).prop_map(|(a, b)| format!("CREATE SHARDING BINDING TABLE RULES ({a}, {b})")),
        1 => Just(r#"CREATE DEFAULT SHARDING TABLE STRATEGY (TYPE="none")"#.to_owned()),
        1 => Just(r#"ALTER DEFAULT SHARDING TABLE STRATEGY (TYPE="standard", SHARDING_COLUMN=id, SHARDING_ALGORITHM(TYPE(NAME="mod", PROPERTIES("sharding-count"="2"))))"#.to_owned()),
        1 => Just("DROP DEFAULT SHARDING TABLE STRATEGY".to_owned()),
        2 => table().prop_map(|table| format!("CREATE BROADCAST TABLE RULE IF NOT EXISTS {table}_dict")),
        1 => table().prop_map(|table| format!("DROP BROADCAST TABLE RULE {table}_dict")),
        2 => (unit(), table()).prop_map(|(unit, table)| format!("LOAD SINGLE TABLE {unit}.{table}_one, *.*")),
        1 => table().prop_map(|table| format!("UNLOAD SINGLE TABLE {table}_one")),
        1 => unit().prop_map(|unit| format!("SET DEFAULT SINGLE TABLE STORAGE UNIT = {unit}")),
        2 => (how(), unit(), unit()).prop_map(|(how, write, read)| format!(
            "{how} READWRITE_SPLITTING RULE rw_{write}(WRITE_STORAGE_UNIT={write}, READ_STORAGE_UNITS({read}), TYPE(NAME='random'))"
        )),
        1 => unit().prop_map(|unit| format!("DROP READWRITE_SPLITTING RULE rw_{unit}")),
        1 => (how(), table()).prop_map(|(how, table)| format!(
            "{how} ENCRYPT RULE {table}(COLUMNS((NAME=a, CIPHER=b, ENCRYPT_ALGORITHM(TYPE(NAME='AES', PROPERTIES('aes-key-value'='k'))))))"
        )),
        1 => (how(), table()).prop_map(|(how, table)| format!("{how} MASK RULE {table}(COLUMNS((NAME=a, TYPE(NAME='MD5'))))")),
        1 => (how(), unit(), unit(), table()).prop_map(|(how, a, b, table)| format!(
            "{how} SHADOW RULE sh_{a}(SOURCE={a}, SHADOW={b}, {table}(TYPE(NAME='SQL_HINT')))"
        )),
        1 => unit().prop_map(|unit| format!("DROP SHADOW RULE sh_{unit}")),
        1 => Just("CREATE DEFAULT SHADOW ALGORITHM IF NOT EXISTS TYPE(NAME='SQL_HINT')".to_owned()),
        1 => Just("SET DIST VARIABLE sql_show = TRUE".to_owned()),
        1 => Just("ALTER SQL_PARSER RULE(PARSE_TREE_CACHE(MAXIMUM_SIZE=20))".to_owned()),
        1 => Just("CREATE SHARDING ALGORITHM `by/hand` (TYPE(NAME='mod', PROPERTIES('sharding-count'='2')))".to_owned()),
    ]
}

/// One question for each subject.
fn questions() -> Vec<Statement> {
    let asked = entries().filter(|entry| entry.category == Category::Rql);
    asked
        .filter(|entry| !entry.name.contains("DISCOVERY"))
        .flat_map(|entry| entry.examples)
        .map(|text| parse(text).unwrap())
        .collect()
}

fn answers(model: &Model, questions: &[Statement]) -> Vec<String> {
    let answer = |question: &Statement| match run(model, "shop", question) {
        Ok(Outcome::Shown(rows)) => format!("{rows:?}"),
        Ok(Outcome::Changed(_)) => panic!("a question changed something"),
        Err(refusal) => refusal.to_string(),
    };
    questions.iter().map(answer).collect()
}

fn comes_back(model: &Model) {
    let yaml = model.yaml("shop").unwrap();
    let global = model.global_yaml();
    let files = [
        File { name: "global.yaml", text: &global },
        File { name: "database-shop.yaml", text: &yaml },
    ];
    let again = Model::from_files(&files, &environment).unwrap();
    assert_eq!(again.yaml("shop").unwrap(), yaml);
    assert!(again == *model, "{yaml}");
    let imported = Model::default().import(&yaml, &around()).unwrap().model;
    assert_eq!(imported.yaml("shop").unwrap(), yaml);
    let key = Key::new([3; 32]);
    for (keeping, key) in [(Keeping::Open, None), (Keeping::Sealed(&key), Some(&key))] {
        let entries = model.entries(keeping).unwrap();
        let again = Model::from_entries(&entries, key).unwrap();
        assert_eq!(again.yaml("shop").unwrap(), yaml);
        assert!(again == *model);
    }
}

/// The statements that a document is converted to lead to the same document.
fn is_converted(model: &Model) {
    let yaml = model.yaml("shop").unwrap();
    let conversion = Conversion::of(&yaml, &around()).unwrap_or_else(|e| panic!("{e}\n{yaml}"));
    assert!(conversion.unsaid.is_empty(), "{conversion}\n{yaml}");
    assert_eq!(conversion.statements[..2], ["CREATE DATABASE shop", "USE shop"]);
    let mut made = Model::default().create_database("shop").unwrap().model;
    for text in &conversion.statements[2..] {
        match run(&made, "shop", &parse(text).unwrap()) {
            Ok(Outcome::Changed(change)) => made = change.model,
            Ok(Outcome::Shown(_)) => panic!("{text}"),
            Err(refusal) => panic!("{text}: {refusal}\n{conversion}\n{yaml}"),
        }
    }
    assert_eq!(made.yaml("shop").unwrap(), yaml, "{conversion}");
}

static CHANGES: AtomicUsize = AtomicUsize::new(0);

/// Found by the ones below: a table of two rules had them in the order in which they came.
#[test]
fn a_table_of_two_shadow_rules_has_them_in_one_order() {
    let mut model = Model::default().create_database("shop").unwrap().model;
    for text in [
        "REGISTER STORAGE UNIT ds_0(URL='jdbc:mysql://h/a', USER='u'), ds_1(URL='jdbc:mysql://h/b', USER='u')",
        "CREATE SHADOW RULE b(SOURCE=ds_1, SHADOW=ds_0, t(TYPE(NAME='SQL_HINT')))",
        "CREATE SHADOW RULE a(SOURCE=ds_0, SHADOW=ds_0, t(TYPE(NAME='SQL_HINT')))",
    ] {
        match run(&model, "shop", &parse(text).unwrap()) {
            Ok(Outcome::Changed(change)) => model = change.model,
            Ok(Outcome::Shown(_)) => panic!("{text}"),
            Err(refusal) => panic!("{text}: {refusal}"),
        }
    }
    comes_back(&model);
    is_converted(&model);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    fn models_come_back_from_yaml_and_from_entries(texts in prop::collection::vec(statement(), 1..24)) {
        let mut model = Model::default().create_database("shop").unwrap().model;
        let units = "REGISTER STORAGE UNIT ds_1(URL='jdbc:mysql://h/a', USER=u), ds_0(URL='jdbc:mysql://u:hush@h/b', USER=u)";
        if let Ok(Outcome::Changed(change)) = run(&model, "shop", &parse(units).unwrap()) {
            model = change.model;
        }
        let mut changes = 0;
        let mut stored = model.entries(Keeping::Open).unwrap();
        for text in texts {
            let before = model.clone();
            match run(&model, "shop", &parse(&text).unwrap()) {
                Ok(Outcome::Changed(change)) => {
                    model = change.model;
                    changes += 1;
                }
                Ok(Outcome::Shown(_)) => prop_assert!(false, "{text} changed nothing"),
                Err(refusal) => {
                    prop_assert!(refusal.kind != Kind::InvalidDocument, "{text}: {refusal}");
                    prop_assert!(!refusal.message.contains("hush"), "{text}: {refusal}");
                    continue;
                }
            }
            comes_back(&model);
            let new = model.entries(Keeping::Open).unwrap();
            for write in difference(&stored, &new) {
                match write {
                    Write::Put { path, value } => drop(stored.insert(path, value)),
                    Write::Delete { path } => drop(stored.remove(&path)),
                }
            }
            prop_assert_eq!(&stored, &new);
            prop_assert_eq!(before == model, before.entries(Keeping::Open) == model.entries(Keeping::Open));
        }
        CHANGES.fetch_add(changes, Ordering::Relaxed);
        is_converted(&model);
        let again = Model::from_entries(&stored, None).unwrap();
        let questions = questions();
        prop_assert_eq!(answers(&again, &questions), answers(&model, &questions));
    }
}

#[test]
fn every_model_comes_back_and_answers_as_before() {
    models_come_back_from_yaml_and_from_entries();
    let changes = CHANGES.load(Ordering::Relaxed);
    assert!(changes > 120, "only {changes} statements were carried out, too few to say anything");
}
