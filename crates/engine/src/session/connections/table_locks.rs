//! The connections that hold the locks of LOCK TABLES.

use std::sync::Arc;
use std::time::Instant;

use pando_kernel::Value;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::route::UnitName;
use pando_pool::Connection;

use crate::handle::Manner;
use crate::session::Session;
use crate::session::connections::release::release;
use crate::session::connections::{ask, locks};
use crate::session::transaction::table_locks::{LockedTable, TableLocks};
use crate::snapshot::LiveDatabase;

/// What a storage unit is to lock.
#[derive(Debug)]
pub(in crate::session) struct Share {
    pub(in crate::session) unit: UnitName,
    /// The texts behind `LOCK TABLES`, never empty.
    pub(in crate::session) entries: Vec<String>,
}

/// How long a storage unit is waited for at a time by who has locks on others, in seconds. Somebody may have changed
/// rows there and wait for those locks: then they are let go of, and taken anew.
const MOMENT: u64 = 1;

/// Says how long its connection waits for a lock, in seconds, and what the servers say when that is over.
const PATIENCE: &str = "lock_wait_timeout";
const WAITED_TOO_LONG: u32 = 1205;

/// Locks tables: one storage unit after the other, in the configuration's order, so that two who lock the same never
/// wait for each other. It waits as long as the session's `lock_wait_timeout` says, and until it is cancelled.
///
/// # Errors
/// What a unit or a pool says; nothing is locked then.
pub(in crate::session) async fn lock(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    tables: Vec<LockedTable>,
    shares: &[Share],
) -> Result<()> {
    let mut holders = Vec::with_capacity(shares.len());
    let locked = hold_all(session, live, shares, &mut holders).await;
    let locked = match session.place.handle().lets_go() {
        true => locked.and(Err(ErrorKind::Cancelled.into())),
        false => locked,
    };
    match locked {
        Ok(()) => {
            session.work.locks_tables(TableLocks { tables, holders });
            Ok(())
        }
        Err(error) => {
            free_all(session, holders).await;
            Err(error)
        }
    }
}

async fn hold_all(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    shares: &[Share],
    holders: &mut Vec<Connection>,
) -> Result<()> {
    for share in shares {
        holders.push(holder(session, live, share).await?);
    }
    let Some(first) = holders.first_mut() else { return Ok(()) };
    let patience = match patience(session) {
        Some(own) => own,
        None => patience_of_server(first).await?,
    };
    let began = Instant::now();
    loop {
        let left = patience.saturating_sub(began.elapsed().as_secs()).max(1);
        match lock_each(holders, shares, left).await {
            Err(error) if is_wait(&error) && began.elapsed().as_secs() < patience => {
                for holder in holders.iter_mut() {
                    ask::answer(holder, "UNLOCK TABLES").await?;
                }
            }
            locked => return locked,
        }
    }
}

/// A connection that will have locks.
async fn holder(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    share: &Share,
) -> Result<Connection> {
    let pool = live.pool(&share.unit)?;
    locks::refuse_one_more(session, pool)?;
    let mut holder = session.place.take(pool).await?;
    // Whatever becomes of the session, nobody else gets a connection that has locks.
    holder.spoil();
    session.place.handle().runs_on(&holder, Manner::Ask)?;
    session.place.handle().keeps(&holder);
    Ok(holder)
}

/// Locks each unit's tables. Only the first unit is waited for long: nothing is held then.
async fn lock_each(holders: &mut [Connection], shares: &[Share], left: u64) -> Result<()> {
    for (at, (holder, share)) in holders.iter_mut().zip(shares).enumerate() {
        let wait = if at == 0 { left } else { left.min(MOMENT) };
        ask::answer(holder, &format!("SET {PATIENCE} = {wait}")).await?;
        ask::answer(holder, &format!("LOCK TABLES {}", share.entries.join(", "))).await?;
    }
    Ok(())
}

/// How long the session waits for a lock, in seconds, where it has said so.
fn patience(session: &Session) -> Option<u64> {
    let mut set = session.settings.variables().list().iter();
    set.find(|(name, _)| name == PATIENCE).and_then(|(_, value)| value.trim().parse().ok())
}

/// How long others wait.
async fn patience_of_server(holder: &mut Connection) -> Result<u64> {
    let rows = ask::answer(holder, &format!("SELECT @@{PATIENCE}")).await?;
    let seconds = rows.first().and_then(|row| row.first()).and_then(|value| match value {
        Value::Int(seconds) => u64::try_from(*seconds).ok(),
        Value::UInt(seconds) => Some(*seconds),
        Value::Null
        | Value::Bool(_)
        | Value::Float(_)
        | Value::Decimal(_)
        | Value::Text(_)
        | Value::Bytes(_) => None,
    });
    seconds.ok_or_else(|| Error::internal("a storage unit has no lock_wait_timeout"))
}

fn is_wait(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Server(said) if said.number == WAITED_TOO_LONG)
}

/// Frees all that LOCK TABLES has locked; nothing where nothing is.
///
/// # Errors
/// When a lock was lost before, so that what was read may have changed meanwhile.
pub(in crate::session) async fn free(session: &mut Session) -> Result<()> {
    let Some(mut locks) = session.work.take_table_locks() else { return Ok(()) };
    let mut freed = Ok(());
    for holder in &mut locks.holders {
        freed = freed.and(ask::answer(holder, "UNLOCK TABLES").await.map(drop));
    }
    free_all(session, locks.holders).await;
    freed
}

/// Whether the locks are still held: a holder that has been lost has lost them.
///
/// # Errors
/// What the loss says; nothing is locked any more then.
pub(in crate::session) async fn are_held(session: &mut Session) -> Result<()> {
    let Some(locks) = session.work.table_locks_mut() else { return Ok(()) };
    let mut held = Ok(());
    for holder in &mut locks.holders {
        held = held.and(ask::answer(holder, "DO 0").await.map(drop));
    }
    if held.is_err()
        && let Some(locks) = session.work.take_table_locks()
    {
        free_all(session, locks.holders).await;
    }
    held
}

/// As after login: what has locks is reset by its pool, and freed so.
pub(in crate::session) async fn forget(session: &mut Session) {
    if let Some(locks) = session.work.take_table_locks() {
        free_all(session, locks.holders).await;
    }
}

async fn free_all(session: &mut Session, holders: Vec<Connection>) {
    for holder in holders {
        session.place.handle().keeps_no_more(&holder);
        release(session, holder).await;
    }
}
