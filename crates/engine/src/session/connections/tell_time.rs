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
    if !plan.timed.is_any() || is_own {
        return take_back(live, connection, is_own);
    }
    let moments = session.work.moments(session.place.engine().inner.source.now_micros());
    let told = clock.told(plan.timed, moments);
    for text in &told {
        connection.start(Execution::Aside(text.as_str().into()))?;
    }
    connection.set_told_time(clock.forgotten().is_some());
    Ok(told.len())
}

/// Gives a connection its server's own clock back. Where the client has set one that was brought about with the session's other variables.
fn take_back(live: &LiveDatabase, connection: &mut Connection, is_own: bool) -> Result<usize> {
    let is_told = connection.is_told_time();
    connection.set_told_time(false);
    let forgotten = live.database.dialect.clock().and_then(|clock| clock.forgotten());
    match forgotten.filter(|_| is_told && !is_own) {
        Some(text) => connection.start(Execution::Aside(text.into())).map(|()| 1),
        None => Ok(0),
    }
}
