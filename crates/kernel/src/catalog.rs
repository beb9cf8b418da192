//! What is known of the storage units' tables.

use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::sync::Arc;

use crate::effects::Effectful;
use crate::logic::LogicColumns;
use crate::oids::Oids;
use crate::route::UnitName;
use crate::table::TableColumn;
use crate::triggers::Triggers;
use crate::views::Views;

/// Tables and columns, as far as they have been read from the storage units. Looking up never waits: what is missing is
/// a `Need`.
pub trait Catalog: Send + Sync + Debug {
    /// The columns of a logic table (by its key) as clients see them, in the order that `*` gives; `None` when not read
    /// yet. An empty list: the table does not exist.
    fn columns(&self, table: &str) -> Option<Arc<Vec<TableColumn>>>;

    /// The same with what is stored of each; `None` where all are as they are stored, or nothing was read yet.
    fn logic(&self, _table: &str) -> Option<Arc<LogicColumns>> {
        None
    }

    /// For each actual table's key the units that have it; `None` when not read yet.
    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>>;

    /// How servers spell tables whose names are not their keys; `None` when not read yet, which is when `tables` is
    /// not.
    fn spellings(&self) -> Option<Arc<Spellings>> {
        Some(Arc::default())
    }

    /// For each sequence (lower-cased) the units that have it, all of them; `None` when not read yet. They are read
    /// with the tables, where the first unit alone counts.
    fn sequences(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        Some(Arc::default())
    }

    /// The views over several actual tables; `None` when not read yet. They are read with the tables.
    fn views(&self) -> Option<Arc<Views>> {
        Some(Arc::default())
    }

    /// For each index's name (for each trigger's on MySQL) the actual table it belongs to, both lower-cased; empty
    /// where tables of several names have one of it. `None` when not read yet.
    fn indexes(&self) -> Option<Arc<HashMap<String, String>>> {
        None
    }

    /// What indexes and constraints are called in these storage units, and in others as far as known; `None` when one
    /// of these was not read yet.
    fn names(&self, _units: &[UnitName]) -> Option<Arc<Names>> {
        Some(Arc::default())
    }

    /// Changes whenever something that was told may hold no longer; never 0.
    fn epoch(&self) -> u64 {
        1
    }

    /// The names that may have effects on connections, on all storage units that were asked; `None` when this one was
    /// not.
    fn effectful(&self, _unit: &str) -> Option<Arc<Effectful>> {
        None
    }

    /// What the numbers of a unit's types and relations are shown as; `None` when not read yet.
    fn numbers(&self, _unit: &str) -> Option<Arc<Oids>> {
        Some(Arc::default())
    }

    /// What was read of routines that users have made; of what triggers run in these storage units, and in others as
    /// far as known.
    fn routines(&self, _units: &[UnitName]) -> Routines {
        Routines { aggregates: Some(Arc::default()), triggers: Some(Arc::default()) }
    }
}

/// What is known of routines that users have made.
#[derive(Debug, Clone, Default)]
pub struct Routines {
    /// The names (lower-cased) of aggregates; `None` when not read yet.
    pub aggregates: Option<Arc<HashSet<String>>>,
    /// What triggers run; `None` when one of the storage units was not read yet.
    pub triggers: Option<Arc<Triggers>>,
}

/// By actual table (lower-cased) what its indexes and constraints are called.
pub type Names = HashMap<String, OwnNames>;

/// What the indexes, constraints and triggers of one actual table are called, lower-cased. A key is both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnNames {
    /// Its indexes.
    pub indexes: HashSet<String>,
    /// Its constraints.
    pub constraints: HashSet<String>,
    /// Its triggers, of families where their names are those of a schema.
    pub triggers: HashSet<String>,
}

/// By key what servers call those tables of it whose names are not their keys, and others of the same key.
pub type Spellings = HashMap<String, HashSet<String>>;
