//! The prober's rounds, with scripted units and a clock that is told to move.
#![allow(clippy::unwrap_used, reason = "tests only")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pando_fake::{Connects, FakeRuntime, Reply, Unit};
use pando_health::{Observation, Probed, Prober, Seen, Settings, Tell};

fn settings() -> Settings {
    Settings { interval: Duration::from_secs(2), ..Settings::default() }
}

type Told = Arc<Mutex<Vec<Observation>>>;

fn start(runtime: &FakeRuntime, units: &[Unit]) -> (Prober, Told) {
    let told = Told::default();
    let into = Arc::clone(&told);
    let tell: Tell = Arc::new(move |observation| into.lock().unwrap().push(observation));
    let probed = units.iter().enumerate().map(|(number, unit)| Probed {
        unit: format!("ds_{number}").into(),
        connector: unit.connector(),
    });
    let prober = Prober::start(&runtime.handle(), settings(), probed.collect(), &tell);
    runtime.run();
    (prober, told)
}

fn advance(runtime: &FakeRuntime, seconds: u32) {
    (0..seconds * 10).for_each(|_| runtime.advance(Duration::from_millis(100)));
}

/// `+` for an answer, `-` for none.
fn seen(told: &Told) -> String {
    let mark = |one: &Observation| match one.seen {
        Seen::Answers(_) => '+',
        Seen::Silent(_) => '-',
    };
    told.lock().unwrap().iter().map(mark).collect()
}

#[test]
fn a_unit_is_asked_at_once_and_then_once_an_interval_over_one_connection() {
    let (runtime, unit) = (FakeRuntime::new(), Unit::new("ds_0"));
    let (prober, told) = start(&runtime, std::slice::from_ref(&unit));
    assert_eq!(seen(&told), "+");
    advance(&runtime, 20);
    let count = told.lock().unwrap().len();
    assert!((10..=12).contains(&count), "{count} probes in 20 s");
    assert_eq!(unit.connections().opened, 1);
    let times: Vec<_> = told.lock().unwrap().iter().map(|one| one.at).collect();
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(prober.now() >= times[times.len() - 1]);
}

#[test]
fn nothing_is_asked_once_the_prober_is_gone() {
    let (runtime, unit) = (FakeRuntime::new(), Unit::new("ds_0"));
    unit.connects(Connects::Hang);
    let (prober, told) = start(&runtime, &[unit, Unit::new("ds_1")]);
    assert_eq!(runtime.tasks(), 2);
    drop(prober);
    runtime.run();
    assert_eq!(runtime.tasks(), 0);
    let before = told.lock().unwrap().len();
    advance(&runtime, 10);
    assert_eq!(told.lock().unwrap().len(), before);
}

#[test]
fn a_unit_that_hangs_is_silent_after_the_timeout_and_holds_up_nobody() {
    let (runtime, hanging, fine) = (FakeRuntime::new(), Unit::new("ds_0"), Unit::new("ds_1"));
    hanging.reply("PING", Reply::Hang);
    let (_prober, told) = start(&runtime, &[hanging, fine]);
    advance(&runtime, 7);
    let told = told.lock().unwrap();
    let of = |unit: &str| told.iter().filter(|one| *one.unit == *unit).collect::<Vec<_>>();
    let silent =
        |one: &&Observation| matches!(&one.seen, Seen::Silent(why) if why == "no answer within 1s");
    assert!(of("ds_0").len() >= 3 && of("ds_0").iter().all(silent));
    assert!(of("ds_1").len() >= 3 && !of("ds_1").iter().any(silent));
}

#[test]
fn a_connection_that_was_closed_meanwhile_is_replaced_without_a_failure() {
    let (runtime, unit) = (FakeRuntime::new(), Unit::new("ds_0"));
    let (_prober, told) = start(&runtime, std::slice::from_ref(&unit));
    unit.disconnect_all();
    advance(&runtime, 3);
    assert_eq!((seen(&told).as_str(), unit.connections().opened), ("++", 2));
    unit.connects(Connects::Refuse);
    unit.disconnect_all();
    advance(&runtime, 2);
    assert_eq!(seen(&told), "++-");
}

#[test]
fn more_units_than_may_be_asked_at_once_take_turns() {
    let runtime = FakeRuntime::new();
    let units: Vec<Unit> = (0..100).map(|number| Unit::new(&format!("ds_{number}"))).collect();
    units.iter().for_each(|unit| {
        unit.connects(Connects::Hang);
    });
    let (_prober, told) = start(&runtime, &units);
    let under_way = || units.iter().map(|unit| unit.connections().open).sum::<usize>();
    assert_eq!(under_way(), 0, "nobody was let in");
    advance(&runtime, 1);
    assert_eq!(told.lock().unwrap().len(), 64);
    advance(&runtime, 1);
    assert_eq!(told.lock().unwrap().len(), 100);
}
