//! Which of the tables that stand on storage units are single ones.

use std::collections::BTreeSet;
use std::sync::Arc;

use pando_config::Database;
use pando_model::SingleTable;

use crate::house::{Found, House};

/// The storage units behind a name: the members of a group, else the unit itself.
pub(crate) fn members(database: &Database, name: &str) -> Vec<String> {
    let groups = database.rules.readwrite.iter().flat_map(|section| section.groups.iter());
    let mut group = groups.filter(|(own, _)| own.value == name);
    match group.next() {
        Some((_, group)) => {
            let read = group.read.iter().map(|unit| unit.value.clone());
            std::iter::once(group.write.value.clone()).chain(read).collect()
        }
        None => vec![name.to_owned()],
    }
}

/// The tables that no other rule speaks of, under the names of their unit or group; of a group only what its writing unit has.
pub(crate) fn single(
    database: &Database,
    house: &Arc<dyn House>,
    found: &[Found],
) -> Vec<SingleTable> {
    let ruled: BTreeSet<(String, String)> = house
        .rooms(database)
        .unwrap_or_default()
        .into_iter()
        .filter(|table| match table.kind {
            pando_kernel::feature::TableKind::Sharded
            | pando_kernel::feature::TableKind::Broadcast => true,
            pando_kernel::feature::TableKind::Single => false,
        })
        .flat_map(|table| table.nodes)
        .flat_map(|node| {
            let name = node.table.to_lowercase();
            members(database, &node.unit).into_iter().map(move |unit| (unit, name.clone()))
        })
        .collect();
    let groups = || database.rules.readwrite.iter().flat_map(|section| section.groups.iter());
    let mut tables = Vec::new();
    for one in found {
        if ruled.contains(&(one.unit.clone(), one.table.to_lowercase())) {
            continue;
        }
        let is_replica = groups()
            .any(|(_, group)| group.read.iter().any(|unit| unit.value == one.unit))
            && !groups().any(|(_, group)| group.write.value == one.unit);
        if is_replica {
            continue;
        }
        let group = groups().find(|(_, group)| group.write.value == one.unit);
        let unit = group.map_or_else(|| one.unit.clone(), |(name, _)| name.value.clone());
        tables.push(SingleTable { table: one.table.clone(), unit, schema: one.schema.clone() });
    }
    tables.sort_by(|a, b| (&a.table, &a.unit).cmp(&(&b.table, &b.unit)));
    tables
}

/// Those that the rule `!SINGLE` does not name, neither one by one nor by a pattern.
pub(crate) fn unloaded(database: &Database, single: &[SingleTable]) -> Vec<SingleTable> {
    let patterns: Vec<Vec<&str>> = database
        .rules
        .single
        .iter()
        .flat_map(|section| &section.tables)
        .map(|pattern| pattern.value.split('.').collect())
        .collect();
    let fits = |wanted: &str, name: &str| wanted == "*" || wanted.eq_ignore_ascii_case(name);
    let is_loaded = |one: &SingleTable| {
        patterns.iter().any(|pattern| match pattern[..] {
            [unit, table] => fits(unit, &one.unit) && fits(table, &one.table),
            [unit, schema, table] => {
                fits(unit, &one.unit)
                    && fits(schema, one.schema.as_deref().unwrap_or_default())
                    && fits(table, &one.table)
            }
            _ => false,
        })
    };
    single.iter().filter(|one| !is_loaded(one)).cloned().collect()
}
