//! One group through the histories that matter, step by step.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests only")]

use std::time::Duration;

use pando_health::{Board, Change, Moment, Observation, Report, Seen, Settings, State};
use pando_kernel::Position;
use pando_kernel::health::{Copying, Role, Vitals};
use pando_kernel::position::Transactions;
use pando_kernel::route::Place;
use pando_kernel::states::Primary;

/// A group of `w`, which is configured to take the writes, and `r`; every round asks both, one second after the last one.
struct Scene {
    board: Board,
    now: Moment,
    log: Vec<String>,
    changes: usize,
}

fn settings() -> Settings {
    Settings {
        interval: Duration::from_secs(1),
        most_lag: Some(Duration::from_secs(5)),
        ..Settings::default()
    }
}

impl Scene {
    fn of(members: &[&str], settings: Settings) -> Self {
        let members: Vec<_> = members.iter().map(|unit| (*unit).into()).collect();
        let group = Place { name: "g".into(), members: members.clone() };
        let board = Board::new(members, vec![group], settings);
        Self { board, now: Moment(1_795_293_296_000), log: Vec::new(), changes: 0 }
    }

    fn new() -> Self {
        Self::of(&["w", "r"], settings())
    }

    fn round(&mut self, seen: &[(&str, Seen)]) {
        self.now = self.now.after(Duration::from_secs(1));
        for (unit, seen) in seen {
            let observation =
                Observation { unit: (*unit).into(), at: self.now, seen: seen.clone() };
            let Change { news, states_changed, .. } = self.board.observe(&observation);
            self.log.extend(news.iter().map(ToString::to_string));
            self.changes += usize::from(states_changed);
        }
    }

    fn rounds(&mut self, count: usize, seen: &[(&str, Seen)]) {
        (0..count).for_each(|_| self.round(seen));
    }

    fn primary(&self) -> Option<String> {
        match &self.board.states().groups["g"].primary {
            Primary::Unit(unit) => Some(unit.to_string()),
            Primary::Nobody { .. } => None,
        }
    }

    fn readable(&self) -> String {
        let state = &self.board.states().groups["g"];
        let units: Vec<&str> = state.readable.iter().map(|unit| &**unit).collect();
        units.join(" ")
    }

    fn report(&self, unit: &str) -> Report {
        self.board.report().into_iter().find(|row| &*row.unit == unit).unwrap()
    }

    fn said(&self, text: &str) -> bool {
        self.log.iter().any(|line| line.contains(text))
    }
}

fn silent() -> Seen {
    Seen::Silent("connection refused".into())
}

fn pg(role: Role, cluster: &str, (timeline, at): (u32, u64)) -> Vitals {
    Vitals {
        role,
        cluster: Some(cluster.into()),
        position: Some(Position::Log { timeline, at }),
        copying: if role == Role::Standby { Copying::Running } else { Copying::No },
        was_copy: timeline > 1,
        ..Vitals::default()
    }
}

fn leader(timeline: u32) -> Seen {
    Seen::Answers(Box::new(pg(Role::Primary, "c", (timeline, 10))))
}

fn standby(timeline: u32) -> Seen {
    Seen::Answers(Box::new(pg(Role::Standby, "c", (timeline, 10))))
}

fn mysql(role: Role, node: &str, source: Option<&str>, last: u64) -> Seen {
    let runs = [("w".to_owned(), 1, last)];
    Seen::Answers(Box::new(Vitals {
        role,
        node: Some(node.into()),
        source: source.map(str::to_owned),
        position: Some(Position::Transactions(Transactions::of(runs))),
        copying: if source.is_some() { Copying::Running } else { Copying::No },
        ..Vitals::default()
    }))
}

#[test]
fn a_promoted_standby_takes_over_when_the_primary_dies() {
    let mut scene = Scene::new();
    scene.rounds(2, &[("w", leader(1)), ("r", standby(1))]);
    assert_eq!(scene.changes, 0);
    scene.rounds(2, &[("w", silent()), ("r", standby(1))]);
    assert_eq!(scene.primary().as_deref(), Some("w"), "two failures are not enough");
    scene.round(&[("w", silent()), ("r", standby(1))]);
    assert_eq!((scene.primary(), scene.readable().as_str()), (None, "r"));
    scene.round(&[("w", silent()), ("r", leader(2))]);
    assert_eq!((scene.primary().as_deref(), scene.readable().as_str()), (Some("r"), "r"));
    assert!(scene.said("group `g` has no primary, its writes are refused: storage unit `w` does not answer since 2026-"));
    assert!(scene.said("storage unit `r` takes the writes of group `g` in place of `w`"));
    assert_eq!(scene.report("r").state, State::Writes);
    assert_eq!(scene.report("w").state, State::Down);
    assert!(scene.report("w").error.unwrap().contains("refused"));
    // The old primary comes back as if nothing had happened, then as a copy.
    scene.rounds(3, &[("w", leader(1)), ("r", leader(2))]);
    assert_eq!((scene.primary().as_deref(), scene.readable().as_str()), (Some("r"), "r"));
    assert_eq!(scene.report("w").state, State::Split);
    scene.rounds(3, &[("w", standby(2)), ("r", leader(2))]);
    assert_eq!((scene.primary().as_deref(), scene.readable().as_str()), (Some("r"), "r w"));
    assert_eq!(scene.board.states().groups["g"].former.first().map(|unit| &**unit), Some("w"));
}

