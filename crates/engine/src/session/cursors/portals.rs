//! Replies that wait: portals with a row limit and server-side cursors.

use std::collections::VecDeque;

use pando_kernel::Columns;
use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::request::CursorId;
use pando_kernel::row::Rows;
use pando_kernel::runtime::BoxFuture;

use crate::session::Session;
use crate::session::cursors::{Cursors, declared};
use crate::session::errors::unit_lost;
use crate::session::reply::pieces;
use crate::session::reply::pieces::{Reply, Verb};
use crate::session::run::release;
use crate::session::transaction::verbs::Opened;
use crate::session::transaction::{End, end};

/// Cursors one session may have open.
pub(in crate::session) const MAX_CURSORS: usize = 1_000;

/// A reply that waits for its client to ask for more.
#[derive(Debug)]
pub(in crate::session) struct Cursor {
    id: CursorId,
    reply: Reply,
    columns: Option<Columns>,
    /// Pieces already read: the rest of a chunk, or everything when another statement needed the connection.
    stash: VecDeque<Event>,
}

impl Cursor {
    /// Keeps rows for the next fetch.
    pub(in crate::session) fn stash(&mut self, rows: Rows) {
        self.stash.push_back(Event::Rows(rows));
    }

    /// What it keeps in memory, in bytes.
    fn bytes(&self) -> usize {
        let rows = |event: &Event| if let Event::Rows(rows) = event { rows.bytes.len() } else { 0 };
        self.stash.iter().map(rows).sum()
    }
}

impl Cursors {
    /// The open ones, in no order.
    pub(in crate::session) fn ids(&self) -> impl Iterator<Item = CursorId> {
        self.portals.keys().copied()
    }

    /// Whether there is one.
    pub(in crate::session) fn are_open(&self) -> bool {
        !self.portals.is_empty()
    }

    /// Whether there is one that a statement has declared.
    pub(in crate::session) fn are_declared(&self) -> bool {
        !self.declared.is_empty()
    }

    /// The cursor made by the last suspension.
    pub(in crate::session) fn newest_cursor(&mut self) -> Option<&mut Cursor> {
        let id = self.last_suspended?;
        self.portals.get_mut(&id)
    }

    /// Whether a cursor still hears from storage units: what is in memory needs none.
    pub(in crate::session) fn waits_in_cursor(&self) -> bool {
        self.portals.values().any(|cursor| !matches!(cursor.reply, Reply::Idle))
    }

    /// Whether a cursor has more to give.
    pub(in crate::session) fn has_cursor(&self, id: CursorId) -> bool {
        self.portals.contains_key(&id)
    }

    /// The columns of a cursor.
    pub(in crate::session) fn cursor_columns(&self, id: CursorId) -> Option<Columns> {
        self.portals.get(&id).and_then(|cursor| cursor.columns.clone())
    }
}

/// Puts the current reply into its cursor.
pub(in crate::session) fn suspend(session: &mut Session) -> Result<()> {
    let reply = session.outbox.take_reply();
    session.place.handle().pauses();
    session.work.transaction_mut().locks_stand();
    let Some(id) = session.outbox.take_window().and_then(|window| window.cursor) else {
        session.outbox.answers_with(reply);
        return Ok(());
    };
    if session.cursors.portals.len() >= MAX_CURSORS {
        session.outbox.answers_with(reply);
        return Err(ErrorKind::TooLarge(format!("more than {MAX_CURSORS} open cursors")).into());
    }
    let columns = match &reply {
        Reply::Pass(pass) => pass.columns.clone(),
        Reply::Merged(merged) => Some(merged.columns().clone()),
        Reply::Idle | Reply::CopyIn(_) | Reply::CopyOut(_) => None,
    };
    session.cursors.portals.insert(id, Cursor { id, reply, columns, stash: VecDeque::new() });
    session.outbox.tell(Event::Suspended);
    session.cursors.last_suspended = Some(id);
    Ok(())
}

