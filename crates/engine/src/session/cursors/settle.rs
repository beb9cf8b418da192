//! What cursors still wait for is read to its end.

use pando_kernel::error::Result;
use pando_kernel::event::Event;
use pando_kernel::request::CursorId;
use pando_kernel::session::TransactionState;

use crate::session::Session;
use crate::session::connections::release;
use crate::session::cursors::close;
use crate::session::cursors::declared::Hold;
use crate::session::cursors::portals::Cursor;
use crate::session::errors::unit_lost;
use crate::session::reply::pieces::{Reply, Verb};
use crate::session::reply::pull::{finish, piece};
use crate::session::transaction::{End, Opened, end};

/// A transaction is about to be committed, and cursors end with it, but for one that is its statement's own, and where
/// servers keep what a cursor has found.
///
/// # Errors
/// What came in place of the rows that were not yet found. It may have ended the transaction.
pub(in crate::session) async fn part_for_commit(session: &mut Session) -> Result<()> {
    if session.work.opened() == Opened::Statement {
        return Ok(());
    }
    if !close::are_kept(session) {
        return part_from_declared(session).await;
    }
    let settled = settle_cursors(session).await;
    if settled.is_err() {
        // What they have not found yet is not waited for.
        close::close_at_work(session).await;
    }
    settled
}

/// Reads what cursors WITH HOLD have not given yet into memory; those that are held already stay, and all others are
/// closed.
///
/// # Errors
/// What came in place of the rows that were not yet found: the transaction has failed.
async fn part_from_declared(session: &mut Session) -> Result<()> {
    let commits = session.work.transaction().state() == TransactionState::Open;
    close::close_but(session, |declared| match declared.hold {
        Hold::Without => false,
        Hold::FromCommit => commits,
        Hold::Held => true,
    })
    .await;
    let kept = session.cursors.declared.values().filter(|one| one.hold == Hold::FromCommit);
    let kept: Vec<CursorId> = kept.map(|declared| declared.id).collect();
    for id in kept {
        if let Err(error) = settle_cursor(session, id).await {
            close::close_unheld(session).await;
            return Err(error);
        }
    }
    Ok(())
}

/// Reads what cursors still wait for into memory, so that their connections can serve another statement of the
/// transaction.
pub(in crate::session) async fn settle_cursors(session: &mut Session) -> Result<()> {
    if session.work.transaction().is_whole() && !session.temporary.lent_temporaries() {
        return Ok(());
    }
    let ids: Vec<CursorId> = session.cursors.ids().collect();
    for id in ids {
        settle_cursor(session, id).await?;
    }
    Ok(())
}

/// Reads what a cursor still waits for into memory.
///
/// # Errors
/// What came in place of it, and when it is more than the session may keep: the statement has failed.
pub(in crate::session) async fn settle_cursor(session: &mut Session, id: CursorId) -> Result<()> {
    if let Some(cursor) = session.cursors.portals.get(&id) {
        release::resume(session, &cursor.reply)?;
    }
    let Some(mut cursor) = session.cursors.portals.remove(&id) else { return Ok(()) };
    let limit = session.place.properties().memory_bytes;
    // All that the session's cursors keep counts together.
    let kept = session.cursors.portals.values().chain(std::iter::once(&cursor));
    let mut bytes: usize = kept.map(Cursor::bytes).sum();
    bytes += session.cursors.given_bytes();
    let before = session.outbox.turn_to(cursor.reply);
    let mut failed = None;
    while session.outbox.has_more() {
        match piece::next_of_reply(session).await {
            Ok(Some(event)) => {
                if let Event::Rows(rows) = &event {
                    bytes += rows.bytes.len();
                }
                cursor.stash.push_back(event);
            }
            Ok(None) => break,
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
        if bytes > limit {
            failed = Some(finish::fail_reply(session, crate::execute::too_much(limit)).await);
            break;
        }
    }
    if let Some(error) = failed {
        session.outbox.turn_back(before.without_told());
        return Err(error);
    }
    cursor.reply = session.outbox.turn_back(before);
    session.cursors.portals.insert(id, cursor);
    Ok(())
}

/// Gives a piece the form the client is to see. A change that is suspended by it runs to its end first, as on a
/// server: nobody may ask for the rest, and what becomes of it is told now.
///
/// # Errors
/// The change's own, too; the statement has failed then.
pub(in crate::session) async fn shape_or_settle(
    session: &mut Session,
    event: Event,
) -> Result<Option<Event>> {
    let shaped = match piece::shape(session, event) {
        Ok(shaped) => shaped,
        Err(error) => return Err(Box::pin(finish::fail_reply(session, error)).await),
    };
    if is_half_done(session)
        && let Some(id) = session.cursors.last_suspended
    {
        Box::pin(settle_cursor(session, id)).await?;
    }
    Ok(shaped)
}

/// Whether the statement that has just been suspended changes rows.
fn is_half_done(session: &Session) -> bool {
    session.outbox.is_idle()
        && session
            .cursors
            .last_suspended
            .and_then(|id| session.cursors.portals.get(&id))
            .is_some_and(|cursor| {
                let changes = |verb: &Verb| !verb.selects || verb.changes;
                match &cursor.reply {
                    Reply::Merged(merged) => changes(&merged.verb),
                    Reply::Pass(pass) => changes(&pass.verb),
                    Reply::Idle | Reply::CopyIn(_) | Reply::CopyOut(_) => false,
                }
            })
}

/// The client needs no more of a cursor; a transaction of its statement's own ends with it.
///
/// # Errors
/// What kept that from being committed.
pub(in crate::session) async fn end_cursor(session: &mut Session, id: CursorId) -> Result<()> {
    let was_open = session.cursors.portals.contains_key(&id);
    close::close_cursor(session, id).await;
    let is_over = session.work.opened() == Opened::Statement && session.outbox.is_idle();
    if was_open && is_over && !session.work.is_idle() {
        let end = session.work.end_by_itself();
        if !end::end_own(session, end).await? && end == End::Commit {
            return Err(unit_lost());
        }
    }
    Ok(())
}
