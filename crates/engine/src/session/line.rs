//! The line: what every statement of a client passes, from top to bottom.
//!
//! A text is split and read before (`statement::text`), a prepared statement was read once. A statement with a template
//! at hand goes straight to [`run_recalled`]; all others begin at [`run`]. Both meet in [`run_plan`], and so do the
//! steps of a statement that runs as several.

use std::sync::Arc;

use pando_kernel::TransactionType;
use pando_kernel::error::{Error, Result};
use pando_kernel::runtime::LONG;
use pando_sql::ast::{Kind, Statement};

use crate::plan;
use crate::plan::{Plan, Purpose};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::bulk::fields;
use crate::session::given::{Aim, Given, Run};
use crate::session::place::{admission, changed_rules, elsewhere, own_database};
use crate::session::reply::pieces::Verb;
use crate::session::reply::{turned_rows, warnings};
use crate::session::run::base;
use crate::session::run::template::{Recalled, moment};
use crate::session::statement::administer::{show, told};
use crate::session::statement::{local, own_rows, without_units};
use crate::session::steps::frame;
use crate::session::steps::planning::Ready;
use crate::session::transaction::{
    begin, definition, end, serializable, snapshot, temporary, units,
};

/// Runs a statement by its template: nothing of it is read or planned.
pub(in crate::session) async fn run_recalled(
    session: &mut Session,
    recalled: &Recalled,
    text: &Arc<str>,
    given: &mut Given,
) -> Result<()> {
    session.place.begins(text);
    warnings::forget_warnings(session);
    session.work.touches_data();
    session.work.refuse_if_failed()?;
    if session.cursors.are_open() {
        Box::pin(session.settle_cursors()).await?;
    }
    recalled.give(given);
    let run = recalled.run();
    changed_rules::refuse_moved(session, run.live, run.stmt, Aim::of(run.plan))?;
    let is_several =
        run.plan.units.len() > 1 && units::transaction_type(session) == TransactionType::Xa;
    if is_several && Box::pin(snapshot::strays(session, run.live, run.plan)).await {
        let stmt =
            pando_sql::parse(text, run.live.database.dialect.syntax()).map_err(plan::unread)?;
        let given = Given { text: None, ..given.clone() };
        return Box::pin(run_on_units(session, &stmt, given)).await;
    }
    match run_plan(session, run, given).await {
        // Only the answers' types showed that they cannot be merged.
        Err(refusal) if plan::is_for_assembly(&refusal) => {
            let stmt =
                pando_sql::parse(text, run.live.database.dialect.syntax()).map_err(plan::unread)?;
            let given = Given { text: None, lifted: Vec::new(), ..given.clone() };
            Box::pin(run_apart(session, run.live, &stmt, given, refusal)).await
        }
        started => started,
    }
}

/// Runs a statement that has been read: here, or on storage units.
pub(in crate::session) async fn run(
    session: &mut Session,
    stmt: &Statement,
    given: Given,
) -> Result<()> {
    if stmt.text.len() > LONG {
        Box::pin(session.place.step_aside()).await;
    }
    let mut given = given;
    session.place.begins(&told(stmt));
    if warnings::show_warnings(session, stmt)? {
        return Ok(());
    }
    warnings::forget_warnings(session);
    session.work.touches(&stmt.kind);
    serializable::tell_settings(session);
    own_rows::show_own(session, &stmt.text)?;
    if local::start_local(session, stmt, &given).await? {
        return Ok(());
    }
    let away = elsewhere::leave(session, stmt)?;
    given.learns &= away.is_none();
    let ran = run_on_units(session, stmt, given).await;
    session.place.come_back(away);
    ran
}

/// Runs a statement on storage units: planned, in one or in steps.
pub(in crate::session) async fn run_on_units(
    session: &mut Session,
    stmt: &Statement,
    given: Given,
) -> Result<()> {
    let mut given = given;
    session.work.refuse_if_failed()?;
    own_database::refuse_without_database(session, stmt)?;
    let live = &session.place.live()?;
    if !live.has_units() {
        return without_units::answer_alone(session, stmt, &given);
    }
    given.era = moment(live).era();
    Box::pin(temporary::look_at_temporaries(session, live, stmt)).await?;
    definition::begin_if_defined(session, live, stmt)?;
    end::commit_before(session, live, stmt).await?;
    session.settle_cursors().await?;
    let plan = match session.ready(live, stmt, &given, Purpose::Run).await {
        Ok(Ready::Run(plan)) => Arc::new(session.on_leaders(live, stmt, &given, *plan).await?),
        Ok(Ready::Steps(found)) => {
            changed_rules::refuse_moved(session, live, stmt, Aim::Writes)?;
            return frame::start_in_steps(session, live, stmt, &given, found.steps).await;
        }
        Err(refusal) if warnings::drops_nothing(session, stmt, &refusal) => {
            Box::pin(definition::end_definition(session)).await;
            return Ok(());
        }
        Err(refusal) => {
            changed_rules::refuse_moved(session, live, stmt, Aim::Writes)?;
            return Err(refusal);
        }
    };
    changed_rules::refuse_moved(session, live, stmt, Aim::of(&plan))?;
    session.remember(live, stmt, &mut given, &plan).await;
    let run = Run { live, stmt, plan: &plan };
    let retell = match matches!(stmt.kind, Kind::Copy(_)) {
        true => Box::pin(fields::outgoing(session, run)).await?,
        false => None,
    };
    given.retells = retell.is_some();
    match run_plan(session, run, &mut given).await {
        // Only the answers' types showed that they cannot be merged.
        Err(refusal) if plan::is_for_assembly(&refusal) => {
            run_apart(session, live, stmt, given, refusal).await
        }
        started => started.inspect(|()| {
            session.work.note_unseen_writes(live, stmt, &plan);
            session.outbox.retells_with(retell);
        }),
    }
}

/// Runs a query whose answers could not be merged over rows that are read before.
async fn run_apart(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: Given,
    refusal: Error,
) -> Result<()> {
    if !matches!(stmt.kind, Kind::Select(_)) {
        return Err(refusal);
    }
    let mut given = given;
    let plan: Plan = session.planned_apart(live, stmt, &given, refusal).await?;
    run_plan(session, Run { live, stmt, plan: &Arc::new(plan) }, &mut given).await
}

/// Runs a plan up to its first piece of reply: admitted, in its transaction, on one unit or on several. The parameters
/// of a plan for one unit go with it, once nothing can refuse it any more.
pub(in crate::session) async fn run_plan(
    session: &mut Session,
    run: Run<'_>,
    given: &mut Given,
) -> Result<()> {
    admission::admit(session, run, given)?;
    turned_rows::refuse_unturned(&run.stmt.kind, run.plan, given)?;
    if session.place.properties().sql_show {
        show(run.stmt, run.plan);
    }
    begin::open_for(session, run).await?;
    session.work.starts(run);
    let verb = Verb::of(session, run, given).await?;
    if session.work.is_for_base(run.stmt)? {
        let plan = given.written(run.plan);
        return Box::pin(base::start_in_base(session, run.live, &plan, given, verb)).await;
    }
    match run.plan.units.len() {
        1 => session.start_one(run, given, verb).await,
        _ => Box::pin(session.start_many(run, given, verb)).await,
    }
}
