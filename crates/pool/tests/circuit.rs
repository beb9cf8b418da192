//! The circuit of a storage unit: what opens it, what closes it, and who is let through meanwhile. Time is virtual.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test support functions")]

mod scene;

use std::future::poll_fn;
use std::time::Duration;

use pando_fake::{Connects, Reply, poll_once, server_error};
use pando_kernel::circuit::{Report, Settings, State};
use pando_kernel::{ErrorKind, Event, Execution, Result};
use pando_pool::{Connection, Options};

use scene::{Scene, at_most, scene};

const SECOND: Duration = Duration::from_secs(1);

/// Opens when half of four statements within ten seconds have failed, or have taken two seconds.
const SETTINGS: Settings = Settings {
    window: Duration::from_secs(10),
    least: 4,
    failed_percent: 50,
    slow_percent: 50,
    slow: Duration::from_secs(2),
    open: Duration::from_secs(5),
    probes: 2,
};

fn watched(options: Options) -> Scene {
    let scene = scene(options);
    scene.pool.breaks_circuit(Some(SETTINGS));
    scene.unit.reply("fine", Reply::affected(1));
    let refused = |state: &str| Reply::Error(server_error(state, "no"));
    scene.unit.reply("wrong", refused("23505"));
    scene.unit.reply("stopping", refused("57P01"));
    scene
}

fn run(scene: &Scene, sql: &str) -> Result<()> {
    let mut connection = scene.runtime.block_on(scene.pool.take())?;
    scene.run(&mut connection, sql)
}

fn report(scene: &Scene) -> Report {
    scene.pool.circuit().unwrap()
}

fn state(scene: &Scene) -> State {
    report(scene).state
}

fn is_shut(scene: &Scene) -> bool {
    scene.pool.is_shut(scene.runtime.handle().now())
}

fn is_refused(scene: &Scene) -> bool {
    let sent = scene.unit.statements().len();
    let told = run(scene, "fine").unwrap_err();
    assert!(told.may_retry() && told.to_string().contains("circuit is open"), "{told}");
    scene.unit.statements().len() == sent
}

/// Opens it.
fn broken(scene: &Scene) {
    for _ in 0..4 {
        run(scene, "stopping").unwrap_err();
    }
    assert_eq!(state(scene), State::Open);
}

#[test]
fn what_is_wrong_with_statements_does_not_open_it_and_what_is_wrong_with_the_server_does() {
    let scene = watched(at_most(2));
    for _ in 0..20 {
        run(&scene, "wrong").unwrap_err();
    }
    assert_eq!(state(&scene), State::Closed);
    let Report { statements, failed, .. } = report(&scene);
    assert_eq!((statements, failed), (20, 0));
    for _ in 0..20 {
        assert_eq!(state(&scene), State::Closed);
        run(&scene, "stopping").unwrap_err();
    }
    assert!(is_refused(&scene));
    assert_eq!((report(&scene).opened, report(&scene).refused), (1, 1));
}

#[test]
fn a_few_failures_do_not_open_it_nor_such_as_are_long_past() {
    let scene = watched(at_most(2));
    for _ in 0..3 {
        run(&scene, "stopping").unwrap_err();
    }
    scene.runtime.advance(SECOND * 11);
    for _ in 0..3 {
        run(&scene, "stopping").unwrap_err();
    }
    assert_eq!(state(&scene), State::Closed);
}

#[test]
fn a_server_that_cannot_be_reached_opens_it() {
    let scene = watched(at_most(2));
    scene.unit.connects(Connects::Refuse);
    for _ in 0..4 {
        assert!(matches!(run(&scene, "fine").unwrap_err().kind(), ErrorKind::Unavailable { .. }));
    }
    assert_eq!(state(&scene), State::Open);
}

#[test]
fn it_closes_by_itself_when_statements_on_trial_succeed() {
    let scene = watched(at_most(2));
    broken(&scene);
    scene.runtime.advance(SECOND * 4);
    assert!(is_refused(&scene) && is_shut(&scene));
    scene.runtime.advance(SECOND);
    assert!(!is_shut(&scene));
    run(&scene, "fine").unwrap();
    assert_eq!(state(&scene), State::HalfOpen);
    run(&scene, "wrong").unwrap_err();
    assert_eq!(state(&scene), State::Closed);
    assert_eq!(report(&scene).statements, 0);
}

#[test]
fn one_failure_on_trial_opens_it_again() {
    let scene = watched(at_most(2));
    broken(&scene);
    scene.runtime.advance(SECOND * 5);
    run(&scene, "fine").unwrap();
    run(&scene, "stopping").unwrap_err();
    assert!(is_refused(&scene));
    assert_eq!(report(&scene).opened, 2);
}

