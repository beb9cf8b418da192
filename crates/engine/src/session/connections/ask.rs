//! Questions of the session's own, which its client does not hear of.

use pando_kernel::backend::Execution;
use pando_kernel::error::Result;
use pando_transaction::finish;

use crate::handle::Manner;
use crate::variables::UNKNOWN;

use crate::session::Session;
use crate::session::connections::{dress, release};

/// One reply read to its end on a fresh connection of a unit, for questions of the session's own. Rows are decoded.
pub(in crate::session) async fn ask(
    session: &mut Session,
    live: &crate::snapshot::LiveDatabase,
    unit: &str,
    text: &str,
) -> Result<Vec<Vec<pando_kernel::Value>>> {
    // Inside a transaction its own connection answers: it sees the transaction's definitions, and another one would
    // wait for their locks.
    let lent = session.work.transaction_mut().lend(unit)?;
    let is_inside = lent.is_some();
    let connection = match lent {
        Some(connection) => connection,
        None => session.place.take(live.pool(unit)?).await?,
    };
    ask_on(session, Asked { connection, is_inside }, text).await
}

/// As [`ask`], where that does not wait for a connection of a session that holds others already: `None` then.
pub(in crate::session) async fn ask_at_once(
    session: &mut Session,
    live: &crate::snapshot::LiveDatabase,
    unit: &str,
    text: &str,
) -> Result<Option<Vec<Vec<pando_kernel::Value>>>> {
    let is_inside = session.work.transaction().units().iter().any(|held| **held == *unit);
    if is_inside || !holds_connections(session) {
        return ask(session, live, unit, text).await.map(Some);
    }
    match session.place.take_idle(live.pool(unit)?)? {
        Some(connection) => ask_on(session, Asked { connection, is_inside }, text).await.map(Some),
        None => Ok(None),
    }
}

/// Whether the session has connections that others may wait for, while it would wait for a further one.
pub(in crate::session) fn holds_connections(session: &Session) -> bool {
    session.place.handle().has_some()
        || !session.work.transaction().units().is_empty()
        || session.temporary.are_there()
}

/// A connection that a question goes to.
struct Asked {
    connection: pando_pool::Connection,
    /// It is the open transaction's.
    is_inside: bool,
}

async fn ask_on(
    session: &mut Session,
    asked: Asked,
    text: &str,
) -> Result<Vec<Vec<pando_kernel::Value>>> {
    let Asked { connection, is_inside: inside } = asked;
    let mut connection = connection;
    let answer = match session.place.handle().runs_on(&connection, Manner::Ask) {
        Ok(()) if !inside && !connection.is_bare() => match undress(&mut connection).await {
            Ok(()) => answer(&mut connection, text).await,
            Err(error) => Err(error),
        },
        Ok(()) => answer(&mut connection, text).await,
        Err(error) => Err(error),
    };
    release::release(session, connection).await;
    answer
}

/// As [`ask`], on a connection with the session's settings: what the text means may hang on them.
pub(in crate::session) async fn ask_dressed(
    session: &mut Session,
    live: &crate::snapshot::LiveDatabase,
    unit: &str,
    text: &str,
) -> Result<Vec<Vec<pando_kernel::Value>>> {
    ask_in_turn(session, live, unit, &[text]).await
}

/// As [`ask_dressed`], of several questions on one connection: the last one's rows.
pub(in crate::session) async fn ask_in_turn(
    session: &mut Session,
    live: &crate::snapshot::LiveDatabase,
    unit: &str,
    texts: &[&str],
) -> Result<Vec<Vec<pando_kernel::Value>>> {
    if session.work.transaction().units().iter().any(|held| **held == *unit) {
        let mut rows = Vec::new();
        for text in texts {
            rows = ask(session, live, unit, text).await?;
        }
        return Ok(rows);
    }
    let mut connection = session.place.take(live.pool(unit)?).await?;
    let asked = match session.place.handle().runs_on(&connection, Manner::Ask) {
        Ok(()) => match dress::dress(session, live, &mut connection) {
            Ok(replies) => match dress::await_dress(session, &mut connection, replies).await {
                Ok(()) => answers(&mut connection, texts).await,
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    };
    release::release(session, connection).await;
    asked
}

async fn answers(
    connection: &mut pando_pool::Connection,
    texts: &[&str],
) -> Result<Vec<Vec<pando_kernel::Value>>> {
    let mut rows = Vec::new();
    for text in texts {
        rows = answer(connection, text).await?;
    }
    Ok(rows)
}

/// Puts a connection back to how it was after login.
pub(crate) async fn undress(connection: &mut pando_pool::Connection) -> Result<()> {
    connection.set_session_state(UNKNOWN);
    connection.start(Execution::Reset)?;
    finish(connection).await?;
    connection.is_reset();
    Ok(())
}

/// One reply read to its end, its rows decoded.
pub(crate) async fn answer(
    connection: &mut pando_pool::Connection,
    text: &str,
) -> Result<Vec<Vec<pando_kernel::Value>>> {
    pando_transaction::rows(&mut **connection, text).await
}
