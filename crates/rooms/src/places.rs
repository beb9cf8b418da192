//! What tables stand in: storage units, and groups of them under one name.

use std::sync::Arc;

use pando_config::{Database, PoolOptions};
use pando_kernel::route::{Place, UnitName};
use pando_readwrite::GroupMembers;

use crate::Unit;

/// Connections a group's catalogue may use at once; it is read rarely and one table at a time.
const CATALOGUE_CONNECTIONS: u32 = 2;

/// Storage units in file order; members of a group give way to the group, which stands where its first member stood.
pub(crate) fn places(database: &Database, groups: &[GroupMembers]) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for unit in &database.storage_units {
        let name: UnitName = unit.name.as_str().into();
        let of_group = |group: &&GroupMembers| group.write == name || group.reads.contains(&name);
        let mut groups = groups.iter().filter(of_group).peekable();
        if groups.peek().is_none() {
            places.push(Place { name: Arc::clone(&name), members: vec![name] });
            continue;
        }
        for group in groups {
            if places.iter().any(|place| place.name == group.name) {
                continue;
            }
            let mut members = vec![Arc::clone(&group.write)];
            members.extend(group.reads.iter().filter(|read| **read != group.write).cloned());
            places.push(Place { name: Arc::clone(&group.name), members });
        }
    }
    places
}

/// The storage units that take writes, in file order.
pub(crate) fn writers(database: &Database, groups: &[GroupMembers]) -> Vec<UnitName> {
    let only_reads = |name: &str| {
        groups.iter().any(|group| group.reads.iter().any(|read| **read == *name))
            && !groups.iter().any(|group| *group.write == *name)
    };
    let names = database.storage_units.iter().map(|unit| unit.name.as_str());
    names.filter(|name| !only_reads(name)).map(UnitName::from).collect()
}

/// Tables of a group are known by the group's name, and their columns are asked for under it: the write unit answers.
pub(crate) fn with_catalogues(mut units: Vec<Unit>, groups: &[GroupMembers]) -> Vec<Unit> {
    for group in groups {
        let Some(write) = units.iter().find(|unit| unit.name == group.write) else { continue };
        let pool = PoolOptions { min: 0, max: CATALOGUE_CONNECTIONS, ..write.pool.clone() };
        let connector = Arc::clone(&write.connector);
        units.push(Unit { name: Arc::clone(&group.name), connector, pool });
    }
    units
}
