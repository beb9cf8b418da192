//! Where a session stands: its engine, its user, the configuration it goes by, and the logical database it is in.

pub(in crate::session) mod admission;
pub(in crate::session) mod changed_rules;
pub(in crate::session) mod doubted_rows;
pub(in crate::session) mod guard;
pub(in crate::session) mod visible;

use std::sync::Arc;

use pando_kernel::dialect::Facts;
use pando_kernel::session::Login;

use crate::handle::Handle;
use crate::house::Engine;
use crate::snapshot::{LiveDatabase, Snapshot};

/// Where a session stands.
#[derive(Debug)]
pub(in crate::session) struct Place {
    pub(in crate::session) engine: Engine,
    pub(in crate::session) handle: Arc<Handle>,
    pub(in crate::session) login: Login,
    pub(in crate::session) snapshot: Arc<Snapshot>,
    /// The current database, or the one that answers before one is chosen.
    pub(in crate::session) live: Option<Arc<LiveDatabase>>,
    /// What the session knows of itself and tells planning.
    pub(in crate::session) facts: Arc<Facts>,
    /// Another number for each statement, by which replicas take turns.
    pub(in crate::session) ticket: u64,
}
