//! How clients get in at the door, and how not.
#![allow(clippy::unwrap_used, reason = "tests only")]

mod support;

use std::sync::Arc;

use pando_kernel::backend::Execution;
use pando_kernel::runtime::TlsMode;
use pando_mysql::backend::Count;
use pando_mysql::codec::{Capabilities, ColumnDefinition};
use support::door::{enter, result, run, run_in, settings};
use support::raw::Raw;
use support::script::{Clear, House};
use support::{number, reply, text};

#[test]
fn every_method_lets_the_right_password_in_and_no_other() {
    run(async |house| {
        for user in ["native", "sha2", "any"] {
            let mut backend = enter(&house, settings(user, "secret")).await.unwrap();
            assert_eq!(backend.token().id, 77);
            text(&mut *backend, "SELECT 1").await.unwrap();
            for wrong in ["Secret", "", "a very long password that is wrong as well"] {
                let error = enter(&house, settings(user, wrong)).await.unwrap_err();
                assert_eq!(number(&error), 1045, "{user} {wrong}");
            }
        }
        enter(&house, settings("open", "")).await.unwrap();
        assert_eq!(number(&enter(&house, settings("open", "x")).await.unwrap_err()), 1045);
        let error = enter(&house, settings("nobody", "secret")).await.unwrap_err();
        let known = enter(&house, settings("any", "wrong")).await.unwrap_err();
        assert_eq!(
            error.to_string().replace("nobody", "any"),
            known.to_string(),
            "the error must not tell whether the user exists"
        );
    });
}

#[test]
fn tls_is_taken_up_before_the_login() {
    let house = House::with(|settings| settings.tls = Some(Arc::new(Clear)));
    run_in(house, async |house| {
        for mode in [TlsMode::Off, TlsMode::Prefer, TlsMode::Require] {
            for user in ["native", "sha2", "any"] {
                let mut settings = settings(user, "secret");
                settings.tls = mode;
                let mut backend = enter(&house, settings).await.unwrap();
                text(&mut *backend, "SELECT 1").await.unwrap();
            }
            let mut wrong = settings("sha2", "wrong");
            wrong.tls = mode;
            assert_eq!(number(&enter(&house, wrong).await.unwrap_err()), 1045);
        }
    });
}

#[test]
fn a_certificate_that_the_house_takes_for_the_proof_needs_no_password() {
    let house = House::with(|settings| settings.tls = Some(Arc::new(Clear)));
    run_in(house, async |house| {
        for password in ["", "whatever"] {
            let mut secured = settings("certified", password);
            assert_eq!(number(&enter(&house, secured.clone()).await.unwrap_err()), 1045);
            secured.tls = TlsMode::Require;
            let mut backend = enter(&house, secured).await.unwrap();
            text(&mut *backend, "SELECT 1").await.unwrap();
            // The house asks anew, and the channel is still the same.
            backend.start(Execution::Reset).unwrap();
            reply(&mut *backend).await.unwrap();
        }
    });
}

#[test]
fn nobody_is_asked_as_somebody_with_the_same_method_is() {
    run(async |house| {
        let mut seen = Vec::new();
        for user in ["native", "veteran"] {
            let refused = Raw::refused(house.enter(1 << 16), user).await;
            assert!(refused.contains("mysql_native_password"), "{refused}");
            seen.push(refused.replace(&format!("{user}\\'@"), "somebody"));
        }
        assert_eq!(seen[0], seen[1]);
    });
}

#[test]
fn logins_are_refused_for_unknown_databases_and_a_full_house() {
    run(async |house| {
        let mut nowhere = settings("any", "secret");
        nowhere.database = "nowhere".into();
        assert_eq!(number(&enter(&house, nowhere).await.unwrap_err()), 1049);
        assert_eq!(number(&enter(&house, settings("full", "secret")).await.unwrap_err()), 1040);
        let mut found = settings("any", "secret");
        found.count = Count::Found;
        enter(&house, found).await.unwrap();
        assert_eq!(*house.found_rows.lock().unwrap(), [false, false, true]);
    });
}

#[test]
fn what_mariadb_says_besides_is_offered_before_its_servers_and_told_to_who_asks() {
    let own = Capabilities::EXTENDED_METADATA;
    for (version, greets, offered) in [
        ("8.0.36", "8.0.36", false),
        ("10.11.14-MariaDB", "5.5.5-10.11.14-MariaDB", true),
        ("11.4.2-MariaDB", "11.4.2-MariaDB", true),
    ] {
        run(async |house| {
            house.version.set(version.to_owned()).unwrap();
            let mut raw = Raw::greeted(house.enter(1 << 16)).await;
            assert_eq!(raw.version, greets);
            assert_eq!(raw.offered.has(own), offered, "{version}");
            assert_eq!(raw.offered.has(Capabilities::LONG_PASSWORD), !offered, "{version}");
            drop(raw);
            for (asked, told) in [
                (own, offered),
                (Capabilities::default(), false),
                (own | Capabilities::LONG_PASSWORD, false),
            ] {
                raw = Raw::entered(house.enter(1 << 16), asked).await;
                let agreed = if told { own } else { Capabilities::default() };
                let definition = &result(&mut raw, b"\x03SELECT a").await[1];
                ColumnDefinition::decode(definition, agreed).unwrap();
                let other = if told { Capabilities::default() } else { own };
                assert!(ColumnDefinition::decode(definition, other).is_err());
            }
        });
    }
}

#[test]
fn a_user_is_changed_on_a_living_connection() {
    run(async |house| {
        let mut raw = Raw::entered(house.enter(1 << 16), Capabilities::default()).await;
        let answer = pando_mysql::auth::Plugin::Native.answer(b"secret", &raw.scramble);
        let change = |user: &[u8], answer: &[u8]| {
            let len = [answer.len() as u8];
            let tail = b"shop\0\x2D\0mysql_native_password\0";
            [&[0x11][..], user, &[0], &len, answer, tail].concat()
        };
        assert_eq!(raw.command(&change(b"native", &answer)).await[0], 0);
        assert_eq!(raw.command(b"\x03UPDATE").await[0], 0);
        raw.send(0, &change(b"native", &[1; 20])).await;
        assert_eq!(raw.error().await, 1045);
        assert!(raw.read().await.is_none());
    });
}

#[test]
fn broken_logins_are_answered_with_a_bad_handshake() {
    run(async |house| {
        let ssl = [0x00, 0x0A, 0, 0];
        let tls = [&ssl[..], &[0; 28]].concat();
        for payload in [&b"\x85\xA2\0\0\0old\0"[..], &[], &[0xFF; 40], &tls] {
            let mut raw = Raw::greeted(house.enter(1 << 16)).await;
            raw.send(1, payload).await;
            assert_eq!(raw.error().await, 1043);
            assert!(raw.read().await.is_none());
        }
        let mut raw = Raw::greeted(house.enter(1 << 16)).await;
        raw.bytes(&[0xFF, 0xFF, 0xFF, 1]).await;
        raw.input.expect(1);
        assert_eq!(raw.error().await, 1153);
    });
}
