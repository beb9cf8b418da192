//! One unit after the other.

use pando_kernel::error::Result;

use super::{Asked, Balancer};

/// Follows the session's ticket, so that a plan stays a function of its inputs.
#[derive(Debug)]
pub(super) struct RoundRobin;

impl Balancer for RoundRobin {
    fn choose(&self, asked: &Asked<'_>) -> Result<Option<usize>> {
        let at = asked.ticket.checked_rem(asked.among.len() as u64);
        Ok(at.and_then(|at| asked.among.get(at as usize).copied()))
    }
}
