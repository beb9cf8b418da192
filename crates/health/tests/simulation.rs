//! Seeded random histories of a replicated cluster: what is decided must never be wrong for longer than it may.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests only")]

use std::collections::BTreeSet;
use std::time::Duration;

use pando_health::{Board, Happening, Moment, Observation, Seen, Settings};
use pando_kernel::Position;
use pando_kernel::health::{Copying, Role, Vitals};
use pando_kernel::position::Transactions;
use pando_kernel::route::Place;
use pando_kernel::states::Primary;

/// Splitmix64: the same seed gives the same history everywhere.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Which vendor's clusters are played.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Timelines,
    Sets,
}

#[derive(Clone)]
struct Server {
    is_up: bool,
    is_cut_off: bool,
    leads: bool,
    follows: Option<usize>,
    timeline: u32,
    /// What it has carried out: (origin, last number).
    done: Vec<(usize, u64)>,
}

/// The truth.
struct Cluster {
    kind: Kind,
    servers: Vec<Server>,
    /// Who was promoted last.
    leader: usize,
}

impl Cluster {
    fn new(kind: Kind) -> Self {
        let server = |at: usize| Server {
            is_up: true,
            is_cut_off: false,
            leads: at == 0,
            follows: (at != 0).then_some(0),
            timeline: 1,
            done: vec![(0, 1)],
        };
        Self { kind, servers: (0..NAMES.len()).map(server).collect(), leader: 0 }
    }

    /// Leaders write, followers copy.
    fn tick(&mut self) {
        for at in 0..self.servers.len() {
            let server = &mut self.servers[at];
            if server.is_up && server.leads {
                match server.done.iter_mut().find(|(origin, _)| *origin == at) {
                    Some((_, last)) => *last += 1,
                    None => server.done.push((at, 1)),
                }
            }
        }
        for at in 0..self.servers.len() {
            let Some(source) = self.servers[at].follows else { continue };
            if self.servers[at].is_up
                && self.servers[source].is_up
                && self.servers[source].follows.is_none()
            {
                let from = self.servers[source].clone();
                let own = &mut self.servers[at];
                // Who has written something of its own can't follow.
                let fits = own.done.iter().all(|(origin, last)| {
                    from.done.iter().any(|(other, theirs)| other == origin && theirs >= last)
                });
                if fits {
                    (own.done, own.timeline) = (from.done, from.timeline);
                }
            }
        }
    }

    fn promote(&mut self, at: usize) {
        let highest = self.servers.iter().map(|server| server.timeline).max().unwrap();
        self.leader = at;
        let server = &mut self.servers[at];
        (server.leads, server.follows, server.timeline) = (true, None, highest + 1);
    }

    /// As an administrator brings a server back: as a copy of the leader, whatever it was.
    fn rejoin(&mut self, at: usize) {
        let from = self.servers[self.leader].clone();
        let follows = Some(self.leader);
        let (timeline, done) = (from.timeline, from.done);
        self.servers[at] =
            Server { is_up: true, is_cut_off: false, leads: false, follows, timeline, done };
    }

    fn happens(&mut self, dice: &mut Dice) {
        let at = dice.below(self.servers.len());
        match dice.below(10) {
            0 | 1 => self.servers[at].is_up = false,
            2 | 3 => self.servers[at].is_up = true,
            4 => self.servers[at].is_cut_off = true,
            5 => self.servers[at].is_cut_off = false,
            6 if at != self.leader
                && self.servers[at].is_up
                && self.servers[at].follows.is_some() =>
            {
                // A careful administrator stops the old one first; a careless one doesn't.
                if dice.below(2) == 0 {
                    self.servers[self.leader].is_up = false;
                }
                self.promote(at);
            }
            7 if at != self.leader => self.rejoin(at),
            _ => {}
        }
    }

    fn vitals(&self, at: usize) -> Seen {
        let server = &self.servers[at];
        if !server.is_up || server.is_cut_off {
            return Seen::Silent("no answer".into());
        }
        let runs = server.done.iter().map(|(origin, last)| (NAMES[*origin].to_owned(), 1, *last));
        let place: u64 = server.done.iter().map(|(_, last)| last).sum();
        let position = match self.kind {
            Kind::Timelines => Position::Log { timeline: server.timeline, at: place },
            Kind::Sets => Position::Transactions(Transactions::of(runs)),
        };
        Seen::Answers(Box::new(Vitals {
            role: if server.leads { Role::Primary } else { Role::Standby },
            cluster: (self.kind == Kind::Timelines).then(|| "c".to_owned()),
            node: Some(NAMES[at].to_owned()),
            source: server.follows.map(|source| NAMES[source].to_owned()),
            position: Some(position),
            copying: if server.follows.is_some() { Copying::Running } else { Copying::No },
            was_copy: server.timeline > 1,
            ..Vitals::default()
        }))
    }
}

fn settings() -> Settings {
    Settings {
        interval: Duration::from_secs(1),
        timeout: Duration::from_millis(500),
        longest_hold: Duration::from_secs(20),
        window: Duration::from_secs(120),
        ..Settings::default()
    }
}

struct Play {
    cluster: Cluster,
    board: Board,
    now: Moment,
    dice: Dice,
    changes: usize,
    reigns: Vec<(Moment, Option<String>)>,
    /// Whose last answer was that it leads.
    claims: [bool; NAMES.len()],
}

