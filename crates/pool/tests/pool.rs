//! The pool over scripted units, with virtual time; two tests use real threads.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test support functions")]

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::task::Poll;
use std::time::Duration;

use pando_fake::{Connects, FakeRuntime, Reply, Unit, poll_once, server_error};
use pando_kernel::{CopyForm, ErrorKind, Event, Execution, Format, Kind, Result, Value};
use pando_pool::{Connection, Options, Pool};

type Take = Pin<Box<dyn Future<Output = Result<Connection>> + Send>>;

struct Scene {
    runtime: FakeRuntime,
    unit: Unit,
    pool: Pool,
}

fn scene(options: Options) -> Scene {
    let (runtime, unit) = (FakeRuntime::new(), Unit::new("ds_0"));
    let pool = Pool::new("ds_0", unit.connector(), runtime.handle(), options);
    Scene { runtime, unit, pool }
}

fn at_most(max: usize) -> Options {
    Options { max, ..Options::default() }
}

impl Scene {
    fn take(&self) -> Connection {
        self.runtime.block_on(self.pool.take()).unwrap()
    }

    fn taking(&self) -> Take {
        let pool = self.pool.clone();
        Box::pin(async move { pool.take().await })
    }

    fn taking_further(&self) -> Take {
        let pool = self.pool.clone();
        Box::pin(async move { pool.take_further(&AtomicU64::new(0)).await })
    }

    fn run(&self, connection: &mut Connection, sql: &str) -> Result<()> {
        connection.start(Execution::Text(sql.into()))?;
        self.runtime.block_on(async {
            while !matches!(poll_fn(|cx| connection.poll_event(cx)).await?, Event::Done) {}
            Ok(())
        })
    }

    fn numbers(&self) -> (usize, usize, usize) {
        let statistics = self.pool.statistics();
        (statistics.open, statistics.idle, statistics.waiting)
    }
}

fn expect<T>(poll: Poll<T>) -> T {
    match poll {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("still pending"),
    }
}

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
fn a_connection_dropped_inside_a_transaction_is_reset_before_it_is_lent_again() {
    let scene = scene(at_most(1));
    let mut connection = scene.take();
    connection.set_session_state(7);
    scene.run(&mut connection, "BEGIN").unwrap();
    drop(connection);
    let connection = scene.take();
    assert_eq!(scene.unit.statements(), ["BEGIN", "RESET"]);
    assert_eq!((connection.session_state(), scene.unit.connections().opened), (0, 1));
}

#[test]
fn a_clean_connection_keeps_its_session_state() {
    let scene = scene(at_most(1));
    let mut connection = scene.take();
    connection.set_session_state(7);
    drop(connection);
    assert_eq!(scene.take().session_state(), 7);
}

#[test]
fn an_abandoned_statement_is_cancelled_and_its_connection_used_again() {
    let scene = scene(at_most(1));
    scene.unit.reply("hang", Reply::Hang);
    let mut connection = scene.take();
    connection.start(Execution::Text("hang".into())).unwrap();
    let mut event = Box::pin(poll_fn(|cx| connection.poll_event(cx)));
    assert!(poll_once(&mut event).is_pending());
    drop(event);
    drop(connection);
    let connection = scene.take();
    assert_eq!(scene.unit.statements(), ["hang", "RESET"]);
    assert_eq!(scene.unit.cancels(), [connection.token()]);
    assert_eq!(scene.unit.connections().opened, 1);
}

#[test]
fn an_unread_result_is_drained_before_the_connection_is_lent_again() {
    let scene = scene(at_most(1));
    let rows = (0..9).map(|n| vec![Value::Int(n)]).collect();
    scene.unit.reply("rows", Reply::rows(&[("n", Kind::Int)], rows));
    scene.unit.reply("bad", Reply::Error(server_error("42000", "no")));
    let mut connection = scene.take();
    connection.start(Execution::Text("rows".into())).unwrap();
    connection.start(Execution::Text("bad".into())).unwrap();
    drop(connection);
    let mut connection = scene.take();
    assert_eq!(scene.unit.connections().opened, 1);
    scene.run(&mut connection, "COMMIT").unwrap();
}

#[test]
fn an_abandoned_copy_is_ended_and_its_connection_used_again() {
    let scene = scene(at_most(1));
    let form = CopyForm { format: Format::Text, columns: vec![] };
    scene.unit.reply("COPY", Reply::Events(vec![Event::CopyIn(form)]));
    let mut connection = scene.take();
    connection.start(Execution::Text("COPY".into())).unwrap();
    let mut event = Box::pin(poll_fn(|cx| connection.poll_event(cx)));
    assert!(expect(poll_once(&mut event)).is_ok());
    drop(event);
    drop(connection);
    drop(scene.take());
    assert_eq!(scene.unit.connections().opened, 1);
}

#[test]
fn a_recovery_that_takes_too_long_closes_the_connection() {
    let scene = scene(at_most(1));
    scene.unit.reply("RESET", Reply::Hang);
    let mut connection = scene.take();
    scene.run(&mut connection, "BEGIN").unwrap();
    drop(connection);
    scene.runtime.run();
    assert_eq!(scene.numbers(), (1, 0, 0));
    scene.runtime.advance(Duration::from_secs(5));
    assert_eq!(scene.numbers(), (0, 0, 0));
    assert_eq!(scene.unit.connections().open, 0);
}

#[test]
fn a_recovery_that_fails_closes_the_connection() {
    let scene = scene(at_most(1));
    scene.unit.reply("RESET", Reply::Error(server_error("08006", "no")));
    let mut connection = scene.take();
    scene.run(&mut connection, "BEGIN").unwrap();
    drop(connection);
    scene.runtime.run();
    assert_eq!(scene.unit.connections().open, 0);
}

#[test]
fn a_discarded_connection_is_closed() {
    let scene = scene(at_most(1));
    scene.take().discard();
    assert_eq!((scene.numbers(), scene.unit.connections().open), ((0, 0, 0), 0));
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
