//! The model as entries: what stands where, what a change writes, and who can read a password.

use std::collections::BTreeMap;

use crate::common::{Outcome, around, run};
use pando_distsql::parse;
use pando_model::{Keeping, Key, Kind, Model, Write, difference};
use proptest::prelude::*;

const UNITS: &str = "REGISTER STORAGE UNIT ds_1(URL='jdbc:mysql://me:in-url@h/a', USER=u), ds_0(HOST=h, PORT=1, DB=b, USER=u, PASSWORD='hush'), ds_2(HOST=h, PORT=1, DB=c, USER=u, PASSWORD='$${PASSWORD}')";
const TABLES: &str = r#"CREATE SHARDING TABLE RULE t_a(STORAGE_UNITS(ds_0, ds_1), SHARDING_COLUMN=id, TYPE(NAME="mod", PROPERTIES("sharding-count"="2"))), t_b(STORAGE_UNITS(ds_0, ds_1), SHARDING_COLUMN=id, TYPE(NAME="mod", PROPERTIES("sharding-count"="2")))"#;

fn after(statements: &[&str]) -> Model {
    let mut model = Model::default().create_database("a/shop").unwrap().model;
    for text in statements {
        match run(&model, "a/shop", &parse(text).unwrap()) {
            Ok(Outcome::Changed(change)) => model = change.model,
            Ok(Outcome::Shown(_)) => panic!("{text} changes nothing"),
            Err(refusal) => panic!("{text}: {refusal}"),
        }
    }
    model
}

#[test]
fn entries_stand_where_shardingsphere_has_them() {
    let rest = [
        "CREATE SHARDING TABLE REFERENCE RULE ref(t_a, t_b)",
        "CREATE BROADCAST TABLE RULE t_dict",
        "LOAD SINGLE TABLE ds_0.t_one",
        "SET DEFAULT SINGLE TABLE STORAGE UNIT = ds_0",
        "CREATE READWRITE_SPLITTING RULE rw(WRITE_STORAGE_UNIT=ds_2, READ_STORAGE_UNITS(ds_1), TYPE(NAME=random))",
        r#"CREATE DEFAULT SHARDING TABLE STRATEGY (TYPE="none")"#,
        "ALTER TRANSACTION RULE(DEFAULT='LOCAL')",
        "SET DIST VARIABLE sql_show = TRUE",
    ];
    let rest: Vec<&str> = rest.into_iter().filter(|text| !text.contains("READWRITE")).collect();
    let model = after(&[&[UNITS, TABLES][..], &rest].concat());
    let entries = model.entries(Keeping::Open).unwrap();
    let paths: Vec<&str> = entries.keys().map(String::as_str).collect();
    assert_eq!(
        paths,
        [
            "/metadata/a%2Fshop",
            "/metadata/a%2Fshop/data_sources/order",
            "/metadata/a%2Fshop/data_sources/units/ds_0",
            "/metadata/a%2Fshop/data_sources/units/ds_1",
            "/metadata/a%2Fshop/data_sources/units/ds_2",
            "/metadata/a%2Fshop/rules/broadcast/tables",
            "/metadata/a%2Fshop/rules/sharding/auto_tables/t_a",
            "/metadata/a%2Fshop/rules/sharding/auto_tables/t_b",
            "/metadata/a%2Fshop/rules/sharding/binding_tables/ref",
            "/metadata/a%2Fshop/rules/sharding/default_table_strategy",
            "/metadata/a%2Fshop/rules/sharding/sharding_algorithms/t_a_mod",
            "/metadata/a%2Fshop/rules/sharding/sharding_algorithms/t_b_mod",
            "/metadata/a%2Fshop/rules/single/default_data_source",
            "/metadata/a%2Fshop/rules/single/tables",
            "/props",
            "/rules/transaction",
        ]
    );
    let text = |path: &str| std::str::from_utf8(&entries[path]).unwrap();
    assert_eq!(text("/metadata/a%2Fshop/rules/sharding/binding_tables/ref"), "\"t_a,t_b\"\n");
    assert_eq!(text("/metadata/a%2Fshop/data_sources/order"), "- ds_1\n- ds_0\n- ds_2\n");
    assert_eq!(Model::from_entries(&entries, None).unwrap(), model);
}

#[test]
fn a_change_writes_what_it_changes() {
    let entries = |model: &Model| model.entries(Keeping::Sealed(&Key::new([1; 32]))).unwrap();
    let before = after(&[UNITS, TABLES]);
    let alter = r#"ALTER SHARDING TABLE RULE t_a(STORAGE_UNITS(ds_0), SHARDING_COLUMN=id, TYPE(NAME="hash_mod", PROPERTIES("sharding-count"="2")))"#;
    let path = |write: &Write| match write {
        Write::Put { path, .. } => format!("put {}", path.rsplit_once("rules/").unwrap().1),
        Write::Delete { path } => format!("delete {}", path.rsplit_once("rules/").unwrap().1),
    };
    let writes = difference(&entries(&before), &entries(&after(&[UNITS, TABLES, alter])));
    let writes: Vec<String> = writes.iter().map(path).collect();
    assert_eq!(
        writes,
        [
            "delete sharding/sharding_algorithms/t_a_mod",
            "put sharding/auto_tables/t_a",
            "put sharding/sharding_algorithms/t_a_hash_mod",
        ]
    );
    let entries = entries(&before);
    assert!(difference(&entries, &entries).is_empty());
}

