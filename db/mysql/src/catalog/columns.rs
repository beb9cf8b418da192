//! Columns that clients see under other names than they are stored, or not at all.

use pando_kernel::dialect::Language;
use pando_kernel::error::Result;
use pando_kernel::presentation::{ShownColumn, View, tells_stored_columns};
use pando_sql::ast::Statement;
use pando_sql::visit;

use super::declared;
use super::relation::literal;
use super::relations::is_vendors;
use crate::dialect::MySql;

/// Tables that tell columns in texts, or what is stored in them.
const TELLING: [&str; 14] = [
    "check_constraints",
    "column_stats",
    "column_statistics",
    "columns_priv",
    "index_stats",
    "innodb_index_stats",
    "partitions",
    "schema_auto_increment_columns",
    "schema_redundant_indexes",
    "table_constraints_extensions",
    "triggers",
    "view_table_usage",
    "views",
    "x$schema_flattened_keys",
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
        let [schema, table] = &occurrence.name.parts[..] else { continue };
        let name = table.value.to_lowercase();
        let tells = TELLING.contains(&name.as_str()) || name.starts_with("innodb_");
        if tells && is_vendors(&schema.value) {
            return Err(tells_stored_columns(&table.value));
        }
    }
    Ok(())
}

/// The table that tells the columns themselves; all others tell them of keys.
const COLUMNS: &str = "COLUMNS";

/// What a column of the catalogue's table `name` shows that tells of columns; `None` when it stays. `table` is the one
/// with the row's table.
pub(super) fn shown(
    view: &View<'_>,
    name: &str,
    table: Option<&str>,
    column: &str,
) -> Option<String> {
    if view.columns.is_empty() {
        return None;
    }
    let own = format!("x.{}", MySql.quote(column));
    match column {
        "COLUMN_NAME" => named(view, &own, table?),
        "REFERENCED_COLUMN_NAME" => named(view, &own, "REFERENCED_TABLE_NAME"),
        "EXPRESSION" | "GENERATION_EXPRESSION" => Some(computed(view, own, table?)),
        "COLUMN_KEY" if name == COLUMNS => key(view, &own, table?),
        _ if name == COLUMNS => typed(view, &own, column, table?),
        _ => None,
    }
}

/// The condition that a row is about a stored column.
fn is_of(one: &ShownColumn, table: &str, stored: &str) -> String {
    format!("x.{table} = {} AND x.COLUMN_NAME = {}", literal(&one.table), literal(stored))
}

fn cases(own: &str, branches: &str) -> Option<String> {
    (!branches.is_empty()).then(|| format!("CASE{branches} ELSE {own} END"))
}

fn named(view: &View<'_>, own: &str, table: &str) -> Option<String> {
    let branch = |one: &ShownColumn| {
        let logic = literal(one.key_name()?);
        let (of, stored) = (literal(&one.table), literal(&one.stored));
        Some(format!(" WHEN x.{table} = {of} AND {own} = {stored} THEN {logic}"))
    };
    let branches: String = view.columns.iter().filter_map(branch).collect();
    cases(own, &branches)
}

/// What the table of columns says of the type that clients see.
fn typed(view: &View<'_>, own: &str, column: &str, table: &str) -> Option<String> {
    let branch = |one: &ShownColumn| {
        one.logic.as_ref()?;
        let value = match one.declared {
            Some(declared) => declared::value(column, declared, view.facts)?,
            // What is stored of a default says nothing.
            None if column == "COLUMN_DEFAULT" => "NULL".to_owned(),
            None => return None,
        };
        Some(format!(" WHEN {} THEN {value}", is_of(one, table, &one.stored)))
    };
    let branches: String = view.columns.iter().filter_map(branch).collect();
    cases(own, &branches)
}

/// The keys of a column whose keys stand on another stored one.
fn key(view: &View<'_>, own: &str, table: &str) -> Option<String> {
    let branch = |one: &ShownColumn| {
        let logic = one.keys_of.as_deref()?;
        let is_shown = |other: &&ShownColumn| {
            other.table == one.table && other.logic.as_deref() == Some(logic)
        };
        let told = view.columns.iter().find(is_shown)?;
        Some(format!(
            " WHEN {} THEN (SELECT k.COLUMN_KEY FROM information_schema.COLUMNS k WHERE k.TABLE_SCHEMA = \
             x.TABLE_SCHEMA AND k.TABLE_NAME = x.{table} AND k.COLUMN_NAME = {})",
            is_of(one, table, &told.stored),
            literal(&one.stored)
        ))
    };
    let branches: String = view.columns.iter().filter_map(branch).collect();
    cases(own, &branches)
}

