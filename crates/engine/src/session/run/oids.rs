//! What numbers of a storage unit's types and relations are shown as, found out before a statement is sent whose answer may tell them: while its reply is
//! under way its connection cannot be asked, and no other one sees what an open transaction has made.

use std::collections::HashMap;
use std::sync::Arc;

use pando_kernel::Oids;
use pando_kernel::error::Result;
use pando_kernel::feature::Catalog;
use pando_kernel::oids::Listing;
use pando_kernel::route::UnitName;
use pando_kernel::session::TransactionState;
use pando_sql::ast::Kind;

use crate::catalog::UnitCatalog;
use crate::execute::Renumbering;
use crate::oids;
use crate::plan::{Plan, Unit};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::ask;
use crate::session::given::{Given, Run};

/// Whether the statement can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Patience {
    /// It cannot: connections are waited for, and every unit has to answer.
    Long,
    /// It goes on without what cannot be found out at once.
    None,
}

/// Whether something has to be found out for the statement.
pub(in crate::session) fn are_wanted(session: &Session, run: Run<'_>, given: &Given) -> bool {
    let Run { live, stmt, plan } = run;
    let may_tell = || match &stmt.kind {
        Kind::Select(_) | Kind::Explain { .. } => true,
        Kind::Insert(insert) => given.prepared || insert.returning.is_some(),
        Kind::Update(update) => given.prepared || update.returning.is_some(),
        Kind::Delete(delete) => given.prepared || delete.returning.is_some(),
        Kind::Utility { verb, .. } => verb == "MERGE",
        Kind::Define(_)
        | Kind::Set(_)
        | Kind::Show(_)
        | Kind::Use(_)
        | Kind::Copy(_)
        | Kind::Load(_)
        | Kind::Prepare { .. }
        | Kind::Execute { .. }
        | Kind::Deallocate(_)
        | Kind::Lock(_)
        | Kind::Kill { .. }
        | Kind::Transaction(_)
        | Kind::Cursor(_)
        | Kind::Preview(_)
        | Kind::SetFor(_)
        | Kind::Immediate(_)
        | Kind::Administration
        | Kind::Empty
        | Kind::Opaque => false,
    };
    plan.told.numbers().is_none()
        && live.database.dialect.oid_rules().is_some()
        && session.work.transaction().state() != TransactionState::Failed
        && may_tell()
        && !plan.units.iter().all(|unit| is_known(session.work.catalog(live), unit))
}

fn is_known(catalog: &UnitCatalog, unit: &Unit) -> bool {
    catalog.numbers(&unit.target.unit).is_some()
}

/// Finds out what the numbers of the plan's units are shown as. Where a unit cannot be asked now, the statement goes on without: its numbers are then shown
/// as nobody else's are.
///
/// # Errors
/// What the units say that answer the statement.
pub(in crate::session) async fn find_out(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    plan: &Plan,
) -> Result<()> {
    for unit in &plan.units {
        if !is_known(session.work.catalog(live), unit) {
            find_out_of(session, live, &unit.target.unit, Patience::None).await?;
        }
    }
    Ok(())
}

/// Finds out what one unit's numbers are shown as.
///
/// # Errors
/// What the unit says, and with patience any that it takes.
pub(in crate::session) async fn find_out_of(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    unit: &UnitName,
    patience: Patience,
) -> Result<()> {
    let Some(presentation) = live.database.dialect.presentation() else { return Ok(()) };
    let epoch = session.work.catalog(live).epoch();
    let mut listings: HashMap<UnitName, Arc<Listing>> = HashMap::new();
    let mut is_whole = true;
    for needed in oids::needed_units(&live.database, unit) {
        match listed(session, live, &needed, patience).await {
            Ok(Some(listing)) => drop(listings.insert(needed, listing)),
            Ok(None) => is_whole = false,
            Err(error) if needed == *unit || patience == Patience::Long => return Err(error),
            Err(error) => {
                tracing::debug!(%error, unit = %needed, "numbers could not be read");
                is_whole = false;
            }
        }
    }
    if is_whole {
        let found = oids::of_listings(&live.database, presentation, unit, &listings);
        let catalog = session.work.catalog(live);
        catalog.learn_oids(epoch, Arc::clone(unit), Arc::new(found));
    }
    Ok(())
}

/// What is numbered in a unit; `None` where there is no connection to ask on.
async fn listed(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    unit: &UnitName,
    patience: Patience,
) -> Result<Option<Arc<Listing>>> {
    if let Some(known) = session.work.catalog(live).listing(unit) {
        return Ok(Some(known));
    }
    let dialect = Arc::clone(&live.database.dialect);
    let Some(oid_rules) = dialect.oid_rules() else { return Ok(None) };
    let tables = oids::asked_tables(&live.database, unit);
    let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
    let epoch = session.work.catalog(live).epoch();
    let query = oid_rules.query(&tables);
    let asked = match patience {
        Patience::Long => ask::ask(session, live, unit, &query).await.map(Some),
        Patience::None => ask::ask_at_once(session, live, unit, &query).await,
    };
    let Some(rows) = asked? else { return Ok(None) };
    let listing = Arc::new(oid_rules.read(&rows)?);
    let catalog = session.work.catalog(live);
    catalog.learn_listing(epoch, Arc::clone(unit), Arc::clone(&listing));
    Ok(Some(listing))
}

/// What a unit's numbers are shown as; `None` where that is not known.
pub(in crate::session) fn of_unit(
    session: &Session,
    live: &LiveDatabase,
    unit: &str,
) -> Option<Arc<Oids>> {
    live.database.dialect.oid_rules()?;
    session.work.catalog(live).numbers(unit)
}

/// The same of a plan for one unit, which is noted with it.
pub(in crate::session) fn of_only(
    session: &Session,
    live: &LiveDatabase,
    plan: &Plan,
) -> Option<Arc<Oids>> {
    if let Some(known) = plan.told.numbers() {
        return Some(Arc::clone(known));
    }
    let found = plan.units.first().and_then(|unit| of_unit(session, live, &unit.target.unit))?;
    plan.told.set_oids(&found);
    Some(found)
}

/// How what goes to a plan's unit and comes from it is told.
pub(in crate::session) fn renumbering(
    session: &Session,
    live: &LiveDatabase,
    unit: Option<&Unit>,
) -> Option<Box<Renumbering>> {
    let numbers = unit.and_then(|unit| of_unit(session, live, &unit.target.unit));
    Renumbering::of(&live.database.dialect, numbers.as_ref())
}
