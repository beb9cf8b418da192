//! The graph of who waits for whom, and who has to give way. Pure.

use std::collections::{HashMap, VecDeque};

use crate::party::{CLAIMS, Edge, Party, PartyId, Spot, Stance};

/// Victims of one look; whoever is left over is found by the next one.
const MOST_VICTIMS: usize = 64;

/// A party that has to give way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// It.
    pub victim: PartyId,
    /// Whom it waits for, whom that one waits for, and so on until the victim again, which is not repeated.
    pub cycle: Vec<Member>,
}

/// One of a cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Member {
    /// A session.
    Party(PartyId),
    /// A connection of which only its server knows.
    Stranger(Spot),
}

impl std::fmt::Display for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Party(id) => id.fmt(f),
            Self::Stranger(spot) => write!(f, "connection {} of {}", spot.id, spot.server),
        }
    }
}

/// Who has to give way so that nobody waits for ever: of each cycle the one that loses least, and no more than that. Cycles among the connections of
/// one server are that server's own, and left to it. `guesses` are edges that may be.
pub fn verdicts(parties: &[Party], edges: &[Edge], guesses: &[Edge]) -> Vec<Verdict> {
    let edges = foreign_to_servers(edges).into_iter().chain(guesses);
    let mut graph = Graph::new(parties, edges);
    let mut order: Vec<usize> =
        (0..parties.len()).filter(|at| parties[*at].stance == Stance::Waits).collect();
    order.sort_by_key(|at| (parties[*at].cost, &parties[*at].id));
    let mut found = Vec::new();
    graph.reduce();
    // Who is on no cycle now will not be on one when there are fewer.
    for at in order {
        if found.len() == MOST_VICTIMS {
            break;
        }
        if !graph.stuck[at] {
            continue;
        }
        if let Some(cycle) = graph.cycle(at) {
            let cycle = cycle.into_iter().map(|node| graph.member(parties, node)).collect();
            found.push(Verdict { victim: parties[at].id.clone(), cycle });
            graph.release(at);
        }
    }
    found
}

struct Graph {
    /// Nodes behind the parties.
    strangers: Vec<Spot>,
    /// For each node those it waits for.
    next: Vec<Vec<usize>>,
    /// For each node those of whom it waits for some only, and for how many; one that has several connections is there as often.
    some: Vec<(Vec<usize>, usize)>,
    /// Whether it waits for ever.
    stuck: Vec<bool>,
}

