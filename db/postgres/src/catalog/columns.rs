//! Columns that clients see under other names than they are stored, or not at all.

use pando_kernel::dialect::TableColumn;
use pando_kernel::error::Result;
use pando_kernel::presentation::{ShownColumn, View, tells_stored_columns};
use pando_sql::ast::{Expr, Node, Statement};
use pando_sql::visit;

use super::names::literal;
use super::relations;
use super::{declared, definitions};

/// Relations that tell columns in texts, or what is stored in them.
const TELLING: [&str; 16] = [
    "check_constraints",
    "column_column_usage",
    "pg_indexes",
    "pg_matviews",
    "pg_policies",
    "pg_publication_tables",
    "pg_rules",
    "pg_statistic",
    "pg_statistic_ext_data",
    "pg_stats",
    "pg_stats_ext",
    "pg_stats_ext_exprs",
    "pg_views",
    "triggered_update_columns",
    "triggers",
    "views",
];

/// Functions that do, or are given a column's name.
const FUNCTIONS: [&str; 12] = [
    "has_column_privilege",
    "pg_get_constraintdef",
    "pg_get_indexdef",
    "pg_get_partition_constraintdef",
    "pg_get_partkeydef",
    "pg_get_ruledef",
    "pg_get_serial_sequence",
    "pg_get_statisticsobjdef",
    "pg_get_statisticsobjdef_columns",
    "pg_get_statisticsobjdef_expressions",
    "pg_get_triggerdef",
    "pg_get_viewdef",
];

/// Refuses what would tell columns as they are stored.
///
/// # Errors
/// `Refused`.
pub(super) fn check(stmt: &Statement, view: &View<'_>) -> Result<()> {
    if view.columns.is_empty() {
        return Ok(());
    }
    for occurrence in visit::tables(&stmt.kind) {
        if let Some((_, name)) = relations::parts(occurrence.name)
            && (TELLING.contains(&name) || name.starts_with("_pg_"))
        {
            return Err(tells_stored_columns(name));
        }
    }
    let mut telling = None;
    visit::exprs(&stmt.kind, &mut |expr| {
        if let Some(name) = tells(expr, view) {
            telling.get_or_insert(name);
        }
    });
    telling.map_or(Ok(()), |name| Err(tells_stored_columns(&name)))
}

fn tells(expr: &Expr, view: &View<'_>) -> Option<String> {
    let Node::Function(call) = &expr.node else { return None };
    let name = call.plain_name();
    // The default of a column names no other.
    let is_default = || match call.arguments.first().map(|first| &first.node) {
        Some(Node::Column(column)) => column.parts.last().is_some_and(|last| last.value == "adbin"),
        Some(_) | None => false,
    };
    let tells = FUNCTIONS.contains(&name.as_str()) || name == "pg_get_expr" && !is_default();
    (tells && !definitions::is_told(call, view)).then_some(name)
}

/// A relation of the catalogue with its columns.
pub(super) struct Asked<'a> {
    pub(super) name: &'a str,
    pub(super) columns: &'a [TableColumn],
}

/// What a relation's column that tells of columns shows; `None` when it stays. `own` is what it shows of all others.
pub(super) fn shown(view: &View<'_>, asked: &Asked<'_>, column: &str, own: &str) -> Option<String> {
    let Asked { name, columns } = *asked;
    let at = Place::of(view, name, columns)?;
    if column == "generation_expression" {
        return generated(view, own);
    }
    let told = |one: &ShownColumn| {
        let told = match column == at.column {
            true => literal(at.name(one)?),
            false => typed(name, column, one)?,
        };
        Some(format!(" WHEN {} THEN {told}", at.is_of(one)))
    };
    let branches: String = view.columns.iter().filter_map(told).collect();
    (!branches.is_empty()).then(|| format!("CASE{branches} ELSE {own} END"))
}

/// What a relation says of the type and the default that clients see.
fn typed(relation: &str, column: &str, one: &ShownColumn) -> Option<String> {
    one.logic.as_ref()?;
    if let Some(declared) = one.declared {
        return declared::value(relation, column, declared);
    }
    // What is stored of a default says nothing.
    match (relation, column) {
        ("pg_attribute", "atthasdef") => Some(false.to_string()),
        ("columns", "column_default") => Some("NULL".to_owned()),
        _ => None,
    }
}

