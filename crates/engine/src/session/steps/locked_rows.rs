//! `SELECT … LIMIT n FOR UPDATE` over several shards: candidates are read without locks, then locked one after the other
//! until there are n rows.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Completion, Event};
use pando_kernel::row::Rows;
use pando_kernel::{Columns, TransactionType, Value};
use pando_sql::ast::Statement;

use crate::execute::too_much;
use crate::locked_keys::{Key, Known, Row};
use crate::plan::{Bound, Home, LockedRows};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::given::Given;
use crate::session::run::{admission, on_units};
use crate::session::steps::frame;
use crate::session::steps::frame::{Step, Stepped, changed_meanwhile};
use crate::session::steps::insert_select::{each_row, literal};
use crate::session::transaction::units;

/// Candidates that are read at first beyond the rows that are wanted: others may have locked some.
const SPARE: u64 = 16;
/// How often candidates are read before each that is left is tried, whatever is known of others.
const ROUNDS: u32 = 20;

/// Runs the query.
pub(in crate::session) async fn start_locked_rows(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
    parts: Box<LockedRows>,
) -> Result<()> {
    if session.outbox.is_limited() || !may_step(session, live, given, &parts) {
        return on_units::run_merged(session, stmt, given, parts.into_one()?).await;
    }
    admission::admit_change(session, live, stmt).await?;
    let kept = frame::begin_steps(session, live, stmt).await?;
    let stepped = all_rows(session, live, given, &parts).await;
    frame::end_steps(session, live, kept, stepped).await
}

/// Whether what is read without locks is as new as what would be locked, and there is a number of rows to lock. MySQL's
/// servers lock what is there now, and show a transaction what was there when it looked first.
pub(in crate::session) fn may_step(
    session: &Session,
    live: &LiveDatabase,
    given: &Given,
    parts: &LockedRows,
) -> bool {
    let transaction = session.work.transaction();
    let kind = match session.work.is_idle() {
        true => units::transaction_type(session),
        false => transaction.kind(),
    };
    let is_null = |bound: Bound| {
        matches!(bound, Bound::Parameter(index)
        if given.parameters.get(index as usize).is_some_and(|one| one.value.is_null()))
    };
    kind != TransactionType::Base
        && !is_null(parts.count)
        && !parts.offset.is_some_and(is_null)
        && (live.database.dialect.error_fails_transaction()
            || transaction.is_fresh()
            || parts.home.is_some())
}

async fn all_rows(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    given: &Given,
    parts: &LockedRows,
) -> Result<Stepped> {
    let limit = session.place.properties().memory_bytes;
    let (mut told, mut bytes, mut count) = (Vec::new(), 0, 0);
    let mut take = |columns: &Columns, rows: Option<&Rows>| {
        let Some(rows) = rows else {
            told.push(Event::Columns(columns.clone()));
            return Ok(());
        };
        bytes += rows.bytes.len();
        count += u64::from(rows.count);
        told.push(Event::Rows(rows.clone()));
        if bytes > limit { Err(too_much(limit)) } else { Ok(()) }
    };
    let notices = read_locked(session, live, given, parts, &mut take).await?;
    let completion = Completion { affected: Some(count), ..Completion::default() };
    Ok(Stepped { told, completion, key: 0 }.after(notices))
}

/// Reads and locks the rows, and gives the columns alone and then with each of the rows to `take`. Result: the notices.
///
/// # Errors
/// What units say to the lock of a row, and `take` to its row.
pub(in crate::session) async fn read_locked(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    given: &Given,
    parts: &LockedRows,
    take: &mut (dyn FnMut(&Columns, Option<&Rows>) -> Result<()> + Send),
) -> Result<Vec<Event>> {
    let placeholder = live.database.dialect.syntax().placeholder;
    let mut reading = given.part(placeholder, &parts.row_parameters, given.formats.clone());
    reading.prepared = given.prepared || !parts.row_parameters.is_empty();
    let offset = parts.offset.map_or(Ok(0), |bound| number(given, "OFFSET", bound))?;
    let mut page = first_page(given, parts)?;
    let wanted = page - SPARE;
    if parts.home.is_some() {
        // They are locked as they are read.
        page = wanted;
    }
    if parts.passes_over {
        page = page.saturating_add(live.locked_keys.count(&parts.table));
    }
    let (mut notices, mut are_told) = (Vec::new(), false);
    let (mut tried, mut locked) = (HashSet::new(), 0);
    let mut rounds = 0;
    while locked < wanted {
        rounds += 1;
        let read = session.place.engine().inner.runtime.now();
        let keys = candidates(session, live, given, parts, page).await?;
        let is_all = (keys.len() as u64) < page;
        let mut may_be_free = false;
        for key in keys {
            if locked == wanted {
                break;
            }
            if tried.contains(&key) {
                continue;
            }
            if parts.passes_over && rounds <= ROUNDS {
                match of_others(session, live, parts, Asked { key: &key, read }) {
                    Known::Locked => continue,
                    Known::WasLocked => {
                        may_be_free = true;
                        continue;
                    }
                    Known::Nothing => {}
                }
            }
            let text = parts.row(Some(&key));
            let mut found = 0;
            let mut pass = |columns: &Columns, rows: Option<&Rows>| {
                let Some(rows) = rows else {
                    return match std::mem::replace(&mut are_told, true) {
                        true => Ok(()),
                        false => take(columns, None),
                    };
                };
                found += u64::from(rows.count);
                if locked < offset { Ok(()) } else { take(columns, Some(rows)) }
            };
            notices
                .extend(frame::read_step(session, live, &text, reading.clone(), &mut pass).await?);
            if found > 1 {
                // A key that stands on two shards.
                return Err(changed_meanwhile());
            }
            if found == 1 && parts.passes_over && !session.work.is_idle() {
                let now = session.place.engine().inner.runtime.now();
                let row = Row { table: &parts.table, key: &key, now };
                session.work.held_keys(&live.locked_keys).hold(row);
            }
            tried.insert(key);
            locked += found;
        }
        match (may_be_free, is_all) {
            // They are read anew, as they are now.
            (true, _) => {}
            (false, true) => break,
            (false, false) => page = page.saturating_mul(2),
        }
    }
    if !are_told {
        let none = parts.row(None);
        notices.extend(frame::read_step(session, live, &none, reading, take).await?);
    }
    Ok(notices)
}

