//! One unit after the other.

use pando_kernel::feature::Source;

use super::Balancer;

/// Follows the session's ticket, so that a plan stays a function of its inputs.
#[derive(Debug)]
pub(super) struct RoundRobin;

impl Balancer for RoundRobin {
    fn choose(&self, count: usize, ticket: u64, _source: &dyn Source) -> usize {
        (ticket % count as u64) as usize
    }
}
