//! The sub-query that stands in a table's place.

use std::fmt::Write as _;

use pando_kernel::Value;
use pando_kernel::dialect::{Language, TableColumn};
use pando_kernel::presentation::{Shown, View};
use pando_kernel::route::Need;

use pando_sql::ast::{Distinct, Kind, Node, QueryBody, Statement};
use pando_sql::visit;

use super::relations::{Relation, Role, SCHEMATA, VENDORS};
use super::{columns, figures, version};
use crate::dialect::MySql;
use crate::guard::words::LEDGER;

/// Whether a sub-query must keep apart from the query around it. A server that merges the two no longer sees that an expression of ORDER BY is the
/// one that SELECT DISTINCT has in its list, and refuses the query. MySQL 8.0 answers `IN` and EXISTS over two that are merged with the same rows again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Apart {
    Yes,
    No,
}

impl Apart {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a filter: every other variant is not what is looked for"
    )]
    pub(super) fn of(stmt: &Statement, view: &View<'_>) -> Self {
        let query = match &stmt.kind {
            Kind::Select(query) => &query.body,
            _ => return Self::No,
        };
        match query {
            QueryBody::Select(select) if matches!(select.distinct, Distinct::Yes(_)) => Self::Yes,
            _ if !version::is_mariadb(view.facts) && asks_whether_in(stmt) => Self::Yes,
            _ => Self::No,
        }
    }
}

/// Whether rows of one table are looked for among those of another.
fn asks_whether_in(stmt: &Statement) -> bool {
    if visit::tables(&stmt.kind).len() < 2 {
        return false;
    }
    let mut found = false;
    visit::exprs(&stmt.kind, &mut |expr| {
        found |= matches!(expr.node, Node::InQuery { .. } | Node::Exists(_));
    });
    found
}

/// A table of the catalogue with the columns that the units have of it.
#[derive(Debug)]
pub(super) struct Known<'a> {
    pub(super) relation: &'a Relation,
    pub(super) name: &'a str,
    pub(super) columns: &'a [TableColumn],
}

/// A sub-query in parentheses with the table's columns.
///
/// # Errors
/// What must be found out first.
pub(super) fn sub_query(
    stmt: &Statement,
    view: &View<'_>,
    known: &Known<'_>,
) -> Result<String, Need> {
    let Known { relation, name, columns } = *known;
    let name_of = name;
    let wholes = figures::of_table(stmt, view, name, columns)?;
    let table = relation.table.filter(|table| columns.iter().any(|own| own.name == *table));
    let list: Vec<String> = columns
        .iter()
        .map(|column| {
            let name = MySql.quote(&column.name);
            let text = wholes.shown(&column.name);
            let text = text.or_else(|| shown(view, relation, table, &column.name));
            match text.or_else(|| columns::shown(view, name_of, table, &column.name)) {
                Some(text) => format!("{text} AS {name}"),
                None => format!("x.{name}"),
            }
        })
        .collect();
    let schema = relation.schema;
    let mut own = format!("x.{schema} = DATABASE()");
    // The ledgers are nobody's to see: a dump that listed them would fail on them.
    let ledgers = LEDGER.iter().map(|own| literal(own));
    let hidden = view.tables.iter().filter(|t| t.hidden).map(|t| literal(&t.actual));
    let hidden: Vec<String> = hidden.chain(ledgers).collect();
    match table {
        Some(table) => {
            let _ = write!(own, " AND x.{table} NOT IN ({})", hidden.join(", "));
        }
        None if relation.table.is_some() => {
            let _ = write!(own, " AND NOT EXISTS ({})", part_of_any("x.CONSTRAINT_NAME", &hidden));
        }
        None => {}
    }
    if columns.iter().any(|column| column.name == "COLUMN_NAME") {
        own.push_str(&columns::is_seen(view, name, table).unwrap_or_default());
    }
    let vendors = match view.number {
        0 => format!(" OR x.{schema} IN ('{}')", VENDORS.join("', '")),
        _ => String::new(),
    };
    let mut from = format!("information_schema.{name} x");
    if name.starts_with(SCHEMATA) {
        let all: Vec<String> =
            databases(view).iter().map(|name| format!("SELECT {} AS n", literal(name))).collect();
        let _ = write!(
            from,
            " LEFT JOIN ({}) d ON x.SCHEMA_NAME = DATABASE()",
            all.join(" UNION ALL ")
        );
    }
    let limit = match Apart::of(stmt, view) {
        Apart::Yes => " LIMIT 18446744073709551615",
        Apart::No => "",
    };
    Ok(format!("(SELECT {} FROM {from} WHERE {own}{vendors}{limit})", list.join(", ")))
}

