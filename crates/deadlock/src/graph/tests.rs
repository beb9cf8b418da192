use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use proptest::prelude::*;

use super::*;
use crate::party::{Cost, Queue};

/// Sessions by number: how they stand, what they cost, and their connections as (server, number).
fn party(session: u32, rows: u64, spots: &[(&str, u64)]) -> Party {
    Party {
        id: PartyId { instance: "".into(), session, wait: 1 },
        spots: spots.iter().map(|(server, id)| spot(server, *id)).collect(),
        cost: Cost { rows, begun: Reverse(u64::from(session)) },
        stance: Stance::Waits,
        wanted: Vec::new(),
        queue: None,
    }
}

fn spot(server: &str, id: u64) -> Spot {
    Spot { server: server.into(), id }
}

fn edges(list: &[(&str, u64, u64)]) -> Vec<Edge> {
    let edge = |(server, waiter, blocker): &(&str, u64, u64)| Edge {
        server: (*server).into(),
        waiter: *waiter,
        blocker: *blocker,
    };
    list.iter().map(edge).collect()
}

fn victims(parties: &[Party], edges: &[Edge]) -> Vec<u32> {
    verdicts(parties, edges, &[]).iter().map(|verdict| verdict.victim.session).collect()
}

#[test]
fn no_server_breaks_a_circle_of_claims() {
    let parties = [party(1, 5, &[(CLAIMS, 11)]), party(2, 3, &[(CLAIMS, 12), ("a", 7)])];
    assert_eq!(victims(&parties, &edges(&[(CLAIMS, 11, 12), (CLAIMS, 12, 11)])), [2]);
    assert_eq!(victims(&parties, &edges(&[(CLAIMS, 11, 12)])), [0; 0]);
    // One of them waits at a server.
    let parties = [party(1, 5, &[(CLAIMS, 11), ("a", 8)]), party(2, 3, &[(CLAIMS, 12), ("a", 7)])];
    assert_eq!(victims(&parties, &edges(&[(CLAIMS, 11, 12), ("a", 7, 8)])), [2]);
}

/// Two sessions with a connection to each of two servers.
fn pair() -> [Party; 2] {
    [party(1, 5, &[("a", 11), ("b", 12)]), party(2, 3, &[("a", 21), ("b", 22)])]
}

#[test]
fn the_cheaper_one_of_a_cycle_gives_way() {
    let edges = edges(&[("a", 11, 21), ("b", 22, 12)]);
    let verdicts = verdicts(&pair(), &edges, &[]);
    let cycle: Vec<String> = verdicts[0].cycle.iter().map(ToString::to_string).collect();
    assert_eq!(cycle, ["session 2", "session 1"]);
    assert_eq!(verdicts.len(), 1);
    let mut equal = pair();
    equal[0].cost.rows = 3;
    assert_eq!(victims(&equal, &edges), [2], "the youngest");
}

#[test]
fn who_must_not_be_ended_is_not() {
    let edges = edges(&[("a", 11, 21), ("b", 22, 12)]);
    let mut parties = pair();
    parties[1].stance = Stance::Stays;
    assert_eq!(victims(&parties, &edges), [1]);
    parties[0].stance = Stance::Stays;
    assert_eq!(victims(&parties, &edges), [0; 0]);
}

#[test]
fn nobody_else_is_ended_while_one_is_leaving() {
    let edges = edges(&[("a", 11, 21), ("b", 22, 12)]);
    let mut parties = pair();
    parties[0].stance = Stance::Leaves;
    assert_eq!(victims(&parties, &edges), [0; 0]);
}

#[test]
fn a_wait_for_somebody_who_does_not_wait_is_no_deadlock() {
    for list in [
        &[("a", 11, 21)][..],
        &[("a", 11, 21), ("b", 12, 22)],
        &[("a", 11, 99), ("b", 22, 12)],
        &[],
    ] {
        assert_eq!(victims(&pair(), &edges(list)), [0; 0], "{list:?}");
    }
}

#[test]
fn a_server_breaks_its_own_cycles() {
    assert_eq!(victims(&pair(), &edges(&[("a", 11, 21), ("a", 21, 11)])), [0; 0]);
    // On one server, but over different connections, which the server cannot know.
    let parties = [party(1, 5, &[("a", 11), ("a", 12)]), party(2, 3, &[("a", 21), ("a", 22)])];
    assert_eq!(victims(&parties, &edges(&[("a", 11, 21), ("a", 22, 12)])), [2]);
}

