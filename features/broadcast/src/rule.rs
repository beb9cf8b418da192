//! `!BROADCAST`, validated, and what this room must know of the tables of others.

use std::collections::HashSet;
use std::sync::Arc;

use pando_config::Problem;
use pando_config::rules;
use pando_kernel::feature::{DataNode, LogicTable, TableKind};
use pando_kernel::route::Place;

#[derive(Debug)]
pub(crate) struct Rule {
    /// Lower-cased names.
    tables: HashSet<String>,
    /// Names as configured, in file order.
    names: Vec<String>,
    /// Lower-cased names of the tables that are split over targets.
    split: HashSet<String>,
    /// Where every broadcast table stands.
    pub(crate) places: Vec<Place>,
}

impl Rule {
    pub(crate) fn new(
        section: Option<&rules::Broadcast>,
        places: &[Place],
        others: &[LogicTable],
    ) -> Result<Self, Vec<Problem>> {
        let sharded = others.iter().filter(|table| table.kind == TableKind::Sharded);
        let split: HashSet<String> = sharded.map(|table| table.name.to_lowercase()).collect();
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
        let rule = Self { tables, names, split, places: places.to_vec() };
        if problems.is_empty() { Ok(rule) } else { Err(problems) }
    }

    /// `name` is lower-cased.
    pub(crate) fn is_broadcast(&self, name: &str) -> bool {
        self.tables.contains(name)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// `name` is lower-cased.
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
        };
        self.names.iter().map(table).collect()
    }
}