#[test]
fn a_deposed_primary_does_not_come_back_when_the_new_one_dies() {
    let mut scene = Scene::new();
    scene.round(&[("w", leader(1)), ("r", standby(1))]);
    scene.rounds(3, &[("w", silent()), ("r", leader(2))]);
    scene.rounds(2, &[("w", leader(1)), ("r", leader(2))]);
    scene.rounds(3, &[("w", leader(1)), ("r", silent())]);
    assert_eq!((scene.primary(), scene.readable().as_str()), (None, ""));
    // The same with a server that has no timelines.
    let mut scene = Scene::new();
    let (old, new) = (mysql(Role::Primary, "w", None, 9), mysql(Role::Primary, "r", None, 9));
    scene.round(&[("w", old.clone()), ("r", mysql(Role::Standby, "r", Some("w"), 8))]);
    scene.rounds(3, &[("w", silent()), ("r", new)]);
    assert_eq!(scene.primary().as_deref(), Some("r"));
    scene.rounds(4, &[("w", old), ("r", silent())]);
    assert_eq!(scene.primary(), None);
    // As soon as it has been a copy it may lead again.
    scene.round(&[("w", mysql(Role::Standby, "w", Some("r"), 9)), ("r", silent())]);
    scene.round(&[("w", mysql(Role::Primary, "w", None, 10)), ("r", silent())]);
    assert_eq!(scene.primary().as_deref(), Some("w"));
}

#[test]
fn a_promotion_while_the_primary_lives_goes_to_the_higher_timeline() {
    let mut scene = Scene::new();
    scene.round(&[("w", leader(1)), ("r", standby(1))]);
    scene.round(&[("w", leader(1)), ("r", leader(2))]);
    assert_eq!((scene.primary().as_deref(), scene.readable().as_str()), (Some("r"), "r"));
    assert!(scene.said("storage unit `w` claims to be a primary of group `g`"));
}

#[test]
fn two_primaries_of_one_timeline_are_the_one_that_was_and_a_split() {
    let mut scene = Scene::new();
    scene.round(&[("w", leader(1)), ("r", standby(1))]);
    scene.rounds(3, &[("w", leader(1)), ("r", leader(1))]);
    assert_eq!((scene.primary().as_deref(), scene.readable().as_str()), (Some("w"), "w"));
    assert_eq!(scene.report("r").state, State::Split);
    // Two promoted at once: the one that was seen first stays. When none was, nobody leads.
    let mut scene = Scene::of(&["w", "r", "s"], settings());
    scene.round(&[("w", leader(1)), ("r", standby(1)), ("s", standby(1))]);
    scene.rounds(3, &[("w", silent()), ("r", leader(2)), ("s", leader(2))]);
    assert_eq!((scene.primary().as_deref(), scene.readable().as_str()), (Some("r"), "r"));
    let mut scene = Scene::of(&["w", "r", "s"], settings());
    scene.rounds(3, &[("w", silent()), ("r", leader(2)), ("s", leader(2))]);
    assert_eq!((scene.primary(), scene.readable().as_str()), (None, ""));
}

#[test]
fn a_server_of_another_cluster_is_never_taken_but_read_as_configured() {
    let mut scene = Scene::new();
    let stranger = Seen::Answers(Box::new(pg(Role::Primary, "other", (7, 10))));
    scene.round(&[("w", leader(1)), ("r", stranger.clone())]);
    scene.rounds(5, &[("w", silent()), ("r", stranger)]);
    // Nothing shows that anybody copies `w`: it is still the one to be tried.
    assert_eq!((scene.primary().as_deref(), scene.readable().as_str()), (Some("w"), "r"));
    assert!(scene.said("belongs to another cluster"));
}

