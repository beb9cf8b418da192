//! What the analysis hands out.

use std::sync::Arc;

use pando_sql::Span;
use pando_sql::ast::BinaryOp;

/// All uses of a statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Uses {
    /// Single references, in text order.
    pub columns: Vec<Use>,
    /// Each `*` that stands for a column of interest, in text order.
    pub stars: Vec<Star>,
}

impl Uses {
    /// Whether the statement uses none of the columns.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty() && self.stars.is_empty()
    }
}

/// A column of interest.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Its table's key.
    pub table: Arc<str>,
    /// Its name, as the interest spells it.
    pub column: Arc<str>,
}

/// One reference to a column of interest, or to its value under another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// Which column.
    pub of: Origin,
    /// The name without what stands in front of it; the whole sub-query, number or insertion point where no name is
    /// written.
    pub span: Span,
    /// What stands in front of the name, without the dot.
    pub qualifier: Option<Span>,
    /// What is written there.
    pub by: Reference,
    /// In which place.
    pub place: Place,
}

/// What stands in the text for a column's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// The table's column itself: a rename changes this text.
    Column,
    /// A name that an item gave the value: an alias, or a column of a derived table or common table expression. It
    /// stays where the item keeps its name.
    Named,
    /// The number of an item.
    Ordinal,
    /// A sub-query whose value it is. The item inside is a use of its own.
    Query,
    /// The value that an INSERT proposes, by the table's column: `VALUES(c)`, `excluded.c`. A rename changes this
    /// text, too.
    Proposed,
    /// Nothing: a row's values stand in the table's order.
    Position,
}

/// Whether rows that are alike are compared and become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// All rows stay.
    Kept,
    /// DISTINCT, UNION, INTERSECT, EXCEPT.
    Compared,
}

/// A constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// A literal (NULL is one), where it stands.
    Literal(Span),
    /// A parameter.
    Parameter {
        /// Counted from 0.
        index: u32,
        /// Where it stands.
        span: Span,
    },
    /// One of both, which is cast.
    Cast {
        /// Where all of it stands.
        whole: Span,
        /// The type's text.
        to: Span,
    },
}

/// What a column is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// A constant.
    Value(Value),
    /// DEFAULT.
    Default(Span),
    /// The value of a column of interest, which is a use of its own.
    Column(Origin),
    /// Anything else. It may hold uses of its own.
    Expression(Span),
}

/// Where the values of an inserted column come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rows {
    /// VALUES or SET: one per row, in order.
    Values(Vec<Given>),
    /// An item of a query.
    Query {
        /// Its number, from 0.
        at: usize,
        /// The column of interest whose value it is; `None` where it is none.
        from: Option<Origin>,
    },
    /// DEFAULT VALUES.
    Default,
}

