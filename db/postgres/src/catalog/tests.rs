//! What each kind of text becomes for a unit.

use std::collections::HashMap;
use std::sync::Arc;

use pando_kernel::Kind;
use pando_kernel::dialect::TableColumn;
use pando_kernel::feature::Catalog;
use pando_kernel::oids::{Form, ListedType, Oids, Others};
use pando_kernel::presentation::{Figure, Figures};
use pando_kernel::route::UnitName;

use pando_kernel::presentation::Shown;

use super::*;
use crate::dialect::SYNTAX;

/// Relations with a few of their columns.
#[derive(Debug)]
struct Few;

const COLUMNS: &[(&str, &[(&str, &str)])] = &[
    ("pg_catalog.pg_class", &[("oid", "oid"), ("relname", "name"), ("relkind", "\"char\"")]),
    ("pg_catalog.pg_namespace", &[("oid", "oid"), ("nspname", "name")]),
    ("pg_catalog.pg_type", &[("oid", "oid"), ("typname", "name"), ("typnamespace", "oid")]),
    ("pg_catalog.pg_attribute", &[("attrelid", "oid"), ("attname", "name")]),
    ("pg_catalog.pg_tables", &[("schemaname", "name"), ("tablename", "name")]),
    ("pg_catalog.pg_database", &[("oid", "oid"), ("datname", "name"), ("datdba", "oid")]),
    ("pg_catalog.pg_depend", &[("classid", "oid"), ("objid", "oid")]),
    (
        "information_schema.tables",
        &[
            ("table_catalog", "information_schema.sql_identifier"),
            ("table_schema", "information_schema.sql_identifier"),
            ("table_name", "information_schema.sql_identifier"),
        ],
    ),
];

impl Catalog for Few {
    fn columns(&self, table: &str) -> Option<Arc<Vec<TableColumn>>> {
        let (_, columns) = COLUMNS.iter().find(|(name, _)| *name == table)?;
        let column = |(name, type_name): &(&str, &str)| TableColumn {
            name: (*name).to_owned(),
            kind: Kind::Other,
            type_name: (*type_name).to_owned(),
            collation: String::new(),
            collate: String::new(),
            zone: None,
            primary_key: false,
            auto_increment: false,
            nullable: true,
            invisible: false,
            attribute: Default::default(),
            timed: None,
        };
        Some(Arc::new(columns.iter().map(column).collect()))
    }

    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        None
    }
}

fn shown(actual: &str, logic: &str, hidden: bool) -> Shown {
    Shown { actual: actual.into(), logic: logic.into(), hidden }
}

fn parsed(text: &str) -> Statement {
    pando_sql::parse(text, &SYNTAX).unwrap()
}

/// The text for unit `number`, which shows `t_0` as `t` and hides `t_1`; or `None` for a unit whose tables keep their names.
fn presented(text: &str, tables: &[Shown], number: usize) -> String {
    let facts = Facts { databases: Arc::from(["shop".into(), "Two".into()]), ..Facts::default() };
    let view = View {
        database: "shop",
        facts: &facts,
        number,
        tables,
        columns: &[],
        numbers: None,
        catalog: &Few,
    };
    match Postgres.present(&parsed(text), &view).unwrap() {
        Presented::Edits(edits) => edits.apply(text),
        Presented::Needs(need) => format!("{need:?}"),
    }
}

fn renamed(text: &str) -> String {
    presented(text, &[shown("t_0", "t", false), shown("t_1", "t", true)], 0)
}

