//! What becomes of a connection that is given back in the middle of something.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test support functions")]

mod scene;

use std::future::poll_fn;
use std::time::Duration;

use pando_fake::{Reply, poll_once, server_error};
use pando_kernel::{CopyForm, Event, Execution, Format, Kind, Value};

use scene::{at_most, expect, scene};

#[test]
fn a_connection_dropped_inside_a_transaction_is_reset_before_it_is_lent_again() {
    let scene = scene(at_most(1));
    let mut connection = scene.take();
    connection.set_session_state(7);
    scene.run(&mut connection, "BEGIN").unwrap();
    drop(connection);
    let connection = scene.take();
    assert_eq!(scene.unit.statements(), ["BEGIN", "RESET"]);
    assert_eq!((connection.session_state(), scene.unit.connections().opened), (0, 1));
}

#[test]
fn a_clean_connection_keeps_its_session_state() {
    let scene = scene(at_most(1));
    let mut connection = scene.take();
    connection.set_session_state(7);
    drop(connection);
    assert_eq!(scene.take().session_state(), 7);
}

#[test]
fn an_abandoned_statement_is_cancelled_and_its_connection_used_again() {
    let scene = scene(at_most(1));
    scene.unit.reply("hang", Reply::Hang);
    let mut connection = scene.take();
    connection.start(Execution::Text("hang".into())).unwrap();
    let mut event = Box::pin(poll_fn(|cx| connection.poll_event(cx)));
    assert!(poll_once(&mut event).is_pending());
    drop(event);
    drop(connection);
    let connection = scene.take();
    assert_eq!(scene.unit.statements(), ["hang", "RESET"]);
    assert_eq!(scene.unit.cancels(), [connection.token()]);
    assert_eq!(scene.unit.connections().opened, 1);
}

#[test]
fn an_unread_result_is_drained_before_the_connection_is_lent_again() {
    let scene = scene(at_most(1));
    let rows = (0..9).map(|n| vec![Value::Int(n)]).collect();
    scene.unit.reply("rows", Reply::rows(&[("n", Kind::Int)], rows));
    scene.unit.reply("bad", Reply::Error(server_error("42000", "no")));
    let mut connection = scene.take();
    connection.start(Execution::Text("rows".into())).unwrap();
    connection.start(Execution::Text("bad".into())).unwrap();
    drop(connection);
    let mut connection = scene.take();
    assert_eq!(scene.unit.connections().opened, 1);
    scene.run(&mut connection, "COMMIT").unwrap();
}

#[test]
fn an_abandoned_copy_is_ended_and_its_connection_used_again() {
    let scene = scene(at_most(1));
    let form = CopyForm { format: Format::Text, columns: vec![] };
    scene.unit.reply("COPY", Reply::Events(vec![Event::CopyIn(form)]));
    let mut connection = scene.take();
    connection.start(Execution::Text("COPY".into())).unwrap();
    let mut event = Box::pin(poll_fn(|cx| connection.poll_event(cx)));
    assert!(expect(poll_once(&mut event)).is_ok());
    drop(event);
    drop(connection);
    drop(scene.take());
    assert_eq!(scene.unit.connections().opened, 1);
}

#[test]
fn a_recovery_that_takes_too_long_closes_the_connection() {
    let scene = scene(at_most(1));
    scene.unit.reply("RESET", Reply::Hang);
    let mut connection = scene.take();
    scene.run(&mut connection, "BEGIN").unwrap();
    drop(connection);
    scene.runtime.run();
    assert_eq!(scene.numbers(), (1, 0, 0));
    scene.runtime.advance(Duration::from_secs(5));
    assert_eq!(scene.numbers(), (0, 0, 0));
    assert_eq!(scene.unit.connections().open, 0);
}

#[test]
fn a_recovery_that_fails_closes_the_connection() {
    let scene = scene(at_most(1));
    scene.unit.reply("RESET", Reply::Error(server_error("08006", "no")));
    let mut connection = scene.take();
    scene.run(&mut connection, "BEGIN").unwrap();
    drop(connection);
    scene.runtime.run();
    assert_eq!(scene.unit.connections().open, 0);
}

#[test]
fn a_discarded_connection_is_closed() {
    let scene = scene(at_most(1));
    scene.take().discard();
    assert_eq!((scene.numbers(), scene.unit.connections().open), ((0, 0, 0), 0));
}
