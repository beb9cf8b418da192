//! Columns that servers count by tables, on tables that stand in several shards: the ledger of their home counts for
//! all of them. An INSERT that leaves such a column out gets its numbers before it is planned; one that gives values
//! moves the counter before it runs, as far as they lie where somebody else might count.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pando_kernel::Value;
use pando_kernel::error::{Error, Result};
use pando_kernel::request::{Parameter, Prepared};
use pando_kernel::route::GeneratedKeys;
use pando_sql::ast::{Kind, Statement};

use crate::counters::{self, Counted, Order, Row, Steps};
use crate::plan;
use crate::plan::counted_rows::{CountedRows, Want, Written};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::{self, Given, Made};
use crate::session::run::counted_tables::counter;
use crate::session::run::{admission, find_out};

/// The INSERT with numbers in the column that its rows leave to be counted.
///
/// # Errors
/// `refusal` where nothing can count for all shards, and what the ledger's unit says.
///
/// # Cancel safety
/// Numbers that were taken are lost, as those of a statement that fails.
pub(in crate::session) async fn counted(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    refusal: Error,
) -> Result<(Statement, Given)> {
    let Some(found) = wants(session, live, stmt, Some(given)).await? else { return Err(refusal) };
    let Some(counted) = counter(session, live, &found.table) else { return Err(refusal) };
    counted.counter.is_wanted.store(true, Ordering::Relaxed);
    match with_numbers(session, live, Asking { stmt, given, found, counted }).await? {
        Some(own) => Ok((read(live, &own.text)?, own.given)),
        None => Err(refusal),
    }
}

/// An INSERT whose rows have their numbers.
pub(in crate::session) struct Filled {
    pub(in crate::session) text: Arc<str>,
    pub(in crate::session) given: Given,
}

/// An INSERT that wants numbers.
struct Asking<'a> {
    stmt: &'a Statement,
    given: &'a Given,
    found: CountedRows,
    counted: Arc<Counted>,
}

async fn with_numbers(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    asking: Asking<'_>,
) -> Result<Option<Filled>> {
    let Asking { stmt, given, found, counted } = asking;
    let rows = rows(&found)?;
    let numbers = drawn(session, live, &counted, &rows).await?;
    let mut own = given.for_another_text();
    own.is_counted = true;
    own.first_number = numbers.first().copied().unwrap_or_default();
    if may_pass_over(stmt) && !numbers.is_empty() {
        own.made = Some(Arc::new(Made {
            table: found.table.clone(),
            column: found.column.clone(),
            numbers: numbers.clone(),
            rows: found.wants.len() as u64,
        }));
    }
    let mut left = numbers.into_iter();
    let mut values = Vec::with_capacity(found.wants.len());
    for want in &found.wants {
        values.push(match want {
            Want::Number => left.next().map_or(Value::Null, Value::UInt),
            Want::OfParameter(at) => {
                let number = left.next().map_or(Value::Null, Value::UInt);
                if let Some(parameter) = own.parameters.get_mut(*at as usize) {
                    *parameter = Parameter::made(number);
                }
                Value::Null
            }
            Want::Beyond(_) | Want::Nothing | Want::Computed => Value::Null,
        });
    }
    let keys = GeneratedKeys { column: found.column, values };
    let written = if given.prepared { Written::AsParameters } else { Written::AsLiterals };
    let Some(filled) = filled(session, live, stmt, &keys, written).await? else { return Ok(None) };
    let numbers = keys.values.into_iter().filter(|value| !value.is_null());
    for (place, number) in filled.places.into_iter().zip(numbers) {
        own.parameters.insert(place.min(own.parameters.len()), Parameter::made(number));
        if place <= own.declared.len() {
            let mut declared = own.declared.to_vec();
            declared.insert(place, 0);
            own.declared = declared.into();
        }
    }
    Ok(Some(Filled { text: filled.text.into(), given: own }))
}

/// Reads a text that numbers were written into.
///
/// # Errors
/// None that a client could cause.
pub(in crate::session) fn read(live: &LiveDatabase, text: &str) -> Result<Statement> {
    pando_sql::parse(text, live.database.dialect.syntax()).map_err(plan::unread)
}

/// Moves the counter behind the values that an INSERT brings. One that leaves any to be counted comes back with
/// numbers, where it is known that nothing else makes them; else it is left to [`counted`].
///
/// # Errors
/// `Refused` for values that only a server knows, and what the ledger's unit says.
pub(in crate::session) async fn prepared(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &mut Given,
) -> Result<Option<Filled>> {
    if pando_kernel::counters::of(live.database.dialect.as_ref()).is_none()
        || !matches!(stmt.kind, Kind::Insert(_))
    {
        return Ok(None);
    }
    let Some(found) = wants(session, live, stmt, Some(given)).await? else { return Ok(None) };
    if found.wants.iter().all(|want| *want == Want::Nothing) {
        return Ok(None);
    }
    let Some(counted) = counter(session, live, &found.table) else { return Ok(None) };
    let wanted = |want: &Want| matches!(want, Want::Number | Want::OfParameter(_));
    let is_wanted = found.wants.iter().any(wanted);
    if is_wanted && !counted.counter.is_wanted.load(Ordering::Relaxed) {
        return Ok(None);
    }
    if given.awaits_admission {
        admission::admit_change(session, live, stmt).await?;
    }
    if is_wanted {
        return with_numbers(session, live, Asking { stmt, given, found, counted }).await;
    }
    let rows = rows(&found)?;
    drawn(session, live, &counted, &rows).await?;
    given.is_counted = true;
    if let Some(Want::Beyond(last)) = found.wants.last() {
        given.last_number = *last;
    }
    Ok(None)
}