/// What a column is computed by, whole words of it in logic names.
fn generated(view: &View<'_>, own: &str) -> Option<String> {
    let mut text = own.to_owned();
    for one in view.columns {
        let Some(logic) = &one.logic else { continue };
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if !one.stored.chars().all(is_word) {
            continue;
        }
        let (table, word) = (literal(&one.table), literal(&format!(r"\m{}\M", one.stored)));
        let logic = literal(&logic.replace('\\', r"\\"));
        // Where it is another table's, the word stays by its own name.
        text = format!(
            "pg_catalog.regexp_replace({text}::pg_catalog.text, {word}, \
             CASE WHEN x.table_name = {table} THEN {logic} ELSE {stored} END, 'g')",
            stored = literal(&one.stored)
        );
    }
    Some(text)
}

/// The condition that a relation's row is about a column that clients see; `None` where all rows are.
pub(super) fn is_seen(view: &View<'_>, name: &str, columns: &[TableColumn]) -> Option<String> {
    if name == "pg_attrdef" && !view.columns.is_empty() {
        return Some(no_default(view));
    }
    let at = Place::of(view, name, columns)?;
    let hidden = view.columns.iter().filter(|one| at.name(one).is_none());
    let hidden: Vec<String> = hidden.map(|one| at.is_of(one)).collect();
    (!hidden.is_empty()).then(|| format!("({}) IS NOT TRUE", hidden.join(" OR ")))
}

/// The condition that a default is none of a column that is stored otherwise than clients see it.
fn no_default(view: &View<'_>) -> String {
    let own = |one: &ShownColumn| {
        format!("c.relname = {} AND a.attname = {}", literal(&one.table), literal(&one.stored))
    };
    let all: Vec<String> = view.columns.iter().map(own).collect();
    format!(
        "NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid \
         WHERE a.attrelid = x.adrelid AND a.attnum = x.adnum AND ({}))",
        all.join(" OR ")
    )
}

/// Where a relation's rows name a column.
struct Place {
    column: &'static str,
    by_number: bool,
    /// They are about keys.
    is_of_keys: bool,
}

impl Place {
    fn of(view: &View<'_>, name: &str, columns: &[TableColumn]) -> Option<Self> {
        if view.columns.is_empty() {
            return None;
        }
        if name == "pg_attribute" {
            return Some(Self { column: "attname", by_number: true, is_of_keys: false });
        }
        let has = |name: &str| columns.iter().any(|column| column.name == name);
        let is_named = has("table_name") && has("column_name");
        let is_of_keys = matches!(name, "constraint_column_usage" | "key_column_usage");
        is_named.then_some(Self { column: "column_name", by_number: false, is_of_keys })
    }

