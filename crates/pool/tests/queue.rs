//! Who is served when all connections are taken.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test support functions")]

mod scene;

use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use pando_fake::{Connects, poll_once};
use pando_kernel::ErrorKind;

use scene::{Take, at_most, expect, scene};

#[test]
fn waiting_callers_are_served_in_order_of_arrival() {
    let scene = scene(at_most(1));
    let held = scene.take();
    let mut waiting: Vec<Take> = (0..3).map(|_| scene.taking()).collect();
    for take in &mut waiting {
        assert!(poll_once(take).is_pending());
    }
    assert_eq!(scene.numbers(), (1, 0, 3));
    drop(held);
    for turn in 0..3 {
        for later in &mut waiting[1..] {
            assert!(poll_once(later).is_pending(), "turn {turn}");
        }
        let served = expect(poll_once(&mut waiting[0])).unwrap();
        drop((waiting.remove(0), served));
    }
    assert_eq!(scene.numbers(), (1, 1, 0));
}

#[test]
fn a_newcomer_does_not_overtake_who_waits() {
    let scene = scene(at_most(1));
    let held = scene.take();
    let mut first = scene.taking();
    assert!(poll_once(&mut first).is_pending());
    drop(held);
    let mut newcomer = scene.taking();
    assert!(poll_once(&mut newcomer).is_pending());
    assert!(expect(poll_once(&mut first)).is_ok());
}

#[test]
fn who_holds_a_connection_goes_before_newcomers() {
    let scene = scene(at_most(1));
    let held = scene.take();
    let mut newcomers: Vec<Take> = (0..3).map(|_| scene.taking()).collect();
    newcomers.iter_mut().for_each(|take| assert!(poll_once(take).is_pending()));
    let mut holders: Vec<Take> = (0..2).map(|_| scene.taking_further()).collect();
    holders.iter_mut().for_each(|take| assert!(poll_once(take).is_pending()));
    drop(held);
    for mut take in holders.into_iter().chain(newcomers) {
        drop(expect(poll_once(&mut take)).unwrap());
    }
    assert_eq!(scene.numbers(), (1, 1, 0));
}

#[test]
fn who_holds_a_connection_is_told_its_place() {
    let scene = scene(at_most(2));
    let held = (scene.take(), scene.take());
    let places = [const { AtomicU64::new(0) }; 3];
    let [first, several, last] = &places;
    let mut first = Box::pin(scene.pool.take_further(first));
    assert!(poll_once(&mut first).is_pending());
    let mut several = Box::pin(scene.pool.take_many_further(2, several));
    assert!(poll_once(&mut several).is_pending());
    let mut last = Box::pin(scene.pool.take_further(last));
    assert!(poll_once(&mut last).is_pending());
    let noted = places.each_ref().map(|place| place.load(Ordering::Relaxed));
    assert!(noted.is_sorted_by(|one, other| one < other), "{noted:?}");
    drop(held.0);
    assert!(expect(poll_once(&mut first)).is_ok());
    assert!(poll_once(&mut last).is_pending());
}

#[test]
fn who_ends_what_others_wait_for_has_a_connection_beyond_the_maximum() {
    let scene = scene(at_most(2));
    let held = (scene.take(), scene.take());
    let mut further = scene.taking_further();
    assert!(poll_once(&mut further).is_pending());
    let last = || {
        let pool = scene.pool.clone();
        Box::pin(async move { pool.take_last().await }) as Take
    };
    let ends = scene.runtime.block_on(last()).unwrap();
    assert_eq!(scene.numbers(), (3, 0, 1));
    let mut second = last();
    assert!(poll_once(&mut second).is_pending(), "one at a time");
    drop(ends);
    let ends = expect(poll_once(&mut second)).unwrap();
    assert_eq!(scene.numbers(), (3, 0, 1));
    drop(held.0);
    assert_eq!(scene.numbers(), (3, 1, 1), "it is kept for the next of them");
    assert!(poll_once(&mut further).is_pending());
    drop(ends);
    let further = expect(poll_once(&mut further)).unwrap();
    assert_eq!(scene.numbers(), (3, 1, 0));
    let newcomer = scene.taking();
    assert!(poll_once(&mut { newcomer }).is_pending(), "it is not for others");
    drop((held.1, further));
    assert_eq!(scene.numbers(), (3, 3, 0));
}

#[test]
fn newcomers_are_not_overtaken_for_ever() {
    let scene = scene(at_most(1));
    let mut held = Some(scene.take());
    let mut newcomer = scene.taking();
    assert!(poll_once(&mut newcomer).is_pending());
    let mut overtakes = 0;
    loop {
        let mut further = scene.taking_further();
        assert!(poll_once(&mut further).is_pending());
        drop(held.take());
        match poll_once(&mut further) {
            Poll::Ready(connection) => held = Some(connection.unwrap()),
            Poll::Pending => break,
        }
        overtakes += 1;
    }
    assert!((900..1100).contains(&overtakes), "{overtakes}");
    assert!(expect(poll_once(&mut newcomer)).is_ok());
}

