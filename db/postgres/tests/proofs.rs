//! What either end of a connection proves, and what it does not let itself be talked into.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests only"
)]

mod support;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use pando_kernel::runtime::{
    Address, BoxFuture, Runtime, SharedRuntime, Stream, TlsAcceptor, TlsMode,
};
use pando_kernel::session::{Credential, Proof};
use pando_kernel::{Channel, ClientTls, Connector, Result, Secured};
use pando_postgres::auth::scram::{self, Binding, Server, Verifier};
use pando_postgres::codec::backend::Authentication;
use pando_postgres::codec::frame::frame;
use pando_postgres::codec::frontend::{SaslInitial, encode_password, encode_sasl};
use pando_postgres::codec::startup;
use pando_postgres::frontend::Door;
use pando_postgres::{ChannelBinding, Methods, Options, PostgresConnector};
use support::raw::Peer;
use support::script::TestDoor;
use support::stream::pair_over;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

const HASH: &[u8] = &[7; 32];

fn channel(endpoint: Option<&[u8]>) -> Channel {
    Channel { is_secured: true, endpoint: endpoint.map(<[u8]>::to_vec), peer: None }
}

fn options(tls: TlsMode) -> Options {
    let address = Address::Tcp("db".into(), 5432);
    let mut options = Options::new("ds_0", address, "ann", "secret", "shop");
    options.tls = tls;
    options
}

// Towards a server that is none.

/// The server's end, played by the test.
struct Rogue {
    stream: DuplexStream,
    input: BytesMut,
    /// Everything the client has sent after its start-up.
    sent: Vec<u8>,
}

impl Rogue {
    /// Has read the start-up, and answered the request for TLS before it.
    async fn met(stream: DuplexStream, tls: TlsMode) -> Rogue {
        let mut rogue = Rogue { stream, input: BytesMut::new(), sent: Vec::new() };
        if tls != TlsMode::Off {
            rogue.packet().await;
            rogue.stream.write_all(b"S").await.unwrap();
        }
        rogue.packet().await;
        rogue
    }

    async fn packet(&mut self) {
        let length = self.stream.read_u32().await.unwrap() as usize;
        let mut body = vec![0; length - 4];
        self.stream.read_exact(&mut body).await.unwrap();
    }

    async fn say(&mut self, step: Authentication<'_>) {
        let mut out = BytesMut::new();
        step.encode(&mut out);
        self.stream.write_all(&out).await.unwrap();
    }

    async fn offer(&mut self, mechanisms: &[&str]) {
        let mut out = BytesMut::new();
        Authentication::encode_sasl(&mut out, mechanisms);
        self.stream.write_all(&out).await.unwrap();
    }

    /// What the client answers; `None` when it leaves instead.
    async fn hear(&mut self) -> Option<Bytes> {
        loop {
            if let Some((header, body)) = frame(&self.input, 1 << 20).unwrap() {
                let (total, body) = (header.total, Bytes::copy_from_slice(body));
                let taken = self.input.split_to(total);
                self.sent.extend_from_slice(&taken);
                return Some(body);
            }
            if self.stream.read_buf(&mut self.input).await.unwrap() == 0 {
                return None;
            }
        }
    }

    /// As a server that knows this password, up to its last word; gives the client's first one.
    async fn scram(&mut self, password: &str, endpoint: Option<&[u8]>) -> Option<(String, String)> {
        let first = self.hear().await?;
        let initial = SaslInitial::decode(&first).unwrap();
        let verifier = Verifier::of(password, vec![1; 16]);
        let mut server = Server::new(verifier, endpoint.map(<[u8]>::to_vec)).unwrap();
        let data = initial.data.unwrap();
        let reply = server.first(initial.mechanism, data).unwrap();
        self.say(Authentication::SaslContinue(reply.as_bytes())).await;
        let last = self.hear().await?;
        Some((String::from_utf8_lossy(data).into_owned(), server.finish(&last).ok()?))
    }

    async fn welcome(&mut self) {
        let mut out = BytesMut::new();
        Authentication::Ok.encode(&mut out);
        out.extend_from_slice(b"K\0\0\0\x0c\0\0\0\x01\0\0\0\x02Z\0\0\0\x05IZ\0\0\0\x05I");
        self.stream.write_all(&out).await.unwrap();
    }
}

