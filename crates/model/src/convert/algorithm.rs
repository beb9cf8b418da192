//! Algorithms as statements say them.

use pando_config::{Entry, Node};
use pando_distsql::command::{Algorithm, Name, Place, Property};

use crate::algorithms::Sort;

/// An algorithm's definition as a statement says it.
pub(super) fn algorithm(node: &Node) -> Algorithm {
    let props = node.get("props").map(Node::pairs).unwrap_or_default();
    let property = |entry: &Entry| Property {
        key: entry.key.clone(),
        value: super::text(Some(&entry.value)).to_owned(),
        place: Place::default(),
    };
    Algorithm {
        kind: super::name(node.get("type")),
        properties: props.iter().map(property).collect(),
    }
}

/// The definition under a name, which reading the document has found to be there.
pub(super) fn defined(section: &Node, sort: &Sort, name: &str) -> Algorithm {
    let found = section.get(sort.field).and_then(|all| all.get(name));
    found.map_or_else(|| Algorithm { kind: Name::new(name), properties: Vec::new() }, algorithm)
}