#[test]
fn no_more_are_on_trial_than_may_be_and_one_that_is_not_answered_opens_it_again() {
    let scene = watched(at_most(9));
    broken(&scene);
    scene.runtime.advance(SECOND * 5);
    scene.unit.silent(true);
    let sent = |mut connection: Connection| {
        connection.start(Execution::Text("fine".into())).unwrap();
        connection
    };
    let probes = [sent(scene.take()), sent(scene.take())];
    assert!(is_shut(&scene) && is_refused(&scene));
    assert_eq!(state(&scene), State::HalfOpen);
    scene.runtime.advance(SECOND * 2);
    assert!(is_refused(&scene));
    assert_eq!(state(&scene), State::Open);
    // What they tell now is of another time.
    drop(probes);
    assert_eq!(report(&scene).opened, 2);
}

#[test]
fn who_wants_nothing_any_more_leaves_his_place_to_the_next() {
    let scene = watched(at_most(9));
    broken(&scene);
    scene.runtime.advance(SECOND * 5);
    for _ in 0..9 {
        drop(scene.take());
    }
    run(&scene, "fine").unwrap();
    run(&scene, "fine").unwrap();
    assert_eq!(state(&scene), State::Closed);
}

#[test]
fn a_server_that_falls_silent_opens_it_and_who_waits_in_the_queue_is_told() {
    let scene = watched(at_most(2));
    scene.unit.silent(true);
    let mut held: Vec<Connection> = (0..2).map(|_| scene.take()).collect();
    for connection in &mut held {
        connection.start(Execution::Text("fine".into())).unwrap();
    }
    let mut waiting: Vec<_> = (0..3).map(|_| scene.taking()).collect();
    assert!(waiting.iter_mut().all(|taking| poll_once(taking).is_pending()));
    // The first second's statements are judged when all of them should have been answered.
    scene.runtime.advance(SECOND * 3);
    assert!(is_shut(&scene));
    for mut taking in waiting {
        let std::task::Poll::Ready(Err(told)) = poll_once(&mut taking) else {
            panic!("it still waits")
        };
        assert!(told.to_string().contains("circuit is open"), "{told}");
    }
}

#[test]
fn slow_answers_open_it_and_quick_ones_do_not() {
    let scene = watched(at_most(2));
    let answered_after = |time: Duration| {
        let mut connection = scene.take();
        scene.unit.silent(true);
        connection.start(Execution::Text("fine".into())).unwrap();
        scene.runtime.advance(time);
        scene.unit.silent(false);
        let told: Result<()> = scene.runtime.block_on(async {
            while !matches!(poll_fn(|cx| connection.poll_event(cx)).await?, Event::Done) {}
            Ok(())
        });
        told.unwrap();
    };
    for _ in 0..6 {
        answered_after(SECOND);
    }
    assert_eq!((state(&scene), report(&scene).slow), (State::Closed, 0));
    scene.runtime.advance(SECOND * 11);
    for _ in 0..4 {
        assert_eq!(state(&scene), State::Closed);
        answered_after(SECOND * 2);
    }
    assert_eq!(state(&scene), State::Open);
}

#[test]
fn who_waits_for_another_unit_says_nothing_of_this_one() {
    let scene = watched(at_most(2));
    for _ in 0..6 {
        let mut connection = scene.take();
        connection.is_put_off();
        scene.runtime.advance(SECOND * 3);
        assert_eq!((state(&scene), report(&scene).slow), (State::Closed, 0));
        scene.run(&mut connection, "fine").unwrap();
    }
    assert!(report(&scene).statements >= 3 && report(&scene).slow == 0);
    // Neither does one on trial, whose place is another's then.
    broken(&scene);
    scene.runtime.advance(SECOND * 5);
    let mut probes = [scene.take(), scene.take()];
    assert!(is_shut(&scene));
    probes.iter_mut().for_each(|probe| probe.is_put_off());
    scene.runtime.advance(SECOND * 3);
    drop(probes);
    for _ in 0..2 {
        run(&scene, "fine").unwrap();
    }
    assert_eq!(state(&scene), State::Closed);
}

#[test]
fn who_has_a_connection_goes_on_and_who_ends_a_transaction_gets_one() {
    let scene = watched(at_most(2));
    let mut held = scene.take();
    broken(&scene);
    scene.run(&mut held, "fine").unwrap();
    let mut last = scene.runtime.block_on(scene.pool.take_last()).unwrap();
    scene.run(&mut last, "fine").unwrap();
    assert_eq!(state(&scene), State::Open);
}

#[test]
fn other_settings_close_it_the_same_do_not_and_none_let_everything_through() {
    let scene = watched(at_most(2));
    broken(&scene);
    scene.pool.breaks_circuit(Some(SETTINGS));
    assert_eq!(state(&scene), State::Open);
    scene.pool.breaks_circuit(Some(Settings { least: 5, ..SETTINGS }));
    assert_eq!(state(&scene), State::Closed);
    broken_with(&scene, 5);
    scene.pool.breaks_circuit(None);
    assert_eq!(scene.pool.circuit(), None);
    run(&scene, "fine").unwrap();
}

fn broken_with(scene: &Scene, failures: usize) {
    for _ in 0..failures {
        run(scene, "stopping").unwrap_err();
    }
    assert_eq!(state(scene), State::Open);
}
