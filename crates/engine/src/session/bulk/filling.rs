//! Columns that bulk data leaves out though each row has a value of its own there: keys that a room makes, and what is
//! counted. They stand first in what the shards are told.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use pando_kernel::Value;
use pando_kernel::error::{Error, Result};
use pando_kernel::feature::Context;
use pando_kernel::route::{Need, Route};
use pando_sql::ast::{Kind, Statement};
use pando_sql::parse;

use crate::counters::{self, Order, Row, Steps};
use crate::plan;
use crate::plan::counted_rows::Want;
use crate::plan::{Plan, Purpose};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::bulk::copy::routing_insert;
use crate::session::given::Given;
use crate::session::reply::copy_in::{CopyIn, Filling, Moving};
use crate::session::run::counted_tables::counter;
use crate::session::run::{context, find_out, ready};
use crate::session::statement::{counters as by_sequence, numbered, sequence_calls};

/// Numbers of a sequence that are asked for at once, at most.
const MOST: usize = 1024;

/// What is known of lines before one has come.
#[derive(Debug)]
pub(in crate::session) struct Lines<'a> {
    pub(in crate::session) stmt: &'a Statement,
    /// The INSERT that routes a line.
    pub(in crate::session) insert: Statement,
    pub(in crate::session) logic: &'a str,
    pub(in crate::session) columns: &'a [String],
    pub(in crate::session) plan: Plan,
}

/// The same, with what the lines leave out.
#[derive(Debug)]
pub(in crate::session) struct Filled {
    pub(in crate::session) plan: Plan,
    pub(in crate::session) insert: Statement,
    /// What stands first in what the shards are told.
    pub(in crate::session) column: Option<String>,
    pub(in crate::session) filling: Option<Filling>,
    pub(in crate::session) moving: Option<Moving>,
}

/// What the rooms say to a line.
enum Said {
    /// It has all its columns.
    Whole,
    /// This one is made for it.
    Makes(String),
    /// A column is to be counted.
    Counts(Error),
}

/// Finds what lines leave out, and has the shards told so.
///
/// # Errors
/// What planning refuses: one among it that says how to give the column.
pub(in crate::session) async fn filled(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    lines: Lines<'_>,
) -> Result<Filled> {
    let moving = moving(session, live, &lines).await?;
    let said = match lines.plan.units.len() {
        1 => Said::Whole,
        _ => find_out::find_out_until(session, live, None, |ctx| said(ctx, &lines.insert)).await?,
    };
    let Lines { stmt, insert, logic, columns, plan } = lines;
    let is_plain = plan.fields.is_empty();
    let (column, filling) = match said {
        Said::Makes(column) if is_plain => (column, Filling::Made),
        Said::Counts(refusal) if is_plain => count(session, live, &insert, refusal).await?,
        Said::Whole | Said::Makes(_) | Said::Counts(_) => {
            return Ok(Filled { plan, insert, column: None, filling: None, moving });
        }
    };
    let Some(listing) = led(live, stmt, &column)? else {
        return Ok(Filled { plan, insert, column: None, filling: None, moving });
    };
    let plan = ready::single_plan(session, live, &listing, &Given::default(), Purpose::Run).await?;
    let insert = match filling {
        Filling::Made => insert,
        Filling::Counted { .. } | Filling::Numbered { .. } => {
            let mut all = vec![column.clone()];
            all.extend(columns.iter().cloned());
            routing_insert(live, logic, &all)?
        }
    };
    Ok(Filled { plan, insert, column: Some(column), filling: Some(filling), moving })
}

/// The field behind which a counter counts on, if one comes.
async fn moving(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    lines: &Lines<'_>,
) -> Result<Option<Moving>> {
    if pando_kernel::counters::of(live.database.dialect.as_ref()).is_none()
        || lines.plan.units.len() < 2
    {
        return Ok(None);
    }
    let counts = |ctx: &Context<'_>| {
        let Some(known) = ctx.catalog.columns(lines.logic) else {
            return Ok(Err(Need::Columns(lines.logic.to_owned())));
        };
        let column = known.iter().find(|column| column.auto_increment);
        Ok(Ok(column.map(|column| column.name.clone())))
    };
    let Some(column) = find_out::find_out_until(session, live, None, counts).await? else {
        return Ok(None);
    };
    let at = lines.columns.iter().position(|name| name.eq_ignore_ascii_case(&column));
    let (Some(at), Some(counted)) = (at, counter(session, live, lines.logic)) else {
        return Ok(None);
    };
    Ok(Some(Moving { at, counted, first: 0 }))
}

/// What the rooms say to a line of which no value is known.
fn said(ctx: &Context<'_>, insert: &Statement) -> Result<std::result::Result<Said, Need>> {
    let mut route = Route::Unclaimed;
    for feature in &ctx.database.features {
        match feature.route(ctx, insert, &mut route) {
            Err(error) if by_sequence::is_uncounted(insert, &error) => {
                return Ok(Ok(Said::Counts(error)));
            }
            routed => routed?,
        }
        if let Route::Needs(need) = route {
            return Ok(Err(need));
        }
    }
    let Route::Units(units) = route else { return Ok(Ok(Said::Whole)) };
    Ok(Ok(units.keys.map_or(Said::Whole, |keys| Said::Makes(keys.column))))
}

