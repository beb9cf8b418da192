//! The sub-query that stands in a relation's place.

use std::fmt::Write as _;

use pando_kernel::dialect::{Language, TableColumn};
use pando_kernel::presentation::Holding;
use pando_kernel::route::Need;
use pando_sql::ast::{Node, Statement};
use pando_sql::visit::{self, Refers};
use pando_sql::{Edits, Span};

use super::columns;
use super::figures;
use super::names::{Around, Names, literal, renamed};
use super::own;
use super::relations::{Owner, Relation, Role};
use crate::dialect::metadata::SYSTEM_COLUMNS;
use crate::dialect::{POSTGRES, Postgres};
use crate::guard::words::LEDGER;

/// Catalogues whose objects are numbered anew in each unit.
const NUMBERED: &str = "'pg_catalog.pg_class'::pg_catalog.regclass, 'pg_catalog.pg_constraint'::pg_catalog.regclass, \
     'pg_catalog.pg_attrdef'::pg_catalog.regclass, 'pg_catalog.pg_trigger'::pg_catalog.regclass, \
     'pg_catalog.pg_rewrite'::pg_catalog.regclass, 'pg_catalog.pg_policy'::pg_catalog.regclass, \
     'pg_catalog.pg_statistic_ext'::pg_catalog.regclass";

/// Those that the statement names.
fn hidden_columns(stmt: &Statement) -> Vec<&'static str> {
    let mut found = Vec::new();
    visit::exprs(&stmt.kind, &mut |expr| {
        if let Node::Column(name) = &expr.node
            && let Some(last) = name.parts.last()
            && let Some(hidden) = SYSTEM_COLUMNS.iter().find(|hidden| **hidden == last.value)
            && !found.contains(hidden)
        {
            found.push(*hidden);
        }
    });
    found
}

/// Takes the schema off qualifiers of columns whose relations a sub-query stands for.
pub(super) fn name_alone(stmt: &Statement, replaced: &[Span], edits: &mut Edits) {
    for owner in visit::column_owners(&stmt.kind) {
        if let (Refers::Table(name), [_, .., last]) = (owner.refers, owner.parts)
            && replaced.contains(&name.span)
        {
            edits.replace(Span::new(owner.span.start, last.span.start), "");
        }
    }
}

/// What is said of the rows while the columns are gone through.
#[derive(Debug, Default)]
struct Rows {
    joins: String,
    conditions: Vec<String>,
}

/// A relation of the catalogue with the columns that the units have of it.
#[derive(Debug)]
pub(super) struct Known<'a> {
    pub(super) relation: &'a Relation,
    pub(super) name: &'a str,
    pub(super) columns: &'a [TableColumn],
}

/// A sub-query in parentheses with the relation's columns; `None` when the relation can stay.
///
/// # Errors
/// What must be found out first.
pub(super) fn sub_query(
    stmt: &Statement,
    names: &Names<'_>,
    known: &Known<'_>,
) -> Result<Option<String>, Need> {
    let Known { relation, name, columns } = *known;
    let hidden = hidden_columns(stmt);
    let wholes = figures::of_relation(stmt, names.view, name, columns)?;
    if relation.owner == Owner::Databases {
        return Ok(databases(names, columns, &hidden));
    }
    if relation.owner == Owner::Session {
        return Ok(Some(own::sub_query(&names.view.facts.own, name, columns)));
    }
    let mut rows = Rows { joins: wholes.join.clone(), conditions: Vec::new() };
    let mut changed = false;
    let mut list: Vec<String> = hidden.iter().map(|name| format!("x.{name}")).collect();
    if let (Owner::Number(owner), false) = (relation.owner, names.are_plain()) {
        own_rows(names, relation, owner, &mut rows);
        changed = true;
    }
    for column in columns {
        let own = format!("x.{}", Postgres.quote(&column.name));
        let text = wholes.shown(&column.name);
        let text = text.or_else(|| shown(names, role(relation, &column.name)?, &own, &mut rows));
        let own_text = text.as_deref().unwrap_or(&own);
        let told =
            columns::shown(names.view, &columns::Asked { name, columns }, &column.name, own_text);
        match told.or(text) {
            Some(text) => {
                changed = true;
                let name = Postgres.quote(&column.name);
                list.push(format!("({text})::{} AS {name}", column.type_name));
            }
            None => list.push(own),
        }
    }
    if names.shift() > 0 && relation.holding == Holding::Tables {
        changed |= only_users(relation, columns, &mut rows);
    }
    if let Some(condition) = no_ledger(relation, columns) {
        rows.conditions.push(condition);
        changed = true;
    }
    if let Some(condition) = columns::is_seen(names.view, name, columns) {
        rows.conditions.push(condition);
        changed = true;
    }
    let filter = match &rows.conditions[..] {
        [] => String::new(),
        all => format!(" WHERE {}", all.join(" AND ")),
    };
    let Relation { schema, .. } = relation;
    let text = format!("(SELECT {} FROM {schema}.{name} x{}{filter})", list.join(", "), rows.joins);
    Ok(changed.then_some(text))
}

