//! A room: one feature of the straight line.

use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::sync::Arc;

use pando_sql::Edits;
use pando_sql::ast::Statement;

use crate::dialect::{Dialect, TableColumn};
use crate::effects::Effectful;
use crate::error::Result;
use crate::merge::MergePlan;
use crate::request::Parameter;
use crate::route::{Place, Route, Target, UnitName};
use crate::session::TransactionState;
use crate::shortcut::Shortcut;
use crate::value::Value;
use crate::worker::Worker;

/// One feature. Pure: no I/O, no clock of its own, no globals. What it needs is in `self` (its validated rule) or in the context.
///
/// The engine walks all rooms of a database in order for each step; a room that has nothing to do returns `Ok(())`.
pub trait Feature: Send + Sync + Debug {
    /// Configuration key, metric label and EXPLAIN label.
    fn name(&self) -> &'static str;

    /// Refuses what cannot be done right.
    ///
    /// # Errors
    /// `Refused` with the reason.
    fn check(&self, ctx: &Context<'_>, stmt: &Statement) -> Result<()>;

    /// Claims the statement when no room has, else narrows or redirects the route.
    ///
    /// # Errors
    /// `ShardingValue`, `Refused`, `UnknownTable`.
    fn route(&self, ctx: &Context<'_>, stmt: &Statement, route: &mut Route) -> Result<()>;

    /// Edits the text for one target.
    ///
    /// # Errors
    /// `Refused`.
    fn rewrite(
        &self,
        ctx: &Context<'_>,
        stmt: &Statement,
        to: &Target,
        edits: &mut Edits,
    ) -> Result<()>;

    /// Changes how results are merged.
    ///
    /// # Errors
    /// `Refused`.
    fn merge(&self, ctx: &Context<'_>, stmt: &Statement, plan: &mut MergePlan) -> Result<()>;

    /// What of the statement's route holds for every value of its literals and parameters. The engine checks it against the route itself before it
    /// relies on it; it is asked anew when the database or what is known of its tables changes.
    fn shortcut(&self, _ctx: &Context<'_>, _stmt: &Statement) -> Shortcut {
        Shortcut::None
    }

    /// What the feature knows about tables, for catalogue answers and for other rooms.
    fn tables(&self) -> Vec<LogicTable>;

    /// Groups of storage units that stand under one name in other rooms' routes.
    fn groups(&self) -> Vec<Place> {
        Vec::new()
    }

    /// Storage units that lead none of these groups and are in one: copies of another, or what was led from before. What they hold is their leader's to end.
    fn followers(&self) -> Vec<UnitName> {
        Vec::new()
    }
}

/// A table as clients see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogicTable {
    /// Its name as configured.
    pub name: String,
    /// What kind of table it is.
    pub kind: TableKind,
    /// Its actual tables, first is the one that stands for all in catalogue answers. Never empty.
    pub nodes: Vec<DataNode>,
    /// How its rows are spread over the nodes, in words that are the same only where every row stays in its place; empty where there is only one way.
    pub spread: String,
    /// The sharding columns, as configured: what decides where a row is. Empty where none does.
    pub keys: Vec<String>,
}

/// An actual table.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DataNode {
    /// Its storage unit.
    pub unit: UnitName,
    /// Its name there.
    pub table: Arc<str>,
}

/// What kind of table it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    /// Split over its nodes.
    Sharded,
    /// The same rows on every node.
    Broadcast,
    /// One node.
    Single,
}

/// What a room may look at.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The logical database: its units and rooms.
    pub database: &'a Database,
    /// Tables and columns as far as known.
    pub catalog: &'a dyn Catalog,
    /// The language of the statement, and of its storage units.
    pub dialect: &'a dyn Dialect,
    /// The bound parameters; `None` while a statement is only prepared or previewed without values.
    pub parameters: Option<&'a [Parameter]>,
    /// The session.
    pub session: &'a SessionView,
    /// Wall clock and randomness for generated keys.
    pub source: &'a dyn Source,
}

impl Context<'_> {
    /// The value of parameter `index` (from 0), when bound.
    pub fn parameter(&self, index: u32) -> Option<&Value> {
        self.parameters?.get(index as usize).map(|parameter| &parameter.value)
    }
}