#[test]
fn types_have_the_numbers_that_are_shown() {
    let mut numbers = Oids::default();
    let mood = ListedType { number: 17_000, form: Form::Plain, is_of_table: false };
    numbers.show_type(mood, 16_500);
    numbers.show_others(Others { first: 16_384, higher: 1 << 26 });
    let facts = Facts::default();
    let view = View {
        database: "shop",
        facts: &facts,
        number: 1,
        tables: &[],
        columns: &[],
        numbers: Some(&numbers),
        catalog: &Few,
    };
    let check = |text: &str, expected: &str| {
        let Presented::Edits(edits) = Postgres.present(&parsed(text), &view).unwrap() else {
            panic!("{text} needs something")
        };
        assert_eq!(edits.apply(text), expected);
    };
    let own = |what: &str, label: &str| {
        format!(
            "(SELECT CASE WHEN u.n = 16500 THEN 17000 WHEN u.n >= 67125248 THEN u.n - 67108864 ELSE u.n END AS \"{label}\" FROM (SELECT \
             ({what})::pg_catalog.oid::pg_catalog.int8 AS n) u)::pg_catalog.oid"
        )
    };
    let shown = |what: &str| {
        format!(
            "(SELECT CASE WHEN u.n = 17000 THEN 16500 WHEN u.n >= 16384 THEN (u.n + 67108864) % 4294967296 ELSE u.n END AS \"regtype\" FROM (SELECT \
             ({what})::pg_catalog.oid::pg_catalog.int8 AS n) u)::pg_catalog.oid"
        )
    };
    check("SELECT format_type(x, 1)", &format!("SELECT format_type({}, 1)", own("x", "x")));
    check("SELECT 'mood'::regtype", "SELECT 'mood'::regtype");
    check("SELECT 'mood'::regtype::oid", &format!("SELECT {}::oid", shown("'mood'::regtype")));
    check("SELECT atttypid::regtype", &format!("SELECT {}::regtype", own("atttypid", "atttypid")));
    check("SELECT typname::regtype, $1::regtype", "SELECT typname::regtype, $1::regtype");
}

#[test]
fn a_unit_whose_tables_keep_their_names_gets_the_text_as_it_is() {
    for text in [
        "SELECT c.amname, pg_get_indexdef(c.oid) FROM pg_catalog.pg_am c",
        "SELECT 't'::regclass, conrelid::regclass FROM pg_constraint_of_mine",
        "SELECT * FROM pg_settings",
    ] {
        assert_eq!(presented(text, &[], 0), text);
    }
}

#[test]
fn no_relation_shows_the_ledgers() {
    let schema = "(SELECT l.oid FROM pg_catalog.pg_namespace l WHERE l.nspname = 'pando')";
    for (text, condition) in [
        ("SELECT * FROM pg_namespace n", "x.nspname IS DISTINCT FROM 'pando'".to_owned()),
        ("SELECT * FROM pg_tables t", "x.schemaname IS DISTINCT FROM 'pando'".to_owned()),
        ("SELECT * FROM pg_type t", format!("x.typnamespace IS DISTINCT FROM {schema}")),
        (
            "SELECT * FROM pg_attribute a",
            format!(
                "NOT EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = x.attrelid AND k.relnamespace = {schema})"
            ),
        ),
    ] {
        let shown = presented(text, &[], 0);
        assert!(shown.contains(&format!(" WHERE {condition}) ")), "{shown}");
    }
}

#[test]
fn a_relation_becomes_a_sub_query_under_its_own_name_or_alias() {
    let text = renamed("SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class");
    assert!(text.starts_with("SELECT pg_class.relname FROM (SELECT x.\"oid\", "), "{text}");
    assert!(text.contains(")::name AS \"relname\", x.\"relkind\" FROM pg_catalog.pg_class x "));
    assert!(text.contains("('t_0'::text, 't'::text, false), ('t_1'::text, 't'::text, true)"));
    let ending = " WHERE m.h IS NOT TRUE AND NOT EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = x.oid AND k.relnamespace = \
                  (SELECT l.oid FROM pg_catalog.pg_namespace l WHERE l.nspname = 'pando'))) AS ";
    assert!(text.ends_with(&format!("{ending}pg_class")), "{text}");
    let text = renamed("SELECT c.relname, c.xmin FROM pg_class AS c WHERE c.oid = 1");
    assert!(text.contains("(SELECT x.xmin, x.\"oid\""), "{text}");
    assert!(text.ends_with(&format!("{ending}c WHERE c.oid = 1")), "{text}");
}

#[test]
fn a_relation_whose_columns_are_not_known_is_asked_for() {
    let view = [shown("t_0", "t", false)];
    assert_eq!(presented("SELECT 1 FROM pg_index", &view, 0), "Columns(\"pg_catalog.pg_index\")");
}

