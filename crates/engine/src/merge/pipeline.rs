//! Rows pulled from the streams one by one, through grouping, DISTINCT and the window, and written out again in chunks.

use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use pando_kernel::error::Result;
use pando_kernel::row::Rows;

use super::RowSource;
use super::compute::Compute;
use super::distinct::Unique;
use super::filter::Filter;
use super::group::Grouper;
use super::insert_order::Turns;
use super::iterate::Iterate;
use super::key::Key;
use super::limit::{Budget, Window};
use super::order::Ordered;
use super::row::{Field, Layout, Row};
use super::sorter::Sorter;

/// Size at which a chunk is passed on; a single larger row makes a larger chunk.
const CHUNK: usize = 64 * 1024;
/// Work done without giving a chunk before other tasks get a turn: rows, and for each of them this many bytes.
const TURN: usize = 4 * 1024;
const TURN_BYTES: usize = 512;

/// Where rows come from.
#[derive(Debug)]
pub(super) enum Supply<S> {
    /// One stream after the other.
    Iterate(Iterate<S>),
    /// All streams at once, sorted.
    Ordered(Ordered<S>),
    /// All streams at once, each when it is its turn.
    Turns(Turns<S>),
}

/// What rows go through, in this order; what is `None` is left out.
#[derive(Debug)]
pub(super) struct Forms {
    /// Which rows count at all.
    pub(super) filter: Option<Filter>,
    /// Values that are put into those.
    pub(super) computed: Vec<(usize, Compute)>,
    /// Not beside groups, which are sorted by themselves.
    pub(super) sort: Option<Sorter>,
    pub(super) group: Option<Grouper>,
    pub(super) unique: Option<Unique>,
}

/// The whole way of a row.
#[derive(Debug)]
pub(super) struct Pipeline<S> {
    supply: Supply<S>,
    forms: Forms,
    budget: Budget,
    drained: bool,
    /// Work done in this turn.
    worked: usize,
    out: BytesMut,
    count: u32,
}

/// What a step gave.
pub(super) enum Step {
    /// A row for the client.
    Row(Row),
    /// None yet.
    Nothing,
    /// None any more.
    End,
}

impl<S: RowSource> Supply<S> {
    /// Bytes of rows that have come and have not been given, as far as they are known.
    fn at_hand(&self) -> usize {
        match self {
            Self::Iterate(_) | Self::Turns(_) => 0,
            Self::Ordered(streams) => streams.at_hand(),
        }
    }

    fn poll_row(&mut self, cx: &mut Context<'_>, layout: &mut Layout) -> Poll<Result<Option<Row>>> {
        match self {
            Self::Iterate(streams) => {
                let frame = ready!(streams.poll_frame(cx, &layout.all))?;
                Poll::Ready(Ok(frame.map(Row::plain)))
            }
            Self::Ordered(streams) => streams.poll_row(cx, layout),
            Self::Turns(streams) => {
                let frame = ready!(streams.poll_frame(cx, &layout.all))?;
                Poll::Ready(Ok(frame.map(Row::plain)))
            }
        }
    }
}

impl<S: RowSource> Pipeline<S> {
    /// A pipeline through which nothing has gone.
    pub(super) fn new(supply: Supply<S>, forms: Forms, budget: Budget) -> Self {
        Self { supply, forms, budget, drained: false, worked: 0, out: BytesMut::new(), count: 0 }
    }

