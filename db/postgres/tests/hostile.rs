//! The backend against servers that are broken or malicious: the test plays the server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests only"
)]

mod support;

use pando_kernel::runtime::{Address, TlsMode};
use pando_kernel::{Connector, ErrorKind};
use pando_postgres::{Options, PostgresConnector};
use support::stream::pair;
use support::{next, text};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn options() -> Options {
    Options::new("ds_0", Address::Unix("/nowhere".into()), "ann", "secret", "shop")
}

/// With the answer to the statement that has memory kept: an error.
const WELCOME: &[u8] =
    b"R\0\0\0\x08\0\0\0\0K\0\0\0\x0c\0\0\0\x01\0\0\0\x02Z\0\0\0\x05IE\0\0\0\x05\0Z\0\0\0\x05I";

/// What comes of a login when the server says this and leaves.
async fn login(said: &[u8]) -> Result<(), pando_kernel::Error> {
    let (runtime, mut server) = pair();
    server.write_all(said).await.unwrap();
    server.shutdown().await.unwrap();
    PostgresConnector::new(options()).connect(&runtime).await.map(|_| ())
}

#[tokio::test]
async fn a_login_that_breaks_the_protocol_is_an_error() {
    assert!(login(WELCOME).await.is_ok());
    for said in [
        &b""[..],
        b"R\0\0\0\x08\0\0",
        // Longer than any message of a login.
        b"R\x3f\xff\xff\xff",
        b"R\0\0\0\x03",
        b"!\0\0\0\x04",
        // Kerberos.
        b"R\0\0\0\x08\0\0\0\x02",
        // SASL with a mechanism nobody knows.
        b"R\0\0\0\x0b\0\0\0\x0aX\0\0",
        // Ready before anything else.
        b"Z\0\0\0\x05I",
        b"D\0\0\0\x06\0\0",
        // A server's final SCRAM message without an exchange.
        b"R\0\0\0\x0c\0\0\0\x0cv=AA",
    ] {
        assert!(login(said).await.is_err(), "{}", said.escape_ascii());
    }
}

#[tokio::test]
async fn a_refused_login_is_the_servers_own_error() {
    let error = login(b"E\0\0\0\x17SFATAL\0C28P01\0Mno\0\0").await.unwrap_err();
    let ErrorKind::Server(server) = error.kind() else { panic!("{error}") };
    assert_eq!(server.sqlstate, "28P01");
}

/// What comes of a statement when the server answers so and leaves.
async fn ask(said: &[u8]) -> (Vec<String>, bool) {
    let (runtime, mut server) = pair();
    server.write_all(WELCOME).await.unwrap();
    let mut backend = PostgresConnector::new(options()).connect(&runtime).await.unwrap();
    server.write_all(said).await.unwrap();
    server.shutdown().await.unwrap();
    backend.start(text("SELECT 1")).unwrap();
    let mut seen = Vec::new();
    while backend.condition().outstanding > 0 {
        match next(&mut *backend).await {
            Ok(event) => seen.push(format!("{event:?}")),
            Err(error) => seen.push(error.to_string()),
        }
    }
    (seen, backend.condition().usable)
}

#[tokio::test]
async fn an_answer_that_breaks_the_protocol_ends_the_connection_with_one_error() {
    for said in [
        &b""[..],
        b"T\0\0\0\x06\0\x01",
        b"T\0\0\0\x04",
        b"D\x7f\xff\xff\xff",
        b"D\0\0\0\x02",
        b"K\0\0\0\x0c\0\0\0\x01\0\0\0\x02",
        b"W\0\0\0\x07\0\0\0",
        b"s\0\0\0\x04",
        b"Z\0\0\0\x05X",
        b"E\0\0\0\x1dSFATAL\0C57P01\0Mgood-bye\0\0",
    ] {
        let (seen, usable) = ask(said).await;
        assert_eq!(seen.len(), 1, "{}: {seen:?}", said.escape_ascii());
        assert!(!usable, "{}", said.escape_ascii());
    }
}

#[tokio::test]
async fn a_server_that_goes_down_at_the_end_of_a_login_is_heard() {
    let said = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05IE\0\0\0\x1fSFATAL\0C57P01\0Mgoing down\0\0";
    let error = login(said).await.unwrap_err();
    assert!(error.to_string().contains("going down"), "{error}");
}

#[tokio::test]
async fn the_last_words_of_a_server_reach_the_error() {
    let (seen, _) = ask(b"E\0\0\0\x1dSFATAL\0C57P01\0Mgood-bye\0\0").await;
    assert!(seen[0].contains("good-bye"), "{seen:?}");
}

#[tokio::test]
async fn the_password_is_not_sent_to_a_server_that_only_pretends_to_do_tls() {
    let (runtime, mut server) = pair();
    let mut options = options();
    options.address = Address::Tcp("db".into(), 5432);
    options.tls = TlsMode::Require;
    server.write_all(b"N").await.unwrap();
    assert!(PostgresConnector::new(options).connect(&runtime).await.is_err());
    let mut sent = Vec::new();
    server.read_to_end(&mut sent).await.unwrap();
    assert_eq!(sent, b"\0\0\0\x08\x04\xd2\x16\x2f");
}
