//! Where a statement goes.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::value::Value;

/// Name of a storage unit, or of a group (read/write splitting, …) until a later room redirects it.
pub type UnitName = Arc<str>;

/// A storage unit as the rooms see it that run before the redirecting ones: itself, or a group of units under one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// What targets are given as their unit.
    pub name: UnitName,
    /// The storage units behind it, the one that takes writes first; never empty.
    pub members: Vec<UnitName>,
}

/// Which of two storage units, or groups of them, that stand behind one place a statement is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Environment {
    /// Those that other rooms know of, and whose tables the catalogue tells.
    Production,
    /// Those that stand beside them with tables alike and other rows.
    Shadow,
}

/// A logic table's actual name at one target.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableName {
    /// The logic table, lower-cased.
    pub logic: Arc<str>,
    /// The logic table as configured, by which it is found as well where case tells tables apart.
    pub configured: Arc<str>,
    /// The actual table.
    pub actual: Arc<str>,
}

impl TableName {
    /// Whether the table is looked up by this key.
    pub fn is_called(&self, key: &str) -> bool {
        *self.logic == *key || *self.configured == *key
    }
}

/// One place a statement is sent to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// The storage unit.
    pub unit: UnitName,
    /// The tables that have another name there, each logic table once.
    pub tables: Vec<TableName>,
    /// INSERT: which rows of VALUES go there, ascending; `None` means all.
    pub rows: Option<Vec<u32>>,
}

impl Target {
    /// A unit where every table keeps its name.
    pub fn whole(unit: UnitName) -> Self {
        Self { unit, tables: Vec::new(), rows: None }
    }

    /// The actual name of a logic table by its key; `None` when it keeps its name.
    pub fn actual(&self, key: &str) -> Option<&str> {
        self.tables.iter().find(|table| table.is_called(key)).map(|table| &*table.actual)
    }
}

/// How the answers of several targets become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// Each target has a part: rows are merged, counts are added.
    Gather,
    /// Every target does the same thing (definitions, broadcast tables): the first one's answer is the answer.
    Same,
}

/// Keys generated for an INSERT, one per row of VALUES.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedKeys {
    /// The column they go to.
    pub column: String,
    /// One per row.
    pub values: Vec<Value>,
}

/// Where a statement goes. Rooms fill it in walking order.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Route {
    /// No room has claimed the statement.
    #[default]
    Unclaimed,
    /// To storage units: never empty.
    Units(Units),
    /// More must be known first; the engine finds it out and routes once more.
    Needs(Need),
}

/// The targets of a statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Units {
    /// In a stable order: storage units as configured, tables as numbered.
    pub targets: Vec<Target>,
    /// How their answers become one.
    pub spread: Spread,
    /// Keys generated on the way.
    pub keys: Option<GeneratedKeys>,
    /// What each target may do alone.
    pub alone: Alone,
}

/// What is proven of rows that are split over several targets, so that each target may do it alone. False means not proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Alone {
    /// WITH, UNION and their like: the targets' answers together are the answer, but for the outermost ORDER BY and LIMIT.
    pub queries: bool,
    /// No group, partition of a window or DISTINCT ON has rows of two targets: GROUP BY, HAVING, aggregates and windows are the targets' own.
    pub groups: bool,
    /// No two targets give equal rows: DISTINCT is the targets' own.
    pub rows: bool,
}

impl Units {
    /// Targets with this spread, and nothing generated.
    pub fn new(targets: Vec<Target>, spread: Spread) -> Self {
        Self { targets, spread, keys: None, alone: Alone::default() }
    }
}

/// What routing needs to know first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Need {
    /// The columns of a logic table.
    Columns(String),
    /// Which tables stand in which storage unit.
    Tables,
    /// Which table each index belongs to.
    Indexes,
    /// What the indexes and constraints of each table in these storage units are called.
    Names(Vec<UnitName>),
    /// What triggers run on these storage units.
    Triggers(Vec<UnitName>),
    /// Which functions are aggregates that users have made.
    Aggregates,
    /// Which names of a storage unit may have effects on its connections.
    Effects(UnitName),
    /// What the numbers of a storage unit's types and relations are shown as.
    Oids(UnitName),
    /// Figures of all parts of sharded tables, for the statement under way: what is said here is the family's own.
    Figures(Arc<str>),
}

impl Route {
    /// The targets.
    ///
    /// # Errors
    /// `Internal` when there are none yet.
    pub fn units(&self) -> Result<&Units> {
        match self {
            Self::Units(units) => Ok(units),
            Self::Unclaimed | Self::Needs(_) => Err(Error::internal("the statement is not routed")),
        }
    }
}