/// What comes of a login at a server that does this, and what the client sends it.
async fn meet(
    options: Options,
    endpoint: Option<&[u8]>,
    act: impl AsyncFnOnce(&mut Rogue),
) -> (Result<()>, Vec<u8>) {
    let tls = options.tls;
    let (runtime, server) = pair_over(channel(endpoint));
    let connector = PostgresConnector::new(options);
    let serve = async {
        let mut rogue = Rogue::met(server, tls).await;
        act(&mut rogue).await;
        // It has no more to say, and hears what comes until the client leaves.
        rogue.stream.shutdown().await.unwrap();
        while rogue.hear().await.is_some() {}
        rogue.sent
    };
    let connect = async { connector.connect(&runtime).await.map(drop) };
    tokio::join!(connect, serve)
}

fn says(result: &Result<()>, expected: &str) {
    let error = result.as_ref().expect_err("refused").to_string();
    assert!(error.contains(expected), "{error}");
}

fn has_password(sent: &[u8]) -> bool {
    sent.windows(6).any(|bytes| bytes == b"secret")
}

#[tokio::test]
async fn a_password_in_clear_only_goes_over_tls_or_where_it_is_allowed_by_name() {
    let ask = async |rogue: &mut Rogue| {
        rogue.say(Authentication::Cleartext).await;
        if rogue.hear().await.is_some() {
            rogue.welcome().await;
        }
    };
    let (done, sent) = meet(options(TlsMode::Off), None, ask).await;
    says(&done, "without TLS");
    assert_eq!(sent, b"");
    let (done, sent) = meet(options(TlsMode::Require), None, ask).await;
    assert!(done.is_ok() && has_password(&sent));
    let mut allowed = options(TlsMode::Off);
    allowed.methods.readable_password = true;
    let (done, sent) = meet(allowed, None, ask).await;
    assert!(done.is_ok() && has_password(&sent));
    let mut forbidden = options(TlsMode::Require);
    forbidden.methods.password = false;
    let (done, sent) = meet(forbidden, None, ask).await;
    says(&done, "`requireAuth`");
    assert_eq!(sent, b"");
    // What TLS was asked for is not there.
    let mut prefer = options(TlsMode::Prefer);
    prefer.address = Address::Tcp("db".into(), 5432);
    let (runtime, mut server) = pair_over(Channel::default());
    server.write_all(b"NR\0\0\0\x08\0\0\0\x03").await.unwrap();
    says(&PostgresConnector::new(prefer).connect(&runtime).await.map(drop), "without TLS");
}

#[tokio::test]
async fn what_is_not_named_is_not_answered() {
    type Ask = Authentication<'static>;
    let only = |methods: Methods| {
        let mut options = options(TlsMode::Off);
        options.methods = methods;
        options
    };
    let none = Methods {
        password: false,
        readable_password: false,
        md5: false,
        scram: false,
        nothing: false,
    };
    for (methods, ask) in [
        (Methods { scram: true, ..none }, Ask::Md5(*b"salt")),
        (Methods { scram: true, ..none }, Ask::Cleartext),
        (Methods { scram: true, ..none }, Ask::Ok),
        (Methods { md5: true, ..none }, Ask::Ok),
    ] {
        let (done, sent) = meet(only(methods), None, async |rogue| rogue.say(ask).await).await;
        says(&done, "`requireAuth`");
        assert_eq!(sent, b"");
    }
    let offer = async |rogue: &mut Rogue| rogue.offer(&[scram::MECHANISM]).await;
    let (done, sent) = meet(only(Methods { md5: true, ..none }), None, offer).await;
    says(&done, "`requireAuth`");
    assert_eq!(sent, b"");
}

/// To a server that asks for so many iterations.
async fn iterations(count: &str) -> (Result<()>, Vec<u8>) {
    meet(options(TlsMode::Off), None, async |rogue| {
        rogue.offer(&[scram::MECHANISM]).await;
        let first = rogue.hear().await.unwrap();
        let data = SaslInitial::decode(&first).unwrap().data.unwrap().to_vec();
        let nonce = String::from_utf8(data).unwrap();
        let nonce = nonce.split("r=").nth(1).unwrap().to_owned();
        let challenge = format!("r={nonce}x,s=AAAA,i={count}");
        rogue.say(Authentication::SaslContinue(challenge.as_bytes())).await;
    })
    .await
}

