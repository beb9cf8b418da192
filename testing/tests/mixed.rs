//! Transactions of type XA over PostgreSQL, MariaDB and MySQL at once: they commit on all of them or on none, wherever their coordinator is lost.

#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says what it skips"
)]

use std::future::{Future, poll_fn};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use pando_kernel::backend::Connector;
use pando_kernel::error::{Error, ErrorKind};
use pando_kernel::runtime::{Address, BoxFuture, Runtime, SharedRuntime, Stream};
use pando_kernel::two_phase::Verdict;
use pando_kernel::{Execution, TransactionType, Value};
use pando_pool::{Options, Pool};
use pando_testing::poll::{Threads, block_on};
use pando_transaction::xa::{Barrier, Way, decide};
use pando_transaction::{Aside, Coordinator, Course, Ended, Ready, Recovery, Transaction, finish};

/// Recovery that waits for nobody ends the transactions of all: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One storage unit of each family that runs.
struct Units {
    runtime: SharedRuntime,
    pools: Vec<Pool>,
    ready: Vec<Ready>,
}

fn urls() -> Vec<(&'static str, String)> {
    let port = |name: &str| std::env::var(name).ok();
    let mysql = |port: String| {
        format!("jdbc:mysql://127.0.0.1:{port}/test?useSSL=false&allowPublicKeyRetrieval=true")
    };
    let pg =
        port("PG1_PORT").map(|port| ("pg", format!("jdbc:postgresql://127.0.0.1:{port}/test")));
    let maria = port("MARIADB1_PORT").map(|port| ("mariadb", mysql(port)));
    let mysql = port("MYSQL1_PORT").map(|port| ("mysql", mysql(port)));
    pg.into_iter().chain(maria).chain(mysql).collect()
}

fn connector(name: &str, url: &str) -> Arc<dyn Connector> {
    connector_of(name, url, "test")
}

fn connector_of(name: &str, url: &str, user: &str) -> Arc<dyn Connector> {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "databaseName: {name}\ndataSources:\n  {name}: {{url: \"{url}\", username: {user}, password: test}}\nrules: []\n"
    );
    std::fs::write(folder.path().join("database-one.yaml"), text).unwrap();
    let configuration = pando_config::load(folder.path()).unwrap();
    let built = pando_rooms::build(&configuration.databases[0], folder.path()).unwrap();
    built.units.into_iter().next().unwrap().connector
}

impl Units {
    /// `None` with a visible line where fewer than two families run.
    async fn all(table: &str) -> Option<Self> {
        let urls = urls();
        if urls.len() < 2 {
            eprintln!("skipped: no servers of two families");
            return None;
        }
        let runtime: SharedRuntime = Arc::new(Threads);
        let (mut pools, mut ready) = (Vec::new(), Vec::new());
        for (name, url) in urls {
            let connector = connector(name, &url);
            let mut aside =
                Aside::open(Arc::clone(&connector), Arc::clone(&runtime)).await.unwrap();
            aside.rows(&format!("DROP TABLE IF EXISTS {table}")).await.unwrap();
            aside.rows(&format!("CREATE TABLE {table} (id INT PRIMARY KEY, n INT)")).await.unwrap();
            aside.rows(&format!("INSERT INTO {table} VALUES (1, 0)")).await.unwrap();
            ready.push(Ready::ask(&connector, &runtime).await.unwrap());
            pools.push(Pool::new(name, connector, Arc::clone(&runtime), Options::default()));
        }
        Some(Self { runtime, pools, ready })
    }

    fn ways(&self) -> Vec<Way> {
        let way = |pool: &Pool| (Arc::clone(pool.unit()), Arc::clone(pool.connector()));
        self.pools.iter().map(way).collect()
    }

    async fn ask(&self, text: &str) -> Vec<Value> {
        let mut answers = Vec::new();
        for (_, way) in self.ways() {
            let mut aside = Aside::open(way, Arc::clone(&self.runtime)).await.unwrap();
            answers.extend(aside.rows(text).await.unwrap().concat());
        }
        answers
    }

    /// Runs rounds of recovery until nothing is in doubt and nobody holds the row: what a dropped coordinator had sent last may be done after a look.
    async fn recover(&self, recovery: &mut Recovery, ways: &[Way], table: &str) {
        while !recovery.doubts(&self.ways()).await.is_empty() || !self.is_free(table).await {
            recovery.round(ways).await;
        }
    }

