//! Planning a statement, and finding out what planning asks for.

use std::sync::Arc;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_sql::ast::Statement;

use crate::plan;
use crate::plan::{Plan, Planned, Purpose};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::{Given, MAX_NEEDS};
use crate::session::place::doubted_rows;
use crate::session::run::assembly;

impl Session {
    /// Plans a statement, finding out what planning asks for, and reads the rows of an assembly.
    pub(in crate::session) async fn plan(
        &mut self,
        live: &Arc<LiveDatabase>,
        stmt: &Statement,
        given: &Given,
        purpose: Purpose,
    ) -> Result<Plan> {
        match self.planned(live, stmt, given, purpose).await? {
            Planned::Plan(plan) => Ok(*plan),
            Planned::Assembly(assembly) => {
                match assembly::assemble(self, live, &assembly, given).await {
                    Err(refusal) if assembly.is_of_groups() && plan::is_for_assembly(&refusal) => {
                        Box::pin(self.planned_apart(live, stmt, given, refusal)).await
                    }
                    assembled => assembled,
                }
            }
            Planned::Needs(_) => Err(Error::internal("planning asks for what is known")),
        }
    }

    /// Plans a statement, finding out what planning asks for. Never gives `Needs`.
    pub(in crate::session) async fn planned(
        &mut self,
        live: &Arc<LiveDatabase>,
        stmt: &Statement,
        given: &Given,
        purpose: Purpose,
    ) -> Result<Planned> {
        self.work.keep_own_up(live);
        if live.doubts.are() {
            Box::pin(doubted_rows::vouch(self, live, stmt)).await?;
        }
        self.sought(live, stmt, given, purpose).await
    }

    /// As [`Session::planned`], with what is known of the tables as it is.
    pub(in crate::session) async fn sought(
        &mut self,
        live: &Arc<LiveDatabase>,
        stmt: &Statement,
        given: &Given,
        purpose: Purpose,
    ) -> Result<Planned> {
        for _ in 0..MAX_NEEDS {
            let parameters = (purpose == Purpose::Run).then_some(given);
            let catalog = Arc::clone(self.work.catalog(live));
            let epoch = catalog.epoch();
            let outcome = self.in_context(live, parameters, |ctx| plan::plan(ctx, stmt, purpose));
            let need = match outcome {
                Ok(Planned::Needs(need)) => need,
                // One half of it may rest on other columns than the other.
                Ok(_) if catalog.epoch() != epoch => continue,
                Ok(planned) if self.learns_of_effects(live, &planned).await? => continue,
                Ok(planned) => return Ok(planned),
                Err(error) if unknown(&error) && catalog.forget_stale() => continue,
                Err(error) => return Err(error),
            };
            self.find_out(live, need).await?;
        }
        Err(Error::internal("planning asks for ever more"))
    }

    /// Plans an assembly in place of a plan whose answers could not be merged; `refusal` when there is none.
    pub(in crate::session) async fn planned_apart(
        &mut self,
        live: &Arc<LiveDatabase>,
        stmt: &Statement,
        given: &Given,
        refusal: Error,
    ) -> Result<Plan> {
        let mut refusal = refusal;
        for _ in 0..MAX_NEEDS {
            let kept = refusal.kind().clone();
            let outcome = self.in_context(live, Some(given), |ctx| plan::apart(ctx, stmt, refusal));
            match outcome? {
                Planned::Plan(plan) => return Ok(*plan),
                Planned::Assembly(assembly) => {
                    return assembly::assemble(self, live, &assembly, given).await;
                }
                Planned::Needs(need) => self.find_out(live, need).await?,
            }
            refusal = Error::new(kept);
        }
        Err(refusal)
    }
}

pub(in crate::session) fn unknown(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::UnknownTable(_) | ErrorKind::NothingToDrop { .. })
}