/// A candidate, and when it was read.
#[derive(Debug, Clone, Copy)]
struct Asked<'a> {
    key: &'a Key,
    read: Instant,
}

/// What is known of other sessions of this process that have locked a row.
fn of_others(
    session: &mut Session,
    live: &LiveDatabase,
    parts: &LockedRows,
    asked: Asked<'_>,
) -> Known {
    let Asked { key, read } = asked;
    let now = session.place.engine().inner.runtime.now();
    let own = session.work.held_keys(&live.locked_keys);
    live.locked_keys.of_others(Row { table: &parts.table, key, now }, own, read)
}

/// How many candidates are read at first.
///
/// # Errors
/// `Value` where LIMIT has no number.
pub(in crate::session) fn first_page(given: &Given, parts: &LockedRows) -> Result<u64> {
    let offset = parts.offset.map_or(Ok(0), |bound| number(given, "OFFSET", bound))?;
    let wanted = number(given, "LIMIT", parts.count)?.saturating_add(offset);
    Ok(wanted.min(u64::MAX - SPARE) + SPARE)
}

/// The keys of the first rows, as they are written.
async fn candidates(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    given: &Given,
    parts: &LockedRows,
    page: u64,
) -> Result<Vec<Vec<String>>> {
    let dialect = Arc::clone(&live.database.dialect);
    let limit = session.place.properties().memory_bytes;
    let own = &parts.candidate_parameters;
    let mut reading = given.part(dialect.syntax().placeholder, own, Vec::new());
    reading.prepared = !own.is_empty();
    let (mut keys, mut bytes) = (Vec::new(), 0);
    let mut take = |columns: &Columns, rows: Option<&Rows>| {
        each_row(columns, rows, |fields| {
            let literals = fields
                .iter()
                .zip(&parts.key)
                .map(|(field, column)| literal(dialect.as_ref(), *field, Some(column), None));
            let key = literals.collect::<Result<Vec<String>>>()?;
            bytes += key.iter().map(String::len).sum::<usize>();
            keys.push(key);
            if bytes > limit { Err(too_much(limit)) } else { Ok(()) }
        })
    };
    let mut text = format!("{}{}", parts.candidates, page.min(i64::MAX.unsigned_abs()));
    match &parts.home {
        None => frame::read_step(session, live, &text, reading, &mut take).await?,
        Some(Home { unit, lock }) => {
            text.push(' ');
            text.push_str(lock);
            frame::read_step_at(session, Step { live, text: &text, unit }, reading, &mut take)
                .await?
        }
    };
    Ok(keys)
}

/// A number of rows.
fn number(given: &Given, clause: &'static str, bound: Bound) -> Result<u64> {
    let negative = || Error::new(ErrorKind::NegativeCount(clause));
    let index = match bound {
        Bound::Number(number) => return Ok(number),
        Bound::Parameter(index) => index,
    };
    let value = given.parameters.get(index as usize).map(|parameter| &parameter.value);
    let number = match value {
        Some(Value::Int(number)) => return u64::try_from(*number).map_err(|_| negative()),
        Some(Value::UInt(number)) => Some(*number),
        Some(Value::Text(text)) => text.trim().parse().ok(),
        Some(
            Value::Null | Value::Bool(_) | Value::Float(_) | Value::Decimal(_) | Value::Bytes(_),
        )
        | None => None,
    };
    number.ok_or_else(|| Error::new(ErrorKind::Value(format!("{clause} takes a number of rows"))))
}
