//! etcd passes what every repository passes. ETCD1_PORT is where it listens; with SERVICES_DIR it is stopped and started, too.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests only")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pando_kernel::runtime::{BoxFuture, SharedRuntime};
use pando_repository::conformance::{self, Relay, Relayed, Script, Server, Stand, Tokio};
use pando_repository::{Change, Error, Key, Prefix, Repository, Result};
use pando_repository_etcd::{Credentials, Etcd, Options};

struct Cluster {
    endpoints: String,
    options: Options,
    script: Option<Script>,
    runtime: SharedRuntime,
}

impl Cluster {
    /// `None`, and a line that says so, without a server.
    fn found(name: &str, runtime: SharedRuntime) -> Option<Self> {
        let Ok(port) = std::env::var("ETCD1_PORT") else {
            println!("skipped {name}: ETCD1_PORT is not set");
            return None;
        };
        // The second of the two listens nowhere: the other one is found.
        let endpoints = format!("127.0.0.1:{port},127.0.0.1:1");
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testing/services/server");
        let script = std::env::var("SERVICES_DIR").ok();
        let script = script.map(|folder| Script { program, folder, name: "etcd1".into() });
        let namespace = Key::parse(&format!("/test/{name}-{}", std::process::id())).unwrap();
        let mut options = Options::new(&endpoints, namespace).unwrap();
        options.session_timeout = Duration::from_secs(2);
        options.deadline = Duration::from_secs(4);
        Some(Self { endpoints: format!("127.0.0.1:{port}"), options, script, runtime })
    }

    fn open(&self) -> Result<Etcd> {
        Etcd::open(self.options.clone(), self.runtime.clone())
    }
}

impl Stand for Cluster {
    fn instance(&self) -> BoxFuture<'_, Result<Arc<dyn Repository>>> {
        Box::pin(async { Ok(Arc::new(self.open()?) as Arc<dyn Repository>) })
    }

    fn behind_relay(&self) -> BoxFuture<'_, Option<Result<Relayed>>> {
        let relay = Relay::to(self.endpoints.parse().unwrap()).unwrap();
        let endpoints = relay.address().to_string();
        let options = Options::new(&endpoints, self.options.namespace.clone()).unwrap();
        let (session_timeout, deadline) = (self.options.session_timeout, self.options.deadline);
        let options = Options { session_timeout, deadline, ..options };
        let made = Etcd::open(options, self.runtime.clone());
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
fn etcd_is_a_repository() {
    let tokio = tokio();
    let Some(stand) = Cluster::found("conformance", Tokio::shared(&tokio)) else { return };
    let (mut count, mut failed) = (0, 0);
    let mut tell = |(name, outcome): conformance::Outcome| match outcome {
        Ok(()) => {
            count += 1;
            println!("ok etcd/{name}");
        }
        Err(why) => {
            failed += 1;
            println!("FAILED etcd/{name}: {why}");
        }
    };
    tokio.block_on(conformance::run(&stand, &mut tell));
    tokio.block_on(a_password_is_asked_for_and_its_token_renewed(&stand));
    println!("ok etcd/a_password_is_asked_for_and_its_token_renewed");
    assert!(failed == 0 && count >= 16, "{count} held, {failed} failed");
}

/// Root's password is set and taken away again through the gateway itself, with nothing of ours but the last two steps.
async fn a_password_is_asked_for_and_its_token_renewed(stand: &Cluster) {
    let post = |path: &str, token: &str, body: &str| {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect(&stand.endpoints).unwrap();
        let length = body.len();
        let login = match token {
            "" => String::new(),
            token => format!("authorization: {token}\r\n"),
        };
        write!(stream, "POST {path} HTTP/1.0\r\ncontent-length: {length}\r\n{login}\r\n{body}")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains(" 200 OK"), "{path}: {answer}");
        answer
    };
    post("/v3/auth/user/add", "", r#"{"name":"root","password":"secret"}"#);
    post("/v3/auth/role/add", "", r#"{"name":"root"}"#);
    post("/v3/auth/user/grant", "", r#"{"user":"root","role":"root"}"#);
    let open = |password: Option<&str>| {
        let credentials =
            password.map(|password| Credentials { user: "root".into(), password: password.into() });
        let options = Options { credentials, ..stand.options.clone() };
        Etcd::open(options, stand.runtime.clone()).unwrap()
    };
    let before = open(Some("secret"));
    let key = Key::parse("/secret/a").unwrap();
    post("/v3/auth/enable", "", "{}");
    let done = async {
        for repository in [&open(Some("secret")), &before] {
            repository.commit(Change::new().put_for_session(&key, "x")).await?;
            let view = repository.read(&Prefix::from(key.clone())).await?;
            assert_eq!(view.entries[&key].value, "x");
        }
        // A change of the users takes everybody's token away.
        let login = post("/v3/auth/authenticate", "", r#"{"name":"root","password":"secret"}"#);
        let token = login.split(r#""token":""#).nth(1).unwrap().split('"').next().unwrap();
        post("/v3/auth/user/add", token, r#"{"name":"other","password":"x"}"#);
        before.commit(Change::new().put(&key, "y")).await
    };
    let done = done.await;
    let mut refused = Vec::new();
    for stranger in [open(None), open(Some("wrong"))] {
        refused.push(stranger.read(&Prefix::root()).await.map(drop));
        refused.push(stranger.commit(Change::new().put(&key, "z")).await.map(drop));
    }
    let login = post("/v3/auth/authenticate", "", r#"{"name":"root","password":"secret"}"#);
    let token = login.split(r#""token":""#).nth(1).unwrap().split('"').next().unwrap();
    post("/v3/auth/disable", token, "{}");
    for user in ["other", "root"] {
        post("/v3/auth/user/delete", "", &format!(r#"{{"user":"{user}","name":"{user}"}}"#));
    }
    post("/v3/auth/role/delete", "", r#"{"role":"root"}"#);
    assert!(done.is_ok(), "{done:?}");
    assert!(refused.iter().all(|done| matches!(done, Err(Error::Refused(_)))), "{refused:?}");
}