#[test]
fn other_units_leave_out_what_comes_with_the_server() {
    let text = presented("SELECT * FROM pg_class, pg_tables", &[], 2);
    assert!(
        text.contains(
            "x.oid::pg_catalog.int8 >= 16384 AND x.relkind <> 't' AND NOT (x.relkind = 'c' OR"
        ),
        "{text}"
    );
    let columns = presented("SELECT * FROM pg_attribute", &[], 2);
    let alike = "NOT EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = x.attrelid AND (k.relkind = 'c' OR";
    assert!(columns.contains(alike), "{columns}");
    assert!(text.contains("(s.n + 134217728) % 4294967296"), "{text}");
    assert!(text.contains("NOT IN ('pg_catalog', 'information_schema', 'pg_toast')"), "{text}");
    let text = presented("SELECT objid FROM pg_depend", &[], 1);
    assert!(text.contains("CASE WHEN x.classid IN ('pg_catalog.pg_class'"), "{text}");
}

#[test]
fn figures_of_a_table_are_asked_of_all_its_parts() {
    let asked = |text: &str, figures: &[Figures]| {
        let facts = Facts { figures: Arc::new(figures.to_vec()), ..Facts::default() };
        let tables = [shown("t_0", "t", false), shown("t_1", "t", true)];
        let view = View {
            database: "shop",
            facts: &facts,
            number: 0,
            tables: &tables,
            columns: &[],
            numbers: None,
            catalog: &Few,
        };
        match Postgres.present(&parsed(text), &view) {
            Ok(Presented::Edits(edits)) => Ok(edits.apply(text)),
            Ok(Presented::Needs(Need::Figures(asked))) => Err(asked),
            other => panic!("{text}: {other:?}"),
        }
    };
    let figure = |unit, own, hidden, figure: &str| Figure {
        unit,
        row: vec![
            Value::Text("t:r".into()),
            Value::Int(own),
            Value::Bool(hidden),
            Value::Text(figure.into()),
        ],
    };
    let text = "SELECT pg_table_size('t')";
    let question = asked(text, &[]).unwrap_err();
    assert!(question.contains("pg_catalog.pg_table_size(c.oid)::pg_catalog.text"), "{question}");
    assert!(question.ends_with(" IN ('t')"), "{question}");
    let rows = vec![
        figure(0, 17_000, false, "10"),
        figure(0, 17_010, true, "20"),
        figure(1, 17_000, true, "40"),
    ];
    assert_eq!(
        asked(text, &[Figures { asked: question, rows }]).unwrap(),
        "SELECT (SELECT pg_catalog.pg_table_size(s.o) + coalesce((SELECT v.n FROM (VALUES (17000::pg_catalog.oid, 60::pg_catalog.int8)) \
         v(o, n) WHERE v.o = s.o), 0) AS pg_table_size FROM (SELECT ('\"t_0\"')::pg_catalog.regclass::pg_catalog.oid AS o) s)"
    );
    // A name that is computed may be that of any table.
    let question = asked("SELECT pg_table_size(quote_ident(x))", &[]).unwrap_err();
    assert!(question.ends_with("('r', 'p', 't', 'i', 'I')"), "{question}");
    assert_eq!(asked("SELECT pg_typeof('t')", &[]).unwrap(), "SELECT pg_typeof('t')");
}

#[test]
fn databases_are_the_logical_ones() {
    assert_eq!(
        presented("SELECT datname FROM pg_database", &[], 0),
        "SELECT datname FROM (SELECT (x.oid::pg_catalog.int8 + d.i)::pg_catalog.oid AS oid, d.n AS datname, x.\"datdba\" \
         FROM pg_catalog.pg_database x CROSS JOIN (VALUES ('shop'::pg_catalog.name, 0), ('Two'::pg_catalog.name, 1), ('postgres'::pg_catalog.name, 2)) d(n, i) \
         WHERE x.datname = pg_catalog.current_database()) AS pg_database"
    );
    let text = presented("SELECT table_catalog FROM information_schema.tables t", &[], 0);
    assert!(text.contains("THEN 'shop' ELSE x.\"table_catalog\"::pg_catalog.text END"), "{text}");
}

