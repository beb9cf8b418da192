//! Replies that come in one piece: taken from the storage unit, ended and handed to the door in one go, past everything
//! that pieces go through.

use std::future::poll_fn;

use pando_kernel::error::{Error, Result};
use pando_kernel::event::Whole;

use crate::session::Session;
use crate::session::reply::pieces::{Pass, Reply};
use crate::session::transaction::verbs::Opened;
use crate::session::transaction::{deadlock, end};

impl Session {
    /// The whole reply of a statement that has just been started, if it comes so and is only passed on; else `None`,
    /// and it is read piece by piece.
    ///
    /// # Errors
    /// What reading the pieces would say. The reply is over then.
    pub(in crate::session) async fn take_whole(&mut self) -> Result<Option<Whole>> {
        let is_text_of_several = self.work.opened() == Opened::Pipeline && self.outbox.is_text;
        let is_plain =
            self.outbox.passes_on() && self.outbox.window.is_none() && self.outbox.queue.is_empty();
        if !is_plain || is_text_of_several {
            return Ok(None);
        }
        let Reply::Pass(pass) = &mut self.outbox.reply else { return Ok(None) };
        let taken = poll_fn(|cx| pass.channel.poll_whole(cx)).await;
        let ended = match taken {
            Ok(None) => return Ok(None),
            Ok(Some(whole)) => match pass.shape_whole(whole) {
                Ok(whole) => self.end_whole(whole).await,
                Err(error) => self.fail_whole(error).await,
            },
            Err(error) => self.fail_whole(error).await,
        };
        let ended = deadlock::or_doomed(self, ended).await;
        self.place.handle().idles();
        ended.map(Some)
    }

    async fn fail_whole(&mut self, error: Error) -> Result<Whole> {
        let error = Box::pin(self.fail_reply(error)).await;
        Box::pin(end::end_failed_text(self)).await;
        Err(error)
    }

    async fn end_whole(&mut self, whole: Whole) -> Result<Whole> {
        let Reply::Pass(pass) = std::mem::take(&mut self.outbox.reply) else {
            return Ok(whole);
        };
        let mut whole = whole;
        whole.completion = self.end_pass(pass, whole.completion).await?;
        Ok(whole)
    }
}

impl Pass {
    /// Gives a whole reply the form the client is to see.
    fn shape_whole(&mut self, whole: Whole) -> Result<Whole> {
        let mut whole = whole;
        if let Some(columns) = &mut whole.columns {
            self.origin.rename(columns);
        }
        self.rows = whole.rows.as_ref().map_or(0, |rows| rows.count.into());
        if let Some(turning) = &mut self.turning {
            whole.columns = whole.columns.map(|columns| turning.columns(columns)).transpose()?;
            whole.rows = whole.rows.map(|rows| turning.rows(&rows)).transpose()?;
        }
        Ok(whole)
    }
}