#[tokio::test]
async fn too_few_iterations_and_too_many_get_no_proof() {
    let began = std::time::Instant::now();
    for (count, expected) in [
        ("1", "4096"),
        ("4095", "4096"),
        ("0", "4096"),
        ("1000001", "1000000"),
        ("2147483648", "1000000"),
        ("99999999999", "too large"),
    ] {
        let (done, sent) = iterations(count).await;
        says(&done, expected);
        // Its first message, and no other.
        assert_eq!(sent.len(), 1 + Bytes::copy_from_slice(&sent[1..5]).get_u32() as usize);
        assert!(!sent.windows(3).any(|bytes| bytes == b",p="));
    }
    // 2^31 iterations would take half an hour.
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn a_server_that_does_not_know_the_password_is_not_believed() {
    let (done, _) = meet(options(TlsMode::Off), None, async |rogue| {
        rogue.offer(&[scram::MECHANISM]).await;
        // It cannot check the proof, and says that all is well.
        assert!(rogue.scram("guess", None).await.is_none());
        rogue
            .say(Authentication::SaslFinal(b"v=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="))
            .await;
        rogue.welcome().await;
    })
    .await;
    says(&done, "the secret is wrong");
    // Or leaves its own proof out.
    let (done, _) = meet(options(TlsMode::Off), None, async |rogue| {
        rogue.offer(&[scram::MECHANISM]).await;
        assert!(rogue.scram("guess", None).await.is_none());
        rogue.welcome().await;
    })
    .await;
    assert!(done.is_err());
}

#[tokio::test]
async fn after_one_answer_no_weaker_one_is_given() {
    for tls in [TlsMode::Off, TlsMode::Require] {
        let (done, sent) = meet(options(tls), None, async |rogue| {
            rogue.offer(&[scram::MECHANISM]).await;
            let (_, last) = rogue.scram("secret", None).await.unwrap();
            rogue.say(Authentication::SaslFinal(last.as_bytes())).await;
            rogue.say(Authentication::Cleartext).await;
        })
        .await;
        assert!(done.is_err() && !has_password(&sent));
    }
}

/// A login at an honest server that offers these mechanisms; gives the client's first word too.
async fn bind(
    binding: ChannelBinding,
    (ours, theirs): (Option<&[u8]>, Option<&[u8]>),
    offered: &[&str],
) -> (Result<()>, String) {
    let mut options = options(TlsMode::Require);
    options.binding = binding;
    let mut first = String::new();
    let (done, _) = meet(options, ours, async |rogue| {
        rogue.offer(offered).await;
        let Some((data, last)) = rogue.scram("secret", theirs).await else { return };
        first = data;
        rogue.say(Authentication::SaslFinal(last.as_bytes())).await;
        rogue.welcome().await;
    })
    .await;
    let end = first.rfind(",,").map_or(0, |at| at);
    (done, first[..end].to_owned())
}

#[tokio::test]
async fn a_login_is_bound_where_the_server_offers_it_and_says_so_where_not() {
    use ChannelBinding::{Disable, Prefer, Require};
    let (both, plain) = (&[scram::MECHANISM_PLUS, scram::MECHANISM], &[scram::MECHANISM]);
    let same = (Some(HASH), Some(HASH));
    for binding in [Prefer, Require] {
        let (done, first) = bind(binding, same, both).await;
        assert!(done.is_ok() && first == "p=tls-server-end-point", "{first}");
        // Whoever stands in between has another certificate.
        let (done, _) = bind(binding, (Some(&[8; 32]), Some(HASH)), both).await;
        assert!(done.is_err());
    }
    let (done, first) = bind(Prefer, (Some(HASH), None), plain).await;
    assert!(done.is_ok() && first == "y", "{first}");
    let (done, first) = bind(Disable, same, both).await;
    assert!(done.is_ok() && first == "n", "{first}");
    let (done, first) = bind(Prefer, (None, Some(HASH)), both).await;
    assert!(done.is_ok() && first == "n", "{first}");
    let (done, _) = bind(Require, (Some(HASH), None), plain).await;
    says(&done, "the server does not offer it");
    let (done, _) = bind(Require, (None, Some(HASH)), both).await;
    says(&done, "no hash");
    let (done, _) = bind(Disable, same, &[scram::MECHANISM_PLUS]).await;
    says(&done, "no SASL mechanism");
}

#[tokio::test]
async fn required_binding_is_not_given_up_for_another_method() {
    for (tls, ask) in [
        (TlsMode::Require, Authentication::Cleartext),
        (TlsMode::Require, Authentication::Md5(*b"salt")),
        (TlsMode::Require, Authentication::Ok),
        (TlsMode::Off, Authentication::Cleartext),
        (TlsMode::Off, Authentication::Ok),
    ] {
        let mut options = options(tls);
        options.binding = ChannelBinding::Require;
        let (done, sent) = meet(options, Some(HASH), async |rogue| rogue.say(ask).await).await;
        says(&done, "`channelBinding`");
        assert_eq!(sent, b"");
    }
    let mut plain = options(TlsMode::Off);
    plain.binding = ChannelBinding::Require;
    let offer = async |rogue: &mut Rogue| rogue.offer(&[scram::MECHANISM]).await;
    says(&meet(plain, None, offer).await.0, "no TLS");
}

// At the door.

/// TLS that changes nothing and tells this.
#[derive(Debug)]
struct Told(Channel);

impl TlsAcceptor for Told {
    fn accept(&self, stream: Box<dyn Stream>) -> BoxFuture<'static, io::Result<Secured>> {
        let channel = self.0.clone();
        Box::pin(async { Ok(Secured { stream, channel }) })
    }
}