    async fn is_free(&self, table: &str) -> bool {
        let text = format!("SELECT n FROM {table} WHERE id = 1 FOR UPDATE NOWAIT");
        for (_, way) in self.ways() {
            let mut aside = Aside::open(way, Arc::clone(&self.runtime)).await.unwrap();
            if aside.rows(&text).await.is_err() {
                return false;
            }
        }
        true
    }

    /// A transaction that has added one on every unit.
    async fn added(&self, coordinator: &Arc<Coordinator>, table: &str) -> Transaction {
        self.changed(coordinator, &format!("UPDATE {table} SET n = n + 1 WHERE id = 1")).await
    }

    /// A transaction that has made a change on every unit.
    async fn changed(&self, coordinator: &Arc<Coordinator>, change: &str) -> Transaction {
        self.ran(coordinator, &vec![change; self.pools.len()]).await
    }

    /// A transaction that has run a statement on each unit.
    async fn ran(&self, coordinator: &Arc<Coordinator>, texts: &[&str]) -> Transaction {
        let mut transaction = Transaction::default();
        let course = Course { kind: TransactionType::Xa, coordinator: Arc::clone(coordinator) };
        transaction.begin(Vec::new(), course);
        for ((pool, ready), text) in self.pools.iter().zip(&self.ready).zip(texts) {
            let mut connection = pool.take().await.unwrap();
            let opening = transaction.enlist(&mut connection, Some(ready)).unwrap();
            if !text.starts_with("SELECT") {
                transaction.writes_on(pool.unit());
            }
            connection.start(Execution::Text((*text).into())).unwrap();
            for _ in 0..=opening {
                finish(&mut connection).await.unwrap();
            }
            transaction.give_back(connection);
        }
        transaction
    }

    async fn commit(&self, transaction: &mut Transaction) -> Ended {
        transaction.commit().await
    }
}

/// Polls a future so often, then drops it, as if its process were gone. Whether it came to its end.
async fn lost_after<T>(polls: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut left = polls;
    let mut future = pin!(future);
    poll_fn(|cx| {
        let Some(rest) = left.checked_sub(1) else { return Poll::Ready(None) };
        left = rest;
        future.as_mut().poll(cx).map(Some)
    })
    .await
}

/// How far commits are let go: each a step further than the one before, and from the beginning again where one is over before it was found where it is
/// looked for. How many steps it takes hangs on how many answers have come at once.
#[derive(Default)]
struct Reach {
    polls: usize,
    tries: usize,
}

impl Reach {
    /// The next one. Whoever is never found where it is looked for is told of.
    fn further(&mut self, is_over: bool, missed: &str) {
        self.tries += 1;
        assert!(self.tries < 500, "{missed}");
        self.polls = if is_over { 0 } else { self.polls + 1 };
    }
}

#[test]
fn all_families_commit_or_none_does() {
    let _alone = alone();
    block_on(async {
        let Some(units) = Units::all("mixed_together").await else { return };
        let coordinator = Arc::new(Coordinator::new(Arc::clone(&units.runtime), "mixed"));
        let mut transaction = units.added(&coordinator, "mixed_together").await;
        units.commit(&mut transaction).await.release().unwrap();
        let ones = vec![Value::Int(1); units.pools.len()];
        assert_eq!(units.ask("SELECT n FROM mixed_together").await, ones);
        let mut transaction = units.added(&coordinator, "mixed_together").await;
        transaction.rollback().await.release().unwrap();
        assert_eq!(units.ask("SELECT n FROM mixed_together").await, ones);
        assert_eq!(coordinator.counts().committed, 1);
    });
}

/// Units that took no writes when they were asked, and take them by now: what is committed there is, or nothing.
#[test]
fn units_without_a_name_lose_nothing() {
    let _alone = alone();
    block_on(async {
        let Some(mut units) = Units::all("mixed_nameless").await else { return };
        let coordinator = Arc::new(Coordinator::new(Arc::clone(&units.runtime), "nameless"));
        let named = units.ready[0].clone();
        units.ready.iter_mut().for_each(|ready| ready.identity = None);
        let mut transaction = units.added(&coordinator, "mixed_nameless").await;
        units.commit(&mut transaction).await.release().unwrap();
        let ones = vec![Value::Int(1); units.pools.len()];
        assert_eq!(units.ask("SELECT n FROM mixed_nameless").await, ones);
        units.ready[0] = named;
        let mut transaction = units.added(&coordinator, "mixed_nameless").await;
        let error = units.commit(&mut transaction).await.release().unwrap_err();
        assert!(error.to_string().contains("took no writes"), "{error}");
        assert_eq!(units.ask("SELECT n FROM mixed_nameless").await, ones);
    });
}

