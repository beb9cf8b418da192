//! What becomes of a connection that is given back in order, but with something of its borrower's left on it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test support functions")]

mod scene;

use std::time::Duration;

use pando_fake::{Reply, poll_once, server_error};

use pando_pool::Left;
use scene::{at_most, expect, scene};

#[test]
fn it_forgets_before_it_is_lent_again() {
    for (left, told) in
        [(Some(Left::Anything), "SCRUB"), (Some(Left::State), "RESET"), (None, "RESET")]
    {
        let scene = scene(at_most(1));
        let mut connection = scene.take();
        connection.set_session_state(7);
        match left {
            Some(left) => connection.taint(left, None),
            None => connection.spoil(),
        }
        drop(connection);
        assert_eq!(scene.numbers(), (1, 1, 0));
        let connection = scene.take();
        assert_eq!(scene.unit.statements(), [told]);
        assert_eq!((connection.session_state(), scene.unit.connections().opened), (0, 1));
        assert_eq!(scene.pool.taints(), u64::from(left.is_some()));
        drop(connection);
        drop(scene.take());
        assert_eq!(scene.unit.statements(), [told], "once is enough");
    }
}

#[test]
fn what_is_tainted_is_not_only_reset() {
    let scene = scene(at_most(1));
    let mut connection = scene.take();
    connection.taint(Left::Anything, None);
    connection.spoil();
    scene.run(&mut connection, "BEGIN").unwrap();
    drop(connection);
    drop(scene.take());
    assert_eq!(scene.unit.statements(), ["BEGIN", "SCRUB"]);
}

#[test]
fn one_that_cannot_forget_serves_nobody() {
    let scene = scene(at_most(1));
    scene.unit.reply_once("SCRUB", Reply::Error(server_error("57014", "timeout")));
    let mut connection = scene.take();
    connection.taint(Left::Anything, None);
    drop(connection);
    let mut connection = scene.take();
    scene.run(&mut connection, "COMMIT").unwrap();
    assert_eq!(scene.unit.connections().opened, 2);
}

#[test]
fn it_comes_back_with_the_variables_it_is_told() {
    let scene = scene(at_most(1));
    let mut connection = scene.take();
    connection.taint(Left::Anything, Some((7, "SET a = 1".into())));
    drop(connection);
    assert_eq!(scene.take().session_state(), 7);
    assert_eq!(scene.unit.statements(), ["SCRUB", "SET a = 1"]);
    scene.unit.reply("SET a = 2", Reply::Error(server_error("42000", "no")));
    let mut connection = scene.take();
    connection.taint(Left::Anything, Some((8, "SET a = 2".into())));
    drop(connection);
    assert_eq!((scene.take().session_state(), scene.unit.connections().opened), (0, 2));
}

#[test]
fn nobody_is_lent_one_that_has_not_answered_yet() {
    let scene = scene(at_most(1));
    scene.unit.reply("SCRUB", Reply::Hang);
    let mut connection = scene.take();
    connection.taint(Left::Anything, None);
    drop(connection);
    assert!(scene.pool.take_idle().unwrap().is_none());
    let mut taking = scene.taking();
    assert!(poll_once(&mut taking).is_pending());
    scene.runtime.advance(Duration::from_secs(3600));
    assert!(expect(poll_once(&mut taking)).is_err());
}

#[test]
fn those_that_are_clean_are_taken_before() {
    let scene = scene(at_most(2));
    scene.unit.reply("SCRUB", Reply::Hang);
    let (first, mut second) = (scene.take(), scene.take());
    let clean = first.token();
    drop(first);
    second.taint(Left::Anything, None);
    drop(second);
    assert_eq!(scene.take().token(), clean);
}
