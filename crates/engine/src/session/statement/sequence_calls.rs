//! Numbers of sequences: asked of the sequence's home before the statement that takes them is planned, and written into its text.

use std::collections::HashMap;
use std::sync::Arc;

use pando_kernel::Value;
use pando_kernel::error::{Error, Result};
use pando_kernel::request::Prepared;
use pando_kernel::sequences::{Draw, Sequences, Stands};
use pando_sql::Span;
use pando_sql::ast::{Kind, Statement};

use crate::plan;
use crate::plan::sequence_calls::{Call, Named, Verb};
use crate::snapshot::LiveDatabase;

use crate::session::Session;
use crate::session::connections::ask;
use crate::session::cursors::settle;
use crate::session::given::{self, Given};
use crate::session::run::{admission, context, find_out};
use crate::session::settings::sequence_values::Current;
use crate::session::statement::set_value;

/// Numbers that a statement takes, by sequence.
type Taken = HashMap<String, std::vec::IntoIter<i64>>;

/// Numbers that one statement may take.
const MOST: usize = 1 << 20;

/// A statement with the numbers that it takes in its text; `None` for one that takes none, or whose server is to count row by row.
///
/// # Errors
/// What the units say, and the family's error for a current number where the session was told none.
///
/// # Cancel safety
/// Numbers that were asked for are lost, as those of a statement that fails.
pub(in crate::session) async fn counted(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: &Given,
) -> Result<Option<(Statement, Given)>> {
    if !stmt.counts || matches!(stmt.kind, Kind::Define(_)) {
        return Ok(None);
    }
    session.work.refuse_if_failed()?;
    let calls = found(session, live, stmt, Some(given)).await?;
    if calls.is_empty() || passes(session, live, &calls) {
        return Ok(None);
    }
    if let Some(set) = plan::computed_set::computed_set(stmt, &calls) {
        if given.awaits_admission {
            admission::admit_change(session, live, stmt).await?;
        }
        let stmt = set_value::computed(session, live, set).await?;
        let calls = found(session, live, &stmt, None).await?;
        sees_uncounted(session, live, &calls);
        return Ok(Some((stmt, given.for_another_text())));
    }
    settle::settle_cursors(session).await?;
    if given.awaits_admission {
        admission::admit_change(session, live, stmt).await?;
    }
    if sees_uncounted(session, live, &calls) {
        let renamed = renamed(&calls);
        return match renamed.is_empty() {
            true => Ok(None),
            false => with(session, live, stmt, &renamed)
                .map(|stmt| Some((stmt, given.for_another_text()))),
        };
    }
    let taken = match is_run(&stmt.kind) {
        true => taken(session, live, &calls).await?,
        false => Taken::new(),
    };
    for call in calls.iter().filter(|call| call.verb == Verb::Current) {
        look_inside(session, live, call).await?;
    }
    let put = literals(session, live, &calls, taken)?;
    if put.is_empty() {
        return Ok(None);
    }
    let stmt = with(session, live, stmt, &put)?;
    Ok(Some((stmt, given.for_another_text())))
}

/// A prepared statement with any number in the place of those that it takes: what it takes and returns is the same.
///
/// # Errors
/// What the units say.
pub(in crate::session) async fn describable(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    prepared: &Arc<Prepared>,
) -> Result<Option<Arc<Prepared>>> {
    let stmt = &prepared.statement;
    if !stmt.counts || matches!(stmt.kind, Kind::Define(_)) {
        return Ok(None);
    }
    let calls = found(session, live, stmt, None).await?;
    // A sequence is set by what a server is told, parameters among it; what is returned is a number, too.
    let is_put = |call: &&Call| call.verb != Verb::Set || stmt.parameters == 0;
    if !calls.iter().any(|call| is_put(&call)) {
        return Ok(None);
    }
    let put: Vec<_> = calls
        .iter()
        .filter(is_put)
        .map(|call| Ok((call.span, literal(words(live)?, call, 0))))
        .collect::<Result<_>>()?;
    let stmt = with(session, live, stmt, &put)?;
    Ok(Some(given::in_place_of(prepared, stmt)))
}

async fn found(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    stmt: &Statement,
    given: Option<&Given>,
) -> Result<Vec<Call>> {
    find_out::find_out_until(session, live, given, |ctx| plan::sequence_calls::calls(ctx, stmt))
        .await
}

