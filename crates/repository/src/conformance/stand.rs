//! What the tests ask of whoever wants a repository tested.

use std::sync::Arc;

use pando_kernel::runtime::{BoxFuture, SharedRuntime};

use super::Relay;
use crate::{Repository, Result};

/// An instance and what stands between it and its server.
pub type Relayed = (Arc<dyn Repository>, Relay);

/// What the tests are run on: an empty store that instances can be connected to.
pub trait Stand: Send + Sync {
    /// Another instance with a session of its own; all instances see the same keys. Its calls end within 5 s.
    fn instance(&self) -> BoxFuture<'_, Result<Arc<dyn Repository>>>;

    /// Another instance, whose connections go through a relay that a test can cut; `None` where there is no connection to cut.
    fn behind_relay(&self) -> BoxFuture<'_, Option<Result<Relayed>>>;

    /// The server that a test may stop and start again; `None` where there is none, or where others need it.
    fn server(&self) -> Option<&dyn Server>;

    /// Timers and tasks for the tests themselves.
    fn runtime(&self) -> SharedRuntime;
}

/// A server process. The calls block until it has ended or answers.
pub trait Server: Send + Sync {
    /// Ends it; its data stays.
    ///
    /// # Errors
    /// What went wrong, for the report.
    fn stop(&self) -> std::result::Result<(), String>;

    /// Ends it without a warning, as a crash would.
    ///
    /// # Errors
    /// What went wrong, for the report.
    fn kill(&self) -> std::result::Result<(), String>;

    /// Starts it again at the same address.
    ///
    /// # Errors
    /// What went wrong, for the report.
    fn start(&self) -> std::result::Result<(), String>;
}
