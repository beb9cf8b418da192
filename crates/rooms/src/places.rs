//! What tables stand in: storage units, and groups of them under one name.

use std::sync::Arc;

use pando_config::Database;
use pando_kernel::route::{Place, UnitName};

/// Storage units in file order; members of a group give way to the group, which stands where its first member stood.
pub(crate) fn places(database: &Database, groups: &[Place]) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for unit in &database.storage_units {
        let name: UnitName = unit.name.as_str().into();
        let mut own = groups.iter().filter(|group| group.members.contains(&name)).peekable();
        if own.peek().is_none() {
            places.push(Place { name: Arc::clone(&name), members: vec![name] });
            continue;
        }
        for group in own {
            if !places.contains(group) {
                places.push(group.clone());
            }
        }
    }
    places
}

/// The storage units that take writes, in file order.
pub(crate) fn writers(database: &Database, groups: &[Place]) -> Vec<UnitName> {
    let writes = |name: &UnitName| {
        let mut own = groups.iter().filter(|group| group.members.contains(name)).peekable();
        own.peek().is_none() || own.any(|group| group.members.first() == Some(name))
    };
    let names = database.storage_units.iter().map(|unit| UnitName::from(unit.name.as_str()));
    names.filter(writes).collect()
}
