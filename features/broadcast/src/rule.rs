//! `!BROADCAST`, validated, and what this room must know of the tables of others.

use std::collections::HashSet;
use std::sync::Arc;

use pando_config::Problem;
use pando_config::rules;
use pando_kernel::States;
use pando_kernel::feature::{DataNode, LogicTable, TableKind};
use pando_kernel::route::Place;
use pando_kernel::states::Primary;

#[derive(Debug)]
pub(crate) struct Rule {
    /// Names in lower case and as configured.
    tables: HashSet<String>,
    /// Names as configured, in file order.
    names: Vec<String>,
    /// Names, likewise, of the tables that are split over targets.
    split: HashSet<String>,
    /// Where every broadcast table stands.
    pub(crate) places: Vec<Place>,
    /// Those of them that can be read.
    pub(crate) readable: Vec<Place>,
}

impl Rule {
    pub(crate) fn new(
        section: Option<&rules::Broadcast>,
        places: &[Place],
        others: &[LogicTable],
    ) -> Result<Self, Vec<Problem>> {
        let sharded = others.iter().filter(|table| table.kind == TableKind::Sharded);
        let both = |table: &LogicTable| [table.name.to_lowercase(), table.name.clone()];
        let split: HashSet<String> = sharded.flat_map(both).collect();
        let mut problems = Vec::new();
        let mut tables = HashSet::new();
        let mut names = Vec::new();
        for name in section.map(|section| section.tables.as_slice()).unwrap_or_default() {
            let lower = name.to_lowercase();
            if split.contains(&lower) {
                let message = format!("table `{}` is sharded already", name.value);
                problems.push(name.at.problem(message));
            } else if !tables.insert(lower) {
                problems.push(name.at.problem(format!("table `{}` is named twice", name.value)));
            }
            names.push(name.value.clone());
        }
        tables.extend(names.iter().cloned());
        let (places, readable) = (places.to_vec(), places.to_vec());
        let rule = Self { tables, names, split, places, readable };
        if problems.is_empty() { Ok(rule) } else { Err(problems) }
    }

    /// Reads pass over places where nobody answers, as long as there is another one.
    pub(crate) fn adapt(&mut self, states: &States) {
        let is_dead = |place: &Place| match states.groups.get(&place.name) {
            Some(group) => {
                matches!(group.primary, Primary::Nobody { .. }) && group.readable.is_empty()
            }
            None => false,
        };
        let is_off =
            |place: &Place| place.members.iter().all(|unit| states.disabled.contains(unit));
        let (out, able): (Vec<Place>, Vec<Place>) =
            self.places.iter().cloned().partition(|place| is_dead(place) || is_off(place));
        self.readable = if able.is_empty() { out } else { able };
    }

    /// `name` is a table's key.
    pub(crate) fn is_broadcast(&self, name: &str) -> bool {
        self.tables.contains(name)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// `name` is a table's key.
    pub(crate) fn is_split(&self, name: &str) -> bool {
        self.split.contains(name)
    }

    pub(crate) fn logic_tables(&self) -> Vec<LogicTable> {
        let node = |place: &Place, name: &str| DataNode {
            unit: Arc::clone(&place.name),
            table: name.into(),
        };
        let table = |name: &String| LogicTable {
            name: name.clone(),
            kind: TableKind::Broadcast,
            nodes: self.places.iter().map(|place| node(place, name)).collect(),
            spread: String::new(),
            keys: Vec::new(),
        };
        self.names.iter().map(table).collect()
    }
}
