//! What becomes of a statement: the new model, and what has to be done outside.

use pando_kernel::feature::DataNode;

use crate::model::Model;
use crate::refusal::{Kind, Refusal};

/// A change that is valid in itself. Nothing has happened yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The model after the change; equal to the one before where `IF [NOT] EXISTS` left nothing to do.
    pub model: Model,
    /// The logical database that changed; absent when it is the global configuration.
    pub database: Option<String>,
    /// What must hold before the model may become active, in the order to look.
    pub checks: Vec<Check>,
    /// What is to be done once it is active.
    pub tasks: Vec<Task>,
}

/// A condition that only the storage units can tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    /// The unit of the new model answers, and its user has these privileges (as written; empty when none is asked for).
    Connects {
        /// The storage unit.
        unit: String,
        /// CHECK_PRIVILEGES.
        privileges: Vec<String>,
    },
    /// No single table is in use on the unit.
    HasNoSingleTable {
        /// The storage unit, as the model before the change has it.
        unit: String,
    },
    /// The table is there.
    HasTable {
        /// The storage unit or group.
        unit: String,
        /// The schema, where one is named.
        schema: Option<String>,
        /// The table.
        table: String,
    },
    /// None of these actual tables has a row; one that is not there has none. They are asked as the model before the change has them: the
    /// changed rule would look for their rows elsewhere.
    IsEmpty {
        /// The sharded table.
        table: String,
        /// Its actual tables, on storage units or groups; never empty.
        nodes: Vec<DataNode>,
    },
}

impl Check {
    /// The refusal of a statement whose check has not held; `why` is what was found, as `connection refused` or `ds_0.t_order_0`.
    pub fn unmet(&self, database: &str, why: &str) -> Refusal {
        let (kind, message) = match self {
            Self::Connects { unit, .. } => {
                let message = format!("storage unit `{unit}` cannot be used: {why}");
                (Kind::InvalidStorageUnit, message)
            }
            Self::HasNoSingleTable { unit } => {
                let message = format!(
                    "storage unit `{unit}` of database `{database}` is still used by single tables: {why}"
                );
                (Kind::InUsedStorageUnit, message)
            }
            Self::HasTable { unit, schema, table } => {
                let schema = schema.as_ref().map(|schema| format!("{schema}.")).unwrap_or_default();
                let message = format!("table `{unit}.{schema}{table}` cannot be loaded: {why}");
                (Kind::MissingSingleTable, message)
            }
            Self::IsEmpty { table, .. } => {
                let message = format!(
                    "sharding table `{table}` of database `{database}` has rows that the changed rule would look for elsewhere: {why}; move them first, or drop the rule and create it anew where the rows are already as it says"
                );
                (Kind::InvalidRule, message)
            }
        };
        Refusal::new(kind, message)
    }
}

/// Something to do after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Task {
    /// The unit is new or described anew: it needs another pool.
    OpenPool {
        /// The storage unit.
        unit: String,
    },
    /// The unit is gone: its pool closes when its last connection comes back.
    ClosePool {
        /// The storage unit.
        unit: String,
    },
    /// What is known about tables must be read anew, as tables may have changed hands.
    ReadTables,
}
