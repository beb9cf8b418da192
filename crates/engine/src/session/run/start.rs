//! A plan is run: on one storage unit, or on several whose replies become one.

use std::sync::Arc;

use pando_kernel::error::{Error, Result};
use pando_kernel::event::{Completion, Event};
use pando_kernel::feature::Catalog;
use pando_kernel::merge::MergePlan;
use pando_kernel::route::Spread;
use pando_kernel::{Columns, Value};
use pando_sql::ast::{InsertSource, Kind};

use crate::copy_rows::{RowCount, Splice};
use crate::execute::{Loaded, Renumbering, Source, columns_of, load, run_out, share};
use crate::merge::{Input, Limits, Merge};
use crate::plan;
use crate::plan::{Plan, Unit};
use crate::variables::UNKNOWN;

use crate::session::Session;
use crate::session::connections::release;
use crate::session::connections::release::Rest;
use crate::session::given::{Given, Run};
use crate::session::reply::command_tag::tag;
use crate::session::reply::logic_names::{Origin, Teller};
use crate::session::reply::pieces::{CopyOut, MadeKeys, MadeThere, Merged, Pass, Reply, Verb};
use crate::session::reply::pull::finish;
use crate::session::reply::told_rows::Merging;
use crate::session::reply::turned_rows::Turning;
use crate::session::reply::warnings;
use crate::session::run::early_release::{Begun, Parted};
use crate::session::run::jobs::Started;
use crate::session::run::{
    connect, context, counted_tables, early_release, insert_keys, mirrors, oids, uncounted,
};

impl Verb {
    /// Of a planned statement.
    ///
    /// # Errors
    /// What keeps a table's columns from being read.
    pub(in crate::session) async fn of(
        session: &mut Session,
        run: Run<'_>,
        given: &Given,
    ) -> Result<Self> {
        let Run { live, stmt, plan } = run;
        let kind = &stmt.kind;
        let defines = defines(kind) && !session.temporary.concerns_temporaries();
        let uncounted = uncounted::note_uncounted(session, run).await?;
        Ok(Self {
            // By a template the values are not the statement's own.
            gives_keys: match given.is_counted {
                true => !insert_keys::asks(stmt),
                false => insert_keys::gives_keys(session, live, stmt, given).await?,
            },
            rows: None,
            copied: if let Kind::Copy(copy) = kind { Some(RowCount::of(copy)) } else { None },
            last_key: Some(given.last_number).filter(|last| *last != 0),
            made: made_keys(run, given),
            became: None,
            computes: given.recounted.clone(),
            tag: tag(kind),
            selects: matches!(kind, Kind::Select(_) | Kind::Show(_)),
            defines,
            recounts: match defines {
                true => counted_tables::concerned(session, live, stmt),
                false => Vec::new(),
            },
            key: Some(given.first_number).filter(|first| *first != 0).or_else(|| first_key(plan)),
            upserts: upserts(kind),
            changes: plan::changes_in_with(kind),
            calculates: matches!(kind, Kind::Select(query) if plan::counts_found(query)),
            assigns: plan.assigns.clone(),
            unread: plan::is_unread(kind),
            caution: match defines {
                true => context::in_context(session, live, None, |ctx| {
                    plan::unique_parts::told(ctx, stmt)
                }),
                false => None,
            },
            uncounted,
        })
    }
}

/// One unit: its reply is passed on.
pub(in crate::session) async fn start_one(
    session: &mut Session,
    run: Run<'_>,
    given: &mut Given,
    verb: Verb,
) -> Result<()> {
    let Some(unit) = run.plan.units.first() else {
        return Err(Error::internal("a plan without units"));
    };
    if let Some(names) = &verb.assigns {
        session.settings.will_be_set(names)?;
    }
    let mut channel = connect::start_unit(session, run.live, run.plan, unit, given).await?;
    mirrors::tap(session, run, std::slice::from_mut(&mut channel));
    if verb.assigns.is_some() {
        channel.connection.set_session_state(UNKNOWN);
    }
    let numbers = oids::of_only(session, run.live, run.plan);
    channel.renumber(Renumbering::of(&run.live.database.dialect, numbers.as_ref()));
    let pass = Pass {
        channel,
        origin: Origin::of(run.live, run.plan, Teller { at: 0, numbers }),
        turning: Turning::of_unit(
            &run.live.database,
            session.place.facts(),
            &run.stmt.kind,
            run.plan,
        ),
        columns: None,
        completion: None,
        rows: 0,
        refusal: None,
        verb,
    };
    session.outbox.answers_with(Reply::Pass(Box::new(pass)));
    Ok(())
}

