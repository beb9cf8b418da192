//! How clients get in at the door, and how not.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests only"
)]

mod support;

use std::sync::Arc;

use bytes::BytesMut;
use pando_postgres::auth::{md5, scram};
use pando_postgres::codec::frontend::{SaslInitial, encode_password, encode_sasl};
use pando_postgres::codec::startup::{self, Cancel};
use support::raw::Peer;
use support::script::{TestDoor, door};

async fn start(door: &Arc<TestDoor>, parameters: &[(&str, &str)]) -> Peer {
    let mut peer = Peer::connect(door);
    let mut out = BytesMut::new();
    startup::encode(&mut out, parameters);
    peer.send(&out).await;
    peer
}

#[tokio::test]
async fn a_client_is_greeted_with_settings_and_its_key() {
    let door = door();
    let mut peer = start(
        &door,
        &[("user", "free"), ("TimeZone", "Asia/Tokyo"), ("options", "-c search_path=s")],
    )
    .await;
    let lines = peer.until("Z").await;
    assert_eq!(lines[0], "R ok");
    assert!(lines.contains(&"S TimeZone=Asia/Tokyo".to_owned()), "{lines:?}");
    assert!(lines.contains(&"S integer_datetimes=on".to_owned()));
    assert!(lines.contains(&"K 7 [1, 2, 3, 4]".to_owned()));
    let login = door.seen.lock().unwrap().logins[0].clone();
    assert_eq!((login.user.as_str(), login.database.as_deref()), ("free", Some("free")));
    let expected = [("search_path", "s"), ("TimeZone", "Asia/Tokyo")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(login.variables, expected);
    assert_eq!(login.host, "192.0.2.7");
}

#[tokio::test]
async fn scram_lets_in_who_knows_the_password() {
    let door = door();
    for (user, password, right) in
        [("ann", "secret", true), ("ann", "wrong", false), ("nobody", "secret", false)]
    {
        let mut peer = start(&door, &[("user", user)]).await;
        let (tag, _) = peer.message().await.unwrap();
        assert_eq!(tag, b'R');
        let client = scram::Client::new(password, scram::Binding::None).unwrap();
        let mut out = BytesMut::new();
        let first = client.first();
        SaslInitial { mechanism: scram::MECHANISM, data: Some(first.as_bytes()) }.encode(&mut out);
        peer.send(&out).await;
        let (_, body) = peer.message().await.unwrap();
        let (proof, proved) = client.challenge(&body[4..]).unwrap().prove();
        out.clear();
        encode_sasl(&mut out, proof.as_bytes());
        peer.send(&out).await;
        if right {
            let (_, body) = peer.message().await.unwrap();
            proved.check(&body[4..]).unwrap();
            assert_eq!(peer.until("Z").await[0], "R ok");
        } else {
            let expected =
                format!("E FATAL 28P01 password authentication failed for user \"{user}\"");
            assert_eq!(peer.rest().await, [expected]);
        }
    }
}

#[tokio::test]
async fn md5_lets_in_who_knows_the_password() {
    for (password, right) in [("secret", true), ("wrong", false)] {
        let mut peer = start(&door(), &[("user", "mad")]).await;
        let (_, body) = peer.message().await.unwrap();
        let salt: [u8; 4] = body[4..8].try_into().unwrap();
        let mut out = BytesMut::new();
        encode_password(&mut out, md5::answer("mad", password, salt).as_bytes());
        peer.send(&out).await;
        let first = peer.next().await.unwrap();
        assert_eq!(first == "R ok", right, "{first}");
    }
}

#[tokio::test]
async fn wishes_that_cannot_be_met_are_refused_and_the_login_goes_on() {
    let door = door();
    let mut peer = Peer::connect(&door);
    let mut out = BytesMut::new();
    startup::encode_gssenc(&mut out);
    peer.send(&out).await;
    assert_eq!(peer.byte().await, b'N');
    out.clear();
    startup::encode_ssl(&mut out);
    peer.send(&out).await;
    assert_eq!(peer.byte().await, b'N');
    out.clear();
    startup::encode(&mut out, &[("user", "free")]);
    peer.send(&out).await;
    assert_eq!(peer.until("Z").await[0], "R ok");
}

#[tokio::test]
async fn a_newer_minor_version_and_unknown_options_are_talked_down() {
    let door = door();
    let mut peer = Peer::connect(&door);
    peer.send(b"\0\0\0\x1d\0\x03\0\x02user\0free\0_pq_.x\0on\0\0").await;
    let lines = peer.until("Z").await;
    assert_eq!(lines[..2], ["v [\"_pq_.x\"]", "R ok"]);
}

#[tokio::test]
async fn bad_start_up_packets_end_with_the_right_code() {
    for (packet, code) in [
        (&b"\0\0\0\x08\0\x02\0\0"[..], "0A000"),
        (b"\0\0\0\x09\0\x03\0\0\0", "28000"),
        (b"\0\0\0\x0e\0\x03\0\0user\0\0", "08P01"),
    ] {
        let mut peer = Peer::connect(&door());
        peer.send(packet).await;
        let lines = peer.rest().await;
        assert!(lines.len() == 1 && lines[0].starts_with(&format!("E FATAL {code}")), "{lines:?}");
    }
    // What is no such packet by its length gets no answer: a Terminate, or another protocol.
    for packet in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"\0\0\0\x04", b"X\0\0\0\x04"] {
        let mut peer = Peer::connect(&door());
        peer.send(packet).await;
        assert_eq!(peer.rest().await, Vec::<String>::new());
    }
    for (pairs, code) in [
        (&[("user", "free"), ("database", "nowhere")][..], "3D000"),
        (&[("user", "free"), ("replication", "database")], "0A000"),
        (&[("user", "free"), ("options", "-x")], "22023"),
    ] {
        let mut peer = start(&door(), pairs).await;
        let last = peer.rest().await.pop().unwrap();
        assert!(last.starts_with(&format!("E FATAL {code}")), "{last}");
    }
}

#[tokio::test]
async fn a_cancel_request_reaches_the_doorway_and_gets_no_answer() {
    let door = door();
    let mut peer = Peer::connect(&door);
    let mut out = BytesMut::new();
    startup::encode_cancel(&mut out, Cancel { process: 7, key: &[1, 2, 3, 4] });
    peer.send(&out).await;
    assert!(peer.rest().await.is_empty());
    let cancelled = door.seen.lock().unwrap().cancelled.clone();
    assert_eq!((cancelled[0].id, cancelled[0].secret), (7, 0x0102_0304));
}

#[tokio::test(start_paused = true)]
async fn a_login_that_takes_too_long_is_closed() {
    let mut peer = start(&door(), &[("user", "ann")]).await;
    let (tag, _) = peer.message().await.unwrap();
    assert_eq!(tag, b'R');
    assert!(peer.rest().await.is_empty());
}
