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
    /// None of these actual tables has a row, committed or not; one that is not there has none.
    IsEmpty {
        /// The table as clients know it.
        table: String,
        /// Actual tables on storage units; never empty.
        nodes: Vec<DataNode>,
        /// What would become of rows.
        lost: Lost,
    },
    /// The rows of these actual tables are where the new rule looks for them.
    IsPlaced {
        /// The sharded table.
        table: String,
        /// Its actual tables on storage units; never empty.
        nodes: Vec<DataNode>,
    },
    /// All of the actual tables are there, or none: with some of them every statement about the table would fail.
    IsWhole {
        /// The sharded table.
        table: String,
        /// Its actual tables on storage units; never empty.
        nodes: Vec<DataNode>,
    },
    /// A broadcast table has the same rows everywhere, or stands nowhere.
    IsAlike {
        /// The broadcast table.
        table: String,
        /// Where it stands, on storage units; never empty.
        nodes: Vec<DataNode>,
    },
    /// What a storage unit has where it stands before the change, it has where it stands then, too.
    IsCarried {
        /// The storage unit.
        unit: String,
    },
    /// Whatever tables a storage unit has, the one that it becomes a copy of has as well: those of a copy are served by nobody.
    IsCopy {
        /// The storage unit.
        unit: String,
        /// The one that takes the group's writes.
        of: String,
    },
}

/// What would become of rows that a change does not let stay where they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// The changed rule would look for them elsewhere.
    Moved,
    /// The rule would stand before the single table that has them.
    Hidden,
    /// Without the rule nothing is called as their table any more.
    Dropped,
    /// Without the rule their table stands in several storage units, and nobody has said which one is meant.
    Ambiguous,
}

/// What to do instead, as [`Check::unmet`] tells it: docs/bring-your-database.md has it in full.
impl Lost {
    fn told(self, table: &str, why: &str) -> String {
        match self {
            Self::Moved => format!(
                "table `{table}` has rows that the changed rule would look for elsewhere: {why}; make a rule and a table of another name, move the rows over with INSERT … SELECT, and drop the old table first"
            ),
            Self::Hidden => format!(
                "the rule would hide the table `{table}` that has rows: {why}; rename that table with ALTER TABLE … RENAME TO, make the rule and the new table, move the rows over with INSERT … SELECT, and drop the old table"
            ),
            Self::Dropped => format!(
                "table `{table}` has rows that could not be reached by its name without the rule: {why}; move them over with INSERT … SELECT into another table, and DROP TABLE `{table}` before its rule"
            ),
            Self::Ambiguous => format!(
                "table `{table}` has rows in several storage units, and without the rule it would not be known which one is meant: {why}; say it first with LOAD SINGLE TABLE, or DROP TABLE `{table}` before its rule"
            ),
        }
    }
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
            Self::IsEmpty { table, lost, .. } => (Kind::InvalidRule, lost.told(table, why)),
            Self::IsPlaced { table, .. } => {
                let message = format!(
                    "the rule of table `{table}` would look for rows elsewhere than they are: {why}; make the rule for another name, move the rows over with INSERT … SELECT, and drop the old tables"
                );
                (Kind::InvalidRule, message)
            }
            Self::IsWhole { table, .. } => {
                let message = format!(
                    "of the actual tables of `{table}` some are there and some are not: {why}; drop those that are there (DROP TABLE `{table}` before its rule is changed), or make the missing ones on their storage units"
                );
                (Kind::InvalidRule, message)
            }
            Self::IsAlike { table, .. } => {
                let message = format!(
                    "broadcast table `{table}` must have the same rows in all storage units: {why}; rename the table that has the rows, make the rule and the new table, and move the rows over with INSERT … SELECT"
                );
                (Kind::InvalidRule, message)
            }
            Self::IsCarried { unit } => {
                let message = format!(
                    "storage unit `{unit}` would stand where its rows are not: {why}; copy them there first, or register the other place as a unit of its own"
                );
                (Kind::StorageUnitMoved, message)
            }
            Self::IsCopy { unit, of } => {
                let message = format!(
                    "storage unit `{unit}` is no copy of `{of}`, and what it has alone could not be reached any more: {why}; move it over first"
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
