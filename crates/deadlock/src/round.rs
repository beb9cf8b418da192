//! One look: who waits, what the servers and the other instances say, and who has to give way.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use pando_kernel::Connector;
use pando_kernel::runtime::{SharedRuntime, within};
use pando_kernel::waits::{Board, Wait};

use crate::graph::{Member, Verdict, verdicts};
use crate::line::Said;
use crate::lines::Lines;
use crate::notice;
use crate::party::{CLAIMS, Edge, Party, PartyId, Queue, Spot, Stance};
use crate::sessions::{Held, Sessions, Stand};
use crate::trail::Trail;

/// Between two looks while somebody waits: a little longer than MariaDB shows the same. Each other instance that looks as well makes it longer, as MariaDB
/// shows nothing new to many who look often.
const PAUSE: Duration = Duration::from_millis(120);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// The pause doubles up to this while those who seem to wait are only at long work: no server says that they wait for anybody.
const PAUSE_AT_WORK: Duration = Duration::from_millis(480);
/// Others are told of waits that last longer.
const TOLD_AFTER: Duration = Duration::from_millis(300);
/// A wait that lasts longer is suspected where the server cannot tell for whom it is.
const SUSPICIOUS: Duration = Duration::from_secs(3);
/// The board is not waited for any longer.
const BOARD_LIMIT: Duration = Duration::from_millis(500);

/// What lasts from look to look.
#[derive(Debug)]
pub(crate) struct Rounds {
    runtime: SharedRuntime,
    board: Option<Arc<dyn Board>>,
    own: Arc<str>,
    pub(crate) lines: Lines,
    trail: Trail,
    /// The last pause.
    pause: Duration,
    /// What stands on the board.
    told: Option<String>,
    board_is_silent: bool,
}

/// What a look came to.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Nobody waits.
    Calm,
    /// Somebody does: the time until the next look, and how many had to give way.
    Waits(Duration, u64),
}

impl Rounds {
    pub(crate) fn new(
        runtime: SharedRuntime,
        board: Option<Arc<dyn Board>>,
        said: Arc<Said>,
    ) -> Self {
        let own = board.as_ref().map_or_else(|| "".into(), |board| board.own());
        let (lines, trail) = (Lines::new(said), Trail::default());
        Self { runtime, board, own, lines, trail, pause: PAUSE, told: None, board_is_silent: false }
    }

    /// Looks once.
    pub(crate) async fn look(&mut self, sessions: &dyn Sessions, stands: Vec<Stand>) -> Outcome {
        let ids = stands.iter().filter_map(|stand| self.id(stand));
        let lasting = self.trail.lasting(self.runtime.now(), ids.collect::<Vec<_>>().into_iter());
        let is_old = |id: &PartyId| lasting.get(id).is_some_and(|time| !time.is_zero());
        // As soon as one wait has lasted, all are looked at.
        let waiting: Vec<&Stand> = stands.iter().filter(|stand| stand.wait.is_some()).collect();
        if !waiting.iter().any(|stand| self.id(stand).is_some_and(|id| is_old(&id))) {
            self.trail.clear();
            self.pause = PAUSE;
            self.publish(None).await;
            return Outcome::Calm;
        }
        let connectors: Vec<Arc<dyn Connector>> =
            waiting.iter().flat_map(|stand| connectors(stand)).collect();
        let runtime = Arc::clone(&self.runtime);
        self.lines.meet(&runtime, &connectors).await;
        let others = self.others(&waiting, &lasting).await;
        if !others.is_empty() {
            self.lines.meet(&runtime, &sessions.connectors()).await;
        }
        let mut wanted: BTreeSet<Arc<str>> = waiting
            .iter()
            // Those who have a pool's connections may wait for locks there.
            .flat_map(|stand| {
                let running = stand.held.iter().filter(|held| held.is_running);
                running.chain(stand.queue.iter().flat_map(|queue| &queue.holders))
            })
            .filter_map(|held| self.lines.server(&held.connector).cloned())
            .collect();
        wanted.extend(others.iter().flat_map(|party| &party.spots).map(|spot| spot.server.clone()));
        let told = self.lines.waits(&runtime, &wanted).await;
        self.judge(sessions, others, told, &lasting)
    }

