//! What is checked at the end of a transaction only: SET CONSTRAINTS, and having it checked before the first of several
//! storage units commits.

pub(in crate::session) mod constraints;

use std::sync::Arc;

use pando_kernel::error::Result;
use pando_kernel::session::TransactionState;
use pando_kernel::{TransactionType, UnitName, Value};
use pando_sql::ast::Statement;

use crate::catalog::Checks;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::reply::made;
use crate::session::settings::set;
use crate::session::settings::set::Holds;
use crate::session::transaction::{base, end};

/// The tag of the verb.
const VERB: &str = "SET CONSTRAINTS";

/// SET CONSTRAINTS: ALL is for every unit of the transaction, those that join it later included, and names are for the
/// units that have them. False when the statement goes the usual way.
///
/// # Errors
/// `Refused` for constraints that have other names on the units; what a unit says of what it checks then.
pub(in crate::session) async fn set_constraints(
    session: &mut Session,
    stmt: &Statement,
) -> Result<bool> {
    session.work.refuse_if_failed()?;
    let live = session.place.live()?;
    // Behind SET and CONSTRAINTS.
    let tokens = pando_sql::tokenize(&stmt.text, live.database.dialect.syntax());
    let named = tokens.ok().and_then(|tokens| Some(tokens.list.get(2)?.span));
    if !named.is_some_and(|word| word.of(&stmt.text).eq_ignore_ascii_case("all")) {
        if live.database.units.len() < 2 {
            return Ok(false);
        }
        base::refuse_in_base(session, VERB)?;
        constraints::set_named(session, &live, stmt).await?;
        made::complete(session, VERB);
        return Ok(true);
    }
    if session.work.is_idle() {
        session.outbox.warn("25P01", "SET CONSTRAINTS can only be used in transaction blocks");
        made::complete(session, VERB);
        return Ok(true);
    }
    base::refuse_in_base(session, VERB)?;
    let variables = session.settings.variables().clone();
    set::apply(session, &stmt.text, Holds::InTransaction, variables).await?;
    made::complete(session, VERB);
    Ok(true)
}

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
    end::let_go(session).await;
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
    end::attend_transaction(session)?;
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
    let rows = session.ask(live, &unit, query).await?;
    let defers = rows.first().and_then(|row| row.first()) != Some(&Value::Bool(false));
    let checks = if defers { Checks::MayWait } else { Checks::AtOnce };
    session.work.catalog(live).learn_checks(epoch, unit, checks);
    Ok(defers)
}
