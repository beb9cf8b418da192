//! A stand whose store is a server of its own, as `testing/services` starts them.

use std::path::Path;
use std::sync::Arc;

use pando_kernel::runtime::{BoxFuture, SharedRuntime};

use super::{Relay, Relayed, Script, Server, Stand};
use crate::{Error, Key, Repository, Result};

/// A kind of server, and how instances are connected to one.
#[derive(Debug, Clone, Copy)]
pub struct Kind<O> {
    /// The server's name in `testing/services`, such as `zk1`: `ZK1_PORT` is where it listens.
    pub service: &'static str,
    /// Options for these servers, as a configuration names them, and this namespace.
    pub options: fn(&str, Key) -> O,
    /// An instance with these options.
    pub open: fn(O, SharedRuntime) -> Result<Arc<dyn Repository>>,
}

/// One server of a kind, and a namespace there.
#[derive(Debug)]
pub struct Remote<O> {
    /// Where it listens, as `127.0.0.1:2181`.
    pub address: String,
    /// What instances are opened with.
    pub options: O,
    /// What they run on.
    pub runtime: SharedRuntime,
    kind: Kind<O>,
    namespace: Key,
    script: Option<Script>,
}

impl<O: Clone> Remote<O> {
    /// The server that this process's environment names, with an empty namespace for this test; `None` without one. With SERVICES_DIR it can
    /// be stopped and started, too.
    ///
    /// # Errors
    /// A name that no key has.
    pub fn found(kind: Kind<O>, test: &str, runtime: SharedRuntime) -> Option<Result<Self>> {
        let port = std::env::var(format!("{}_PORT", kind.service.to_uppercase())).ok()?;
        let namespace = match Key::parse(&format!("/test/{test}-{}", std::process::id())) {
            Ok(namespace) => namespace,
            Err(error) => return Some(Err(error)),
        };
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testing/services/server");
        let script = std::env::var("SERVICES_DIR").ok();
        let script = script.map(|folder| Script { program, folder, name: kind.service.into() });
        let address = format!("127.0.0.1:{port}");
        // The second of the two listens nowhere: the other one is found.
        let options = (kind.options)(&format!("{address},127.0.0.1:1"), namespace.clone());
        Some(Ok(Self { address, options, runtime, kind, namespace, script }))
    }

    fn relayed(&self) -> Result<Relayed> {
        let unavailable = |why: String| Error::Unavailable(format!("no relay: {why}"));
        let server = self.address.parse();
        let server = server.map_err(|e: std::net::AddrParseError| unavailable(e.to_string()))?;
        let relay = Relay::to(server).map_err(|e| unavailable(e.to_string()))?;
        let options = (self.kind.options)(&relay.address().to_string(), self.namespace.clone());
        Ok(((self.kind.open)(options, self.runtime.clone())?, relay))
    }
}

impl<O: Clone + Send + Sync> Stand for Remote<O> {
    fn instance(&self) -> BoxFuture<'_, Result<Arc<dyn Repository>>> {
        Box::pin(async { (self.kind.open)(self.options.clone(), self.runtime.clone()) })
    }

    fn behind_relay(&self) -> BoxFuture<'_, Option<Result<Relayed>>> {
        Box::pin(async { Some(self.relayed()) })
    }

    fn server(&self) -> Option<&dyn Server> {
        self.script.as_ref().map(|script| script as &dyn Server)
    }

    fn runtime(&self) -> SharedRuntime {
        self.runtime.clone()
    }
}
