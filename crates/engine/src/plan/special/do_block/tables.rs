//! The tables that there are, by any name.

use std::collections::HashMap;
use std::sync::Arc;

use pando_kernel::feature::{Context, DataNode, LogicTable};
use pando_kernel::route::UnitName;

/// Logic tables and actual ones. Sequences are found among these.
pub(super) struct Tables {
    found: Arc<HashMap<String, Vec<UnitName>>>,
    configured: Vec<LogicTable>,
}

impl Tables {
    /// Those of the database; `None` when they are not read yet.
    pub(super) fn of(ctx: &Context<'_>) -> Option<Self> {
        let found = ctx.catalog.tables()?;
        let features = ctx.database.features.iter();
        Some(Self { found, configured: features.flat_map(|feature| feature.tables()).collect() })
    }

    /// Whether one of them is called so, in any case.
    pub(super) fn has(&self, name: &str) -> bool {
        let is_part = |node: &DataNode| node.table.eq_ignore_ascii_case(name);
        self.found.contains_key(&name.to_lowercase())
            || self.configured.iter().any(|table| {
                table.name.eq_ignore_ascii_case(name) || table.nodes.iter().any(is_part)
            })
    }
}