/// Whether rows of an INSERT may become no new ones.
fn may_pass_over(stmt: &Statement) -> bool {
    let Kind::Insert(insert) = &stmt.kind else { return false };
    !insert.on_duplicate.is_empty() || insert.modifiers.iter().any(|word| word == "IGNORE")
}

/// Whether a statement may give rows that are there another number.
pub(in crate::session) fn may_set(stmt: &Statement) -> bool {
    match &stmt.kind {
        Kind::Update(_) => true,
        Kind::Insert(insert) => !insert.on_duplicate.is_empty(),
        Kind::Select(_)
        | Kind::Delete(_)
        | Kind::Define(_)
        | Kind::Transaction(_)
        | Kind::Set(_)
        | Kind::SetFor(_)
        | Kind::Show(_)
        | Kind::Use(_)
        | Kind::Kill { .. }
        | Kind::Preview(_)
        | Kind::Administration
        | Kind::Prepare { .. }
        | Kind::Execute { .. }
        | Kind::Immediate(_)
        | Kind::Deallocate(_)
        | Kind::Cursor(_)
        | Kind::Lock(_)
        | Kind::Copy(_)
        | Kind::Load(_)
        | Kind::Explain { .. }
        | Kind::Utility { .. }
        | Kind::Opaque
        | Kind::Empty => false,
    }
}

/// Moves counters behind the values that a change gives to rows which are there, and notes those whose values only
/// shards know: they are asked once it is done.
///
/// # Errors
/// What the ledger's unit says.
pub(in crate::session) async fn set(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &mut Given,
) -> Result<()> {
    if pando_kernel::counters::of(live.database.dialect.as_ref()).is_none() {
        return Ok(());
    }
    let look = find_out::find_out_until(session, live, Some(&*given), |ctx| {
        Ok(plan::counted_sets::sets(ctx, stmt))
    });
    for set in look.await? {
        let Some(counted) = counter(session, live, &set.table) else { continue };
        // A shape that comes again must come here again.
        given.learns = false;
        if given.awaits_admission {
            admission::admit_change(session, live, stmt).await?;
        }
        match set.value {
            Want::Beyond(value) => {
                drawn(session, live, &counted, &[Row::Given(value)]).await?;
            }
            Want::Computed | Want::Number | Want::OfParameter(_) => given.recounted.push(counted),
            Want::Nothing => {}
        }
    }
    Ok(())
}

/// A prepared INSERT with any numbers, for its description.
///
/// # Errors
/// `refusal` where the statement is not to be understood so.
pub(in crate::session) async fn describable(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    prepared: &Arc<Prepared>,
    refusal: Error,
) -> Result<Arc<Prepared>> {
    let stmt = &prepared.statement;
    let Some(found) = wants(session, live, stmt, None).await? else { return Err(refusal) };
    let value = |want: &Want| if *want == Want::Number { Value::Int(1) } else { Value::Null };
    let values = found.wants.iter().map(value).collect();
    let keys = GeneratedKeys { column: found.column, values };
    let filled = filled(session, live, stmt, &keys, Written::AsLiterals).await?;
    Ok(given::in_place_of(prepared, read(live, &filled.ok_or(refusal)?.text)?))
}

async fn wants(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: Option<&Given>,
) -> Result<Option<CountedRows>> {
    let Kind::Insert(insert) = &stmt.kind else { return Ok(None) };
    find_out::find_out_until(session, live, given, |ctx| {
        Ok(plan::counted_rows::wants(ctx, insert, &stmt.text))
    })
    .await
}

fn rows(found: &CountedRows) -> Result<Vec<Row>> {
    let row = |want: &Want| match want {
        Want::Number | Want::OfParameter(_) => Some(Ok(Row::Wanted)),
        Want::Beyond(value) => Some(Ok(Row::Given(*value))),
        Want::Nothing => None,
        Want::Computed => Some(Err(Error::unsupported(
            30001,
            format!(
                "a value that `{}` of `{}` is to have is computed by a shard, and all shards count on behind it",
                found.column, found.table
            ),
            "write the number, or leave the column out",
        ))),
    };
    found.wants.iter().filter_map(row).collect()
}

/// Numbers for rows, in the session's steps.
///
/// # Errors
/// What the ledger's unit says.
pub(in crate::session) async fn drawn(
    session: &mut Session,
    live: &LiveDatabase,
    counted: &Counted,
    rows: &[Row],
) -> Result<Vec<u64>> {
    let order = Order { counted, rows, steps: steps(session) };
    let runtime = Arc::clone(&session.place.engine().inner.runtime);
    let drawing = counters::numbers(live, &*runtime, order);
    Box::pin(session.place.handle().taken(drawing)).await
}

/// What the session has set its servers to count in.
fn steps(session: &Session) -> Steps {
    let set = |name: &str| {
        let list = session.settings.variables().list();
        let (_, value) = list.iter().rev().find(|(own, _)| own.eq_ignore_ascii_case(name))?;
        value.trim().parse::<u64>().ok().map(|number| number.clamp(1, 65_535))
    };
    let increment = set("auto_increment_increment").unwrap_or(1);
    let offset = set("auto_increment_offset").unwrap_or(1);
    // Servers do not go by an offset beyond the increment.
    Steps { increment, offset: if offset > increment { 1 } else { offset } }
}

async fn filled(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    keys: &GeneratedKeys,
    written: Written,
) -> Result<Option<plan::counted_rows::Filled>> {
    if keys.values.iter().all(Value::is_null) {
        let (text, places) = (stmt.text.to_string(), Vec::new());
        return Ok(Some(plan::counted_rows::Filled { text, places }));
    }
    let filled = find_out::find_out_until(session, live, None, |ctx| {
        plan::counted_rows::filled(ctx, stmt, keys, written)
    });
    filled.await
}
