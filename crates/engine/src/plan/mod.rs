//! Planning: one pure function from a snapshot, a session and a statement to a plan. A plan is plain data: it is what tests compare,
//! what PREVIEW prints, and what execution runs.

mod aggregate;
mod assemble;
mod block;
mod catalogue;
mod check;
mod choice;
mod chosen;
mod direct;
mod dropped;
mod effects;
mod gather;
mod insert_query;
mod labels;
mod liftable;
mod lifted;
mod limited;
mod list;
mod logical;
mod outcome;
mod owned;
mod parts;
mod relocation;
mod resolve;
mod rewrite;
mod settle;
mod state;
mod template;
mod temporary;
mod unions;
mod wide;

use std::sync::Arc;

pub use assemble::{Assembly, Read, Typed};
pub(crate) use catalogue::shown_at;
pub(crate) use check::unknown;
pub(crate) use choice::{any_unit, any_unit_of, changes_in_with, without_units, writer_of, writes};
pub(crate) use chosen::{Answer, Choice, Chosen, chosen, is_for_choosing};
use direct::{Gathered, direct};
pub(crate) use effects::{may_write, unknown as unknown_effects};
pub(crate) use insert_query::{InsertQuery, insert_query, is_for_reading_first, taken};
pub use lifted::{Chance, Lifted};
pub(crate) use limited::{Limited, is_for_keys, limited};
pub(crate) use logical::unread;
pub use outcome::{Plan, Planned, Purpose, Told, Unit};
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::feature::{Context, SessionView};
use pando_kernel::merge::MergePlan;
use pando_kernel::route::{Spread, Target, Units};
use pando_sql::Edits;
use pando_sql::ast::Statement;
pub(crate) use relocation::{Change, Relocation, is_for_moving, moved_table, relocation};
pub(crate) use state::{commits, is_unread, keeps_key};
pub(crate) use template::with_text;
pub use template::{Fit, Template};
pub(crate) use temporary::unit_for;

/// Plans a statement.
///
/// # Errors
/// `Refused`, `ShardingValue`, `UnknownTable`: nothing has been sent anywhere then.
pub fn plan(ctx: &Context<'_>, stmt: &Statement, purpose: Purpose) -> Result<Planned> {
    match purpose {
        Purpose::Run => {
            state::check(ctx, stmt)?;
            dropped::is_spelled(ctx, stmt)?;
            let planned = planned(ctx, stmt, purpose).map_err(|error| dropped::told(stmt, error));
            planned.map(|planned| judged(ctx, stmt, planned))
        }
        Purpose::Describe => {
            let session = SessionView { describes: true, ..ctx.session.clone() };
            planned(&Context { session: &session, ..*ctx }, stmt, purpose)
        }
    }
}

fn planned(ctx: &Context<'_>, stmt: &Statement, purpose: Purpose) -> Result<Planned> {
    if let Some(units) = named_unit(ctx, stmt)? {
        let nothing = (MergePlan::iterate(), Edits::default());
        return rewrite::finish(ctx, stmt, units, nothing)
            .map(|plan| Planned::Plan(Box::new(plan)));
    }
    check::bound_to_one(ctx, &stmt.kind)?;
    let restated = logical::logical(ctx, stmt)?;
    let stmt = restated.as_ref().unwrap_or(stmt);
    match direct(ctx, stmt, purpose) {
        // Nobody but their own connection reads temporary tables.
        Err(error) if is_for_assembly(&error) && temporary::concerned(ctx, stmt).is_none() => {
            if is_for_choosing(stmt, &error) {
                match chosen(ctx, stmt)? {
                    // It runs in steps, which read less.
                    Ok(Some(_)) => return Err(error),
                    Ok(None) => {}
                    Err(need) => return Ok(Planned::Needs(need)),
                }
            }
            assemble::assemble(ctx, stmt, (purpose, assemble::Form::Any), error)
        }
        planned => planned,
    }
}

/// Plans a statement as an assembly, because the answers of its units turned out to be more than merging can handle.
///
/// # Errors
/// `refusal` when it cannot be assembled either.
pub(crate) fn apart(ctx: &Context<'_>, stmt: &Statement, refusal: Error) -> Result<Planned> {
    let restated = logical::logical(ctx, stmt)?;
    let stmt = restated.as_ref().unwrap_or(stmt);
    let planned = assemble::assemble(ctx, stmt, (Purpose::Run, assemble::Form::Tables), refusal);
    planned.map(|planned| judged(ctx, stmt, planned))
}

/// What was planned, and what it may leave on its connections.
fn judged(ctx: &Context<'_>, stmt: &Statement, planned: Planned) -> Planned {
    let mut planned = planned;
    if let Planned::Plan(plan) = &mut planned {
        effects::judge(ctx, stmt, plan);
    }
    planned
}

/// Whether a refusal speaks of merging and routing, not of what someone forbade.
pub(crate) fn is_for_assembly(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Refused { code: 30001 | 20030 | 20034 | 20035 | 20101, .. })
}

/// Whether a hint names the unit a statement goes to.
pub(crate) fn names_unit(stmt: &Statement) -> bool {
    hinted_unit(stmt).is_some()
}

fn hinted_unit(stmt: &Statement) -> Option<&str> {
    let named = |key: &str| matches!(key, "DATA_SOURCE_NAME" | "DATASOURCENAME");
    stmt.hints.iter().find(|(key, _)| named(key)).map(|(_, name)| &**name)
}

/// The unit a hint names: the statement goes there as it is, past all rooms.
fn named_unit(ctx: &Context<'_>, stmt: &Statement) -> Result<Option<Units>> {
    let Some(name) = hinted_unit(stmt) else { return Ok(None) };
    let unit = ctx.database.units.iter().find(|unit| unit.eq_ignore_ascii_case(name));
    let unit = unit.ok_or_else(|| {
        pando_kernel::Error::refused(
            12200,
            format!("the hint names storage unit `{name}`, which does not exist"),
            "",
        )
    })?;
    Ok(Some(Units::new(vec![Target::whole(Arc::clone(unit))], Spread::Gather)))
}
