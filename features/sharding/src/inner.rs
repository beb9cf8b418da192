//! Names of indexes and constraints inside actual tables.

use pando_kernel::feature::Names;
use pando_kernel::route::TableName;
use pando_sql::ast::InnerKind;

/// The longest name that every family of servers takes, in bytes.
const LONGEST: usize = 63;

/// Which part of a logic table an actual one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The first: the catalogue shows it for all of them.
    Shown,
    /// Another one.
    Other,
}

/// The name that an index or constraint is given in an actual table. A table that has its logic name everywhere keeps all its names, and so does the part that is
/// shown where the name would have to be cut: it is the only one of this name, as names of one schema are.
pub(crate) fn given(name: &str, table: &TableName, part: Part) -> String {
    let keeps = is_plain(table) || part == Part::Shown && !fits(name, &table.actual);
    if keeps { name.to_owned() } else { inner_name(name, &table.actual) }
}

fn fits(name: &str, actual: &str) -> bool {
    name.len() + 1 + actual.len() <= LONGEST
}

/// What an index or constraint is called in an actual table: as it was given its name, as a server names what was given none, or as somebody
/// named it beside Pando. `None` when the table has nothing that is shown under this name.
pub(crate) fn there(
    name: &str,
    kind: InnerKind,
    table: &TableName,
    names: &Names,
) -> Option<String> {
    let own = names.get(&table.actual.to_lowercase())?;
    let own = match kind {
        InnerKind::Index => &own.indexes,
        InnerKind::Constraint => &own.constraints,
        InnerKind::Sequence | InnerKind::SequenceText => return None,
    };
    let ours = inner_name(name, &table.actual);
    let beside = is_shown_as_it_is(name, table).then(|| name.to_owned());
    let candidates = [Some(given(name, table, Part::Other)), Some(ours), made(name, table), beside];
    candidates.into_iter().flatten().find(|candidate| own.contains(&candidate.to_lowercase()))
}

pub(crate) fn is_plain(table: &TableName) -> bool {
    table.actual.eq_ignore_ascii_case(&table.logic)
}

/// Servers begin the names that they make with the table's: `t_0_pkey` is `t_pkey` to the client.
pub(crate) fn made(name: &str, table: &TableName) -> Option<String> {
    let (start, rest) = name.split_at_checked(table.logic.len())?;
    let is_made = start.eq_ignore_ascii_case(&table.logic) && rest.starts_with('_');
    is_made.then(|| format!("{}{rest}", table.actual))
}

/// A name with the actual table's in it is shown with the logic one's, and meant for one of the tables only.
fn is_shown_as_it_is(name: &str, table: &TableName) -> bool {
    let (name, actual) = (name.to_lowercase(), table.actual.to_lowercase());
    is_plain(table)
        || !name.starts_with(&format!("{actual}_")) && !name.ends_with(&format!("_{actual}"))
}

/// The name that an index or constraint of a logic table has in one actual table. One that would be too long is cut and gets a number made from
/// all of it; cutting the shown name again gives the same.
pub(crate) fn inner_name(name: &str, actual: &str) -> String {
    if fits(name, actual) {
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
    use std::collections::HashMap;

    use pando_kernel::feature::OwnNames;
    use pando_kernel::route::TableName;
    use pando_sql::ast::InnerKind;

    use super::{Part, given, inner_name, there};

    #[test]
    fn names_in_use_are_found_as_they_were_made() {
        let table = |logic: &str, actual: &str| TableName {
            logic: logic.into(),
            configured: logic.into(),
            actual: actual.into(),
        };
        let check = |name: &str, table: &TableName, known: &[&str], expected: Option<&str>| {
            let indexes = known.iter().map(|name| (*name).to_owned()).collect();
            let own = OwnNames { indexes, ..OwnNames::default() };
            let names = HashMap::from([(table.actual.to_string(), own)]);
            assert_eq!(there(name, InnerKind::Constraint, table, &names), None);
            let found = there(name, InnerKind::Index, table, &names);
            assert_eq!(found.as_deref(), expected, "{name} of {known:?}");
        };
        let split = table("u", "u_0");
        check("uq", &split, &["uq_u_0"], Some("uq_u_0"));
        check("u_pkey", &split, &["u_0_pkey"], Some("u_0_pkey"));
        check("U_Chk_1", &split, &["u_0_chk_1"], Some("u_0_Chk_1"));
        check("u_pkey", &split, &["u_pkey_u_0", "u_0_pkey"], Some("u_pkey_u_0"));
        check("CONSTRAINT_1", &split, &["constraint_1"], Some("CONSTRAINT_1"));
        // One table's own name is no name of all of them.
        check("u_0_pkey", &split, &["u_0_pkey"], None);
        check("uq_u_0", &split, &["uq_u_0"], None);
        check("upkey", &split, &["u_0pkey"], None);
        let plain = table("u", "u");
        let long = "x".repeat(62);
        for (name, table, part, expected) in [
            ("uq", &plain, Part::Other, "uq"),
            ("uq", &split, Part::Other, "uq_u_0"),
            ("uq", &split, Part::Shown, "uq_u_0"),
            (&long, &split, Part::Shown, &long),
            (&long, &split, Part::Other, &inner_name(&long, "u_0")),
        ] {
            assert_eq!(given(name, table, part), expected);
        }
        check(&long, &split, &[&long], Some(&long));
        check("uq", &plain, &["uq"], Some("uq"));
        check("uq", &plain, &["uq_u"], Some("uq_u"));
        check("uq_u", &plain, &["uq_u"], Some("uq_u"));
        check("u_pkey", &plain, &["u_pkey"], Some("u_pkey"));
    }

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
