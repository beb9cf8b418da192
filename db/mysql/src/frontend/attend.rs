//! Asking the session, with an eye on whether the client is still there: a statement for which nobody waits any more is cancelled, as are waits for
//! connections and rows.

use std::pin::pin;
use std::sync::Arc;

use pando_kernel::runtime::watched;
use pando_kernel::session::{Doorway, Session};
use pando_kernel::{Description, Event, Prepared, Request, Result, Whole};

use super::client::Client;

impl<D: Doorway> Client<D> {
    /// Starts a request.
    pub(super) async fn start(&mut self, request: Request) -> Result<()> {
        let key = self.session.key();
        let (doorway, wire) = (&*self.door.doorway, &mut self.wire);
        let left = || doorway.cancel(key);
        watched(pin!(self.session.run(request)), |cx| wire.poll_gone(cx), left).await
    }

    /// Starts a request. The result is its whole reply, if it has come in one piece; else its pieces are to be read.
    pub(super) async fn begin(&mut self, request: Request) -> Result<Option<Whole>> {
        let key = self.session.key();
        let (doorway, wire) = (&*self.door.doorway, &mut self.wire);
        let left = || doorway.cancel(key);
        watched(pin!(self.session.answer(request)), |cx| wire.poll_gone(cx), left).await
    }

    /// What a statement takes and gives.
    pub(super) async fn description(&mut self, prepared: &Arc<Prepared>) -> Result<Description> {
        let key = self.session.key();
        let (doorway, wire) = (&*self.door.doorway, &mut self.wire);
        let left = || doorway.cancel(key);
        watched(pin!(self.session.describe(prepared)), |cx| wire.poll_gone(cx), left).await
    }

    /// The next piece of the reply.
    pub(super) async fn piece(&mut self) -> Result<Option<Event>> {
        if let Some(piece) = self.session.ahead() {
            return piece;
        }
        let key = self.session.key();
        let (doorway, wire) = (&*self.door.doorway, &mut self.wire);
        let left = || doorway.cancel(key);
        watched(pin!(self.session.next()), |cx| wire.poll_gone(cx), left).await
    }
}