/// Several units: reads the beginning of each reply, then merges rows or adds up counts.
pub(in crate::session) async fn start_many(
    session: &mut Session,
    run: Run<'_>,
    given: &Given,
    verb: Verb,
) -> Result<()> {
    let Run { live, stmt, plan } = run;
    let splice = splice(&stmt.kind, plan.units.len())?;
    let mut started = connect::start_units(session, live, plan, given).await?;
    mirrors::tap(session, run, &mut started.channels);
    for (channel, jobs) in started.channels.iter_mut().zip(&started.jobs) {
        let unit = jobs.first().and_then(|job| plan.units.get(*job));
        channel.renumber(oids::renumbering(session, live, unit));
    }
    if verb.defines {
        started.channels.iter_mut().for_each(crate::execute::Channel::go_on_after_errors);
    }
    let Started { mut channels, jobs } = started;
    let leave = session.work.leave(plan, &verb, &jobs);
    let result = match early_release::beginnings(session, &mut channels, leave).await {
        Ok(Begun { mut heads, .. })
            if heads.iter().any(|head| matches!(head, Some(Event::CopyOut(_)))) =>
        {
            session.outbox.tell_all(heads.drain(..).flatten().next());
            let splice = splice.ok_or_else(|| Error::internal("a COPY nobody asked for"))?;
            let copy = CopyOut { channels, splice, at: 0, ended: false, verb };
            session.outbox.answers_with(Reply::CopyOut(Box::new(copy)));
            return Ok(());
        }
        Ok(Begun { heads, parted })
            if parted.is_empty() && heads.iter().all(|head| columns_of(head).is_none()) =>
        {
            run_out(&mut channels).await.map(|()| None)
        }
        Ok(begun) => Ok(Some(begun)),
        Err(error) => Err(error),
    };
    match result {
        Ok(None) => {
            // Where all do the same thing the answer is the first target's.
            let leading = jobs.iter().position(|jobs| jobs.contains(&0));
            if let (Spread::Same, Some(leading)) = (plan.spread, leading) {
                channels.swap(0, leading);
            }
            finish::end_counts(session, channels, plan, &verb).await
        }
        Ok(Some(begun)) => merge(session, run, verb, Started { channels, jobs }, begun).await,
        Err(error) => {
            let rest = if verb.defines { Rest::Wanted } else { Rest::Useless };
            release::stop(session, &mut channels, rest).await;
            release::undo_if_open(session, &mut channels).await;
            release::release_channels(session, channels).await;
            Err(error)
        }
    }
}

