//! Pairs of real servers in replication, brought up for each test where PG1_PORT, MARIADB1_PORT or MYSQL1_PORT says that servers can be had.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests only")]

mod support;

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pando_health::{Board, Probed, Prober, Report, Settings, State, Tell};
use pando_kernel::Connector;
use pando_kernel::route::Place;
use pando_kernel::states::Primary;

use support::{TEST, execute, mysql, port, postgres, run, runtime};

/// Servers of this test alone; gone when it ends.
struct Services {
    folder: PathBuf,
}

impl Services {
    fn up(words: &[&str], options: &str) -> Self {
        // Directly in /tmp: the servers' own users must be able to reach it.
        let name =
            format!("/tmp/pando-health-{}-{}", std::process::id(), words[0].replace('=', ""));
        let services = Self { folder: name.into() };
        let folder = services.folder.to_str().unwrap();
        let none = ["pg=0", "mariadb=0", "mysql=0"];
        let kind = |word: &str| word.split_once('=').unwrap().0.to_owned();
        let none = none.into_iter().filter(|word| !words.iter().any(|own| kind(own) == kind(word)));
        let words: Vec<&str> =
            std::iter::once(folder).chain(words.iter().copied()).chain(none).collect();
        services.script("up", &words, options);
        services
    }

    fn script(&self, name: &str, words: &[&str], options: &str) {
        let scripts =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testing/services");
        let mut command = Command::new(scripts.join(name));
        let output = command.args(words).env("SERVICES_INNODB_OPTIONS", options).output().unwrap();
        assert!(output.status.success(), "{name} {words:?}: {output:?}");
    }

    fn standby(&self, name: &str, from: &str) {
        self.script("standby", &[self.folder.to_str().unwrap(), name, from], "");
    }

    fn kill(&self, name: &str) {
        self.script("server", &[self.folder.to_str().unwrap(), name, "kill"], "");
    }

    fn port(&self, name: &str) -> u16 {
        let text = std::fs::read_to_string(self.folder.join(format!("{name}.env"))).unwrap();
        text.trim().split_once('=').unwrap().1.parse().unwrap()
    }
}

