//! The end of a statement: connections go home, implicit transactions end, the client gets its completion.

use std::sync::Arc;

use pando_kernel::ServerError;
use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::{Completion, Event};
use pando_kernel::route::Spread;
use pando_kernel::session::TransactionState;

use crate::execute::{Channel, sum, unshare};
use crate::plan::{Plan, Unit};

use crate::counters;
use crate::session::Session;
use crate::session::connections::release::hand_back_apart;
use crate::session::connections::{locks, release};
use crate::session::errors::{server_error, unit_lost};
use crate::session::reply::pieces::{Became, Pass, Reply, Verb};
use crate::session::reply::{assigned, counted_by_unit, warnings};
use crate::session::transaction::temporary::Ran;
use crate::session::transaction::{End, Opened, deadlock, definition, end};

/// The current reply is complete.
pub(in crate::session) async fn end_reply(session: &mut Session) -> Result<()> {
    match session.outbox.take_reply() {
        Reply::Idle | Reply::CopyIn(_) => Ok(()),
        Reply::Pass(mut pass) => {
            if !pass.channel.is_finished() {
                session.outbox.answers_with(Reply::Pass(pass));
                return Ok(());
            }
            let done = pass.completion.take().unwrap_or_default();
            let done = end_pass(session, pass, done).await?;
            session.outbox.tell(Event::Complete(done));
            Ok(())
        }
        Reply::CopyOut(copy) => {
            let done = total(&[], &copy.channels);
            release::release_channels(session, copy.channels).await;
            conclude(session, done, &copy.verb).await
        }
        Reply::Merged(merged) => {
            let merged = *merged;
            drop(merged.merge);
            let mut channels = unshare(merged.channels);
            session.outbox.pass_notices(&mut channels);
            let mut done = total(&merged.loaded, &channels);
            warnings::note_warnings(session, &mut channels, done.warnings).await;
            if merged.verb.selects {
                done.affected = Some(merged.rows);
            }
            release::release_channels(session, channels).await;
            conclude(session, done, &merged.verb).await
        }
    }
}

/// A reply that was passed on has ended so. Returns how it ended for the client.
pub(in crate::session) async fn end_pass(
    session: &mut Session,
    pass: Box<Pass>,
    done: Completion,
) -> Result<Completion> {
    let (mut pass, mut done) = (pass, done);
    if pass.verb.selects && done.affected.is_none() {
        done.affected = Some(pass.rows);
    }
    let is_asked = pass.verb.calculates || pass.verb.assigns.is_some();
    if is_asked || pass.verb.uncounted.is_some() || may_have_made(&pass.verb, &done) {
        return Box::pin(end_asked(session, pass, done)).await;
    }
    if done.warnings > 0 {
        let said = std::slice::from_mut(&mut pass.channel);
        Box::pin(warnings::note_warnings(session, said, done.warnings)).await;
    }
    let round = release::gather_home(session, std::slice::from_mut(&mut pass.channel)).await;
    let inside = pass.channel.connection.condition().transaction != TransactionState::Idle;
    let is_left = pass.verb.unread && inside && session.work.is_idle();
    // Only what is needed is moved out of the box.
    let Pass { channel: Channel { connection, apart, .. }, verb, .. } = *pass;
    match apart {
        true => hand_back_apart(connection, round),
        false => release::hand_back_own(session, connection, round),
    }
    if is_left {
        return Err(server_error(
            1180,
            "HY000",
            "the statement has opened a transaction on its storage unit and left it open: it is rolled back",
        ));
    }
    settle(session, done, &verb).await
}

