//! Statements that wait for their turn, and what rules say that are altered meanwhile. The clock is the test's own.

#![allow(clippy::unwrap_used, clippy::panic, reason = "test support functions")]

mod scene;

use std::task::{Context, Poll, Waker};
use std::time::Instant;

use pando_kernel::ErrorKind;
use pando_kernel::feature::{Entry, Feature, Gauge, Meters, Permits, Waiting};

use scene::{Ask, ask, built, millis, waits};

fn poll(
    waiting: &mut dyn Waiting,
    now: Instant,
    permits: &mut Permits,
) -> Poll<pando_kernel::Result<()>> {
    waiting.poll_turn(now, permits, &Context::from_waker(Waker::noop()))
}

/// Admitted at once, with what it holds.
fn admitted(room: &dyn Feature, asked: &Ask<'_>) -> Permits {
    let mut permits = Permits::default();
    assert!(matches!(ask(room, asked, &mut permits), Ok(Entry::Now)));
    permits
}

fn gauge(room: &dyn Feature) -> Gauge {
    room.admission().unwrap().gauges().remove(0)
}

#[test]
fn who_waits_is_let_in_by_who_ends_and_in_order() {
    let room = built("limits:\n    one: {concurrency: 1, waitMilliseconds: 500}").unwrap();
    let asked = Ask::default();
    let running = admitted(&*room, &asked);
    let (mut first, mut second) = (Permits::default(), Permits::default());
    let mut earlier = waits(ask(&*room, &asked, &mut first));
    let mut later = waits(ask(&*room, &asked, &mut second));
    assert!(poll(&mut *earlier, asked.now, &mut first).is_pending());
    assert_eq!((gauge(&*room).running, gauge(&*room).waiting), (1, 2));
    drop(running);
    assert!(poll(&mut *later, asked.now, &mut second).is_pending());
    assert!(matches!(poll(&mut *earlier, asked.now, &mut first), Poll::Ready(Ok(()))));
    drop(first);
    assert!(matches!(poll(&mut *later, asked.now, &mut second), Poll::Ready(Ok(()))));
    let Gauge { running, waiting, admitted, waited, refused, .. } = gauge(&*room);
    assert_eq!((running, waiting, admitted, waited, refused), (1, 0, 3, 2, 0));
}

#[test]
fn nobody_waits_longer_than_he_may() {
    let room = built("limits:\n    one: {concurrency: 1, waitMilliseconds: 500}").unwrap();
    let asked = Ask::default();
    let _running = admitted(&*room, &asked);
    let mut permits = Permits::default();
    let mut waiting = waits(ask(&*room, &asked, &mut permits));
    assert_eq!(waiting.ask_again(), asked.now + millis(500));
    assert!(poll(&mut *waiting, asked.now + millis(499), &mut permits).is_pending());
    let Poll::Ready(Err(told)) = poll(&mut *waiting, asked.now + millis(500), &mut permits) else {
        panic!("it still waits")
    };
    assert!(matches!(told.kind(), ErrorKind::Limited(_)) && told.may_retry(), "{told}");
    drop(waiting);
    assert_eq!((gauge(&*room).waiting, gauge(&*room).refused), (0, 1));
}

#[test]
fn a_rate_lets_statements_in_one_after_the_other() {
    let room = built("limits:\n    r: {statementsPerSecond: 10, burst: 1, waitMilliseconds: 250}")
        .unwrap();
    let asked = Ask::default();
    drop(admitted(&*room, &asked));
    let mut permits = Permits::default();
    let mut first = waits(ask(&*room, &asked, &mut permits));
    let mut second = waits(ask(&*room, &asked, &mut permits));
    assert_eq!(first.ask_again(), asked.now + millis(100));
    assert_eq!(second.ask_again(), asked.now + millis(200));
    assert!(ask(&*room, &asked, &mut permits).is_err(), "300 ms are too long");
    assert!(poll(&mut *first, asked.now + millis(99), &mut permits).is_pending());
    for (waiting, after) in [(&mut first, 100), (&mut second, 200)] {
        let now = asked.now + millis(after);
        assert!(matches!(poll(&mut **waiting, now, &mut permits), Poll::Ready(Ok(()))));
    }
    assert_eq!((gauge(&*room).admitted, gauge(&*room).refused), (3, 1));
}

#[test]
fn what_is_refused_takes_no_token_from_others() {
    for (rule, waiting) in [("queue: 0", 0), ("queue: 1, waitMilliseconds: 60000", 1)] {
        let room = built(&format!("limits:\n    r: {{statementsPerSecond: 10, burst: 1, {rule}}}"))
            .unwrap();
        let mut asked = Ask::default();
        let mut at_once = 0;
        let mut later = Vec::new();
        // Twice as many as it lets in, for ten seconds.
        for _ in 0..200 {
            let mut permits = Permits::default();
            match ask(&*room, &asked, &mut permits) {
                Ok(Entry::Now) => at_once += 1,
                Ok(Entry::Later(waiting)) => later.push((waiting, permits)),
                Err(told) => assert!(told.to_string().contains("so many wait already"), "{told}"),
            }
            later.retain_mut(|(waiting, permits)| {
                poll(&mut **waiting, asked.now, permits).is_pending()
            });
            assert!(later.len() <= waiting, "{}", later.len());
            asked.now += millis(50);
        }
        let Gauge { admitted, refused, waiting: still, .. } = gauge(&*room);
        assert_eq!(admitted + refused + still, 200);
        assert!((99..=101).contains(&admitted), "{rule}: {admitted}, {at_once} of them at once");
    }
}

