//! Rows that a change of the rules would put out of reach, or leave where nobody looks for them.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use pando_config::rules::Group;
use pando_config::{Node, StorageUnit};
use pando_kernel::feature::{DataNode, LogicTable, TableKind};
use pando_kernel::route::UnitName;

use crate::around::Around;
use crate::change::{Check, Lost};
use crate::draft::{Seen, see};
use crate::moved::{self, Spread};
use crate::refusal::Kind;

/// What must hold on the storage units before the new rules may: every row stays within reach, under the name it had, where the rules look for it.
///
/// Nothing is asked about tables that mean the same before and after, however that is written.
pub(crate) fn checks(old: Option<&Node>, new: &Seen, around: &Around<'_>) -> Vec<Check> {
    // What cannot be read is not served, and so has nothing to lose.
    let old = old.and_then(|old| see(old, around, Kind::InvalidRule).ok());
    let before = old.as_ref().map(Side::of).unwrap_or_default();
    let after = Side::of(new).following(&before);
    let mut checks = before.carried(&after);
    for (name, table) in &before.tables {
        checks.extend(before.leaves(table, after.tables.get(name).copied(), &after));
    }
    for (name, table) in &after.tables {
        if !before.tables.contains_key(name) {
            checks.extend(after.enters(table));
        }
    }
    checks
}

/// The tables that rules speak of, and where things stand.
#[derive(Default)]
struct Side<'s> {
    seen: Option<&'s Seen>,
    /// Sharded and broadcast tables by their names in lower case.
    tables: BTreeMap<String, &'s LogicTable>,
    /// Tables that are loaded from one place by name, in lower case.
    loaded: HashSet<String>,
    /// Groups to the storage unit that takes their writes.
    writers: BTreeMap<&'s str, UnitName>,
    /// The storage units, without those that only copy another.
    units: Vec<UnitName>,
}

impl<'s> Side<'s> {
    fn of(seen: &'s Seen) -> Self {
        let groups = seen.database.rules.readwrite.iter().flat_map(|rule| rule.groups.iter());
        let (mut writers, mut copies) = (BTreeMap::new(), HashSet::new());
        for (name, group) in groups {
            writers.insert(name.value.as_str(), UnitName::from(group.write.as_str()));
            copies.extend(group.read.iter().map(|unit| unit.as_str()));
        }
        copies.retain(|unit| !writers.values().any(|writer| **writer == **unit));
        let units = seen.database.storage_units.iter().map(|unit| unit.name.as_str());
        let units = units.filter(|unit| !copies.contains(unit)).map(UnitName::from).collect();
        let key = |table: &LogicTable| table.name.to_lowercase();
        let is_ruled = |table: &&LogicTable| table.kind != TableKind::Single;
        let (ruled, loaded): (Vec<_>, Vec<_>) = seen.tables.iter().partition(is_ruled);
        Self {
            seen: Some(seen),
            tables: ruled.into_iter().map(|table| (key(table), table)).collect(),
            loaded: loaded.into_iter().map(key).collect(),
            writers,
            units,
        }
    }

    /// The same, where a group whose writes another of its members takes now still stands where it stood: the members are copies of each other.
    fn following(mut self, before: &Self) -> Self {
        for (name, writer) in &mut self.writers {
            let Some(old) = before.writers.get(name).filter(|_| before.has(name, writer)) else {
                continue;
            };
            *writer = Arc::clone(old);
        }
        self
    }

    /// Whether a group has this member.
    fn has(&self, group: &str, member: &str) -> bool {
        let rule = self.seen.and_then(|seen| seen.database.rules.readwrite.as_ref());
        let mut groups = rule.into_iter().flat_map(|rule| rule.groups.iter());
        groups.any(|(name, own)| {
            let mut members = std::iter::once(&own.write).chain(&own.read);
            name.value == group && members.any(|unit| unit.as_str() == member)
        })
    }

    /// Storage units that stand elsewhere then, and those that are copies then.
    fn carried(&self, after: &Side<'_>) -> Vec<Check> {
        let (Some(before), Some(seen)) = (self.seen, after.seen) else { return Vec::new() };
        let mut checks = Vec::new();
        for old in &before.database.storage_units {
            let name = old.name.as_str();
            let Some(new) = seen.database.storage_unit(name) else { continue };
            let place = |unit: &StorageUnit| {
                (unit.url.host.to_lowercase(), unit.url.port, unit.url.database.clone())
            };
            if place(old) != place(new) {
                checks.push(Check::IsCarried { unit: name.to_owned() });
            }
            let was_own = self.units.iter().any(|unit| **unit == *name);
            if let Some(of) = after.leader(name).filter(|_| was_own) {
                checks.push(Check::IsCopy { unit: name.to_owned(), of });
            }
        }
        checks
    }

    /// The storage unit that one is a copy of.
    fn leader(&self, copy: &str) -> Option<String> {
        if self.units.iter().any(|unit| **unit == *copy) {
            return None;
        }
        let groups = self.seen?.database.rules.readwrite.iter();
        let mut groups = groups.flat_map(|rule| rule.groups.iter());
        let is_own = |group: &Group| group.read.iter().any(|unit| unit.as_str() == copy);
        let (_, group) = groups.find(|(_, group)| is_own(group))?;
        Some(group.write.as_str().to_owned())
    }

