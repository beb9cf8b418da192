//! Planning a statement, and reading the rows of an assembly.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::Need;
use pando_sql::ast::Statement;

use crate::plan;
use crate::plan::{Planned, Purpose};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::Given;
use crate::session::run::find_out::MAX_NEEDS;
use crate::session::run::{doubted_rows, find_out};

/// Plans a statement, finding out what planning asks for. Never gives `Needs`.
pub(in crate::session) async fn planned(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    purpose: Purpose,
) -> Result<Planned> {
    session.work.keep_own_up(live);
    if live.doubts.are() {
        Box::pin(doubted_rows::vouch(session, live, stmt)).await?;
    }
    sought(session, live, stmt, given, purpose).await
}

/// As [`planned`], with what is known of the tables as it is.
pub(in crate::session) async fn sought(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    purpose: Purpose,
) -> Result<Planned> {
    let parameters = (purpose == Purpose::Run).then_some(given);
    let ask = |ctx: &Context<'_>| plan::plan(ctx, stmt, purpose).map(Planned::known);
    sought_by(session, live, parameters, ask).await
}

/// As [`sought`], by whoever asks planning.
pub(in crate::session) async fn sought_by(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    parameters: Option<&Given>,
    mut ask: impl FnMut(&Context<'_>) -> Result<std::result::Result<Planned, Need>>,
) -> Result<Planned> {
    // Each time the effects on one unit more are learnt, and a statement may go to all of them.
    for _ in 0..MAX_NEEDS + live.database.units.len() {
        let planned = find_out::find_out_until(session, live, parameters, &mut ask).await?;
        if !find_out::learns_of_effects(session, live, &planned).await? {
            return Ok(planned);
        }
    }
    Err(Error::internal("planning asks for ever more"))
}
