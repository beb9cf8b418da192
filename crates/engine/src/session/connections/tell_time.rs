//! A connection's server is told what time it is for a statement, or that it may go by its own clock again.

use pando_kernel::backend::Execution;
use pando_kernel::error::Result;
use pando_kernel::feature::Source as _;
use pando_pool::Connection;

use crate::plan::Plan;
use crate::snapshot::LiveDatabase;

use crate::session::Session;

/// What a client sets to have the servers go by their own clocks.
const SERVERS_OWN: [&str; 2] = ["default", "0"];

/// Queues what a connection must be told of the time before a plan runs on it. Returns how many replies belong to it.
/// What it was told for an earlier statement is taken back with the next: the reply to that is nobody's to wait for.
pub(in crate::session) fn tell_time(
    session: &mut Session,
    live: &LiveDatabase,
    connection: &mut Connection,
    plan: &Plan,
) -> Result<usize> {
    if !plan.timed.is_any() && !connection.is_told_time() {
        return Ok(0);
    }
    let Some(clock) = live.database.dialect.clock() else { return Ok(0) };
    let is_own = clock.variable().is_some_and(|variable| {
        let mut settings = session.settings.variables().list().iter();
        settings.any(|(name, value)| {
            name.eq_ignore_ascii_case(variable)
                && !SERVERS_OWN.iter().any(|own| value.trim().eq_ignore_ascii_case(own))
        })
    });
    if is_own {
        // That was brought about with the session's other variables.
        connection.has_own_time();
        return Ok(0);
    }
    if !plan.timed.is_any() {
        return take_back(live, connection);
    }
    let moments = session.work.moments(session.place.engine().inner.source.now_micros());
    let told = clock.told(plan.timed, moments);
    for text in &told {
        connection.start(Execution::Aside(text.as_str().into()))?;
    }
    if clock.forgotten().is_some() {
        connection.is_now_told_time();
    }
    Ok(told.len())
}

/// Gives a connection its server's own clock back.
fn take_back(live: &LiveDatabase, connection: &mut Connection) -> Result<usize> {
    connection.has_own_time();
    let forgotten = live.database.dialect.clock().and_then(|clock| clock.forgotten());
    match forgotten {
        Some(text) => connection.start(Execution::Aside(text.into())).map(|()| 1),
        None => Ok(0),
    }
}