#[test]
fn a_coordinator_lost_at_any_moment_leaves_all_or_nothing() {
    let _alone = alone();
    block_on(async {
        let Some(units) = Units::all("mixed_lost").await else { return };
        let (mut expected, mut polls) = (0, 0);
        loop {
            let coordinator = Arc::new(Coordinator::new(Arc::clone(&units.runtime), "lost"));
            let mut transaction = units.added(&coordinator, "mixed_lost").await;
            let ended = lost_after(polls, units.commit(&mut transaction)).await;
            let done = ended.map(|ended| ended.release().unwrap());
            drop(transaction);
            // Somebody else, who knows nothing of it.
            let other = Arc::new(Coordinator::new(Arc::clone(&units.runtime), "other"));
            let mut recovery = Recovery::after(other, Duration::ZERO);
            units.recover(&mut recovery, &units.ways(), "mixed_lost").await;
            let values = units.ask("SELECT n FROM mixed_lost").await;
            assert!(values.iter().all(|value| *value == values[0]), "{polls} polls: {values:?}");
            if values[0] == Value::Int(expected + 1) {
                expected += 1;
            }
            assert_eq!(values[0], Value::Int(expected), "{polls} polls");
            if done.is_some() {
                break;
            }
            polls += 1;
        }
        assert!(expected > 0, "the last one is committed");
    });
}

#[test]
fn a_unit_that_is_silent_delays_no_other() {
    let _alone = alone();
    block_on(async {
        let Some(units) = Units::all("mixed_silent").await else { return };
        // It takes connections and never says a word.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = format!("jdbc:mysql://127.0.0.1:{port}/test?useSSL=false");
        let mut ways = units.ways();
        ways.insert(0, ("silent".into(), connector("silent", &url)));
        let (mut reach, mut recovered) = (Reach::default(), 0);
        // Lost somewhere on its way, a coordinator leaves a branch that is prepared.
        while recovered == 0 {
            let coordinator = Arc::new(Coordinator::new(Arc::clone(&units.runtime), "silent"));
            let mut transaction = units.added(&coordinator, "mixed_silent").await;
            let done = lost_after(reach.polls, units.commit(&mut transaction)).await;
            drop(transaction);
            reach.further(done.is_some(), "no branch is left in doubt anywhere on the way");
            let other = Arc::new(Coordinator::new(Arc::clone(&units.runtime), "other"));
            let mut recovery = Recovery::after(Arc::clone(&other), Duration::ZERO);
            let began = std::time::Instant::now();
            units.recover(&mut recovery, &ways, "mixed_silent").await;
            // An answer is waited for for five seconds.
            assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
            recovered = other.counts().recovered;
        }
        drop(listener);
    });
}

/// Passes on what a server says, later by this many milliseconds. Returns its port.
fn late(server: String, milliseconds: Arc<AtomicU64>) -> u16 {
    relay(server, move || {
        std::thread::sleep(Duration::from_millis(milliseconds.load(Ordering::Relaxed)));
    })
}

/// Passes on what a server says, each time after it has waited. Returns its port.
fn relay(server: String, waits: impl Fn() + Send + Sync + 'static) -> u16 {
    let waits = Arc::new(waits);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = TcpStream::connect(&server).unwrap();
            let (mut asks, mut asked) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            let (mut told, mut tells, waits) = (client, server, Arc::clone(&waits));
            let until = Arc::clone(&waits);
            std::thread::spawn(move || {
                std::io::copy(&mut asks, &mut asked)?;
                // A server that never hears that its client is gone keeps the connection, and some day takes no more.
                until();
                asked.shutdown(std::net::Shutdown::Write)
            });
            std::thread::spawn(move || {
                let mut buffer = [0; 65536];
                while let Ok(count @ 1..) = tells.read(&mut buffer) {
                    waits();
                    told.write_all(&buffer[..count])?;
                }
                told.shutdown(std::net::Shutdown::Both)
            });
        }
    });
    port
}

