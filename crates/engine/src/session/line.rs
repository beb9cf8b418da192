//! The line: what every statement of a client passes, from top to bottom.
//!
//! A text is split and read before (`request::text`), a prepared statement was read once. A statement with a template
//! at hand goes straight to [`run_recalled`]; all others begin at [`run`]: the session answers them itself
//! (`statement`), or they go on to storage units (`run::on_units`), whole or in steps (`steps`). All that is sent to
//! units passes `run::entry`.

use std::sync::Arc;

use pando_kernel::TransactionType;
use pando_kernel::error::Result;
use pando_kernel::runtime::LONG;
use pando_sql::ast::{Kind, Statement};

use crate::plan;

use crate::session::Session;
use crate::session::bulk::fields;
use crate::session::connections::table_locks;
use crate::session::cursors::settle;
use crate::session::given::{Aim, Given, Run};
use crate::session::place::{changed_rules, elsewhere};
use crate::session::reply::warnings;
use crate::session::run::on_units::Ran;
use crate::session::run::template::{self, Recalled};
use crate::session::run::{entry, environment, figures, meant, on_units, views};
use crate::session::statement::administer::told;
use crate::session::statement::instead::{Becomes, Instead};
use crate::session::statement::local::Local;
use crate::session::statement::numbered::Filled;
use crate::session::statement::{
    bring, channels, counters, cursor, local, numbered, own_rows, sequence_calls, shard_sequences,
};
use crate::session::steps::in_steps;
use crate::session::transaction::table_locks::Around;
use crate::session::transaction::{serializable, snapshot, units};