#[test]
fn waiting_too_long_is_a_timeout_that_names_the_unit() {
    let scene = scene(at_most(1));
    let _held = scene.take();
    let mut take = scene.taking();
    assert!(poll_once(&mut take).is_pending());
    scene.runtime.advance(Duration::from_secs(29));
    assert!(poll_once(&mut take).is_pending());
    scene.runtime.advance(Duration::from_secs(1));
    let error = expect(poll_once(&mut take)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Timeout(text) if text.contains("`ds_0`")), "{error}");
    assert_eq!(scene.numbers(), (1, 0, 0));
}

#[test]
fn a_server_that_does_not_answer_is_unavailable_and_frees_the_slot() {
    let scene = scene(at_most(1));
    scene.unit.connects(Connects::Hang);
    let mut take = scene.taking();
    assert!(poll_once(&mut take).is_pending());
    scene.runtime.advance(Duration::from_secs(30));
    let error = expect(poll_once(&mut take)).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Unavailable { unit, message } if unit == "ds_0" && message.contains("answer")),
        "{error}"
    );
    assert_eq!(scene.numbers(), (0, 0, 0));
}

#[test]
fn a_refused_connection_is_an_error_at_once_and_frees_the_slot() {
    let scene = scene(at_most(1));
    scene.unit.connects(Connects::Refuse);
    for _ in 0..3 {
        let error = expect(poll_once(&mut scene.taking())).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unavailable { .. }));
    }
    scene.unit.connects(Connects::Accept);
    drop(scene.take());
}

#[test]
fn what_a_server_says_against_a_connection_is_told_as_its_storage_units() {
    let scene = scene(at_most(1));
    scene.unit.connects(Connects::Deny);
    let error = expect(poll_once(&mut scene.taking())).unwrap_err();
    assert_eq!(error.to_string(), "storage unit `ds_0` is not available: wrong password");
}

#[test]
fn where_a_server_is_full_its_open_connections_are_waited_for() {
    let scene = scene(at_most(4));
    scene.unit.connects(Connects::AtMost(2));
    let (one, other) = (scene.take(), scene.take());
    let mut waiting: Vec<Take> = (0..3).map(|_| scene.taking()).collect();
    waiting.iter_mut().for_each(|take| assert!(poll_once(take).is_pending()));
    assert_eq!((scene.numbers(), scene.unit.connections().opened), ((2, 0, 3), 2));
    drop(one);
    drop(expect(poll_once(&mut waiting[0])).unwrap());
    drop(expect(poll_once(&mut waiting[1])).unwrap());
    assert!(poll_once(&mut waiting[2]).is_ready());
    drop(other);
    assert_eq!(scene.unit.connections().opened, 2);
}

#[test]
fn a_full_server_is_asked_again_after_a_while() {
    let scene = scene(at_most(4));
    scene.unit.connects(Connects::AtMost(1));
    let held = scene.take();
    let mut waiting: Vec<Take> = (0..2).map(|_| scene.taking()).collect();
    waiting.iter_mut().for_each(|take| assert!(poll_once(take).is_pending()));
    scene.runtime.run();
    scene.runtime.advance(Duration::from_secs(5));
    waiting.iter_mut().for_each(|take| assert!(poll_once(take).is_pending(), "it is full still"));
    scene.unit.connects(Connects::Accept);
    assert!(poll_once(&mut waiting[0]).is_pending(), "not yet");
    scene.runtime.run();
    scene.runtime.advance(Duration::from_secs(5));
    for take in &mut waiting {
        assert!(expect(poll_once(take)).is_ok());
    }
    drop(held);
}

#[test]
fn a_full_server_that_lets_nobody_in_is_told_at_once() {
    let scene = scene(at_most(4));
    scene.unit.connects(Connects::AtMost(0));
    for _ in 0..3 {
        let error = expect(poll_once(&mut scene.taking())).unwrap_err();
        let told =
            "storage unit `ds_0` lets no further connection in: sorry, too many clients already";
        assert!(matches!(error.kind(), ErrorKind::Full { .. }));
        assert_eq!(error.to_string(), told);
    }
    assert_eq!(scene.numbers(), (0, 0, 0));
    scene.unit.connects(Connects::Accept);
    drop(scene.take());
}