/// A coordinator's clock: a second of it is a hundredth of ours.
#[derive(Debug)]
struct Hasty;

impl Runtime for Hasty {
    fn connect<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Threads.connect(address)
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Threads.sleep(duration / 100)
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        Threads.spawn(task);
    }
}

/// Whether a unit is silent, to wait for.
#[derive(Default)]
struct Silence(Mutex<bool>, Condvar);

impl Silence {
    fn is(&self, silent: bool) {
        *self.0.lock().unwrap() = silent;
        self.1.notify_all();
    }

    fn passes(&self) {
        drop(self.1.wait_while(self.0.lock().unwrap(), |silent| *silent).unwrap());
    }
}

impl Units {
    /// Puts a relay in front of a unit. Result: whether it is silent.
    fn can_fall_silent(&mut self, at: usize, (name, url): (&'static str, &str)) -> Arc<Silence> {
        let server = url.split('/').nth(2).unwrap().to_owned();
        let silence = Arc::new(Silence::default());
        let gate = Arc::clone(&silence);
        let port = relay(server.clone(), move || gate.passes());
        let mute = connector(name, &url.replace(&server, &format!("127.0.0.1:{port}")));
        self.pools[at] = Pool::new(name, mute, Arc::clone(&self.runtime), Options::default());
        silence
    }
}

/// Whoever commits is told something while a unit keeps its connections and says nothing, and what he is told is true.
#[test]
fn a_unit_that_falls_silent_at_any_moment_holds_up_no_commit_for_ever() {
    let _alone = alone();
    block_on(async {
        let Some(mut units) = Units::all("mixed_mute").await else { return };
        let ways = units.ways();
        let direct = units.pools.clone();
        let (mut expected, mut told) = (0, [0; 3]);
        // One round meets every kind of answer on a quiet machine; on a busy one a poll can pass over the moment that leaves the outcome unknown.
        let sides = urls();
        for (turn, (at, (name, url))) in
            sides.iter().enumerate().cycle().take(20 * sides.len()).enumerate()
        {
            if turn >= sides.len() && told.iter().all(|count| *count > 0) {
                break;
            }
            units.pools.clone_from(&direct);
            let silence = units.can_fall_silent(at, (*name, url));
            for polls in 0.. {
                let hasty: SharedRuntime = Arc::new(Hasty);
                let coordinator = Arc::new(Coordinator::new(hasty, "mute"));
                let mut transaction = units.added(&coordinator, "mixed_mute").await;
                let mut commit = Box::pin(units.commit(&mut transaction));
                let mut is_over = false;
                let ended = match lost_after(polls, commit.as_mut()).await {
                    Some(ended) => {
                        is_over = true;
                        ended
                    }
                    None => {
                        silence.is(true);
                        commit.as_mut().await
                    }
                };
                silence.is(false);
                drop(commit);
                let outcome = ended.release();
                drop(transaction);
                let other = Arc::new(Coordinator::new(Arc::clone(&units.runtime), "other"));
                let mut recovery = Recovery::after(other, Duration::ZERO);
                units.recover(&mut recovery, &ways, "mixed_mute").await;
                let values = units.ask("SELECT n FROM mixed_mute").await;
                assert!(
                    values.iter().all(|value| *value == values[0]),
                    "{name} {polls}: {values:?}"
                );
                let is_unknown = |error: &Error| matches!(error.kind(), ErrorKind::Server(told) if told.sqlstate == "08007");
                match &outcome {
                    Ok(_) => expected += 1,
                    Err(error) if is_unknown(error) && values[0] != Value::Int(expected) => {
                        expected += 1
                    }
                    Err(_) => {}
                }
                told[match &outcome {
                    Ok(_) => 0,
                    Err(error) if is_unknown(error) => 1,
                    Err(_) => 2,
                }] += 1;
                assert_eq!(values[0], Value::Int(expected), "{name} {polls}: {outcome:?}");
                if is_over {
                    break;
                }
            }
        }
        assert!(told.iter().all(|count| *count > 0), "{told:?}");
    });
}

/// The same with a unit that has only read: it is asked whether it has written, or commits before the one that has.
#[test]
fn a_silent_unit_that_has_only_read_holds_up_no_commit_for_ever() {
    let _alone = alone();
    block_on(async {
        let Some(mut units) = Units::all("mixed_read").await else { return };
        let direct = units.pools.clone();
        let last = direct.len() - 1;
        for (at, (name, url)) in urls().into_iter().enumerate().take(last) {
            units.pools.clone_from(&direct);
            let silence = units.can_fall_silent(at, (name, &url));
            let hasty: SharedRuntime = Arc::new(Hasty);
            let coordinator = Arc::new(Coordinator::new(hasty, "read"));
            let (read, change) =
                ("SELECT n FROM mixed_read", "UPDATE mixed_read SET n = n + 1 WHERE id = 1");
            let texts: Vec<&str> =
                (0..=last).map(|at| if at == last { change } else { read }).collect();
            let mut transaction = units.ran(&coordinator, &texts).await;
            silence.is(true);
            let outcome = units.commit(&mut transaction).await.release();
            silence.is(false);
            drop(transaction);
            let values = units.ask("SELECT n FROM mixed_read").await;
            let error = outcome.unwrap_err();
            assert!(error.to_string().contains("has not answered in time"), "{name}: {error}");
            assert!(values.iter().all(|value| *value == Value::Int(0)), "{name}: {values:?}");
        }
    });
}

/// It does not tell how old a branch is, and no round waits for its answer: its branches become old all the same.
#[test]
fn the_branches_of_a_unit_that_is_slow_are_ended() {
    let _alone = alone();
    block_on(async {
        let Some(units) = Units::all("mixed_slow").await else { return };
        let (name, url) = urls().swap_remove(1);
        let server = url.split('/').nth(2).unwrap().to_owned();
        let milliseconds = Arc::new(AtomicU64::new(0));
        let port = late(server.clone(), Arc::clone(&milliseconds));
        let slow = connector(name, &url.replace(&server, &format!("127.0.0.1:{port}")));
        let mut ways = units.ways();
        ways[1].1 = slow;
        let (mut reach, mut recovered) = (Reach::default(), 0);
        while recovered == 0 {
            let coordinator = Arc::new(Coordinator::new(Arc::clone(&units.runtime), "slow"));
            let insert = format!("INSERT INTO mixed_slow VALUES ({}, 0)", 2 + reach.tries);
            let mut transaction = units.changed(&coordinator, &insert).await;
            let done = lost_after(reach.polls, units.commit(&mut transaction)).await;
            drop(transaction);
            reach.further(done.is_some(), "no branch is left in doubt anywhere on the way");
            let other = Arc::new(Coordinator::new(Arc::clone(&units.runtime), "other"));
            let mut recovery = Recovery::after(Arc::clone(&other), Duration::from_millis(1500));
            milliseconds.store(0, Ordering::Relaxed);
            recovery.doubts(&ways).await;
            milliseconds.store(1100, Ordering::Relaxed);
            let began = std::time::Instant::now();
            let mut all = Recovery::after(Arc::clone(&coordinator), Duration::ZERO);
            while !all.doubts(&units.ways()).await.is_empty() {
                recovery.round(&ways).await;
                assert!(began.elapsed() < Duration::from_secs(30), "the branch is still there");
            }
            recovered = other.counts().recovered;
        }
    });
}

/// A machine that is lost closes no connection: the units hold on to what it was about to decide. Nobody else's transaction waits for that.
#[test]
fn a_decision_that_is_held_open_holds_up_no_other() {
    let _alone = alone();
    block_on(async {
        let Some(units) = Units::all("mixed_held").await else { return };
        let coordinator = |name: &str| Arc::new(Coordinator::new(Arc::clone(&units.runtime), name));
        let ways = units.ways();
        let mut recovery = Recovery::after(coordinator("looks"), Duration::ZERO);
        // So far on its way, and not a step further, that its branches are prepared and nobody else can decide.
        let (mut held, mut reach) = (Vec::new(), Reach::default());
        loop {
            let insert = format!("INSERT INTO mixed_held VALUES ({}, 0)", 2 + reach.tries);
            let mut transaction = units.changed(&coordinator("held"), &insert).await;
            let done = lost_after(reach.polls, units.commit(&mut transaction)).await;
            reach.further(done.is_some(), "nothing is held open anywhere on the way");
            if done.is_some() {
                continue;
            }
            recovery.round(&ways).await;
            let doubts = recovery.doubts(&ways).await;
            if doubts.iter().any(|doubt| doubt.verdict.is_none()) {
                held.push(transaction);
                if held.len() == 2 {
                    break;
                }
            }
        }
        let is_held = recovery.doubts(&ways).await;
        let open = is_held.iter().find(|doubt| doubt.verdict.is_none()).unwrap();
        for verdict in [Verdict::Commit, Verdict::Abort] {
            let error = recovery.resolve(&ways, &open.global, verdict).await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Server(_)), "{error}");
        }
        let mut reach = Reach::default();
        let ours = loop {
            let insert = format!("INSERT INTO mixed_held VALUES ({}, 0)", 1000 + reach.tries);
            let mut transaction = units.changed(&coordinator("gone"), &insert).await;
            let done = lost_after(reach.polls, units.commit(&mut transaction)).await;
            drop(transaction);
            reach.further(done.is_some(), "no branch is left in doubt anywhere on the way");
            let mut doubts = recovery.doubts(&ways).await;
            doubts.retain(|one| is_held.iter().all(|held| held.global != one.global));
            if let Some(found) = doubts.pop() {
                break found.global;
            }
        };
        let began = std::time::Instant::now();
        while recovery.doubts(&ways).await.iter().any(|doubt| doubt.global == ours) {
            recovery.round(&ways).await;
            assert!(began.elapsed() < Duration::from_secs(8), "it waits for those that are held");
        }
        drop(held);
        while !recovery.doubts(&ways).await.is_empty() {
            recovery.round(&ways).await;
        }
    });
}

