//! Tables that always meet on the same node, and the targets of their nodes.

use pando_kernel::error::{Error, Result};
use pando_kernel::route::Target;

use crate::table::Table;

/// What one scope says about its sharded tables.
pub(crate) struct Placed<'a> {
    /// Logic table and the indices of its nodes, binding tables with equal indices; one entry per class of tables
    /// joined on their keys.
    pub(crate) classes: Vec<Class<'a>>,
    /// Outer joins make a product of classes wrong.
    pub(crate) has_outer: bool,
}

/// Tables of one scope that always meet on the same node.
pub(crate) struct Class<'a> {
    /// Its tables; the first one's nodes are numbered.
    pub(crate) tables: Vec<&'a Table>,
    /// Which sources of the scope they are.
    pub(crate) members: Vec<usize>,
    /// Node numbers, ascending.
    pub(crate) nodes: Vec<usize>,
}

/// The target of a class's node.
pub(crate) fn target(class: &Class<'_>, node: usize) -> Result<Target> {
    let first = class.tables.first().ok_or_else(|| Error::internal("a class without tables"))?;
    let unit = first.node(node)?.unit.clone();
    let mut names = Vec::new();
    for table in &class.tables {
        let actual = table.counterpart(first, node)?;
        names.push(table.named_at(actual));
    }
    Ok(Target { unit, tables: names, rows: None })
}
