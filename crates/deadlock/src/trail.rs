//! What earlier looks have seen: only what two looks in a row see alike is believed, as servers are not asked at the same instant and waits end by
//! themselves.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use crate::graph::Member;
use crate::party::{Edge, Party, PartyId, Queue, Spot};

/// What earlier looks have seen.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    waits: HashMap<PartyId, Instant>,
    /// Those of other instances.
    heard: HashMap<PartyId, Instant>,
    /// With when each was seen first.
    edges: HashMap<Known, Instant>,
    queues: HashSet<Queued>,
}

/// Who waits, with the sessions that have its pool's connections.
type Queued = (PartyId, Queue<(Spot, Option<PartyId>)>);

/// An edge between the sessions that have its ends.
type Known = (Edge, Option<PartyId>, Option<PartyId>);

impl Trail {
    /// Notes the waits there are now. Returns how long each has lasted, as far as was seen.
    pub(crate) fn lasting(
        &mut self,
        now: Instant,
        waits: impl Iterator<Item = PartyId>,
    ) -> HashMap<PartyId, Duration> {
        known_since(&mut self.waits, now, waits)
    }

    /// Notes the waits that other instances tell of. Returns for how long each has been told.
    pub(crate) fn heard(
        &mut self,
        now: Instant,
        waits: impl Iterator<Item = PartyId>,
    ) -> HashMap<PartyId, Duration> {
        known_since(&mut self.heard, now, waits)
    }

    /// Keeps of the edges those that the last look saw too, for the same waits of the same sessions. A queue that is no longer the same is none.
    pub(crate) fn confirm(
        &mut self,
        now: Instant,
        parties: &mut [Party],
        edges: &[Edge],
    ) -> Vec<Edge> {
        let mut owners: HashMap<&Spot, &PartyId> = HashMap::new();
        for party in parties.iter() {
            for spot in &party.spots {
                owners.entry(spot).or_insert(&party.id);
            }
        }
        let owner = |spot: &Spot| owners.get(spot).map(|id| (*id).clone());
        let at = |edge: &Edge, id| owner(&Spot { server: edge.server.clone(), id });
        let known = |edge: &Edge| (edge.clone(), at(edge, edge.waiter), at(edge, edge.blocker));
        let before = std::mem::take(&mut self.edges);
        let mut confirmed = Vec::new();
        for edge in edges {
            let known = known(edge);
            let since = before.get(&known).copied();
            confirmed.extend(since.map(|_| edge.clone()));
            self.edges.insert(known, since.unwrap_or(now));
        }
        let queue = |party: &Party| {
            let Queue { holders, wanted, behind } = party.queue.as_ref()?;
            let mut holders: Vec<_> =
                holders.iter().map(|spot| (spot.clone(), owner(spot))).collect();
            holders.sort();
            Some((party.id.clone(), Queue { holders, wanted: *wanted, behind: *behind }))
        };
        let queues: Vec<_> = parties.iter().map(queue).collect();
        for (party, queue) in parties.iter_mut().zip(&queues) {
            if queue.as_ref().is_none_or(|queue| !self.queues.contains(queue)) {
                party.queue = None;
            }
        }
        self.queues = queues.into_iter().flatten().collect();
        confirmed
    }

    /// How long all of a cycle has been seen; nothing where part of it was only guessed.
    pub(crate) fn stood(&self, now: Instant, cycle: &[Member]) -> Option<Duration> {
        let ends = cycle.iter().zip(cycle.iter().cycle().skip(1));
        let since = ends.map(|(waiter, blocker)| {
            let between = self.edges.iter().filter(|((edge, one, other), _)| {
                is(waiter, one.as_ref(), edge, edge.waiter)
                    && is(blocker, other.as_ref(), edge, edge.blocker)
            });
            between.map(|(_, since)| *since).min()
        });
        let latest = since.collect::<Option<Vec<_>>>()?.into_iter().max()?;
        Some(now.saturating_duration_since(latest))
    }

    /// Nobody waits.
    pub(crate) fn clear(&mut self) {
        self.heard.clear();
        self.edges.clear();
        self.queues.clear();
    }
}

/// Forgets all but these waits, and tells how long each has been known.
fn known_since(
    known: &mut HashMap<PartyId, Instant>,
    now: Instant,
    waits: impl Iterator<Item = PartyId>,
) -> HashMap<PartyId, Duration> {
    let since = |wait: PartyId| {
        let since = known.get(&wait).copied().unwrap_or(now);
        (wait, since)
    };
    *known = waits.map(since).collect();
    let time =
        |(wait, since): (&PartyId, &Instant)| (wait.clone(), now.saturating_duration_since(*since));
    known.iter().map(time).collect()
}

