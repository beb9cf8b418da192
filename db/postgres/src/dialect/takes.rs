//! What a column takes as it is.
//!
//! A constant that is assigned, or compared by way of a cast, PostgreSQL casts when it plans a statement, whether there will be a row or not; a parameter of a
//! plan that is kept it casts for each row. So only casts that cannot fail are the same in both.

use pando_kernel::dialect::{TableColumn, Takes};

/// Whether any whole number is cast beside the column without failing, if at all. Not domains and types of users' own.
pub(super) fn is_number(column: &TableColumn) -> bool {
    const NUMBERS: [&str; 6] =
        ["smallint", "integer", "bigint", "numeric", "real", "double precision"];
    NUMBERS.contains(&parts(&column.type_name).0)
}

/// The values that are assigned to the column without failing. Not domains, whose checks could tell types apart.
pub(super) fn takes(column: &TableColumn) -> Takes {
    let (name, modifier) = parts(&column.type_name);
    match (name, modifier) {
        ("smallint", _) => Takes::Numbers(i16::MIN.into(), i16::MAX.into()),
        ("integer", _) => Takes::Numbers(i32::MIN.into(), i32::MAX.into()),
        ("bigint" | "real" | "double precision", _) | ("numeric", None) => Takes::ANY_NUMBER,
        ("numeric", Some(modifier)) => whole_digits(modifier),
        ("text" | "character varying", None) => Takes::Texts(usize::MAX),
        // Bytes are no fewer than characters, whatever encoding the server counts them in.
        ("character varying" | "character", Some(length)) => {
            length.parse().map_or(Takes::Nothing, Takes::Texts)
        }
        _ => Takes::Nothing,
    }
}

/// A type's name and what stands in parentheses behind it.
fn parts(type_name: &str) -> (&str, Option<&str>) {
    match type_name.strip_suffix(')').and_then(|name| name.split_once('(')) {
        Some((name, modifier)) => (name, Some(modifier)),
        None => (type_name, None),
    }
}

/// `p,s`: numbers with p digits, s of them behind the point.
fn whole_digits(modifier: &str) -> Takes {
    let (precision, scale) = modifier.split_once(',').unwrap_or((modifier, "0"));
    let (Ok(precision), Ok(scale)) = (precision.parse::<u32>(), scale.parse::<u32>()) else {
        return Takes::Nothing;
    };
    match precision.checked_sub(scale).map(|digits| 10_i64.checked_pow(digits)) {
        None => Takes::Nothing,
        Some(None) => Takes::ANY_NUMBER,
        Some(Some(beyond)) => Takes::Numbers(1 - beyond, beyond - 1),
    }
}

#[cfg(test)]
mod tests {
    use pando_kernel::Kind;

    use super::*;

    fn column(type_name: &str) -> TableColumn {
        TableColumn {
            name: "c".into(),
            kind: Kind::Other,
            type_name: type_name.into(),
            collation: String::new(),
            collate: String::new(),
            zone: None,
            primary_key: false,
            auto_increment: false,
            nullable: true,
            invisible: false,
            attribute: Default::default(),
            timed: None,
        }
    }

    #[test]
    fn a_column_takes_what_its_cast_cannot_fail_for() {
        for (type_name, expected) in [
            ("smallint", Takes::Numbers(-32_768, 32_767)),
            ("integer", Takes::Numbers(-2_147_483_648, 2_147_483_647)),
            ("bigint", Takes::ANY_NUMBER),
            ("double precision", Takes::ANY_NUMBER),
            ("numeric", Takes::ANY_NUMBER),
            ("numeric(5,2)", Takes::Numbers(-999, 999)),
            ("numeric(2,2)", Takes::Numbers(0, 0)),
            ("numeric(30,2)", Takes::ANY_NUMBER),
            ("numeric(2,-3)", Takes::Nothing),
            ("numeric(2,3)", Takes::Nothing),
            ("text", Takes::Texts(usize::MAX)),
            ("character varying", Takes::Texts(usize::MAX)),
            ("character varying(3)", Takes::Texts(3)),
            ("character(4)", Takes::Texts(4)),
            ("bpchar", Takes::Nothing),
            ("character varying(3)[]", Takes::Nothing),
            ("date", Takes::Nothing),
            ("oid", Takes::Nothing),
            ("my_domain", Takes::Nothing),
        ] {
            assert_eq!(takes(&column(type_name)), expected, "{type_name}");
        }
    }

    #[test]
    fn numbers_are_compared_with_numbers_only() {
        let is = |type_name| is_number(&column(type_name));
        assert!(
            ["smallint", "integer", "bigint", "numeric(9,2)", "real"].map(is).iter().all(|is| *is)
        );
        assert!(
            !["oid", "text", "date", "money", "my_domain", "integer[]"].map(is).contains(&true)
        );
    }
}
