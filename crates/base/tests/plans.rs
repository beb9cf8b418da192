//! What becomes of statements, as data: see the `.case` files. `BLESS=1` writes their answers anew.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "tests only"
)]

use std::fmt::Write as _;
use std::sync::Arc;

use pando_base::{Concern, Plan, Table, TableName, concern};
use pando_kernel::dialect::{Dialect, TableColumn};
use pando_kernel::{Attribute, Kind, Value};

fn column(name: &str, kind: Kind, type_name: &str) -> TableColumn {
    TableColumn {
        name: name.into(),
        kind,
        type_name: type_name.into(),
        collation: String::new(),
        collate: String::new(),
        zone: None,
        primary_key: name == "id",
        auto_increment: name == "id",
        nullable: name != "id",
        invisible: false,
        attribute: Attribute::default(),
        timed: None,
    }
}

/// `t`: id generated, u unique, x. `two`: key a and b. `odd`: a unique index of an expression.
fn table(name: &str, dialect: &dyn Dialect) -> pando_kernel::Result<Table> {
    let schema = if dialect.family() == "postgres" { "public" } else { "" };
    let fact = |what: &str, name: &str, detail: &str| {
        [what, name, detail].map(|text| Value::Text(text.to_owned())).to_vec()
    };
    let int = if schema.is_empty() { "int" } else { "integer" };
    let mut columns = vec![
        column("id", Kind::Int, int),
        column("u", Kind::Int, int),
        column("x", Kind::Text, "text"),
    ];
    let mut facts = vec![fact("table", name, schema), fact("unique", "u", "t_u")];
    match name {
        "two" => {
            columns = vec![
                column("a", Kind::Text, "text"),
                column("b", Kind::Int, int),
                column("x", Kind::Text, "text"),
            ];
            facts.truncate(1);
            facts.extend([fact("primary", "a", "two_pkey"), fact("primary", "b", "two_pkey")]);
        }
        "odd" => facts.extend([fact("primary", "id", ""), fact("unique", "", "odd_lower")]),
        "keyless" => {}
        "triggered" => facts.extend([fact("primary", "id", ""), fact("trigger", "audit", "")]),
        "parent" => {
            facts.extend([fact("primary", "id", ""), fact("reference", "child", "CASCADE")])
        }
        "computed" => facts.extend([fact("primary", "id", ""), fact("computed", "x", "")]),
        _ => facts.push(fact("primary", "id", "")),
    }
    Table::of(&TableName { schema: None, name: name.into() }, columns, &facts, dialect)
}

fn answer(sql: &str, dialect: &dyn Dialect) -> String {
    let stmt = match pando_sql::parse(sql, dialect.syntax()) {
        Ok(stmt) => stmt,
        Err(error) => return format!("error: {error}\n"),
    };
    let name = match concern(&stmt) {
        Ok(Concern::Nothing) => return "nothing\n".to_owned(),
        Ok(Concern::Changes(name) | Concern::Locks(name)) => name,
        Err(error) => return format!("refused: {error}\n"),
    };
    let plan = table(&name.name, dialect)
        .and_then(|table| Plan::of(&stmt, &Arc::new(table), &[], dialect));
    match plan {
        Ok(plan) => plan.texts().iter().fold(String::new(), |mut out, (what, text, parameters)| {
            let _ = write!(out, "{what}: {text}");
            if !parameters.is_empty() {
                let _ = write!(out, "  {parameters:?}");
            }
            out.push('\n');
            out
        }),
        Err(error) => format!("refused: {error}\n"),
    }
}

fn check(file: &str, dialect: &dyn Dialect) {
    let path = format!("{}/tests/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let mut written = String::new();
    for case in text.split("\n\n").filter(|case| !case.trim().is_empty()) {
        let sql = case.trim().lines().next().unwrap();
        let _ = write!(written, "{sql}\n{}\n", answer(sql, dialect));
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, written).unwrap();
        return;
    }
    for (found, expected) in written.split("\n\n").zip(text.split("\n\n")) {
        assert_eq!(found.trim(), expected.trim());
    }
    assert_eq!(written.trim(), text.trim());
}

#[test]
fn statements_for_postgres_tell_their_images() {
    check("postgres.case", &pando_postgres::Postgres);
}

#[test]
fn statements_for_mysql_are_bound_to_the_rows_that_were_read() {
    check("mysql.case", &pando_mysql::MySql);
}