fn words(live: &LiveDatabase) -> Result<&dyn Sequences> {
    live.database.dialect.sequences().ok_or_else(|| Error::internal("a family without sequences"))
}

/// EXPLAIN shows how it would run, and takes nothing.
fn is_run(kind: &Kind) -> bool {
    !matches!(kind, Kind::Explain { analyze: false, .. } | Kind::Preview(_))
}

/// Whether the one unit of a database counts by itself, as nobody asks what it has given.
fn passes(session: &mut Session, live: &LiveDatabase, calls: &[Call]) -> bool {
    if calls.iter().any(|call| call.verb == Verb::Current) {
        live.asked_numbers.are_asked();
        return false;
    }
    if live.database.units.len() > 1 || live.asked_numbers.are_read() {
        return false;
    }
    for named in calls.iter().filter_map(|call| call.sequence.as_ref()) {
        session.settings.sequence_values_mut().give(&live.database.name, &named.key, None);
    }
    true
}

/// Asks the open transaction's connection for a current number that it knows.
async fn look_inside(session: &mut Session, live: &LiveDatabase, call: &Call) -> Result<()> {
    let (database, named) = (&live.database.name, call.sequence.as_ref());
    let key = named.map(|named| &*named.key);
    let values = session.settings.sequence_values_mut();
    let Current::Inside(unit) = values.current(database, key) else { return Ok(()) };
    let is_last = key.is_none_or(|key| values.is_of_last(database, key));
    if let (Some(key), Some(named)) = (key, named) {
        let number = told_inside(session, live, &unit, Some(&named.written)).await?;
        session.settings.sequence_values_mut().set(database, key, number);
    }
    // A trigger may have asked another sequence behind.
    if is_last && let Some(number) = told_inside(session, live, &unit, None).await? {
        session.settings.sequence_values_mut().are_told(number);
    }
    Ok(())
}

async fn told_inside(
    session: &mut Session,
    live: &LiveDatabase,
    unit: &str,
    sequence: Option<&str>,
) -> Result<Option<i64>> {
    let Some(words) = words(live)?.of_columns() else { return Ok(None) };
    let query = format!("SELECT {}", words.current(sequence));
    let rows = ask::ask_dressed(session, live, unit, &query).await?;
    Ok(rows.first().and_then(|row| number(row)))
}

/// Whether the server counts by itself, or sets what it counts by: what the session is told then is not seen here.
fn sees_uncounted(session: &mut Session, live: &LiveDatabase, calls: &[Call]) -> bool {
    let database = &*live.database.name;
    let sets = calls.iter().any(|call| call.verb == Verb::Set);
    let uncounted = |call: &&Call| call.verb != Verb::Current && (sets || !call.once);
    for call in calls.iter().filter(uncounted) {
        let Some(named) = &call.sequence else { continue };
        match call.verb {
            Verb::Set => session.settings.sequence_values_mut().set(
                database,
                &named.key,
                call.sets.filter(|_| call.once),
            ),
            Verb::Next | Verb::Current => {
                session.settings.sequence_values_mut().give(database, &named.key, None)
            }
        }
    }
    sets || calls.iter().any(|call| call.verb == Verb::Next && !call.once)
}

/// What stands in the place of names that the server does not know.
fn renamed(calls: &[Call]) -> Vec<(Span, String)> {
    let renamed = |call: &Call| {
        let named = call.sequence.as_ref().filter(|named| named.is_renamed)?;
        Some((call.argument?, named.written.clone()))
    };
    calls.iter().filter_map(renamed).collect()
}

