//! What a load balancer is.

use std::fmt::Debug;

use pando_kernel::error::Result;
use pando_kernel::feature::Source;
use pando_kernel::route::UnitName;

/// Chooses among the read units of one group.
pub(crate) trait Balancer: Send + Sync + Debug {
    /// One of `asked.among`; `None` for the primary, as when none of them takes reads.
    ///
    /// # Errors
    /// Where it cannot choose.
    fn choose(&self, asked: &Asked<'_>) -> Result<Option<usize>>;
}

/// What is asked of a balancer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// The group's name.
    pub(crate) group: &'a str,
    /// Its read units, in file order.
    pub(crate) reads: &'a [UnitName],
    /// Indexes of those that take reads now, ascending.
    pub(crate) among: &'a [usize],
    /// Who takes its writes now; empty where nobody does.
    pub(crate) primary: &'a str,
    /// The user that asks.
    pub(crate) user: &'a str,
    /// Whether a transaction is open.
    pub(crate) in_transaction: bool,
    /// Changes with each statement.
    pub(crate) ticket: u64,
    /// Randomness.
    pub(crate) source: &'a dyn Source,
}