    /// What clients see there of a column; `None` for nothing.
    fn name<'c>(&self, one: &'c ShownColumn) -> Option<&'c str> {
        if self.is_of_keys { one.key_name() } else { one.logic.as_deref() }
    }

    /// The condition that a row is about this column.
    fn is_of(&self, one: &ShownColumn) -> String {
        let (table, stored) = (literal(&one.table), literal(&one.stored));
        let of_table = match self.by_number {
            // An index has its table's columns again.
            true => format!(
                "x.attrelid IN (SELECT c.oid FROM pg_catalog.pg_class c WHERE c.relname = {table} UNION ALL \
                 SELECT i.indexrelid FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid \
                 WHERE c.relname = {table})"
            ),
            false => format!("x.table_name = {table}"),
        };
        format!("x.{} = {stored} AND {of_table}", self.column)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use pando_kernel::dialect::Facts;
    use pando_kernel::feature::Catalog;
    use pando_kernel::presentation::{Presentation, Presented};
    use pando_kernel::route::UnitName;

    use super::*;
    use crate::dialect::{Postgres, SYNTAX};

    /// Every relation has these columns.
    #[derive(Debug)]
    struct Same;

    impl Catalog for Same {
        fn columns(&self, _: &str) -> Option<Arc<Vec<TableColumn>>> {
            let column = |name: &str| TableColumn {
                name: name.to_owned(),
                kind: pando_kernel::Kind::Text,
                type_name: "name".to_owned(),
                collation: String::new(),
                collate: String::new(),
                zone: None,
                primary_key: false,
                auto_increment: false,
                nullable: true,
                timed: None,
                invisible: false,
                attribute: Default::default(),
            };
            Some(Arc::new(["attname", "table_name", "column_name"].map(column).to_vec()))
        }

        fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
            None
        }
    }

    fn presented(text: &str, columns: &[ShownColumn]) -> String {
        let facts = Facts::default();
        let view = View {
            database: "shop",
            facts: &facts,
            number: 0,
            tables: &[],
            columns,
            numbers: None,
            catalog: &Same,
        };
        match Postgres.present(&pando_sql::parse(text, &SYNTAX).unwrap(), &view) {
            Ok(Presented::Edits(edits)) => edits.apply(text),
            Ok(Presented::Needs(need)) => format!("{need:?}"),
            Err(error) => error.to_string(),
        }
    }

    fn turned() -> [ShownColumn; 2] {
        let column = |stored: &str, logic: Option<&str>| ShownColumn {
            table: "t_0".into(),
            stored: stored.into(),
            logic: logic.map(Into::into),
            declared: None,
            keys_of: None,
        };
        [column("kept", Some("name")), column("also", None)]
    }

    #[test]
    fn names_of_columns_are_those_that_clients_see() {
        let text = presented("SELECT * FROM information_schema.columns", &turned());
        let case = "(CASE WHEN x.column_name = 'kept' AND x.table_name = 't_0' THEN 'name' ELSE x.\"column_name\" END)::name";
        assert!(text.contains(case), "{text}");
        let hidden = "(x.column_name = 'also' AND x.table_name = 't_0') IS NOT TRUE";
        assert!(text.contains(hidden), "{text}");
        let text = presented("SELECT * FROM pg_attribute", &turned());
        assert!(text.contains("CASE WHEN x.attname = 'kept' AND x.attrelid IN (SELECT"), "{text}");
        assert!(!presented("SELECT * FROM pg_attribute", &[]).contains("CASE WHEN x.attname"));
    }

    #[test]
    fn definitions_of_rows_are_told_in_the_names_that_clients_see() {
        for (text, owner) in [
            ("SELECT pg_get_indexdef(x.indexrelid, 0, true) FROM pg_index x", "indrelid"),
            ("SELECT pg_catalog.pg_get_constraintdef(oid, true) FROM pg_constraint", "confrelid"),
            ("SELECT pg_get_expr(indpred, indrelid) FROM pg_index", "d.n IN (SELECT c.oid"),
        ] {
            let told = presented(text, &turned());
            assert!(told.contains(owner), "{told}");
            assert!(told.contains(r#"'"?\\mkept\\M"?'"#), "{told}");
            assert!(!presented(text, &[]).contains("kept"), "{text}");
        }
    }

    #[test]
    fn a_definition_of_many_tables_is_no_long_text() {
        let columns: Vec<ShownColumn> = (0..200)
            .map(|at| ShownColumn { table: format!("t_{at}").into(), ..turned()[0].clone() })
            .collect();
        let told = presented("SELECT pg_get_indexdef(indexrelid) FROM pg_index", &columns);
        assert!(told.len() < 200 * 600, "{} bytes", told.len());
    }

    #[test]
    fn a_stored_name_that_is_no_word_is_not_told() {
        let odd = [ShownColumn { stored: "kept-it".into(), ..turned()[0].clone() }];
        let text = "SELECT pg_get_indexdef(indexrelid) FROM pg_index";
        assert!(presented(text, &odd).contains("tells columns as they are stored"));
    }

    #[test]
    fn what_is_stored_of_a_default_is_not_told() {
        let text = presented("SELECT * FROM pg_attrdef", &turned());
        assert!(text.contains("NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a"), "{text}");
        assert!(!presented("SELECT * FROM pg_attrdef", &[]).contains("pg_attribute a"));
    }

    #[test]
    fn what_tells_them_in_texts_is_refused() {
        for text in [
            "SELECT * FROM pg_indexes",
            "SELECT * FROM information_schema.views",
            "SELECT pg_get_indexdef('i'::regclass)",
            "SELECT pg_catalog.pg_get_constraintdef($1, true)",
            "SELECT pg_get_ruledef(oid) FROM pg_rewrite",
            "SELECT pg_get_expr(indpred, 5) FROM pg_index",
        ] {
            assert!(
                presented(text, &turned()).contains("tells columns as they are stored"),
                "{text}"
            );
            assert!(!presented(text, &[]).contains("tells columns as they are stored"), "{text}");
        }
        let default = "SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d";
        assert!(presented(default, &turned()).contains("pg_get_expr(d.adbin, d.adrelid)"));
    }
}
