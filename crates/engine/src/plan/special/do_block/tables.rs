//! The tables that there are, by any name.

use std::collections::HashMap;
use std::sync::Arc;

use pando_kernel::feature::{Context, DataNode, LogicTable, TableKind};
use pando_kernel::route::UnitName;

/// Where a table stands.
pub(super) enum Stands {
    /// There is none.
    Nowhere,
    /// On this unit alone, as a single table.
    In(UnitName),
    /// On several, or as a part of one.
    Spread,
}

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

    /// Where what is called so stands, in any case.
    pub(super) fn stands(&self, name: &str) -> Stands {
        let is_part = |node: &DataNode| node.table.eq_ignore_ascii_case(name);
        let is_ruled = |table: &&LogicTable| {
            table.kind != TableKind::Single
                && (table.name.eq_ignore_ascii_case(name) || table.nodes.iter().any(is_part))
        };
        if self.configured.iter().any(|table| is_ruled(&table)) {
            return Stands::Spread;
        }
        match self.found.get(&name.to_lowercase()).map(Vec::as_slice) {
            None | Some([]) => Stands::Nowhere,
            Some([only]) => Stands::In(Arc::clone(only)),
            Some(_) => Stands::Spread,
        }
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
