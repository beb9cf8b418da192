//! Pieces of a reply that are taken ahead of the door: what one storage unit has sent together is taken in one go, and
//! the door finds it without waiting for each piece by itself.

use std::future::poll_fn;
use std::task::Poll;

use pando_kernel::event::Event;

use crate::session::Session;
use crate::session::cursors::settle;
use crate::session::reply::Outbox;
use crate::session::reply::pieces::Reply;
use crate::session::reply::pull::finish;
use crate::session::transaction::{Opened, commit, deadlock};

/// Rows of so many bytes end what is taken ahead: a door that does not ask for more is to stop the storage unit from
/// sending.
const BYTES: usize = 16 << 10;
/// Pieces that are taken ahead at most.
const PIECES: usize = 16;

impl Outbox {
    /// Whether [`pass_on`] may be asked for the next pieces.
    pub(in crate::session) fn passes_on(&self) -> bool {
        matches!(self.reply, Reply::Pass(_)) && self.pending.is_empty() && self.writer.is_none()
    }
}

/// Waits for the next piece of a reply that is passed on, and takes those that have come with it. The next
/// statement is not begun: until the door has told its client how one ended, the session stands where that one left
/// it.
pub(in crate::session) async fn pass_on(session: &mut Session) {
    let mut bytes = 0;
    while let Reply::Pass(pass) = &mut session.outbox.reply {
        let waits = session.outbox.ahead.is_empty();
        let step = poll_fn(|cx| match pass.channel.poll_event(cx) {
            Poll::Pending if waits => Poll::Pending,
            Poll::Pending => Poll::Ready(None),
            Poll::Ready(step) => Poll::Ready(Some(step)),
        });
        let Some(step) = step.await else { return };
        let piece = match step {
            Ok(Event::Done) => finish::end_reply(session).await.map(|()| None),
            Ok(event) => settle::shape_or_settle(session, event).await,
            Err(error) => Err(Box::pin(finish::fail_reply(session, error)).await),
        };
        let more = match piece {
            Ok(None) => true,
            Ok(Some(event)) => {
                bytes += size(&event);
                let more = goes_on(&event) && bytes < BYTES && session.outbox.ahead.len() < PIECES;
                session.outbox.ahead.push_back(Ok(Some(event)));
                more
            }
            Err(error) => {
                Box::pin(commit::end_failed_text(session)).await;
                let error = deadlock::as_told(session, error).await;
                session.place.handle().idles();
                session.outbox.ahead.push_back(Err(error));
                return;
            }
        };
        while let Some(event) = session.outbox.next_told() {
            session.outbox.ahead.push_back(Ok(Some(event)));
        }
        if !more {
            return;
        }
    }
    if has_answered(session) {
        session.place.handle().idles();
        session.outbox.ahead.push_back(Ok(None));
    }
}

/// Whether what has been taken ends the reply, and nothing of the request is left to be done.
fn has_answered(session: &Session) -> bool {
    let complete = matches!(session.outbox.ahead.back(), Some(Ok(Some(Event::Complete(_)))));
    let commits = session.work.opened() == Opened::Pipeline && session.outbox.is_text;
    complete
        && matches!(session.outbox.reply, Reply::Idle)
        && session.outbox.queue.is_empty()
        && !commits
}

/// Bytes of a piece that count.
fn size(event: &Event) -> usize {
    if let Event::Rows(rows) = event { rows.bytes.len() } else { 0 }
}

/// Whether a door only passes the piece on, so that the next one may come before it has.
fn goes_on(event: &Event) -> bool {
    match event {
        Event::Columns(_) | Event::Rows(_) | Event::Notice(_) => true,
        Event::Complete(_)
        | Event::Empty
        | Event::Suspended
        | Event::Parameter { .. }
        | Event::Described(_)
        | Event::CopyIn(_)
        | Event::CopyOut(_)
        | Event::CopyData(_)
        | Event::SendFile(_)
        | Event::Done => false,
    }
}
