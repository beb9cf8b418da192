//! The door towards clients: whoever speaks the PostgreSQL protocol gets a session here.

mod attend;
mod auth;
mod bind;
mod client;
mod copy;
mod end;
mod execute;
mod extended;
mod greeting;
mod login;
mod output;
mod portals;
mod query;
mod recode;
mod reply;
mod shape;
mod wait;
mod wire;

use std::sync::Arc;

use pando_kernel::runtime::Stream;
use pando_kernel::session::{Doorway, Peer, entering};

use crate::auth::verifiers::Verifiers;
use client::Client;
use end::End;

/// A PostgreSQL door: serves clients until they leave or the server stops.
///
/// ```no_run
/// # async fn f<D: pando_kernel::session::Doorway>(doorway: std::sync::Arc<D>, stream: Box<dyn pando_kernel::runtime::Stream>) {
/// let door = pando_postgres::frontend::Door::new(doorway);
/// door.serve(stream, "192.0.2.7".into()).await;
/// # }
/// ```
#[derive(Debug)]
pub struct Door<D> {
    doorway: Arc<D>,
    verifiers: Arc<Verifiers>,
}

impl<D> Clone for Door<D> {
    fn clone(&self) -> Self {
        Door { doorway: Arc::clone(&self.doorway), verifiers: Arc::clone(&self.verifiers) }
    }
}

impl<D: Doorway> Door<D> {
    /// A door onto this server.
    pub fn new(doorway: Arc<D>) -> Door<D> {
        Door { doorway, verifiers: Arc::default() }
    }

    /// Serves one client to the end. `host` is the client's address without port, for messages.
    ///
    /// # Cancel safety
    /// Dropping the future closes the client's connection and its session.
    pub async fn serve(&self, stream: Box<dyn Stream>, peer: Peer) {
        // What is large is boxed: a client's task lives for hours, and what its login needed would stay a part of it.
        let end = match Box::pin(self.enter(stream, peer)).await {
            Ok(mut client) => client.serve().await,
            Err(end) => end,
        };
        match end {
            End::Quit => {}
            End::Gone(error) => tracing::debug!(%error, "the client is gone"),
            End::Told(why) => tracing::debug!(why, "the client's connection is closed"),
        }
    }

    async fn enter(&self, stream: Box<dyn Stream>, peer: Peer) -> Result<Box<Client<D>>, End> {
        let settings = self.doorway.settings();
        let (Peer { host, since }, limit) = (peer, settings.login_timeout);
        let (doorway, verifiers) = (&*self.doorway, &*self.verifiers);
        let login = Box::pin(login::log_in(doorway, verifiers, stream, host, &settings));
        match entering(&*self.doorway, since, limit, login).await {
            None => Err(End::Told("the client did not log in in time".into())),
            Some(Err(end)) => Err(end),
            Some(Ok((wire, session))) => {
                Ok(Box::new(Client::new(Arc::clone(&self.doorway), settings, wire, session)))
            }
        }
    }
}
