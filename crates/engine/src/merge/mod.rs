//! The result merger (paper §VI.E): several row streams become one.
//!
//! It is poll-based and knows no runtime: a [`Merge`] polls its [`RowSource`]s and is polled by the reply. Rows stay in wire form;
//! only keys and aggregates are decoded.
//!
//! | plan | form | memory |
//! |---|---|---|
//! | nothing | chunks passed on as they are | one chunk |
//! | limit, offset | chunks cut at row boundaries, not decoded | one chunk |
//! | derived columns | rows written anew without them | one chunk |
//! | order | k-way merge with a loser tree, equal rows in stream order | one chunk per stream |
//! | group, sorted | the same, and groups closed one by one | one chunk per stream, one group |
//! | group, otherwise | hash table, then sorted | all groups, limited |
//! | distinct | the last row, or the set of rows that share the leading sort keys | that set, limited |
//!
//! The limit and offset come after everything else. When the limit is reached, nothing is pulled any more.
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
mod distinct;
mod group;
mod iterate;
mod key;
mod limit;
mod number;
mod order;
mod pipeline;
mod recipe;
mod row;
mod stream;
mod temporal;

use std::task::{Context, Poll, ready};

use pando_kernel::column::Columns;
use pando_kernel::dialect::Ordering;
use pando_kernel::error::{Error, Result};
use pando_kernel::merge::MergePlan;
use pando_kernel::row::Rows;

use iterate::Iterate;
use limit::{Budget, Window};
use order::Ordered;
use pipeline::{Pipeline, Supply};
use recipe::Recipe;
use row::Layout;
use stream::Stream;

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

/// A merge under way.
#[derive(Debug)]
pub struct Merge<S> {
    layout: Layout,
    flow: Flow<S>,
    window: Window,
    done: bool,
}

#[derive(Debug)]
enum Flow<S> {
    /// Chunks pass as they are, or cut.
    Chunks(Iterate<S>),
    /// Rows are looked at one by one.
    Rows(Box<Pipeline<S>>),
}

impl<S: RowSource> Merge<S> {
    /// Resolves the plan against the columns of the first input. Pulls nothing.
    ///
    /// # Errors
    /// `UnknownColumn` when no visible column has a name of the plan, `Refused` when several have or when a column's values cannot be
    /// compared outside the storage units or when the inputs differ in their number of columns, `Internal` for a plan that does not
    /// fit the columns.
    pub fn new(
        plan: &MergePlan,
        inputs: Vec<Input<S>>,
        dialect: &dyn Ordering,
        limits: Limits,
    ) -> Result<Self> {
        let Some(columns) = inputs.first().map(|input| input.columns.clone()) else {
            return Err(Error::internal("a merge needs at least one stream"));
        };
        let recipe = Recipe::new(plan, columns, inputs.len(), dialect)?;
        let Recipe { layout, order, group, unique, window, untouched } = recipe;
        let streams = inputs
            .into_iter()
            .map(|input| Stream::new(input.rows, input.columns, &layout.all))
            .collect::<Result<Vec<_>>>()?;
        let flow = if untouched {
            Flow::Chunks(Iterate::new(streams))
        } else {
            let supply = if order.is_empty() {
                Supply::Iterate(Iterate::new(streams))
            } else {
                Supply::Ordered(Ordered::new(streams, order))
            };
            let budget = Budget::new(limits.memory_bytes);
            Flow::Rows(Box::new(Pipeline::new(supply, group, unique, budget)))
        };
        Ok(Self { layout, flow, window, done: window.is_spent() })
    }

    /// The columns the client sees: without the derived ones. The kind of an aggregate's column is that of its result; its vendor's
    /// own description stays as it came.
    pub fn columns(&self) -> &Columns {
        &self.layout.output
    }

    /// Nothing more will come: the end, the limit or an error was reached. The sources can be dropped.
    pub fn is_finished(&self) -> bool {
        self.done
    }

    /// The next chunk: as its source gave it when nothing has to look inside, else at most 64 KiB or one row. `None` at the end and
    /// ever after, also after an error.
    ///
    /// # Errors
    /// What a source says first; `Memory` beyond the limit; `Value` for values that cannot be compared or computed; `Refused` for a
    /// source that is not sorted as the plan says; `Protocol` for broken rows.
    ///
    /// # Cancel safety
    /// Polls lose nothing.
    pub fn poll_rows(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Rows>>> {
        if self.done {
            return Poll::Ready(Ok(None));
        }
        let outcome = ready!(self.poll_chunk(cx));
        let rest = match &self.flow {
            Flow::Chunks(_) => false,
            Flow::Rows(pipeline) => pipeline.has_rest(),
        };
        self.done = !matches!(outcome, Ok(Some(_))) || (self.window.is_spent() && !rest);
        Poll::Ready(outcome)
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Rows>>> {
        let Self { layout, flow, window, .. } = self;
        let streams = match flow {
            Flow::Rows(pipeline) => return pipeline.poll_chunk(cx, layout, window),
            Flow::Chunks(streams) => streams,
        };
        loop {
            let Some(rows) = ready!(streams.poll_chunk(cx, &layout.all))? else {
                return Poll::Ready(Ok(None));
            };
            if let Some(rows) = window.cut(rows, &layout.all)? {
                return Poll::Ready(Ok(Some(rows)));
            }
        }
    }
}