/// Where a use stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A whole item of what the statement answers. Branches of a set operation give one use each for the same number.
    Item {
        /// The column of the result, from 0.
        at: usize,
        /// The whole expression: an alias goes behind it.
        expr: Span,
        /// Its alias.
        alias: Option<Span>,
        /// Whether the rows are made distinct.
        duplicates: Duplicates,
    },
    /// A whole item of RETURNING.
    Returning {
        /// The column of the result, from 0.
        at: usize,
        /// The whole expression: an alias goes behind it.
        expr: Span,
        /// Its alias.
        alias: Option<Span>,
    },
    /// A whole item of a sub-query, a common table expression, or a query that is only explained.
    InnerItem {
        /// The item's column there, from 0.
        at: usize,
        /// The whole expression: an alias goes behind it.
        expr: Span,
        /// The alias; without one the value goes on under the name that is written.
        alias: Option<Span>,
        /// Whether the rows are made distinct.
        duplicates: Duplicates,
    },
    /// A whole item of a query whose rows an INSERT stores.
    Stored {
        /// The item's column, from 0.
        at: usize,
        /// The column of interest it goes into; `None` where that is none.
        into: Option<Origin>,
        /// The whole expression: an alias goes behind it.
        expr: Span,
        /// The alias; without one the value goes on under the name that is written.
        alias: Option<Span>,
        /// Whether the rows are made distinct.
        duplicates: Duplicates,
    },
    /// `=`, `<=>`, IS NOT DISTINCT FROM a constant.
    EqualTo(Value),
    /// `<>`, IS DISTINCT FROM a constant.
    NotEqualTo(Value),
    /// Equal to another use: a join, a comparison, IN of a sub-query. The other one has the mirrored place.
    EqualToColumn(Origin),
    /// Unequal to another use.
    NotEqualToColumn(Origin),
    /// IN a list of constants.
    InList {
        /// The constants, in order.
        values: Vec<Value>,
        /// NOT IN.
        negated: bool,
    },
    /// BETWEEN constants.
    Between {
        /// The lower bound.
        low: Value,
        /// The upper bound.
        high: Value,
    },
    /// `<`, `<=`, `>`, `>=` a constant.
    Ordered {
        /// As if the column stood on the left.
        op: BinaryOp,
        /// The constant.
        value: Value,
    },
    /// LIKE and its kin.
    Like {
        /// The words between column and pattern, upper-cased: `LIKE`, `NOT ILIKE`, `REGEXP`.
        operator: String,
        /// The pattern.
        pattern: Value,
    },
    /// IS [NOT] NULL.
    NullTest,
    /// A whole item of GROUP BY.
    GroupKey,
    /// A whole item of ORDER BY.
    OrderKey,
    /// A whole item of DISTINCT ON.
    DistinctKey,
    /// The one argument of an aggregate.
    Aggregate {
        /// Lower-cased, without a schema.
        function: String,
        /// DISTINCT.
        distinct: bool,
    },
    /// A column that an INSERT fills. [`Reference::Position`] where the INSERT has no column list.
    InsertColumn {
        /// Its place in each row, from 0.
        at: usize,
        /// Its values.
        rows: Rows,
    },
    /// The left side of an assignment.
    Assigned(Given),
    /// The whole right side of an assignment, or a value of a row.
    AssignedTo {
        /// The column of interest that gets it; `None` where that is none.
        into: Option<Origin>,
    },
    /// A column of ON CONFLICT (…).
    ConflictTarget,
    /// A column of the lines of COPY or LOAD DATA. [`Reference::Position`] where they list none: it is then counted among
    /// all columns of the table. COPY has no fields for columns that the server computes, and the engine refuses such
    /// statements of tables that have any.
    Field {
        /// Its place in each line, from 0.
        at: usize,
    },
    /// A definition names it.
    Definition(Definition),
    /// Any other expression.
    Inside {
        /// The smallest operator, function or clause around it.
        around: Span,
    },
}

/// How a definition names a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Definition {
    /// CREATE TABLE declares it.
    Column {
        /// Its type.
        type_span: Span,
    },
    /// A plain element of an index, a key or a unique constraint.
    Key,
    /// In any other way.
    Other,
}

/// A `*` or `t.*` that stands for at least one column of interest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Star {
    /// All of it.
    pub span: Span,
    /// The column of the result that its first one is, from 0.
    pub at: usize,
    /// What it stands for, in order.
    pub columns: Vec<StarColumn>,
    /// Where it stands.
    pub place: StarPlace,
    /// Whether the rows are made distinct.
    pub duplicates: Duplicates,
}

/// One column that a `*` stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StarColumn {
    /// What its table is called in the statement; `None` where it has no name.
    pub source: Option<Span>,
    /// Its name; `None` for an unnamed column of a derived table.
    pub name: Option<String>,
    /// The column of interest whose value it is; `None` where it is none.
    pub of: Option<Origin>,
    /// What its name would be there: [`Reference::Column`] where a rename changes it, else [`Reference::Named`].
    pub by: Reference,
}

/// Where a `*` stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StarPlace {
    /// In what the statement answers.
    Result,
    /// In RETURNING.
    Returning,
    /// In a sub-query.
    Inner,
    /// In a query whose rows an INSERT stores: for each column of the star the column of interest it goes into.
    Stored(Vec<Option<Origin>>),
}
