//! How the row streams of several targets become one: plain data, made by planning, run by the engine's merge.

use std::sync::Arc;

use crate::cells::CellMap;
use crate::dialect::Compare;
use crate::value::Value;

/// The whole recipe.
#[derive(Debug, Clone, PartialEq)]
pub struct MergePlan {
    /// How many columns at the end of each row were added by planning; they are cut off again.
    pub derived: usize,
    /// Sort order each stream already has, and the merged stream gets. Empty: streams are taken one after the other.
    pub order: Vec<SortKey>,
    /// The number of the target that gives each row, in the order the rows are wanted: of an INSERT with RETURNING, the order of VALUES.
    pub turns: Option<Arc<[u32]>>,
    /// Grouping; `None` when rows pass one by one.
    pub group: Option<Group>,
    /// What a row must pass before anything else looks at it; `None` where all do.
    pub filter: Option<Condition>,
    /// The order that rows are brought into in memory, where no stream has it and there are no groups. Empty: they stay
    /// as they come.
    pub sort: Vec<SortKey>,
    /// Equal rows are dropped.
    pub distinct: Option<Vec<SortKey>>,
    /// Rows to skip.
    pub offset: u64,
    /// Rows to return after that.
    pub limit: Option<u64>,
    /// Each target gives at most one row (aggregates without GROUP BY).
    pub single_row: bool,
    /// What the client is told otherwise than it is stored; also of rows that one target gives. Rows are merged as they are
    /// stored, and turned after that.
    pub cells: Vec<CellMap>,
    /// What is done with rows as they are told, where what is stored of them does not say it. It comes after all else.
    pub told: Option<Box<Self>>,
}

impl MergePlan {
    /// Streams one after the other, nothing changed.
    pub fn iterate() -> Self {
        Self {
            derived: 0,
            order: Vec::new(),
            turns: None,
            group: None,
            filter: None,
            sort: Vec::new(),
            distinct: None,
            offset: 0,
            limit: None,
            single_row: false,
            cells: Vec::new(),
            told: None,
        }
    }
}

/// Where a column stands in the rows of the targets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Position {
    /// Counted from the first column.
    Index(usize),
    /// The n-th of the derived columns at the end.
    Derived(usize),
    /// The one visible column of this name (a `*` hides its place).
    Name(String),
}

/// One sort, group or distinct item.
#[derive(Debug, Clone, PartialEq)]
pub struct SortKey {
    /// The column.
    pub position: Position,
    /// How its values compare.
    pub compare: KeyCompare,
    /// Descending.
    pub descending: bool,
    /// NULL sorts before everything else (already turned round for descending order).
    pub nulls_first: bool,
}

/// How a key's values compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyCompare {
    /// So.
    Known(Compare),
    /// As the result's column type says; when that is text, by the bytes of this derived column.
    ByResult {
        /// The derived column with weights, when there is one.
        weights: Option<Position>,
    },
    /// As [`KeyCompare::ByResult`]; but what only the server can order compares as bytes. For answers whose order is a courtesy.
    Loose {
        /// The derived column with weights, when there is one.
        weights: Option<Position>,
    },
}

/// How rows fall into groups.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The grouping items; empty: all rows are one group.
    pub keys: Vec<SortKey>,
    /// Streams come sorted by the keys: groups can be closed one by one. Otherwise all groups are held in memory, up to the limit.
    pub sorted: bool,
    /// What is computed.
    pub aggregates: Vec<Aggregate>,
    /// Order of the groups when it is not the keys' own; applied in memory.
    pub then_order: Vec<SortKey>,
}

/// An aggregate over partial results.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// The visible column that gets the result.
    pub output: Position,
    /// What is done.
    pub function: AggregateFunction,
}

/// How partial results combine.
#[derive(Debug, Clone, PartialEq)]
pub enum AggregateFunction {
    /// COUNT: partial counts are added.
    Count,
    /// SUM: partial sums are added; NULL only when all are.
    Sum,
    /// The least.
    Min(KeyCompare),
    /// The greatest.
    Max(KeyCompare),
    /// AVG from two derived columns.
    Average {
        /// Where the partial sum stands.
        sum: Position,
        /// Where the partial count stands.
        count: Position,
    },
    /// COUNT(DISTINCT x), SUM(DISTINCT x), AVG(DISTINCT x): the targets return the distinct values themselves, which are taken once each.
    Distinct {
        /// The column with the values.
        values: SortKey,
        /// What is computed over them.
        of: DistinctOf,
    },
}

/// What is computed over distinct values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistinctOf {
    /// Their number.
    Count,
    /// Their sum.
    Sum,
    /// Their average.
    Average,
}

/// What is true of a row, false, or unknown: SQL's logic of three values.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// All of these are true; never empty.
    All(Vec<Self>),
    /// Some of these is true; never empty.
    Any(Vec<Self>),
    /// The opposite; unknown stays.
    Not(Box<Self>),
    /// What the storage unit says: a boolean, or a number that is true unless it is 0.
    Said(Position),
    /// A column compared with something else.
    Compared {
        /// The column.
        column: Position,
        /// How both compare.
        compare: Compare,
        /// What is to be true of them.
        is: Relation,
        /// The other side.
        with: Operand,
    },
    /// A text that is like a pattern: `%` is any characters, `_` one, and every other is itself.
    Like {
        /// The column.
        column: Position,
        /// The pattern, without escapes; `None` is NULL.
        pattern: Option<Arc<str>>,
    },
}

/// What one value is to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The same, NULL being the same as NULL; never unknown.
    Same,
    /// Equal.
    Equal,
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterOrEqual,
}

/// What a column is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// A constant.
    Constant(Value),
    /// Another column of the row.
    Column(Position),
}
