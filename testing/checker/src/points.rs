//! A level's promise as a graph over moments in time: a circle in it is a broken promise.
//!
//! A transaction has a moment when its snapshot was taken (its start) and one when it committed (its end). What a level promises says
//! which of them a dependency puts in order; an order with a circle is none. Under snapshot isolation, a change of
//! something changed before means that the first had committed before the second took its snapshot; under MySQL's REPEATABLE READ it means
//! only that it committed first. Two adjacent rw dependencies come into a circle only where a transaction is one moment.

use crate::edges::{Edge, Link};
use crate::history::{History, Outcome};
use crate::orders::Index;

/// Which promise is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// Writes alone.
    Writes,
    /// Writes, and reads of what was written.
    Flow,
    /// Plain reads go by one snapshot, changes do not.
    PlainSnapshot,
    /// All goes by one snapshot.
    Snapshot,
    /// A transaction is one moment.
    Serial,
}

/// A moment; the graph's node.
pub(crate) type Point = u32;

/// Where a step of the graph leads, and because of which edge; `None` for steps inside a transaction or along the line of time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) to: Point,
    pub(crate) edge: Option<u32>,
}

/// The graph: steps of a point stand together.
#[derive(Debug)]
pub(crate) struct Points {
    view: View,
    transactions: usize,
    starts: Vec<u32>,
    steps: Vec<Step>,
}

impl Points {
    /// All points of a view; with the line of time when it counts.
    pub(crate) fn of(view: View, history: &History, edges: &[Edge], with_time: bool) -> Self {
        let transactions = history.transactions.len();
        let mut points = Self { view, transactions, starts: Vec::new(), steps: Vec::new() };
        let mut raw: Vec<(Point, Step)> = Vec::new();
        for (number, edge) in (0..).zip(edges) {
            if let Some((from, to)) = points.ends(edge) {
                raw.push((from, Step { to, edge: Some(number) }));
            }
        }
        let size = transactions as u32;
        if points.has_starts() {
            let inside = |index| (points.start(index), Step { to: points.end(index), edge: None });
            raw.extend((0..size).map(inside));
        }
        if with_time {
            points.time(history, &mut raw);
        }
        points.settle(&raw);
        points
    }

    fn settle(&mut self, raw: &[(Point, Step)]) {
        let size = 3 * self.transactions;
        self.starts = vec![0; size + 1];
        for (from, _) in raw {
            self.starts[*from as usize + 1] += 1;
        }
        for place in 0..size {
            self.starts[place + 1] += self.starts[place];
        }
        let mut next = self.starts.clone();
        self.steps = vec![Step { to: 0, edge: None }; raw.len()];
        for (from, step) in raw {
            let place = &mut next[*from as usize];
            self.steps[*place as usize] = *step;
            *place += 1;
        }
    }

    fn has_starts(&self) -> bool {
        match self.view {
            View::PlainSnapshot | View::Snapshot => true,
            View::Writes | View::Flow | View::Serial => false,
        }
    }

    fn start(&self, index: Index) -> Point {
        if self.has_starts() { 2 * index } else { self.end(index) }
    }

    fn end(&self, index: Index) -> Point {
        2 * index + 1
    }

    /// Which moments a dependency puts in order, if the view knows it at all.
    fn ends(&self, edge: &Edge) -> Option<(Point, Point)> {
        let (from, to) = (edge.from, edge.to);
        let committed_first = (self.end(from), self.start(to));
        match (edge.link, self.view) {
            (Link::WriteWrite(..), View::PlainSnapshot) => Some((self.end(from), self.end(to))),
            (Link::WriteWrite(..), _) => Some(committed_first),
            (Link::WriteRead(..), View::Writes) => None,
            (Link::WriteRead(..), _) => Some(committed_first),
            (Link::ReadWrite(..), View::Writes | View::Flow) => None,
            (Link::ReadWrite(..), _) => Some((self.start(from), self.end(to))),
            (Link::Process | Link::Time, View::Serial) => None,
            (Link::Process | Link::Time, _) => Some(committed_first),
        }
    }

    /// A line of moments at which transactions ended, in their order: who began later hangs on the last of them before.
    fn time(&self, history: &History, raw: &mut Vec<(Point, Step)>) {
        let all = &history.transactions;
        let ended = |index: &Index| all[*index as usize].outcome == Outcome::Committed;
        let mut by_end: Vec<Index> = (0..self.transactions as u32).filter(ended).collect();
        by_end.sort_by_key(|index| all[*index as usize].end);
        let moment = |place: usize| (2 * self.transactions + place) as Point;
        for (place, index) in by_end.iter().enumerate() {
            raw.push((self.end(*index), Step { to: moment(place), edge: None }));
            if place > 0 {
                raw.push((moment(place - 1), Step { to: moment(place), edge: None }));
            }
        }
        for index in 0..self.transactions as u32 {
            let begin = all[index as usize].begin;
            let before = by_end.partition_point(|other| all[*other as usize].end < begin);
            if let Some(last) = before.checked_sub(1) {
                raw.push((moment(last), Step { to: self.start(index), edge: None }));
            }
        }
    }

    /// How many points there may be.
    pub(crate) fn len(&self) -> usize {
        3 * self.transactions
    }

    /// The steps from a point.
    pub(crate) fn steps(&self, point: Point) -> &[Step] {
        let (from, to) = (self.starts[point as usize], self.starts[point as usize + 1]);
        &self.steps[from as usize..to as usize]
    }

    /// Whose moment it is; `None` on the line of time.
    pub(crate) fn transaction(&self, point: Point) -> Option<Index> {
        ((point as usize) < 2 * self.transactions).then_some(point / 2)
    }

    /// The edges along a closed way of points, with one of time for each stretch along that line.
    pub(crate) fn edges(&self, way: &[(Point, Step)], edges: &[Edge]) -> Vec<Edge> {
        let mut found = Vec::new();
        let mut left = None;
        for (from, step) in way {
            if let Some(number) = step.edge {
                found.push(edges[number as usize]);
                continue;
            }
            match (self.transaction(*from), self.transaction(step.to)) {
                (Some(index), None) => left = Some(index),
                (None, Some(to)) => {
                    found.extend(left.take().map(|from| Edge { from, to, link: Link::Time }));
                }
                (None, None) | (Some(_), Some(_)) => {}
            }
        }
        found
    }
}
