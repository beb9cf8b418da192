//! `!SINGLE`: tables that live in one storage unit.

use crate::node::Node;
use crate::place::{At, Placed, Report};
use crate::read::Fields;

/// The section as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Single {
    /// Where it stands.
    pub at: At,
    /// `unit.table`, `unit.schema.table`, with `*` for all, in file order.
    pub tables: Vec<Placed<String>>,
    /// Where a new table without a rule is made; absent means any storage unit.
    pub default_data_source: Option<Placed<String>>,
}

impl Single {
    pub(crate) fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let mut fields = Fields::of_tagged(node, report)?;
        let tables = fields.names("tables");
        for table in &tables {
            let parts: Vec<&str> = table.split('.').map(str::trim).collect();
            if !(2..=3).contains(&parts.len()) || parts.iter().any(|part| part.is_empty()) {
                let message = format!(
                    "expected `unit.table` or `unit.schema.table`, found `{}`",
                    table.value
                );
                fields.report().error(table.at.problem(message));
            }
        }
        let default_data_source = fields.optional_name("defaultDataSource");
        fields.finish();
        Some(Self { at: node.at.clone(), tables, default_data_source })
    }
}