/// What a column or a part of an index is computed by, in logic names.
fn computed(view: &View<'_>, own: String, table: &str) -> String {
    let quoted = |name: &str| literal(&MySql.quote(name));
    let renamed = view.columns.iter().filter_map(|one| Some((one, one.logic.as_deref()?)));
    renamed.fold(own, |text, (one, logic)| {
        let (of, stored, logic) = (literal(&one.table), quoted(&one.stored), quoted(logic));
        // Where it is another table's, nothing is replaced by itself.
        format!("REPLACE({text}, {stored}, IF(x.{table} = {of}, {logic}, {stored}))")
    })
}

/// The condition that a row is about a column that clients see; `None` where all rows are.
pub(super) fn is_seen(view: &View<'_>, name: &str, table: Option<&str>) -> Option<String> {
    let table = table?;
    let is_hidden = |one: &&ShownColumn| match name == COLUMNS {
        true => one.logic.is_none(),
        false => one.key_name().is_none(),
    };
    let hidden = view.columns.iter().filter(is_hidden);
    let hidden = hidden.map(|one| {
        let (own, stored) = (literal(&one.table), literal(&one.stored));
        format!("x.{table} = {own} AND x.COLUMN_NAME = {stored}")
    });
    let hidden: Vec<String> = hidden.collect();
    (!hidden.is_empty()).then(|| format!(" AND ({}) IS NOT TRUE", hidden.join(" OR ")))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use pando_kernel::dialect::{Facts, TableColumn};
    use pando_kernel::feature::Catalog;
    use pando_kernel::presentation::{Presentation, Presented};
    use pando_kernel::route::UnitName;

    use super::*;
    use crate::dialect::SYNTAX;

    /// Every table has these columns.
    #[derive(Debug)]
    struct Same;

    impl Catalog for Same {
        fn columns(&self, _: &str) -> Option<Arc<Vec<TableColumn>>> {
            let column = |name: &str| TableColumn {
                name: name.to_owned(),
                kind: pando_kernel::Kind::Text,
                type_name: "varchar(64)".to_owned(),
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
            let names = ["TABLE_NAME", "COLUMN_NAME", "REFERENCED_COLUMN_NAME", "EXPRESSION"];
            Some(Arc::new(names.map(column).to_vec()))
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
        match MySql.present(&pando_sql::parse(text, &SYNTAX).unwrap(), &view) {
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
        let text = presented("SELECT * FROM information_schema.STATISTICS", &turned());
        for part in [
            "CASE WHEN x.TABLE_NAME = 't_0' AND x.`COLUMN_NAME` = 'kept' THEN 'name' ELSE x.`COLUMN_NAME` END",
            "CASE WHEN x.REFERENCED_TABLE_NAME = 't_0' AND x.`REFERENCED_COLUMN_NAME` = 'kept' THEN 'name'",
            "REPLACE(x.`EXPRESSION`, '`kept`', IF(x.TABLE_NAME = 't_0', '`name`', '`kept`'))",
            "AND (x.TABLE_NAME = 't_0' AND x.COLUMN_NAME = 'also') IS NOT TRUE",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert!(!presented("SELECT * FROM information_schema.COLUMNS", &[]).contains("kept"));
    }

    #[test]
    fn what_is_stored_of_a_default_is_not_told() {
        let facts = Facts::default();
        let view = View {
            database: "shop",
            facts: &facts,
            number: 0,
            tables: &[],
            columns: &turned(),
            numbers: None,
            catalog: &Same,
        };
        let told = shown(&view, "COLUMNS", Some("TABLE_NAME"), "COLUMN_DEFAULT").unwrap();
        assert!(told.contains("x.COLUMN_NAME = 'kept' THEN NULL"), "{told}");
        assert_eq!(shown(&view, "STATISTICS", Some("TABLE_NAME"), "COLUMN_DEFAULT"), None);
    }

    #[test]
    fn what_tells_them_in_texts_is_refused() {
        for text in [
            "SELECT * FROM information_schema.views",
            "SELECT * FROM information_schema.INNODB_COLUMNS",
            "SELECT * FROM mysql.column_stats",
            "SELECT * FROM information_schema.PARTITIONS",
        ] {
            assert!(
                presented(text, &turned()).contains("tells columns as they are stored"),
                "{text}"
            );
            assert!(!presented(text, &[]).contains("tells columns as they are stored"), "{text}");
        }
    }
}