/// PostgreSQL lets only the user who prepared a branch end it. Of two ways to one server that tell of it the other is gone then.
#[test]
fn a_branch_that_one_way_may_not_end_is_ended_by_another() {
    let _alone = alone();
    block_on(async {
        let Some(mut units) = Units::all("mixed_weak").await else { return };
        let Some(("pg", url)) = urls().into_iter().next() else {
            eprintln!("skipped: no PostgreSQL");
            return;
        };
        let (_, pg) = units.ways().swap_remove(0);
        let mut aside = Aside::open(pg, Arc::clone(&units.runtime)).await.unwrap();
        let _is_there = aside.run(&["CREATE ROLE weak LOGIN PASSWORD 'test'"]).await;
        aside.run(&["GRANT USAGE ON SCHEMA pando TO weak"]).await.unwrap();
        aside.run(&["GRANT ALL ON ALL TABLES IN SCHEMA pando TO weak"]).await.unwrap();
        let mut ways = units.ways();
        ways.insert(0, ("weak".into(), connector_of("pg", &url, "weak")));
        // Another one decides.
        units.pools.reverse();
        units.ready.reverse();
        let coordinator = |name: &str| Arc::new(Coordinator::new(Arc::clone(&units.runtime), name));
        let mut recovery = Recovery::after(coordinator("weak"), Duration::ZERO);
        let mut other = Recovery::after(coordinator("other"), Duration::ZERO);
        let mut reach = Reach::default();
        loop {
            let insert = format!("INSERT INTO mixed_weak VALUES ({}, 0)", 2 + reach.tries);
            let mut transaction = units.changed(&coordinator("lost"), &insert).await;
            let done = lost_after(reach.polls, units.commit(&mut transaction)).await;
            drop(transaction);
            reach.further(done.is_some(), "no branch is left in doubt on PostgreSQL on the way");
            let doubts = recovery.doubts(&ways).await;
            if doubts.iter().any(|doubt| &*doubt.unit == "weak") {
                break;
            }
            units.recover(&mut other, &units.ways(), "mixed_weak").await;
        }
        recovery.round(&ways).await;
        assert_eq!(recovery.doubts(&ways).await, []);
        units.recover(&mut other, &units.ways(), "mixed_weak").await;
    });
}