impl Drop for Services {
    fn drop(&mut self) {
        let folder = self.folder.to_str().unwrap();
        self.script("down", &[folder], "");
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// A group of `w` and `r`, and everything that was said of it.
struct Watch {
    board: Arc<Mutex<Board>>,
    log: Arc<Mutex<Vec<String>>>,
    _prober: Prober,
}

fn settings() -> Settings {
    Settings {
        interval: Duration::from_millis(300),
        timeout: Duration::from_millis(1000),
        failures: 2,
        most_lag: Some(Duration::from_secs(3)),
        ..Settings::default()
    }
}

impl Watch {
    fn start(writer: Arc<dyn Connector>, reader: Arc<dyn Connector>) -> Self {
        let members = vec!["w".into(), "r".into()];
        let group = Place { name: "g".into(), members: members.clone() };
        let board = Arc::new(Mutex::new(Board::new(members, vec![group], settings())));
        let log = Arc::new(Mutex::new(Vec::new()));
        let (into, said) = (Arc::clone(&board), Arc::clone(&log));
        let tell: Tell = Arc::new(move |observation| {
            let change = into.lock().unwrap().observe(&observation);
            said.lock().unwrap().extend(change.news.iter().map(ToString::to_string));
        });
        let units = vec![
            Probed { unit: "w".into(), connector: writer },
            Probed { unit: "r".into(), connector: reader },
        ];
        let prober = Prober::start(&runtime(), settings(), units, &tell);
        Self { board, log, _prober: prober }
    }

    fn report(&self, unit: &str) -> Report {
        let rows = self.board.lock().unwrap().report();
        rows.into_iter().find(|row| &*row.unit == unit).unwrap()
    }

    fn primary(&self) -> Option<String> {
        match &self.board.lock().unwrap().states().groups["g"].primary {
            Primary::Unit(unit) => Some(unit.to_string()),
            Primary::Nobody { .. } => None,
        }
    }

    /// Waits until both stand so; how long it took.
    async fn until(&self, writer: State, reader: State) -> Duration {
        let began = Instant::now();
        while (self.report("w").state, self.report("r").state) != (writer, reader) {
            if began.elapsed() > Duration::from_secs(20) {
                let rows = self.board.lock().unwrap().report();
                panic!("not {writer:?} and {reader:?}: {rows:#?}\n{:#?}", self.log.lock().unwrap());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        began.elapsed()
    }

    fn said(&self, text: &str) -> bool {
        self.log.lock().unwrap().iter().any(|line| line.contains(text))
    }
}

/// After the old primary's death: what the new one took over in.
fn soon(took: Duration) {
    let limit = settings().detection() + settings().interval * 2 + Duration::from_secs(1);
    assert!(took < limit, "{took:?} is longer than {limit:?}");
}

#[test]
fn a_promoted_postgres_standby_takes_over() {
    if port("PG1_PORT").is_none() {
        return;
    }
    let services = Services::up(&["pg=1"], "");
    services.standby("pg2", "pg1");
    let (first, second) =
        (postgres(services.port("pg1"), &TEST), postgres(services.port("pg2"), &TEST));
    run(async {
        let watch = Watch::start(Arc::clone(&first), Arc::clone(&second));
        watch.until(State::Writes, State::Reads).await;
        assert_eq!(watch.report("r").lag, Some(Duration::ZERO));
        // Held back, it is seen to be late by where the primary was, though it has replayed all that it has got.
        execute(&second, &["SELECT pg_wal_replay_pause()"]).await;
        execute(&first, &["CREATE TABLE t (id int)"]).await;
        let began = Instant::now();
        while watch.report("r").lag.is_none_or(|lag| lag < Duration::from_secs(1)) {
            assert!(began.elapsed() < Duration::from_secs(10), "{:?}", watch.report("r"));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        execute(&second, &["SELECT pg_wal_replay_resume()"]).await;
        execute(&second, &["SELECT pg_promote()"]).await;
        services.kill("pg1");
        soon(watch.until(State::Down, State::Writes).await);
        assert!(watch.said("storage unit `r` takes the writes of group `g` in place of `w`"));
        services.standby("pg1", "pg2");
        watch.until(State::Reads, State::Writes).await;
        // And back, this time without anybody for a while.
        services.kill("pg2");
        watch.until(State::Reads, State::Down).await;
        assert_eq!(watch.primary(), None);
        execute(&first, &["SELECT pg_promote()"]).await;
        watch.until(State::Writes, State::Down).await;
        assert_eq!(watch.primary().as_deref(), Some("w"));
    });
}

#[test]
fn two_promoted_postgres_servers_are_one_primary_and_a_split() {
    if port("PG1_PORT").is_none() {
        return;
    }
    let services = Services::up(&["pg=2"], "");
    services.standby("pg2", "pg1");
    let (first, second) =
        (postgres(services.port("pg1"), &TEST), postgres(services.port("pg2"), &TEST));
    run(async {
        let watch = Watch::start(first, Arc::clone(&second));
        watch.until(State::Writes, State::Reads).await;
        execute(&second, &["SELECT pg_promote()"]).await;
        watch.until(State::Split, State::Writes).await;
        assert!(watch.said("storage unit `w` claims to be a primary of group `g`"));
    });
}

/// Replication by transaction ids from the first to the second, a promotion as administrators do it, and the first one's death.
fn switch(kind: &str, options: &str, words: &[&str], promote: &[&str]) {
    let services = Services::up(&[&format!("{kind}=2")], options);
    let (one, two) = (format!("{kind}1"), format!("{kind}2"));
    let (first, second) = (mysql(services.port(&one), &TEST), mysql(services.port(&two), &TEST));
    run(async {
        let source = services.port(&one).to_string();
        let words: Vec<String> = words.iter().map(|word| word.replace("{port}", &source)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        execute(&first, &["RESET MASTER", "CREATE TABLE t (id INT)"]).await;
        execute(&second, &words).await;
        let watch = Watch::start(Arc::clone(&first), Arc::clone(&second));
        watch.until(State::Writes, State::Reads).await;
        execute(&first, &["INSERT INTO t VALUES (1)"]).await;
        execute(&second, &["STOP SLAVE"]).await;
        watch.until(State::Writes, State::Late).await;
        execute(&second, &["START SLAVE"]).await;
        watch.until(State::Writes, State::Reads).await;
        let vitals = watch.board.lock().unwrap().unit("r").unwrap().vitals().cloned().unwrap();
        assert!(vitals.was_copy && vitals.position.is_some(), "{vitals:?}");
        services.kill(&one);
        watch.until(State::Down, State::Reads).await;
        assert_eq!(watch.primary(), None);
        execute(&second, promote).await;
        soon(watch.until(State::Down, State::Writes).await);
        assert!(watch.said("storage unit `r` takes the writes of group `g` in place of `w`"));
    });
}

#[test]
fn a_promoted_mariadb_replica_takes_over() {
    if port("MARIADB1_PORT").is_none() {
        return;
    }
    let words = [
        "SET GLOBAL server_id = 2",
        "RESET MASTER",
        "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {port}, MASTER_USER = 'test', \
         MASTER_PASSWORD = 'test', MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1",
        "START SLAVE",
        "SET GLOBAL read_only = 1",
    ];
    let promote = ["STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only = 0"];
    switch("mariadb", "--log-bin=bin --log-slave-updates", &words, &promote);
}

#[test]
fn a_promoted_mysql_replica_takes_over() {
    if port("MYSQL1_PORT").is_none() {
        return;
    }
    let words = [
        "SET GLOBAL server_id = 2",
        "RESET MASTER",
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {port}, SOURCE_USER = 'test', \
         SOURCE_PASSWORD = 'test', SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1, SOURCE_CONNECT_RETRY = 1",
        "START REPLICA",
        "SET GLOBAL super_read_only = 1",
    ];
    let promote = [
        "STOP REPLICA",
        "RESET REPLICA ALL",
        "SET GLOBAL super_read_only = 0",
        "SET GLOBAL read_only = 0",
    ];
    let options = "--log-bin=bin --gtid-mode=ON --enforce-gtid-consistency=ON";
    switch("mysql", options, &words, &promote);
}