#[test]
fn passwords_are_sealed_refused_or_left_to_the_environment() {
    let model = after(&[UNITS]);
    let (key, other) = (Key::new([1; 32]), Key::new([2; 32]));
    let sealed = model.entries(Keeping::Sealed(&key)).unwrap();
    let all: String = sealed.values().map(|value| String::from_utf8_lossy(value)).collect();
    assert!(!all.contains("hush") && !all.contains("in-url"), "{all}");
    assert!(all.contains("$${PASSWORD}"), "a placeholder stays readable: {all}");
    assert_eq!(Model::from_entries(&sealed, Some(&key)).unwrap(), model);
    for key in [None, Some(&other)] {
        assert_eq!(Model::from_entries(&sealed, key).unwrap_err().kind, Kind::ClosedSecret);
    }
    // A sealed password is bound to its unit: nobody can make it another one's.
    let (from, to) = (
        "/metadata/a%2Fshop/data_sources/units/ds_0",
        "/metadata/a%2Fshop/data_sources/units/ds_2",
    );
    let mut moved = sealed.clone();
    moved.insert(to.into(), sealed[from].clone());
    assert_eq!(Model::from_entries(&moved, Some(&key)).unwrap_err().kind, Kind::ClosedSecret);

    let refused = model.entries(Keeping::Placeholders).unwrap_err();
    assert_eq!(refused.kind, Kind::OpenSecret);
    assert!(!refused.message.contains("hush"), "{refused}");
    let placeholders = after(&[
        "REGISTER STORAGE UNIT ds_0(HOST=h, PORT=1, DB=b, USER=u, PASSWORD='$${PASSWORD}')",
    ]);
    assert!(placeholders.entries(Keeping::Placeholders).is_ok());
    let shown = format!("{model:?}");
    assert!(shown.contains("a/shop") && !shown.contains("hush"), "{shown}");
}

#[test]
fn entries_of_no_model_are_refused() {
    let refused = |path: &str, value: &str| {
        let entries = BTreeMap::from([(path.to_owned(), value.as_bytes().to_vec())]);
        Model::from_entries(&entries, None).unwrap_err().kind
    };
    for (path, value) in [
        ("/rules/nothing", "a: b"),
        ("/metadata/shop/data_sources/nodes/x", "a: b"),
        ("/metadata/shop/rules/sharding/tables", "a: b"),
        ("/metadata/shop/rules/broadcast/tables/x", "a"),
        ("/metadata/shop/rules/nothing/tables", "a"),
        ("/metadata/shop%2", ""),
        ("/elsewhere", ""),
        ("/props", "{ a: b"),
        ("/props", "a: b\n---\nc: d"),
    ] {
        assert_eq!(refused(path, value), Kind::InvalidDocument, "{path}");
    }
    let bytes = BTreeMap::from([("/props".to_owned(), vec![0xff, 0xfe])]);
    assert_eq!(Model::from_entries(&bytes, None).unwrap_err().kind, Kind::InvalidDocument);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_entries_make_anything_panic(
        paths in prop::collection::vec("/(metadata|rules|props)(/[a-z_%0-9]{0,6}){0,5}", 0..6),
        fixed in prop::sample::select(vec!["/metadata/s/rules/sharding/tables/t", "/metadata/s/rules/sharding/binding_tables/r", "/metadata/s/data_sources/units/u", "/metadata/s/data_sources/order", "/props"]),
        value in "(!SEALED )?[a-z:\\[\\]{}, \n\"$%-]{0,40}",
    ) {
        let paths = paths.into_iter().chain([fixed.to_owned()]);
        let entries: BTreeMap<String, Vec<u8>> = paths.map(|path| (path, value.clone().into_bytes())).collect();
        let key = Key::new([1; 32]);
        for key in [None, Some(&key)] {
            if let Ok(model) = Model::from_entries(&entries, key) {
                let again = model.entries(Keeping::Sealed(&Key::new([1; 32]))).unwrap();
                prop_assert_eq!(Model::from_entries(&again, Some(&Key::new([1; 32]))).unwrap().entries(Keeping::Open).unwrap(), model.entries(Keeping::Open).unwrap());
            }
        }
    }

    #[test]
    fn no_document_makes_anything_panic(text in "(databaseName: s\n)?(dataSources|rules|users)?[a-zA-Z:!\\[\\]{}, \n\"$%&*-]{0,60}") {
        let _ = Model::default().import(&text, &around());
    }
}
