//! Who is served first when a connection is nearer to one than to another.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test support functions")]

mod scene;

use std::task::Poll;

use pando_fake::poll_once;
use pando_pool::Connection;

use scene::{Scene, Take, at_most, expect, scene};

/// A caller that waits on a loop.
fn waits(scene: &Scene, event_loop: usize, mut take: Take) -> Take {
    scene.runtime.stand_on(event_loop);
    assert!(poll_once(&mut take).is_pending());
    take
}

fn give_back(scene: &Scene, event_loop: usize, connection: Connection) {
    scene.runtime.stand_on(event_loop);
    drop(connection);
}

#[test]
fn a_caller_on_the_loop_of_a_connection_goes_before_one_on_another() {
    let scene = scene(at_most(1));
    let held = scene.take();
    let mut far = waits(&scene, 1, scene.taking());
    let mut near = waits(&scene, 2, scene.taking());
    let mut as_near = waits(&scene, 2, scene.taking());
    give_back(&scene, 2, held);
    assert!(poll_once(&mut far).is_pending());
    assert!(poll_once(&mut as_near).is_pending(), "the first of those that are near");
    let held = expect(poll_once(&mut near)).unwrap();
    give_back(&scene, 1, held);
    drop(expect(poll_once(&mut far)).unwrap());
    assert!(expect(poll_once(&mut as_near)).is_ok());
    assert_eq!(scene.unit.connections().opened, 1);
}

#[test]
fn the_front_lets_sixteen_pass_and_no_more() {
    let scene = scene(at_most(1));
    let mut held = scene.take();
    let mut far = waits(&scene, 1, scene.taking());
    let mut passed = 0;
    loop {
        let mut near = waits(&scene, 2, scene.taking());
        give_back(&scene, 2, held);
        match poll_once(&mut near) {
            Poll::Ready(connection) => held = connection.unwrap(),
            Poll::Pending => break,
        }
        passed += 1;
    }
    assert_eq!(passed, 16);
    assert!(expect(poll_once(&mut far)).is_ok());
}

#[test]
fn who_holds_a_connection_lets_nobody_pass() {
    let scene = scene(at_most(1));
    let held = scene.take();
    let mut further = waits(&scene, 1, scene.taking_further());
    let mut near_further = waits(&scene, 2, scene.taking_further());
    let mut near = waits(&scene, 2, scene.taking());
    give_back(&scene, 2, held);
    let held = expect(poll_once(&mut further)).unwrap();
    assert!(poll_once(&mut near_further).is_pending() && poll_once(&mut near).is_pending());
    // Nor does a newcomer pass one.
    give_back(&scene, 2, held);
    drop(expect(poll_once(&mut near_further)).unwrap());
    assert!(expect(poll_once(&mut near)).is_ok());
}

#[test]
fn a_request_for_many_lets_nobody_pass() {
    let scene = scene(at_most(2));
    let held = (scene.take(), scene.take());
    let mut far = waits(&scene, 1, scene.taking());
    let pool = scene.pool.clone();
    let mut many = Box::pin(async move { pool.take_many(2).await });
    assert!(poll_once(&mut many).is_pending());
    let mut near = waits(&scene, 2, scene.taking());
    // Who stands before it does not let him pass either.
    give_back(&scene, 2, held.0);
    let far = expect(poll_once(&mut far)).unwrap();
    give_back(&scene, 2, held.1);
    assert!(poll_once(&mut near).is_pending());
    give_back(&scene, 2, far);
    let both = expect(poll_once(&mut many)).unwrap();
    assert!(poll_once(&mut near).is_pending());
    drop(both);
    assert!(expect(poll_once(&mut near)).is_ok());
}

#[test]
fn nobody_passes_where_each_has_a_connection_of_its_own() {
    let scene = scene(at_most(2));
    scene.runtime.stand_on(1);
    let first = scene.take();
    scene.runtime.stand_on(2);
    let second = scene.take();
    let id = first.token().id;
    let mut own = waits(&scene, 1, scene.taking());
    let mut other = waits(&scene, 2, scene.taking());
    give_back(&scene, 1, first);
    assert_eq!(expect(poll_once(&mut own)).unwrap().token().id, id);
    give_back(&scene, 2, second);
    assert!(expect(poll_once(&mut other)).is_ok());
}
