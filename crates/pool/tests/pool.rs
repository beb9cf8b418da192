//! The pool over scripted units, with virtual time; two tests use real threads.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test support functions")]

mod scene;

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use pando_fake::{Connects, FakeRuntime, Reply, Unit, poll_once};
use pando_kernel::{ErrorKind, Execution};
use pando_pool::{Options, Pool};

use scene::{Take, at_most, expect, scene};

#[test]
fn nothing_connects_before_the_first_take() {
    let scene = scene(Options { min: 3, ..Options::default() });
    scene.runtime.run();
    assert_eq!(scene.unit.connections().opened, 0);
    drop(scene.take());
    scene.runtime.run();
    assert_eq!(scene.unit.connections().open, 3);
}

#[test]
fn the_most_recently_used_connection_is_lent_first() {
    let scene = scene(at_most(2));
    let (first, second) = (scene.take(), scene.take());
    let last = first.token().id;
    drop(second);
    drop(first);
    assert_eq!(scene.take().token().id, last);
    assert_eq!(scene.unit.connections().opened, 2);
}

#[test]
fn a_connection_is_lent_on_the_loop_that_used_it_last() {
    let scene = scene(at_most(3));
    let taken: Vec<_> = (1..=3)
        .map(|event_loop| {
            scene.runtime.stand_on(event_loop);
            scene.take()
        })
        .collect();
    let ids: Vec<_> = taken.iter().map(|connection| connection.token().id).collect();
    for (event_loop, connection) in (1..=3).zip(taken) {
        scene.runtime.stand_on(event_loop);
        drop(connection);
    }
    for event_loop in [2, 1, 3] {
        scene.runtime.stand_on(event_loop);
        assert_eq!(scene.take().token().id, ids[event_loop - 1]);
    }
    // Without one of its own it gets another's.
    scene.runtime.stand_on(1);
    let _all = [scene.take(), scene.take(), scene.take()];
    assert_eq!(scene.unit.connections().opened, 3);
}

#[test]
fn a_connection_lies_where_its_bytes_arrive() {
    let scene = scene(at_most(2));
    scene.runtime.stand_on(1);
    let (first, second) = (scene.take(), scene.take());
    let (far, own) = (first.token().id, second.token().id);
    scene.runtime.nears()[0].tell(2);
    drop(second);
    drop(first);
    assert_eq!(scene.take().token().id, own);
    scene.runtime.stand_on(2);
    assert_eq!(scene.take().token().id, far);
    // It comes back as soon as it is heard of here.
    scene.runtime.nears()[0].tell(1);
    drop(scene.take());
    scene.runtime.stand_on(1);
    assert_eq!(scene.take().token().id, far);
}

#[test]
fn a_failed_connect_gives_back_all_slots_of_many() {
    let scene = scene(at_most(3));
    drop(scene.take());
    scene.unit.connects(Connects::Refuse);
    assert!(scene.runtime.block_on(scene.pool.take_many(3)).is_err());
    assert_eq!(scene.numbers(), (1, 1, 0));
}

#[test]
fn an_idle_connection_must_answer_before_it_is_lent() {
    let scene = scene(Options::default());
    drop(scene.take());
    scene.runtime.advance(Duration::from_secs(4));
    drop(scene.take());
    assert!(scene.unit.statements().is_empty());
    scene.runtime.advance(Duration::from_secs(6));
    drop(scene.take());
    assert_eq!(scene.unit.statements(), ["PING"]);
    assert_eq!(scene.unit.connections().opened, 1);
}

#[test]
fn after_a_restart_of_the_server_the_first_dead_connection_takes_all_stale_ones_with_it() {
    let scene = scene(at_most(5));
    drop(scene.runtime.block_on(scene.pool.take_many(5)).unwrap());
    assert_eq!(scene.numbers(), (5, 5, 0));
    scene.runtime.advance(Duration::from_secs(10));
    scene.unit.disconnect_all();
    let mut connection = scene.take();
    scene.unit.otherwise(Reply::affected(0));
    scene.run(&mut connection, "SELECT 1").unwrap();
    assert_eq!(scene.numbers(), (1, 0, 0));
}

#[test]
fn no_statement_fails_after_a_restart_that_closed_the_connections() {
    let scene = scene(at_most(5));
    drop(scene.runtime.block_on(scene.pool.take_many(5)).unwrap());
    scene.unit.otherwise(Reply::affected(0)).disconnect_all();
    for _ in 0..6 {
        let mut connection = scene.take();
        scene.run(&mut connection, "SELECT 1").unwrap();
    }
}

