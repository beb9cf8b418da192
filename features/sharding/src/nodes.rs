//! Inline expressions of data nodes → the nodes, checked against the storage units there are.

use std::collections::HashSet;

use pando_config::{Placed, Problem, suggest};
use pando_kernel::UnitName;
use pando_kernel::feature::DataNode;
use pando_sql::Fold;

use pando_inline as inline;

/// The nodes of `actualDataNodes`, in order.
pub(crate) fn parse(
    expression: &Placed<String>,
    units: &[UnitName],
) -> Result<Vec<DataNode>, Problem> {
    let mut nodes = Vec::new();
    let mut seen = HashSet::new();
    for name in expand(expression)? {
        let parts: Vec<&str> = name.split('.').map(str::trim).collect();
        let node = match parts.as_slice() {
            [unit, table] if !unit.is_empty() && !table.is_empty() => {
                DataNode { unit: known(unit, expression, units)?, table: (*table).into() }
            }
            [_, _, _] => {
                let message = format!(
                    "data node `{name}` names a schema, which is not supported; set `currentSchema` in the storage unit's url"
                );
                return Err(expression.at.problem(message));
            }
            _ => {
                let message = format!("expected data nodes as `unit.table`, found `{name}`");
                return Err(expression.at.problem(message));
            }
        };
        if !seen.insert((node.unit.clone(), node.table.to_lowercase())) {
            return Err(expression.at.problem(format!("data node `{name}` is given twice")));
        }
        nodes.push(node);
    }
    Ok(nodes)
}

/// The storage units of `actualDataSources`, in order.
pub(crate) fn units(
    expression: &Placed<String>,
    units: &[UnitName],
) -> Result<Vec<UnitName>, Problem> {
    let names = expand(expression)?;
    names.iter().map(|name| known(name.trim(), expression, units)).collect()
}

/// The nodes of an auto table: shard `i` is `<logic>_<i>` in storage unit `i` modulo their number.
pub fn auto_table_nodes(logic: &str, units: &[UnitName], shards: usize) -> Vec<DataNode> {
    let numbered = (0..shards).zip(units.iter().cycle());
    numbered
        .map(|(i, unit)| DataNode { unit: unit.clone(), table: format!("{logic}_{i}").into() })
        .collect()
}

/// The nodes, their tables called as storage units read these names. Where case is folded, a name in quotes keeps its own.
pub(crate) fn read(mut nodes: Vec<DataNode>, fold: Fold) -> Vec<DataNode> {
    if fold == Fold::Lower {
        for node in &mut nodes {
            let quoted = node.table.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            node.table = match quoted {
                Some(name) => name.replace("\"\"", "\"").into(),
                None => node.table.to_lowercase().into(),
            };
        }
    }
    nodes
}

fn expand(expression: &Placed<String>) -> Result<Vec<String>, Problem> {
    inline::expand(expression).map_err(|error| expression.at.problem(error.to_string()))
}

fn known(name: &str, expression: &Placed<String>, units: &[UnitName]) -> Result<UnitName, Problem> {
    let found = units.iter().find(|unit| &***unit == name);
    let found = found.or_else(|| units.iter().find(|unit| unit.eq_ignore_ascii_case(name)));
    found.cloned().ok_or_else(|| {
        let hint = suggest::hint(name, units.iter().map(|unit| &**unit));
        expression.at.problem(format!("storage unit `{name}` does not exist{hint}"))
    })
}
