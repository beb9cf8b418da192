//! Any unit, each as likely as the others.

use pando_kernel::feature::Source;

use super::Balancer;

#[derive(Debug)]
pub(super) struct Random;

impl Balancer for Random {
    fn choose(&self, among: &[usize], _ticket: u64, source: &dyn Source) -> Option<usize> {
        let mut bytes = [0; 8];
        source.random(&mut bytes);
        // The high half of the product: even over the whole range, where a remainder would favour the first units.
        let at = (u128::from(u64::from_le_bytes(bytes)) * among.len() as u128) >> 64;
        among.get(at as usize).copied()
    }
}
