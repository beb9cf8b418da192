//! INSERT, UPDATE and DELETE.

use super::{
    Cte, Expr, Ident, InsertRow, Limit, ObjectName, OrderItem, Query, SelectItem, Table,
    TableFactor,
};
use crate::span::Span;

/// INSERT or REPLACE.
#[derive(Debug, Clone)]
pub struct Insert {
    /// WITH in front.
    pub with: Vec<Cte>,
    /// REPLACE instead of INSERT.
    pub replace: bool,
    /// IGNORE, LOW_PRIORITY, DELAYED, HIGH_PRIORITY, upper-cased.
    pub modifiers: Vec<String>,
    /// The target.
    pub table: Table,
    /// The column list; `None` when it is not written.
    pub columns: Option<Vec<Ident>>,
    /// The column list with its parentheses; the insertion point behind the table name when it is not written.
    pub columns_span: Span,
    /// Where the rows come from.
    pub source: InsertSource,
    /// `AS new` behind the rows.
    pub row_alias: Option<RowAlias>,
    /// ON DUPLICATE KEY UPDATE assignments.
    pub on_duplicate: Vec<ColumnAssignment>,
    /// ON CONFLICT.
    pub on_conflict: Option<OnConflict>,
    /// RETURNING items and the whole clause.
    pub returning: Option<(Vec<SelectItem>, Span)>,
    /// The whole statement.
    pub span: Span,
}

/// Where inserted rows come from.
#[derive(Debug, Clone)]
pub enum InsertSource {
    /// VALUES: each row with its parentheses.
    Values {
        /// The rows.
        rows: Vec<InsertRow>,
        /// From the first row's `(` to the last row's `)`.
        span: Span,
    },
    /// SET a = 1, b = 2.
    Set(Vec<ColumnAssignment>),
    /// INSERT … SELECT.
    Query(Box<Query>),
    /// DEFAULT VALUES.
    Default,
}

/// What ON DUPLICATE KEY UPDATE calls the row that was to be inserted: `AS new [(a, b)]`.
#[derive(Debug, Clone)]
pub struct RowAlias {
    /// The row's name.
    pub name: Ident,
    /// The names of its columns; empty where they are called as those of the table.
    pub columns: Vec<Ident>,
}

/// ON CONFLICT of an INSERT.
#[derive(Debug, Clone)]
pub struct OnConflict {
    /// ON CONSTRAINT.
    pub constraint: Option<Ident>,
    /// DO UPDATE SET assignments; empty for DO NOTHING.
    pub assignments: Vec<ColumnAssignment>,
    /// WHERE of DO UPDATE.
    pub filter: Option<Expr>,
    /// The whole clause.
    pub span: Span,
}

/// `column = value` in UPDATE, INSERT … SET and upserts. `(a, b) = (…)` gives one entry per column with the same value.
#[derive(Debug, Clone)]
pub struct ColumnAssignment {
    /// The column, perhaps qualified.
    pub column: ObjectName,
    /// The value.
    pub value: Expr,
    /// The whole assignment.
    pub span: Span,
}

/// UPDATE.
#[derive(Debug, Clone)]
pub struct Update {
    /// WITH in front.
    pub with: Vec<Cte>,
    /// The tables between UPDATE and SET.
    pub tables: Vec<TableFactor>,
    /// SET.
    pub assignments: Vec<ColumnAssignment>,
    /// FROM after SET.
    pub from: Vec<TableFactor>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// LIMIT.
    pub limit: Option<Limit>,
    /// RETURNING items and the whole clause.
    pub returning: Option<(Vec<SelectItem>, Span)>,
    /// The whole statement.
    pub span: Span,
}

/// MERGE.
#[derive(Debug, Clone)]
pub struct Merge {
    /// The table that is changed.
    pub target: Table,
    /// USING.
    pub source: TableFactor,
    /// ON.
    pub on: Expr,
    /// WHEN clauses in order.
    pub whens: Vec<MergeWhen>,
}

/// One `WHEN [NOT] MATCHED [AND condition] THEN …`.
#[derive(Debug, Clone)]
pub struct MergeWhen {
    /// NOT was not written.
    pub matched: bool,
    /// AND.
    pub condition: Option<Expr>,
    /// What is done.
    pub then: MergeThen,
}

/// What MERGE does with a row.
#[derive(Debug, Clone)]
pub enum MergeThen {
    /// UPDATE SET.
    Update(Vec<ColumnAssignment>),
    /// DELETE.
    Delete,
    /// INSERT.
    Insert {
        /// The column list; `None` when it is not written.
        columns: Option<Vec<Ident>>,
        /// VALUES; `None` for DEFAULT VALUES.
        values: Option<Vec<Expr>>,
    },
    /// DO NOTHING.
    Nothing,
}

/// DELETE.
#[derive(Debug, Clone)]
pub struct Delete {
    /// WITH in front.
    pub with: Vec<Cte>,
    /// The tables rows are deleted from (multi-table form: the names listed; else the one table).
    pub targets: Vec<Table>,
    /// FROM/USING factors of the multi-table forms; empty in the plain form.
    pub from: Vec<TableFactor>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// LIMIT.
    pub limit: Option<Limit>,
    /// RETURNING items and the whole clause.
    pub returning: Option<(Vec<SelectItem>, Span)>,
    /// The whole statement.
    pub span: Span,
}
