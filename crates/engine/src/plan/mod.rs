//! Planning: one pure function from a snapshot, a session and a statement to a plan. A plan is plain data: it is what tests compare,
//! what PREVIEW prints, and what execution runs.

mod about;
mod apart;
mod as_seen;
mod assemble;
mod cells;
mod check;
mod clock;
mod effects;
mod environment;
mod fields;
mod fulltext;
mod labels;
mod leftovers;
mod merge_plan;
mod numbering;
mod over_told;
mod parse;
mod plain;
mod planned;
mod restate;
mod rewrite;
mod route;
mod routine_names;
mod row_tables;
mod special;
mod steps;
mod template;
mod views;

pub(crate) use about::{
    any_unit, any_unit_of, changes_in_with, is_for_assembly, leaders, without_units, writer_of,
    writes,
};
pub(crate) use apart::apart;
pub use assemble::{Assembly, Read, Typed};
pub(crate) use cells::table_query;
pub(crate) use check::{counts_found, unknown};
use clock::timely;
pub(crate) use effects::{may_write, unknown as unknown_effects};
pub(crate) use leftovers::{commits, given_to, into_of, is_unread, keeps_key};
use pando_kernel::error::{Because, Result};
use pando_kernel::feature::{Context, SessionView};
use pando_kernel::merge::MergePlan;
use pando_sql::Edits;
use pando_sql::ast::Statement;
pub(crate) use parse::unread;
pub use planned::{Plan, Planned, Purpose, Told, Unit};
pub(crate) use route::names_unit;
pub(crate) use special::catalogue::{columns_at, figures_questions, shown_at};
pub(crate) use special::servers::{may_tell_twice, tell_once};
pub(crate) use special::temporary::unit_for;
pub(crate) use special::{
    computed_set, counted_rows, counted_sets, left_numbers, sequence_calls, unique_parts,
};
use special::{missing, own_counts, tell_calls, temporary};
pub(crate) use steps::chosen_rows::{Answer, Choice};
pub(crate) use steps::in_steps;
pub(crate) use steps::insert_select::taken;
pub(crate) use steps::locked_rows::{Bound, Home, passes_over_locked};
pub(crate) use steps::move_rows::{Change, MoveRows, move_rows};
pub(crate) use steps::server_calls::{ServerArgument, ServerCall};
pub(crate) use steps::table_of_query::{Rows, over_nothing, probing_unit};
pub use steps::{
    ChosenRows, FirstRows, InSteps, InsertSelect, LockedRows, MovedTable, Refilled, ServerCalls,
    Steps, TableLike, TableOfQuery,
};
use steps::{chosen_rows, in_turn, refill};
pub(crate) use template::one::with_text;
pub use template::one::{Fit, Template};
pub use template::parameterize::lifted::{Chance, Lifted};
pub(crate) use views::{Expanded, Stored, are_possible, expanded, materialized, of_view, told};

/// Plans a statement.
///
/// # Errors
/// `Refused`, `ShardingValue`, `UnknownTable`: nothing has been sent anywhere then.
pub fn plan(ctx: &Context<'_>, stmt: &Statement, purpose: Purpose) -> Result<Planned> {
    environment::settled(ctx, stmt, |ctx| settled(ctx, stmt, purpose))
}

fn settled(ctx: &Context<'_>, stmt: &Statement, purpose: Purpose) -> Result<Planned> {
    match purpose {
        Purpose::Run => {
            let assigned = match leftovers::check(ctx, stmt) {
                Ok(assigned) => assigned,
                Err(refusal) => return in_steps(ctx, stmt, refusal),
            };
            missing::is_spelled(ctx, stmt)?;
            if let Some(planned) = refill::planned(ctx, stmt)? {
                return Ok(planned);
            }
            let planned = planned(ctx, stmt, purpose)
                .and_then(|planned| special::sequence_homes::at_home(ctx, stmt, planned))
                .or_else(|error| in_steps(ctx, stmt, error))
                .and_then(|planned| tell_calls::as_often(ctx, stmt, planned));
            let planned =
                planned.map_err(|error| missing::told(stmt, missing::first(ctx, stmt, error)));
            let planned = leftovers::assigning(effects::all_judged(ctx, stmt, planned?), assigned)?;
            in_turn(ctx, stmt, planned)
        }
        Purpose::Describe => {
            let session = SessionView { describes: true, ..ctx.session.clone() };
            planned(&Context { session: &session, ..*ctx }, stmt, purpose)
                .or_else(|error| in_steps(ctx, stmt, error))
                .map_err(|error| missing::first(ctx, stmt, error))
        }
    }
}

fn planned(ctx: &Context<'_>, stmt: &Statement, purpose: Purpose) -> Result<Planned> {
    let written = match as_seen::written_out(ctx, stmt)? {
        Ok(written) => written,
        Err(need) => return Ok(Planned::Needs(need)),
    };
    let stmt = written.as_ref().unwrap_or(stmt);
    if let Some(units) = route::named_unit(ctx, stmt)?.or_else(|| tell_calls::home(ctx, stmt)) {
        let merge = MergePlan { cells: cells::shown(ctx, stmt)?, ..MergePlan::iterate() };
        let nothing = (merge, Edits::default());
        return rewrite::finish(ctx, rewrite::Text::whole(stmt), units, nothing)
            .map(|plan| Planned::Run(Box::new(plan)));
    }
    check::bound_to_one(ctx, &stmt.kind)?;
    if let Some(need) = own_counts::check(ctx, stmt)? {
        return Ok(Planned::Needs(need));
    }
    let restated = restate::restated(ctx, stmt)?;
    let stmt = restated.as_ref().unwrap_or(stmt);
    let alike = temporary::alike(ctx, stmt)?;
    let stmt = alike.as_ref().unwrap_or(stmt);
    match timely(ctx, stmt, purpose) {
        Err(refusal) if is_for_assembly(&refusal) => {
            // An assembly would read more.
            match chosen_rows::take_apart(ctx, stmt)? {
                Ok(Some(parts)) => {
                    let steps = Steps::ChosenRows(parts);
                    Ok(Planned::Steps(Box::new(InSteps { steps, refusal })))
                }
                Ok(None) => assemble::assemble(ctx, stmt, (purpose, assemble::Form::Any), refusal),
                Err(need) => Ok(Planned::Needs(need)),
            }
        }
        Err(refusal) if refusal.refusal() == Some(Because::StoredOtherwise) => {
            over_told::over_told(ctx, stmt, purpose, refusal)
        }
        planned => planned,
    }
}
