//! Single tables.

use std::collections::HashSet;

use pando_config::Node;
use pando_distsql::command::{Name, SingleTables};

use super::table::defined_as;
use crate::canonical::{list, names};
use crate::change::Check;
use crate::draft::Draft;
use crate::refusal::{Kind, Refusal, Result, listed};

const TAG: &str = "SINGLE";
/// What a whole that cannot be served is refused as.
const INVALID: Kind = Kind::InvalidSingle;

fn current(draft: &Draft<'_>) -> Vec<String> {
    draft.field(TAG, "tables").map(names).unwrap_or_default()
}

fn store(draft: &mut Draft<'_>, tables: &[String]) {
    draft.tree.change_rule(TAG, |section| section.set("tables", list(tables)));
}

pub(super) fn set_default(draft: &mut Draft<'_>, unit: Option<&Name>) -> Result<Kind> {
    let Some(unit) = unit else {
        draft.tree.change_rule(TAG, |section| section.remove("defaultDataSource"));
        return Ok(INVALID);
    };
    draft.need_places([unit.text.as_str()])?;
    let node = Node::text(unit.text.as_str());
    draft.tree.change_rule(TAG, |section| section.set("defaultDataSource", node));
    Ok(INVALID)
}

/// `unit.table` or `unit.schema.table`, as documents have it.
fn pattern(tables: &SingleTables) -> String {
    let part = |name: &Option<Name>| name.as_ref().map_or("*", |name| &name.text).to_owned();
    let schema = tables.schema.as_ref().map(part);
    let parts = [Some(part(&tables.unit)), schema, Some(part(&tables.table))];
    parts.into_iter().flatten().collect::<Vec<_>>().join(".")
}

pub(super) fn load(draft: &mut Draft<'_>, tables: &[SingleTables]) -> Result<Kind> {
    let units = tables.iter().filter_map(|tables| tables.unit.as_ref());
    draft.need_places(units.map(|unit| unit.text.as_str()))?;
    let mut all = current(draft);
    let mut known: HashSet<String> = all.iter().map(|own| own.to_lowercase()).collect();
    let mut asked = HashSet::new();
    for tables in tables {
        if let Some(name) = names_of(tables).find(|name| name.contains(['.', ','])) {
            let message =
                format!("`{name}` cannot be named among single tables, as it has a `.` or `,`");
            return Err(Refusal::new(Kind::InvalidSingle, message));
        }
        let pattern = pattern(tables);
        if let (Some(unit), Some(table)) = (&tables.unit, &tables.table) {
            not_ruled(draft, &table.text)?;
            not_elsewhere(draft, &all, &unit.text, &table.text)?;
            let schema = tables.schema.as_ref().and_then(Option::as_ref);
            let check = Check::HasTable {
                unit: unit.text.clone(),
                schema: schema.map(|name| name.text.clone()),
                table: table.text.clone(),
            };
            if asked.insert(pattern.clone()) {
                draft.checks.push(check);
            }
        }
        if known.insert(pattern.to_lowercase()) {
            all.push(pattern);
        }
    }
    store(draft, &all);
    Ok(INVALID)
}

/// A table that is split or repeated over units does not stand in one.
fn not_ruled(draft: &Draft<'_>, table: &str) -> Result<()> {
    let broadcast = draft.field("BROADCAST", "tables").map(names).unwrap_or_default();
    let rule = if defined_as(draft.section("SHARDING"), table).is_some() {
        "sharded"
    } else if broadcast.iter().any(|own| own.eq_ignore_ascii_case(table)) {
        "broadcast"
    } else {
        return Ok(());
    };
    let message = format!("table `{table}` of database `{}` is {rule}", draft.name);
    Err(Refusal::new(Kind::InvalidSingle, message))
}

/// A name can only be served from one unit.
fn not_elsewhere(draft: &Draft<'_>, all: &[String], unit: &str, table: &str) -> Result<()> {
    let other = all.iter().find(|own| {
        let of = own.split('.').next().unwrap_or_default();
        last(own).eq_ignore_ascii_case(table) && of != unit && of != "*"
    });
    let Some(other) = other else { return Ok(()) };
    let message = format!(
        "single table `{table}` of database `{}` is loaded as `{other}` already; unload that first",
        draft.name
    );
    Err(Refusal::new(INVALID, message))
}

fn names_of(tables: &SingleTables) -> impl Iterator<Item = &str> {
    let schema = tables.schema.as_ref().and_then(Option::as_ref);
    let names = [tables.unit.as_ref(), schema, tables.table.as_ref()];
    names.into_iter().flatten().map(|name| name.text.as_str())
}

pub(super) fn unload(draft: &mut Draft<'_>, tables: &[SingleTables]) -> Result<Kind> {
    let mut all = current(draft);
    let mut missing = Vec::new();
    for tables in tables {
        let before = all.len();
        if tables.unit.is_none() && tables.table.is_none() {
            all.clear();
        } else {
            let wanted = pattern(tables);
            let is_meant = |own: &str| match (&tables.unit, &tables.table) {
                // A table alone, wherever it is.
                (None, Some(table)) => last(own).eq_ignore_ascii_case(&table.text),
                // A whole unit, with whatever is named of it.
                (Some(unit), None) if tables.schema.as_ref().is_none_or(Option::is_none) => {
                    own.split('.').next() == Some(unit.text.as_str())
                }
                (Some(_) | None, Some(_) | None) => own.eq_ignore_ascii_case(&wanted),
            };
            all.retain(|own| !is_meant(own));
        }
        if all.len() == before && tables.table.is_some() {
            missing.push(pattern(tables));
        }
    }
    if !missing.is_empty() {
        let message = format!(
            "single tables {} are not named by the rules of database `{}`; what a `*` takes in can only be unloaded with it",
            listed(missing.iter().map(String::as_str)),
            draft.name
        );
        return Err(Refusal::new(Kind::MissingSingleTable, message));
    }
    store(draft, &all);
    Ok(INVALID)
}

fn last(pattern: &str) -> &str {
    pattern.rsplit('.').next().unwrap_or(pattern)
}

pub(super) fn unload_all(draft: &mut Draft<'_>) -> Kind {
    store(draft, &[]);
    INVALID
}

/// Takes out what names a unit that goes.
pub(super) fn forget_unit(draft: &mut Draft<'_>, unit: &str) {
    let mut all = current(draft);
    let before = all.len();
    all.retain(|own| own.split('.').next() != Some(unit));
    if all.len() != before {
        store(draft, &all);
    }
}
