//! The result merger (paper §VI.E): several row streams become one.
//!
//! It is poll-based and knows no runtime: a [`Merge`] polls its [`RowSource`]s and is polled by the reply. Rows stay in wire form;
//! only keys and aggregates are decoded, and keys of text lie in their rows' bytes. A sorted row tells how many of its keys equal those of the row before, which is
//! all that grouping and DISTINCT ask.
//!
//! | plan | form | memory |
//! |---|---|---|
//! | nothing | chunks passed on as they are | one chunk |
//! | limit, offset | chunks cut at row boundaries, not decoded | one chunk |
//! | derived columns | rows written anew without them | one chunk |
//! | order | k-way merge with a loser tree, equal rows in stream order | one chunk per stream, and that of the last row |
//! | insert order | one row of the stream whose turn it is, as long as it has any | one chunk per stream |
//! | group, sorted | the same, and groups closed one by one | one chunk per stream, one group |
//! | group, otherwise | hash table, then sorted | all groups, limited |
//! | sort | rows sorted in memory; under a limit each run of them keeps only as many | all rows, limited |
//! | distinct | the last row, or the set of rows that share the leading sort keys | that set, limited |
//!
//! A filter comes before everything else, and values that are computed of a row come behind it. The limit and offset come after everything else. When the limit is reached, nothing is pulled any more.
//!
//! **Streams of other forms.** The first stream's columns give the form of the result. Rows of a stream whose codec or column formats
//! differ are written anew in that form as they come.
//!
//! **Sort order is checked.** A row that comes before its predecessor by our comparison is an error (`Refused`): merging on would give
//! wrong groups or a wrong order without a sign of it.
//!
//! **Weights.** Weight strings compare as plain bytes, a prefix first. How spaces at the end count differs by collation, so whoever
//! derives the weights must pad or trim there (for instance to the column's width).
//!
//! **Averages.** AVG is computed from sum and count, with the digits the storage unit itself would give. The visible column tells which:
//! a float column divides doubles; a decimal column whose vendor describes columns by a number of decimals (`native.decimals` or
//! `native.charset` is not zero, and the decimals are below 31, "not fixed") is rounded half away from zero to so many digits; any
//! other decimal column gets the scale of PostgreSQL's numeric division (at least 16 significant digits in groups of four).
//!
//! **No rows.** A grouping without keys always gives exactly one row: counts are 0, everything else is NULL.

mod aggregate;
mod average;
mod compute;
mod distinct;
mod filter;
mod group;
mod insert_order;
mod iterate;
mod key;
mod limit;
mod merged;
mod number;
mod order;
mod pipeline;
mod recipe;
mod row;
mod sorter;
mod stream;
mod temporal;

use std::task::{Context, Poll};

use pando_kernel::column::Columns;
use pando_kernel::error::Result;
use pando_kernel::row::Rows;

pub use merged::Merge;
pub(crate) use stream::alike;

/// One source of rows: a storage unit's reply behind its columns.
pub trait RowSource: Send {
    /// The next chunk of rows; `None` at the end. Not polled again after the end or an error.
    ///
    /// # Errors
    /// Whatever ends the reply; the merge ends with the same error.
    ///
    /// # Cancel safety
    /// Polls lose nothing.
    fn poll_rows(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Rows>>>;
}

/// A stream with the columns of its rows.
#[derive(Debug)]
pub struct Input<S> {
    /// The columns, derived ones included. All streams have the same number of them.
    pub columns: Columns,
    /// The rows.
    pub rows: S,
}

/// Bounds of one merge.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes that groups, distinct values and rows to be sorted may take together. 0 refuses every form that holds rows.
    pub memory_bytes: usize,
}
