//! The transaction is opened on all units at once, so that it sees one state of them.

use std::sync::Arc;

use pando_kernel::error::Result;
use pando_kernel::{Execution, TransactionType};
use pando_pool::Connection;
use pando_transaction::xa::Way;
use pando_transaction::{Sight, finish_all};

use crate::handle::Manner;
use crate::snapshot::LiveDatabase;
use crate::variables::UNKNOWN;

use crate::session::Session;
use crate::session::connections::{dress, enlist, release};
use crate::session::transaction::environment;
use crate::session::transaction::units;
use crate::session::transaction::units::still_open;

/// A connection with its storage unit's part opened on it, and the replies that belong to that.
type Part = (Connection, usize);

/// Opens the transaction on all units that take writes. One of type XA sees the same transactions on all of them; of
/// type LOCAL each unit looks at its own moment, and all at about the same.
pub(in crate::session) async fn open_everywhere(
    session: &mut Session,
    live: &LiveDatabase,
) -> Result<()> {
    let mut parts = Vec::new();
    let before = session.work.transaction().units();
    session.work.transaction_mut().sees(Sight::Has);
    let is_global = session.work.transaction().kind() == TransactionType::Xa;
    let taken = match is_global {
        true => take_everywhere(session, live, &mut parts).await,
        false => take_leading(session, live, &mut parts).await.map(|()| Vec::new()),
    };
    let mut result = match taken {
        Ok(units) if is_global => look_together(session, live, units, &mut parts).await,
        Ok(_) => look_each(session, &mut parts).await,
        Err(error) => Err(error),
    };
    if result.is_ok() && session.work.transaction().has_to_catch_up(session.settings.local()) {
        for (connection, _) in &mut parts {
            if result.is_ok() && !before.contains(connection.unit()) {
                result = dress::catch_up(session, connection).await;
            }
        }
    }
    for (mut connection, _) in parts {
        if result.is_err() {
            // It may have refused what it was to wear.
            connection.set_session_state(UNKNOWN);
        }
        match result.is_err() && connection.condition().outstanding > 0 {
            // A silent unit would be waited for.
            true => connection.discard(),
            false => release::release(session, connection).await,
        }
    }
    if let Err(error) = &result {
        units::learn_of_loss(session, error);
        // Some units may see what others do not.
        session.work.transaction_mut().lose();
    }
    result
}

async fn take_everywhere(
    session: &mut Session,
    live: &LiveDatabase,
    parts: &mut Vec<Part>,
) -> Result<Vec<(String, Way)>> {
    let mut units = Vec::new();
    for unit in &environment::units(session, live) {
        let Some(ready) = units::ready(session, live, unit).await? else { continue };
        let Some(identity) = &ready.identity else { continue };
        let pool = live.pool(unit)?;
        units.push((identity.to_string(), (Arc::clone(unit), Arc::clone(pool.connector()))));
        if let Some(mut own) = session.work.transaction_mut().lend(unit)? {
            // It has been changed already.
            let look = live.database.dialect.two_phase().map(|form| form.snapshot_query());
            let started = still_open(&own)
                .and_then(|()| look.map_or(Ok(()), |look| own.start(Execution::Text(look.into()))));
            parts.push((own, usize::from(look.is_some() && started.is_ok())));
            started?;
            continue;
        }
        let mut connection = session.place.take(pool).await?;
        units::still_ready(session, live, &mut connection, Some(&ready)).await?;
        let query = live.database.dialect.two_phase().map(|form| form.snapshot_query());
        let (replies, _) = enlist::enlist(session, live, &mut connection, Some(&ready), query)?;
        parts.push((connection, replies));
    }
    Ok(units)
}

/// Takes a connection of each unit that has no leader: what copies hold is older.
async fn take_leading(
    session: &mut Session,
    live: &LiveDatabase,
    parts: &mut Vec<Part>,
) -> Result<()> {
    for unit in environment::units(session, live).iter().filter(|unit| live.leads(unit)) {
        let mut connection = session.place.take(live.pool(unit)?).await?;
        let (replies, _) = enlist::enlist(session, live, &mut connection, None, None)?;
        parts.push((connection, replies));
    }
    Ok(())
}

/// Sends what opens the transaction to all units.
async fn look_each(session: &mut Session, parts: &mut [Part]) -> Result<()> {
    let handle = Arc::clone(session.place.handle());
    for (connection, _) in parts.iter() {
        handle.runs_on(connection, Manner::Ask)?;
    }
    handle.taken(opened(parts)).await
}

/// Sends what opens the transaction to all units while no other is half committed.
async fn look_together(
    session: &mut Session,
    live: &LiveDatabase,
    units: Vec<(String, Way)>,
    parts: &mut [Part],
) -> Result<()> {
    let barrier = live.together.barrier(session.place.runtime(), units);
    let handle = Arc::clone(session.place.handle());
    let pass = handle.taken(barrier.pass()).await?;
    for (connection, _) in parts.iter() {
        handle.runs_on(connection, Manner::Ask)?;
    }
    pass.during(opened(parts)).await?
}

/// Reads what opens the transaction to its end everywhere.
pub(in crate::session) async fn opened(parts: &mut [Part]) -> Result<()> {
    let mut result = Ok(());
    while parts.iter().any(|(_, replies)| *replies > 0) {
        let mut waiting: Vec<&mut Connection> = Vec::new();
        for (connection, replies) in parts.iter_mut().filter(|(_, replies)| *replies > 0) {
            *replies -= 1;
            waiting.push(connection);
        }
        for ended in finish_all(&mut waiting).await {
            result = result.and(ended.map(drop));
        }
    }
    result
}