impl Graph {
    fn new<'a>(parties: &[Party], edges: impl Iterator<Item = &'a Edge>) -> Self {
        let mut nodes: HashMap<Spot, usize> = HashMap::new();
        for (at, party) in parties.iter().enumerate() {
            for spot in &party.spots {
                nodes.entry(spot.clone()).or_insert(at);
            }
        }
        let count = parties.len();
        let mut graph = Self {
            strangers: Vec::new(),
            next: vec![Vec::new(); count],
            some: vec![(Vec::new(), 0); count],
            stuck: Vec::new(),
        };
        for edge in edges {
            let spot = |id| Spot { server: edge.server.clone(), id };
            let waiter = graph.node(&mut nodes, spot(edge.waiter));
            let blocker = graph.node(&mut nodes, spot(edge.blocker));
            let waits = parties.get(waiter).is_none_or(|party| party.stance != Stance::Leaves);
            if waits && !graph.next[waiter].contains(&blocker) {
                graph.next[waiter].push(blocker);
            }
        }
        graph.join_queues(parties, &mut nodes);
        graph.stuck = vec![true; graph.next.len()];
        graph
    }

    fn join_queues(&mut self, parties: &[Party], nodes: &mut HashMap<Spot, usize>) {
        let sessions: HashMap<_, usize> =
            parties.iter().enumerate().map(|(at, one)| (one.id.place(), at)).collect();
        for (at, party) in parties.iter().enumerate() {
            let Some(queue) = &party.queue else { continue };
            // Who waits for a lock as well waits for that. What holds fewer than are wanted is not known as a whole.
            let is_whole = queue.holders.len() >= queue.wanted;
            if !is_whole || !self.next[at].is_empty() || party.stance == Stance::Leaves {
                continue;
            }
            let before = queue
                .behind
                .and_then(|session| sessions.get(&(&*party.id.instance, session)).copied());
            self.next[at].extend(before);
            let holders = queue.holders.iter().map(|spot| self.node(nodes, spot.clone())).collect();
            self.some[at] = (holders, queue.wanted);
        }
    }

    fn node(&mut self, nodes: &mut HashMap<Spot, usize>, spot: Spot) -> usize {
        if let Some(at) = nodes.get(&spot) {
            return *at;
        }
        let at = self.next.len();
        self.next.push(Vec::new());
        self.some.push((Vec::new(), 0));
        self.strangers.push(spot.clone());
        nodes.insert(spot, at);
        at
    }

    /// Takes out, again and again, who does not wait for anybody that is stuck.
    fn reduce(&mut self) {
        loop {
            let free: Vec<usize> =
                (0..self.next.len()).filter(|at| self.stuck[*at] && !self.is_stuck(*at)).collect();
            if free.is_empty() {
                return;
            }
            for at in free {
                self.stuck[at] = false;
            }
        }
    }

    fn is_stuck(&self, at: usize) -> bool {
        let (some, wanted) = &self.some[at];
        self.next[at].iter().any(|blocker| self.stuck[*blocker])
            || some.iter().filter(|holder| !self.stuck[**holder]).count() < *wanted
    }

    fn release(&mut self, at: usize) {
        self.stuck[at] = false;
        self.reduce();
    }

    /// The shortest way from a node back to itself.
    fn cycle(&self, from: usize) -> Option<Vec<usize>> {
        let mut came: HashMap<usize, usize> = HashMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            let all = self.next[at].iter().chain(&self.some[at].0).copied();
            for next in all.filter(|next| self.stuck[*next]) {
                if next == from {
                    let mut way = vec![at];
                    while let Some(before) = way.last().filter(|last| **last != from) {
                        way.push(*came.get(before)?);
                    }
                    way.reverse();
                    return Some(way);
                }
                came.entry(next).or_insert_with(|| {
                    queue.push_back(next);
                    at
                });
            }
        }
        None
    }

    fn member(&self, parties: &[Party], node: usize) -> Member {
        match parties.get(node) {
            Some(party) => Member::Party(party.id.clone()),
            None => Member::Stranger(self.strangers[node - parties.len()].clone()),
        }
    }
}

/// The edges that are part of no cycle among the connections of one server: such a cycle is broken there, and what it holds up goes on then.
fn foreign_to_servers(edges: &[Edge]) -> Vec<&Edge> {
    let mut nodes: HashMap<(&str, u64), usize> = HashMap::new();
    let mut next: Vec<Vec<usize>> = Vec::new();
    let mut numbered = Vec::with_capacity(edges.len());
    // No server breaks those of BASE.
    let (claims, edges): (Vec<&Edge>, Vec<&Edge>) =
        edges.iter().partition(|edge| *edge.server == *CLAIMS);
    for edge in edges {
        let mut node = |id| {
            *nodes.entry((&*edge.server, id)).or_insert_with(|| {
                next.push(Vec::new());
                next.len() - 1
            })
        };
        let (waiter, blocker) = (node(edge.waiter), node(edge.blocker));
        next[waiter].push(blocker);
        numbered.push((edge, waiter, blocker));
    }
    let count = next.len();
    let (some, stuck) = (vec![(Vec::new(), 0); count], vec![true; count]);
    let mut graph = Graph { strangers: Vec::new(), next, some, stuck };
    graph.reduce();
    let own: Vec<bool> =
        (0..count).map(|at| graph.stuck[at] && graph.cycle(at).is_some()).collect();
    // Two nodes on cycles may be on different ones; the edge between them then waits for a cycle, which is broken all the same.
    numbered.retain(|(_, waiter, blocker)| !(own[*waiter] && own[*blocker]));
    numbered.into_iter().map(|(edge, ..)| edge).chain(claims).collect()
}

#[cfg(test)]
mod tests;