/// Ends a statement of which its connection knows more, which has to be read before the connection serves others: how
/// many rows it would have without its LIMIT, what it was warned of, which variables it has set, which numbers its rows
/// were given.
async fn end_asked(session: &mut Session, pass: Box<Pass>, done: Completion) -> Result<Completion> {
    let Pass { mut channel, mut verb, columns, .. } = *pass;
    let is_row_kept = verb.selects && columns.is_none();
    let found = match verb.calculates {
        true => warnings::found_rows(session, &mut channel.connection).await.map(Some),
        false => Ok(None),
    };
    let said = std::slice::from_mut(&mut channel);
    warnings::note_warnings(session, said, done.warnings).await;
    let made = match may_have_made(&verb, &done) {
        true => became(session, said, &verb).await.map(Some),
        false => Ok(None),
    };
    let set = match &verb.assigns {
        Some(names) => assigned::read_back(session, &mut channel.connection, names).await,
        None => Ok(()),
    };
    // Where no row was written its numbers may be another session's.
    let has_written = done.affected.is_some_and(|rows| rows > 0);
    if let Some(uncounted) = verb.uncounted.as_deref().filter(|_| has_written) {
        counted_by_unit::keep(session, &mut channel.connection, uncounted).await;
    }
    release::release_channel(session, channel).await;
    verb.became = made?;
    let done = settle(session, done, &verb).await?;
    set?;
    if is_row_kept {
        // SELECT … INTO counts the row that it has given away, where there is one.
        let rows = done.affected.and_then(|rows| i64::try_from(rows).ok());
        session.place.counts_rows(rows.filter(|rows| *rows > 0).unwrap_or(-1));
    }
    if let Some(found) = found? {
        session.place.facts_mut().found_rows = found;
    }
    Ok(done)
}

/// Ends a statement that returned no rows.
pub(in crate::session) async fn end_counts(
    session: &mut Session,
    channels: Vec<Channel>,
    plan: &Plan,
    verb: &Verb,
) -> Result<()> {
    let mut channels = channels;
    if verb.upserts.is_some() {
        channels.iter_mut().flat_map(|own| &mut own.completions).for_each(find_upserted);
    }
    let done = match plan.spread {
        Spread::Gather => total(&[], &channels),
        Spread::Same => {
            channels.first().and_then(|c| c.completions.first()).cloned().unwrap_or_default()
        }
    };
    let said = match plan.spread {
        Spread::Gather => channels.len(),
        Spread::Same => channels.len().min(1),
    };
    let of_parts = |unit: &Unit| !unit.target.tables.is_empty();
    if plan.spread == Spread::Same && plan.units.iter().any(of_parts) {
        channels[..said].iter_mut().for_each(|channel| tell_once(session, channel));
    }
    session.outbox.pass_notices(&mut channels[..said]);
    warnings::note_warnings(session, &mut channels[..said], done.warnings).await;
    let mut done = done;
    if let Some(caution) = &verb.caution {
        warnings::note_caution(session, &mut done, caution);
    }
    if !may_have_made(verb, &done) {
        release::release_channels(session, channels).await;
        return conclude(session, done, verb).await;
    }
    let made = became(session, &mut channels, verb).await;
    release::release_channels(session, channels).await;
    let verb = Verb { became: Some(made?), ..verb.clone() };
    Box::pin(conclude(session, done, &verb)).await
}

/// Whether only some of the keys that were made may have become rows: others were changed instead, or passed over.
fn may_have_made(verb: &Verb, done: &Completion) -> bool {
    verb.made.as_ref().is_some_and(|made| done.affected != Some(made.rows))
}

/// The first of the keys that were made that has become a row, asked on the connections that have done it.
async fn became(session: &mut Session, channels: &mut [Channel], verb: &Verb) -> Result<Became> {
    let mut least: Option<u64> = None;
    for channel in channels {
        let unit = channel.connection.unit().clone();
        let own = verb.made.iter().flat_map(|made| &made.there);
        for there in own.filter(|there| there.unit == unit) {
            let found = warnings::number_of(&mut channel.connection, &there.query);
            let found = session.place.handle().taken(found).await?;
            least = least.into_iter().chain(found).min();
        }
    }
    Ok(least.map_or(Became::Nothing, Became::Row))
}

