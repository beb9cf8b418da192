//! etcd passes what every repository passes. ETCD1_PORT is where it listens; with SERVICES_DIR it is stopped and started, too.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests only")]

use std::sync::Arc;
use std::time::Duration;

use pando_repository::conformance::{self, Kind, Remote, Tokio};
use pando_repository::{Change, Error, Key, Prefix, Repository};
use pando_repository_etcd::{Credentials, Etcd, Options};
use tokio::runtime::Builder;

const KIND: Kind<Options> = Kind {
    service: "etcd1",
    options: |servers, namespace| {
        let options = Options::new(servers, namespace).unwrap();
        let (session_timeout, deadline) = (Duration::from_secs(2), Duration::from_secs(4));
        Options { session_timeout, deadline, ..options }
    },
    open: |options, runtime| Ok(Arc::new(Etcd::open(options, runtime)?)),
};

/// All of it in one test, as it stops the server.
#[test]
fn etcd_is_a_repository() {
    let tokio = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let Some(stand) = Remote::found(KIND, "conformance", Tokio::shared(&tokio)) else {
        println!("skipped conformance: ETCD1_PORT is not set");
        return;
    };
    let stand = stand.unwrap();
    let say = &mut |line| println!("{line}");
    let tally = tokio.block_on(conformance::report(&stand, "etcd", say));
    tokio.block_on(a_password_is_asked_for_and_its_token_renewed(&stand));
    println!("ok etcd/a_password_is_asked_for_and_its_token_renewed");
    assert!(tally.failed == 0 && tally.held >= 16, "{tally:?}");
}

/// Root's password is set and taken away again through the gateway itself, with nothing of ours but the last two steps.
async fn a_password_is_asked_for_and_its_token_renewed(stand: &Remote<Options>) {
    let post = |path: &str, token: &str, body: &str| {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect(&stand.address).unwrap();
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
