//! Where a session stands: its engine, its user, the configuration it goes by, and the logical database it is in.

use std::sync::Arc;

use pando_kernel::dialect::Facts;
use pando_kernel::session::Login;

use crate::handle::Handle;
use crate::house::Engine;
use crate::snapshot::{LiveDatabase, Snapshot};

/// Where a session stands.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) engine: Engine,
    pub(super) handle: Arc<Handle>,
    pub(super) login: Login,
    pub(super) snapshot: Arc<Snapshot>,
    /// The current database, or the one that answers before one is chosen.
    pub(super) live: Option<Arc<LiveDatabase>>,
    /// What the session knows of itself and tells planning.
    pub(super) facts: Arc<Facts>,
    /// Another number for each statement, by which replicas take turns.
    pub(super) ticket: u64,
}
