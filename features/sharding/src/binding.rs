//! Binding groups: tables spread alike, so that a join on their sharding columns stays on each node.

use std::collections::HashMap;
use std::sync::Arc;

use pando_config::Problem;
use pando_config::rules::Binding;

use crate::table::Table;

/// Binds the tables of one group, after checking that they can be.
pub(crate) fn bind(
    tables: &mut [Table],
    by_logic: &HashMap<Arc<str>, usize>,
    group: usize,
    config: &Binding,
) -> Result<(), Problem> {
    let mut positions = Vec::new();
    for name in &config.tables {
        let Some(position) = by_logic.get(name.to_lowercase().as_str()) else {
            let message = format!("binding table `{name}` is not a sharded table");
            return Err(config.at.problem(message));
        };
        let table = tables.get(*position);
        if positions.contains(position) || table.is_some_and(|t| t.binding_group().is_some()) {
            let message = format!("binding table `{name}` is already in a group");
            return Err(config.at.problem(message));
        }
        positions.push(*position);
    }
    let Some(first) = positions.first().copied() else { return Ok(()) };
    let mut numbers = Vec::new();
    for position in &positions {
        let (Some(first), Some(table)) = (tables.get(first), tables.get(*position)) else {
            continue;
        };
        let to_group = alike(first, table).map_err(|why| {
            let (a, b) = (first.name(), table.name());
            config.at.problem(format!("`{a}` and `{b}` cannot be binding tables: {why}"))
        })?;
        numbers.push((*position, to_group));
    }
    for (position, to_group) in numbers {
        if let Some(table) = tables.get_mut(position) {
            table.bind(group, to_group);
        }
    }
    Ok(())
}

/// For each node of `table` the number of the node of `first` that has the same storage unit and the same end of its name.
pub(crate) fn alike(first: &Table, table: &Table) -> Result<Vec<usize>, String> {
    let levels = ["databaseStrategy", "tableStrategy"];
    for ((a, b), level) in first.structures().iter().zip(table.structures()).zip(levels) {
        if *a != b {
            return Err(format!("their `{level}` differ in more than names and columns"));
        }
    }
    let place = |table: &Table| -> Vec<(Arc<str>, String)> {
        let nodes = table.nodes().iter();
        nodes.map(|node| (node.unit.clone(), table.layout().suffix(node))).collect()
    };
    let known: HashMap<(Arc<str>, String), usize> =
        place(first).into_iter().enumerate().map(|(i, place)| (place, i)).collect();
    let (own, others) = (table.nodes().len(), first.nodes().len());
    if own != others {
        return Err(format!("one has {others} data nodes, the other {own}"));
    }
    let numbers = place(table).into_iter().map(|place| {
        let found = known.get(&place).copied();
        found.ok_or_else(|| {
            let (unit, suffix) = place;
            format!("only one has a data node that ends in `{suffix}` in storage unit `{unit}`")
        })
    });
    numbers.collect()
}
