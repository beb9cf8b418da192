//! What a transaction that has changed definitions knows of the tables.

use std::sync::Arc;

use crate::catalog::UnitCatalog;

/// What a transaction that has changed definitions knows of the tables: nobody else sees what it has made, nor does it
/// see what others have read.
#[derive(Debug)]
pub(in crate::session) struct Own {
    pub(super) catalog: Arc<UnitCatalog>,
    /// The one that all others of this database have, and its epoch when this one was begun.
    pub(super) others: Arc<UnitCatalog>,
    pub(super) epoch: u64,
}

impl Own {
    pub(super) fn beside(others: &Arc<UnitCatalog>) -> Self {
        let (others, epoch) = (Arc::clone(others), others.epoch());
        Self { catalog: Arc::default(), others, epoch }
    }
}
