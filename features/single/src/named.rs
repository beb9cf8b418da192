//! The tables a statement is about, as far as no other room answers for them.

use std::collections::HashMap;
use std::slice;

use pando_kernel::error::{Error, Result};
use pando_sql::Span;
use pando_sql::ast::{Define, DefineAction, Kind, ObjectKind, ObjectName, Statement};
use pando_sql::visit;

use crate::rule::Rule;

/// Schemas and databases of the vendors' own catalogues.
const SYSTEM: [&str; 6] =
    ["information_schema", "mysql", "performance_schema", "pg_catalog", "pg_toast", "sys"];

/// Keys of tables, each once, in the order written.
#[derive(Debug, Default)]
pub(crate) struct Named {
    /// Tables that must exist.
    pub(crate) existing: Vec<String>,
    /// Tables the statement makes, or gives their new name.
    pub(crate) new: Vec<String>,
}

/// The one table of the indexes that a statement names without it: indexes have names of their own where that is possible.
///
/// # Errors
/// `Refused` when tables of several places have an index of that name.
pub(crate) fn owners(
    rule: &Rule,
    names: &[ObjectName],
    indexes: &HashMap<String, String>,
) -> Result<Option<Named>> {
    let mut out = Named::default();
    for name in names.iter().filter_map(|name| name.parts.last()) {
        let Some(owner) = indexes.get(&name.value.to_lowercase()) else { continue };
        if owner.is_empty() {
            return Err(Error::unsupported(
                10500,
                format!("several tables have an index `{}`", name.value),
                "change it on the storage unit that is meant, or with the hint DATA_SOURCE_NAME",
            ));
        }
        if !rule.is_other(owner) && !out.existing.contains(owner) {
            out.existing.push(owner.clone());
        }
    }
    Ok((!out.existing.is_empty()).then_some(out))
}

/// The indexes, or triggers, that are there and that a statement names without their table.
pub(crate) fn index_alone(stmt: &Statement) -> Option<&[ObjectName]> {
    if let Kind::Utility { tables, index: Some(index), .. } = &stmt.kind
        && tables.is_empty()
    {
        return Some(slice::from_ref(index));
    }
    let Kind::Define(define) = &stmt.kind else { return None };
    let is_alone = matches!(define.object, ObjectKind::Index | ObjectKind::Trigger)
        && define.on.is_none()
        && define.action != DefineAction::Create;
    is_alone.then_some(&define.names)
}

/// `None` when the statement names nothing that is a table.
pub(crate) fn named(rule: &Rule, stmt: &Statement) -> Option<Named> {
    let mut out = Named::default();
    let mut skipped: Vec<Span> = Vec::new();
    if let Kind::Define(define) = &stmt.kind {
        match define.object {
            ObjectKind::Table | ObjectKind::View => {}
            ObjectKind::Index | ObjectKind::Trigger => {
                skipped.extend(define.names.iter().map(|name| name.span));
            }
            // A policy, or what COMMENT speaks of, belongs to the table behind ON, and a sequence to that behind OWNED BY.
            ObjectKind::Other | ObjectKind::Sequence if define.on.is_some() => {}
            ObjectKind::Database
            | ObjectKind::Schema
            | ObjectKind::Sequence
            | ObjectKind::Routine
            | ObjectKind::User
            | ObjectKind::Other => return None,
        }
        for name in made(define) {
            skipped.push(name.span);
            push(rule, name, &mut out.new);
        }
    }
    for table in visit::tables(&stmt.kind) {
        if !skipped.contains(&table.name.span) {
            push(rule, table.name, &mut out.existing);
        }
    }
    // A table that refers to itself need not be there before it is made.
    out.existing.retain(|name| !out.new.contains(name));
    (!out.existing.is_empty() || !out.new.is_empty()).then_some(out)
}

fn made(define: &Define) -> impl Iterator<Item = &ObjectName> {
    let creates = define.action == DefineAction::Create
        && matches!(define.object, ObjectKind::Table | ObjectKind::View);
    let names = if creates { define.names.as_slice() } else { &[] };
    // The new name of an index is no table's.
    let tables = !matches!(define.object, ObjectKind::Index | ObjectKind::Trigger);
    names.iter().chain(define.renamed_to.iter().filter(move |_| tables))
}

fn push(rule: &Rule, name: &ObjectName, out: &mut Vec<String>) {
    let Some((last, before)) = name.parts.split_last() else { return };
    let table = last.key();
    let of_system = before.last().is_some_and(|schema| {
        SYSTEM.iter().any(|system| schema.value.eq_ignore_ascii_case(system))
    });
    // `DUAL` is MySQL's name for no table at all.
    let is_vendors = of_system
        || table.starts_with("pg_")
        || table.starts_with(pando_kernel::relation::PREFIX)
        || table == "dual";
    if !is_vendors && !rule.is_other(&table) && !out.contains(&table) {
        out.push(table);
    }
}
