//! Locks of applications: the connections that have them, one for each storage unit where the session has some. No
//! transaction has part in these, so that a lock is freed when all units have committed, and not when one of them has.

use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::backend::Execution;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_pool::{Connection, Pool};
use pando_transaction::{drain, finish};

use crate::handle::Manner;
use crate::snapshot::LiveDatabase;
use crate::variables::UNKNOWN;

use crate::session::Session;
use crate::session::connections::{ask, dress};
use crate::session::transaction::locks::{HeldLocks, Home, Until, lost};

/// The one value of a query, from the connection that has the home's locks, or will have them. What it changes about
/// these is noted by `note`.
///
/// # Errors
/// What the unit says, `Cancelled`, `Full` where no session may keep one more connection for locks.
pub(in crate::session) async fn call(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    home: &Home,
    query: &str,
    note: impl FnOnce(&mut HeldLocks, &Value) + Send,
) -> Result<Value> {
    let mut connection = borrow(session, live, home).await?;
    let answer = match dressed(session, live, home, &mut connection).await {
        Ok(()) => Box::pin(within_settings(session, &mut connection, query)).await,
        Err(error) => Err(error),
    };
    if let Ok(value) = &answer {
        note(session.work.locks_mut(), value);
    }
    give_home(session, home, connection).await;
    answer
}

/// Whether the locks of the transaction are still there: they are lost with their connection.
///
/// # Errors
/// `Unavailable`.
pub(in crate::session) async fn stand(session: &mut Session) -> Result<()> {
    for home in session.work.locks().homes(is_transactions) {
        let Some(mut connection) = session.work.locks_mut().lend(&home) else {
            return Err(lost(&home));
        };
        let stands = match session.place.handle().runs_on(&connection, Manner::Leave) {
            Ok(()) => ask::answer(&mut connection, "SELECT 1").await.map(drop),
            Err(error) => Err(error),
        };
        give_home(session, &home, connection).await;
        stands.map_err(|error| lost(&home).caused_by(error))?;
    }
    Ok(())
}

/// The transaction is over, or was none.
pub(in crate::session) async fn free_transactions(session: &mut Session) {
    if session.work.locks().are_there() {
        free(session, is_transactions).await;
    }
}

/// Those of the transaction that were taken behind a savepoint, in front of which there are so many others.
pub(in crate::session) async fn free_behind(session: &mut Session, before: usize) {
    if session.work.locks().are_there() {
        free(session, |until| matches!(until, Until::Transaction(depth) if depth > before)).await;
    }
}

/// All that the session has to free by itself. Returns how many there were.
pub(in crate::session) async fn free_sessions(session: &mut Session) -> usize {
    free(session, |until| until == Until::Freed).await
}

/// As after login: what has locks is reset, and serves others from then on.
pub(in crate::session) async fn forget_all(session: &mut Session) {
    for mut connection in session.work.locks_mut().take_all() {
        session.place.handle().keeps_no_more(&connection);
        if let Err(error) = ask::undress(&mut connection).await {
            tracing::debug!(%error, "a connection that had locks is closed");
            connection.discard();
        }
    }
}

fn is_transactions(until: Until) -> bool {
    matches!(until, Until::Transaction(_))
}

/// Frees what is held for so long. Nobody cancels that; a connection that cannot do so is closed, with all it has.
async fn free(session: &mut Session, held: impl Fn(Until) -> bool) -> usize {
    let mut count = 0;
    for home in session.work.locks().homes(&held) {
        let Some(mut connection) = session.work.locks_mut().lend(&home) else { continue };
        let mut freed = session.place.handle().runs_on(&connection, Manner::Leave);
        for undo in session.work.locks_mut().forget(&home, &held) {
            count += 1;
            if freed.is_ok() {
                freed = ask::answer(&mut connection, &undo).await.map(drop);
            }
        }
        match freed {
            Ok(()) => give_home(session, &home, connection).await,
            Err(error) => {
                tracing::warn!(unit = %home.unit, %error, "locks could not be freed: their connection is closed");
                session.place.handle().lets_go();
                session.place.handle().keeps_no_more(&connection);
                session.work.locks_mut().loses(&home);
                connection.discard();
            }
        }
    }
    count
}

