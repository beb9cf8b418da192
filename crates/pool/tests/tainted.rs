//! What becomes of a connection that is given back in order, but with something of its borrower's left on it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test support functions")]

mod scene;

use std::time::Duration;

use pando_fake::{Reply, poll_once, server_error};

use pando_pool::Left;
use scene::{at_most, expect, scene};

#[test]
fn it_forgets_before_it_is_lent_again() {
    for (left, told) in [
        (Some(Left::Definitions), "SCRUB"),
        (Some(Left::Anything), "SCRUB"),
        (Some(Left::State), "RESET"),
        (None, "RESET"),
    ] {
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
        assert_eq!(scene.pool.is_settled(), left != Some(Left::Definitions));
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

#[test]
fn definitions_are_settled_when_they_were_read_behind_all_who_may_make_some() {
    let scene = scene(at_most(2));
    assert!(scene.pool.is_settled());
    let mut first = scene.take();
    first.taint(Left::Definitions, None);
    first.taint(Left::Definitions, None);
    assert_eq!((scene.pool.definitions(), scene.pool.is_settled()), (None, false));
    drop(first);
    let read = scene.pool.definitions().unwrap();
    let mut second = scene.take();
    second.taint(Left::Definitions, None);
    drop(second);
    // The second may have made some behind that reading.
    scene.pool.settle(read);
    assert!(!scene.pool.is_settled());
    scene.pool.settle(scene.pool.definitions().unwrap());
    scene.pool.settle(read);
    assert!(scene.pool.is_settled());
}

#[test]
fn who_relied_on_definitions_that_others_may_change_meanwhile_is_scrubbed() {
    let scene = scene(at_most(2));
    let (mut relying, mut defining) = (scene.take(), scene.take());
    assert!(relying.relies_on_definitions());
    drop(relying);
    let mut relying = scene.take();
    assert_eq!(scene.unit.statements(), [] as [&str; 0]);
    assert!(relying.relies_on_definitions());
    defining.taint(Left::Definitions, None);
    assert!(!relying.relies_on_definitions());
    drop(defining);
    // Read in between: what it ran may have been before it or behind it.
    scene.pool.settle(scene.pool.definitions().unwrap());
    assert!(relying.relies_on_definitions());
    drop(relying);
    let both = (scene.take(), scene.take());
    assert_eq!(scene.unit.statements(), ["SCRUB", "SCRUB"]);
    drop(both);
    drop(scene.take());
    assert_eq!(scene.unit.statements().len(), 2);
}

#[test]
fn who_defines_in_the_middle_of_something_has_not_ended_until_it_is_in_order() {
    let scene = scene(at_most(1));
    let mut connection = scene.take();
    connection.taint(Left::Definitions, None);
    scene.run(&mut connection, "BEGIN").unwrap();
    drop(connection);
    assert_eq!(scene.pool.definitions(), None);
    drop(scene.take());
    assert_eq!(scene.pool.definitions(), Some(1));
}