/// Goes on with a cursor.
pub(in crate::session) fn fetch(
    session: &mut Session,
    id: CursorId,
    limit: Option<u32>,
) -> Result<()> {
    session.work.refuse_if_failed()?;
    let Some(cursor) = session.cursors.portals.remove(&id) else {
        return Err(ErrorKind::UnknownStatement(format!("cursor {}", id.0)).into());
    };
    if let Err(error) = release::resume(session, &cursor.reply) {
        session.cursors.portals.insert(id, cursor);
        return Err(error);
    }
    session.outbox.answers_with(cursor.reply);
    session.outbox.limit_rows(limit, Some(cursor.id));
    replay(session, cursor.columns, cursor.stash)
}

/// Serves what a cursor had already read, within the new window.
fn replay(session: &mut Session, columns: Option<Columns>, stash: VecDeque<Event>) -> Result<()> {
    let mut stash = stash;
    while let Some(event) = stash.pop_front() {
        let Event::Rows(rows) = event else {
            session.outbox.tell(event);
            continue;
        };
        let Some(window) = session.outbox.window_mut() else {
            session.outbox.tell(Event::Rows(rows));
            continue;
        };
        let (take, count) = (window.left, u64::from(rows.count));
        if count < take {
            window.left -= count;
            session.outbox.tell(Event::Rows(rows));
            continue;
        }
        let split = columns
            .as_ref()
            .map(|columns| crate::session::reply::pieces::split(columns, rows, take));
        let Some((now, later)) = split.transpose()? else { continue };
        session.outbox.tell_all(now.map(Event::Rows));
        suspend(session)?;
        if let Some(cursor) = session.cursors.newest_cursor() {
            cursor.columns = columns;
            cursor.stash.extend(later.map(Event::Rows));
            cursor.stash.append(&mut stash);
        }
        return Ok(());
    }
    Ok(())
}

/// Drops a cursor and gives its connections back.
pub(in crate::session) async fn close_cursor(session: &mut Session, id: CursorId) {
    session.cursors.declared.retain(|_, declared| declared.id() != id);
    if let Some(cursor) = session.cursors.portals.remove(&id) {
        let _ = release::resume(session, &cursor.reply);
        release::release_reply(session, cursor.reply).await;
    }
}

/// Drops every cursor.
pub(in crate::session) async fn close_cursors(session: &mut Session) {
    let all: Vec<CursorId> = session.cursors.ids().collect();
    for id in all {
        close_cursor(session, id).await;
    }
    session.cursors.declared.clear();
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

/// A transaction is about to end: cursors end with it, but for one that is its statement's own, and where servers
/// keep what a cursor has found.
///
/// # Errors
/// What came in place of the rows that were not yet found. It may have ended the transaction.
pub(in crate::session) fn part_from_cursors(
    session: &mut Session,
    end: End,
) -> BoxFuture<'_, Result<()>> {
    Box::pin(async move {
        if session.work.opened() == Opened::Statement {
            return Ok(());
        }
        let keeps =
            session.place.dialect().is_some_and(|dialect| !dialect.error_fails_transaction());
        if !keeps {
            return declared::part_from_declared(session, end).await;
        }
        let settled = match end {
            End::Commit => settle_cursors(session).await,
            End::RollBack => Ok(()),
        };
        if end == End::Commit && settled.is_ok() {
            return Ok(());
        }
        // What they have not found yet is not waited for.
        let unread = session
            .cursors
            .portals
            .values()
            .filter(|cursor| release::is_at_work(session, &cursor.reply));
        let unread: Vec<CursorId> = unread.map(|cursor| cursor.id).collect();
        for id in unread {
            close_cursor(session, id).await;
        }
        settled
    })
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
    let before = session.outbox.turn_to(cursor.reply);
    let mut failed = None;
    while session.outbox.has_more() {
        match pieces::next_of_reply(session).await {
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
            failed = Some(release::fail_reply(session, crate::execute::too_much(limit)).await);
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
    let shaped = match pieces::shape(session, event) {
        Ok(shaped) => shaped,
        Err(error) => return Err(Box::pin(release::fail_reply(session, error)).await),
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
    close_cursor(session, id).await;
    let is_over = session.work.opened() == Opened::Statement && session.outbox.is_idle();
    if was_open && is_over && !session.work.is_idle() {
        let end = session.work.end_by_itself();
        if !end::end_transaction(session, end).await? && end == End::Commit {
            return Err(unit_lost());
        }
    }
    Ok(())
}