/// What is said of a table's parts is said of the table: once.
fn tell_once(session: &Session, channel: &mut Channel) {
    let mut told: Vec<ServerError> = Vec::new();
    channel.notices.retain_mut(|event| {
        let Event::Notice(notice) = event else { return true };
        session.place.retell(notice);
        let is_new = !told.contains(&**notice);
        told.extend(is_new.then(|| (**notice).clone()));
        is_new
    });
}

/// Ends the statement's own transaction, notes what the session knows, and tells the client.
pub(in crate::session) async fn conclude(
    session: &mut Session,
    completion: Completion,
    verb: &Verb,
) -> Result<()> {
    let done = settle(session, completion, verb).await?;
    session.outbox.tell(Event::Complete(done));
    Ok(())
}

/// Ends the statement's own transaction and notes what the session knows. Returns what the client is to be told.
async fn settle(session: &mut Session, completion: Completion, verb: &Verb) -> Result<Completion> {
    let mut done = completion;
    if session.work.transaction().state() == TransactionState::Failed {
        // It was done, and its unit is lost since: nobody is to take it for something that can be committed.
        return Err(Box::pin(fail_statement(session, unit_lost())).await);
    }
    session.work.transaction_mut().locks_stand();
    if session.work.opened() == Opened::Statement && !session.work.is_idle() {
        // Up to here all of it can still be undone.
        let is_cancelled = session.place.handle().is_cancelled();
        let end = if is_cancelled { End::RollBack } else { End::Commit };
        let committed = Box::pin(end::end_own(session, end)).await?;
        if is_cancelled {
            return Err(ErrorKind::Cancelled.into());
        }
        if !committed {
            return Err(unit_lost());
        }
    }
    if verb.unread {
        Box::pin(end::look_whether_ended(session)).await?;
    }
    session.temporary.note_temporaries(Ran::Well);
    free_locks(session).await;
    if verb.defines
        && let Some(live) = session.place.current().cloned()
    {
        Box::pin(definition::forget_tables(session, &live)).await;
        if !session.work.is_idle() {
            session.work.has_defined(&live);
        }
    }
    if !verb.recounts.is_empty() || !verb.computes.is_empty() {
        Box::pin(count_on(session, verb)).await?;
    }
    if done.tag.is_empty() {
        done.tag = verb.tag.into();
    }
    let key = key_made(verb, &done);
    if let Some(key) = key.or(verb.last_key.filter(|_| done.affected != Some(0))) {
        done.last_insert_id = key;
    }
    if verb.upserts.is_some() {
        find_upserted(&mut done);
    }
    let is_told = done.last_insert_id != 0 || key == Some(0);
    if is_told && (key.is_some() || !verb.gives_keys) {
        session.place.facts_mut().last_insert_id = done.last_insert_id;
    }
    let affected = done.affected.unwrap_or(0);
    if !verb.selects && !session.work.is_idle() {
        session.place.handle().wrote(affected);
    }
    let facts = session.place.facts_mut();
    if verb.selects {
        facts.found_rows = affected;
        facts.row_count = -1;
    } else {
        facts.row_count = i64::try_from(affected).unwrap_or(i64::MAX);
    }
    done.more = session.outbox.has_queued();
    session.outbox.take_window();
    Ok(done)
}

/// The key that was made for the first of the statement's rows which was not there before.
fn key_made(verb: &Verb, done: &Completion) -> Option<u64> {
    match verb.became {
        Some(Became::Row(key)) => Some(key),
        Some(Became::Nothing) => None,
        // An upsert that has found its row has not used the key that was made for it.
        None => verb.key.filter(|_| verb.upserts.is_none_or(|rows| done.affected == Some(rows))),
    }
}

