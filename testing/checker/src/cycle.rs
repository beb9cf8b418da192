//! Circles: Tarjan's strongly connected components, and a shortest circle in each.

use std::collections::{HashMap, VecDeque};

use crate::points::{Point, Points, Step};

/// Components that get a circle as a witness; the others are counted.
const COMPONENTS: usize = 64;
/// Points of one component from which a shortest circle is looked for.
const TRIED: usize = 64;
/// Points looked at from one of them.
const REACHED: usize = 50_000;

/// How many components have circles, and one circle of each of the first of them, as closed ways.
pub(crate) fn circles(points: &Points) -> (usize, Vec<Vec<(Point, Step)>>) {
    let (component, members) = components(points);
    let found = members.iter().take(COMPONENTS);
    let ways = found.filter_map(|members| shortest(points, &component, members)).collect();
    (members.len(), ways)
}

const NEW: u32 = u32::MAX;

struct Search {
    order: Vec<u32>,
    low: Vec<u32>,
    component: Vec<u32>,
    open: Vec<Point>,
    members: Vec<Vec<Point>>,
    seen: u32,
}

/// Each point's component, and the members of those that have more than one. Iterative: a history is deeper than a stack.
fn components(points: &Points) -> (Vec<u32>, Vec<Vec<Point>>) {
    let size = points.len();
    let mut search = Search {
        order: vec![NEW; size],
        low: vec![0; size],
        component: vec![NEW; size],
        open: Vec::new(),
        members: Vec::new(),
        seen: 0,
    };
    for root in 0..size as Point {
        if search.order[root as usize] == NEW {
            search.from(points, root);
        }
    }
    (search.component, search.members)
}

impl Search {
    fn enter(&mut self, point: Point) {
        self.order[point as usize] = self.seen;
        self.low[point as usize] = self.seen;
        self.seen += 1;
        self.open.push(point);
    }

    fn from(&mut self, points: &Points, root: Point) {
        let mut calls: Vec<(Point, usize)> = vec![(root, 0)];
        self.enter(root);
        while let Some((point, next)) = calls.last_mut() {
            let at = *point as usize;
            if let Some(step) = points.steps(*point).get(*next) {
                *next += 1;
                let to = step.to as usize;
                if self.order[to] == NEW {
                    self.enter(step.to);
                    calls.push((step.to, 0));
                } else if self.component[to] == NEW {
                    self.low[at] = self.low[at].min(self.order[to]);
                }
                continue;
            }
            calls.pop();
            if let Some((parent, _)) = calls.last() {
                let parent = *parent as usize;
                self.low[parent] = self.low[parent].min(self.low[at]);
            }
            if self.low[at] == self.order[at] {
                self.close(at as Point);
            }
        }
    }

    /// Everything above the point on the stack is one component. One of a single point has no circle, as no step leads back to its own point.
    fn close(&mut self, point: Point) {
        let place = self.open.iter().rposition(|open| *open == point).unwrap_or(0);
        let members = self.open.split_off(place);
        for member in &members {
            self.component[*member as usize] = point;
        }
        if members.len() > 1 {
            self.members.push(members);
        }
    }
}

/// The circle with the fewest dependencies that is found from some of the members.
fn shortest(points: &Points, component: &[u32], members: &[Point]) -> Option<Vec<(Point, Step)>> {
    let mut best: Option<(u32, Vec<(Point, Step)>)> = None;
    for from in members.iter().step_by(members.len().div_ceil(TRIED)) {
        let limit = best.as_ref().map_or(u32::MAX, |(length, _)| *length);
        best = around(points, component, (*from, limit)).or(best);
    }
    // In a very large component every search may have given up: any circle will do then.
    let any = || around(points, component, (*members.first()?, 0));
    best.or_else(any).map(|(_, way)| way)
}

/// A shortest way from a point back to it with fewer dependencies than `limit`, and how many it has. Steps without one cost nothing. A
/// limit of 0 is none, and the search does not give up.
fn around(
    points: &Points,
    component: &[u32],
    (start, limit): (Point, u32),
) -> Option<(u32, Vec<(Point, Step)>)> {
    let mut best: HashMap<Point, (u32, Point, Step)> = HashMap::new();
    let mut queue = VecDeque::from([(0, start)]);
    while let Some((length, point)) = queue.pop_front() {
        if point == start && length > 0 {
            break;
        }
        if limit > 0 && best.len() > REACHED {
            return None;
        }
        if point != start && best.get(&point).is_some_and(|(known, ..)| *known < length) {
            continue;
        }
        for step in points.steps(point) {
            let next = length + u32::from(step.edge.is_some());
            let elsewhere = component[step.to as usize] != component[point as usize];
            if elsewhere || (limit > 0 && next >= limit) {
                continue;
            }
            if best.get(&step.to).is_none_or(|(known, ..)| next < *known) {
                best.insert(step.to, (next, point, *step));
                if step.edge.is_some() {
                    queue.push_back((next, step.to));
                } else {
                    queue.push_front((next, step.to));
                }
            }
        }
    }
    way(start, &best)
}

/// Back from the start along where each point was reached from.
fn way(
    start: Point,
    best: &HashMap<Point, (u32, Point, Step)>,
) -> Option<(u32, Vec<(Point, Step)>)> {
    let (length, mut from, step) = *best.get(&start)?;
    let mut way = vec![(from, step)];
    while from != start {
        let (_, before, step) = *best.get(&from)?;
        way.push((before, step));
        from = before;
    }
    way.reverse();
    Some((length, way))
}
