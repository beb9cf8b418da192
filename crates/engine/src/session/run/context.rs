//! What planning may look at.

use std::sync::Arc;

use pando_kernel::TransactionType;
use pando_kernel::feature::{Catalog, Context, Database, SessionView};
use pando_kernel::session::TransactionState;

use crate::catalog::AsStored;
use crate::meant::InSchemas;
use crate::own_columns::Beside;
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::Given;
use crate::session::transaction::{base, snapshot};

/// Calls planning with what it may look at.
pub(in crate::session) fn in_context<T>(
    session: &Session,
    live: &LiveDatabase,
    given: Option<&Given>,
    plan: impl FnOnce(&Context<'_>) -> T,
) -> T {
    let (view, catalog) = (view(session, live, given), session.work.catalog(live));
    let catalog: &dyn Catalog = catalog.as_ref();
    let meant =
        (!session.meant.is_usual()).then_some(InSchemas { others: catalog, meant: &session.meant });
    let catalog = meant.as_ref().map_or(catalog, |meant| meant as &dyn Catalog);
    let stored = AsStored(catalog);
    let (database, catalog): (&Database, &dyn Catalog) =
        match given.is_some_and(|given| given.is_about_stored) {
            true => (live.below(), &stored),
            false => (&live.database, catalog),
        };
    let own = session.temporary.own_columns();
    let beside = own.map(|own| Beside { others: catalog, own });
    let catalog = beside.as_ref().map_or(catalog, |beside| beside as &dyn Catalog);
    let ctx = Context {
        database,
        catalog,
        dialect: live.database.dialect.as_ref(),
        parameters: given.filter(|given| given.prepared).map(|given| &given.parameters[..]),
        session: &view,
        source: &session.place.engine().inner.source,
    };
    plan(&ctx)
}

fn view(session: &Session, live: &LiveDatabase, given: Option<&Given>) -> SessionView {
    let is_for_change = given.is_some_and(|given| given.is_for_change);
    let state = session.work.transaction().state();
    SessionView {
        transaction: match is_for_change && state == TransactionState::Idle {
            true => TransactionState::Open,
            false => state,
        },
        held: session.work.transaction().units(),
        has_written: session.work.transaction().has_written() || is_for_change,
        ticket: session.place.ticket(),
        connections_per_query: session.place.properties().max_connections_per_query,
        describes: false,
        keeps_zero: session.settings.keeps_zero(),
        is_counted: given.is_some_and(|given| given.is_counted),
        probes: false,
        keeps_time: session.work.is_in_parts(),
        sees_one_state: shows_one_state(session, given),
        environment: session.work.environment(),
        notes_rows: base::notes_rows(session),
        shut: live.shut(|| session.place.runtime().now()),
        temporaries: session.temporary.shown(session.place.current()),
        variables: session.settings.variables().shared(),
        facts: Arc::clone(session.place.facts()),
    }
}

/// Whether what is planned now has no use for what copies hold.
fn shows_one_state(session: &Session, given: Option<&Given>) -> bool {
    if session.work.is_idle() {
        return given.is_some_and(|given| given.sees_one_state);
    }
    session.work.transaction().kind() == TransactionType::Xa
        && !session.work.transaction().is_locking()
        && snapshot::asked_isolation(session, session.work.transaction().modes()).is_some()
}
