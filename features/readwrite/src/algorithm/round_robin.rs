//! One unit after the other.

use pando_kernel::feature::Source;

use super::Balancer;

/// Follows the session's ticket, so that a plan stays a function of its inputs.
#[derive(Debug)]
pub(super) struct RoundRobin;

impl Balancer for RoundRobin {
    fn choose(&self, among: &[usize], ticket: u64, _source: &dyn Source) -> Option<usize> {
        let at = ticket.checked_rem(among.len() as u64)?;
        among.get(at as usize).copied()
    }
}
