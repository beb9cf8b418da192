//! A whole process that serves until a signal ends it.

use std::io;

use pando_kernel::error::{Error, ErrorKind, Result};
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::compute_node::read;
use crate::options::{Addresses, Options};
use crate::server::Server;

/// Serves until SIGTERM or SIGINT; SIGHUP reads the configuration again. `ready` is called once, when clients are accepted. A second
/// SIGTERM or SIGINT ends the running statements, a third one the process.
///
/// # Errors
/// As [`Server::start`]; what `ready` returns.
pub fn serve(options: Options, ready: impl FnOnce(&Addresses) -> io::Result<()>) -> Result<()> {
    crate::files::raise();
    crate::private::keep_to_ourselves();
    let documents = read(&options)?;
    // For what no session waits for: accepting, health, the governor, connections brought back to order.
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(async {
        let mut signals = Signals::new().map_err(failed)?;
        let server = Server::open(options, documents).await?;
        ready(&server.addresses()).map_err(failed)?;
        tracing::info!("serving {}", server.addresses());
        while signals.next().await == Told::Reload {
            match server.reload().await {
                Ok(()) => tracing::info!("the configuration was read again"),
                Err(error) => tracing::error!("the old configuration stays: {error}"),
            }
        }
        tracing::info!(sessions = server.sessions(), "stopping");
        let hurry = server.hurry();
        let impatient = async {
            signals.stop().await;
            hurry.now();
            signals.stop().await;
        };
        tokio::select! {
            () = server.stop() => {}
            () = impatient => tracing::warn!("stopping at once"),
        }
        Ok(())
    })
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

#[derive(Debug, PartialEq, Eq)]
enum Told {
    Stop,
    Reload,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> Told {
        tokio::select! {
            _ = self.terminate.recv() => Told::Stop,
            _ = self.interrupt.recv() => Told::Stop,
            _ = self.hangup.recv() => Told::Reload,
        }
    }

    async fn stop(&mut self) {
        while self.next().await == Told::Reload {}
    }
}

fn failed(error: io::Error) -> Error {
    Error::new(ErrorKind::Configuration(error.to_string()))
}
