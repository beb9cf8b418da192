//! What planning may look at.

use std::sync::Arc;

use pando_kernel::TransactionType;
use pando_kernel::error::Result;
use pando_kernel::feature::{Catalog, Context, Database, SessionView};
use pando_kernel::session::TransactionState;
use pando_sql::ast::Statement;

use crate::catalog::AsStored;
use crate::plan::{Plan, Purpose};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::Given;
use crate::session::transaction::{snapshot, temporary};

impl Session {
    /// Calls planning with what it may look at.
    pub(in crate::session) fn in_context<T>(
        &self,
        live: &LiveDatabase,
        given: Option<&Given>,
        plan: impl FnOnce(&Context<'_>) -> T,
    ) -> T {
        let (view, catalog) = (self.view(given), self.work.catalog(live));
        let stored = AsStored(catalog.as_ref());
        let (database, catalog): (&Database, &dyn Catalog) =
            match given.is_some_and(|given| given.is_about_stored) {
                true => (live.below(), &stored),
                false => (&live.database, catalog.as_ref()),
            };
        let ctx = Context {
            database,
            catalog,
            dialect: live.database.dialect.as_ref(),
            parameters: given.filter(|given| given.prepared).map(|given| &given.parameters[..]),
            session: &view,
            source: &self.place.engine().inner.source,
        };
        plan(&ctx)
    }

    fn view(&self, given: Option<&Given>) -> SessionView {
        let is_for_change = given.is_some_and(|given| given.is_for_change);
        let state = self.work.transaction().state();
        SessionView {
            transaction: match is_for_change && state == TransactionState::Idle {
                true => TransactionState::Open,
                false => state,
            },
            held: self.work.transaction().units(),
            has_written: self.work.transaction().has_written() || is_for_change,
            ticket: self.place.ticket(),
            connections_per_query: self.place.properties().max_connections_per_query,
            describes: false,
            sees_one_state: self.shows_one_state(given),
            temporaries: temporary::temporaries(self),
            facts: Arc::clone(self.place.facts()),
        }
    }

    /// Whether what is planned now has no use for what copies hold.
    fn shows_one_state(&self, given: Option<&Given>) -> bool {
        if self.work.is_idle() {
            return given.is_some_and(|given| given.sees_one_state);
        }
        self.work.transaction().kind() == TransactionType::Xa
            && !self.work.transaction().is_locking()
            && snapshot::asked_isolation(self, self.work.transaction().modes()).is_some()
    }

    /// The plan, made anew for who takes writes where it reads copies and has to see one state of several units.
    pub(in crate::session) async fn on_leaders(
        &mut self,
        live: &Arc<LiveDatabase>,
        stmt: &Statement,
        given: &Given,
        plan: Plan,
    ) -> Result<Plan> {
        if !snapshot::strays(self, live, &plan).await {
            return Ok(plan);
        }
        let given = Given { sees_one_state: true, ..given.clone() };
        Box::pin(self.plan(live, stmt, &given, Purpose::Run)).await
    }
}