fn door(channel: Channel) -> Arc<TestDoor> {
    let mut door = TestDoor::new();
    door.settings.tls = Some(Arc::new(Told(channel)));
    let given = Credential { proof: Proof::Given, method: "CERTIFICATE".into() };
    door.users.insert("certified".into(), given);
    Arc::new(door)
}

/// Connections that lead to a door.
#[derive(Debug)]
struct Inside(Arc<TestDoor>, Channel);

impl Runtime for Inside {
    fn connect<'a>(&'a self, _: &'a Address) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let door = Door::new(Arc::clone(&self.0));
        tokio::spawn(async move { door.serve(Box::new(theirs), "192.0.2.7".into()).await });
        Box::pin(async { Ok(Box::new(ours) as Box<dyn Stream>) })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        tokio::spawn(task);
    }

    fn secure<'a>(
        &'a self,
        stream: Box<dyn Stream>,
        _: &'a str,
        _: &'a ClientTls,
    ) -> BoxFuture<'a, io::Result<Secured>> {
        let channel = self.1.clone();
        Box::pin(async { Ok(Secured { stream, channel }) })
    }
}

async fn enter(options: Options, ours: Option<&[u8]>, theirs: Option<&[u8]>) -> Result<()> {
    let runtime: SharedRuntime = Arc::new(Inside(door(channel(theirs)), channel(ours)));
    PostgresConnector::new(options).connect(&runtime).await.map(drop)
}

#[tokio::test]
async fn the_door_binds_logins_to_its_certificate() {
    let asks = |binding| {
        let mut options = options(TlsMode::Require);
        options.binding = binding;
        options
    };
    use ChannelBinding::{Disable, Prefer, Require};
    for (binding, ours, theirs, expected) in [
        (Require, Some(HASH), Some(HASH), true),
        (Prefer, Some(HASH), Some(HASH), true),
        (Disable, Some(HASH), Some(HASH), true),
        (Prefer, Some(&[8; 32][..]), Some(HASH), false),
        (Disable, Some(&[8; 32][..]), Some(HASH), true),
        // A certificate without a hash: nothing is offered.
        (Prefer, Some(HASH), None, true),
        (Require, Some(HASH), None, false),
    ] {
        let entered = enter(asks(binding), ours, theirs).await;
        assert_eq!(entered.is_ok(), expected, "{binding:?} {ours:?} {theirs:?} {entered:?}");
    }
    let mut plain = asks(Prefer);
    plain.tls = TlsMode::Off;
    assert!(enter(plain, None, Some(HASH)).await.is_ok());
}