#[test]
fn a_session_may_wait_for_itself() {
    let parties = [party(1, 5, &[("a", 11), ("a", 12)])];
    let verdicts = verdicts(&parties, &edges(&[("a", 11, 12)]), &[]);
    assert_eq!((verdicts.len(), verdicts[0].cycle.len()), (1, 1));
}

#[test]
fn strangers_may_stand_between() {
    let edges = edges(&[("a", 11, 70), ("a", 70, 71), ("a", 71, 21), ("b", 22, 12)]);
    let verdicts = verdicts(&pair(), &edges, &[]);
    assert_eq!(verdicts[0].cycle.len(), 4);
    assert_eq!(verdicts[0].cycle[2].to_string(), "connection 70 of a");
}

#[test]
fn two_cycles_through_one_session_need_one_victim_when_it_is_the_cheapest() {
    let mut parties = vec![party(1, 0, &[("a", 11), ("b", 12), ("c", 13)])];
    parties.push(party(2, 5, &[("a", 21), ("b", 22)]));
    parties.push(party(3, 5, &[("a", 31), ("c", 33)]));
    let edges = edges(&[("a", 11, 21), ("a", 11, 31), ("b", 22, 12), ("c", 33, 13)]);
    assert_eq!(victims(&parties, &edges), [1]);
    parties[0].cost.rows = 9;
    assert_eq!(victims(&parties, &edges), [3, 2]);
}

fn queue(ids: &[u64], wanted: usize) -> Option<Queue<Spot>> {
    let holders = ids.iter().map(|id| spot("b", *id)).collect();
    Some(Queue { holders, wanted, behind: None })
}

#[test]
fn a_full_pool_is_a_deadlock_only_when_all_who_have_its_connections_wait() {
    let mut first = party(1, 0, &[("a", 11)]);
    first.queue = queue(&[22, 99], 1);
    let second = party(2, 0, &[("b", 22), ("a", 21)]);
    let back = ("a", 21, 11);
    assert_eq!(victims(&[first.clone(), second.clone()], &edges(&[back])), [0; 0]);
    let all = edges(&[back, ("b", 99, 22)]);
    assert_eq!(victims(&[first.clone(), second.clone()], &all), [2]);
    first.queue = queue(&[], 1);
    assert_eq!(victims(&[first, second], &all), [0; 0]);
}

#[test]
fn who_waits_for_several_connections_needs_as_many_who_give_theirs_back() {
    let second = party(2, 0, &[("b", 22), ("a", 21)]);
    // The second waits for the first; who has connection 99 does not.
    let back = edges(&[("a", 21, 11)]);
    let waits = |wanted| {
        let mut first = party(1, 0, &[("a", 11)]);
        first.queue = queue(&[22, 99], wanted);
        victims(&[first, second.clone()], &back)
    };
    assert_eq!(waits(1), [0; 0]);
    assert_eq!(waits(2), [2]);
    assert_eq!(waits(3), [0; 0], "it is not known who has the third");
}

#[test]
fn who_stands_behind_another_in_a_queue_waits_for_that_one() {
    let waiting = |session: u32, spots: &[(&str, u64)], wanted, behind| {
        let mut party = party(session, 0, spots);
        party.queue = queue(&[51, 52], wanted).map(|queue| Queue { behind, ..queue });
        party
    };
    // Connection 51 waits for the second, which stands behind the first: it wants both.
    let parties = [waiting(1, &[("a", 11)], 2, None), waiting(2, &[("a", 21)], 1, Some(1))];
    let held = edges(&[("b", 51, 61)]);
    let mut second = parties[1].clone();
    second.spots.push(spot("b", 61));
    assert_eq!(victims(&[parties[0].clone(), second.clone()], &held), [2]);
    second.queue = queue(&[51, 52], 1);
    assert_eq!(victims(&[parties[0].clone(), second], &held), [0; 0], "it stands before it");
}

#[test]
fn what_is_only_guessed_counts_beside_what_is_known() {
    let known = edges(&[("a", 11, 21)]);
    let guessed = edges(&[("b", 22, 12)]);
    assert_eq!(verdicts(&pair(), &known, &guessed).len(), 1);
}