#[test]
fn a_restart_that_nobody_has_met_is_told_by_the_idle_connections() {
    let scene = scene(at_most(5));
    let mut known = scene.pool.breaks();
    let mut is_new = |now: u64| std::mem::replace(&mut known, now) != now;
    drop(scene.runtime.block_on(scene.pool.take_many(3)).unwrap());
    assert!(
        is_new(scene.pool.breaks()),
        "the first connection may be to another server than the one asked before"
    );
    drop(scene.runtime.block_on(scene.pool.take_many(5)).unwrap());
    assert!(!is_new(scene.pool.breaks()), "more connections beside the first");
    scene.unit.disconnect_all();
    assert!(is_new(scene.pool.breaks()));
    assert_eq!(scene.numbers(), (0, 0, 0), "all that are closed go at once");
    assert!(!is_new(scene.pool.breaks()), "told once");
    drop(scene.take());
    assert!(is_new(scene.pool.breaks()), "opened while there was none");
    let mut lent = scene.take();
    scene.unit.disconnect_all();
    assert!(scene.run(&mut lent, "SELECT 1").is_err());
    drop(lent);
    assert!(is_new(scene.pool.breaks()), "broken in use");
    scene.unit.connects(Connects::Refuse);
    assert!(scene.runtime.block_on(scene.pool.take()).is_err());
    assert!(is_new(scene.pool.breaks()), "connecting failed");
    assert!(scene.unit.statements().is_empty(), "nobody was asked");
}

#[test]
fn connections_that_follow_each_other_without_a_gap_tell_of_no_restart() {
    let scene = scene(Options { max_lifetime: Duration::from_secs(10), ..at_most(5) });
    let mut lent = vec![scene.take()];
    let known = scene.pool.breaks();
    for _ in 0..4 {
        lent.push(scene.take());
        lent.remove(0).discard();
    }
    assert_eq!(scene.pool.breaks(), known);
    lent.remove(0).discard();
    drop(scene.take());
    assert_ne!(scene.pool.breaks(), known);
}

#[test]
fn idle_connections_above_the_minimum_are_closed_in_time() {
    let scene = scene(Options { min: 2, ..Options::default() });
    drop(scene.runtime.block_on(scene.pool.take_many(5)).unwrap());
    scene.runtime.advance(Duration::from_secs(30));
    assert_eq!(scene.unit.connections().open, 5);
    scene.runtime.advance(Duration::from_secs(30));
    assert_eq!(scene.unit.connections().open, 2);
}

#[test]
fn old_connections_are_closed_and_the_minimum_is_opened_again() {
    let scene = scene(Options { min: 2, ..Options::default() });
    drop(scene.runtime.block_on(scene.pool.take_many(2)).unwrap());
    for _ in 0..61 {
        scene.runtime.advance(Duration::from_secs(30));
    }
    let connections = scene.unit.connections();
    assert_eq!((connections.open, connections.opened), (2, 4));
}

#[test]
fn zero_limits_mean_none() {
    let options = Options {
        min: 0,
        idle_timeout: Duration::ZERO,
        max_lifetime: Duration::ZERO,
        ..Options::default()
    };
    let scene = scene(options);
    drop(scene.take());
    for _ in 0..100 {
        scene.runtime.advance(Duration::from_secs(3600));
    }
    assert_eq!(scene.unit.connections().open, 1);
}

#[test]
fn closing_sends_the_waiting_home_and_closes_what_comes_back() {
    let scene = scene(at_most(2));
    let (one, two) = (scene.take(), scene.take());
    drop(two);
    let pool = scene.pool.clone();
    let mut many = Box::pin(async move { pool.take_many(2).await });
    assert!(poll_once(&mut many).is_pending());
    scene.pool.close();
    let error = expect(poll_once(&mut many)).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Shutdown);
    assert_eq!(scene.unit.connections().open, 1);
    drop(one);
    assert_eq!(scene.unit.connections().open, 0);
    let error = scene.runtime.block_on(scene.pool.take()).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Shutdown);
}

