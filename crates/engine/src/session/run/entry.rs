//! A plan is run, up to its first piece of reply.

use pando_kernel::error::{Error, Result};
use pando_sql::ast::Statement;
use pando_sql::redacted;

use crate::plan::Plan;

use crate::session::Session;
use crate::session::given::{Given, Run};
use crate::session::reply::pieces::Verb;
use crate::session::reply::turned_rows;
use crate::session::run::{admission, base, oids, start};
use crate::session::transaction::begin;

/// Runs a plan up to its first piece of reply: admitted, in its transaction, on one unit or on several. The parameters
/// of a plan for one unit go with it, once nothing can refuse it any more.
pub(in crate::session) async fn run_plan(
    session: &mut Session,
    run: Run<'_>,
    given: &mut Given,
) -> Result<()> {
    let rows = admission::admit(session, run, given).await?;
    turned_rows::refuse_unturned(&run.stmt.kind, run.plan, given)?;
    if session.place.properties().sql_show {
        show(run.stmt, run.plan);
    }
    begin::open_for(session, run).await?;
    session.work.starts(run);
    if oids::are_wanted(session, run, given) {
        Box::pin(oids::find_out(session, run.live, run.plan)).await?;
    }
    let verb = Verb { rows, ..Verb::of(session, run, given).await? };
    if session.work.is_for_base(run.stmt)? {
        if let Some(name) = verb.assigns.iter().flat_map(|names| names.iter()).next() {
            return Err(Error::unsupported(
                30001,
                format!("`{name}` is set by a change of a BASE transaction"),
                "use a LOCAL or XA transaction",
            ));
        }
        let plan = given.written(run.plan);
        return Box::pin(base::start_in_base(session, run.live, &plan, given, verb)).await;
    }
    match run.plan.units.len() {
        1 if run.plan.merge.told.is_none() => start::start_one(session, run, given, verb).await,
        _ => Box::pin(start::start_many(session, run, given, verb)).await,
    }
}

/// Tells the log what becomes of a statement.
fn show(stmt: &Statement, plan: &Plan) {
    let logic = redacted(&stmt.text);
    for unit in &plan.units {
        let actual = redacted(&unit.sql);
        tracing::info!(target: "pando::sql", %logic, unit = %unit.target.unit, %actual);
    }
}