#[test]
fn a_unit_that_is_not_the_deciding_one_decides_nothing() {
    let _alone = alone();
    block_on(async {
        let Some(units) = Units::all("mixed_other").await else { return };
        let coordinator = Arc::new(Coordinator::new(Arc::clone(&units.runtime), "other"));
        let id = coordinator.name("another");
        for (name, way) in units.ways() {
            let error = decide(&way, &units.runtime, &id).await.unwrap_err();
            assert!(error.to_string().contains("is another one"), "{name}: {error}");
            let mut aside = Aside::open(way, Arc::clone(&units.runtime)).await.unwrap();
            let query =
                aside.two_phase(|family| Ok(family.ledger().verdict_query(id.as_str()))).unwrap();
            assert_eq!(aside.rows(&query).await.unwrap().len(), 0, "{name} has decided");
        }
    });
}

#[test]
fn a_decision_waits_for_the_disk_whatever_the_session_wants() {
    let _alone = alone();
    block_on(async {
        let Some(units) = Units::all("mixed_disk").await else { return };
        let Some((_, way)) = units.ways().into_iter().find(|(name, _)| &**name == "pg") else {
            eprintln!("skipped: no PostgreSQL");
            return;
        };
        let mut aside = Aside::open(way, Arc::clone(&units.runtime)).await.unwrap();
        for (wanted, held) in [("off", "on"), ("local", "local"), ("on", "on")] {
            let record = aside.two_phase(|family| Ok(family.ledger().record("disk"))).unwrap();
            let set = format!("SET synchronous_commit = {wanted}");
            aside.run(&["BEGIN", &set, &record]).await.unwrap();
            let shown = aside.rows("SHOW synchronous_commit").await.unwrap().concat();
            assert_eq!(shown, [Value::Text(held.to_owned())], "{wanted}");
            let written = "SELECT verdict FROM pando.decision WHERE global = 'disk'";
            assert_eq!(aside.rows(written).await.unwrap().len(), 1, "{wanted}");
            aside.run(&["ROLLBACK"]).await.unwrap();
        }
    });
}