    /// Puts together what was told, and ends whom it concerns.
    fn judge(
        &mut self,
        sessions: &dyn Sessions,
        others: Vec<Party>,
        told: Vec<(Arc<str>, Wait)>,
        lasting: &HashMap<PartyId, Duration>,
    ) -> Outcome {
        let instances: BTreeSet<&Arc<str>> =
            others.iter().map(|party| &party.id.instance).collect();
        // Whatever others have waited before this instance heard of it: one may have begun just now.
        let now = self.runtime.now();
        let mut seen = self.trail.heard(now, others.iter().map(|party| party.id.clone()));
        seen.extend(lasting.iter().map(|(id, time)| (id.clone(), *time)));
        // More than a few make no difference.
        let others_count = u32::try_from(instances.len().min(10)).unwrap_or(10);
        // As they stand after the servers were asked: whose wait has ended meanwhile is another one.
        let mut parties: Vec<Party> =
            sessions.spread().iter().map(|stand| self.party(stand)).collect();
        parties.extend(others);
        let (mut edges, blind) = edges(&told);
        edges.extend(parties.iter().flat_map(claimed));
        let guesses = guesses(&parties, &edges, &blind, &seen);
        let edges = self.trail.confirm(self.runtime.now(), &mut parties, &edges);
        let mut broken = 0;
        let certain = verdicts(&parties, &edges, &[]);
        let suspected = match certain.is_empty() && !guesses.is_empty() {
            true => verdicts(&parties, &edges, &guesses),
            false => Vec::new(),
        };
        for (verdict, kind) in certain
            .iter()
            .map(|verdict| (verdict, "deadlock"))
            .chain(suspected.iter().map(|verdict| (verdict, "suspected deadlock")))
        {
            broken += u64::from(self.carry_out(sessions, verdict, kind, lasting));
        }
        let is_told = !told.is_empty() || parties.iter().any(|party| !party.wanted.is_empty());
        self.pause = match !is_told && others_count == 0 {
            true => (self.pause * 2).min(PAUSE_AT_WORK),
            false => (PAUSE * (others_count + 1)).min(LONGEST_PAUSE),
        };
        Outcome::Waits(self.pause, broken)
    }

    fn carry_out(
        &self,
        sessions: &dyn Sessions,
        verdict: &Verdict,
        kind: &str,
        lasting: &HashMap<PartyId, Duration>,
    ) -> bool {
        let PartyId { instance, session, wait } = &verdict.victim;
        if *instance != self.own {
            return false;
        }
        let text = described(verdict);
        let gives_way = sessions.give_way(*session, *wait, &text);
        if gives_way {
            let stood = self.stood(verdict, lasting).as_millis();
            tracing::warn!(session, "{kind}: {text}; the first is rolled back, after {stood} ms");
        }
        gives_way
    }

    /// It was closed by the last of its waits at the earliest; and later where a server made somebody wait for another one than before.
    fn stood(&self, verdict: &Verdict, lasting: &HashMap<PartyId, Duration>) -> Duration {
        let waits = verdict.cycle.iter().filter_map(|member| match member {
            Member::Party(id) => lasting.get(id).copied(),
            Member::Stranger(_) => None,
        });
        let seen = self.trail.stood(self.runtime.now(), &verdict.cycle);
        waits.chain(seen).min().unwrap_or_default()
    }

    fn id(&self, stand: &Stand) -> Option<PartyId> {
        let (instance, session) = (Arc::clone(&self.own), stand.session);
        stand.wait.map(|wait| PartyId { instance, session, wait })
    }

    fn party(&self, stand: &Stand) -> Party {
        let spots = |held: &[Held]| {
            let spot = |held: &Held| {
                let server = Arc::clone(self.lines.server(&held.connector)?);
                Some(Spot { server, id: held.id })
            };
            held.iter().map(spot).collect::<Vec<_>>()
        };
        let (instance, session) = (Arc::clone(&self.own), stand.session);
        let own_claims = stand.claims.as_ref().map(|claims| Spot::of_claims(claims.own));
        let wanted = stand.claims.as_ref().map(|claims| claims.wanted.clone());
        Party {
            id: PartyId { instance, session, wait: stand.wait.unwrap_or(u64::MAX) },
            spots: spots(&stand.held).into_iter().flatten().chain(own_claims).collect(),
            cost: stand.cost,
            stance: if stand.wait.is_some() { stand.stance } else { Stance::Leaves },
            wanted: wanted.unwrap_or_default(),
            // A queue behind somebody who is not known is not known to last.
            queue: stand.queue.as_ref().and_then(|queue| {
                let holders = spots(&queue.holders).into_iter().collect::<Option<_>>()?;
                Some(Queue { holders, wanted: queue.wanted, behind: queue.behind })
            }),
        }
    }