#[test]
fn plain_servers_that_all_say_primary_keep_their_configured_writer() {
    let mut scene = Scene::new();
    let seen =
        [("w", mysql(Role::Primary, "1", None, 5)), ("r", mysql(Role::Primary, "1", None, 9))];
    scene.rounds(3, &seen);
    let down = [("w", silent()), seen[1].clone()];
    scene.rounds(9, &down);
    assert_eq!(scene.primary().as_deref(), Some("w"));
    assert_eq!(scene.changes, 1, "only that `w` answers no reads");
    let mut scene = Scene::new();
    let unknown = || Seen::Answers(Box::default());
    scene.rounds(9, &[("w", unknown()), ("r", unknown())]);
    assert_eq!((scene.changes, scene.log.len()), (0, 2));
}

#[test]
fn a_read_only_configured_writer_takes_no_writes_until_it_may_again() {
    let mut scene = Scene::new();
    scene.round(&[
        ("w", mysql(Role::Primary, "w", None, 5)),
        ("r", mysql(Role::Standby, "r", Some("w"), 5)),
    ]);
    scene.round(&[("w", mysql(Role::Standby, "w", None, 5))]);
    assert_eq!(scene.primary(), None);
    assert!(scene.said("storage unit `w` takes no writes, it is a standby"));
    scene.round(&[("w", mysql(Role::Primary, "w", None, 5))]);
    assert_eq!(scene.primary().as_deref(), Some("w"));
    assert!(scene.said("takes the writes of group `g` again"));
}

#[test]
fn a_switchover_of_servers_with_transaction_sets_follows_and_waits_while_in_doubt() {
    let mut scene = Scene::new();
    let (lead, copy) =
        (mysql(Role::Primary, "w", None, 5), mysql(Role::Standby, "r", Some("w"), 5));
    scene.round(&[("w", lead.clone()), ("r", copy)]);
    // Asked a moment later, the other one seems to be further: not believed at once.
    scene.round(&[("w", lead), ("r", mysql(Role::Primary, "r", None, 6))]);
    assert_eq!(scene.primary().as_deref(), Some("w"));
    scene.round(&[
        ("w", mysql(Role::Primary, "w", None, 7)),
        ("r", mysql(Role::Primary, "r", None, 6)),
    ]);
    assert_eq!(scene.primary().as_deref(), Some("w"));
    scene.round(&[
        ("w", mysql(Role::Standby, "w", None, 7)),
        ("r", mysql(Role::Primary, "r", None, 7)),
    ]);
    assert_eq!(scene.primary().as_deref(), Some("r"));
}

#[test]
fn after_a_restart_the_promoted_one_is_found_without_the_dead_one() {
    let mut scene = Scene::new();
    scene.rounds(2, &[("w", silent()), ("r", leader(2))]);
    assert_eq!(scene.primary().as_deref(), Some("w"), "it is not known to be dead yet");
    scene.round(&[("w", silent()), ("r", leader(2))]);
    assert_eq!(scene.primary().as_deref(), Some("r"));
    // A server that never followed anybody is no proof.
    let mut scene = Scene::new();
    scene.rounds(9, &[("w", silent()), ("r", leader(1))]);
    assert_eq!(scene.primary().as_deref(), Some("w"));
}

#[test]
fn a_memory_from_before_a_restart_keeps_the_deposed_one_out() {
    let mut scene = Scene::new();
    scene.round(&[("w", leader(1)), ("r", standby(1))]);
    scene.rounds(3, &[("w", silent()), ("r", leader(2))]);
    let memory = scene.board.groups()[0].memory().to_text();
    let mut scene = Scene::new();
    assert!(scene.board.remember("g", &memory));
    assert!(!scene.board.remember("g", "nonsense") && !scene.board.remember("h", &memory));
    assert_eq!(scene.primary().as_deref(), Some("r"));
    scene.rounds(4, &[("w", leader(1)), ("r", silent())]);
    assert_eq!(scene.primary(), None);
}

#[test]
fn a_late_replica_is_not_read_until_it_has_caught_up() {
    let mut scene = Scene::new();
    let lead = |at| Seen::Answers(Box::new(pg(Role::Primary, "c", (1, at))));
    let copy = |at| Seen::Answers(Box::new(pg(Role::Standby, "c", (1, at))));
    for second in 0..8 {
        scene.round(&[("w", lead(10 + second)), ("r", copy(9))]);
    }
    assert_eq!((scene.readable().as_str(), scene.report("r").state), ("w", State::Late));
    assert_eq!(scene.report("r").lag, Some(Duration::from_secs(7)));
    // Without a primary nobody gets any later.
    scene.rounds(3, &[("w", silent()), ("r", copy(9))]);
    assert_eq!(scene.readable(), "");
    scene.rounds(3, &[("w", lead(20)), ("r", copy(20))]);
    assert_eq!(scene.readable(), "r w");
    assert!(scene.said("storage unit `r` answers no reads of group `g`: it is"));
    assert!(scene.said("storage unit `r` answers reads of group `g` again"));
}

