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
    /// Values that are put into rows which have passed.
    pub computed: Vec<(Position, Computed)>,
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
            computed: Vec::new(),
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
    /// Whether a condition is just this: `IS TRUE`, `IS UNKNOWN`.
    Is(Box<Self>, Option<bool>),
    /// Two values compared.
    Compared {
        /// The one.
        left: Computed,
        /// How both compare.
        compare: Compare,
        /// What is to be true of them.
        is: Relation,
        /// The other.
        right: Computed,
    },
    /// A text that is like a pattern: `%` is any characters, `_` one, and every other is itself.
    Like {
        /// The text.
        text: Computed,
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

/// A value that is computed from the row in which it stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Computed {
    /// Always the same.
    Constant(Value),
    /// A column's.
    Column(Position),
    /// What a function or an operator makes of some.
    Of(Scalar, Vec<Self>),
    /// That of the first condition which is true, and another where none is.
    Case(Vec<(Condition, Self)>, Box<Self>),
}

/// What is made of values. Where nothing else is said it is NULL as soon as one of them is. Numbers are whole, of so many
/// octets at most, or exact where one of them is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// The text in upper case, where it is ASCII.
    Upper,
    /// The text in lower case, where it is ASCII.
    Lower,
    /// How many characters the text has.
    Characters,
    /// The texts one behind the other, those that are NULL left out.
    Joined,
    /// The texts one behind the other.
    JoinedAll,
    /// A part of the text, counted in characters.
    Part {
        /// Those in front of it.
        from: usize,
        /// Its own at most.
        most: usize,
    },
    /// The first text with the third in the place of each second.
    Replaced,
    /// The first that is not NULL.
    Coalesce,
    /// The first, or NULL where both compare equal.
    NullIf(Compare),
    /// The sum of two.
    Plus(u8),
    /// The difference of two.
    Minus(u8),
    /// The product of two.
    Times(u8),
    /// What is left of the first, divided by the second; with the sign of the first.
    Modulo(u8),
    /// The number with the other sign.
    Negative(u8),
    /// The number without a sign.
    Absolute(u8),
}
