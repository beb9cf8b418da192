//! What a load balancer is.

use std::fmt::Debug;

use pando_kernel::feature::Source;

/// Chooses among the read units of one group.
pub(crate) trait Balancer: Send + Sync + Debug {
    /// One of `among`, which are indexes of the group's read units, ascending; `None` when none of them takes reads. `ticket` changes with each
    /// statement.
    fn choose(&self, among: &[usize], ticket: u64, source: &dyn Source) -> Option<usize>;
}
