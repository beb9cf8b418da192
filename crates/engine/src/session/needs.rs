//! Finding out what planning asks for.

use std::collections::HashMap;
use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::DataNode;
use pando_kernel::route::Need;

use crate::catalog::TableMap;
use crate::snapshot::LiveDatabase;

use super::Session;

impl Session {
    /// Reads from the storage units what planning needs.
    ///
    /// # Errors
    /// What the units say; nothing is remembered then.
    pub(super) async fn find_out(&mut self, live: &Arc<LiveDatabase>, need: Need) -> Result<()> {
        match need {
            Need::Tables => self.learn_tables(live).await,
            Need::Columns(table) => self.learn_columns(live, table).await,
        }
    }

    async fn learn_tables(&mut self, live: &Arc<LiveDatabase>) -> Result<()> {
        let epoch = live.catalog.epoch();
        let query = live.database.dialect.tables_query();
        let mut tables: TableMap = HashMap::new();
        for unit in &live.database.units {
            for row in self.ask(live, unit, &query).await? {
                if let Some(Value::Text(name)) = row.get(1) {
                    tables.entry(name.to_lowercase()).or_default().push(Arc::clone(unit));
                }
            }
        }
        for units in tables.values_mut() {
            units.dedup();
        }
        live.catalog.learn_tables(epoch, tables);
        Ok(())
    }

    async fn learn_columns(&mut self, live: &Arc<LiveDatabase>, table: String) -> Result<()> {
        let epoch = live.catalog.epoch();
        let node = match node_of(live, &table) {
            Some(node) => node,
            None => {
                if pando_kernel::feature::Catalog::tables(&live.catalog).is_none() {
                    self.learn_tables(live).await?;
                }
                let tables = pando_kernel::feature::Catalog::tables(&live.catalog);
                let unit = tables.and_then(|tables| tables.get(&table)?.first().cloned());
                match unit {
                    Some(unit) => DataNode { unit, table: table.as_str().into() },
                    None => {
                        live.catalog.learn_columns(epoch, table, Vec::new());
                        return Ok(());
                    }
                }
            }
        };
        let dialect = Arc::clone(&live.database.dialect);
        let query = dialect.columns_query(None, &node.table);
        let rows = self.ask(live, &node.unit, &query).await?;
        let columns: Result<Vec<_>> = rows.iter().map(|row| dialect.read_column(row)).collect();
        live.catalog.learn_columns(epoch, table, columns?);
        Ok(())
    }
}

/// The first actual table of a logic table some room knows.
pub(super) fn node_of(live: &LiveDatabase, table: &str) -> Option<DataNode> {
    let features = live.database.features.iter();
    let mut tables = features.flat_map(|feature| feature.tables());
    tables.find(|known| known.name.eq_ignore_ascii_case(table))?.nodes.into_iter().next()
}

/// The error for a table no storage unit has.
pub(super) fn unknown_table(table: &str) -> Error {
    pando_kernel::ErrorKind::UnknownTable(table.to_owned()).into()
}
