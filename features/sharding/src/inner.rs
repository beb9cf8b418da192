//! Names of indexes and constraints inside actual tables.

/// The longest name that every family of servers takes, in bytes.
const LONGEST: usize = 63;

/// The name that an index or constraint of a logic table has in one actual table. One that would be too long is cut and gets a number made from
/// all of it; cutting the shown name again gives the same.
pub(crate) fn inner_name(name: &str, actual: &str) -> String {
    if name.len() + 1 + actual.len() <= LONGEST {
        return format!("{name}_{actual}");
    }
    let number = format!("{:08x}", fnv(name));
    let room = LONGEST.saturating_sub(actual.len() + number.len() + 2);
    let kept = (0..=room).rev().find(|at| name.is_char_boundary(*at)).unwrap_or(0);
    let start = name.get(..kept).unwrap_or(name);
    format!("{start}_{number}_{actual}")
}

/// FNV-1a without regard to case, as names compare: short, and the same for all time.
fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::inner_name;

    #[test]
    fn long_names_are_cut_to_what_servers_take() {
        assert_eq!(inner_name("by_user", "t_0"), "by_user_t_0");
        let long = "t_order_item_order_id_792f03b0_fk_t_order_order_id";
        let actual = inner_name(long, "t_order_item_0");
        assert_eq!(actual.len(), 63);
        let shown = actual.strip_suffix("_t_order_item_0").unwrap();
        assert_eq!(inner_name(shown, "t_order_item_0"), actual);
        assert_eq!(inner_name(long, "t_order_item_1").strip_suffix("_t_order_item_1"), Some(shown));
        assert_ne!(inner_name(&format!("{long}x"), "t_order_item_0"), actual);
        let umlauts = "ü".repeat(40);
        assert!(inner_name(&umlauts, "t_0").len() <= 63);
        assert!(inner_name("name", &"t".repeat(63)).ends_with(&"t".repeat(63)));
    }
}
