//! A reply waits in its cursor, and goes on.

use std::collections::VecDeque;

use pando_kernel::Columns;
use pando_kernel::error::{ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::request::CursorId;

use crate::session::Session;
use crate::session::connections::release;
use crate::session::cursors::portals::{Cursor, MAX_CURSORS};
use crate::session::reply::pieces::Reply;

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
