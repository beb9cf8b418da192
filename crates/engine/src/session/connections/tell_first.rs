//! What a connection's server is told for one statement: what time it is, how to plan it. It is taken back with the
//! next.

use pando_kernel::backend::Execution;
use pando_kernel::error::Result;
use pando_kernel::feature::Source as _;
use pando_pool::Connection;

use crate::plan::Plan;
use crate::snapshot::LiveDatabase;

use crate::session::Session;

/// What a client sets to have the servers go by their own clocks.
const SERVERS_OWN: [&str; 2] = ["default", "0"];

/// Queues what a connection must be told before a plan runs on it. Returns how many replies belong to it. What it was
/// told for an earlier statement is taken back with the next: the reply to that is nobody's to wait for.
pub(in crate::session) fn tell_first(
    session: &mut Session,
    live: &LiveDatabase,
    connection: &mut Connection,
    plan: &Plan,
) -> Result<usize> {
    if plan.asks_catalogue {
        return tell_planner(session, live, connection);
    }
    if plan.timed.is_any() {
        return tell_time(session, live, connection, plan);
    }
    take_back(connection)
}

fn tell_time(
    session: &mut Session,
    live: &LiveDatabase,
    connection: &mut Connection,
    plan: &Plan,
) -> Result<usize> {
    let Some(clock) = live.database.dialect.clock() else { return take_back(connection) };
    let is_own = clock.variable().is_some_and(|variable| {
        own_value(session, variable)
            .is_some_and(|value| !SERVERS_OWN.iter().any(|own| value.eq_ignore_ascii_case(own)))
    });
    if is_own {
        // That was brought about with the session's other variables.
        connection.set_told(None);
        return Ok(0);
    }
    let moments = session.work.moments(session.place.engine().inner.source.now_micros());
    let told = clock.told(plan.timed, moments);
    for text in &told {
        connection.start(Execution::Aside(text.as_str().into()))?;
    }
    if let Some(text) = clock.forgotten() {
        connection.set_told(Some(text));
    }
    Ok(told.len())
}

fn tell_planner(
    session: &Session,
    live: &LiveDatabase,
    connection: &mut Connection,
) -> Result<usize> {
    let Some(aside) = live.database.dialect.aside() else { return take_back(connection) };
    if own_value(session, aside.variable).is_some() || connection.told() == Some(aside.takes_back) {
        return Ok(0);
    }
    let queued = take_back(connection)?;
    connection.start(Execution::Aside(aside.sets.into()))?;
    connection.set_told(Some(aside.takes_back));
    Ok(queued + 1)
}

/// What the session has set a variable to.
fn own_value<'a>(session: &'a Session, variable: &str) -> Option<&'a str> {
    let mut settings = session.settings.variables().list().iter();
    let found = settings.find(|(name, _)| name.eq_ignore_ascii_case(variable));
    found.map(|(_, value)| value.trim())
}

fn take_back(connection: &mut Connection) -> Result<usize> {
    let Some(text) = connection.told() else { return Ok(0) };
    connection.set_told(None);
    connection.start(Execution::Aside(text.into())).map(|()| 1)
}