/// Columns with the name of a row's schema; that of the ledgers is nobody's to see, and a dump that listed it would fail on it.
const SCHEMAS: [&str; 9] = [
    "nspname",
    "schemaname",
    "table_schema",
    "constraint_schema",
    "sequence_schema",
    "event_object_schema",
    "object_schema",
    "schema_name",
    "view_schema",
];

/// Columns with its number.
const NAMESPACES: [&str; 3] = ["relnamespace", "typnamespace", "connamespace"];

/// The condition that a row has nothing to do with the ledgers; `None` where none has.
fn no_ledger(relation: &Relation, columns: &[TableColumn]) -> Option<String> {
    let of = |names: &[&str]| columns.iter().find(|column| names.contains(&column.name.as_str()));
    let number = format!(
        "(SELECT l.oid FROM pg_catalog.pg_namespace l WHERE l.nspname = {})",
        literal(LEDGER)
    );
    if let Some(column) = of(&SCHEMAS) {
        return Some(format!("x.{} IS DISTINCT FROM {}", column.name, literal(LEDGER)));
    }
    if let Some(column) = of(&NAMESPACES) {
        return Some(format!("x.{} IS DISTINCT FROM {number}", column.name));
    }
    let Owner::Number(owner) = relation.owner else { return None };
    let of_class = of_class(relation, owner);
    Some(format!(
        "NOT EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = x.{owner} AND k.relnamespace = {number}{of_class})"
    ))
}

fn role(relation: &Relation, column: &str) -> Option<Role> {
    let of_information = relation.schema == "information_schema"
        && (column.ends_with("_catalog") || column == "catalog_name");
    if of_information {
        return Some(Role::Database);
    }
    relation.columns.iter().find(|(name, _)| *name == column).map(|(_, role)| *role)
}

/// Joins the row's owner as `m` and leaves out what is not shown.
fn own_rows(names: &Names<'_>, relation: &Relation, owner: &str, rows: &mut Rows) {
    let of_class = of_class(relation, owner);
    let owner = match owner {
        // An array of a table's rows belongs to the table, too.
        "typrelid" => "CASE WHEN x.typelem = 0 THEN x.typrelid ELSE (SELECT e.typrelid FROM pg_catalog.pg_type e \
             WHERE e.oid = x.typelem AND e.typarray = x.oid) END"
            .to_owned(),
        owner => format!("x.{owner}"),
    };
    let _ = write!(rows.joins, " LEFT JOIN {} m ON m.oid = {owner}{of_class}", names.owned());
    rows.conditions.push("m.h IS NOT TRUE".into());
}

/// What a column is shown as; `None` when it stays.
fn shown(names: &Names<'_>, role: Role, own: &str, rows: &mut Rows) -> Option<String> {
    match role {
        Role::Own => (!names.are_plain()).then(|| renamed(own, "m")),
        Role::Table(_) | Role::Part | Role::Sequence(_) if names.are_plain() => None,
        Role::Table(schema) => {
            let schema = format!("x.{schema}");
            Some(looked_up(own, rows, |alias| names.table_join(own, &schema, alias)))
        }
        Role::Part => {
            let row = names.part_row(own);
            Some(looked_up(own, rows, |alias| format!(" LEFT JOIN LATERAL {row} {alias} ON true")))
        }
        Role::Sequence(schema) => {
            let number = by_its_name(schema, own);
            let owned = names.owned();
            Some(looked_up(own, rows, |alias| {
                format!(" LEFT JOIN {owned} {alias} ON {alias}.oid = {number}")
            }))
        }
        Role::Number => (names.shift() > 0).then(|| names.shown_number(own)),
        Role::Type => names.shown_type(own),
        Role::Object(class) => (names.shift() > 0).then(|| {
            let shown = names.shown_number(own);
            format!("CASE WHEN x.{class} IN ({NUMBERED}) THEN {shown} ELSE {own} END")
        }),
        Role::Database => Some(format!(
            "CASE WHEN {own}::pg_catalog.text = pg_catalog.current_database()::pg_catalog.text THEN {} ELSE {own}::pg_catalog.text END",
            literal(names.view.database)
        )),
        Role::Process => {
            let id = names.view.facts.id;
            let is_behind = format!("{own} = pg_catalog.pg_backend_pid()");
            // Another one of the same number would be taken for it.
            rows.conditions.push(format!("({is_behind} OR {own} IS DISTINCT FROM {id})"));
            Some(format!("CASE WHEN {is_behind} THEN {id} ELSE {own} END"))
        }
        Role::Definition => (!names.are_plain()).then(|| {
            let Around { before, behind } = names.around_definition("text");
            format!("{before}{own}{behind}")
        }),
    }
}