/// The logical databases to be listed, never empty.
fn databases<'a>(view: &'a View<'_>) -> Vec<&'a str> {
    match &view.facts.databases[..] {
        [] => vec![view.database],
        all => all.iter().map(String::as_str).collect(),
    }
}

/// What a column is shown as; `None` when it stays.
fn shown(
    view: &View<'_>,
    relation: &Relation,
    table: Option<&str>,
    column: &str,
) -> Option<String> {
    let own = format!("x.{}", MySql.quote(column));
    if column == "SCHEMA_NAME" {
        return Some(format!("COALESCE(d.n, {own})"));
    }
    if column == relation.schema {
        return Some(database(view, &own));
    }
    if Some(column) == table {
        return named(&own, view.tables.iter().filter(|shown| !shown.hidden));
    }
    let (_, role) = relation.columns.iter().find(|(name, _)| *name == column)?;
    match role {
        Role::Database => Some(database(view, &own)),
        Role::Reference => named(&own, view.tables.iter()),
        Role::Definition => Some(definition(view, &own)),
        Role::Part => part(view, &own, table),
    }
}

fn database(view: &View<'_>, own: &str) -> String {
    format!("CASE WHEN {own} = DATABASE() THEN {} ELSE {own} END", literal(view.database))
}

/// Calls that a server is given one inside the other.
const NESTED: usize = 200;

/// A view's text with the logical database's name, and with the tables that stand for logic ones called as these. A view that is shown stands on those that are.
fn definition(view: &View<'_>, own: &str) -> String {
    let database = literal(&format!("{}.", MySql.quote(view.database)));
    let text = format!("REPLACE({own}, CONCAT('`', DATABASE(), '`.'), {database})");
    let parts = view.tables.iter().filter(|shown| !shown.hidden && shown.actual != shown.logic);
    let quoted = |name: &str| literal(&MySql.quote(name));
    parts.take(NESTED).fold(text, |text, shown| {
        format!("REPLACE({text}, {}, {})", quoted(&shown.actual), quoted(&shown.logic))
    })
}

/// The table's logic name.
fn named<'a>(own: &str, tables: impl Iterator<Item = &'a Shown>) -> Option<String> {
    let mut branches = String::new();
    for shown in tables.filter(|shown| shown.actual != shown.logic) {
        let _ = write!(branches, " WHEN {} THEN {}", literal(&shown.actual), literal(&shown.logic));
    }
    (!branches.is_empty()).then(|| format!("CASE {own}{branches} ELSE {own} END"))
}

/// A constraint's name without the actual table's name: Pando puts it at the end, the server itself at the beginning.
fn part(view: &View<'_>, own: &str, table: Option<&str>) -> Option<String> {
    let mut branches = String::new();
    for shown in view.tables.iter().filter(|shown| !shown.hidden && shown.actual != shown.logic) {
        let of_table = match table {
            Some(table) => format!("x.{table} = {} AND ", literal(&shown.actual)),
            None => String::new(),
        };
        let (ending, start) =
            (literal(&format!("_{}", shown.actual)), literal(&format!("{}_", shown.actual)));
        let length = shown.actual.chars().count() + 1;
        let _ = write!(
            branches,
            " WHEN {of_table}RIGHT({own}, {length}) = {ending} THEN LEFT({own}, CHAR_LENGTH({own}) - {length}) \
             WHEN {of_table}LEFT({own}, {length}) = {start} THEN CONCAT({}, SUBSTRING({own}, {}))",
            literal(&format!("{}_", shown.logic)),
            length + 1
        );
    }
    (!branches.is_empty()).then(|| format!("CASE{branches} ELSE {own} END"))
}

/// A sub-query that has a row when a constraint's name is made of one of these tables' names (given as literals).
fn part_of_any(own: &str, tables: &[String]) -> String {
    let list: Vec<String> = tables.iter().map(|table| format!("SELECT {table} AS a")).collect();
    format!(
        "SELECT 1 FROM ({}) v WHERE RIGHT({own}, CHAR_LENGTH(v.a) + 1) = CONCAT('_', v.a) \
         OR LEFT({own}, CHAR_LENGTH(v.a) + 1) = CONCAT(v.a, '_')",
        list.join(" UNION ALL ")
    )
}

pub(super) fn literal(text: &str) -> String {
    MySql.literal(&Value::Text(text.to_owned()))
}
