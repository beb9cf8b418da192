//! What becomes of a statement: the new model, and what has to be done outside.

use crate::model::Model;

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
