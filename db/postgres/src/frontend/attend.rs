//! Asking the session, with an eye on whether the client is still there: a statement for which nobody waits any more is cancelled, as are waits for
//! connections and rows.

use std::pin::pin;
use std::sync::Arc;

use pando_kernel::runtime::watched;
use pando_kernel::session::{Doorway, Session};
use pando_kernel::{Description, Event, Prepared, Request, Whole};

use super::client::Client;
use super::end::Halt;

impl<D: Doorway> Client<D> {
    /// Starts a request.
    pub(super) async fn run(&mut self, request: Request) -> Result<(), Halt> {
        let key = self.session.key();
        let (doorway, wire) = (&*self.doorway, &mut self.wire);
        let session = &mut self.session;
        let left = || doorway.cancel(key);
        Ok(watched(pin!(session.run(request)), |cx| wire.poll_gone(cx), left).await?)
    }

    /// Starts a request as [`Client::run`] does. The result is its whole reply, if it has come in one
    /// piece; else its pieces are to be read.
    pub(super) async fn begin(&mut self, request: Request) -> Result<Option<Whole>, Halt> {
        let key = self.session.key();
        let (doorway, wire) = (&*self.doorway, &mut self.wire);
        let session = &mut self.session;
        let left = || doorway.cancel(key);
        Ok(watched(pin!(session.answer(request)), |cx| wire.poll_gone(cx), left).await?)
    }

    /// The next piece of the reply. What waits to be written goes out first when it is much, so that
    /// a client that reads slowly slows the storage units down.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, Halt> {
        if self.wire.output.len() >= self.settings.flush_bytes {
            self.wire.flush().await?;
        }
        if let Some(piece) = self.session.ahead() {
            return Ok(piece?);
        }
        let key = self.session.key();
        let (doorway, wire) = (&*self.doorway, &mut self.wire);
        let session = &mut self.session;
        let left = || doorway.cancel(key);
        Ok(watched(pin!(session.next()), |cx| wire.poll_gone(cx), left).await?)
    }

    /// What a statement takes and gives.
    pub(super) async fn description(
        &mut self,
        prepared: &Arc<Prepared>,
    ) -> Result<Description, Halt> {
        let key = self.session.key();
        let (doorway, wire) = (&*self.doorway, &mut self.wire);
        let session = &mut self.session;
        let left = || doorway.cancel(key);
        Ok(watched(pin!(session.describe(prepared)), |cx| wire.poll_gone(cx), left).await?)
    }
}
