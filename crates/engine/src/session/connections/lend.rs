//! A connection for a statement: the transaction's own, or one from a pool.

use pando_kernel::TransactionType;
use pando_kernel::backend::Execution;
use pando_kernel::dialect::TransactionVerb;
use pando_kernel::error::Result;
use pando_kernel::route::UnitName;
use pando_pool::Connection;
use pando_transaction::Ready;

use crate::handle::Manner;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::release::STATEMENT_SAVEPOINT;
use crate::session::connections::{dress, enlist, everywhere, release};
use crate::session::given::Aim;
use crate::session::transaction::{serializable, snapshot, units};

/// A connection from the pool, with the session's variables. Result: how many replies belong to them.
pub(in crate::session) async fn taken_from_pool(
    session: &mut Session,
    live: &LiveDatabase,
    unit: &UnitName,
    aim: Aim,
) -> Result<(Connection, usize)> {
    let pool = live.pool(unit)?;
    let own = session.temporary.lend_connection(session.place.current(), unit);
    let mut connection = match own.map_or_else(|| pool.take_idle(), |own| Ok(Some(own)))? {
        Some(connection) => connection,
        None => session.place.take(pool).await?,
    };
    let dressed = match session.place.handle().runs_on(&connection, Manner::Ask) {
        Ok(()) => dress::dress(session, live, &mut connection),
        Err(error) => Err(error),
    };
    let dressed = match dressed {
        Ok(replies) if replies > 0 && aim != Aim::Reads => {
            Box::pin(dress::await_dress(session, &mut connection, replies)).await.map(|()| 0)
        }
        dressed => dressed,
    };
    match dressed {
        Ok(swallow) => Ok((connection, swallow)),
        Err(error) => {
            release::release(session, connection).await;
            Err(error)
        }
    }
}

/// The transaction's connection of a unit; a unit that is touched for the first time is enlisted.
pub(in crate::session) async fn enlisted(
    session: &mut Session,
    live: &LiveDatabase,
    unit: &UnitName,
    aim: Aim,
) -> Result<(Connection, usize)> {
    let pool = live.pool(unit)?;
    if session.work.transaction().kind() == TransactionType::Base {
        // What is only read has no part in it.
        return taken_from_pool(session, live, unit, Aim::Reads).await;
    }
    if session.settings.are_worn_otherwise() {
        Box::pin(dress::change_dress(session)).await?;
    }
    serializable::lock_if_serial(session, live);
    if session.work.transaction().is_fresh() && snapshot::lacks_level(session) {
        // Learnt from its first unit, the level would be that of a transaction that has not looked.
        Box::pin(snapshot::know_level(session)).await;
    }
    if snapshot::looks_now(session, aim) {
        Box::pin(everywhere::open_everywhere(session, live)).await?;
    }
    let (mut connection, swallow) = match session.work.transaction_mut().lend(unit)? {
        Some(connection) => {
            let ready = units::still_open(&connection)
                .and_then(|()| session.place.handle().runs_on(&connection, Manner::Ask));
            (connection, ready.map(|()| 0))
        }
        None => {
            let ready = units::ready(session, live, unit).await?;
            snapshot::refuse_outside_snapshot(session, unit)?;
            let mut connection =
                match session.temporary.lend_connection(session.place.current(), unit) {
                    Some(own) => own,
                    None => session.place.take(pool).await?,
                };
            let still = units::still_ready(session, live, &mut connection, ready.as_deref()).await;
            let still =
                still.and_then(|()| session.place.handle().runs_on(&connection, Manner::Ask));
            let swallow = match still {
                Ok(()) => enlist_dressed(session, live, &mut connection, ready.as_deref()).await,
                Err(error) => Err(error),
            };
            (connection, swallow)
        }
    };
    if aim != Aim::Reads {
        session.work.transaction_mut().writes_on(unit);
    }
    let savepoint = aim == Aim::WritesAsOne;
    let swallow = swallow.and_then(|swallow| {
        let more = if savepoint { set_savepoint(live, &mut connection)? } else { 0 };
        Ok(swallow + more)
    });
    match swallow {
        Ok(swallow) => Ok((connection, swallow)),
        Err(error) => {
            release::release(session, connection).await;
            Err(error)
        }
    }
}

/// Makes a fresh connection one of the transaction's, and waits until it has the session's variables where it has
/// them not. Returns how many replies are still to come.
async fn enlist_dressed(
    session: &mut Session,
    live: &LiveDatabase,
    connection: &mut Connection,
    ready: Option<&Ready>,
) -> Result<usize> {
    let (replies, begin) = enlist::enlist(session, live, connection, ready, None)?;
    let is_behind = session.work.transaction().has_to_catch_up(session.settings.local());
    if replies == begin && !is_behind {
        return Ok(replies);
    }
    let mut dressed = Box::pin(dress::await_dress(session, connection, replies)).await;
    if is_behind && dressed.is_ok() {
        dressed = Box::pin(dress::catch_up(session, connection)).await;
    }
    if dressed.is_err() {
        // It is in the transaction, and would run its further statements under other settings.
        session.work.transaction_mut().lose();
    }
    dressed.map(|()| 0)
}

fn set_savepoint(live: &LiveDatabase, connection: &mut Connection) -> Result<usize> {
    let verb = TransactionVerb::Savepoint(STATEMENT_SAVEPOINT);
    let Some(text) = live.database.dialect.transaction(&verb) else { return Ok(0) };
    connection.start(Execution::Text(text.into()))?;
    Ok(1)
}
