//! Columns that clients see under other names than they are stored, or not at all.

use pando_kernel::dialect::Language;
use pando_kernel::error::Result;
use pando_kernel::presentation::{ShownColumn, View, tells_stored_columns};
use pando_sql::ast::Statement;
use pando_sql::visit;

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

/// What a table's column with names of columns shows; `None` when it stays. `table` is the one with the row's table.
pub(super) fn shown(view: &View<'_>, table: Option<&str>, column: &str) -> Option<String> {
    if view.columns.is_empty() {
        return None;
    }
    let own = format!("x.{}", MySql.quote(column));
    match column {
        "COLUMN_NAME" => named(view, &own, table?),
        "REFERENCED_COLUMN_NAME" => named(view, &own, "REFERENCED_TABLE_NAME"),
        "EXPRESSION" | "GENERATION_EXPRESSION" => Some(computed(view, own, table?)),
        _ => None,
    }
}

fn named(view: &View<'_>, own: &str, table: &str) -> Option<String> {
    let branch = |one: &ShownColumn| {
        let logic = literal(one.logic.as_deref()?);
        let (of, stored) = (literal(&one.table), literal(&one.stored));
        Some(format!(" WHEN x.{table} = {of} AND {own} = {stored} THEN {logic}"))
    };
    let branches: String = view.columns.iter().filter_map(branch).collect();
    (!branches.is_empty()).then(|| format!("CASE{branches} ELSE {own} END"))
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
pub(super) fn is_seen(view: &View<'_>, table: Option<&str>) -> Option<String> {
    let table = table?;
    let hidden = view.columns.iter().filter(|one| one.logic.is_none());
    let hidden = hidden.map(|one| {
        let (own, stored) = (literal(&one.table), literal(&one.stored));
        format!("x.{table} = {own} AND x.COLUMN_NAME = {stored}")
    });
    let hidden: Vec<String> = hidden.collect();
    (!hidden.is_empty()).then(|| format!(" AND ({}) IS NOT TRUE", hidden.join(" OR ")))
}
