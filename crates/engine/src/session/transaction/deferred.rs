//! What is checked at the end of a transaction only is checked before the first of several storage units commits.

use std::sync::Arc;

use pando_kernel::error::Result;
use pando_kernel::session::TransactionState;
use pando_kernel::{TransactionType, UnitName, Value};

use crate::catalog::Checks;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::ask;
use crate::session::transaction::attend;

/// Whether a commit may fail on one unit by what was left unchecked until then, after others have committed, as far as
/// that is known.
pub(in crate::session) fn may_defer(session: &Session) -> bool {
    let is_asked = session.work.transaction.state() == TransactionState::Open
        && session.work.transaction.kind() == TransactionType::Local
        && session.work.transaction.has_written()
        && session.place.dialect().is_some_and(|dialect| dialect.deferred().is_some());
    let Some(live) = session.place.current().filter(|_| is_asked) else { return false };
    let units = session.work.transaction.units();
    let none_defers =
        || units.iter().all(|unit| session.work.catalog(live).defers(unit) == Some(false));
    units.len() > 1 && !none_defers()
}

/// Has the units check what they left to the end of the transaction, which has failed where one finds a fault or
/// cannot be asked. What was lost meanwhile
/// the commit itself finds, and tells.
///
/// # Errors
/// The fault found; what keeps a unit from being asked.
pub(in crate::session) async fn check_deferred(session: &mut Session) -> Result<()> {
    let Some((query, check)) = session.place.dialect().and_then(|dialect| dialect.deferred())
    else {
        return Ok(());
    };
    let live = session.place.live()?;
    let checked = checked(session, &live, query, check).await;
    attend::let_go(session).await;
    match checked {
        Ok(()) => Ok(()),
        Err(_) if session.work.transaction.has_lost_connection() => Ok(()),
        Err(error) => {
            session.work.transaction.fail();
            Err(session.place.in_logic_names(error))
        }
    }
}

async fn checked(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    query: &str,
    check: &str,
) -> Result<()> {
    let mut any = false;
    for unit in session.work.transaction.units() {
        any |= defers(session, live, unit, query).await?;
    }
    if !any {
        return Ok(());
    }
    attend::attend_transaction(session)?;
    session.work.transaction.run_everywhere(check).await
}

async fn defers(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    unit: UnitName,
    query: &str,
) -> Result<bool> {
    if let Some(known) = session.work.catalog(live).defers(&unit) {
        return Ok(known);
    }
    let epoch = session.work.catalog(live).epoch();
    let rows = ask::ask(session, live, &unit, query).await?;
    let defers = rows.first().and_then(|row| row.first()) != Some(&Value::Bool(false));
    let checks = if defers { Checks::MayWait } else { Checks::AtOnce };
    session.work.catalog(live).learn_checks(epoch, unit, checks);
    Ok(defers)
}