/// What stands in the place of each call.
fn literals(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    calls: &[Call],
    mut taken: Taken,
) -> Result<Vec<(Span, String)>> {
    let (words, database) = (words(live)?, &*live.database.name);
    let mut put = Vec::new();
    for call in calls {
        let key = call.sequence.as_ref().map(|named| &*named.key);
        let literal = match (call.verb, key) {
            (Verb::Next, Some(key)) => {
                let next = taken.get_mut(key).and_then(Iterator::next);
                if let Some(number) = next {
                    session.settings.sequence_values_mut().give(database, key, Some(number));
                }
                literal(words, call, next.unwrap_or_default())
            }
            (Verb::Current, key) => {
                match session.settings.sequence_values_mut().current(database, key) {
                    Current::Told(number) => literal(words, call, number),
                    Current::Untold => words.untold(key)?,
                    Current::Unseen | Current::Inside(_) => {
                        return Err(Error::unsupported(
                            30001,
                            "the session's current number was given by a storage unit, row by row or to a table that it counts alone, or set by a statement that computes it",
                            "use INSERT … RETURNING, or ask for the numbers by themselves: SELECT nextval(…)",
                        ));
                    }
                }
            }
            (Verb::Next | Verb::Set, _) => continue,
        };
        put.push((call.span, literal));
    }
    Ok(put)
}

fn literal(words: &dyn Sequences, call: &Call, number: i64) -> String {
    words.number(number, if call.shown { Stands::Shown } else { Stands::Inside })
}

/// The numbers that the calls take, by sequence, each asked for at once.
async fn taken(session: &mut Session, live: &Arc<LiveDatabase>, calls: &[Call]) -> Result<Taken> {
    let mut wanted: Vec<(&Named, usize)> = Vec::new();
    for named in calls.iter().filter(|call| call.verb == Verb::Next) {
        let Some(named) = &named.sequence else { continue };
        match wanted.iter_mut().find(|(known, _)| known.key == named.key) {
            Some((_, count)) => *count += 1,
            None => wanted.push((named, 1)),
        }
    }
    let mut taken = Taken::new();
    for (named, count) in wanted {
        let numbers = draw(session, live, named, count).await?;
        if numbers.len() != count {
            return Err(Error::internal("a sequence gave another number of numbers"));
        }
        taken.insert(named.key.clone(), numbers.into_iter());
    }
    Ok(taken)
}

fn number(row: &[Value]) -> Option<i64> {
    match row {
        [Value::Int(number)] => Some(*number),
        [Value::UInt(number)] => i64::try_from(*number).ok(),
        _ => None,
    }
}

fn with(
    session: &Session,
    live: &LiveDatabase,
    stmt: &Statement,
    put: &[(Span, String)],
) -> Result<Statement> {
    let text = context::in_context(session, live, None, |ctx| {
        plan::sequence_calls::written(ctx, stmt, put)
    });
    pando_sql::parse(&text, live.database.dialect.syntax()).map_err(plan::unread)
}

/// So many numbers of a sequence, which the session is told; none where the server has no such sequence.
///
/// # Errors
/// What the unit says.
pub(in crate::session) async fn drawn(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    sequence: &Named,
    count: usize,
) -> Result<Vec<i64>> {
    let numbers = draw(session, live, sequence, count).await?;
    if let Some(last) = numbers.last() {
        session.settings.sequence_values_mut().give(
            &live.database.name,
            &sequence.key,
            Some(*last),
        );
    }
    Ok(numbers)
}

async fn draw(
    session: &mut Session,
    live: &Arc<LiveDatabase>,
    sequence: &Named,
    count: usize,
) -> Result<Vec<i64>> {
    if count > MOST {
        return Err(Error::unsupported(
            30001,
            format!("a statement that takes {count} numbers of `{}`", sequence.key),
            "insert fewer rows at once",
        ));
    }
    let Draw { query, afresh } = words(live)?.next(&sequence.written, count);
    let rows = ask::ask_dressed(session, live, &sequence.home, &query).await?;
    let numbers = numbers_of(&rows);
    let told =
        session.settings.sequence_values_mut().current(&live.database.name, Some(&sequence.key));
    let falls =
        matches!((told, numbers.first()), (Current::Told(last), Some(first)) if *first < last);
    let Some(afresh) = afresh.filter(|_| falls) else {
        return Ok(numbers);
    };
    // Another connection has kept higher ones, and has given the session some.
    if ask::ask_dressed(session, live, &sequence.home, &afresh.keeps).await?.is_empty() {
        return Ok(numbers);
    }
    let texts = [afresh.forget, &query];
    let rows = ask::ask_in_turn(session, live, &sequence.home, &texts).await?;
    Ok(numbers_of(&rows))
}

fn numbers_of(rows: &[Vec<Value>]) -> Vec<i64> {
    rows.iter().filter_map(|row| number(row)).collect()
}