#[test]
fn names_that_are_looked_up_become_actual_ones() {
    for (text, expected) in [
        ("SELECT a WHERE r = 't'::regclass", "SELECT a WHERE r = '\"t_0\"'::regclass"),
        ("SELECT a WHERE r = '\"t\"'::regclass", "SELECT a WHERE r = '\"t_0\"'::regclass"),
        (
            "SELECT a WHERE r = CAST('Public.T' AS pg_catalog.regclass)",
            "SELECT a WHERE r = CAST('\"public\".\"t_0\"' AS pg_catalog.regclass)",
        ),
        ("SELECT row_security_active('t')", "SELECT row_security_active('\"t_0\"')"),
        // What a server has named after the table.
        (
            "SELECT a WHERE r = 'public.t_id_seq'::regclass",
            "SELECT a WHERE r = (SELECT CASE WHEN pg_catalog.to_regclass('public.t_id_seq') IS NULL \
             THEN '\"public\".\"t_0_id_seq\"' ELSE 'public.t_id_seq' END)::regclass",
        ),
        (
            "SELECT a WHERE to_regclass('t'::text) = r",
            "SELECT a WHERE to_regclass('\"t_0\"'::text) = r",
        ),
        (
            "SELECT has_table_privilege('me', 't', 'select')",
            "SELECT has_table_privilege('me', '\"t_0\"', 'select')",
        ),
        ("SELECT a WHERE r = 'T\"'::regclass", "SELECT a WHERE r = 'T\"'::regclass"),
        ("SELECT a WHERE r = '16400'::regclass", "SELECT a WHERE r = '16400'::regclass"),
        ("SELECT a WHERE r = 't_1'::regclass", "SELECT a WHERE r = 't_1'::regclass"),
    ] {
        assert_eq!(renamed(text), expected);
    }
    // What is no table may be an index of one.
    let index = renamed("SELECT a WHERE r = 'public.i'::regclass");
    assert!(index.contains("c.relname = 'i' || '_' || v.a"), "{index}");
    assert!(index.ends_with("'\"public\".\"i\"'))::regclass"), "{index}");
}

fn bound(text: &str, values: &[Value], number: usize) -> Result<(String, Vec<(usize, Value)>)> {
    let tables = [shown("t_0", "t", false)];
    let parameters: Vec<_> = values.iter().cloned().map(Parameter::made).collect();
    let facts = Facts::default();
    let view = View {
        database: "shop",
        facts: &facts,
        number,
        tables: &tables,
        columns: &[],
        numbers: None,
        catalog: &Few,
    };
    let (presented, values) = Postgres.present_bound(&parsed(text), &view, &parameters)?;
    let Presented::Edits(edits) = presented else { panic!("{presented:?}") };
    Ok((edits.apply(text), values))
}

#[test]
fn parameters_that_name_tables_become_actual_names() {
    let name = |text: &str| Value::Text(text.to_owned());
    for text in ["SELECT a WHERE r = $1::text::regclass", "SELECT row_security_active($1)"] {
        let told = bound(text, &[name("public.t")], 0).unwrap();
        assert_eq!(told, (text.to_owned(), vec![(0, name("\"public\".\"t_0\""))]));
        assert_eq!(bound(text, &[name("other")], 0).unwrap().1, []);
        assert_eq!(bound(text, &[Value::Null], 0).unwrap().1, []);
    }
    let (told, values) = bound("SELECT a WHERE r = $1::regclass", &[name("67125248")], 1).unwrap();
    assert!(told.contains("s.n + 67108864"), "{told}");
    assert_eq!(values, [(0, name("16384"))]);
}