pub(in crate::session) async fn merge(
    session: &mut Session,
    run: Run<'_>,
    verb: Verb,
    started: Started,
    begun: Begun,
) -> Result<()> {
    let Run { live, stmt, plan } = run;
    let Started { mut channels, jobs } = started;
    let Begun { heads, parted } = begun;
    let one_each = jobs.iter().all(|jobs| jobs.len() == 1);
    let numbered = plan.merge.turns.is_some();
    let in_turn =
        plan.merge.order.is_empty() && plan.merge.group.is_none() && plan.merge.distinct.is_none();
    let limit = session.place.properties().memory_bytes;
    let dialect = Arc::clone(&live.database.dialect);
    let catalog = Arc::clone(session.work.catalog(live));
    let dress = |mut columns: Columns, at: usize| {
        let numbers = plan.units.get(at).and_then(|unit| catalog.numbers(&unit.target.unit));
        Origin::of(live, plan, Teller { at, numbers }).rename(&mut columns);
        columns
    };
    let same = plan.spread == Spread::Same;
    let (inputs, shared, loaded) = if !same && !numbered && (one_each || in_turn) {
        let shared = share(channels);
        let columns = heads.iter().filter_map(columns_of).cloned();
        let input =
            |(columns, channel)| Input { columns, rows: Source::Stream(Arc::clone(channel)) };
        let mut inputs: Vec<_> = columns.zip(&shared).map(input).collect();
        let loaded = among(&mut inputs, parted);
        // The client is told those of the first.
        if let Some(first) = inputs.first_mut() {
            let at = jobs.first().and_then(|jobs| jobs.first()).copied().unwrap_or(0);
            first.columns = dress(first.columns.clone(), at);
        }
        (inputs, shared, loaded)
    } else {
        let replies = match load(&mut channels, heads, limit).await {
            Ok(replies) => replies,
            Err(error) => {
                release::abort(session, channels).await;
                return Err(error);
            }
        };
        let mut inputs = in_plan_order(replies, &jobs, &dress);
        let said = if same { channels.len().min(1) } else { channels.len() };
        session.outbox.pass_notices(&mut channels[..said]);
        warnings::read_ahead(session, &mut channels[..said]).await;
        let mut ended: Vec<_> =
            channels.iter_mut().flat_map(|c| std::mem::take(&mut c.completions)).collect();
        release::release_channels(session, channels).await;
        if same {
            // A row that is locked in one copy is passed over in all of them: such a query is about one row.
            let fewest = |input: &Input<Source>| rows_of(&input.rows).unwrap_or_default();
            let at = (0..inputs.len()).min_by_key(|at| fewest(&inputs[*at]));
            if let Some(at) = at.filter(|_| plan::passes_over_locked(stmt)) {
                inputs.swap(0, at);
            }
            inputs.truncate(1);
            ended.truncate(1);
        }
        (inputs, Vec::new(), ended)
    };
    let limits = Limits { memory_bytes: limit };
    let one_by_one;
    let how = if numbered && !has_all(&plan.merge, &inputs) {
        one_by_one = MergePlan { turns: None, ..plan.merge.clone() };
        &one_by_one
    } else {
        &plan.merge
    };
    let turning = Turning::of_cells(&live.database, plan);
    let merged = Merge::new(how, inputs, dialect.as_ref(), limits).and_then(|merge| {
        match (&plan.merge.told, turning) {
            (Some(how), Some(turning)) => {
                let merge = Merging::told(merge, turning, how, dialect.as_ref(), limits);
                merge.map(|merge| (merge, None))
            }
            (Some(_), None) => Err(Error::internal("rows are merged as told, and none is turned")),
            (None, turning) => Ok((Merging::Stored(merge), turning)),
        }
    });
    match merged {
        Ok((merge, turning)) => {
            let merged = Merged {
                merge,
                turning,
                channels: shared,
                rows: 0,
                announced: false,
                loaded,
                verb,
            };
            session.outbox.answers_with(Reply::Merged(Box::new(merged)));
            Ok(())
        }
        Err(error) => {
            release::abort(session, crate::execute::unshare(shared)).await;
            Err(error)
        }
    }
}

/// How the bulk data of several units becomes one stream.
pub(in crate::session) fn splice(kind: &Kind, units: usize) -> Result<Option<Splice>> {
    if let Kind::Copy(copy) = kind
        && units > 1
    {
        return Splice::new(copy).map(Some);
    }
    Ok(None)
}

/// Puts replies whose connections are home in their places among the others, the last that was taken out first. Result:
/// how they ended.
pub(in crate::session) fn among(
    inputs: &mut Vec<Input<Source>>,
    parted: Vec<Parted>,
) -> Vec<Completion> {
    let mut ended = Vec::new();
    for Parted { at, columns, rows, completions } in parted.into_iter().rev() {
        inputs.insert(at.min(inputs.len()), Input { columns, rows: Source::Memory(rows) });
        ended.extend(completions);
    }
    ended
}