/// The connection of a home: that which has locks already, or a new one.
async fn borrow(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    home: &Home,
) -> Result<Connection> {
    if let Some(own) = session.work.locks_mut().lend(home) {
        return Ok(own);
    }
    let pool = live.pool(&home.unit)?;
    refuse_one_more(session, pool)?;
    let mut connection = session.place.take(pool).await?;
    // What it has is freed before it serves others, whatever becomes of the session.
    connection.spoil();
    session.place.handle().keeps(&connection);
    session.work.locks_mut().begins(home);
    Ok(connection)
}

/// Refuses a connection beyond those that all sessions together may keep for locks.
///
/// # Errors
/// `Full`.
pub(in crate::session) fn refuse_one_more(session: &Session, pool: &Pool) -> Result<()> {
    let most = session.place.properties().lock_connections.min(pool.statistics().most / 2).max(1);
    let everyone = session.place.engine().inner.registry.everyone();
    let kept: usize = everyone.iter().map(|handle| handle.kept(pool.connector())).sum();
    match kept < most {
        true => Ok(()),
        false => Err(ErrorKind::Full {
            unit: pool.unit().to_string(),
            message: format!("sessions keep {kept} connections for their locks"),
        }
        .into()),
    }
}

/// Brings a connection to the session's variables, without a reset where it may have locks.
async fn dressed(
    session: &mut Session,
    live: &LiveDatabase,
    home: &Home,
    connection: &mut Connection,
) -> Result<()> {
    session.place.handle().runs_on(connection, Manner::Ask)?;
    let dialect = live.database.dialect.as_ref();
    let variables = session.settings.variables();
    if connection.session_state() == variables.id() {
        session.work.locks_mut().dress(home, dialect, variables);
        return Ok(());
    }
    let is_new = !session.work.locks().was_dressed(home);
    let text = session.work.locks_mut().dress(home, dialect, variables);
    let wanted = variables.id();
    let replies = match is_new {
        true => dress::dress(session, live, connection)?,
        false => match text {
            Some(text) => {
                connection.start(Execution::Text(text.into()))?;
                1
            }
            None => 0,
        },
    };
    connection.set_session_state(wanted);
    dress::await_dress(session, connection, replies).await
}

/// Asks under what the open transaction has set for itself.
async fn within_settings(
    session: &mut Session,
    connection: &mut Connection,
    query: &str,
) -> Result<Value> {
    let local = session.settings.local().to_vec();
    if local.is_empty() {
        return value(connection, query).await;
    }
    run(connection, "BEGIN").await?;
    let mut asked = Ok(Value::Null);
    for text in &local {
        if asked.is_ok() {
            asked = run(connection, text).await.map(|()| Value::Null);
        }
    }
    if asked.is_ok() {
        asked = value(connection, query).await;
    }
    let ended = run(connection, if asked.is_ok() { "COMMIT" } else { "ROLLBACK" }).await;
    asked.and_then(|value| ended.map(|()| value))
}

async fn run(connection: &mut Connection, text: &str) -> Result<()> {
    connection.start(Execution::Text(text.into()))?;
    finish(connection).await.map(drop)
}

async fn value(connection: &mut Connection, query: &str) -> Result<Value> {
    let rows = ask::answer(connection, query).await?;
    let value = rows.into_iter().next().and_then(|row| row.into_iter().next());
    value.ok_or_else(|| Error::internal("a function without a value"))
}

/// The connection has done its part. What is left of its replies is read: its locks would be lost with it.
async fn give_home(session: &mut Session, home: &Home, mut connection: Connection) {
    if connection.condition().usable && connection.condition().outstanding > 0 {
        connection.set_session_state(UNKNOWN);
        let _ = drain(&mut connection, usize::MAX).await;
    }
    if session.place.handle().lets_go() {
        // A request that comes late could only end another wait for a lock.
        session.place.handle().settled(session.place.runtime()).await;
    }
    if !connection.condition().usable || connection.condition().outstanding > 0 {
        session.place.handle().keeps_no_more(&connection);
        if session.work.locks_mut().loses(home) {
            tracing::warn!(unit = %home.unit, "the connection that had a session's locks is lost");
        }
        connection.discard();
        return;
    }
    if let Some(over) = session.work.locks_mut().comes_home(home, connection) {
        session.place.handle().keeps_no_more(&over);
    }
}