    /// Tells the other instances of waits that last, and hears of theirs.
    async fn others(
        &mut self,
        waiting: &[&Stand],
        lasting: &HashMap<PartyId, Duration>,
    ) -> Vec<Party> {
        let Some(board) = self.board.clone() else { return Vec::new() };
        let told: Vec<Party> = waiting
            .iter()
            .map(|stand| self.party(stand))
            .filter(|party| lasting.get(&party.id).is_some_and(|time| *time >= TOLD_AFTER))
            .collect();
        if told.is_empty() {
            // What stood there of waits that are over must not be taken for today's.
            self.publish(None).await;
            return Vec::new();
        }
        self.publish(notice::write(told.iter())).await;
        let heard = within(&*self.runtime, BOARD_LIMIT, board.others()).await;
        let heard = match heard {
            Some(Ok(heard)) => heard,
            Some(Err(error)) => return self.is_silent(&error.to_string()),
            None => return self.is_silent("no answer"),
        };
        let others = heard.iter().filter(|notice| notice.instance != self.own);
        others.flat_map(|notice| notice::read(&notice.instance, &notice.text)).collect()
    }

    fn is_silent(&mut self, why: &str) -> Vec<Party> {
        if !std::mem::replace(&mut self.board_is_silent, true) {
            tracing::warn!("deadlocks with other instances' transactions are not seen: {why}");
        }
        Vec::new()
    }

    /// Puts a text on the board, unless it stands there.
    pub(crate) async fn publish(&mut self, text: Option<String>) {
        let Some(board) = self.board.clone() else { return };
        if self.told == text {
            return;
        }
        match within(&*self.runtime, BOARD_LIMIT, board.publish(text.clone())).await {
            Some(Ok(())) => (self.told, self.board_is_silent) = (text, false),
            Some(Err(error)) => drop(self.is_silent(&error.to_string())),
            None => drop(self.is_silent("no answer")),
        }
    }
}

fn connectors(stand: &Stand) -> impl Iterator<Item = Arc<dyn Connector>> {
    let queue = stand.queue.iter().flat_map(|queue| &queue.holders);
    stand.held.iter().chain(queue).map(|held| Arc::clone(&held.connector))
}

/// Its waits for rows that BASE transactions hold.
fn claimed(party: &Party) -> impl Iterator<Item = Edge> {
    let own = party.spots.iter().find(|spot| *spot.server == *CLAIMS);
    own.into_iter().flat_map(|own| {
        party.wanted.iter().map(|wanted| Edge {
            server: Arc::clone(&own.server),
            waiter: own.id,
            blocker: *wanted,
        })
    })
}

/// What was told, and the waits of which it was not told for whom they are.
fn edges(told: &[(Arc<str>, Wait)]) -> (Vec<Edge>, Vec<Spot>) {
    let (mut edges, mut blind) = (Vec::new(), Vec::new());
    for (server, wait) in told {
        let server = Arc::clone(server);
        match wait.blocker {
            Some(0) => {}
            Some(blocker) if blocker == wait.waiter => {}
            Some(blocker) => edges.push(Edge { server, waiter: wait.waiter, blocker }),
            None => blind.push(Spot { server, id: wait.waiter }),
        }
    }
    (edges, blind)
}

/// Where a server cannot tell for whom somebody waits: after a while it may be anybody who has a connection there and waits on another one. (Who waits on
/// that very connection is part of a cycle only together with somebody who does not.)
fn guesses(
    parties: &[Party],
    edges: &[Edge],
    blind: &[Spot],
    lasting: &HashMap<PartyId, Duration>,
) -> Vec<Edge> {
    let is_old = |party: &Party| {
        party.stance != Stance::Leaves
            && lasting.get(&party.id).is_some_and(|time| *time >= SUSPICIOUS)
    };
    let old: Vec<&Party> = parties.iter().filter(|party| is_old(party)).collect();
    let known = edges.iter().map(|edge| Spot { server: edge.server.clone(), id: edge.waiter });
    let waiting: HashSet<Spot> = known.chain(blind.iter().cloned()).collect();
    let waits_beside = |party: &Party, own: &Spot| {
        party.spots.iter().any(|spot| spot != own && waiting.contains(spot))
    };
    let mut guesses = Vec::new();
    for spot in blind {
        let Some(waiter) = old.iter().find(|party| party.spots.contains(spot)) else { continue };
        for other in old.iter().filter(|other| other.id != waiter.id) {
            let there = other.spots.iter().filter(|own| own.server == spot.server);
            let there = there.filter(|own| waits_beside(other, own));
            guesses.extend(there.map(|own| Edge {
                server: Arc::clone(&spot.server),
                waiter: spot.id,
                blocker: own.id,
            }));
        }
    }
    guesses
}

