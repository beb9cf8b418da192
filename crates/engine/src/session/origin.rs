//! Where a result's columns come from, told in logic names.

use std::sync::Arc;

use pando_kernel::Columns;
use pando_kernel::feature::Database;
use pando_kernel::route::{TableName, Target};

use crate::snapshot::LiveDatabase;

/// What is needed to tell it for one target.
#[derive(Debug)]
pub(super) struct Origin {
    live: Arc<LiveDatabase>,
    tables: Vec<TableName>,
    number: usize,
}

impl Origin {
    pub(super) fn of(live: &Arc<LiveDatabase>, target: &Target) -> Self {
        let number = number_of(&live.database, &target.unit);
        Self { live: Arc::clone(live), tables: target.tables.clone(), number }
    }

    /// Actual names of tables and databases become the logic ones, and numbers of relations those that are shown.
    pub(super) fn rename(&self, columns: &mut Columns) {
        let database = &self.live.database;
        for column in &mut columns.list {
            for table in &self.tables {
                if column.origin_table.eq_ignore_ascii_case(&table.actual) {
                    column.origin_table = table.logic.to_string();
                }
                if column.table.eq_ignore_ascii_case(&table.actual) {
                    column.table = table.logic.to_string();
                }
            }
            if !column.schema.is_empty() && !column.origin_table.is_empty() {
                database.name.clone_into(&mut column.schema);
            }
            if self.number > 0
                && column.native.relation != 0
                && let Some(presentation) = database.dialect.presentation()
            {
                let shown = presentation.relation_number(column.native.relation, self.number);
                column.native.relation = shown;
            }
        }
    }
}

/// A unit's place among its database's units.
fn number_of(database: &Database, unit: &str) -> usize {
    database.units.iter().position(|known| &**known == unit).unwrap_or(0)
}