#[test]
fn a_condemned_pool_gives_up_who_waits_who_works_and_who_comes() {
    let scene = scene(at_most(2));
    scene.unit.reply("SELECT 1", Reply::Hang).reply("COMMIT", Reply::affected(0));
    let mut waiting = scene.take();
    waiting.start(Execution::Text("SELECT 1".into())).unwrap();
    let mut answer = Box::pin(poll_fn(|cx| waiting.poll_event(cx)));
    assert!(poll_once(&mut answer).is_pending());
    let mut working = scene.take();
    let mut queued = scene.taking();
    assert!(poll_once(&mut queued).is_pending());
    scene.pool.condemn("another server has taken its place");
    let told = |error: pando_kernel::Error| {
        assert_eq!(
            error.to_string(),
            "storage unit `ds_0` is not available: another server has taken its place"
        );
    };
    told(scene.runtime.block_on(answer).unwrap_err());
    told(scene.run(&mut working, "COMMIT").unwrap_err());
    told(expect(poll_once(&mut queued)).unwrap_err());
    told(scene.runtime.block_on(scene.pool.take()).unwrap_err());
    assert_eq!(scene.unit.statements(), ["SELECT 1"], "the COMMIT was not sent");
    assert!(!waiting.condition().usable && !working.condition().usable);
    drop((waiting, working));
    assert_eq!(scene.numbers(), (0, 0, 0));
}

#[test]
fn a_connection_that_was_being_opened_when_its_pool_was_condemned_is_of_no_use() {
    let scene = scene(at_most(1));
    scene.unit.connects(Connects::Hang);
    let mut take = scene.taking();
    assert!(poll_once(&mut take).is_pending());
    scene.pool.condemn("it does not answer");
    scene.unit.connects(Connects::Accept);
    let late = scene.runtime.block_on(take).map(|mut late| scene.run(&mut late, "SELECT 1"));
    assert!(!matches!(late, Ok(Ok(()))));
    assert!(scene.unit.statements().is_empty());
}

#[test]
fn the_background_task_ends_with_the_pool() {
    let scene = scene(Options::default());
    drop(scene.take());
    scene.runtime.run();
    assert_eq!(scene.runtime.tasks(), 1);
    drop(scene.pool);
    scene.runtime.advance(Duration::from_secs(30));
    assert_eq!(scene.runtime.tasks(), 0);
    assert_eq!(scene.unit.connections().open, 0);
}

#[test]
fn the_queue_has_an_end() {
    let scene = scene(at_most(1));
    let _held = scene.take();
    let mut waiting: Vec<Take> = (0..10_000).map(|_| scene.taking()).collect();
    for take in &mut waiting {
        assert!(poll_once(take).is_pending());
    }
    let error = expect(poll_once(&mut scene.taking())).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::TooManyConnections);
}

#[test]
fn two_threads_with_their_own_executors_share_one_pool() {
    let (first, second) = (FakeRuntime::new(), FakeRuntime::new());
    let unit = Unit::new("ds_0");
    unit.otherwise(Reply::affected(1));
    let pool = Pool::new("ds_0", unit.connector(), first.handle(), at_most(2));
    let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let start = Barrier::new(4);
    std::thread::scope(|scope| {
        for (runtime, count) in [(&first, 1), (&second, 1), (&first, 2), (&second, 2)] {
            let (pool, inside, most, start) = (&pool, &inside, &most, &start);
            scope.spawn(move || {
                start.wait();
                for _ in 0..500 {
                    let mut taken = runtime.block_on(pool.take_many(count)).unwrap();
                    let now = inside.fetch_add(count, Ordering::SeqCst) + count;
                    most.fetch_max(now, Ordering::SeqCst);
                    for connection in &mut taken {
                        connection.start(Execution::Ping).unwrap();
                        runtime.block_on(poll_fn(|cx| connection.poll_event(cx))).unwrap();
                    }
                    inside.fetch_sub(count, Ordering::SeqCst);
                    drop(taken);
                }
            });
        }
    });
    assert!(most.load(Ordering::SeqCst) <= 2);
    assert!(unit.connections().opened <= 2);
    let statistics = pool.statistics();
    assert_eq!((statistics.open, statistics.waiting), (statistics.idle, 0));
}

#[test]
fn a_connection_opened_in_one_thread_is_used_in_another() {
    let runtime = FakeRuntime::new();
    let unit = Unit::new("ds_0");
    let pool = Arc::new(Pool::new("ds_0", unit.connector(), runtime.handle(), at_most(1)));
    let held = runtime.block_on(pool.take()).unwrap();
    let waiter = {
        let (pool, other) = (Arc::clone(&pool), FakeRuntime::new());
        std::thread::spawn(move || other.block_on(pool.take()).map(|c| c.token().id))
    };
    while pool.statistics().waiting == 0 {
        std::thread::yield_now();
    }
    let id = held.token().id;
    drop(held);
    assert_eq!(waiter.join().unwrap().unwrap(), id);
}