/// The number of the relation with this name in the schema that the other column names.
fn by_its_name(schema: &str, name: &str) -> String {
    format!("pg_catalog.to_regclass(pg_catalog.format('%I.%I', x.{schema}, {name}))")
}

/// Joins a row of names found by the column itself, and renames by it.
fn looked_up(own: &str, rows: &mut Rows, join: impl FnOnce(&str) -> String) -> String {
    let alias = format!("n{}", rows.conditions.len());
    rows.joins.push_str(&join(&alias));
    rows.conditions.push(format!("{alias}.h IS NOT TRUE"));
    renamed(own, &alias)
}

/// All units but the first leave out what comes with the server: the first one shows it.
fn only_users(relation: &Relation, columns: &[TableColumn], rows: &mut Rows) -> bool {
    if let Owner::Number(owner) = relation.owner {
        rows.conditions.push(Names::is_users(&format!("x.{owner}")));
        if let Some(Role::Object(class)) = role(relation, owner) {
            // Of functions, types and extensions the first unit tells.
            rows.conditions.push(format!("x.{class} IN ({NUMBERED})"));
        }
        if owner == "oid" {
            rows.conditions.push(format!("x.relkind <> 't' AND NOT {}", alike("x")));
        } else if owner == "seqrelid" {
            rows.conditions.push(of_a_table("x.seqrelid"));
        } else {
            rows.conditions.push(format!(
                "NOT EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = x.{owner}{} AND {})",
                of_class(relation, owner),
                alike("k")
            ));
        }
        return true;
    }
    let sequence = columns.iter().find_map(|column| match role(relation, &column.name) {
        Some(Role::Sequence(schema)) => Some((schema, &column.name)),
        Some(_) | None => None,
    });
    if let Some((schema, name)) = sequence {
        rows.conditions.push(of_a_table(&by_its_name(schema, &format!("x.{name}"))));
    }
    let schema = columns.iter().find(|column| {
        matches!(
            column.name.as_str(),
            "schemaname" | "table_schema" | "constraint_schema" | "sequence_schema"
        )
    });
    if let Some(schema) = schema {
        rows.conditions.push(format!(
            "x.{}::pg_catalog.text NOT IN ('pg_catalog', 'information_schema', 'pg_toast')",
            schema.name
        ));
    }
    schema.is_some()
}

/// The condition that a row of `pg_class` is made on every unit alike: composite types, and sequences that belong to no
/// table.
fn alike(class: &str) -> String {
    let of_a_table = of_a_table(&format!("{class}.oid"));
    format!("({class}.relkind = 'c' OR {class}.relkind = 'S' AND NOT {of_a_table})")
}

/// The condition, for an owner whose class stands in another column, that it is a relation; begins with `AND`, empty
/// for others.
fn of_class(relation: &Relation, owner: &str) -> String {
    match role(relation, owner) {
        Some(Role::Object(class)) => {
            format!(" AND x.{class} = 'pg_catalog.pg_class'::pg_catalog.regclass")
        }
        Some(_) | None => String::new(),
    }
}

/// The condition that a sequence counts for a column of a table.
fn of_a_table(number: &str) -> String {
    format!(
        "EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = {number} \
         AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjsubid > 0 AND d.deptype IN ('a', 'i'))"
    )
}

/// One row per logical database and one for that which is always there, all of them with what the unit says of its own.
fn databases(names: &Names<'_>, columns: &[TableColumn], hidden: &[&str]) -> Option<String> {
    let current = names.view.database;
    let others =
        names.view.facts.databases.iter().filter(|name| !name.eq_ignore_ascii_case(current));
    let named: Vec<&str> = std::iter::once(current).chain(others.map(String::as_str)).collect();
    let login = Some(POSTGRES).filter(|login| !named.contains(login));
    let all: Vec<String> = named
        .iter()
        .copied()
        .chain(login)
        .enumerate()
        .map(|(i, name)| format!("({}::pg_catalog.name, {i})", literal(name)))
        .collect();
    let own = columns.iter().map(|column| match column.name.as_str() {
        "oid" => "(x.oid::pg_catalog.int8 + d.i)::pg_catalog.oid AS oid".to_owned(),
        "datname" => "d.n AS datname".to_owned(),
        name => format!("x.{}", Postgres.quote(name)),
    });
    let list: Vec<String> = hidden.iter().map(|name| format!("x.{name}")).chain(own).collect();
    Some(format!(
        "(SELECT {} FROM pg_catalog.pg_database x CROSS JOIN (VALUES {}) d(n, i) WHERE x.datname = pg_catalog.current_database())",
        list.join(", "),
        all.join(", ")
    ))
}
