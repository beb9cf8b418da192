//! Tables, as clients see them and as they stand on storage units.

use std::sync::Arc;

use crate::column::Attribute;
use crate::route::UnitName;
use crate::value::Kind;

/// A table as clients see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogicTable {
    /// Its name as configured.
    pub name: String,
    /// What kind of table it is.
    pub kind: TableKind,
    /// Its actual tables, first is the one that stands for all in catalogue answers. Never empty.
    pub nodes: Vec<DataNode>,
    /// How its rows are spread over the nodes, in words that are the same only where every row stays in its place;
    /// empty where there is only one way.
    pub spread: String,
    /// The sharding columns, as configured: what decides where a row is. Empty where none does.
    pub keys: Vec<String>,
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

/// An actual table.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DataNode {
    /// Its storage unit.
    pub unit: UnitName,
    /// Its name there.
    pub table: Arc<str>,
}

/// A column of an actual table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableColumn {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// The vendor's type text.
    pub type_name: String,
    /// The collation's name for text columns; empty otherwise.
    pub collation: String,
    /// The name for a COLLATE clause, quoted, where the collation is not the one its type brings, or its table; empty
    /// otherwise.
    pub collate: String,
    /// How many seconds east of Greenwich, at any time, its server reads moments that name no zone, where sessions may
    /// have zones of their own; `None` where they have none, and where that is not known.
    pub zone: Option<i64>,
    /// Part of the primary key.
    pub primary_key: bool,
    /// The server generates its values (AUTO_INCREMENT, SERIAL, IDENTITY).
    pub auto_increment: bool,
    /// NULL is allowed.
    pub nullable: bool,
    /// Neither `*` gives it nor an INSERT without a list takes it: it is there for those who name it.
    pub invisible: bool,
    /// Where it stands, for families whose results tell it.
    pub attribute: Attribute,
    /// What its server writes into it that depends on the time, where it does: its default as an expression, or why
    /// the family cannot tell one. `None` for all other columns.
    pub timed: Option<Box<str>>,
}