#[test]
fn definitions_and_displayed_names_are_told_in_logic_names() {
    for (text, label) in [
        ("SELECT pg_get_indexdef(i) FROM x", "pg_get_indexdef"),
        ("SELECT conrelid::regclass FROM x", "conrelid"),
        ("SELECT a FROM x WHERE (conrelid::regclass)::text = 't'", "conrelid"),
    ] {
        let told = renamed(text);
        assert!(told.contains(&format!("AS \"{label}\" FROM (SELECT r.w[1] AS w")), "{told}");
    }
    let compared = "SELECT a FROM x WHERE conrelid::regclass = 5";
    assert_eq!(renamed(compared), compared);
    // The server must find its own name in a text that it looks up.
    let serial = "SELECT pg_get_serial_sequence(r::regclass::text, 'id') FROM x";
    assert!(renamed(serial).contains("pg_get_serial_sequence(r::regclass::text, 'id'))"));
}

#[test]
fn numbers_are_the_unit_s_own_inside_and_the_shown_ones_outside() {
    let tables = [shown("t_0", "t", false)];
    let at_one = |text: &str| presented(text, &tables, 1);
    assert!(
        at_one("SELECT row_security_active(67125248)").contains("row_security_active('16384')")
    );
    assert!(at_one("SELECT row_security_active(c.oid) FROM x c").contains("u.n - 67108864"));
    assert!(at_one("SELECT a WHERE r = 't'::regclass").contains("('\"t_0\"'::regclass)"));
    // Higher for the comparison, lower again for the function.
    let both = at_one("SELECT pg_relation_filenode('t'::regclass) FROM x");
    assert!(both.contains("u.n - 67108864") && both.contains("(s.n + 67108864)"), "{both}");
    let (shown, own) =
        (both.find("::pg_catalog.int8 AS n) s)"), both.find("::pg_catalog.int8 AS n) u)"));
    assert!(shown < own, "{both}");
    assert_eq!(
        at_one("SELECT pg_get_serial_sequence('t'::regclass::text, 'id') = 'x' FROM y")
            .matches("t_0")
            .count(),
        at_one("SELECT pg_get_serial_sequence('z', 'id') = 'x' FROM y").matches("t_0").count() + 1
    );
    assert_eq!(Postgres.relation_number(16_384, 1), 67_125_248);
    assert_eq!(Postgres.relation_number(1_259, 1), 1_259);
    assert_eq!(Postgres.relation_number(u32::MAX, 0), u32::MAX);
}

#[test]
fn what_a_question_is_about_decides_who_is_asked() {
    let asked = |text: &str, parameters: &[Value]| {
        let parameters: Vec<_> = parameters.iter().cloned().map(Parameter::made).collect();
        Postgres.asked(&parsed(text), &parameters)
    };
    let cases = [
        ("SELECT 'public.\"T\"'::regclass", vec![], Asked::Table("T".into())),
        ("SELECT to_regclass('s.T')", vec![], Asked::Table("t".into())),
        ("SELECT 'pg_class'::regclass", vec![], Asked::Anyone),
        ("SELECT 'information_schema.tables'::regclass", vec![], Asked::Anyone),
        ("SELECT 1 FROM pg_index WHERE indrelid = '134217999'", vec![], Asked::Number(2)),
        ("SELECT $1::oid", vec![Value::Int(67_200_000)], Asked::Number(1)),
        ("SELECT ANY_OF($1)", vec![Value::Text("{67200000,5}".into())], Asked::Number(1)),
        ("SELECT $1::oid", vec![Value::Int(16_400)], Asked::Anyone),
    ];
    for (text, parameters, expected) in cases {
        assert_eq!(asked(text, &parameters), expected, "{text}");
    }
}

#[test]
fn names_of_the_server_s_own_are_told_from_tables() {
    let holding = |text: &str| {
        let stmt = parsed(&format!("SELECT 1 FROM {text}"));
        Postgres.holding(visit::tables(&stmt.kind)[0].name)
    };
    for (name, expected) in [
        ("pg_class", Some(Holding::Tables)),
        ("pg_catalog.pg_type", Some(Holding::Shared)),
        ("information_schema.columns", Some(Holding::Tables)),
        ("information_schema.sql_features", Some(Holding::Shared)),
        ("shop.pg_catalog.pg_class", Some(Holding::Tables)),
        ("public.tables", None),
        ("t", None),
    ] {
        assert_eq!(holding(name), expected, "{name}");
    }
}