fn described(verdict: &Verdict) -> String {
    let mut text = String::new();
    for (at, member) in verdict.cycle.iter().enumerate() {
        let joint = match at {
            0 => "",
            1 => " waits for ",
            _ => ", that for ",
        };
        text.push_str(joint);
        text.push_str(&member.to_string());
    }
    let joint = if verdict.cycle.len() == 1 { " waits for itself" } else { ", that for the first" };
    text + joint
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use super::*;
    use crate::party::Cost;

    fn spot(server: &str, id: u64) -> Spot {
        Spot { server: server.into(), id }
    }

    fn party(session: u32, spots: &[(&str, u64)]) -> Party {
        Party {
            id: PartyId { instance: "".into(), session, wait: 1 },
            spots: spots.iter().map(|(server, id)| spot(server, *id)).collect(),
            cost: Cost { rows: 0, begun: Reverse(u64::from(session)) },
            stance: Stance::Waits,
            wanted: Vec::new(),
            queue: None,
        }
    }

    #[test]
    fn what_servers_tell_is_sorted_by_whether_they_tell_for_whom() {
        let told = |waiter, blocker| (Arc::from("a"), Wait { waiter, blocker });
        let list = [told(1, Some(2)), told(1, Some(0)), told(3, Some(3)), told(4, None)];
        let (edges, blind) = edges(&list);
        assert_eq!(edges, [Edge { server: "a".into(), waiter: 1, blocker: 2 }]);
        assert_eq!(blind, [spot("a", 4)]);
    }

    #[test]
    fn a_cycle_is_suspected_only_after_some_time_and_among_those_who_wait() {
        let parties = [party(1, &[("a", 11), ("b", 12)]), party(2, &[("a", 21), ("b", 22)])];
        let blind = [spot("a", 11), spot("b", 22)];
        let told = |parties: &[Party], blind: &[Spot], times: [Duration; 2]| {
            let lasting = parties.iter().map(|party| party.id.clone()).zip(times).collect();
            let guesses = guesses(parties, &[], blind, &lasting);
            let verdicts = verdicts(parties, &[], &guesses);
            verdicts.iter().map(|verdict| verdict.victim.session).collect::<Vec<_>>()
        };
        let suspects = |parties: &[Party], first, second| told(parties, &blind, [first, second]);
        // Both on one server: whomever they wait for, that server sees it all.
        assert_eq!(told(&parties, &[spot("a", 11), spot("a", 21)], [SUSPICIOUS; 2]), [0; 0]);
        let short = Duration::from_millis(2900);
        assert_eq!(suspects(&parties, SUSPICIOUS, SUSPICIOUS), [2]);
        assert_eq!(suspects(&parties, SUSPICIOUS, short), [0; 0]);
        // One of them began to wait while the servers were asked.
        let lasting = [(parties[0].id.clone(), SUSPICIOUS)].into();
        assert_eq!(guesses(&parties, &[], &blind, &lasting).len(), 0);
        let mut leaving = parties.clone();
        leaving[0].stance = Stance::Leaves;
        assert_eq!(suspects(&leaving, SUSPICIOUS, SUSPICIOUS), [0; 0]);
    }

    #[test]
    fn a_cycle_is_told_in_words() {
        let cycle = |sessions: &[u32]| Verdict {
            victim: party(sessions[0], &[]).id,
            cycle: sessions.iter().map(|session| Member::Party(party(*session, &[]).id)).collect(),
        };
        let text = described(&cycle(&[3, 5]));
        assert_eq!(text, "session 3 waits for session 5, that for the first");
        assert_eq!(described(&cycle(&[3])), "session 3 waits for itself");
    }
}