#[test]
fn a_stopped_replica_is_late_only_where_lag_counts_and_a_primary_is_there() {
    let stopped = || {
        let Seen::Answers(mut vitals) = mysql(Role::Standby, "r", Some("w"), 5) else { panic!() };
        vitals.copying = Copying::Stopped("its applier is `No`".into());
        Seen::Answers(vitals)
    };
    let lead = || mysql(Role::Primary, "w", None, 5);
    let mut scene = Scene::new();
    scene.rounds(2, &[("w", lead()), ("r", stopped())]);
    assert_eq!(scene.readable(), "w");
    let mut scene = Scene::of(&["w", "r"], Settings { most_lag: None, ..settings() });
    scene.rounds(2, &[("w", lead()), ("r", stopped())]);
    assert_eq!(scene.readable(), "r w");
    // What it said last holds for as long as it may be late.
    let mut scene = Scene::new();
    let Seen::Answers(mut vitals) = mysql(Role::Standby, "r", Some("w"), 5) else { panic!() };
    vitals.lag = Some(Duration::from_secs(1));
    scene.rounds(2, &[("w", lead()), ("r", Seen::Answers(vitals))]);
    scene.rounds(4, &[("w", lead()), ("r", stopped())]);
    assert_eq!(
        (scene.readable().as_str(), scene.report("r").lag),
        ("r w", Some(Duration::from_secs(5)))
    );
    // The primary dies: nobody gets any later.
    scene.rounds(9, &[("w", silent()), ("r", stopped())]);
    assert_eq!((scene.primary(), scene.readable().as_str()), (None, "r"));
    scene.rounds(3, &[("w", lead()), ("r", stopped())]);
    assert_eq!(scene.readable(), "w");
    let mut scene = Scene::new();
    scene.rounds(3, &[("w", silent()), ("r", stopped())]);
    assert_eq!((scene.primary(), scene.readable().as_str()), (None, "r"));
}

#[test]
fn of_peers_one_takes_the_writes_and_the_next_when_it_goes() {
    let peer = |node: &str| {
        let cluster = Some("galera".to_owned());
        Seen::Answers(Box::new(Vitals {
            role: Role::Peer,
            cluster,
            node: Some(node.into()),
            ..Vitals::default()
        }))
    };
    let mut scene = Scene::new();
    scene.rounds(2, &[("w", peer("w")), ("r", peer("r"))]);
    assert_eq!((scene.primary().as_deref(), scene.readable().as_str()), (Some("w"), "r w"));
    scene.rounds(3, &[("w", silent()), ("r", peer("r"))]);
    assert_eq!(scene.primary().as_deref(), Some("r"));
    scene.rounds(3, &[("w", peer("w")), ("r", peer("r"))]);
    assert_eq!((scene.primary().as_deref(), scene.readable().as_str()), (Some("r"), "r w"));
}

#[test]
fn a_unit_that_lost_its_group_says_why_it_takes_nothing() {
    let lost = || {
        Seen::Answers(Box::new(Vitals {
            role: Role::Standby,
            unfit: Some("it has lost the majority of its group".into()),
            ..Vitals::default()
        }))
    };
    let mut scene = Scene::new();
    scene.round(&[("w", lost()), ("r", lost())]);
    assert_eq!((scene.primary(), scene.readable().as_str()), (None, ""));
    assert!(scene.said("takes no writes, it has lost the majority of its group"));
}

#[test]
fn a_changed_configuration_keeps_what_stays_the_same() {
    let mut scene = Scene::new();
    scene.round(&[("w", leader(1)), ("r", standby(1))]);
    scene.rounds(3, &[("w", silent()), ("r", leader(2))]);
    let same = scene.board.groups()[0].place().clone();
    let units: Vec<_> = ["w", "r", "x"].into_iter().map(Into::into).collect();
    scene.board.reconfigure(units.clone(), vec![same], settings());
    assert_eq!(scene.primary().as_deref(), Some("r"));
    assert_eq!(scene.report("x").state, State::Unknown);
    // Somebody writes the new primary down: that is then where everything begins.
    let turned = Place { name: "g".into(), members: vec!["r".into(), "w".into()] };
    scene.board.reconfigure(units, vec![turned], settings());
    assert!(scene.board.states().groups["g"].former.is_empty());
    scene.board.forget("r");
    assert!(scene.board.unit("r").unwrap().since().is_none());
}