#[test]
fn who_waits_for_a_narrow_limit_holds_nothing_of_a_wide_one() {
    let room = built(
        "limits:
    wide: {concurrency: 2}
    narrow: {concurrency: 1, users: [bi]}",
    )
    .unwrap();
    let bi = Ask { user: "bi", ..Ask::default() };
    let first = admitted(&*room, &bi);
    assert_eq!(first.len(), 2);
    let mut permits = Permits::default();
    let _waiting = waits(ask(&*room, &bi, &mut permits));
    assert_eq!(permits.len(), 0);
    let _other = admitted(&*room, &Ask { user: "ann", ..Ask::default() });
}

#[test]
fn who_waits_at_both_passes_both() {
    let room = built(
        "limits:
    wide: {concurrency: 1}
    narrow: {statementsPerSecond: 10, burst: 1, users: [bi]}",
    )
    .unwrap();
    let bi = Ask { user: "bi", ..Ask::default() };
    let first = admitted(&*room, &bi);
    let mut permits = Permits::default();
    let mut waiting = waits(ask(&*room, &bi, &mut permits));
    let now = bi.now + millis(100);
    assert!(poll(&mut *waiting, now, &mut permits).is_pending());
    assert_eq!(waiting.ask_again(), now + millis(1_000));
    drop(first);
    assert!(matches!(poll(&mut *waiting, now, &mut permits), Poll::Ready(Ok(()))));
    assert_eq!(permits.len(), 1);
}

#[test]
fn one_that_may_run_for_so_long_says_when_it_is_to_end() {
    let room =
        built("limits:\n    t: {runMilliseconds: 700}\n    u: {runMilliseconds: 300}").unwrap();
    let asked = Ask::default();
    let permits = admitted(&*room, &asked);
    let deadline = permits.deadline().unwrap();
    assert_eq!(deadline.at, asked.now + millis(300));
    assert!(deadline.told.contains("`u`"), "{}", deadline.told);
    deadline.by.overran();
    let overran: Vec<u64> =
        room.admission().unwrap().gauges().iter().map(|gauge| gauge.overran).collect();
    assert_eq!(overran, [0, 1]);
}

#[test]
fn one_that_may_tell_so_many_rows_says_how_many() {
    let room = built("limits:\n    r: {rows: 100}\n    s: {rows: 10}").unwrap();
    let permits = admitted(&*room, &Ask::default());
    let rows = permits.rows().unwrap();
    assert_eq!(rows.most, 10);
    assert!(rows.told.contains("limit `s` lets none tell more than 10 rows"), "{}", rows.told);
}

#[test]
fn what_runs_when_a_rule_is_altered_counts_on() {
    let meters = Meters::default();
    let (mut asked, rules) =
        (Ask::default(), |most: u32| format!("limits:\n    one: {{concurrency: {most}}}"));
    let publish = |most: u32| {
        let room = built(&rules(most)).unwrap();
        room.admission().unwrap().takes_over("shop", &meters, Instant::now());
        room
    };
    let before = publish(1);
    let running = admitted(&*before, &asked);
    let mut permits = Permits::default();
    let mut waiting = waits(ask(&*before, &asked, &mut permits));
    // A second one is let in by the new rule, though it came under the old.
    let after = publish(2);
    assert!(matches!(poll(&mut *waiting, asked.now, &mut permits), Poll::Ready(Ok(()))));
    assert_eq!(gauge(&*after).running, 2);
    asked.sql = "SELECT 1 FROM t";
    let _third = waits(ask(&*after, &asked, &mut Permits::default()));
    drop((running, before));
    meters.sweep();
    assert_eq!(gauge(&*publish(2)).admitted, 2);
}

#[test]
fn rules_that_say_nothing_or_contradict_themselves_are_told_all_at_once() {
    let told = built(
        "limits:
    a: {users: [bob]}
    b: {burst: 3, concurrency: 1}
    c: {concurrency: 1, storageUnits: [ds_7], countedBy: USERS}
  circuitBreakers:
    ds_0: {slowPercent: 5}
    ds_8: {failedPercent: 5}",
    )
    .unwrap_err();
    for part in [
        "limit `a` limits nothing",
        "`burst` needs `statementsPerSecond`",
        "no storage unit `ds_7`",
        "`USERS` is none of DATABASE, USER, STORAGE_UNIT, STATEMENT",
        "`slowPercent` and `slowMilliseconds` need each other",
        "no storage unit `ds_8`",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn a_breaker_that_says_nothing_opens_when_every_second_statement_fails() {
    let room = built("circuitBreakers:\n    ds_0: {openMilliseconds: 100}").unwrap();
    let admission = room.admission().unwrap();
    let settings = admission.circuit(&"ds_0".into()).unwrap();
    assert_eq!((settings.failed_percent, settings.slow_percent, settings.least), (50, 0, 20));
    assert_eq!(admission.circuit(&"ds_1".into()), None);
}