/// Whether this is the end of an edge.
fn is(member: &Member, owner: Option<&PartyId>, edge: &Edge, id: u64) -> bool {
    match member {
        Member::Party(party) => owner == Some(party),
        Member::Stranger(spot) => owner.is_none() && spot.server == edge.server && spot.id == id,
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::sync::Arc;

    use super::*;
    use crate::party::{Cost, Stance};

    fn spot(id: u64) -> Spot {
        Spot { server: "a".into(), id }
    }

    fn party(session: u32, wait: u64, queue: Option<&[u64]>) -> Party {
        Party {
            id: PartyId { instance: "".into(), session, wait },
            spots: vec![spot(u64::from(session))],
            cost: Cost { rows: 0, begun: Reverse(0) },
            stance: Stance::Waits,
            wanted: Vec::new(),
            queue: queue.map(|ids| Queue {
                holders: ids.iter().copied().map(spot).collect(),
                wanted: 1,
                behind: None,
            }),
        }
    }

    fn edge(waiter: u64, blocker: u64) -> Edge {
        Edge { server: Arc::from("a"), waiter, blocker }
    }

    #[test]
    fn an_edge_counts_when_two_looks_see_it_between_the_same_waits() {
        let (mut trail, now) = (Trail::default(), Instant::now());
        let all = [edge(1, 2), edge(1, 77)];
        let mut parties = [party(1, 5, None), party(2, 6, None)];
        assert_eq!(trail.confirm(now, &mut parties, &all), []);
        assert_eq!(trail.confirm(now, &mut parties, &all), all);
        // The second has gone on, and waits again.
        parties[1].id.wait = 7;
        assert_eq!(trail.confirm(now, &mut parties, &all), [edge(1, 77)]);
        assert_eq!(trail.confirm(now, &mut parties, &all[..1]), [edge(1, 2)]);
        assert_eq!(trail.confirm(now, &mut parties, &all), [edge(1, 2)]);
        trail.clear();
        assert_eq!(trail.confirm(now, &mut parties, &all), []);
    }

    #[test]
    fn a_cycle_has_stood_since_its_last_edge_was_seen() {
        let (mut trail, began) = (Trail::default(), Instant::now());
        let mut parties = [party(1, 5, None), party(2, 6, None)];
        let second = Duration::from_secs(1);
        let members = |parties: &[Party]| {
            let party = |at: usize| Member::Party(parties[at].id.clone());
            [party(0), party(1), Member::Stranger(spot(77))]
        };
        trail.confirm(began, &mut parties, &[edge(1, 2), edge(77, 1)]);
        assert_eq!(trail.stood(began, &members(&parties)), None);
        let all = [edge(1, 2), edge(2, 77), edge(77, 1)];
        trail.confirm(began + second, &mut parties, &all);
        trail.confirm(began + second * 3, &mut parties, &all);
        assert_eq!(trail.stood(began + second * 3, &members(&parties)), Some(second * 2));
    }

    #[test]
    fn a_queue_counts_when_the_same_sessions_have_the_pool() {
        let mut trail = Trail::default();
        let look = |trail: &mut Trail, wait, queue: &[u64]| {
            let mut parties = [party(1, 5, Some(queue)), party(2, wait, None)];
            trail.confirm(Instant::now(), &mut parties, &[]);
            parties[0].queue.is_some()
        };
        assert!(!look(&mut trail, 6, &[2, 3]));
        assert!(look(&mut trail, 6, &[3, 2]), "in whatever order");
        assert!(!look(&mut trail, 6, &[2]));
        assert!(look(&mut trail, 6, &[2]));
        assert!(!look(&mut trail, 7, &[2]), "somebody has gone on meanwhile");
    }

    #[test]
    fn waits_last_from_when_they_were_seen_first() {
        let mut trail = Trail::default();
        let now = Instant::now();
        let id = |wait| party(1, wait, None).id;
        let second = Duration::from_secs(1);
        assert_eq!(trail.lasting(now, [id(5)].into_iter())[&id(5)], Duration::ZERO);
        let lasting = trail.lasting(now + second, [id(5), id(6)].into_iter());
        assert_eq!((lasting[&id(5)], lasting[&id(6)]), (second, Duration::ZERO));
        trail.lasting(now + second, [].into_iter());
        assert_eq!(trail.lasting(now + second, [id(5)].into_iter())[&id(5)], Duration::ZERO);
    }
}