/// Where time and randomness come from.
pub trait Source: Send + Sync + Debug {
    /// Milliseconds since 1970-01-01 UTC.
    fn now_millis(&self) -> i64;

    /// Fills the buffer with random bytes.
    fn random(&self, buffer: &mut [u8]);

    /// What keeps this process's keys apart from others'; absent where keys need not be.
    fn worker(&self) -> Option<&Worker> {
        None
    }
}

/// By actual table (lower-cased) what its indexes and constraints are called.
pub type Names = HashMap<String, OwnNames>;

/// What the indexes and constraints of one actual table are called, lower-cased. A key is both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnNames {
    /// Its indexes.
    pub indexes: HashSet<String>,
    /// Its constraints.
    pub constraints: HashSet<String>,
}

/// By key what servers call those tables of it whose names are not their keys, and others of the same key.
pub type Spellings = HashMap<String, HashSet<String>>;

/// Tables and columns, as far as they have been read from the storage units. Looking up never waits: what is missing is a `Need`.
pub trait Catalog: Send + Sync + Debug {
    /// The columns of a logic table (by its key), in table order; `None` when not read yet. An empty list: the table does not exist.
    fn columns(&self, table: &str) -> Option<Arc<Vec<TableColumn>>>;

    /// For each actual table's key the units that have it; `None` when not read yet.
    fn tables(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>>;

    /// How servers spell tables whose names are not their keys; `None` when not read yet, which is when `tables` is not.
    fn spellings(&self) -> Option<Arc<Spellings>> {
        Some(Arc::default())
    }

    /// For each sequence (lower-cased) the units that have it, all of them; `None` when not read yet. They are read with the tables, where the first
    /// unit alone counts.
    fn sequences(&self) -> Option<Arc<HashMap<String, Vec<UnitName>>>> {
        Some(Arc::default())
    }

    /// For each index name the actual table it belongs to, both lower-cased; empty where tables of several names have one of it. `None` when not read yet.
    fn indexes(&self) -> Option<Arc<HashMap<String, String>>> {
        None
    }

    /// What indexes and constraints are called in these storage units, and in others as far as known; `None` when one of these was not read yet.
    fn names(&self, _units: &[UnitName]) -> Option<Arc<Names>> {
        Some(Arc::default())
    }

    /// Changes whenever something that was told may hold no longer; never 0.
    fn epoch(&self) -> u64 {
        1
    }

    /// The names that may have effects on connections, on all storage units that were asked; `None` when this one was not.
    fn effectful(&self, _unit: &str) -> Option<Arc<Effectful>> {
        None
    }

    /// The names (lower-cased) of aggregates that users have made; `None` when not read yet.
    fn aggregates(&self) -> Option<Arc<HashSet<String>>> {
        Some(Arc::default())
    }
}

/// The session, as planning sees it.
#[derive(Debug, Clone, Default)]
pub struct SessionView {
    /// Transaction status.
    pub transaction: TransactionState,
    /// Units the session holds connections of, in the order enlisted.
    pub held: Vec<UnitName>,
    /// Set once the transaction has written.
    pub has_written: bool,
    /// Changes with each statement: lets load balancers rotate.
    pub ticket: u64,
    /// How many connections of one unit a statement outside a transaction may use; 0 is read as 1.
    pub connections_per_query: usize,
    /// The statement is only looked at, for what it concerns and answers; nothing of it runs.
    pub describes: bool,
    /// What it reads is to be one state of all units, of which copies have no part.
    pub sees_one_state: bool,
    /// Its temporary tables, if it has any or is about to make one.
    pub temporaries: Option<Arc<crate::temporary::Temporaries>>,
    /// What the session knows about itself.
    pub facts: Arc<crate::dialect::Facts>,
}

/// One logical database of a snapshot.
#[derive(Debug)]
pub struct Database {
    /// Its name.
    pub name: String,
    /// Its storage units, as configured.
    pub units: Vec<UnitName>,
    /// Its rooms in walking order.
    pub features: Vec<Arc<dyn Feature>>,
    /// The family of its storage units.
    pub dialect: Arc<dyn Dialect>,
}
