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
    let inside = lent.is_some();
    let mut connection = match lent {
        Some(connection) => connection,
        None => session.place.take(live.pool(unit)?).await?,
    };
    let answer = match session.place.handle().runs_on(&connection, Manner::Ask) {
        Ok(()) if !inside && connection.session_state() != 0 => {
            match undress(&mut connection).await {
                Ok(()) => answer(&mut connection, text).await,
                Err(error) => Err(error),
            }
        }
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
    if session.work.transaction().units().iter().any(|held| **held == *unit) {
        return ask(session, live, unit, text).await;
    }
    let mut connection = session.place.take(live.pool(unit)?).await?;
    let asked = match session.place.handle().runs_on(&connection, Manner::Ask) {
        Ok(()) => match dress::dress(session, live, &mut connection) {
            Ok(replies) => match dress::await_dress(session, &mut connection, replies).await {
                Ok(()) => answer(&mut connection, text).await,
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    };
    release::release(session, connection).await;
    asked
}

/// Puts a connection back to how it was after login.
pub(crate) async fn undress(connection: &mut pando_pool::Connection) -> Result<()> {
    connection.set_session_state(UNKNOWN);
    connection.start(Execution::Reset)?;
    finish(connection).await?;
    connection.set_session_state(0);
    Ok(())
}

/// One reply read to its end, its rows decoded.
pub(crate) async fn answer(
    connection: &mut pando_pool::Connection,
    text: &str,
) -> Result<Vec<Vec<pando_kernel::Value>>> {
    pando_transaction::rows(&mut **connection, text).await
}
