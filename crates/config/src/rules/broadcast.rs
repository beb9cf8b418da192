//! `!BROADCAST`: tables that are the same in every storage unit.

use crate::node::Node;
use crate::place::{At, Placed, Report};
use crate::read::Fields;

/// The section as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broadcast {
    /// Where it stands.
    pub at: At,
    /// Logic names in file order.
    pub tables: Vec<Placed<String>>,
}

impl Broadcast {
    pub(crate) fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let mut fields = Fields::of_tagged(node, report)?;
        let tables = fields.names("tables");
        fields.finish();
        Some(Self { at: node.at.clone(), tables })
    }
}