/// Counters begin where their shards are, and nobody goes on by what they were; or count on behind what shards have
/// computed.
async fn count_on(session: &mut Session, verb: &Verb) -> Result<()> {
    let Some(live) = session.place.current().cloned() else { return Ok(()) };
    let runtime = Arc::clone(&session.place.engine().inner.runtime);
    for counted in &verb.recounts {
        counters::forget(&live, &*runtime, counted).await?;
    }
    for counted in &verb.computes {
        counters::catch_up(&live, &*runtime, counted).await?;
    }
    Ok(())
}

/// The current reply has failed: what it holds is given back, and the transaction told.
pub(in crate::session) async fn fail_reply(session: &mut Session, error: Error) -> Error {
    let reply = session.outbox.take_reply();
    release::abort(session, release::channels_of(reply)).await;
    fail_statement(session, error).await
}

/// A statement has failed; its connections are already home.
pub(in crate::session) async fn fail_statement(session: &mut Session, error: Error) -> Error {
    session.outbox.forget_rest();
    session.work.forget_held_keys();
    let error = session.place.in_logic_names(error);
    warnings::note_error(session, &error);
    session.place.counts_rows(-1);
    session.temporary.note_temporaries(Ran::Badly);
    free_locks(session).await;
    if session.work.is_defining() {
        Box::pin(definition::end_definition(session)).await;
    }
    let Some(dialect) = session.place.dialect() else { return error };
    if session.work.is_idle() {
        return error;
    }
    session.work.transaction_mut().locks_fall();
    match session.work.opened() {
        Opened::Statement | Opened::Steps => end::roll_back(session).await,
        Opened::Pipeline => session.work.transaction_mut().fail(),
        Opened::Client => {
            if dialect.error_fails_transaction() {
                // A server lets go of what a failed transaction has locked, unless the client may return to a
                // savepoint.
                if session.work.transaction().state() == TransactionState::Open
                    && !session.settings.has_savepoints()
                {
                    Box::pin(deadlock::forfeit(session)).await;
                }
                session.work.transaction_mut().fail();
            } else if session.work.transaction().is_torn() {
                // One unit has rolled its part back: the others must not commit theirs.
                let _ = end::roll_back_with_cursors(session).await;
            }
        }
    }
    error
}

/// Frees the locks of a transaction that was only the statement's.
pub(in crate::session) async fn free_locks(session: &mut Session) {
    if session.work.locks().are_there() && session.work.is_idle() {
        Box::pin(locks::free_transactions(session)).await;
    }
}

/// Drops what is left of an earlier reply.
pub(in crate::session) async fn abandon(session: &mut Session) {
    session.outbox.forget_request();
    if !session.outbox.is_idle() {
        let reply = session.outbox.take_reply();
        Box::pin(release::release_reply(session, reply)).await;
        if session.work.opened() == Opened::Statement && !session.work.is_idle() {
            end::roll_back(session).await;
        }
        free_locks(session).await;
    }
}

/// How all the statement's replies ended, added up.
fn total(loaded: &[Completion], channels: &[Channel]) -> Completion {
    sum(loaded.iter().chain(channels.iter().flat_map(|channel| &channel.completions)))
}

/// What clients are told of an upsert that want to know of rows found instead of rows changed: one for each row, and
/// one more for each that was changed. A server counts those in `Records: 3  Duplicates: 1`; of one row alone it says
/// nothing, but for the 2 of a changed one.
/// <https://dev.mysql.com/doc/refman/8.0/en/insert-on-duplicate.html>
fn find_upserted(done: &mut Completion) {
    let number = |word: &str| {
        let behind = done.info.split_once(word)?.1.trim_start();
        behind.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u64>().ok()
    };
    let counted = number("Records:").zip(number("Duplicates:"));
    let found = counted.map(|(rows, changed)| rows.saturating_add(changed));
    let alone = || done.affected.filter(|rows| *rows <= 2).map(|rows| rows.max(1));
    done.matched = done.matched.or_else(|| found.or_else(alone));
}
