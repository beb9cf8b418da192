//! The next piece of the reply under way.

use std::future::poll_fn;

use pando_kernel::error::{Error, ErrorKind, Result};
use pando_kernel::event::Event;
use pando_kernel::row::Rows;
use pando_kernel::{Columns, CopyInput};

use crate::session::Session;
use crate::session::cursors::{fetch, settle};
use crate::session::reply::pieces;
use crate::session::reply::pieces::Reply;
use crate::session::reply::pull::finish;

/// The next piece of the current statement's reply.
pub(in crate::session) async fn next_of_reply(session: &mut Session) -> Result<Option<Event>> {
    while session.outbox.writer.is_some() {
        if let Some(event) = session.outbox.next_written() {
            return Ok(Some(event));
        }
        let Some(event) = next_piece(session).await? else { return Ok(None) };
        if let Err(error) = session.outbox.write(event) {
            return Err(Box::pin(finish::fail_reply(session, error)).await);
        }
    }
    next_piece(session).await
}

async fn next_piece(session: &mut Session) -> Result<Option<Event>> {
    loop {
        if let Some(mut event) = session.outbox.next_told() {
            if let Event::Notice(notice) = &mut event {
                session.place.retell(notice);
            }
            return Ok(Some(event));
        }
        let step = match &mut session.outbox.reply {
            Reply::Idle | Reply::CopyIn(_) => return Ok(None),
            Reply::Pass(pass) => poll_fn(|cx| pass.channel.poll_event(cx)).await,
            Reply::Merged(merged) => merged.step().await,
            Reply::CopyOut(copy) => copy.step().await,
        };
        match step {
            Ok(Event::Done) => finish::end_reply(session).await?,
            Ok(event) => {
                if let Some(event) = settle::shape_or_settle(session, event).await? {
                    return Ok(Some(event));
                }
            }
            Err(error) => return Err(Box::pin(finish::fail_reply(session, error)).await),
        }
    }
}

/// Gives a piece the form the client is to see; `None` when it is not for the client.
pub(in crate::session) fn shape(session: &mut Session, event: Event) -> Result<Option<Event>> {
    match event {
        Event::Columns(columns) => shape_columns(session, columns).map(Some),
        Event::Rows(rows) => shape_rows(session, rows),
        Event::Complete(completion) => {
            if let Reply::Pass(pass) = &mut session.outbox.reply
                && let Some(mut earlier) = pass.completion.replace(completion)
            {
                earlier.more = true;
                return Ok(Some(Event::Complete(earlier)));
            }
            Ok(None)
        }
        Event::Described(_) | Event::Done => Ok(None),
        Event::Suspended => Err(Error::internal("a storage unit suspended a reply")),
        Event::Notice(mut notice) => {
            session.place.retell(&mut notice);
            Ok(Some(Event::Notice(notice)))
        }
        Event::CopyData(data) => {
            // Those of several units are counted as they come, before they are one stream.
            if let Reply::Pass(pass) = &mut session.outbox.reply {
                pass.verb.may_copy(&data)?;
            }
            Ok(Some(Event::CopyData(data)))
        }
        Event::Empty | Event::CopyIn(_) | Event::CopyOut(_) | Event::SendFile(_) => Ok(Some(event)),
        Event::Parameter { .. } => Ok(None),
    }
}

fn shape_columns(session: &mut Session, columns: Columns) -> Result<Event> {
    let mut columns = columns;
    if let Reply::Pass(pass) = &mut session.outbox.reply {
        pass.origin.rename(&mut columns);
    }
    if let Some(turning) = session.outbox.reply.turning() {
        columns = turning.columns(columns)?;
    }
    if let Reply::Pass(pass) = &mut session.outbox.reply {
        if session.outbox.window.is_some() {
            pass.columns = Some(columns.clone());
        }
        if let Some(mut earlier) = pass.completion.take() {
            earlier.more = true;
            session.outbox.pending.push_back(Event::Columns(columns));
            return Ok(Event::Complete(earlier));
        }
    }
    if session.outbox.window.is_some_and(|window| window.left == 0) {
        fetch::suspend(session)?;
    }
    Ok(Event::Columns(columns))
}

fn shape_rows(session: &mut Session, rows: Rows) -> Result<Option<Event>> {
    let mut rows = rows;
    match &mut session.outbox.reply {
        Reply::Pass(pass) => {
            pass.rows += u64::from(rows.count);
            pass.verb.may_tell(pass.rows)?;
        }
        Reply::Merged(merged) => {
            merged.rows += u64::from(rows.count);
            merged.verb.may_tell(merged.rows)?;
        }
        Reply::Idle | Reply::CopyIn(_) | Reply::CopyOut(_) => {}
    }
    if let Some(turning) = session.outbox.reply.turning() {
        rows = turning.rows(&rows)?;
    }
    let Some(window) = &mut session.outbox.window else { return Ok(Some(Event::Rows(rows))) };
    if u64::from(rows.count) < window.left {
        window.left -= u64::from(rows.count);
        return Ok(Some(Event::Rows(rows)));
    }
    let columns = match &session.outbox.reply {
        Reply::Pass(pass) => pass.columns.clone(),
        Reply::Merged(merged) => Some(merged.columns().clone()),
        Reply::Idle | Reply::CopyIn(_) | Reply::CopyOut(_) => None,
    };
    let columns = columns.ok_or_else(|| Error::internal("rows came before their columns"))?;
    let take = window.left;
    window.left = 0;
    let (now, later) = pieces::split(&columns, rows, take)?;
    fetch::suspend(session)?;
    if let (Some(later), Some(cursor)) = (later, session.cursors.newest_cursor()) {
        cursor.stash(later);
    }
    Ok(now.map(Event::Rows))
}

/// Copy data from the client for a reply that is passed on.
pub(in crate::session) async fn copy_pass(session: &mut Session, input: CopyInput) -> Result<()> {
    let Reply::Pass(pass) = &mut session.outbox.reply else {
        return Err(Error::new(ErrorKind::Protocol("no copy is under way".into())));
    };
    let ends = !matches!(input, CopyInput::Data(_));
    let channel = &mut pass.channel;
    let sent = match pass.refusal.take() {
        Some(refusal) => Err(*refusal),
        None => {
            channel.connection.copy(input)?;
            poll_fn(|cx| channel.poll_sent(cx)).await
        }
    };
    if ends {
        session.outbox.pending.extend(channel.notices.drain(..));
    }
    match sent {
        Ok(()) => Ok(()),
        Err(error) => Err(Box::pin(finish::fail_reply(session, error)).await),
    }
}
