//! A whole server in this process, met by real clients through both doors.

#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "test support functions")]

mod support;

use std::path::Path;
use std::time::Duration;

use pando_kernel::Identity;
use pando_kernel::runtime::TlsMode;
use pando_postgres::ChannelBinding;
use pando_server::{Certificate, Listen, Options, Server};

use support::{BANK, GLOBAL, Running, SECURED, SHOP, code, folder, options, write};

const FILL: [&str; 4] = [
    "CREATE TABLE t_order (order_id BIGINT PRIMARY KEY, user_id INT, amount INT)",
    "CREATE TABLE t_region (region_id INT PRIMARY KEY, name VARCHAR(20))",
    "INSERT INTO t_order (order_id, user_id, amount) VALUES (1, 10, 5), (2, 10, 6), (3, 11, 7), (4, 11, 8)",
    "INSERT INTO t_region (region_id, name) VALUES (1, 'north')",
];

#[tokio::test(flavor = "multi_thread")]
async fn both_doors_open_onto_the_same_rows() {
    let running = Running::shop().await;
    let [mut mysql, mut postgres] = running.both().await;
    for sql in FILL {
        mysql.ask(sql).await.unwrap();
    }
    for client in [&mut mysql, &mut postgres] {
        let rows = client.ask("SELECT order_id, amount FROM t_order ORDER BY order_id").await;
        assert_eq!(rows.unwrap(), ["1 5", "2 6", "3 7", "4 8"]);
        let rows = client.ask("PREVIEW SELECT * FROM t_order WHERE user_id = 11 AND order_id = 3");
        assert_eq!(
            rows.await.unwrap(),
            ["ds_1 SELECT * FROM t_order_1 WHERE user_id = 11 AND order_id = 3"]
        );
    }
    running.server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_enter_is_told_so_by_both_doors() {
    let running = Running::shop().await;
    let mut wrong = running.mysql();
    wrong.password = "guess".into();
    let error = running.by_mysql(wrong).await.err().unwrap();
    assert_eq!(code(&error), (1045, "28000".into()), "{error}");
    let mut unknown = running.mysql();
    unknown.database = "nowhere".into();
    let error = running.by_mysql(unknown).await.err().unwrap();
    assert_eq!(code(&error), (1049, "42000".into()), "{error}");
    let mut foreign = running.mysql();
    (foreign.user, foreign.password) = ("app".into(), "secret".into());
    foreign.database = "bank".into();
    let error = running.by_mysql(foreign).await.err().unwrap();
    assert_eq!(code(&error), (1044, "42000".into()), "{error}");

    let mut wrong = running.postgres();
    wrong.password = "guess".into();
    let error = running.by_postgres(wrong).await.err().unwrap();
    assert_eq!(code(&error).1, "28P01", "{error}");
    let mut unknown = running.postgres();
    unknown.database = "nowhere".into();
    let error = running.by_postgres(unknown).await.err().unwrap();
    assert_eq!(code(&error).1, "3D000", "{error}");
}

/// What names a database in every way there is; `bank` exists and is not the user's, `nowhere` does not exist.
const FOREIGN: [&str; 13] = [
    "USE bank",
    "USE nowhere",
    "SELECT * FROM bank.t_account",
    "SELECT * FROM nowhere.t_account",
    "SELECT (SELECT COUNT(*) FROM bank.t_account)",
    "SELECT * FROM t_region r JOIN bank.t_account a ON a.id = r.region_id",
    "INSERT INTO bank.t_account (id) VALUES (1)",
    "UPDATE bank.t_account SET id = 2",
    "DELETE FROM bank.t_account",
    "CREATE TABLE bank.t_new (id INT)",
    "PREVIEW SELECT * FROM bank.t_account",
    "SHOW TABLES FROM bank",
    "SHOW CREATE TABLE bank.t_account",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_user_cannot_go_on_to_a_database_that_is_not_his() {
    let running = Running::shop().await;
    let mut root = running.by_mysql(running.mysql()).await.unwrap();
    for sql in [FILL[1], FILL[3], "USE bank", "CREATE TABLE t_account (id INT PRIMARY KEY)"] {
        root.ask(sql).await.unwrap();
    }
    let mut own = running.mysql();
    (own.user, own.password) = ("app".into(), "secret".into());
    let mut client = running.by_mysql(own.clone()).await.unwrap();
    for sql in FOREIGN {
        let error = client.ask(sql).await.unwrap_err();
        assert_eq!(code(&error), (1044, "42000".into()), "{sql}: {error}");
        let rows = client.ask("SELECT COUNT(*) FROM t_region").await.unwrap();
        assert_eq!(rows, ["1"], "after {sql} the session is where it was");
    }
    let rows = client.ask("SHOW DATABASES").await.unwrap();
    assert!(rows.contains(&"shop".into()) && !rows.contains(&"bank".into()), "{rows:?}");
    let tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'bank'";
    assert_eq!(client.ask(tables).await.unwrap(), [""; 0]);

    own.database = String::new();
    let mut nowhere = running.by_mysql(own).await.unwrap();
    let error = nowhere.ask("USE bank").await.unwrap_err();
    assert_eq!(code(&error).0, 1044, "{error}");
    nowhere.ask("USE shop").await.unwrap();
    assert_eq!(nowhere.ask("SELECT COUNT(*) FROM t_region").await.unwrap(), ["1"]);
    running.server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_of_the_other_door_is_refused_in_its_words() {
    let running = Running::shop().await;
    let enter = |database: &str| {
        let mut options = running.postgres();
        (options.user, options.password) = ("app".into(), "secret".into());
        options.database = database.into();
        running.by_postgres(options)
    };
    for database in ["bank", "nowhere"] {
        let error = enter(database).await.err().unwrap();
        assert_eq!(code(&error).1, "42501", "{error}");
    }
    let mut client = enter("shop").await.unwrap();
    for sql in [
        "SELECT * FROM bank.public.t_account",
        "PREVIEW DELETE FROM bank.public.t_account",
        "USE bank; CREATE TABLE t_account (id INT)",
    ] {
        let error = client.ask(sql).await.unwrap_err();
        assert_eq!(code(&error).1, "42501", "{sql}: {error}");
    }
    let names = "SELECT datname FROM pg_database";
    // The vendor's own is there for everyone.
    assert_eq!(client.ask(names).await.unwrap(), ["shop", "postgres"]);
    running.server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn beyond_the_limit_clients_are_refused_in_their_protocol() {
    let global = format!("{GLOBAL}\nprops: {{proxy-frontend-max-connections: 1}}\n");
    let files = [("global.yaml", global.as_str()), ("database-shop.yaml", SHOP)];
    let running = Running::start(&files).await;
    let first = running.by_mysql(running.mysql()).await.unwrap();
    let error = running.by_mysql(running.mysql()).await.err().unwrap();
    assert_eq!(code(&error).0, 1040, "{error}");
    let error = running.by_postgres(running.postgres()).await.err().unwrap();
    assert_eq!(code(&error).1, "53300", "{error}");
    drop(first);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_changes_rules_and_users_and_keeps_what_is_open() {
    let running = Running::shop().await;
    let mut client = running.by_mysql(running.mysql()).await.unwrap();
    for sql in FILL {
        client.ask(sql).await.unwrap();
    }
    let folder = running.folder.path();
    write(folder, "global.yaml", &GLOBAL.replace("password: root", "password: changed"));
    write(folder, "database-shop.yaml", &SHOP.replace("[t_region]", "[t_region, t_city]"));
    running.server.reload().await.unwrap();
    client.ask("CREATE TABLE t_city (id INT PRIMARY KEY)").await.unwrap();
    let rows = client.ask("PREVIEW DELETE FROM t_city").await.unwrap();
    assert_eq!(rows, ["ds_0 DELETE FROM t_city", "ds_1 DELETE FROM t_city"]);
    assert_eq!(client.ask("SELECT count(*) FROM t_order").await.unwrap(), ["4"]);
    let error = running.by_mysql(running.mysql()).await.err().unwrap();
    assert_eq!(code(&error).0, 1045, "{error}");
    let mut changed = running.mysql();
    changed.password = "changed".into();
    running.by_mysql(changed).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_of_a_wrong_configuration_changes_nothing() {
    let running = Running::shop().await;
    write(running.folder.path(), "database-shop.yaml", "databaseName: shop\nrule: []\n");
    let error = running.server.reload().await.unwrap_err().to_string();
    assert!(error.contains("database-shop.yaml:2"), "{error}");
    let mut client = running.by_mysql(running.mysql()).await.unwrap();
    client.ask(FILL[0]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_ends_idle_sessions_and_closes_the_doors() {
    let running = Running::shop().await;
    let (mysql, postgres) = (running.mysql(), running.postgres());
    let mut clients = running.both().await;
    let addresses = running.server.addresses();
    tokio::time::timeout(Duration::from_secs(9), running.server.stop()).await.unwrap();
    for client in &mut clients {
        assert!(client.ask("SELECT 1").await.is_err());
    }
    drop((mysql, postgres));
    assert!(tokio::net::TcpStream::connect(addresses.mysql.unwrap()).await.is_err());
    assert!(tokio::net::TcpStream::connect(addresses.postgres.unwrap()).await.is_err());
}

fn tls_file(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls").join(name)
}

async fn secured() -> Running {
    let folder = folder(&[("global.yaml", GLOBAL), ("database-bank.yaml", BANK)]);
    let (chain, key) = (tls_file("certificate.pem"), tls_file("key.pem"));
    let certificate = Certificate { chain, key, clients: None };
    let options = Options { tls: Some(certificate), ..options(folder.path()) };
    let server = Server::start(options).await.unwrap();
    Running { server, folder }
}

#[tokio::test(flavor = "multi_thread")]
async fn both_doors_speak_tls_and_clients_check_as_much_as_they_ask_for() {
    let running = secured().await;
    let authority = Some(tls_file("certificate.pem").to_string_lossy().into_owned());
    for tls in SECURED {
        let mut settings = running.mysql();
        settings.database = "bank".into();
        (settings.tls, settings.authority) = (tls, authority.clone());
        let mut postgres = running.postgres();
        postgres.database = "bank".into();
        (postgres.tls, postgres.authority) = (tls, authority.clone());
        // The certificate is for `localhost`, the clients speak to 127.0.0.1.
        let fits = tls != TlsMode::VerifyFull;
        assert_eq!(running.by_mysql(settings.clone()).await.is_ok(), fits, "{tls:?}");
        assert_eq!(running.by_postgres(postgres.clone()).await.is_ok(), fits, "{tls:?}");
        let port = running.server.addresses();
        let at = |port: u16| pando_kernel::runtime::Address::Tcp("localhost".into(), port);
        settings.address = at(port.mysql.unwrap().port());
        postgres.address = at(port.postgres.unwrap().port());
        let mut mysql = running.by_mysql(settings).await.unwrap();
        assert_eq!(mysql.ask("SELECT 1").await.unwrap(), ["1"], "{tls:?}");
        let mut postgres = running.by_postgres(postgres).await.unwrap();
        assert_eq!(postgres.ask("SELECT 1").await.unwrap(), ["1"], "{tls:?}");
    }
}

/// Users who need nothing but a password, TLS, any certificate, their own, a named one, and their own instead of a password.
const REQUIRING: &str = "
authority:
  users:
  - {user: root@%, password: root, admin: true}
  - {user: tls@%, password: root, require: SSL}
  - {user: any@%, password: root, require: X509}
  - {user: ann@%, password: root, require: VERIFY_FULL}
  - {user: named@%, password: root, requireSubject: /C=SE/O=Shop/CN=ann, requireIssuer: /CN=clients}
  - {user: other@%, password: root, requireSubject: /C=SE/O=Shop/CN=other}
  - {user: bare@%, authenticationMethodName: by_certificate}
  - {user: ann@127.0.0.1, authenticationMethodName: by_certificate}
  - {user: lent@%, authenticationMethodName: by_certificate, requireSubject: /C=SE/O=Shop/CN=ann}
  authenticators: {by_certificate: {type: CERTIFICATE}}
";

fn requiring(global: &str) -> (tempfile::TempDir, Options) {
    let folder = folder(&[("global.yaml", global), ("database-bank.yaml", BANK)]);
    let (chain, key) = (tls_file("certificate.pem"), tls_file("key.pem"));
    let certificate = Certificate { chain, key, clients: Some(tls_file("clients.pem")) };
    let options = Options { tls: Some(certificate), ..options(folder.path()) };
    (folder, options)
}

fn identity(name: &str) -> Option<Identity> {
    let file = |end: &str| tls_file(&format!("{name}{end}.pem")).to_string_lossy().into_owned();
    Some(Identity { certificate: file(""), key: file("-key") })
}

#[tokio::test(flavor = "multi_thread")]
async fn users_show_the_certificates_that_are_required_of_them() {
    let (folder, options) = requiring(REQUIRING);
    let server = Server::start(options).await.unwrap();
    let running = Running { server, folder };
    let (plain, tls) = ((TlsMode::Off, None), (TlsMode::Require, None));
    let (own, forged) =
        ((TlsMode::Require, identity("ann")), (TlsMode::Require, identity("forged")));
    // Without TLS, with it, with a certificate of ann's, with one in her name that somebody else has signed.
    for (user, password, expected) in [
        ("root", "root", [true, true, true, false]),
        ("tls", "root", [false, true, true, false]),
        ("any", "root", [false, false, true, false]),
        ("any", "wrong", [false, false, false, false]),
        ("ann", "", [false, false, true, false]),
        ("named", "root", [false, false, true, false]),
        ("named", "", [false, false, false, false]),
        ("other", "root", [false, false, false, false]),
        ("bare", "", [false, false, false, false]),
        ("lent", "", [false, false, true, false]),
    ] {
        for ((mode, identity), expected) in [&plain, &tls, &own, &forged].into_iter().zip(expected)
        {
            let mut mysql = running.mysql();
            (mysql.user, mysql.password) = (user.into(), password.into());
            mysql.database = "bank".into();
            (mysql.tls, mysql.identity) = (*mode, identity.clone());
            let entered = running.by_mysql(mysql).await.is_ok();
            assert_eq!(entered, expected, "MySQL: {user} {password} {mode:?} {identity:?}");
            let mut postgres = running.postgres();
            (postgres.user, postgres.password) = (user.into(), password.into());
            postgres.database = "bank".into();
            (postgres.tls, postgres.identity) = (*mode, identity.clone());
            let entered = running.by_postgres(postgres).await.is_ok();
            assert_eq!(entered, expected, "PostgreSQL: {user} {password} {mode:?} {identity:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_no_client_could_show_is_not_required_of_users() {
    let (_folder, mut options) = requiring(REQUIRING);
    options.tls.as_mut().unwrap().clients = None;
    let error = Server::start(options.clone()).await.err().unwrap().to_string();
    assert!(error.contains("global.yaml:6:") && error.contains("--tls-client-ca"), "{error}");
    options.tls = None;
    let error = Server::start(options).await.err().unwrap().to_string();
    assert!(error.contains("`tls@%`") && error.contains("--tls-certificate"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_is_bound_to_the_certificate_that_was_shown() {
    let running = secured().await;
    for (mode, binding, expected) in [
        (TlsMode::Require, ChannelBinding::Require, true),
        (TlsMode::Require, ChannelBinding::Prefer, true),
        (TlsMode::Require, ChannelBinding::Disable, true),
        (TlsMode::Off, ChannelBinding::Require, false),
        (TlsMode::Off, ChannelBinding::Prefer, true),
    ] {
        let mut postgres = running.postgres();
        postgres.database = "bank".into();
        (postgres.tls, postgres.binding) = (mode, binding);
        let entered = running.by_postgres(postgres).await.is_ok();
        assert_eq!(entered, expected, "{mode:?} {binding:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_authority_is_refused() {
    let running = secured().await;
    let mut settings = running.mysql();
    settings.tls = TlsMode::VerifyCa;
    settings.authority = Some(tls_file("key.pem").to_string_lossy().into_owned());
    let error = running.by_mysql(settings.clone()).await.err().unwrap();
    assert!(error.to_string().contains("certificate"), "{error}");
    // The system's own authorities have not signed it either.
    settings.authority = None;
    assert!(running.by_mysql(settings).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_started_says_why() {
    let files = [("global.yaml", GLOBAL), ("database-bank.yaml", BANK)];
    let folder = folder(&files);
    let off = Options { mysql: Listen::Off, postgres: Listen::Off, ..options(folder.path()) };
    let error = Server::start(off).await.err().unwrap().to_string();
    assert!(error.contains("nothing to serve"), "{error}");
    write(folder.path(), "global.yaml", "props: {proxy-frontend-ssl-enabled: true}\n");
    let error = Server::start(options(folder.path())).await.err().unwrap().to_string();
    assert!(error.contains("--tls-certificate"), "{error}");
    std::fs::remove_file(folder.path().join("database-bank.yaml")).unwrap();
    let error = Server::start(options(folder.path())).await.err().unwrap().to_string();
    assert!(error.contains("no database to serve"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_request_ends_the_statement_and_not_the_session() {
    let running = Running::shop().await;
    let slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000) SELECT count(*) FROM n";
    for mut client in [running.by_postgres(running.postgres()).await.unwrap()] {
        let cancels = client.cancels();
        let cancelled = tokio::select! {
            answer = client.ask(slow) => answer.unwrap_err(),
            () = cancels => unreachable!("it never ends"),
            () = tokio::time::sleep(Duration::from_secs(20)) => panic!("it is not cancelled"),
        };
        assert!(["57014", "70100"].contains(&code(&cancelled).1.as_str()), "{cancelled}");
        // The last request that was sent may come behind the statement, and meets the next one, as at a server.
        let next = match client.ask("SELECT 1").await {
            Err(late) if code(&late).1 == "57014" => client.ask("SELECT 1").await,
            answer => answer,
        };
        assert_eq!(next.unwrap(), ["1"]);
    }
}
