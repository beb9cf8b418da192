//! A process that commits is killed at random instants; what it left must be the state before or after its last change.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests only")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pando_repository::conformance::Tokio;
use pando_repository::embedded::{Options, Store};
use pando_repository::{Change, Key, Prefix, Repository};

/// Set in the child: the folder it commits in.
const CHILD: &str = "PANDO_REPOSITORY_KILL_TEST";
const KILLS: u64 = 60;

fn tokio() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

fn key(path: &str) -> Key {
    Key::parse(path).unwrap()
}

/// Compacts every few changes, so that kills meet compactions, too.
fn open(folder: &Path, tokio: &tokio::runtime::Runtime) -> Store {
    let options = Options { compact_after: 4096, ..Options::default() };
    Store::open(folder, Tokio::shared(tokio), options).unwrap()
}

/// The number in the keys that every change writes together: of different lengths, one of them made and deleted in turns.
fn state(repository: &dyn Repository, tokio: &tokio::runtime::Runtime) -> u64 {
    let view = tokio.block_on(repository.read(&Prefix::root())).unwrap();
    let text = |path: &str| {
        let entry = view.entries.get(&key(path))?;
        Some(String::from_utf8(entry.value.to_vec()).unwrap())
    };
    let Some(a) = text("/a") else {
        assert!(view.entries.is_empty(), "a part of the first change: {view:?}");
        return 0;
    };
    let number: u64 = a.parse().unwrap();
    let long = text("/b/long").unwrap();
    assert_eq!(long.split(' ').next(), Some(a.as_str()), "half a change");
    assert_eq!(long.len(), length(number, &a), "half a value");
    assert_eq!(text("/odd"), (number % 2 == 1).then_some(a), "half a change");
    number
}

fn length(number: u64, text: &str) -> usize {
    text.len() + 1 + (number % 700) as usize
}

fn change(number: u64) -> Change {
    let text = number.to_string();
    let mut long = format!("{text} ");
    long.extend(std::iter::repeat_n('x', length(number, &text) - long.len()));
    let change = Change::new().put(&key("/a"), text.clone()).put(&key("/b/long"), long);
    if number % 2 == 1 { change.put(&key("/odd"), text) } else { change.delete(&key("/odd")) }
}

fn child(folder: &Path) {
    let tokio = tokio();
    let repository = open(folder, &tokio).instance();
    let mut out = std::io::stdout().lock();
    for number in state(&*repository, &tokio) + 1.. {
        tokio.block_on(repository.commit(change(number))).unwrap();
        // The harness writes lines of its own.
        writeln!(out, "stored {number}").unwrap();
        out.flush().unwrap();
    }
}

#[test]
fn a_process_killed_at_any_instant_leaves_the_state_before_or_after_its_last_change() {
    if let Ok(folder) = std::env::var(CHILD) {
        return child(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let tokio = tokio();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    let (mut last, mut advanced) = (0, 0);
    for _ in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--nocapture", "--test-threads=1"])
            .env(CHILD, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut stored = |last: &mut u64| {
            let number = lines.by_ref().find_map(|line| {
                let line = line.unwrap();
                Some(line.rsplit_once("stored ")?.1.parse().unwrap())
            });
            *last = number.unwrap_or(*last);
            number.is_some()
        };
        for _ in 0..random(12) {
            assert!(stored(&mut last), "the child ended by itself");
        }
        let instant = Instant::now() + Duration::from_micros(random(4000));
        while Instant::now() < instant {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // What was said before the kill and not read yet.
        while stored(&mut last) {}
        let repository = open(folder.path(), &tokio).instance();
        let found = state(&*repository, &tokio);
        assert!(found == last || found == last + 1, "{found} after {last} was told to be stored");
        advanced += u64::from(found > 0);
        last = found;
    }
    assert!(advanced > KILLS / 2 && last > KILLS, "the child did not get to do anything: {last}");
}
