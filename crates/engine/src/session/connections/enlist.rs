//! A connection becomes one of the transaction's.

use pando_kernel::backend::Execution;
use pando_kernel::dialect::MODE;
use pando_kernel::error::Result;
use pando_pool::Connection;
use pando_transaction::Ready;

use crate::snapshot::LiveDatabase;
use crate::variables::{UNKNOWN, Variables};

use crate::session::Session;

/// Queues on a fresh connection what makes it one of the transaction's, and a query that makes it look at its data.
/// Returns how many replies belong to that, and how many of them to its beginning.
pub(in crate::session) fn enlist(
    session: &mut Session,
    live: &LiveDatabase,
    connection: &mut Connection,
    ready: Option<&Ready>,
    look: Option<&str>,
) -> Result<(usize, usize)> {
    // What was set in it for later transactions must not become this one's, on the units that join it afterwards.
    let before = session.settings.before_transaction();
    let before = before.filter(|before| levels(before).ne(levels(session.settings.variables())));
    let mut swallow = session.temporary.dress_in(
        live,
        connection,
        before.unwrap_or(session.settings.variables()),
    )?;
    let begin = session.work.transaction_mut().enlist_looking(connection, ready, look)?;
    swallow += begin;
    if before.is_some() {
        connection.set_session_state(UNKNOWN);
        if session.settings.variables().id() != 0 {
            let text = live.database.dialect.set_statement(session.settings.variables().list());
            connection.start(Execution::Text(text.into()))?;
            swallow += 1;
        }
    }
    session.place.handle().joins(connection);
    let is_behind = session.work.transaction().has_to_catch_up(session.settings.local());
    for text in session.settings.local().iter().filter(|_| !is_behind) {
        connection.start(Execution::Text(text.as_str().into()))?;
        swallow += 1;
    }
    if before.is_some() || !session.settings.local().is_empty() {
        // A return to a savepoint takes back what was set behind it.
        session.work.transaction_mut().changes_on(connection.unit());
    }
    session.settings.told_behind_marks();
    Ok((swallow, begin))
}

/// What variables say of how transactions begin.
fn levels(variables: &Variables) -> impl Iterator<Item = &(String, String)> {
    let is_level = |name: &str| {
        name.ends_with("isolation") || name.ends_with("read_only") || name.starts_with(MODE)
    };
    variables.list().iter().filter(move |(name, _)| is_level(name))
}
