//! Replies that come in one piece: taken from the storage unit, ended and handed to the door in one go, past everything
//! that pieces go through.

use std::future::poll_fn;

use pando_kernel::error::{Error, Result};
use pando_kernel::event::Whole;

use crate::session::Session;
use crate::session::reply::pieces::{Pass, Reply};
use crate::session::reply::pull::finish;
use crate::session::transaction::{Opened, commit, deadlock};

/// The whole reply of a statement that has just been started, if it comes so and is only passed on; else `None`,
/// and it is read piece by piece.
///
/// # Errors
/// What reading the pieces would say. The reply is over then.
pub(in crate::session) async fn take_whole(session: &mut Session) -> Result<Option<Whole>> {
    let is_text_of_several = session.work.opened() == Opened::Pipeline && session.outbox.is_text;
    let is_plain = session.outbox.passes_on()
        && session.outbox.window.is_none()
        && session.outbox.queue.is_empty();
    if !is_plain || is_text_of_several {
        return Ok(None);
    }
    let Reply::Pass(pass) = &mut session.outbox.reply else { return Ok(None) };
    let taken = poll_fn(|cx| pass.channel.poll_whole(cx)).await;
    let ended = match taken {
        Ok(None) => return Ok(None),
        Ok(Some(whole)) => match pass.shape_whole(whole) {
            Ok(whole) => end_whole(session, whole).await,
            Err(error) => fail_whole(session, error).await,
        },
        Err(error) => fail_whole(session, error).await,
    };
    let ended = deadlock::or_doomed(session, ended).await;
    session.place.handle().idles();
    ended.map(Some)
}

async fn fail_whole(session: &mut Session, error: Error) -> Result<Whole> {
    let error = Box::pin(finish::fail_reply(session, error)).await;
    Box::pin(commit::end_failed_text(session)).await;
    Err(error)
}

async fn end_whole(session: &mut Session, whole: Whole) -> Result<Whole> {
    let Reply::Pass(pass) = std::mem::take(&mut session.outbox.reply) else {
        return Ok(whole);
    };
    let mut whole = whole;
    whole.completion = finish::end_pass(session, pass, whole.completion).await?;
    session.outbox.tell_noted(&mut whole.completion);
    Ok(whole)
}

impl Pass {
    /// Gives a whole reply the form the client is to see.
    fn shape_whole(&mut self, whole: Whole) -> Result<Whole> {
        let mut whole = whole;
        if let Some(columns) = &mut whole.columns {
            self.origin.rename(columns);
        }
        self.rows = whole.rows.as_ref().map_or(0, |rows| rows.count.into());
        self.verb.may_tell(self.rows)?;
        if let Some(turning) = &mut self.turning {
            whole.columns = whole.columns.map(|columns| turning.columns(columns)).transpose()?;
            whole.rows = whole.rows.map(|rows| turning.rows(&rows)).transpose()?;
        }
        Ok(whole)
    }
}
