//! Rows of one group become one row: group by group when they come sorted, all groups at once otherwise.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;
use pando_kernel::error::{Error, Result};

use super::aggregate::{AggregateSpec, ENTRY, State};
use super::key::{self, Key, KeySpec};
use super::limit::Budget;
use super::pipeline::Step;
use super::row::{Layout, Row};
use super::sorter::Sorter;

/// How rows are grouped.
#[derive(Debug)]
pub(super) struct GroupSpec {
    /// The grouping items; empty: all rows are one group, which exists even without rows.
    pub(super) keys: Vec<KeySpec>,
    /// How the groups are found.
    pub(super) form: Form,
    /// What is computed.
    pub(super) aggregates: Vec<AggregateSpec>,
    /// By what the groups are sorted in the end; empty: they stay as they come.
    pub(super) sort: Vec<KeySpec>,
}

/// How the groups are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    /// Equal rows follow one another: so many of the first keys that rows are sorted by are the group's.
    Stream(usize),
    /// By a hash table of all groups, in the order of their first rows.
    Memory,
}

/// The groups under way.
#[derive(Debug)]
pub(super) struct Grouper {
    spec: GroupSpec,
    /// In stream form at most one.
    open: VecDeque<Open>,
    /// Places in `open` by canonical key; empty in stream form.
    places: HashMap<Vec<u8>, usize>,
    /// Finished groups, when they are to be sorted.
    sorter: Option<Sorter>,
}

/// A group that may still grow.
#[derive(Debug)]
struct Open {
    first: Row,
    states: Vec<State>,
    /// Bytes of the budget it holds; only in stream form.
    held: usize,
}

impl Grouper {
    /// No rows seen yet.
    pub(super) fn new(spec: GroupSpec) -> Self {
        let sorter = (!spec.sort.is_empty()).then(|| Sorter::new(spec.sort.clone()));
        Self { spec, open: VecDeque::new(), places: HashMap::new(), sorter }
    }

    /// Takes a row in. Gives the group before it when that is known to be complete and nothing has to wait for sorting.
    ///
    /// # Errors
    /// `Memory`, and what reading the row says.
    pub(super) fn push(
        &mut self,
        row: Row,
        layout: &mut Layout,
        budget: &mut Budget,
    ) -> Result<Option<Row>> {
        let (at, closed) = match &self.spec.form {
            Form::Stream(keys) => {
                let closed = match self.open.back() {
                    Some(_) if row.equal < *keys => self.open.pop_back(),
                    Some(_) | None => None,
                };
                (0, closed)
            }
            Form::Memory => (self.place(&row, layout, budget)?, None),
        };
        let closed = match closed {
            Some(open) => self.close(open, layout, budget)?,
            None => None,
        };
        self.add(at, row, layout, budget)?;
        Ok(closed)
    }

    /// The place of the row's group among the open ones; that of a new group is one past the end.
    fn place(&mut self, row: &Row, layout: &mut Layout, budget: &mut Budget) -> Result<usize> {
        if self.spec.keys.is_empty() {
            return Ok(0);
        }
        let bytes = key::canonical(&layout.changed_keys(row, &self.spec.keys)?);
        if let Some(at) = self.places.get(&bytes) {
            return Ok(*at);
        }
        budget.take(bytes.len() + ENTRY)?;
        self.places.insert(bytes, self.open.len());
        Ok(self.open.len())
    }

    fn add(&mut self, at: usize, row: Row, layout: &mut Layout, budget: &mut Budget) -> Result<()> {
        let before = budget.used();
        let body = layout.open(&row.frame)?;
        if at == self.open.len() {
            let states: Vec<State> =
                self.spec.aggregates.iter().map(AggregateSpec::start).collect();
            budget.take(row.memory() + size_of_val(&states[..]) + size_of::<Open>())?;
            // The copy keeps a group from holding on to the whole chunk its first row came in.
            let first = Row { frame: Bytes::copy_from_slice(&row.frame), ..row.clone() };
            self.open.push_back(Open { first, states, held: 0 });
        }
        let Some(open) = self.open.get_mut(at) else {
            return Err(Error::internal("a group is not where its key says"));
        };
        for (aggregate, state) in self.spec.aggregates.iter().zip(&mut open.states) {
            aggregate.add(state, layout, &body, budget)?;
        }
        open.held = (open.held + budget.used()).saturating_sub(before);
        Ok(())
    }

    /// Computes a group's row; keeps it for sorting when the groups are to be sorted.
    fn close(
        &mut self,
        open: Open,
        layout: &mut Layout,
        budget: &mut Budget,
    ) -> Result<Option<Row>> {
        let Open { first: mut row, states, held } = open;
        for (aggregate, state) in self.spec.aggregates.iter().zip(states) {
            row.changed.push((aggregate.output, aggregate.finish(state)?));
        }
        budget.give(held);
        let Some(sorter) = &mut self.sorter else { return Ok(Some(row)) };
        let keys = layout.changed_keys(&row, sorter.specs())?;
        budget.take(row.memory() + keys.iter().map(Key::memory).sum::<usize>())?;
        budget.give(sorter.push(keys, row));
        Ok(None)
    }

    /// Notes that the last row has come.
    ///
    /// # Errors
    /// What writing a row of NULLs says.
    pub(super) fn end(&mut self, layout: &mut Layout) -> Result<()> {
        self.places = HashMap::new();
        if self.open.is_empty() && self.spec.keys.is_empty() {
            let states = self.spec.aggregates.iter().map(AggregateSpec::start).collect();
            self.open.push_back(Open { first: Row::plain(layout.nulls()?), states, held: 0 });
        }
        Ok(())
    }

    /// One step towards the groups that are left after [`Grouper::end`].
    ///
    /// # Errors
    /// As [`Grouper::push`].
    pub(super) fn step(&mut self, layout: &mut Layout, budget: &mut Budget) -> Result<Step> {
        if let Some(open) = self.open.pop_front() {
            let closed = self.close(open, layout, budget)?;
            return Ok(closed.map_or(Step::Nothing, Step::Row));
        }
        let next = self.sorter.as_mut().and_then(Sorter::next);
        Ok(next.map_or(Step::End, Step::Row))
    }
}