    /// The next chunk of at most [`CHUNK`] bytes or one row; less when the streams have to be waited for.
    pub(super) fn poll_chunk(
        &mut self,
        cx: &mut Context<'_>,
        layout: &mut Layout,
        window: &mut Window,
    ) -> Poll<Result<Option<Rows>>> {
        self.worked = 0;
        while !window.is_spent() {
            if self.worked >= TURN && self.count > 0 {
                break;
            }
            if self.worked >= TURN {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            self.worked += 1;
            let row = match self.poll_step(cx, layout)? {
                Poll::Pending if self.count == 0 => return Poll::Pending,
                Poll::Pending | Poll::Ready(Step::End) => break,
                Poll::Ready(Step::Nothing) => continue,
                Poll::Ready(Step::Row(row)) => row,
            };
            if let Some(unique) = &mut self.forms.unique
                && !unique.is_new(&row, layout, &mut self.budget)?
            {
                continue;
            }
            if !window.pass() {
                continue;
            }
            let start = self.out.len();
            if start == 0 && self.forms.group.is_none() && self.forms.sort.is_none() {
                self.out.reserve((row.frame.len() + self.supply.at_hand()).min(CHUNK));
            }
            layout.write(&row, &mut self.out)?;
            if self.out.len() > CHUNK && start > 0 {
                let last = self.out.split_off(start);
                return Poll::Ready(Ok(self.cut(last, 1)));
            }
            self.count += 1;
            if self.out.len() >= CHUNK {
                break;
            }
        }
        Poll::Ready(Ok(self.cut(BytesMut::new(), 0)))
    }

    /// Gives what is written, and begins the next chunk with `rest`.
    fn cut(&mut self, rest: BytesMut, count: u32) -> Option<Rows> {
        let bytes = std::mem::replace(&mut self.out, rest).freeze();
        let count = std::mem::replace(&mut self.count, count);
        (count > 0).then_some(Rows { bytes, count })
    }

    /// Whether rows are written that have not been given.
    pub(super) fn has_rest(&self) -> bool {
        self.count > 0
    }

    fn poll_step(&mut self, cx: &mut Context<'_>, layout: &mut Layout) -> Result<Poll<Step>> {
        if self.drained {
            return Ok(Poll::Ready(match (&mut self.forms.group, &mut self.forms.sort) {
                (Some(group), _) => group.step(layout, &mut self.budget)?,
                (None, Some(sort)) => sort.next().map_or(Step::End, Step::Row),
                (None, None) => Step::End,
            }));
        }
        let row = match self.supply.poll_row(cx, layout) {
            Poll::Ready(row) => row?,
            Poll::Pending => return Ok(Poll::Pending),
        };
        self.worked += row.as_ref().map_or(0, |row| row.frame.len() / TURN_BYTES);
        let Some(row) = row else {
            self.drained = true;
            if let Some(group) = &mut self.forms.group {
                group.end(layout)?;
            }
            return Ok(Poll::Ready(Step::Nothing));
        };
        self.take(row, layout).map(Poll::Ready)
    }

    /// What becomes of a row that has come.
    fn take(&mut self, row: Row, layout: &mut Layout) -> Result<Step> {
        let Forms { filter, computed, sort, group, .. } = &mut self.forms;
        let mut row = row;
        if let Some(filter) = filter
            && !filter.passes(&row, layout)?
        {
            return Ok(Step::Nothing);
        }
        if !computed.is_empty() {
            let frame = row.frame.clone();
            let body = layout.open(&frame)?;
            for (at, own) in computed.iter() {
                let value = own.value(&body, layout)?;
                let field = if value.is_null() { Field::Raw(None) } else { Field::Value(value) };
                row.changed.push((*at, field));
            }
        }
        if let Some(group) = group {
            // Groups are made of what rows hold.
            if !row.changed.is_empty() {
                row = Row::plain(layout.rewritten(&row)?);
            }
            let closed = group.push(row, layout, &mut self.budget)?;
            return Ok(closed.map_or(Step::Nothing, Step::Row));
        }
        let Some(sort) = sort else { return Ok(Step::Row(row)) };
        // The copy keeps a row from holding on to the whole chunk that it came in.
        let row = Row { frame: Bytes::copy_from_slice(&row.frame), ..row };
        let keys = layout.changed_keys(&row, sort.specs())?;
        self.budget.take(row.memory() + keys.iter().map(Key::memory).sum::<usize>())?;
        let freed = sort.push(keys, row);
        self.budget.give(freed);
        Ok(Step::Nothing)
    }
}
