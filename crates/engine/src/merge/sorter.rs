//! Rows sorted in memory in small pieces of work: runs are sorted as they fill, and merged row by row as the rows are asked for.

use std::cmp::Ordering;
use std::collections::VecDeque;

use super::key::{Key, KeySpec, diverge, order};
use super::order::Tree;
use super::row::Row;

/// Rows sorted at once: some milliseconds of work.
const RUN: usize = 8 * 1024;

/// Rows on their way into an order. Equal rows stay as they came.
#[derive(Debug)]
pub(super) struct Sorter {
    specs: Vec<KeySpec>,
    /// The first rows that will be asked for; `None` where all may be.
    most: Option<usize>,
    filling: Vec<Keyed>,
    runs: Vec<VecDeque<Keyed>>,
    /// `None` until the first row is asked for.
    tree: Option<Tree>,
    /// Keys of the row given last.
    last: Option<Vec<Key>>,
}

/// A row with its keys.
type Keyed = (Vec<Key>, Row);

impl Sorter {
    /// Sorts by `specs`.
    pub(super) fn new(specs: Vec<KeySpec>) -> Self {
        Self { specs, most: None, filling: Vec::new(), runs: Vec::new(), tree: None, last: None }
    }

    /// Which keeps no more rows of a run than will be asked for in all.
    pub(super) fn keeping(self, most: Option<usize>) -> Self {
        Self { most, ..self }
    }

    /// By what it sorts.
    pub(super) fn specs(&self) -> &[KeySpec] {
        &self.specs
    }

    /// Takes a row in, with its keys by [`Sorter::specs`]. Not to be called after [`Sorter::next`].
    /// Result: bytes of rows that nobody will ask for, which are held no longer.
    pub(super) fn push(&mut self, keys: Vec<Key>, row: Row) -> usize {
        self.filling.push((keys, row));
        if self.filling.len() >= RUN { self.end_run() } else { 0 }
    }

    fn end_run(&mut self) -> usize {
        let mut run = std::mem::take(&mut self.filling);
        run.sort_by(|a, b| order(&self.specs, &a.0, &b.0));
        let beyond = self.most.filter(|most| *most < run.len()).map(|most| run.split_off(most));
        run.shrink_to_fit();
        self.runs.push(run.into());
        let held = |(keys, row): &Keyed| row.memory() + keys.iter().map(Key::memory).sum::<usize>();
        beyond.iter().flatten().map(held).sum()
    }

    /// The next row in order.
    pub(super) fn next(&mut self) -> Option<Row> {
        if !self.filling.is_empty() {
            self.end_run();
        }
        let Self { specs, runs, tree, last, .. } = self;
        let tree = match tree {
            Some(tree) => {
                tree.replay(|a, b| before(specs, runs, a, b));
                tree
            }
            None => tree.insert(Tree::new(runs.len(), |a, b| before(specs, runs, a, b))),
        };
        let (keys, mut row) = runs.get_mut(tree.winner())?.pop_front()?;
        row.equal = last.as_ref().map_or(0, |last| diverge(specs, last, &keys).0);
        *last = Some(keys);
        Some(row)
    }
}

/// Whether the next row of run `a` comes before that of run `b`. Ended runs come last.
fn before(specs: &[KeySpec], runs: &[VecDeque<Keyed>], a: usize, b: usize) -> bool {
    let head = |at: usize| runs.get(at).and_then(VecDeque::front);
    let order = match (head(a), head(b)) {
        (Some(x), Some(y)) => order(specs, &x.0, &y.0),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    order.then(a.cmp(&b)).is_lt()
}
