//! ZooKeeper passes what every repository passes. ZK1_PORT is where it listens; with SERVICES_DIR it is stopped and started, too.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests only")]

use std::sync::Arc;
use std::time::Duration;

use pando_repository::conformance::{self, Kind, Remote, Tokio};
use pando_repository::{Change, Error, Key, Lifetime, Prefix, Repository};
use pando_repository_zookeeper::{Options, ZooKeeper};
use tokio::runtime::Builder;

const KIND: Kind<Options> = Kind {
    service: "zk1",
    options: |servers, namespace| {
        let options = Options::new(servers, namespace).unwrap();
        let (session_timeout, deadline) = (Duration::from_secs(2), Duration::from_secs(4));
        Options { session_timeout, deadline, ..options }
    },
    open: |options, runtime| Ok(Arc::new(ZooKeeper::open(options, runtime)?)),
};

/// All of it in one test, as it stops the server.
#[test]
fn zookeeper_is_a_repository() {
    let tokio = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let Some(stand) = Remote::found(KIND, "conformance", Tokio::shared(&tokio)) else {
        println!("skipped conformance: ZK1_PORT is not set");
        return;
    };
    let stand = stand.unwrap();
    let say = &mut |line| println!("{line}");
    let tally = tokio.block_on(conformance::report(&stand, "zookeeper", say));
    tokio.block_on(only_the_creator_reads_what_a_digest_protects(&stand));
    println!("ok zookeeper/only_the_creator_reads_what_a_digest_protects");
    tokio.block_on(what_other_programs_write_is_told_and_read(&stand));
    println!("ok zookeeper/what_other_programs_write_is_told_and_read");
    assert!(tally.failed == 0 && tally.held >= 16, "{tally:?}");
}

async fn only_the_creator_reads_what_a_digest_protects(stand: &Remote<Options>) {
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
async fn what_other_programs_write_is_told_and_read(stand: &Remote<Options>) {
    let outer = ZooKeeper::open(stand.options.clone(), stand.runtime.clone()).unwrap();
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