    /// A table's nodes by the storage units that hold them: a group is another word for the one that takes its writes.
    fn homes(&self, table: &LogicTable) -> Vec<DataNode> {
        let home = |node: &DataNode| DataNode {
            unit: self.writers.get(&*node.unit).unwrap_or(&node.unit).clone(),
            table: Arc::clone(&node.table),
        };
        table.nodes.iter().map(home).collect()
    }

    /// What must hold before a table means what it means then.
    fn leaves(
        &self,
        table: &LogicTable,
        then: Option<&LogicTable>,
        after: &Side<'_>,
    ) -> Vec<Check> {
        let name = table.name.clone();
        let Some(then) = then else {
            return self.dropped(table, self.homes(table), after).into_iter().collect();
        };
        match (table.kind, then.kind) {
            (TableKind::Sharded, TableKind::Sharded) => self.changed(table, then, after),
            (TableKind::Broadcast, TableKind::Broadcast) => {
                let (nodes, later) = (self.homes(table), after.homes(then));
                let grows = later.iter().any(|node| !nodes.contains(node));
                grows.then_some(Check::IsAlike { table: name, nodes: later }).into_iter().collect()
            }
            (TableKind::Sharded | TableKind::Broadcast | TableKind::Single, _) => {
                let nodes = self.homes(table);
                let mut checks = vec![Check::IsEmpty { table: name, nodes, lost: Lost::Moved }];
                checks.extend(after.enters(then));
                checks
            }
        }
    }

    fn changed(&self, table: &LogicTable, then: &LogicTable, after: &Side<'_>) -> Vec<Check> {
        let (nodes, later) = (self.homes(table), after.homes(then));
        let rule =
            |side: &Side<'s>| side.seen.and_then(|seen| seen.database.rules.sharding.as_ref());
        let rules =
            rule(self).zip(after.seen.and_then(|seen| seen.database.rules.sharding.as_ref()));
        let Some((old, new)) = rules else { return Vec::new() };
        let old = Spread { rule: old, table: &table.name, nodes: &nodes };
        let new = Spread { rule: new, table: &then.name, nodes: &later };
        let moved = moved::moved(&old, &new);
        let mut checks = Vec::new();
        if !moved.nodes.is_empty() {
            let nodes = moved.nodes;
            checks.push(Check::IsEmpty { table: table.name.clone(), nodes, lost: Lost::Moved });
        }
        if !moved.only_grows {
            checks.push(Check::IsWhole { table: then.name.clone(), nodes: later.clone() });
        }
        let added: Vec<DataNode> = later.into_iter().filter(|node| !nodes.contains(node)).collect();
        if !added.is_empty() {
            checks.push(Check::IsPlaced { table: then.name.clone(), nodes: added });
        }
        checks
    }

    /// A table that no rule speaks of any more: its actual tables stand for themselves then.
    fn dropped(&self, table: &LogicTable, nodes: Vec<DataNode>, after: &Side<'_>) -> Option<Check> {
        let keeps_its_name = nodes.iter().all(|node| node.table.eq_ignore_ascii_case(&table.name));
        let is_reached = match table.kind {
            TableKind::Sharded => keeps_its_name && nodes.len() == 1,
            // Each has all rows; which of them is meant must be plain.
            TableKind::Broadcast | TableKind::Single => {
                after.units.len() < 2 || after.loaded.contains(&table.name.to_lowercase())
            }
        };
        let lost = match table.kind {
            TableKind::Sharded => Lost::Dropped,
            TableKind::Broadcast | TableKind::Single => Lost::Ambiguous,
        };
        (!is_reached).then(|| Check::IsEmpty { table: table.name.clone(), nodes, lost })
    }

    /// What must hold where rules speak of a table for the first time, of which there may be some already.
    fn enters(&self, table: &LogicTable) -> Vec<Check> {
        let (name, nodes) = (table.name.clone(), self.homes(table));
        if table.kind == TableKind::Broadcast {
            return vec![Check::IsAlike { table: name, nodes }];
        }
        let mut checks = Vec::new();
        let own = self
            .units
            .iter()
            .map(|unit| DataNode { unit: Arc::clone(unit), table: name.as_str().into() });
        let hidden: Vec<DataNode> =
            own.filter(|own| !nodes.iter().any(|node| is_same(node, own))).collect();
        if !hidden.is_empty() {
            checks.push(Check::IsEmpty { table: name.clone(), nodes: hidden, lost: Lost::Hidden });
        }
        checks.push(Check::IsWhole { table: name.clone(), nodes: nodes.clone() });
        checks.push(Check::IsPlaced { table: name, nodes });
        checks
    }
}

fn is_same(one: &DataNode, other: &DataNode) -> bool {
    one.unit == other.unit && one.table.eq_ignore_ascii_case(&other.table)
}
