//! Any unit, each as likely as the others.

use pando_kernel::error::Result;

use super::{Asked, Balancer};

#[derive(Debug)]
pub(super) struct Random;

impl Balancer for Random {
    fn choose(&self, asked: &Asked<'_>) -> Result<Option<usize>> {
        let mut bytes = [0; 8];
        asked.source.random(&mut bytes);
        // The high half of the product: even over the whole range, where a remainder would favour the first units.
        let at = (u128::from(u64::from_le_bytes(bytes)) * asked.among.len() as u128) >> 64;
        Ok(asked.among.get(at as usize).copied())
    }
}