/// Whether every target has a row for each of its turns. Where one has left rows out (ON CONFLICT DO NOTHING, IGNORE, a
/// trigger), nobody knows which.
pub(in crate::session) fn has_all(plan: &MergePlan, inputs: &[Input<Source>]) -> bool {
    let mut owed = vec![0usize; inputs.len()];
    for turn in plan.turns.iter().flat_map(|turns| turns.iter()) {
        if let Some(owed) = owed.get_mut(*turn as usize) {
            *owed += 1;
        }
    }
    inputs.iter().zip(owed).all(|(input, owed)| rows_of(&input.rows) == Some(owed))
}

/// How many rows there are, where all have come.
fn rows_of(source: &Source) -> Option<usize> {
    match source {
        Source::Memory(rows) => Some(rows.iter().map(|rows| rows.count as usize).sum()),
        Source::Stream(_) => None,
    }
}

pub(in crate::session) fn in_plan_order(
    replies: Vec<Vec<Loaded>>,
    jobs: &[Vec<usize>],
    dress: &dyn Fn(Columns, usize) -> Columns,
) -> Vec<Input<Source>> {
    let mut inputs: Vec<(usize, Input<Source>)> = Vec::new();
    for (replies, jobs) in replies.into_iter().zip(jobs) {
        for (reply, job) in replies.into_iter().zip(jobs) {
            let Some(columns) = reply.columns else { continue };
            let columns = dress(columns, *job);
            inputs.push((*job, Input { columns, rows: Source::Memory(reply.rows) }));
        }
    }
    inputs.sort_by_key(|(job, _)| *job);
    inputs.into_iter().map(|(_, input)| input).collect()
}

/// What tells which of the keys that were made have become rows.
fn made_keys(run: Run<'_>, given: &Given) -> Option<MadeKeys> {
    let made = given.made.as_ref()?;
    let dialect = &run.live.database.dialect;
    let column = dialect.quote(&made.column);
    let numbers: Vec<String> = made.numbers.iter().map(u64::to_string).collect();
    let there = |unit: &Unit| {
        let table = dialect.quote(unit.target.actual(&made.table)?);
        let numbers = numbers.join(", ");
        let query = format!("SELECT MIN({column}) FROM {table} WHERE {column} IN ({numbers})");
        Some(MadeThere { unit: unit.target.unit.clone(), query })
    };
    let there = run.plan.units.iter().filter_map(there).collect();
    Some(MadeKeys { rows: made.rows, there })
}

/// Whether a statement may change definitions.
pub(in crate::session) fn defines(kind: &Kind) -> bool {
    let changes_rows = matches!(kind, Kind::Utility { verb, .. } if verb == "MERGE");
    matches!(kind, Kind::Define(_) | Kind::Utility { .. } | Kind::Opaque) && !changes_rows
}

/// The rows of an INSERT that changes those which are there.
pub(in crate::session) fn upserts(kind: &Kind) -> Option<u64> {
    let Kind::Insert(insert) = kind else { return None };
    let InsertSource::Values { rows, .. } = &insert.source else { return None };
    let changes = !insert.on_duplicate.is_empty() && insert.modifiers.iter().all(|m| m != "IGNORE");
    changes.then_some(rows.len() as u64)
}

/// The first generated key as a number; 0 where the others are not those that follow it, as clients count on from it.
/// `None` where none is a number.
pub(in crate::session) fn first_key(plan: &Plan) -> Option<u64> {
    let number = |value: &Value| match value {
        Value::Int(n) => u64::try_from(*n).ok(),
        Value::UInt(n) => Some(*n),
        Value::Null
        | Value::Bool(_)
        | Value::Float(_)
        | Value::Decimal(_)
        | Value::Text(_)
        | Value::Bytes(_) => None,
    };
    let mut numbers = plan.keys.iter().flat_map(|keys| &keys.values).filter_map(number);
    let first = numbers.next()?;
    let follow = numbers.zip(1..).all(|(own, after)| first.checked_add(after) == Some(own));
    Some(if follow { first } else { 0 })
}
