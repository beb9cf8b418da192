//! Homes: the storage unit, among all, where something is that belongs to one server.

use pando_kernel::route::UnitName;

/// The unit that a key weighs most with: the same for all sessions of all instances, and hardly ever another when units
/// come or go. `None` where there is none.
pub(crate) fn home_of<'a>(
    units: impl Iterator<Item = &'a UnitName>,
    key: &str,
) -> Option<UnitName> {
    // What servers may take for the same name has the same home.
    let same = |letter: u8| if letter.is_ascii() { letter } else { b'?' };
    let weight = |unit: &UnitName| {
        let bytes = unit.bytes().chain([0]).chain(key.bytes().map(same));
        mixed(bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    };
    units.max_by_key(|unit| (weight(unit), UnitName::clone(unit))).cloned()
}

/// Spreads what differs in its last bits only.
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::mixed;

    #[test]
    fn keys_that_differ_in_one_digit_are_spread() {
        let odd = (0..1_000u64).filter(|key| mixed(*key) >> 63 == 1).count();
        assert!((400..600).contains(&odd), "{odd}");
    }
}
