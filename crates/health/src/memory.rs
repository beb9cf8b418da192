//! What a group remembers over the moment: who led, whose cluster it is, who was seen as a copy.

use std::collections::{BTreeMap, BTreeSet};

use pando_kernel::Position;
use pando_kernel::health::{Role, Vitals};
use pando_kernel::route::{Place, UnitName};

use crate::{Standing, UnitState};

/// What a group remembers. It outlives a restart when its text is kept: without it, a group whose configured writer is gone must find out anew
/// whom to trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Who takes the writes, or took them last.
    pub(crate) primary: UnitName,
    /// The cluster that the group's data is of.
    pub(crate) cluster: Option<String>,
    /// The highest timeline a primary of the group was seen on.
    pub(crate) timeline: Option<u32>,
    /// Members that were seen as copies of the group's data, and have not led since.
    pub(crate) kin: BTreeSet<UnitName>,
    /// Members that led, and have not been seen as copies since.
    pub(crate) deposed: BTreeSet<UnitName>,
}

impl Memory {
    /// Of a group of which nothing is known but its configured writer.
    pub(crate) fn new(place: &Place) -> Option<Self> {
        Some(Self {
            primary: place.members.first()?.clone(),
            cluster: None,
            timeline: None,
            kin: BTreeSet::new(),
            deposed: BTreeSet::new(),
        })
    }

    /// Learns from what the members tell.
    pub(crate) fn learn(&mut self, place: &Place, units: &BTreeMap<UnitName, UnitState>) {
        self.learn_cluster(place, units);
        for unit in &place.members {
            let Some(vitals) = told(units, unit) else { continue };
            if self.is_foreign(vitals) {
                self.kin.remove(unit);
                continue;
            }
            let is_copy = vitals.role == Role::Standby || vitals.source.is_some();
            if is_copy && (self.is_own(vitals) || follows_member(place, unit, vitals, units)) {
                self.kin.insert(unit.clone());
                self.deposed.remove(unit);
            }
        }
    }

    /// The leader tells the cluster. A configured writer may come back with another one: then somebody has made it anew.
    fn learn_cluster(&mut self, place: &Place, units: &BTreeMap<UnitName, UnitState>) {
        let Some(vitals) = told(units, &self.primary) else { return };
        let is_configured = place.members.first() == Some(&self.primary);
        if self.is_foreign(vitals) && is_configured {
            (self.cluster, self.timeline) = (None, None);
            self.kin.clear();
        }
        if self.cluster.is_none() {
            self.cluster.clone_from(&vitals.cluster);
        }
        if leads(vitals) && !self.is_foreign(vitals) {
            self.timeline = timeline(vitals).max(self.timeline);
        }
    }

    /// Another member leads from now on.
    pub(crate) fn crown(&mut self, unit: &UnitName, vitals: Option<&Vitals>) {
        self.kin.remove(unit);
        self.deposed.remove(unit);
        if self.primary != *unit {
            self.deposed.insert(std::mem::replace(&mut self.primary, unit.clone()));
        }
        if let Some(vitals) = vitals {
            self.timeline = timeline(vitals).max(self.timeline);
            if self.cluster.is_none() {
                self.cluster.clone_from(&vitals.cluster);
            }
        }
    }

    /// Whether it is known to belong to the group's cluster.
    pub(crate) fn is_own(&self, vitals: &Vitals) -> bool {
        vitals.cluster.is_some() && vitals.cluster == self.cluster
    }

    /// Whether it is known to belong to another cluster.
    pub(crate) fn is_foreign(&self, vitals: &Vitals) -> bool {
        self.cluster.is_some() && vitals.cluster.is_some() && vitals.cluster != self.cluster
    }

    /// A line for each thing remembered, for [`Memory::parse`].
    pub fn to_text(&self) -> String {
        let mut text = format!("primary {}\n", self.primary);
        let mut line = |name: &str, value: &str| text.push_str(&format!("{name} {value}\n"));
        self.cluster.iter().for_each(|cluster| line("cluster", cluster));
        self.timeline.iter().for_each(|timeline| line("timeline", &timeline.to_string()));
        self.kin.iter().for_each(|unit| line("kin", unit));
        self.deposed.iter().for_each(|unit| line("deposed", unit));
        text
    }

    /// Reads [`Memory::to_text`] for a group. `None` when it is not such a text, or not about this group's members.
    pub fn parse(text: &str, place: &Place) -> Option<Self> {
        let member = |name: &str| place.members.iter().find(|unit| ***unit == *name).cloned();
        let mut memory = Self::new(place)?;
        let mut has_primary = false;
        for line in text.lines() {
            let (name, value) = line.split_once(' ')?;
            match name {
                "primary" => {
                    memory.primary = member(value)?;
                    has_primary = true;
                }
                "cluster" => memory.cluster = Some(value.to_owned()),
                "timeline" => memory.timeline = Some(value.parse().ok()?),
                "kin" => memory.kin.extend(member(value)),
                "deposed" => memory.deposed.extend(member(value)),
                _ => return None,
            }
        }
        has_primary.then_some(memory)
    }
}

pub(crate) fn told<'a>(
    units: &'a BTreeMap<UnitName, UnitState>,
    unit: &UnitName,
) -> Option<&'a Vitals> {
    units.get(unit).and_then(UnitState::told)
}

pub(crate) fn standing(units: &BTreeMap<UnitName, UnitState>, unit: &UnitName) -> Standing {
    units.get(unit).map_or(Standing::Unseen, UnitState::standing)
}

/// Whether it says that it takes writes.
pub(crate) fn leads(vitals: &Vitals) -> bool {
    match vitals.role {
        Role::Primary | Role::Peer => true,
        Role::Standby | Role::Unknown => false,
    }
}

pub(crate) fn timeline(vitals: &Vitals) -> Option<u32> {
    match vitals.position {
        Some(Position::Log { timeline, .. }) => Some(timeline),
        Some(Position::Transactions(_)) | None => None,
    }
}

/// Whether another member is, or was when it last told, the node that this one copies.
fn follows_member(
    place: &Place,
    unit: &UnitName,
    vitals: &Vitals,
    units: &BTreeMap<UnitName, UnitState>,
) -> bool {
    let node = |other: &UnitName| units.get(other)?.vitals()?.node.as_ref();
    let others = place.members.iter().filter(|other| *other != unit);
    vitals.source.is_some() && others.map(node).any(|node| node == vitals.source.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_survives_as_text() {
        let place = Place { name: "g".into(), members: ["w", "r", "s"].map(UnitName::from).into() };
        let mut memory = Memory::new(&place).unwrap();
        memory.crown(&"r".into(), None);
        memory.cluster = Some("77 a".into());
        memory.timeline = Some(2);
        memory.kin.insert("s".into());
        assert_eq!(Memory::parse(&memory.to_text(), &place), Some(memory));
        for wrong in [
            "",
            "cluster x\n",
            "primary nobody\n",
            "primary w\nwhat x\n",
            "primary w\ntimeline x\n",
        ] {
            assert_eq!(Memory::parse(wrong, &place), None, "{wrong}");
        }
    }
}
