//! The door towards clients: whoever speaks the MySQL protocol gets a session here.

mod attend;
mod auth;
mod bind;
mod charset;
mod client;
mod copy;
mod end;
mod execute;
mod field_list;
mod login;
mod query;
mod reply;
mod shape;
mod statements;
mod text;
mod wait;
mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use pando_kernel::runtime::{Stream, within};
use pando_kernel::session::{Doorway, Peer, entering};

use crate::auth::ServerKey;
use client::Client;
use end::End;

/// A MySQL door: serves clients until they leave or the server stops.
#[derive(Debug)]
pub struct Door<D> {
    doorway: Arc<D>,
    key: Arc<ServerKey>,
    counters: Arc<Counters>,
}

/// What COM_STATISTICS tells.
#[derive(Debug)]
struct Counters {
    opened: Instant,
    clients: AtomicU64,
    questions: AtomicU64,
}

impl<D> Clone for Door<D> {
    fn clone(&self) -> Self {
        let (doorway, key) = (Arc::clone(&self.doorway), Arc::clone(&self.key));
        Self { doorway, key, counters: Arc::clone(&self.counters) }
    }
}

impl<D: Doorway> Door<D> {
    /// A door onto this server. All its clients share one RSA key pair, made when the first one needs it.
    pub fn new(doorway: Arc<D>) -> Self {
        let opened = doorway.runtime().now();
        let counters =
            Counters { opened, clients: AtomicU64::new(0), questions: AtomicU64::new(0) };
        Self { doorway, key: Arc::default(), counters: Arc::new(counters) }
    }

    /// Serves one client to the end. `host` is the client's address without port, for messages.
    ///
    /// # Cancel safety
    /// Dropping the future closes the client's connection and its session.
    pub async fn serve(&self, stream: Box<dyn Stream>, peer: Peer) {
        self.counters.clients.fetch_add(1, Ordering::Relaxed);
        self.talk(stream, peer).await;
        self.counters.clients.fetch_sub(1, Ordering::Relaxed);
    }

    async fn talk(&self, stream: Box<dyn Stream>, peer: Peer) {
        let settings = self.doorway.settings();
        let runtime = self.doorway.runtime();
        // What is large is boxed: a client's task lives for hours, and what its login needed would stay a part of it.
        let login = Box::pin(login::log_in(self, stream, peer.host, &settings));
        let login = Box::pin(entering(&*self.doorway, peer.since, settings.login_timeout, login));
        let Some(login) = login.await else {
            tracing::debug!("a client did not log in in time");
            return;
        };
        let seated = |entered| Box::new(Client::new(self.clone(), entered, settings.clone()));
        let mut entered = login.map(seated);
        let end = loop {
            let mut client = match entered {
                Ok(client) => client,
                Err(end) => break end,
            };
            match client.serve().await {
                End::ChangeUser(request) => {
                    // The old session must be gone before a new one takes its number.
                    let (wire, facts) = client.into_wire();
                    let again = Box::pin(login::change_user(self, wire, facts, &request));
                    let timeout = settings.login_timeout;
                    let Some(again) = within(&*runtime, timeout, again).await else { return };
                    entered = again.map(seated);
                }
                end @ (End::Quit | End::Gone(_) | End::Told(_)) => break end,
            }
        };
        log(&end);
    }
}

fn log(end: &End) {
    match end {
        End::Quit | End::ChangeUser(_) => {}
        End::Gone(error) => tracing::debug!(%error, "the client is gone"),
        End::Told(why) => tracing::debug!(why, "the client's connection is closed"),
    }
}
