//! The merge itself: the plan resolved, then rows pulled through it.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pando_kernel::column::Columns;
use pando_kernel::dialect::Ordering;
use pando_kernel::error::{Error, Result};
use pando_kernel::merge::MergePlan;
use pando_kernel::row::Rows;

use super::insert_order::Turns;
use super::iterate::Iterate;
use super::limit::{Budget, Window};
use super::order::Ordered;
use super::pipeline::{Pipeline, Supply};
use super::recipe::Recipe;
use super::row::Layout;
use super::stream::{Stream, alike};
use super::{Input, Limits, RowSource};

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
    /// compared outside the storage units or when the inputs differ in the number or names of their columns, `Internal` for a plan that does not
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
        let unlike = |input: &Input<S>| !Arc::ptr_eq(&columns.list, &input.columns.list);
        for input in inputs.iter().filter(|input| unlike(input)) {
            alike(&columns.list, &input.columns.list)?;
        }
        let recipe = Recipe::new(plan, columns, inputs.len(), dialect)?;
        let Recipe { layout, order, turns, forms, window, untouched } = recipe;
        let visible = layout.output.list.len();
        let streams = inputs
            .into_iter()
            .map(|input| Stream::new(input.rows, input.columns, &layout.all, visible))
            .collect::<Vec<_>>();
        let flow = if untouched {
            Flow::Chunks(Iterate::new(streams))
        } else {
            let supply = match turns {
                Some(turns) => Supply::Turns(Turns::new(streams, turns)),
                None if order.is_empty() => Supply::Iterate(Iterate::new(streams)),
                None => Supply::Ordered(Ordered::new(streams, order)),
            };
            let budget = Budget::new(limits.memory_bytes);
            Flow::Rows(Box::new(Pipeline::new(supply, forms, budget)))
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
