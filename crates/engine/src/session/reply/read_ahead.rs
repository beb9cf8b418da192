//! Pieces of a reply that are taken ahead of the door: what one storage unit has sent together is taken in one go, and
//! the door finds it without waiting for each piece by itself.

use std::future::poll_fn;
use std::task::Poll;

use pando_kernel::event::Event;

use crate::session::Session;
use crate::session::reply::Outbox;
use crate::session::reply::pieces::Reply;
use crate::session::transaction::verbs::Opened;
use crate::session::transaction::{deadlock, end};

/// Rows of so many bytes end what is taken ahead: a door that does not ask for more is to stop the storage unit from
/// sending.
const BYTES: usize = 16 << 10;
/// Pieces that are taken ahead at most.
const PIECES: usize = 16;

impl Outbox {
    /// Whether [`Session::pass_on`] may be asked for the next pieces.
    pub(in crate::session) fn passes_on(&self) -> bool {
        matches!(self.reply, Reply::Pass(_)) && self.pending.is_empty() && self.writer.is_none()
    }
}

impl Session {
    /// Waits for the next piece of a reply that is passed on, and takes those that have come with it. The next
    /// statement is not begun: until the door has told its client how one ended, the session stands where that one left
    /// it.
    pub(in crate::session) async fn pass_on(&mut self) {
        let mut bytes = 0;
        while let Reply::Pass(pass) = &mut self.outbox.reply {
            let waits = self.outbox.ahead.is_empty();
            let step = poll_fn(|cx| match pass.channel.poll_event(cx) {
                Poll::Pending if waits => Poll::Pending,
                Poll::Pending => Poll::Ready(None),
                Poll::Ready(step) => Poll::Ready(Some(step)),
            });
            let Some(step) = step.await else { return };
            let piece = match step {
                Ok(Event::Done) => self.end_reply().await.map(|()| None),
                Ok(event) => self.shape_or_settle(event).await,
                Err(error) => Err(Box::pin(self.fail_reply(error)).await),
            };
            let more = match piece {
                Ok(None) => true,
                Ok(Some(event)) => {
                    bytes += size(&event);
                    let more = goes_on(&event) && bytes < BYTES && self.outbox.ahead.len() < PIECES;
                    self.outbox.ahead.push_back(Ok(Some(event)));
                    more
                }
                Err(error) => {
                    Box::pin(end::end_failed_text(self)).await;
                    let error = deadlock::as_told(self, error).await;
                    self.place.handle().idles();
                    self.outbox.ahead.push_back(Err(error));
                    return;
                }
            };
            while let Some(event) = self.outbox.pending.pop_front() {
                self.outbox.ahead.push_back(Ok(Some(event)));
            }
            if !more {
                return;
            }
        }
        if self.has_answered() {
            self.place.handle().idles();
            self.outbox.ahead.push_back(Ok(None));
        }
    }

    /// Whether what has been taken ends the reply, and nothing of the request is left to be done.
    fn has_answered(&self) -> bool {
        let complete = matches!(self.outbox.ahead.back(), Some(Ok(Some(Event::Complete(_)))));
        let commits = self.work.opened() == Opened::Pipeline && self.outbox.is_text;
        complete
            && matches!(self.outbox.reply, Reply::Idle)
            && self.outbox.queue.is_empty()
            && !commits
    }
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
