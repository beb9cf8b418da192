//! Rows sorted in memory in small pieces of work: runs are sorted as they fill, and merged row by row as the rows are asked for.

use std::cmp::Ordering;
use std::collections::VecDeque;

use super::key::{KeySpec, order};
use super::order::Tree;
use super::row::Row;

/// Rows sorted at once: some milliseconds of work.
const RUN: usize = 8 * 1024;

/// Rows on their way into an order. Equal rows stay as they came.
#[derive(Debug)]
pub(super) struct Sorter {
    specs: Vec<KeySpec>,
    filling: Vec<Row>,
    runs: Vec<VecDeque<Row>>,
    /// `None` until the first row is asked for.
    tree: Option<Tree>,
}

impl Sorter {
    /// Sorts by `specs`; the keys of the rows are theirs.
    pub(super) fn new(specs: Vec<KeySpec>) -> Self {
        Self { specs, filling: Vec::new(), runs: Vec::new(), tree: None }
    }

    /// By what it sorts.
    pub(super) fn specs(&self) -> &[KeySpec] {
        &self.specs
    }

    /// Takes a row in. Not to be called after [`Sorter::next`].
    pub(super) fn push(&mut self, row: Row) {
        self.filling.push(row);
        if self.filling.len() >= RUN {
            self.end_run();
        }
    }

    fn end_run(&mut self) {
        let mut run = std::mem::take(&mut self.filling);
        run.sort_by(|a, b| order(&self.specs, &a.keys, &b.keys));
        self.runs.push(run.into());
    }

    /// The next row in order.
    pub(super) fn next(&mut self) -> Option<Row> {
        if !self.filling.is_empty() {
            self.end_run();
        }
        let Self { specs, runs, tree, .. } = self;
        let tree = match tree {
            Some(tree) => {
                tree.replay(|a, b| before(specs, runs, a, b));
                tree
            }
            None => tree.insert(Tree::new(runs.len(), |a, b| before(specs, runs, a, b))),
        };
        runs.get_mut(tree.winner())?.pop_front()
    }
}

/// Whether the next row of run `a` comes before that of run `b`. Ended runs come last.
fn before(specs: &[KeySpec], runs: &[VecDeque<Row>], a: usize, b: usize) -> bool {
    let head = |at: usize| runs.get(at).and_then(VecDeque::front);
    let order = match (head(a), head(b)) {
        (Some(x), Some(y)) => order(specs, &x.keys, &y.keys),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    order.then(a.cmp(&b)).is_lt()
}