/// Whoever closed the barrier and is lost without his connections being closed keeps nobody from committing for long.
#[test]
fn a_barrier_whose_owner_is_lost_opens_again() {
    let _alone = alone();
    block_on(async {
        let Some(units) = Units::all("mixed_barrier").await else { return };
        let identities =
            units.ready.iter().filter_map(|ready| Some(ready.identity.as_ref()?.to_string()));
        let named = identities.zip(units.ways()).collect();
        let barrier = Arc::new(Barrier::new(Arc::clone(&units.runtime), named));
        // Held to the end, and never heard of again.
        let _pass = barrier.pass().await.unwrap();
        let coordinator = Arc::new(Coordinator::new(Arc::clone(&units.runtime), "barred"));
        let mut transaction = units.added(&coordinator, "mixed_barrier").await;
        let began = std::time::Instant::now();
        units.commit(&mut transaction).await.release().unwrap();
        let took = began.elapsed();
        assert!(took > Duration::from_secs(5), "nothing was closed: {took:?}");
        assert!(took < Duration::from_secs(30), "{took:?}");
    });
}

#[test]
fn what_is_settled_is_forgotten_in_one_round() {
    let _alone = alone();
    block_on(async {
        let Some(units) = Units::all("mixed_settled").await else { return };
        let coordinator = Arc::new(Coordinator::new(Arc::clone(&units.runtime), "settled"));
        let mut all = Vec::new();
        for ((_, way), ready) in units.ways().into_iter().zip(&units.ready) {
            let mut aside = Aside::open(way, Arc::clone(&units.runtime)).await.unwrap();
            let ids: Vec<_> =
                (0..2100).map(|_| coordinator.name(ready.identity.as_ref().unwrap())).collect();
            for ids in ids.chunks(300) {
                let record = |id| aside.two_phase(|family| Ok(family.ledger().record(id))).unwrap();
                let texts: Vec<String> = ids.iter().map(|id| record(id.as_str())).collect();
                aside.run(&texts.iter().map(String::as_str).collect::<Vec<_>>()).await.unwrap();
            }
            ids.iter().for_each(|id| coordinator.settles(id));
            all.push((aside, ids));
        }
        let mut recovery = Recovery::after(Arc::clone(&coordinator), Duration::ZERO);
        for expected in [2100, 0] {
            for (aside, ids) in &mut all {
                let ids: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
                let query =
                    aside.two_phase(|family| Ok(family.ledger().decided_query(&ids))).unwrap();
                assert_eq!(aside.rows(&query).await.unwrap().len(), expected);
            }
            recovery.round(&units.ways()).await;
        }
    });
}