/// A world of sessions, each with a connection to every server, and waits among them.
fn worlds() -> impl Strategy<Value = (Vec<Party>, Vec<Edge>)> {
    const SERVERS: [&str; 3] = ["a", "b", "c"];
    let waits = proptest::collection::vec((0..3usize, 0..10u32, 0..10u32), 0..24);
    let costs = proptest::collection::vec((0..3u64, 0..12u8), 10);
    (costs, waits).prop_map(|(costs, waits)| {
        let number = |session: u32, server: usize| u64::from(session) * 10 + server as u64;
        let parties = costs.iter().zip(0..).map(|((rows, stance), session)| {
            let spots: Vec<(&str, u64)> =
                SERVERS.iter().enumerate().map(|(at, name)| (*name, number(session, at))).collect();
            let stance = match stance {
                0 => Stance::Stays,
                1 => Stance::Leaves,
                _ => Stance::Waits,
            };
            Party { stance, ..party(session, *rows, &spots) }
        });
        let edges = waits.into_iter().filter(|(_, waiter, blocker)| waiter != blocker);
        let edges = edges.map(|(server, waiter, blocker)| Edge {
            server: SERVERS[server].into(),
            waiter: number(waiter, server),
            blocker: number(blocker, server),
        });
        (parties.collect(), edges.collect())
    })
}

/// Who waits for whom among sessions, for a slow and plain check: from whom one can come back to oneself without passing who is gone.
fn on_cycles(edges: &[Edge], gone: &BTreeSet<u32>) -> BTreeSet<u32> {
    let mut next: HashMap<u32, BTreeSet<u32>> = HashMap::new();
    for edge in edges {
        let (from, to) = ((edge.waiter / 10) as u32, (edge.blocker / 10) as u32);
        if !gone.contains(&from) && !gone.contains(&to) {
            next.entry(from).or_default().insert(to);
        }
    }
    let mut ways = next.clone();
    for _ in 0..10 {
        for reached in ways.values_mut() {
            let further: Vec<u32> =
                reached.iter().filter_map(|to| next.get(to)).flatten().copied().collect();
            reached.extend(further);
        }
    }
    ways.iter().filter(|(from, reached)| reached.contains(from)).map(|(from, _)| *from).collect()
}

/// The edges without those of servers' own cycles.
fn shared(edges: &[Edge]) -> Vec<Edge> {
    let mut left = Vec::new();
    for server in ["a", "b", "c"] {
        let here: Vec<Edge> =
            edges.iter().filter(|edge| &*edge.server == server).cloned().collect();
        let own = on_cycles(&here, &BTreeSet::new());
        let is_own = |edge: &Edge| {
            own.contains(&((edge.waiter / 10) as u32))
                && own.contains(&((edge.blocker / 10) as u32))
        };
        left.extend(here.into_iter().filter(|edge| !is_own(edge)));
    }
    left
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_cycle_is_broken_and_nobody_gives_way_in_vain((parties, edges) in worlds()) {
        let found = verdicts(&parties, &edges, &[]);
        let edges = shared(&edges);
        let of = |session: u32| &parties[session as usize];
        let leaving = parties.iter().filter(|party| party.stance == Stance::Leaves);
        let mut gone: BTreeSet<u32> = leaving.map(|party| party.id.session).collect();
        for verdict in &found {
            let victim = verdict.victim.session;
            prop_assert_eq!(of(victim).stance, Stance::Waits);
            // A true cycle, also after those before have given way: so no cycle has two victims.
            prop_assert!(on_cycles(&edges, &gone).contains(&victim));
            prop_assert_eq!(&verdict.cycle[0], &Member::Party(verdict.victim.clone()));
            gone.insert(victim);
        }
        let left = on_cycles(&edges, &gone);
        prop_assert!(left.iter().all(|session| of(*session).stance == Stance::Stays), "{:?}", left);
    }

    #[test]
    fn instances_that_see_the_same_in_another_order_agree((parties, edges) in worlds()) {
        let victims = |parties: &[Party], edges: &[Edge]| -> Vec<PartyId> {
            verdicts(parties, edges, &[]).into_iter().map(|verdict| verdict.victim).collect()
        };
        let expected = victims(&parties, &edges);
        let (mut parties, mut edges) = (parties, edges);
        parties.reverse();
        edges.reverse();
        prop_assert_eq!(victims(&parties, &edges), expected);
    }
}

#[test]
fn many_waits_are_judged_quickly() {
    // A thousand in a row for one lock, the first of whom waits elsewhere for the last.
    let count = 1000u64;
    let parties: Vec<Party> = (0..count)
        .map(|n| party(u32::try_from(n).unwrap(), 1, &[("a", n + 1), ("b", n + 1)]))
        .collect();
    let mut list: Vec<(&str, u64, u64)> = (2..=count).map(|n| ("a", n, n - 1)).collect();
    list.extend((3..=count).map(|n| ("a", n, 1)));
    list.push(("b", 1, count));
    assert_eq!(victims(&parties, &edges(&list)).len(), 1);
}
