//! ZooKeeper passes what every repository passes. ZK1_PORT is where it listens; with SERVICES_DIR it is stopped and started, too.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests only")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pando_kernel::runtime::{BoxFuture, SharedRuntime};
use pando_repository::conformance::{self, Relay, Relayed, Script, Server, Stand, Tokio};
use pando_repository::{Change, Error, Key, Lifetime, Prefix, Repository, Result};
use pando_repository_zookeeper::{Options, ZooKeeper};

struct Ensemble {
    servers: String,
    options: Options,
    script: Option<Script>,
    runtime: SharedRuntime,
}

impl Ensemble {
    /// `None`, and a line that says so, without a server.
    fn found(name: &str, runtime: SharedRuntime) -> Option<Self> {
        let Ok(port) = std::env::var("ZK1_PORT") else {
            println!("skipped {name}: ZK1_PORT is not set");
            return None;
        };
        // The second of the two listens nowhere: the other one is found.
        let servers = format!("127.0.0.1:{port},127.0.0.1:1");
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testing/services/server");
        let script = std::env::var("SERVICES_DIR").ok();
        let script = script.map(|folder| Script { program, folder, name: "zk1".into() });
        let namespace = Key::parse(&format!("/test/{name}-{}", std::process::id())).unwrap();
        let mut options = Options::new(&servers, namespace).unwrap();
        options.session_timeout = Duration::from_secs(2);
        options.deadline = Duration::from_secs(4);
        Some(Self { servers: format!("127.0.0.1:{port}"), options, script, runtime })
    }

    fn open(&self) -> Result<ZooKeeper> {
        ZooKeeper::open(self.options.clone(), self.runtime.clone())
    }
}

impl Stand for Ensemble {
    fn instance(&self) -> BoxFuture<'_, Result<Arc<dyn Repository>>> {
        Box::pin(async { Ok(Arc::new(self.open()?) as Arc<dyn Repository>) })
    }

    fn behind_relay(&self) -> BoxFuture<'_, Option<Result<Relayed>>> {
        let relay = Relay::to(self.servers.parse().unwrap()).unwrap();
        let servers = relay.address().to_string();
        let options = Options::new(&servers, self.options.namespace.clone()).unwrap();
        let (session_timeout, deadline) = (self.options.session_timeout, self.options.deadline);
        let options = Options { session_timeout, deadline, ..options };
        let made = ZooKeeper::open(options, self.runtime.clone());
        Box::pin(async { Some(made.map(|made| (Arc::new(made) as Arc<dyn Repository>, relay))) })
    }

    fn server(&self) -> Option<&dyn Server> {
        self.script.as_ref().map(|script| script as &dyn Server)
    }

    fn runtime(&self) -> SharedRuntime {
        self.runtime.clone()
    }
}

fn tokio() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// All of it in one test, as it stops the server.
#[test]
fn zookeeper_is_a_repository() {
    let tokio = tokio();
    let Some(stand) = Ensemble::found("conformance", Tokio::shared(&tokio)) else { return };
    let (mut count, mut failed) = (0, 0);
    let mut tell = |(name, outcome): conformance::Outcome| match outcome {
        Ok(()) => {
            count += 1;
            println!("ok zookeeper/{name}");
        }
        Err(why) => {
            failed += 1;
            println!("FAILED zookeeper/{name}: {why}");
        }
    };
    tokio.block_on(conformance::run(&stand, &mut tell));
    tokio.block_on(only_the_creator_reads_what_a_digest_protects(&stand));
    println!("ok zookeeper/only_the_creator_reads_what_a_digest_protects");
    tokio.block_on(what_other_programs_write_is_told_and_read(&stand));
    println!("ok zookeeper/what_other_programs_write_is_told_and_read");
    assert!(failed == 0 && count >= 16, "{count} held, {failed} failed");
}

async fn only_the_creator_reads_what_a_digest_protects(stand: &Ensemble) {
    let open = |digest: Option<&str>| {
        let mut options = stand.options.clone();
        options.namespace = options.namespace.child("secret").unwrap();
        options.digest = digest.map(str::to_owned);
        ZooKeeper::open(options, stand.runtime.clone()).unwrap()
    };
    let key = Key::parse("/a/b").unwrap();
    let owner = open(Some("pando:one"));
    owner.commit(Change::new().put(&key, "secret")).await.unwrap();
    assert_eq!(owner.read(&Prefix::root()).await.unwrap().entries[&key].value, "secret");
    for stranger in [open(None), open(Some("pando:two"))] {
        let read = stranger.read(&Prefix::root()).await;
        assert!(matches!(read, Err(Error::Refused(_))), "{read:?}");
        let done = stranger.commit(Change::new().put(&key, "other")).await;
        assert!(matches!(done, Err(Error::Refused(_))), "{done:?}");
    }
}

/// A namespace inside another one shows to it as keys like any other, though its changes are made past it.
async fn what_other_programs_write_is_told_and_read(stand: &Ensemble) {
    let outer = stand.open().unwrap();
    let mut options = stand.options.clone();
    options.namespace = options.namespace.child("inner").unwrap();
    let inner = ZooKeeper::open(options, stand.runtime.clone()).unwrap();
    inner.read(&Prefix::root()).await.unwrap();
    let below = Prefix::parse("/inner/k").unwrap();
    outer.read(&below).await.unwrap();
    let mut watch = outer.watch(&below);
    inner.commit(Change::new().put_for_session(&Key::parse("/k").unwrap(), "v")).await.unwrap();
    watch.changed().await.unwrap();
    let view = outer.read(&below).await.unwrap();
    let entry = &view.entries[&Key::parse("/inner/k").unwrap()];
    assert!(entry.value == "v" && entry.lifetime == Lifetime::Session);
}