/// A client over TLS that has sent its start-up.
async fn secured(door: &Arc<TestDoor>, user: &str) -> Peer {
    let mut peer = Peer::connect(door);
    let mut out = BytesMut::new();
    startup::encode_ssl(&mut out);
    peer.send(&out).await;
    assert_eq!(peer.byte().await, b'S');
    out.clear();
    startup::encode(&mut out, &[("user", user)]);
    peer.send(&out).await;
    peer
}

#[tokio::test]
async fn a_client_from_whom_the_offer_was_kept_is_refused() {
    let door = door(channel(Some(HASH)));
    for (mechanism, binding) in [
        (scram::MECHANISM, Binding::NotOffered),
        (scram::MECHANISM_PLUS, Binding::None),
        (scram::MECHANISM, Binding::EndPoint(HASH.to_vec())),
        ("SCRAM-SHA-1", Binding::None),
    ] {
        let mut peer = secured(&door, "ann").await;
        let (_, offer) = peer.message().await.unwrap();
        assert_eq!(&offer[4..], b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0");
        let client = scram::Client::new("secret", binding).unwrap();
        let mut out = BytesMut::new();
        let first = client.first();
        SaslInitial { mechanism, data: Some(first.as_bytes()) }.encode(&mut out);
        peer.send(&out).await;
        let rest = peer.rest().await;
        assert!(rest.len() == 1 && rest[0].starts_with("E FATAL 08P01"), "{rest:?}");
    }
}

#[tokio::test]
async fn nothing_is_offered_to_a_client_without_tls() {
    let mut peer = Peer::connect(&door(channel(Some(HASH))));
    let mut out = BytesMut::new();
    startup::encode(&mut out, &[("user", "ann")]);
    peer.send(&out).await;
    let (_, offer) = peer.message().await.unwrap();
    assert_eq!(&offer[4..], b"SCRAM-SHA-256\0\0");
}

#[tokio::test]
async fn a_certificate_that_is_the_proof_lets_in_without_a_question() {
    let mut peer = secured(&door(channel(None)), "certified").await;
    assert_eq!(peer.until("Z").await[0], "R ok");
}

/// How a client of this name with a wrong password fares, up to the name.
async fn fails(door: TestDoor, user: &str) -> Vec<(u8, usize)> {
    let mut peer = secured(&Arc::new(door), user).await;
    let mut seen = Vec::new();
    while let Some((tag, body)) = peer.message().await {
        seen.push((tag, body.len()));
        let mut out = BytesMut::new();
        match body.get(3) {
            Some(3 | 5) if tag == b'R' => encode_password(&mut out, b"wrong"),
            Some(10) if tag == b'R' => {
                let first = b"n,,n=,r=abcdefgh";
                SaslInitial { mechanism: scram::MECHANISM, data: Some(first) }.encode(&mut out);
            }
            Some(11) if tag == b'R' => {
                let nonce = String::from_utf8_lossy(&body[4..]).into_owned();
                let nonce = nonce.split(',').next().unwrap().to_owned();
                let proof = "A".repeat(43) + "=";
                encode_sasl(&mut out, format!("c=biws,{nonce},p={proof}").as_bytes());
            }
            _ => {}
        }
        if !out.is_empty() {
            peer.send(&out).await;
        }
    }
    seen
}

#[tokio::test]
async fn who_is_unknown_is_asked_as_who_is_known() {
    for method in ["", "MD5", "PASSWORD", "TRUST", "CERTIFICATE"] {
        let made = || {
            let mut door = TestDoor::new();
            door.settings.tls = Some(Arc::new(Told(channel(Some(HASH)))));
            // "TRUST" lets in whoever is known; nobody is not.
            let own = if method == "TRUST" { "" } else { method };
            door.users.insert("somebody".into(), Credential::of_password("secret", own));
            door.users.insert("anybody1".into(), Credential::of_nobody(method));
            door
        };
        let (known, unknown) = (fails(made(), "somebody").await, fails(made(), "anybody1").await);
        assert_eq!(known, unknown, "{method}");
        assert_eq!(known.last().map(|(tag, _)| *tag), Some(b'E'), "{method}");
    }
}
