//! What the tree knows of a statement's names.

use std::collections::HashSet;

use pando_sql::Span;
use pando_sql::ast::{InsertSource, Kind, Node};
use pando_sql::visit::{Names, Refers};

/// Where names stand whose meaning the tree knows, by their first byte.
#[derive(Debug, Default)]
pub struct Known {
    tables: HashSet<u32>,
    owners: HashSet<u32>,
}

impl Known {
    /// Those of a statement.
    pub fn of(kind: &Kind) -> Self {
        let names = Names::of(kind, &mut |_| {});
        let owners = names.owners.iter();
        // What stands in front of a column and nobody has called so may be anything.
        let owners = owners.filter(|owner| !matches!(owner.refers, Refers::Unknown));
        Self {
            owners: owners.map(|owner| owner.span.start).collect(),
            tables: names.tables.iter().map(|table| table.name.span.start).collect(),
        }
    }

    /// Whether a table is named there.
    pub fn is_table(&self, name: Span) -> bool {
        self.tables.contains(&name.start)
    }

    /// Whether a column is named there, or all of them, behind what the statement calls one of its tables.
    pub fn is_column(&self, name: Span) -> bool {
        self.owners.contains(&name.start)
    }
}

/// Rows of VALUES in which nothing can be named, because they are constants: they need not be read.
pub fn plain_rows(kind: &Kind) -> Option<Span> {
    let Kind::Insert(insert) = kind else { return None };
    let InsertSource::Values { rows, span } = &insert.source else { return None };
    let constant =
        |node: &Node| matches!(node, Node::Literal(_) | Node::Parameter(_) | Node::Default);
    // Rows without trees are literals.
    let mut values = rows.iter().filter_map(|row| row.trees()).flatten();
    values.all(|value| constant(&value.node)).then_some(*span)
}