#[test]
fn waiting_at_a_full_server_has_its_bound_and_says_why() {
    let scene = scene(at_most(4));
    scene.unit.connects(Connects::AtMost(1));
    let _held = scene.take();
    let mut take = scene.taking();
    assert!(poll_once(&mut take).is_pending());
    for _ in 0..6 {
        scene.runtime.advance(Duration::from_secs(5));
        if let Poll::Ready(done) = poll_once(&mut take) {
            let told = done.unwrap_err().to_string();
            assert!(told.contains("1 of 1 (its server lets no more in) are in use"), "{told}");
            return;
        }
    }
    panic!("still waiting after 30 s");
}

#[test]
fn several_at_once_are_had_of_a_full_server_or_refused() {
    let scene = scene(at_most(4));
    scene.unit.connects(Connects::AtMost(2));
    let held = scene.take();
    let pool = scene.pool.clone();
    let many = |count| {
        let pool = pool.clone();
        Box::pin(async move { pool.take_many(count).await })
    };
    let mut two = many(2);
    assert!(poll_once(&mut two).is_pending());
    drop(held);
    drop(expect(poll_once(&mut two)).unwrap());
    let mut three = many(3);
    assert!(poll_once(&mut three).is_pending(), "until others are tried again");
    scene.runtime.run();
    scene.runtime.advance(Duration::from_secs(5));
    let error = expect(poll_once(&mut three)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Full { .. }), "{error}");
    drop((scene.take(), scene.take()));
}

#[test]
fn a_dropped_wait_leaves_the_queue() {
    let scene = scene(at_most(1));
    let held = scene.take();
    let (mut first, mut second) = (scene.taking(), scene.taking());
    assert!(poll_once(&mut first).is_pending());
    assert!(poll_once(&mut second).is_pending());
    drop(first);
    assert_eq!(scene.numbers(), (1, 0, 1));
    drop(held);
    assert!(expect(poll_once(&mut second)).is_ok());
}

#[test]
fn a_wait_dropped_after_its_grant_passes_the_connection_on() {
    let scene = scene(at_most(1));
    let held = scene.take();
    let (mut first, mut second) = (scene.taking(), scene.taking());
    assert!(poll_once(&mut first).is_pending());
    assert!(poll_once(&mut second).is_pending());
    drop(held);
    drop(first);
    assert!(expect(poll_once(&mut second)).is_ok());
    assert_eq!(scene.numbers(), (1, 1, 0));
}

#[test]
fn a_take_dropped_while_connecting_frees_its_slot() {
    let scene = scene(at_most(1));
    scene.unit.connects(Connects::Hang);
    let mut first = scene.taking();
    assert!(poll_once(&mut first).is_pending());
    scene.unit.connects(Connects::Accept);
    let mut second = scene.taking();
    assert!(poll_once(&mut second).is_pending());
    drop(first);
    assert!(expect(poll_once(&mut second)).is_ok());
}

#[test]
fn many_come_all_at_once_or_not_at_all() {
    let scene = scene(at_most(3));
    let held = scene.take();
    let pool = scene.pool.clone();
    let mut many = Box::pin(async move { pool.take_many(3).await });
    assert!(poll_once(&mut many).is_pending());
    assert_eq!(scene.unit.connections().open, 1, "no part is taken while it waits");
    drop(held);
    assert_eq!(expect(poll_once(&mut many)).unwrap().len(), 3);
}

#[test]
fn a_request_for_many_is_not_overtaken_by_small_ones() {
    let scene = scene(at_most(2));
    let (one, two) = (scene.take(), scene.take());
    let pool = scene.pool.clone();
    let mut many = Box::pin(async move { pool.take_many(2).await });
    assert!(poll_once(&mut many).is_pending());
    let mut small = scene.taking();
    assert!(poll_once(&mut small).is_pending());
    drop(one);
    assert!(poll_once(&mut small).is_pending());
    drop(two);
    let both = expect(poll_once(&mut many)).unwrap();
    assert!(poll_once(&mut small).is_pending());
    drop(both);
    assert!(expect(poll_once(&mut small)).is_ok());
}

#[test]
fn a_dropped_request_for_many_lets_the_small_ones_behind_it_through() {
    let scene = scene(at_most(2));
    let held = scene.take();
    let pool = scene.pool.clone();
    let mut many = Box::pin(async move { pool.take_many(2).await });
    assert!(poll_once(&mut many).is_pending());
    let mut small = scene.taking();
    assert!(poll_once(&mut small).is_pending());
    drop(many);
    assert!(expect(poll_once(&mut small)).is_ok());
    drop(held);
}

#[test]
fn more_than_the_maximum_is_refused_at_once() {
    let scene = scene(at_most(2));
    let error = scene.runtime.block_on(scene.pool.take_many(3)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Configuration(_)));
    assert!(scene.runtime.block_on(scene.pool.take_many(0)).unwrap().is_empty());
}
