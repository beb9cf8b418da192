//! What tables stand in: storage units, and groups of them under one name.

use std::sync::Arc;

use pando_config::Database;
use pando_kernel::route::{Place, UnitName};

/// What rooms make of storage units.
#[derive(Debug, Default)]
pub(crate) struct Grouped {
    /// Groups of storage units.
    pub(crate) groups: Vec<Place>,
    /// Storage units and groups beside which others stand as their shadows, under a name for both.
    pub(crate) shadowed: Vec<Place>,
    /// The storage units that are shadows, and those that copies go to.
    pub(crate) apart: Vec<UnitName>,
}

/// Storage units in file order; members of a group give way to the group, which stands where its first member stood.
/// What has a shadow gives way to the name that it has together with it; shadows and mirrors are no places.
pub(crate) fn places(database: &Database, grouped: &Grouped) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for unit in &database.storage_units {
        let name: UnitName = unit.name.as_str().into();
        if grouped.apart.contains(&name) {
            continue;
        }
        let has = |group: &&Place| group.members.contains(&name);
        let mut own: Vec<&Place> = grouped.shadowed.iter().filter(has).collect();
        if own.is_empty() {
            own = grouped.groups.iter().filter(has).collect();
        }
        if own.is_empty() {
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

/// The storage units that take writes, in file order. A member that leads its group now stands where the configured one stood: the first unit has the
/// sequences that count, so the order must not follow the leaders.
pub(crate) fn writers(database: &Database, configured: &[Place], now: &[Place]) -> Vec<UnitName> {
    let mut writers: Vec<UnitName> = Vec::new();
    for unit in &database.storage_units {
        let name: UnitName = unit.name.as_str().into();
        let mut own = configured.iter().filter(|group| group.members.contains(&name)).peekable();
        let leads = |group: &Place| group.members.first() == Some(&name);
        let writer = match own.peek() {
            None => Some(name.clone()),
            Some(_) => own.find(|group| leads(group)).map(|group| leader(group, now, &name)),
        };
        writers.extend(writer.filter(|writer| !writers.contains(writer)));
    }
    writers
}

fn leader(group: &Place, now: &[Place], otherwise: &UnitName) -> UnitName {
    let leads = now.iter().find(|other| other.name == group.name);
    leads.and_then(|group| group.members.first()).unwrap_or(otherwise).clone()
}