/// The one column that is to be counted, and what counts it.
async fn count(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    insert: &Statement,
    refusal: Error,
) -> Result<(String, Filling)> {
    let Kind::Insert(target) = &insert.kind else { return Err(refusal) };
    if pando_kernel::counters::of(live.database.dialect.as_ref()).is_some() {
        let found = find_out::find_out_until(session, live, None, |ctx| {
            Ok(plan::counted_rows::wants(ctx, target, &insert.text))
        });
        let Some(found) = found.await? else { return Err(refusal) };
        let counted = counter(session, live, &found.table).ok_or(refusal)?;
        return Ok((found.column, Filling::Counted { counted, first: 0 }));
    }
    let wanting = find_out::find_out_until(session, live, None, |ctx| {
        Ok(plan::sequence_calls::wanting(ctx, target, &insert.text))
    });
    let wanting = wanting.await?;
    let [column] = &wanting[..] else { return Err(refusal) };
    let sequence =
        context::in_context(session, live, None, |ctx| plan::sequence_calls::counter(ctx, column));
    let sequence = sequence.ok_or(refusal)?;
    let numbered = Filling::Numbered { sequence, left: VecDeque::new(), size: 1, last: None };
    Ok((column.column.clone(), numbered))
}

/// The statement with a further column first in its list; `None` where it has no list.
#[expect(clippy::wildcard_enum_match_arm, reason = "only two statements carry bulk data")]
fn led(live: &LiveDatabase, stmt: &Statement, column: &str) -> Result<Option<Statement>> {
    let at = match &stmt.kind {
        Kind::Copy(copy) => copy.columns_at,
        Kind::Load(load) => load.columns_at,
        _ => return Ok(None),
    };
    let Some((before, behind)) = stmt.text.split_at_checked(at as usize) else {
        return Err(Error::internal("a column list has no place"));
    };
    let Some(list) = behind.trim_start().strip_prefix('(') else { return Ok(None) };
    let dialect = live.database.dialect.as_ref();
    let text = format!("{before} ({}, {list}", dialect.quote(column));
    parse(&text, dialect.syntax()).map(Some).map_err(crate::plan::unread)
}

/// The number of the next line, where lines are counted.
///
/// # Errors
/// What counts them says.
pub(in crate::session) async fn counted(
    session: &mut Session,
    copy: &mut CopyIn,
) -> Result<Option<Value>> {
    let live = Arc::clone(&copy.live);
    let (sequence, left, size, last) = match &mut copy.filling {
        None | Some(Filling::Made) => return Ok(None),
        Some(Filling::Counted { counted, first }) => {
            let numbers = numbered::drawn(session, &live, counted, &[Row::Wanted]).await?;
            let number = numbers.first().copied().unwrap_or_default();
            *first = if *first == 0 { number } else { *first };
            return Ok(Some(Value::UInt(number)));
        }
        Some(Filling::Numbered { sequence, left, size, last }) => (sequence, left, size, last),
    };
    if left.is_empty() {
        left.extend(sequence_calls::drawn(session, &live, sequence, *size).await?);
        *size = (*size * 2).min(MOST);
    }
    *last = left.pop_front();
    last.map(|number| Some(Value::Int(number)))
        .ok_or_else(|| Error::internal("a sequence gave no number"))
}

/// What a line brings for the column that is counted, where no place is known for it.
pub(in crate::session) fn brought(copy: &CopyIn, line: &[u8]) -> Option<Value> {
    let moving = copy.moving.as_ref()?;
    let fields = copy.records.fields(line, None).ok()?;
    fields.into_iter().nth(moving.at)
}

/// Moves a counter behind what a line brings. One that leaves it to be counted comes back with its number.
///
/// # Errors
/// `Refused` for what only the server reads as a number, and what the counter says.
pub(in crate::session) async fn moves(
    session: &mut Session,
    copy: &mut CopyIn,
    line: &[u8],
    brings: Option<&Value>,
) -> Result<Option<Bytes>> {
    let (Some(value), Some(moving)) = (brings, &mut copy.moving) else { return Ok(None) };
    let row = match plan::counted_rows::of_value(&copy.view, value) {
        Want::Beyond(value) => Row::Given(value),
        Want::Nothing => return Ok(None),
        Want::Number => {
            let live = Arc::clone(&copy.live);
            let numbers = numbered::drawn(session, &live, &moving.counted, &[Row::Wanted]).await?;
            let number = numbers.first().copied().unwrap_or_default();
            moving.first = if moving.first == 0 { number } else { moving.first };
            return copy.records.with(line, moving.at, &Value::UInt(number)).map(Some);
        }
        Want::OfParameter(_) | Want::Computed => {
            return Err(Error::unsupported(
                30001,
                format!(
                    "line {} of the bulk data brings what only a shard reads as a number",
                    copy.rows_read + 1
                ),
                "write it as a number, or leave the column out of the statement's list",
            ));
        }
    };
    let live = &copy.live;
    let runtime = Arc::clone(&session.place.engine().inner.runtime);
    let order = Order { counted: &moving.counted, rows: &[row], steps: Steps::default() };
    let moved = counters::numbers(live, &*runtime, order);
    session.place.handle().taken(moved).await.map(|_| None)
}

/// The last line has come: the session is told the last number of a sequence, and the first that was counted.
pub(in crate::session) fn ends(session: &mut Session, copy: &mut CopyIn) {
    let counted = match &copy.filling {
        Some(Filling::Counted { first, .. }) => *first,
        Some(Filling::Made | Filling::Numbered { .. }) | None => {
            copy.moving.as_ref().map_or(0, |moving| moving.first)
        }
    };
    if counted != 0 {
        copy.verb.key = Some(counted);
    }
    if let Some(Filling::Numbered { sequence, last: Some(last), .. }) = &copy.filling {
        let database = &copy.live.database.name;
        session.settings.sequence_values_mut().give(database, &sequence.key, Some(*last));
    }
}