/// Runs a statement by its template: nothing of it is read or planned.
pub(in crate::session) async fn run_recalled(
    session: &mut Session,
    recalled: &Recalled,
    text: &Arc<str>,
    given: &mut Given,
) -> Result<()> {
    session.place.begins(text);
    warnings::forget_warnings(session);
    session.work.statement_begins();
    session.work.touches_data();
    session.work.refuse_if_failed()?;
    if session.cursors.are_open() {
        Box::pin(settle::settle_cursors(session)).await?;
    }
    recalled.give(given);
    let run = recalled.run();
    if session.work.table_locks().is_some() {
        Box::pin(look_at_locks(session, run.stmt)).await?;
    }
    environment::note(session, run.live, run.plan);
    changed_rules::refuse_moved(session, run.live, run.stmt, Aim::of(run.plan))?;
    let is_several =
        run.plan.units.len() > 1 && units::transaction_type(session) == TransactionType::Xa;
    if is_several && Box::pin(snapshot::strays(session, run.live, run.plan)).await {
        let stmt =
            pando_sql::parse(text, run.live.database.dialect.syntax()).map_err(plan::unread)?;
        let mut given = Given { text: None, ..given.clone() };
        return Box::pin(run_on_units(session, &stmt, &mut given)).await;
    }
    match entry::run_plan(session, run, given).await {
        // Only the answers' types showed that they cannot be merged.
        Err(refusal) if plan::is_for_assembly(&refusal) => {
            let stmt =
                pando_sql::parse(text, run.live.database.dialect.syntax()).map_err(plan::unread)?;
            let mut given = Given { text: None, lifted: Vec::new(), ..given.clone() };
            Box::pin(on_units::run_apart(session, run.live, &stmt, &mut given, refusal)).await
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
    session.work.statement_begins();
    session.work.touches(&stmt.kind);
    if matches!(stmt.kind, Kind::Copy(_) | Kind::Load(_)) {
        environment::settle(session, stmt, &given).await?;
    }
    serializable::tell_settings(session);
    figures::forget(session);
    own_rows::show_own(session, &stmt.text).await?;
    match local::start_local(session, stmt, &given).await? {
        Local::Answered => return Ok(()),
        Local::Instead(other) => return Box::pin(run_instead(session, *other)).await,
        Local::OnUnits => {}
    }
    if session.work.table_locks().is_some() {
        Box::pin(look_at_locks(session, stmt)).await?;
    }
    let away = elsewhere::leave(session, stmt)?;
    given.learns &= away.is_none();
    let ran = run_on_units(session, stmt, &mut given).await;
    session.place.come_back(away);
    ran
}

/// Refuses what tables that are locked forbid, and looks whether they still are.
async fn look_at_locks(session: &mut Session, stmt: &Statement) -> Result<()> {
    let database = session.place.facts().database.clone().unwrap_or_default();
    let temporaries = session.temporary.shown(session.place.current());
    if let (Some(locks), Some(dialect)) = (session.work.table_locks(), session.place.dialect()) {
        let (database, dialect) = (&*database, dialect.as_ref());
        locks.refuse(stmt, &Around { database, dialect, temporaries: temporaries.as_deref() })?;
    }
    table_locks::are_held(session).await
}

/// Runs a statement on storage units: by one plan, or in steps.
async fn run_on_units(session: &mut Session, stmt: &Statement, given: &mut Given) -> Result<()> {
    if let Some(live) = session.place.current().cloned() {
        Box::pin(meant::look_at_names(session, &live, stmt, given)).await?;
    }
    match views::expanded(session, stmt, given).await? {
        Some(text) => Box::pin(run_expanded(session, stmt, &text, given)).await,
        None => run_over_tables(session, stmt, given).await,
    }
}

/// Runs the text over tables of a statement that names views.
async fn run_expanded(
    session: &mut Session,
    stmt: &Statement,
    text: &Arc<str>,
    given: &Given,
) -> Result<()> {
    let mut own = given.for_another_text();
    let ran = match template::recall(session, text, &mut own).filter(|_| stmt.hints.is_empty()) {
        Some(recalled) => run_recalled(session, &recalled, text, &mut own).await,
        None => {
            let written = views::read(session, text, stmt)?;
            let live = session.place.live()?;
            Box::pin(meant::look_at_names(session, &live, &written, &mut own)).await?;
            run_over_tables(session, &written, &mut own).await
        }
    };
    ran.map_err(|error| views::of_view(session, stmt, error))
}

/// Runs a statement that names no view over several actual tables.
async fn run_over_tables(session: &mut Session, stmt: &Statement, given: &mut Given) -> Result<()> {
    // Views are written out by now, and another database may be meant than the session's own.
    environment::settle(session, stmt, given).await?;
    if stmt.counts {
        let live = session.place.live()?;
        let counted = Box::pin(sequence_calls::counted(session, &live, stmt, given)).await?;
        if let Some((counted, mut own)) = counted {
            return Box::pin(run_counted(session, &counted, &mut own)).await;
        }
    }
    if let Some(name) = shard_sequences::altered(stmt) {
        let live = session.place.live()?;
        let renamed = shard_sequences::renamed(session, &live, stmt, name);
        if let Some(renamed) = Box::pin(renamed).await? {
            return run_counted(session, &renamed, &mut given.for_another_text()).await;
        }
    }
    if let Some((listed, mut own)) = channels::listed(session, stmt, given)? {
        return Box::pin(run_counted(session, &listed, &mut own)).await;
    }
    if bring::gives_away(stmt) {
        let live = session.place.live()?;
        let left = Box::pin(bring::bring(session, &live, stmt, given)).await?;
        if let Some(left) = left {
            return run_counted(session, &left, &mut given.for_another_text()).await;
        }
    }
    run_counted(session, stmt, given).await
}

/// Runs a statement that has the numbers it takes of sequences, as far as it can be told them.
async fn run_counted(session: &mut Session, stmt: &Statement, given: &mut Given) -> Result<()> {
    if matches!(stmt.kind, Kind::Insert(_)) {
        let live = session.place.live()?;
        let filled = Box::pin(numbered::prepared(session, &live, stmt, given)).await?;
        if let Some(Filled { text, given: mut own }) = filled {
            if let Some(recalled) = recalled_counted(session, stmt, &text, &mut own) {
                return run_recalled(session, &recalled, &text, &mut own).await;
            }
            let filled = numbered::read(&live, &text)?;
            return Box::pin(run_filled(session, &filled, &mut own)).await;
        }
        if given.is_counted
            && let Some(recalled) = recalled_counted(session, stmt, &stmt.text, given)
        {
            return run_recalled(session, &recalled, &stmt.text, given).await;
        }
    }
    if numbered::may_set(stmt) {
        let live = session.place.live()?;
        Box::pin(numbered::set(session, &live, stmt, given)).await?;
    }
    let ran = match on_units::run(session, stmt, given).await {
        Err(refusal) if counters::is_uncounted(stmt, &refusal) => {
            let live = session.place.live()?;
            let counted = counters::counted(session, &live, stmt, given, refusal);
            let (counted, mut own) = Box::pin(counted).await?;
            return Box::pin(run_filled(session, &counted, &mut own)).await;
        }
        Err(error) => {
            let Some(name) = shard_sequences::missed(stmt, &error) else { return Err(error) };
            let live = session.place.live()?;
            let renamed = shard_sequences::renamed(session, &live, stmt, name);
            let Some(renamed) = Box::pin(renamed).await? else { return Err(error) };
            let mut own = given.for_another_text();
            return Box::pin(run_filled(session, &renamed, &mut own)).await;
        }
        Ok(ran) => ran,
    };
    take_steps(session, stmt, given, ran).await
}

/// The template of an INSERT whose counter has been asked. Where rows that are there may be changed instead, it is read
/// each time.
fn recalled_counted(
    session: &mut Session,
    stmt: &Statement,
    text: &Arc<str>,
    given: &mut Given,
) -> Option<Recalled> {
    let is_plain = stmt.hints.is_empty() && stmt.hint_span.is_none() && !numbered::may_set(stmt);
    is_plain.then(|| template::recall(session, text, given)).flatten()
}

/// Runs an INSERT that leaves nothing to be counted.
async fn run_filled(session: &mut Session, stmt: &Statement, given: &mut Given) -> Result<()> {
    let ran = on_units::run(session, stmt, given).await?;
    take_steps(session, stmt, given, ran).await
}

/// Runs the steps of what no plan does.
async fn take_steps(
    session: &mut Session,
    stmt: &Statement,
    given: &mut Given,
    ran: Ran,
) -> Result<()> {
    match ran {
        Ran::Started => Ok(()),
        Ran::InSteps(found) => {
            let live = session.place.live()?;
            in_steps::start_in_steps(session, &live, stmt, given, found.steps).await
        }
        Ran::Retold(plan) => {
            let live = session.place.live()?;
            let run = Run { live: &live, stmt, plan: &plan };
            Box::pin(fields::start_retold(session, run, given)).await
        }
    }
}

/// Runs the statement that another stands for. An EXECUTE may stand for a DECLARE or a SET STATEMENT, and that for a
/// query: this goes no deeper.
async fn run_instead(session: &mut Session, other: Instead) -> Result<()> {
    if other.settings.is_empty() {
        Box::pin(run(session, &other.stmt, other.given)).await?;
    } else {
        let before = session.settings.set_for_statement(&other.settings)?;
        let ran = Box::pin(run(session, &other.stmt, other.given)).await;
        // All its connections are dressed by now.
        session.settings.take_back(before);
        ran?;
    }
    match other.reply {
        Becomes::Cursor(declaration) => Box::pin(cursor::declare(session, declaration)).await,
        Becomes::Lines(encoder) => {
            session.outbox.encodes_with(encoder);
            Ok(())
        }
        Becomes::Reply => Ok(()),
    }
}