impl Play {
    fn new(seed: u64, kind: Kind) -> Self {
        let members: Vec<_> = NAMES.map(Into::into).to_vec();
        let group = Place { name: "g".into(), members: members.clone() };
        let board = Board::new(members, vec![group], settings());
        let (cluster, now) = (Cluster::new(kind), Moment(1_000_000));
        Self {
            cluster,
            board,
            now,
            dice: Dice(seed),
            changes: 0,
            reigns: Vec::new(),
            claims: [false; 3],
        }
    }

    /// A second, in which every server is asked at a moment of its own.
    fn second(&mut self) {
        self.cluster.tick();
        let first = self.dice.below(NAMES.len());
        for step in 0..NAMES.len() {
            let at = (first + step) % NAMES.len();
            self.now = self.now.after(Duration::from_millis(300));
            let seen = self.cluster.vitals(at);
            self.claims[at] = matches!(&seen, Seen::Answers(told) if told.role == Role::Primary);
            let observation = Observation { unit: NAMES[at].into(), at: self.now, seen };
            let change = self.board.observe(&observation);
            self.changes += usize::from(change.states_changed);
            self.judge(&change.news);
        }
        self.now = self.now.after(Duration::from_millis(100));
    }

    fn primary(&self) -> Option<String> {
        match &self.board.states().groups["g"].primary {
            Primary::Unit(unit) => Some(unit.to_string()),
            Primary::Nobody { .. } => None,
        }
    }

    /// What must hold after every single observation.
    fn judge(&mut self, news: &[Happening]) {
        let verdict = self.board.groups()[0].verdict().clone();
        if let Some(primary) = &verdict.primary {
            assert!(!verdict.split.contains(primary), "a split member leads");
        }
        let state = &self.board.states().groups["g"];
        let readable: BTreeSet<_> = state.readable.intersection(&verdict.split).collect();
        assert!(readable.is_empty(), "a split member is read");
        for happening in news {
            if let Happening::Primary { to, .. } = happening {
                let at = NAMES.iter().position(|name| **name == **to).unwrap();
                assert!(self.claims[at], "`{to}` was made primary and did not say that it is");
            }
        }
        let primary = self.primary();
        if self.reigns.last().is_none_or(|(_, last)| *last != primary) {
            self.reigns.push((self.now, primary));
        }
    }

    fn stretch(&mut self, seconds: usize) {
        (0..seconds).for_each(|_| self.second());
    }
}

/// The longest it may take: detection, then whatever damping of unit and group adds, then the doubt over sets.
fn patience() -> usize {
    let settings = settings();
    let longest = settings.detection() + settings.longest_hold * 2 + settings.interval * 4;
    usize::try_from(longest.as_secs()).unwrap() + 1
}

fn history(seed: u64, kind: Kind) {
    let mut play = Play::new(seed, kind);
    play.stretch(5);
    for _ in 0..60 {
        let mut dice = Dice(play.dice.next());
        play.cluster.happens(&mut dice);
        let quiet = play.dice.below(6);
        play.stretch(quiet);
    }
    // The administrator puts everything right: one leader, all others copies of it.
    let leader = play.cluster.leader;
    let server = &mut play.cluster.servers[leader];
    (server.is_up, server.is_cut_off) = (true, false);
    for at in (0..NAMES.len()).filter(|at| *at != leader) {
        play.cluster.rejoin(at);
    }
    play.stretch(patience());
    assert_eq!(play.primary().as_deref(), Some(NAMES[leader]), "seed {seed}");
    let state = &play.board.states().groups["g"];
    assert_eq!(state.readable.len(), NAMES.len(), "seed {seed}: everybody may be read again");
}

#[test]
fn whatever_happened_the_right_one_leads_once_all_is_well() {
    for seed in 0..100 {
        history(seed, Kind::Timelines);
        history(seed, Kind::Sets);
    }
}

#[test]
fn a_clean_failover_is_followed_within_the_detection_time() {
    for kind in [Kind::Timelines, Kind::Sets] {
        for seed in 0..50 {
            let mut play = Play::new(seed, kind);
            play.stretch(5);
            play.cluster.servers[0].is_up = false;
            play.cluster.promote(1);
            let began = play.now;
            while play.primary().as_deref() != Some("b") {
                play.second();
                let spent = play.now.since(began);
                assert!(spent <= settings().detection() + settings().interval, "{spent:?}");
            }
        }
    }
}

#[test]
fn a_flapping_primary_changes_little_and_is_left_alone_in_between() {
    for kind in [Kind::Timelines, Kind::Sets] {
        let mut play = Play::new(7, kind);
        play.stretch(5);
        let hour = 3600 / 8;
        for _ in 0..hour {
            play.cluster.servers[0].is_up = false;
            play.stretch(4);
            play.cluster.servers[0].is_up = true;
            play.stretch(4);
        }
        // Undamped, it would be lost 450 times and found again as often. Its good seconds are too few as soon as the hold is longer: five losses a window.
        let windows = 3600 / usize::try_from(settings().window.as_secs()).unwrap() + 1;
        assert!(play.reigns.len() <= windows * 5 * 2, "{} reigns", play.reigns.len());
        assert!(play.changes <= windows * 5 * 2 * 2, "{} changes", play.changes);
    }
}

#[test]
fn two_that_take_turns_are_damped_and_never_both_lead() {
    let mut play = Play::new(3, Kind::Timelines);
    play.stretch(5);
    for turn in 0..200 {
        let (old, new) = (turn % 2, (turn + 1) % 2);
        play.cluster.promote(new);
        play.cluster.rejoin(old);
        play.stretch(3);
    }
    assert!(play.reigns.len() < 2 * 600 / 20 + 10, "{} reigns", play.reigns.len());
    play.stretch(patience());
    assert_eq!(play.primary().as_deref(), Some("a"));
}
