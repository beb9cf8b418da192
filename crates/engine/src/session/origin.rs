//! Where a result's columns come from, told in logic names.

use std::sync::Arc;

use pando_kernel::feature::Database;
use pando_kernel::route::TableName;
use pando_kernel::{Attribute, Columns};

use crate::plan::Unit;
use crate::snapshot::LiveDatabase;

/// What is needed to tell it for one target.
#[derive(Debug)]
pub(super) struct Origin {
    live: Arc<LiveDatabase>,
    tables: Vec<TableName>,
    number: usize,
    attributes: Vec<Attribute>,
}

impl Origin {
    pub(super) fn of(live: &Arc<LiveDatabase>, unit: &Unit) -> Self {
        let number = number_of(&live.database, &unit.target.unit);
        let (tables, attributes) = (unit.target.tables.clone(), unit.attributes.clone());
        Self { live: Arc::clone(live), tables, number, attributes }
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
        for (column, own) in columns.list.iter_mut().zip(&self.attributes) {
            column.native.relation = own.relation;
            column.native.attribute = own.number;
        }
    }
}

/// A unit's place among its database's units.
pub(super) fn number_of(database: &Database, unit: &str) -> usize {
    database.units.iter().position(|known| &**known == unit).unwrap_or(0)
}
