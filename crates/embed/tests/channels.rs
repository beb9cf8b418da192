//! Sessions on the threads of their clients, over embedded storage units.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking"
)]

mod support;

use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use pando_embed::{Channel, Embedded, Protocol, Read, open};
use support::{answer, ask, query, shop, startup};

struct Shop {
    engine: Arc<Embedded>,
    _folder: tempfile::TempDir,
}

fn opened() -> Shop {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(shop(folder.path())).unwrap();
    Shop { engine, _folder: folder }
}

impl Shop {
    fn client(&self) -> Channel {
        let channel = self.engine.connect(Protocol::Postgres).unwrap();
        channel.write(&startup(), None).unwrap();
        assert!(answer(&channel).is_empty());
        channel
    }

    fn with_rows(&self) -> Channel {
        let client = self.client();
        for sql in [
            "create table t (id int primary key, v int)",
            "insert into t values (1, 10), (2, 20), (3, 30)",
        ] {
            assert_eq!(ask(&client, sql), [""; 0], "{sql}");
        }
        client
    }
}

#[test]
fn a_session_runs_on_the_thread_of_its_client() {
    let shop = opened();
    let client = shop.with_rows();
    assert_eq!(ask(&client, "select id from t order by id desc"), ["3", "2", "1"]);
    let other = shop.client();
    assert_eq!(shop.engine.sessions().unwrap(), 2);
    ask(&client, "begin");
    ask(&client, "update t set v = 11 where id = 1");
    drop(client);
    assert_eq!(ask(&other, "select v from t where id = 1"), ["10"]);
    assert_eq!(shop.engine.sessions().unwrap(), 1);
}

#[test]
fn nobody_waits_longer_than_he_wants_to_and_the_session_goes_on() {
    let shop = opened();
    let client = shop.client();
    let began = Instant::now();
    let found = client.read(&mut [0; 9], Some(Duration::from_millis(30))).unwrap();
    assert_eq!(found, Read::TimedOut);
    assert!(began.elapsed() >= Duration::from_millis(30));
    assert_eq!(ask(&client, "select 7"), ["7"]);
}

#[test]
fn one_thread_reads_while_another_one_writes_and_a_third_one_closes() {
    let shop = opened();
    let client = Arc::new(shop.client());
    let reader = Arc::clone(&client);
    let reads = thread::spawn(move || answer(&reader));
    // The reader is at the session already, or comes while it is written: both are right.
    client.write(&query("select 7"), None).unwrap();
    assert_eq!(reads.join().unwrap(), ["7"]);
    for _ in 0..50 {
        readers_are_told(&shop);
    }
    client.close();
    assert_eq!(shop.engine.sessions().unwrap(), 0);
}

/// Three of them, of whom one is at the session, where another thread closes the channel.
fn readers_are_told(shop: &Shop) {
    let client = Arc::new(shop.client());
    assert_eq!(client.read(&mut [0; 9], Some(Duration::from_millis(1))).unwrap(), Read::TimedOut);
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let reader = Arc::clone(&client);
            thread::spawn(move || reader.read(&mut [0; 9], None))
        })
        .collect();
    client.close();
    for reader in readers {
        match reader.join().unwrap() {
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::NotConnected),
            found => panic!("{found:?}"),
        }
    }
}

#[test]
fn more_is_written_and_read_than_a_pipe_holds() {
    let shop = opened();
    let client = shop.client();
    let long = "x".repeat(300_000);
    assert_eq!(ask(&client, &format!("select '{long}'")), [long]);
}

#[test]
fn many_threads_have_a_channel_each() {
    let shop = opened();
    drop(shop.with_rows());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let client = shop.client();
                for _ in 0..20 {
                    assert_eq!(ask(&client, "select v from t where id = 2"), ["20"]);
                }
            });
        }
    });
}

#[test]
fn a_socket_is_served_by_the_engine() {
    let shop = opened();
    let mut socket = shop.engine.socket(Protocol::Postgres).unwrap();
    socket.write_all(&startup()).unwrap();
    socket.write_all(&query("select 'from a socket'")).unwrap();
    let mut told = Vec::new();
    while !told.windows(13).any(|part| part == b"from a socket") {
        let mut bytes = [0; 512];
        let count = socket.read(&mut bytes).unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&told));
        told.extend(&bytes[..count]);
    }
    shop.engine.close();
    let mut rest = Vec::new();
    // The end, whether or not the session had more to say.
    drop(socket.read_to_end(&mut rest));
}

#[test]
fn a_configuration_is_opened_once_and_anew_when_it_was_closed() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(shop(folder.path())).unwrap();
    let second = open(shop(folder.path())).unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    let client = first.connect(Protocol::Postgres).unwrap();
    second.close();
    let error = first.connect(Protocol::Postgres).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotConnected);
    drop(client);
    let third = open(shop(folder.path())).unwrap();
    assert!(!Arc::ptr_eq(&first, &third) && third.connect(Protocol::Postgres).is_ok());
}

#[test]
fn what_is_wrong_with_a_configuration_is_told() {
    let text =
        ("shop.yaml".to_owned(), "databaseName: shop\ndataSources:\n  ds_0: {url: 7}\n".to_owned());
    let options = pando_embed::Options { text: Some(text), ..pando_embed::Options::default() };
    let error = open(options).unwrap_err().to_string();
    assert!(error.contains("shop.yaml") && error.contains("ds_0"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drivers_of_a_runtime_have_a_stream() {
    let shop = opened();
    let setting = shop.with_rows();
    drop(setting);
    let channel = shop.engine.connect(Protocol::Postgres).unwrap();
    let mut config = tokio_postgres::Config::new();
    config.user("anybody").password("whatever").dbname("shop");
    let stream = pando_embed::ChannelStream::from(channel);
    let (client, connection) = config.connect_raw(stream, tokio_postgres::NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    let rows = client.query("select v from t where id > 1 order by id", &[]).await.unwrap();
    assert_eq!(rows.len(), 2);
    drop(client);
    connection.await.unwrap().unwrap();
}
